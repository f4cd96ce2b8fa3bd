"""vault-mind: an assistant that remembers, in a folder of Markdown files that its owner keeps."""

TYPE_CHECKING = False  # a search starts faster without `typing`
if TYPE_CHECKING:
    from vault_mind.agent import Agent
    from vault_mind.errors import VaultMindError
    from vault_mind.index import Index
    from vault_mind.memory import Memory
    from vault_mind.ranking import Hit, rank
    from vault_mind.session import Session, open_session
    from vault_mind.vault import Vault

__all__ = ["Agent", "Hit", "Index", "Memory", "Session", "Vault", "VaultMindError", "open_session", "rank"]

_HOMES = {
    "Agent": "agent",
    "Hit": "ranking",
    "Index": "index",
    "Memory": "memory",
    "Session": "session",
    "Vault": "vault",
    "VaultMindError": "errors",
    "open_session": "session",
    "rank": "ranking",
}


def __getattr__(name: str) -> object:
    """Each name from its module when it is first asked for, so that a command loads only what it uses."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # late: the commands do without

    found: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
