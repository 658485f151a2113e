"""The models' sets of a visitor: ordered, each under a name of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from mauve_metric.space.uploads import TextSet

LONGEST_NAME = 60


class ModelSets(Mapping[str, TextSet]):
    """Names → sets, in the order in which they came.

    Args:
        most: sets at a time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._sets: dict[str, TextSet] = {}

    def __getitem__(self, name: str) -> TextSet:
        return self._sets[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sets)

    def __len__(self) -> int:
        return len(self._sets)

    def check_room(self, name: str) -> None:
        """`ValueError` if one more set would be too many."""
        if len(self) >= self._most:
            raise ValueError(
                f"{title_of(name)} was not taken: at most {self._most} model sets are compared here, remove one first"
            )

    def free_name(self, name: str) -> str:
        """The name, with a number behind it if a set has it already.

        >>> sets = ModelSets(8)
        >>> sets.put("greedy", TextSet("it", "greedy.txt", ["a"]))
        >>> sets.free_name("greedy"), sets.free_name("beam")
        ('greedy-2', 'beam')
        """
        free, number = name, 2
        while free in self._sets:
            free, number = f"{name}-{number}", number + 1
        return free

    def put(self, name: str, side: TextSet) -> None:
        """Add a set, or replace the one of that name."""
        if name not in self._sets:
            self.check_room(name)
        self._sets[name] = side

    def rename(self, old: str, new: str) -> None:
        """Give a set another name, in its place.

        Raises:
            ValueError: no name, or one that another set has.
        """
        new = clean_name(new)
        if not new:
            raise ValueError(f"{title_of(old)}: a name must not be empty")
        if new != old and new in self._sets:
            raise ValueError(f"{title_of(old)} cannot be called “{new}”: another set has this name, expected a new one")
        self._sets = {
            new if name == old else name: replace(side, title=title_of(new)) if name == old else side
            for name, side in self._sets.items()
        }

    def pop(self, name: str) -> TextSet | None:
        """Take a set away."""
        return self._sets.pop(name, None)


def clean_name(name: str) -> str:
    """A name on one line, without what cannot be printed, not too long.

    >>> clean_name("  a\\tb\\u202e ")
    'a b'
    """
    return " ".join("".join(mark if mark.isprintable() else " " for mark in name).split())[:LONGEST_NAME].strip()


def name_of_file(path: str | Path) -> str:
    """What the set of a file is called at first: the file's name without its ending.

    >>> name_of_file("/tmp/greedy.jsonl")
    'greedy'
    """
    return clean_name(Path(path).stem) or "model"


def title_of(name: str) -> str:
    """What messages call a set.

    >>> title_of("greedy")
    'model set “greedy”'
    """
    return f"model set “{name}”"
