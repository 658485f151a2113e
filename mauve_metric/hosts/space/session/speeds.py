"""The speeds of this server's last runs, and what the next run takes by them."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from mauve_metric.hosts.space.session.run import Run, duration

TOKEN = 5  # characters of a token, about: a text is read up to the featurizer's number of tokens
FEWEST = 100  # texts a set that a sample must keep to be offered
_SAFE = 0.8  # share of the time limit that a sample is made for


class Speeds:
    """Seconds a character, by featurizer, and seconds of scoring, of the last run with each.

    One run at a time is measured (see `Turns`).
    """

    def __init__(self) -> None:
        self._reading: dict[Hashable, tuple[float, float]] = {}  # seconds a character, characters read of a text
        self._scoring = 0.0, 1  # seconds, texts

    @contextmanager
    def reading(self, featurizer: Hashable, sets: Sequence[Sequence[str]], tokens: float, run: Run) -> Iterator[None]:
        """Measure the block, which reads these texts; one that ends early counts by the share that was read."""
        began, share = time.monotonic(), 0.0
        try:
            yield
            share = 1.0
        finally:
            read = (share or run.share_read) * _characters(sets, TOKEN * tokens)
            if read:
                self._reading[featurizer] = (time.monotonic() - began) / read, TOKEN * tokens

    @contextmanager
    def scoring(self, texts: int) -> Iterator[None]:
        """Measure the block, which scores so many texts."""
        began = time.monotonic()
        yield
        self._scoring = time.monotonic() - began, texts

    def seconds(self, new: Mapping[Hashable, Sequence[Sequence[str]]], texts: int) -> float | None:
        """The time of a run, about; None if a featurizer has not been measured.

        Args:
            new: for each featurizer the sets that it has to read. texts: of all sets.
        """
        total = 0.0
        for featurizer, sets in new.items():
            if any(sets) and featurizer not in self._reading:
                return None
            each, most = self._reading.get(featurizer, (0.0, 0.0))
            total += each * _characters(sets, most)
        seconds, scored = self._scoring
        return total + len(new) * seconds * max(texts / scored, 1.0)


def _characters(sets: Sequence[Sequence[str]], most: float) -> float:
    """The characters that are read of the texts, at most so many of each."""
    return sum(min(len(text), most) for texts in sets for text in texts if isinstance(text, str))


def sample_step(seconds: float, limit: float, fewest: int) -> int:
    """The step between texts of a sample that a run has the time for; 1: all texts; 0: no sample of use.

    Args:
        seconds: of a run with all texts. limit: of one run. fewest: texts of the smallest set.

    >>> sample_step(100, 300, 500), sample_step(1000, 300, 5000), sample_step(9000, 300, 500)
    (1, 5, 0)
    """
    step = math.ceil(seconds / (_SAFE * limit)) if seconds > limit else 1
    return step if step == 1 or fewest // step >= FEWEST else 0


def forecast(seconds: float | None, limit: float) -> str:
    """The sentence beside the button; seconds: see `Speeds.seconds`, None if that is not known.

    >>> forecast(None, 300), forecast(100, 300)
    ('A run may take 5 minutes here.', 'About 2 minutes; a run may take 5 minutes here.')
    >>> forecast(1948, 300)
    'These texts would take about 32 minutes, and a run may take 5 minutes here.'
    """
    most = f"run may take {duration(limit)} here."
    if seconds is None:
        return f"A {most}"
    if seconds > limit:
        return f"These texts would take about {duration(seconds)}, and a {most}"
    return f"About {duration(seconds)}; a {most}"
