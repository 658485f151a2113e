"""A person as judge of one's own texts: rounds of Real or Fake Text, pairs of texts, and their tables.

Texts and judgements lie in the browser's session alone; the tables are those that `mauve-metric boundaries` and
`mauve-metric preferences` read.
"""

from __future__ import annotations

import csv
import io
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations
from typing import NamedTuple

from mauve_metric.hosts.space.session.uploads import TextSet
from mauve_metric.measures.judgements.boundary_detection import boundary_points
from mauve_metric.measures.judgements.judgement_options import SENTENCES
from mauve_metric.perturbations.pieces import sentences_in

HUMAN = "human"
MOST_JUDGED = 200  # rounds, and pairs, that one person may get
REASONS = (
    "repetition",
    "does not follow from what was before",
    "contradicts what was before",
    "against common sense or facts",
    "grammar or wording",
    "too general",
    "other",
)
ANSWERS = {"1, clearly": "2a", "1, slightly": "1a", "no difference": "0", "2, slightly": "1b", "2, clearly": "2b"}


class Round(NamedTuple):
    """A text of the game. boundary: the number of its first sentence by the model, from 2; None if a person wrote all.

    text: its name, the same for every person who judges these files.
    """

    text: str
    model: str
    sentences: tuple[str, ...]
    boundary: int | None


class Pair(NamedTuple):
    """Two texts of one row by two writers, in the order in which they are shown."""

    text: str
    writers: tuple[str, str]
    shown: tuple[str, str]


def rounds_of(human: TextSet, models: Mapping[str, TextSet]) -> list[Round]:
    """Make one round of each row of each model, the same for everybody.

    The first sentences are a person's: those of the prompt, where the model's file has prompts of a sentence or more,
    else 1 to 9 sentences of the human text in the same row. The model goes on: with what follows the prompt, or with
    its own text from the same place. In a tenth of the rounds the human text goes on instead. Ten sentences are kept.
    """
    found: dict[str, Round] = {}
    for name, side in models.items():
        for row, text in enumerate(side.texts):
            kept = random.Random(f"{name} {row}").randint(1, SENTENCES)
            own = _sentences(human.texts[row]) if row < len(human.texts) else ()
            prompt = None if side.prompts is None else side.prompts[row]
            if kept == SENTENCES:
                if len(own) > 1:
                    found[f"{HUMAN} {row + 1}"] = Round(f"{HUMAN} {row + 1}", HUMAN, own[:SENTENCES], None)
                continue
            before, whole = _after_prompt(prompt, text)
            if not before:
                before, model = own[:kept], _sentences(text)
                whole = (*before, *(model[len(before) :] or model))
            if 0 < len(before) < min(len(whole), SENTENCES):
                found[f"{name} {row + 1}"] = Round(f"{name} {row + 1}", name, whole[:SENTENCES], len(before) + 1)
    return [*found.values()]


def _after_prompt(prompt: object, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The whole sentences of a prompt, and all sentences of the text that goes on from it; none without a prompt."""
    if not isinstance(prompt, str):
        return (), ()
    before = _sentences(prompt)
    before = before if prompt.rstrip(" \n\"'”’»)").endswith((".", "!", "?", "…", "。")) else before[:-1]
    return before, _sentences(text if text.startswith(prompt) else f"{prompt.rstrip()} {text.lstrip()}")


def _sentences(text: str) -> tuple[str, ...]:
    return tuple(str(piece) for piece in sentences_in(text).pieces)


def pairs_of(human: TextSet, models: Mapping[str, TextSet], draw: random.Random) -> list[Pair]:
    """Pair the texts of every two writers row by row, the order of the two drawn."""
    found = []
    for one, other in combinations({HUMAN: human, **models}.items(), 2):
        for row, shown in enumerate(zip(one[1].texts, other[1].texts, strict=False)):
            sides = [(one[0], shown[0]), (other[0], shown[1])]
            draw.shuffle(sides)
            (a, left), (b, right) = sides
            found.append(Pair(f"{row + 1}", (a, b), (left, right)))
    return found


@dataclass
class Judging:
    """The state of one person: what is to be judged, the first of each list next, and what was judged.

    seen: sentences of the round that are shown. looks: seconds on each but the last. since: when the last thing was
    shown.
    """

    rater: str
    rounds: list[Round]
    pairs: list[Pair]
    seen: int = 2
    looks: list[float] = field(default_factory=list)
    since: float = 0.0
    boundaries: list[dict[str, object]] = field(default_factory=list)
    preferences: list[dict[str, object]] = field(default_factory=list)

    def begin(self) -> None:
        """Start the clock, the first two sentences shown: the first is always a person's."""
        self.seen, self.looks, self.since = 2, [], time.monotonic()

    def look(self) -> None:
        """Note how long the last sentence was looked at."""
        now = time.monotonic()
        self.looks.append(now - self.since)
        self.since = now

    def guess(self, machine: bool, reason: str | None = None) -> tuple[Round, float] | None:
        """Take a verdict on the last sentence that is shown: the round and its points, or None while it goes on."""
        self.look()
        this = self.rounds[0]
        if not machine and self.seen < len(this.sentences):
            self.seen += 1
            return None
        never = SENTENCES + 1
        said, true = self.seen if machine else never, this.boundary or never
        self.boundaries.append(
            {
                "annotator": self.rater,
                "date": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "model": this.model,
                "text": this.text,
                "boundary": this.boundary or "none",
                "guess": said if machine else "none",
                "reason": reason or "",
                "words": sum(len(sentence.split()) for sentence in this.sentences),
                "sentence_seconds": " ".join(f"{look:.1f}" for look in self.looks),
            }
        )
        del self.rounds[0]
        return this, float(boundary_points([true], [said])[0])

    def rate(self, answer: str) -> None:
        """Take an answer of `ANSWERS` on the pair that is shown."""
        pair = self.pairs.pop(0)
        a, b = pair.writers
        row: dict[str, object] = {"annotator": self.rater, "model_a": a, "model_b": b, "text": pair.text}
        self.preferences.append(row | {"answer": ANSWERS[answer]})


def deal(rater: str, human: TextSet, models: Mapping[str, TextSet]) -> Judging:
    """Deal what a person judges: rounds and pairs of these texts in random order, at most 200 of each.

    Raises:
        ValueError: no text can be cut into sentences of two writers.
    """
    draw = random.Random()
    rounds, pairs = rounds_of(human, models), pairs_of(human, models, draw)
    if not rounds:
        raise ValueError("no row has a sentence by a person with one by the model after it")
    draw.shuffle(rounds)
    draw.shuffle(pairs)
    judging = Judging(rater, rounds[:MOST_JUDGED], pairs[:MOST_JUDGED])
    judging.begin()
    return judging


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """The rows as CSV, with a header; empty without rows.

    >>> table([{"annotator": "a", "guess": "none"}])
    'annotator,guess\\r\\na,none\\r\\n'
    """
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()
