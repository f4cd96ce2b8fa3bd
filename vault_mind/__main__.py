"""The program's start and end: `vault-mind`, and `python -m vault_mind`."""

import gc
import os
import sys
from contextlib import suppress

from vault_mind import listing, unchanged

READING = ("search", "grep", "list", "stats")  # commands that look through the whole vault and write nothing
PLAIN = (*READING, "remember")  # those that look through it before they write; a plain line is read without Typer
UNUSED = ("inspect", "shutil")  # what dataclasses and tempfile import, and hardly ever look into
_FILE = ".vault-mind.toml"
_NEW = "memories"  # where `vault` puts what is new


def main() -> None:
    """Run the command that the command line names."""
    words = sys.argv[1:]
    gc.disable()  # what is loaded now stays, and to look through it again and again takes a tenth of the start
    if words and words[0] in PLAIN:
        if words[0] in READING or "-" not in words:  # whoever types may take long
            vault = likely_vault(words, os.environ)
            if words[0] not in READING:
                unchanged.note(f"{vault}/{_NEW}")
            listing.begin(vault)  # first of all: it goes on while we load the rest
        for name in UNUSED:
            _put_off(name)
    try:
        _run(words)
    except SystemExit as end:
        _leave(end.code)
        raise
    finally:
        listing.end()


def _put_off(name: str) -> None:
    """Load a module of Python's own when it is first looked into, which may be never; before there are threads.

    importlib's LazyLoader is for this, but up to Python 3.11 an import alone counts as a look.
    """
    module = type(sys)(name)

    def load(attribute: str) -> object:
        if attribute.startswith("__"):  # what the import itself asks for
            raise AttributeError(attribute)
        del module.__getattr__, sys.modules[name]
        loaded = __import__(name)
        module.__dict__.update(loaded.__dict__)
        return getattr(loaded, attribute)

    module.__getattr__ = load  # type: ignore[method-assign]
    sys.modules.setdefault(name, module)


def likely_vault(words: "list[str]", environment: "os._Environ[str] | dict[str, str]") -> str:
    """The folder that `config.find_vault` will say; where it says another, what began early was for nothing."""
    named = environment.get("VAULT_MIND_VAULT", "").strip()
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == "--":
            break
        if word == "--vault":
            named = following
        elif word.startswith("--vault="):
            named = word.partition("=")[2]
    try:
        folder = named or _around(os.getcwd())
    except FileNotFoundError:  # deleted while one stands in it
        folder = "~/vault-mind"
    return os.path.abspath(os.path.expanduser(folder))


def _around(folder: str) -> str:
    """The vault around a folder, or the default one."""
    while not os.path.isfile(os.path.join(folder, _FILE)):
        above = os.path.dirname(folder)
        if above == folder:
            return "~/vault-mind"
        folder = above
    return folder


def _run(words: "list[str]") -> None:
    from vault_mind.cli import app, program  # late: see above
    from vault_mind.declared import BadParameter, finished

    gc.freeze()
    gc.enable()
    run = program.read(words) if words and words[0] in PLAIN else None
    if run:
        with suppress(BadParameter):  # Typer has words for that
            sys.exit(finished(run))
    program.only(*words[:1])
    app(prog_name="vault-mind")


def _leave(code: object) -> None:
    """End at once where nothing is left to do: to take every object apart takes longer than a search."""
    import atexit  # late, as above

    threading = sys.modules.get("threading")
    if not isinstance(code, int | None) or (threading and threading.active_count() > 1):
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # Python has words for that
        return
    listing.end()
    atexit._run_exitfuncs()
    os._exit(code or 0)


if __name__ == "__main__":
    main()
