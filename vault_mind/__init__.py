"""vault-mind: an assistant that remembers, in a folder of Markdown files that its owner keeps."""

from vault_mind.agent import Agent
from vault_mind.errors import VaultMindError
from vault_mind.index import Index
from vault_mind.memory import Memory
from vault_mind.ranking import Hit, rank
from vault_mind.session import Session, open_session
from vault_mind.vault import Vault

__all__ = ["Agent", "Hit", "Index", "Memory", "Session", "Vault", "VaultMindError", "open_session", "rank"]
