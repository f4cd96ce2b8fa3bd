"""Make a vault of any size for measuring: the same bytes for the same size and seed.

Words are made up from syllables and drawn by Zipf's law (rank r with probability ~ 1 / (r + 2.7)), English
function words among the first. Nine memories in ten are one sentence of 8 to 24 words as a chat
writes them (kind, source, created_at, a quote, often tags, six to a chat); one in ten is a note of
60 to 400 words with a heading, aliases and wikilinks. They lie in folders of 1,000.

    python benchmarks/vaults.py FOLDER [MEMORIES] [SEED]
"""

import itertools
import random
import sys
from bisect import bisect
from datetime import UTC, datetime, timedelta
from pathlib import Path

SEED = 7
FOLDER = 1_000  # memories in one folder
WORDS = 60_000  # different words
CHAT = 6  # memories of one chat
FUNCTION_WORDS = """
    the of and to a in is it that was for on are with as his they at be this have from or had by but not what all
    were we when your can said there use an each which she do how their if will up other about out many then them
""".split()
SYLLABLES = [
    a + b + c for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ai", "ou") for c in ("", "n", "r", "l")
]
TAGS = ("home", "work", "food", "people", "health", "travel", "garden", "code", "money", "music")
KINDS = ("fact", "fact", "fact", "preference", "preference", "context", "correction")


class Writer:
    """Draws words and writes memories, all from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        made = dict.fromkeys(FUNCTION_WORDS)
        while len(made) < WORDS:
            made["".join(self.random.choices(SYLLABLES, k=self.random.choice((1, 2, 2, 3))))] = None
        self.words = list(made)
        self.weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(1, WORDS + 1)))

    def drawn(self, amount: int) -> list[str]:
        """`amount` words by Zipf's law."""
        return self.random.choices(self.words, cum_weights=self.weights, k=amount)

    def telling(self, lowest: int, highest: int) -> str:
        """A word whose rank is between `lowest` and `highest`."""
        return self.words[self.random.randint(lowest, min(highest, WORDS - 1))]

    def memory(self, number: int) -> str:
        """The text of memory `number`."""
        made = datetime(2024, 1, 1, 8, tzinfo=UTC) + timedelta(minutes=7 * number)
        return self._note(made, number) if number % 10 == 9 else self._sentence(made, number)

    def _sentence(self, made: datetime, number: int) -> str:
        said = self.drawn(self.random.randint(8, 24))
        tags = f"tags: [{', '.join(self.random.sample(TAGS, self.random.randint(1, 3)))}]\n" if number % 2 else ""
        return (
            f"---\nkind: {self.random.choice(KINDS)}\nsource: chat\ncreated_at: {made.isoformat()}\n"
            f'quote: "{" ".join(said[: len(said) // 2])}"\n{tags}chat: {made:%Y-%m-%d}-{number // CHAT:06d}\n---\n\n'
            f"The user {' '.join(said)}.\n"
        )

    def _note(self, made: datetime, number: int) -> str:
        parts = []
        for _ in range(self.random.randint(2, 5)):
            said = self.drawn(self.random.randint(30, 80))
            parts.append(" ".join(said).capitalize() + f" [[{stem(self.random.randrange(number + 1))}]].")
        title = " ".join(self.drawn(4)).title()
        aliases = f"aliases: [{self.telling(100, 5_000)}]\n"
        head = f"---\ncreated_at: {made.isoformat()}\n{aliases}tags: [{self.random.choice(TAGS)}]\n---\n\n"
        return f"{head}# {title}\n\n" + "\n\n".join(parts) + "\n"


def stem(number: int) -> str:
    """The name of memory `number` without `.md`."""
    return f"m{number:06d}"


def build(folder: Path, memories: int, seed: int = SEED) -> Path:
    """Write a vault of `memories` into `folder`, which must not exist, and give it back."""
    writer = Writer(seed)
    for number in range(memories):
        inner = folder / f"{number // FOLDER:03d}"
        if number % FOLDER == 0:
            inner.mkdir(parents=True)
        (inner / f"{stem(number)}.md").write_text(writer.memory(number), encoding="utf-8")
    (folder / ".vault-mind.toml").touch()
    return folder


def questions(amount: int, seed: int = SEED) -> list[str]:
    """Questions of 2 to 8 telling words, drawn as the vault's are but for the 50 commonest."""
    writer = Writer(seed)
    chosen = random.Random(seed + 1)
    asked = []
    for _ in range(amount):
        words = [
            writer.words[min(bisect(writer.weights, chosen.uniform(writer.weights[49], writer.weights[-1])), WORDS - 1)]
            for _ in range(chosen.randint(2, 8))
        ]
        asked.append(f"what did the user {' '.join(words)}?")
    return asked


if __name__ == "__main__":
    build(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000, *map(int, sys.argv[3:4]))
