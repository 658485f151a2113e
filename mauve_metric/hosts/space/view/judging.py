"""The page on which a person judges texts: rounds of Real or Fake Text, pairs of texts, and their tables.

Texts and judgements are in the browser's session alone; the tables are those that `mauve-metric boundaries` and
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
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from mauve_metric.apps.judging.statistics.boundary_detection import boundary_points
from mauve_metric.apps.judging.statistics.judgement_options import SENTENCES
from mauve_metric.apps.studies.perturbations.pieces import sentences_in
from mauve_metric.hosts.space.limits import Limits, check_together
from mauve_metric.hosts.space.session.examples import LABEL, example_sets
from mauve_metric.hosts.space.session.run import show_errors
from mauve_metric.hosts.space.session.sessions import HOUR, clean_name, delete_upload, free_name, name_of_file, title_of
from mauve_metric.hosts.space.session.uploads import FILE_TYPES, TextSet, read_upload
from mauve_metric.hosts.space.view.markup import escape, in_controls, render
from mauve_metric.runtime.plain_text import counted, spreadsheet_text

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
    """Pair the texts of every two writers row by row, the order of the two drawn."""
    pairs = []
    for first, other in combinations({HUMAN: human, **models}.items(), 2):
        for row, shown in enumerate(zip(first[1].texts, other[1].texts, strict=False)):
            sides = [(first[0], shown[0]), (other[0], shown[1])]
            draw.shuffle(sides)
            (a, left), (b, right) = sides
            pairs.append(Pair(f"{row + 1}", (a, b), (left, right)))
    return pairs


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
    since: float = field(default_factory=time.monotonic)
    boundaries: list[dict[str, object]] = field(default_factory=list)
    preferences: list[dict[str, object]] = field(default_factory=list)

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
        self.begin()
        return this, float(boundary_points([true], [said])[0])

    def rate(self, answer: str) -> None:
        """Take an answer of `ANSWERS` on the pair that is shown."""
        if not self.pairs:
            raise ValueError("all pairs are judged")
        pair = self.pairs.pop(0)
        a, b = pair.writers
        row: dict[str, object] = {"annotator": self.rater, "model_a": a, "model_b": b, "text": pair.text}
        self.preferences.append(row | {"answer": ANSWERS[answer]})


def deal(rater: str, human: TextSet, models: Mapping[str, TextSet]) -> Judging:
    """Choose what a person judges: rounds and pairs of these texts in random order, at most 200 of each.

    Raises:
        ValueError: no text can be cut into sentences of two writers.
    """
    draw = random.Random()
    rounds, pairs = rounds_of(human, models), pairs_of(human, models, draw)
    if not rounds:
        raise ValueError("no row has a sentence by a person with one by the model after it")
    draw.shuffle(rounds)
    draw.shuffle(pairs)
    return Judging(rater, rounds[:MOST_JUDGED], pairs[:MOST_JUDGED])


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """The rows as CSV, with a header, no name of which is a formula; empty without rows.

    >>> table([{"annotator": "a", "guess": "none"}])
    'annotator,guess\\r\\na,none\\r\\n'
    """
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        for row in rows:
            cells = ((key, spreadsheet_text(value) if isinstance(value, str) else value) for key, value in row.items())
            writer.writerow(dict(cells))
    return text.getvalue()


PATH = "judge"
Values = dict[Any, object]  # by the part of the page
_INTRODUCTION = """# Judge texts yourself
Where does a machine take over, and which of two texts is a person's? Play with your own texts, and download both tables
for `mauve-metric boundaries` and `mauve-metric preferences`. [Back to MAUVE](./)"""
_RULES = """The first sentence is a person's, the second may be a machine's. One more is shown at a time; once a machine
has begun, it goes on to the end. Five points for its first sentence, one less for each sentence later, none for one too
early."""
_SHOW = """() => {
    const shown = [...document.querySelectorAll('.mm-judged')].find(part => part.offsetParent !== null);
    shown?.scrollIntoView({block: 'center'});
}"""
_SAVE = """(name, text) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], {type: 'text/csv'}));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}"""


class _Part:
    """One kind of judgement: what is shown, what was said of the last, its buttons, and the table.

    Args:
        name: begins the names of its parts. buttons: their words by their names. above: a control between what is shown
            and the buttons.
    """

    def __init__(self, name: str, buttons: dict[str, str], above: gr.Dropdown | None = None) -> None:
        self.shown = gr.HTML("<p>Press Start.</p>", elem_id=f"{name}_shown", elem_classes="mm-judged")
        if above is not None:
            above.render()  # type: ignore[no-untyped-call]
        with gr.Row():
            self.buttons = [
                gr.Button(words, interactive=False, min_width=120, elem_id=key) for key, words in buttons.items()
            ]
        self.said = gr.HTML(elem_id=f"{name}_said")
        self.rows = gr.Textbox(visible=False)
        self.save = gr.Button("Download the table", interactive=False, elem_id=f"{name}_save")
        self.outputs = [self.shown, self.said, self.rows, self.save, *self.buttons]

    def values(self, shown: str, said: str, active: bool, rows: list[dict[str, object]]) -> Values:
        """The values of the parts that a judgement changes."""
        save = gr.update(interactive=bool(rows), value=f"Download the table ({len(rows)} judged)")
        buttons = {button: gr.update(interactive=active) for button in self.buttons}
        return {self.shown: shown, self.said: said, self.rows: table(rows), self.save: save, **buttons}


def judged_sets(human: str | None, models: list[str] | None, limits: Limits) -> tuple[TextSet, Mapping[str, TextSet]]:
    """The texts of uploaded files, which are deleted; without files those of an example.

    Raises:
        ValueError: a file without its counterpart, or beyond the limits.
    """
    if human is None and not models:
        return example_sets(LABEL, limits)
    try:
        if human is None or not models:
            raise ValueError("give a file of human texts and at least one of a model's, or none for the example")
        if len(models) > limits.model_sets:
            raise ValueError(f"at most {limits.model_sets} files of models' texts are taken here, got {len(models)}")
        people = read_upload("Human texts", human, None, limits, side="reference")
        sets: dict[str, TextSet] = {}
        for path in models:
            name = name_of_file(path)
            name = free_name(f"{HUMAN} 1" if name == HUMAN else name, sets)
            sets[name] = read_upload(title_of(name), path, None, limits)
        check_together([people.texts, *(side.texts for side in sets.values())], limits)
        return people, sets
    finally:
        for path in (human, *(models or ())):
            if path is not None:
                delete_upload(Path(path))


def round_shown(this: Round, seen: int, ended: bool = False) -> str:
    """A round's sentences as far as they are seen; once it has ended all of them, the model's marked."""
    return render("round", this=this, seen=len(this.sentences) if ended else seen, ended=ended)


def judging_page(limits: Limits) -> None:
    """The parts of the page and their events; a person's texts and judgements are in the state of the session."""
    gr.Markdown(_INTRODUCTION)
    state = gr.State(None, time_to_live=HOUR)
    with gr.Row():
        human = gr.File(label="Human texts: file", file_types=FILE_TYPES, height=96, elem_id="judge_human")
        models = gr.File(
            label="Models' texts: a file each",
            file_types=FILE_TYPES,
            height=96,
            file_count="multiple",
            elem_id="judge_models",
        )
    rater = gr.Textbox(label="Your name or a code, for the table", max_length=60, max_lines=1, elem_id="rater")
    start = gr.Button("Start", variant="primary", elem_id="judge_start")
    gr.Markdown(
        "A model's text goes on from the human text of the same row, or from its own column prompt. No file: an "
        f"example. At most {limits.texts} texts of {limits.characters} characters, {limits.megabytes} MB a file. Texts "
        "and judgements stay in this server's memory, an hour at most; no file is kept.",
        elem_classes="mm-small",
    )
    with gr.Tabs():
        with gr.Tab("Find the boundary"):
            gr.Markdown(_RULES)
            why = "Why a machine? (may stay empty)"
            reason = gr.Dropdown(["", *REASONS], value="", label=why, elem_id="reason", render=False)
            answers = {"human": "Still a person: go on", "machine": "A machine wrote this sentence"}
            game = _Part("boundary", answers, reason)
        with gr.Tab("Compare two"):
            gr.Markdown("Which of the two texts is more likely a person's?")
            pairs = _Part("pair", {f"answer_{code}": words for words, code in ANSWERS.items()})

    def of_game(judging: Judging, said: str = "") -> Values:
        now = round_shown(judging.rounds[0], judging.seen) if judging.rounds else "<p>All rounds are played.</p>"
        return {state: judging, **game.values(now, said, bool(judging.rounds), judging.boundaries)}

    def of_pairs(judging: Judging) -> Values:
        now = render("two_texts", texts=judging.pairs[0].shown) if judging.pairs else "<p>All pairs are judged.</p>"
        return {state: judging, **pairs.values(now, "", bool(judging.pairs), judging.preferences)}

    def begin(who: str, human_file: str | None, others: list[str] | None) -> Values:
        with show_errors(lambda message: str(escape(message))):
            judging = deal(clean_name(who) or "anonymous", *judged_sets(human_file, others, limits))
        return {human: None, models: None, **of_game(judging), **of_pairs(judging)}

    def guess(machine: bool, judging: Judging | None, why: str) -> Values:
        with show_errors(in_controls):
            judging = _begun(judging)
            ended = judging.guess(machine, why if machine else "")
        said = ""
        if ended is not None:
            this, points = ended
            truth = "no machine wrote" if this.boundary is None else f"the machine began at sentence {this.boundary}"
            whole = f"<details><summary>Show the last text</summary>{round_shown(this, 0, True)}</details>"
            said = f"<p>{counted(int(points), 'point')}: {truth}.</p>{whole}"
        return {reason: "", **of_game(judging, said)}

    def rate(words: str, judging: Judging | None) -> Values:
        with show_errors(in_controls):
            judging = _begun(judging)
            judging.rate(words)
        return of_pairs(judging)

    quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    once: dict[str, Any] = {**quiet, "trigger_mode": "once"}
    begun = start.click(begin, [rater, human, models], [human, models, state, *game.outputs, *pairs.outputs], **quiet)
    begun.success(None, None, None, js=_SHOW, **quiet)
    for button, machine in zip(game.buttons, (False, True), strict=True):
        button.click(
            partial(guess, machine), [state, reason], [reason, state, *game.outputs], trigger_mode="once", **quiet
        )
    for button, words in zip(pairs.buttons, ANSWERS, strict=True):
        button.click(partial(rate, words), state, [state, *pairs.outputs], **once)
    for part, name in ((game, "boundaries.csv"), (pairs, "preferences.csv")):
        part.save.click(None, part.rows, None, js=f"text => ({_SAVE})({name!r}, text)", **quiet)


def _begun(judging: Judging | None) -> Judging:
    """The state; `gr.Error` after the hour for which it is kept."""
    if judging is None:
        raise gr.Error("the hour is over, and your texts are gone: press Start again", print_exception=False)
    return judging
