"""One vault, opened: its settings, index, journal and agent, as the doors and programs need them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from vault_mind.config import Config, Endpoint, Settings, cache_folder, find_vault, load, reach, state_folder
from vault_mind.errors import EmbeddingError, SettingsError, VaultMindError
from vault_mind.files import WRITING
from vault_mind.index import Index
from vault_mind.sync import Progress
from vault_mind.vault import JOURNAL, PURGE, Vault

if TYPE_CHECKING:
    import threading

    from vault_mind.agent import Agent
    from vault_mind.embedding import Embedder
    from vault_mind.journal import Journal
    from vault_mind.meaning import Meaning
    from vault_mind.model import ModelClient
    from vault_mind.record import Record
    from vault_mind.remembering import Remembering
    from vault_mind.usage import Ledger


@dataclass(frozen=True)
class Session:
    """What belongs to one vault; `chosen` says how it was found, `made` whether it is new."""

    vault: Vault
    config: Config
    environment: Mapping[str, str] = field(repr=False)
    chosen: str
    made: bool

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.config.settings

    @cached_property
    def endpoint(self) -> Endpoint:
        """How Claude is reached. Raises SettingsError for a malformed key or address."""
        return reach(self.environment)

    @property
    def offline(self) -> bool:
        """Whether the offline mind answers: it was asked for, or there is nobody else."""
        return self.settings.offline or not self.endpoint.usable

    @cached_property
    def index(self) -> Index:
        """The vault's index, by words, and by meaning where an embedding model is set."""
        return Index(self.vault, language=self.settings.language, meaning=self.meaning())

    def meaning(self, *, download: bool = False) -> "Meaning | None":
        """What search by meaning needs; None without an embedding model. With `download` it may be fetched."""
        name = self.settings.embedding_model
        if name == Settings.embedding_model:
            return None
        from vault_mind.embedding import open_embedder  # late: a search by words starts faster without them
        from vault_mind.meaning import Meaning

        models = cache_folder(self.vault.root).parent / "models"

        def opened() -> "Embedder":
            embedder = open_embedder(name, self.environment, models=models, download=download)
            if embedder is None:
                raise SettingsError("embedding_model", f"{name!r} names no model", "settings")
            return embedder

        return Meaning(name, opened, self._vectors)

    @cached_property
    def record(self) -> "Record":
        """The vault's versions, as turns make them."""
        from vault_mind.record import Record  # late: a search starts faster without what asks git

        return Record(self.vault, self.settings.commit)

    @cached_property
    def remembering(self) -> "Remembering":
        """What writes down what the user says is to be remembered; it needs no agent."""
        from vault_mind.remembering import Remembering  # late: a search starts faster without what writes
        from vault_mind.withheld import Withheld

        settings = self.settings
        withheld = Withheld(settings.secrets, settings.never, settings.language)
        return Remembering(self.vault, self.index, self.record, withheld)

    @property
    def _vectors(self) -> Path:
        return cache_folder(self.vault.root) / "vectors"

    def embed(self, progress: Progress | None, *, download: bool = False, stop: "threading.Event | None" = None) -> int:
        """Make the vectors that are missing; how many were made. Raises EmbeddingError and SettingsError.

        It has an index of its own, so that it may run beside everything else, in a thread too.
        """
        index = Index(self.vault, language=self.settings.language, meaning=self.meaning(download=download))
        try:
            return index.embed(progress, stop)
        finally:
            index.close()

    def forgotten(self) -> None:
        """After memories were forgotten: their vectors leave the disk as well."""
        if self._vectors.is_dir():
            from vault_mind.meaning import forget_vectors  # late, as above

            try:
                forget_vectors(self._vectors, self.index.meanings())
            except EmbeddingError:  # numpy is gone, and none can be told from another: forgotten means forgotten
                import shutil  # late, as above

                shutil.rmtree(self._vectors)

    @cached_property
    def journal(self) -> "Journal":
        """The exchanges not yet learned from."""
        from vault_mind.journal import Journal  # late: a search starts faster without what learns

        return Journal(state_folder(self.vault.root) / JOURNAL)

    @cached_property
    def ledger(self) -> "Ledger":
        """The tokens that were used."""
        from vault_mind.usage import Ledger  # late, as above

        return Ledger(state_folder(self.vault.root) / "usage.jsonl")

    @cached_property
    def mind(self) -> "ModelClient":
        """Claude, or the offline mind."""
        if self.offline:
            from vault_mind.offline import Offline  # late: a search starts faster without what answers

            return Offline()
        from vault_mind.abilities import Known  # late, as above
        from vault_mind.model import Claude

        return Claude(
            self.endpoint,
            model=self.settings.model,
            extraction_model=self.settings.extraction_model,
            max_tokens=self.settings.max_tokens,
            extraction_max_tokens=self.settings.extraction_max_tokens,
            known=Known(cache_folder(self.vault.root).parent / "servers.json"),
            note=self.ledger.note,
        )

    @cached_property
    def agent(self) -> "Agent":
        """A new chat."""
        from vault_mind.agent import Agent  # late: a search starts faster without what answers and learns

        return Agent(self.vault, self.index, self.mind, self.journal, self.settings)

    def beside(self) -> "Session":
        """The same for a thread beside this one: only the tokens that it uses are counted here as well."""
        other = replace(self)  # with nothing opened yet: SQLite, the index and a connection want one for each thread
        other.__dict__["ledger"] = self.ledger.beside()
        return other

    @property
    def purging(self) -> bool:
        """Whether a purge of this vault was begun and is not finished: one look at the disk."""
        return (state_folder(self.vault.root) / PURGE).exists()

    def tidy(self) -> None:
        """Clear up after writers that were killed: two looks when there were none; a living one is left alone."""
        try:
            self.vault.tidy()
            if (state_folder(self.vault.root) / JOURNAL / WRITING).exists():
                self.journal.tidy()
        except (VaultMindError, OSError) as error:  # nobody asked for it: what was asked goes on
            import logging  # late: it hardly ever happens

            logging.getLogger(__name__).info("nothing tidied", exc_info=error)

    def close(self) -> None:
        """Let go of the index's files and the mind's connections; the next use opens them again."""
        if "index" in self.__dict__:
            self.index.close()
        if close := getattr(self.__dict__.get("mind"), "close", None):
            close()


def _here() -> Path | None:
    try:
        return Path.cwd()
    except FileNotFoundError:  # deleted while one stands in it
        return None


def open_session(
    vault: Path | None,
    environment: Mapping[str, str],
    *,
    here: Path | None = None,
    flags: Mapping[str, object] | None = None,
) -> Session:
    """Open the vault that is meant: `vault`, VAULT_MIND_VAULT, the one around `here`, or the default.

    The default is made on first use. Raises VaultNotFoundError and SettingsError.
    """
    folder, chosen = find_vault(vault, environment, here or _here())
    made = not folder.exists()
    if made:
        Vault.create(folder)
    config = load(folder, environment, flags or {})
    session = Session(Vault(folder, config.settings.ignore), config, environment, chosen, made)
    session.tidy()
    return session


def open_despite(vault: Path | None, environment: Mapping[str, str]) -> tuple[Session, SettingsError | None]:
    """As `open_session`; where its settings are unsound, with those that are sound without them, and the error."""
    try:
        return open_session(vault, environment), None
    except SettingsError as error:
        trouble = error
    folder, chosen = find_vault(vault, environment, _here())
    try:
        config = load(None, environment, {})  # without the vault's file
    except SettingsError:
        config = Config(Settings(), {})
    try:
        return Session(Vault(folder, config.settings.ignore), config, environment, chosen, made=False), trouble
    except SettingsError:  # its patterns are none
        return Session(Vault(folder), Config(Settings(), {}), environment, chosen, made=False), trouble
