"""The page on which a person judges texts: the game of the boundary, and pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from mauve_metric.hosts.space.limits import Limits, check_together
from mauve_metric.hosts.space.session.examples import LABEL, example_sets
from mauve_metric.hosts.space.session.judging import ANSWERS, HUMAN, REASONS, Judging, Pair, Round, deal, table
from mauve_metric.hosts.space.session.run import show_errors
from mauve_metric.hosts.space.session.sessions import HOUR, ModelSets, clean_name, delete_upload, name_of_file, title_of
from mauve_metric.hosts.space.session.uploads import FILE_TYPES, TextSet, read_upload
from mauve_metric.hosts.space.view.markup import escape, render

PATH = "judge"
_INTRODUCTION = """# Judge texts yourself
Where does a machine take over, and which of two texts is a person's? Play with your own texts, and download both tables
for `mauve-metric boundaries` and `mauve-metric preferences`. [Back to MAUVE](./)"""
_RULES = """The first sentence is a person's, the second may be a machine's. One more is shown at a time; once a machine
has begun, it goes on to the end. Five points for its first sentence, one less for each sentence later, none for one too
early."""
_SAVE = """(name, text) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], {type: 'text/csv'}));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}"""


@dataclass(frozen=True)
class _Part:
    """One kind of judgement: what is shown, what was said of the last, the buttons, and the table."""

    shown: gr.HTML
    said: gr.HTML
    buttons: list[gr.Button]
    rows: gr.Textbox
    save: gr.Button

    @property
    def outputs(self) -> list[gr.HTML | gr.Button | gr.Textbox]:
        """The parts that a judgement changes."""
        return [self.shown, self.said, *self.buttons, self.rows, self.save]

    def values(self, shown: str, said: str, active: bool, rows: list[dict[str, object]]) -> list[object]:
        """The values of `outputs`."""
        text, count = table(rows), len(rows)
        buttons = [gr.update(interactive=active) for _ in self.buttons]
        save = gr.update(interactive=bool(count), value=f"Download the table ({count} judged)")
        return [shown, said, *buttons, text, save]


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
        found = ModelSets(limits.model_sets)
        for path in models:
            name = name_of_file(path)
            name = found.free_name(f"{HUMAN} 1" if name == HUMAN else name)
            found.put(name, read_upload(title_of(name), path, None, limits))
        check_together([people.texts, *(side.texts for side in found.values())], limits)
        return people, found
    finally:
        for path in (human, *(models or ())):
            if path is not None:
                delete_upload(Path(path))


def round_shown(this: Round, seen: int, ended: bool = False) -> str:
    """A round's sentences as far as they are seen; once it has ended all of them, the model's marked."""
    return render("round", this=this, seen=len(this.sentences) if ended else seen, ended=ended)


def pair_shown(pair: Pair) -> str:
    """Both texts of a pair, without their writers."""
    return render("two_texts", texts=pair.shown)


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
            reason = gr.Dropdown(["", *REASONS], value="", label="Why a machine? (may stay empty)", elem_id="reason")
            game = _part("boundary", {"human": "Still a person: go on", "machine": "A machine wrote this sentence"})
        with gr.Tab("Compare two"):
            gr.Markdown("Which of the two texts is more likely a person's?")
            pairs = _part("pair", {f"answer_{code}": words for words, code in ANSWERS.items()})

    def of_game(judging: Judging, said: str = "", ended: Round | None = None) -> list[object]:
        over = "<p>All rounds are played.</p>"
        now = round_shown(judging.rounds[0], judging.seen) if judging.rounds else over
        if ended is not None:
            said = f"{said}<details><summary>Show the last text</summary>{round_shown(ended, 0, True)}</details>"
        return game.values(now, said, bool(judging.rounds), judging.boundaries)

    def of_pairs(judging: Judging) -> list[object]:
        now = pair_shown(judging.pairs[0]) if judging.pairs else "<p>All pairs are judged.</p>"
        return pairs.values(now, "", bool(judging.pairs), judging.preferences)

    def begin(who: str, own: str | None, others: list[str] | None) -> list[object]:
        with show_errors(lambda message: str(escape(message))):
            judging = deal(clean_name(who) or "anonymous", *judged_sets(own, others, limits))
        return [judging, None, None, *of_game(judging), *of_pairs(judging)]

    def guess(machine: bool) -> Callable[[Judging, str], list[object]]:
        def take(judging: Judging | None, why: str) -> list[object]:
            judging = _begun(judging)
            ended = judging.guess(machine, why if machine else "")
            if ended is None:
                return [judging, "", *of_game(judging)]
            judging.begin()
            this, points = ended
            truth = "no machine wrote" if this.boundary is None else f"the machine began at sentence {this.boundary}"
            return [judging, "", *of_game(judging, f"<p>{points:g} points: {truth}.</p>", this)]

        return take

    def rate(words: str) -> Callable[[Judging], list[object]]:
        def take(judging: Judging | None) -> list[object]:
            judging = _begun(judging)
            judging.rate(words)
            return [judging, *of_pairs(judging)]

        return take

    quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    start.click(begin, [rater, human, models], [state, human, models, *game.outputs, *pairs.outputs], **quiet)
    for button, machine in zip(game.buttons, (False, True), strict=True):
        button.click(guess(machine), [state, reason], [state, reason, *game.outputs], trigger_mode="once", **quiet)
    for button, words in zip(pairs.buttons, ANSWERS, strict=True):
        button.click(rate(words), state, [state, *pairs.outputs], trigger_mode="once", **quiet)
    for part, name in ((game, "boundaries.csv"), (pairs, "preferences.csv")):
        part.save.click(None, part.rows, None, js=f"text => ({_SAVE})({name!r}, text)", **quiet)


def _begun(judging: Judging | None) -> Judging:
    """The state; `gr.Error` after the hour for which it is kept."""
    if judging is None:
        raise gr.Error("the hour is over, and your texts are gone: press Start again", print_exception=False)
    return judging


def _part(name: str, buttons: dict[str, str]) -> _Part:
    """One kind of judgement: its HTML, buttons and table."""
    shown = gr.HTML("<p>Press Start.</p>", elem_id=f"{name}_shown")
    with gr.Row():
        made = [gr.Button(words, interactive=False, min_width=120, elem_id=key) for key, words in buttons.items()]
    said = gr.HTML(elem_id=f"{name}_said")
    rows = gr.Textbox(visible=False)
    return _Part(shown, said, made, rows, gr.Button("Download the table", interactive=False, elem_id=f"{name}_save"))
