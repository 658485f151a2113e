"""Rounds of Real or Fake Text and pairs of texts that a person judges, their tables, and the store of all judges.

The tables are those that `mauve-metric boundaries` and `mauve-metric preferences` read. They are in the judge's browser
as well as here, and nothing but the judge deletes them: no reload, lost connection, other judge or new server does.
"""

from __future__ import annotations

import csv
import io
import random
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations
from typing import NamedTuple

from mauve_metric.apps.judging.statistics.boundary_detection import boundary_points
from mauve_metric.apps.judging.statistics.judgement_options import SENTENCES
from mauve_metric.apps.studies.perturbations.pieces import sentences_in
from mauve_metric.hosts.space.session.sessions import HOUR
from mauve_metric.hosts.space.session.uploads import TextSet
from mauve_metric.runtime.plain_text import counted, is_blank, spreadsheet_text

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


Row = dict[str, object]  # of a table


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
    rounds: dict[str, Round] = {}
    for name, side in models.items():
        for row, text in enumerate(side.texts):
            kept = random.Random(f"{name} {row}").randint(1, SENTENCES)
            sentences = _sentences(human.texts[row]) if row < len(human.texts) else ()
            prompt = None if side.prompts is None else side.prompts[row]
            if kept == SENTENCES:
                if len(sentences) > 1:
                    rounds[f"{HUMAN} {row + 1}"] = Round(f"{HUMAN} {row + 1}", HUMAN, sentences[:SENTENCES], None)
                continue
            before: tuple[str, ...] = ()
            if isinstance(prompt, str):  # its whole sentences come first
                before = _sentences(prompt)
                before = before if prompt.rstrip(" \n\"'”’»)").endswith((".", "!", "?", "…", "。")) else before[:-1]
                whole = _sentences(text if text.startswith(prompt) else f"{prompt.rstrip()} {text.lstrip()}")
            if not before:
                before, model = sentences[:kept], _sentences(text)
                whole = (*before, *(model[len(before) :] or model))
            if 0 < len(before) < min(len(whole), SENTENCES):
                rounds[f"{name} {row + 1}"] = Round(f"{name} {row + 1}", name, whole[:SENTENCES], len(before) + 1)
    return [*rounds.values()]


def _sentences(text: str) -> tuple[str, ...]:
    return tuple(str(piece) for piece in sentences_in(text).pieces)


def pairs_of(human: TextSet, models: Mapping[str, TextSet], draw: random.Random) -> list[Pair]:
    """Pair the texts of every two writers row by row, the order of the two drawn; a row without a text is left out."""
    pairs = []
    for first, other in combinations({HUMAN: human, **models}.items(), 2):
        for row, shown in enumerate(zip(first[1].texts, other[1].texts, strict=False)):
            if any(map(is_blank, shown)):
                continue
            sides = [(first[0], shown[0]), (other[0], shown[1])]
            draw.shuffle(sides)
            (a, left), (b, right) = sides
            pairs.append(Pair(f"{row + 1}", (a, b), (left, right)))
    return pairs


@dataclass
class Judging:
    """The state of one person: what is to be judged, the first of each list next, and what was judged.

    files: the names of the files. seen: sentences of the round that are shown. looks: seconds on each but the last.
    since: when the last thing was shown. boundaries, preferences: the rows of the tables, those of other files too.
    client: see `client_of`.
    """

    rater: str
    rounds: list[Round]
    pairs: list[Pair]
    files: str = ""
    seen: int = 2
    looks: list[float] = field(default_factory=list)
    since: float = field(default_factory=time.monotonic)
    boundaries: list[Row] = field(default_factory=list)
    preferences: list[Row] = field(default_factory=list)
    client: str = ""

    @property
    def place(self) -> list[int]:
        """Numbers of what is shown, which every answer changes."""
        return [len(self.boundaries), self.seen, len(self.preferences)]

    @property
    def size(self) -> int:
        """The characters of the texts that are still to be judged, and of the tables."""
        texts = [*(this.sentences for this in self.rounds), *(pair.shown for pair in self.pairs)]
        rows = [*self.boundaries, *self.preferences]
        return sum(len(text) for shown in texts for text in shown) + sum(len(str(row)) for row in rows)

    def begin(self) -> None:
        """Start the clock and show two sentences, of which the first is always a person's."""
        self.seen, self.looks, self.since = 2, [], time.monotonic()

    def guess(self, machine: bool, reason: str | None = None) -> tuple[Round, float] | None:
        """Take a verdict on the last sentence that is shown: the round and its points, or None while it goes on."""
        now = time.monotonic()
        self.looks.append(now - self.since)
        self.since = now
        if not self.rounds:
            raise ValueError("all rounds are played")
        this = self.rounds[0]
        if not machine and self.seen < len(this.sentences):
            self.seen += 1
            return None
        never = SENTENCES + 1
        said, true = self.seen if machine else never, this.boundary or never
        self.boundaries.append(
            self._row()
            | {
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
        self.begin()
        return this, float(boundary_points([true], [said])[0])

    def rate(self, answer: str) -> None:
        """Take an answer of `ANSWERS` on the pair that is shown."""
        if not self.pairs:
            raise ValueError("all pairs are judged")
        pair = self.pairs.pop(0)
        a, b = pair.writers
        row: Row = {"model_a": a, "model_b": b, "text": pair.text, "answer": ANSWERS[answer]}
        self.preferences.append(self._row() | row)

    def _row(self) -> Row:
        """The beginning of every row of a table."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return {"annotator": self.rater, "date": now, "file": self.files}


def deal(
    rater: str,
    human: TextSet,
    models: Mapping[str, TextSet],
    boundaries: Sequence[Row] = (),
    preferences: Sequence[Row] = (),
) -> Judging:
    """Choose what a person judges: rounds and pairs of these texts in random order, at most 200 of each.

    Args:
        boundaries, preferences: rows of earlier judgements, which stay in the tables; what this person has judged is
            not asked again.

    Raises:
        ValueError: no text can be cut into sentences of two writers, or all are judged.
    """
    draw, files = random.Random(), ", ".join(side.name for side in (human, *models.values()))
    rounds, pairs = rounds_of(human, models), pairs_of(human, models, draw)
    if not rounds:
        raise ValueError("no row has a sentence by a person with one by the model after it")
    played, rated = (
        {_judged(row) for row in rows if (row.get("annotator"), row.get("file")) == (rater, files)}
        for rows in (boundaries, preferences)
    )
    rounds = [this for this in rounds if (this.text, this.model) not in played]
    pairs = [pair for pair in pairs if (pair.text, *sorted(pair.writers)) not in rated]
    if not rounds and not pairs:
        raise ValueError("all texts of these files are judged by this name already: give other files, or another name")
    draw.shuffle(rounds)
    draw.shuffle(pairs)
    dealt = Judging(rater, rounds[:MOST_JUDGED], pairs[:MOST_JUDGED], files)
    dealt.boundaries, dealt.preferences = list(boundaries), list(preferences)
    return dealt


def _judged(row: Row) -> tuple[str, ...]:
    """The text of a row of a table, and who wrote it."""
    names = [row["model"]] if "model" in row else sorted(map(str, (row.get("model_a"), row.get("model_b"))))
    return (str(row.get("text")), *map(str, names))


class Judgings:
    """The judges at work, by a random key that their browser keeps; none takes the place of another.

    Args:
        most, most_of_client: characters of all texts together, and of those of one client. lifetime: seconds without
            use.
    """

    def __init__(self, most: int, most_of_client: int, lifetime: float = HOUR) -> None:
        self._most, self._most_of_client, self._lifetime = most, most_of_client, lifetime
        self._all: dict[str, tuple[Judging, threading.Timer]] = {}
        self._lock = threading.Lock()

    def get(self, key: str) -> Judging | None:
        """The judge of a key, kept for another hour; None where there is none any more."""
        with self._lock:
            if key not in self._all:
                return None
            self._keep(key, self._all[key][0])
            return self._all[key][0]

    def put(self, judging: Judging, instead: str = "") -> str:
        """Keep what somebody judges, in place of what the person judged before; return its key.

        Raises:
            ValueError: there is no room.
        """
        with self._lock:
            others = [other for key, (other, _) in self._all.items() if key != instead]
            near = [other for other in others if other.client == judging.client]
            for some, most, whose in ((near, self._most_of_client, " at your address"), (others, self._most, "")):
                if sum(other.size for other in some) + judging.size > most:
                    raise ValueError(
                        f"the texts of {counted(len(some), 'other judge')}{whose} take all the {most >> 20} MB that "
                        "this server has for them: try again later, or give fewer texts. Nothing was changed"
                    )
            key = secrets.token_urlsafe(16)
            self._keep(key, judging)
            if instead in self._all:
                self._all.pop(instead)[1].cancel()
            return key

    def _keep(self, key: str, judging: Judging) -> None:
        """Let the lifetime begin anew."""
        if key in self._all:
            self._all[key][1].cancel()
        timer = threading.Timer(self._lifetime, self._all.pop, [key, None])
        timer.daemon = True
        timer.start()
        self._all[key] = judging, timer


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """The rows as CSV, with a header of all their columns, no name of which is a formula; empty without rows.

    >>> table([{"annotator": "a", "guess": "none"}])
    'annotator,guess\\r\\na,none\\r\\n'
    """
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        for row in rows:
            cells = ((key, spreadsheet_text(value) if isinstance(value, str) else value) for key, value in row.items())
            writer.writerow(dict(cells))
    return text.getvalue()
