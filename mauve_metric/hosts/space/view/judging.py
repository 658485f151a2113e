"""The page on which a person judges texts."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import gradio as gr

from mauve_metric.hosts.space.limits import Limits, check_together, client_of
from mauve_metric.hosts.space.session.examples import LABEL, example_sets
from mauve_metric.hosts.space.session.judgings import (
    ANSWERS,
    HUMAN,
    REASONS,
    Judging,
    Judgings,
    Round,
    Row,
    deal,
    table,
)
from mauve_metric.hosts.space.session.run import show_errors
from mauve_metric.hosts.space.session.sessions import Sessions, clean_name, name_of_file, title_of
from mauve_metric.hosts.space.session.uploads import TextSet, read_upload
from mauve_metric.hosts.space.view.markup import in_controls, render
from mauve_metric.inputs.file_types import upload_endings
from mauve_metric.runtime.plain_text import counted, free_name

PATH = "judge"
HUMAN_FILE, MODEL_FILES = "Human texts: file", "Models' texts: a file each"  # labels of the boxes
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
GONE = (
    "The texts are not on this server any more: it was started again, or an hour passed without an answer. What you "
    "judged is in the tables: download them, or press Start, with the same files, to go on with what is left."
)
_BEHIND = "<p>This page was behind, so that the answer does not count: here is what comes next.</p>"
# What a person judged is in the browser for all its tabs: each event takes the newest of what the tab and the browser
# hold, and stores what comes of it.
_NEWEST = """kept => {
    let stored = null;
    try { stored = JSON.parse(localStorage.getItem('mauve_metric_judgements')); } catch {}
    return stored?.at > (kept.at || 0) ? {...stored, place: kept.place} : kept;
}"""
_READ = f"(kept, ...values) => [({_NEWEST})(kept), ...values]"
_ASK = f"""kept => [({_NEWEST})(kept),
    confirm('Delete both tables? They are nowhere else, unless you downloaded them.') ? 'yes' : '']"""
_STORE = f"""kept => {{
    try {{ localStorage.setItem('mauve_metric_judgements', JSON.stringify(({_NEWEST})(kept))); }} catch {{
        return ['<p>This browser does not store the tables: its storage is full or forbidden. Download them before you '
            + 'close or reload this page.</p>'];
    }}
    return [''];
}}"""
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

    def values(self, shown: str, said: str, active: bool, rows: list[Row]) -> Values:
        """The values of the parts that a judgement changes."""
        save = gr.update(interactive=bool(rows), value=f"Download the table ({len(rows)} judged)")
        buttons = {button: gr.update(interactive=active) for button in self.buttons}
        return {self.shown: shown, self.said: said, self.rows: table(rows), self.save: save, **buttons}


def judged_sets(human: str | None, models: list[str] | None, limits: Limits) -> tuple[TextSet, Mapping[str, TextSet]]:
    """The texts of uploaded files; without files those of an example.

    Raises:
        ValueError: a file without its counterpart, or beyond the limits.
    """
    if human is None and not models:
        return example_sets(LABEL, limits)
    if human is None or not models:
        empty, full = (HUMAN_FILE, MODEL_FILES) if human is None else (MODEL_FILES, HUMAN_FILE)
        raise ValueError(f"“{empty}” is empty: choose a file there too, or leave “{full}” empty for the example")
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


def round_shown(this: Round, seen: int, ended: bool = False) -> str:
    """A round's sentences as far as they are seen; once it has ended all of them, the model's marked."""
    return render("round", this=this, seen=len(this.sentences) if ended else seen, ended=ended)


def rows_in(kept: Mapping[str, object], name: str) -> list[Row]:
    """The rows of a table as a browser has kept them; what is none is left out."""
    rows = kept.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


class JudgingPage:
    """The parts of the page and their events; see `Judgings` for where a person's texts and judgements are."""

    def __init__(self, app: gr.Blocks, sessions: Sessions, limits: Limits) -> None:
        self.sessions, self.limits = sessions, limits
        self.judgings = Judgings(limits.judged_megabytes * 2**20, limits.client_megabytes * 2**20)
        gr.Markdown(_INTRODUCTION)
        self.browser = gr.JSON({}, visible=False, elem_id="judge_kept")
        self.sure = gr.Textbox(visible=False)
        self._add_start()
        self.unsaved = gr.HTML(elem_id="judge_unsaved")
        with gr.Tabs():
            with gr.Tab("Find the boundary"):
                gr.Markdown(_RULES)
                why = "Why a machine? (may stay empty)"
                self.reason = gr.Dropdown(["", *REASONS], value="", label=why, elem_id="reason", render=False)
                answers = {"human": "Still a person: go on", "machine": "A machine wrote this sentence"}
                self.game = _Part("boundary", answers, self.reason)
            with gr.Tab("Compare two"):
                gr.Markdown("Which of the two texts is more likely a person's?")
                self.pairs = _Part("pair", {f"answer_{code}": words for words, code in ANSWERS.items()})
        self.delete = gr.Button("Delete both tables", size="sm", elem_id="judge_delete")
        self._connect(app)

    def _add_start(self) -> None:
        """The files, the name, Start, and what is kept for how long."""
        limits, endings = self.limits, upload_endings()
        with gr.Row():
            self.human = gr.File(label=HUMAN_FILE, file_types=endings, height=96, elem_id="judge_human")
            self.models = gr.File(
                label=MODEL_FILES,
                file_types=endings,
                height=96,
                file_count="multiple",
                elem_id="judge_models",
            )
        self.rater = gr.Textbox(
            label="Your name or a code, for the table",
            placeholder="empty: a random code",
            max_length=60,
            max_lines=1,
            interactive=False,
            elem_id="rater",
        )
        self.start = gr.Button("Start", variant="primary", interactive=False, elem_id="judge_start")
        gr.Markdown(
            "A model's text goes on from the human text of the same row, or from its own column prompt. No file: an "
            f"example. At most {limits.texts} texts of {limits.characters} characters, {limits.megabytes} MB a file. "
            "Texts stay in this server's memory until an hour has passed without an answer; a file is deleted when it "
            "is read, or an hour after its upload. The tables stay in your browser too, and Start adds to them, until "
            "you delete them.",
            elem_classes="mm-small",
        )

    def _connect(self, app: gr.Blocks) -> None:
        """Say what happens on each event."""
        quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
        once: dict[str, Any] = {**quiet, "trigger_mode": "once"}
        at_once: dict[str, Any] = {**once, "queue": False}  # however many judges there are
        browser, tables = self.browser, [self.browser, *self.game.outputs, *self.pairs.outputs]
        answers = [*self.game.buttons, *self.pairs.buttons]
        off = "{__type__: 'update', interactive: false}"
        # a second Start would read files that are deleted already, and an answer would be for a text that is replaced
        pressed = self.start.click(
            None, None, [self.start, *answers], js=f"() => Array({1 + len(answers)}).fill({off})", **quiet
        )
        taken, outputs = [browser, self.rater, self.human, self.models], [self.human, self.models, self.rater, *tables]
        begun = pressed.then(self._begin, taken, outputs, js=_READ, **once)
        again = begun.failure(self._show_again, browser, tables, js=_READ, **quiet, queue=False)
        begun.success(None, None, None, js=_SHOW, **quiet)
        # Start and the name wait for this answer, which would overwrite what came of them
        arrived = app.load(self._arrive, browser, [self.rater, *tables], js=_READ, **quiet, queue=False)
        on = off.replace("false", "true")
        for ended in (begun.success, *(when for last in (again, arrived) for when in (last.success, last.failure))):
            ended(None, None, [self.start, self.rater], js=f"() => [{on}, {on}]", **quiet)
        changes = [arrived, begun]
        for button, machine in zip(self.game.buttons, (False, True), strict=True):
            guessed = partial(self._answered, partial(self._guess, machine))
            outputs = [self.reason, *tables]
            changes.append(button.click(guessed, [browser, self.reason], outputs, js=_READ, **at_once))
        for button, words in zip(self.pairs.buttons, ANSWERS, strict=True):
            rated = partial(self._answered, partial(self._rate, words))
            changes.append(button.click(rated, browser, tables, js=_READ, **at_once))
        for part, name in ((self.game, "boundaries.csv"), (self.pairs, "preferences.csv")):
            part.save.click(None, part.rows, None, js=f"text => ({_SAVE})({name!r}, text)", **quiet)
        outputs = [self.sure, *tables]
        changes.append(self.delete.click(self._forget, [browser, self.sure], outputs, js=_ASK, **at_once))
        for change in changes:
            change.success(None, browser, self.unsaved, js=_STORE, **quiet)

    def _of_both(self, key: str, judging: Judging, said: str = "") -> Values:
        return self._of_game(key, judging, said) | self._of_pairs(key, judging, said)

    def _of_game(self, key: str, judging: Judging, said: str = "") -> Values:
        now = round_shown(judging.rounds[0], judging.seen) if judging.rounds else "<p>All rounds are played.</p>"
        shown = self.game.values(now, said, bool(judging.rounds), judging.boundaries)
        return {self.browser: _for_browser(key, judging), **shown}

    def _of_pairs(self, key: str, judging: Judging, said: str = "") -> Values:
        now = render("two_texts", texts=judging.pairs[0].shown) if judging.pairs else "<p>All pairs are judged.</p>"
        shown = self.pairs.values(now, said, bool(judging.pairs), judging.preferences)
        return {self.browser: _for_browser(key, judging), **shown}

    def _only_tables(self, kept: Mapping[str, object], said: str) -> Values:
        game = self.game.values(said, "", False, rows_in(kept, "boundaries"))
        return game | self.pairs.values(said, "", False, rows_in(kept, "preferences"))

    def _arrive(self, kept: dict[str, object]) -> Values:
        key = str(kept.get("key", ""))
        judging = self.judgings.get(key)
        if judging is not None:
            return {self.rater: judging.rater, **self._of_both(key, judging)}
        shown: Values = {self.browser: kept, self.rater: kept.get("rater", "")}
        if rows_in(kept, "boundaries") or rows_in(kept, "preferences"):
            shown |= self._only_tables(kept, f"<p>{GONE}</p>")
        return shown

    def _show_again(self, kept: dict[str, object]) -> Values:
        """Show again what was there before a Start that failed, but for the name, which may be typed."""
        return {part: value for part, value in self._arrive(kept).items() if part is not self.rater}

    def _begin(
        self, kept: dict[str, object], who: str, human: str | None, models: list[str] | None, request: gr.Request
    ) -> Values:
        with show_errors(in_controls):
            key = str(kept.get("key", ""))
            before = self.judgings.get(key)
            tables = [rows_in(kept, name) for name in ("boundaries", "preferences")]
            if before is not None:
                tables = [before.boundaries, before.preferences]
            name = clean_name(who) or f"judge-{secrets.token_hex(3)}"
            judging = deal(name, *judged_sets(human, models, self.limits), *tables)
            judging.client = client_of(request.client)
            key = self.judgings.put(judging, key)
            for path in (human, *(models or ())):  # after a refusal they are in their boxes, and Start reads them again
                if path is not None:
                    self.sessions.release_read(path)
        return {self.human: None, self.models: None, self.rater: name, **self._of_both(key, judging)}

    def _answered(self, answer: Callable[..., Values], kept: dict[str, object], *values: object) -> Values:
        """Take an answer on what this page shows; none counts for a text that it does not show."""
        key = str(kept.get("key", ""))
        judging = self.judgings.get(key)
        if judging is None:
            return self._only_tables(kept, f"<p>{GONE}</p>")
        if kept.get("place") != [key, *judging.place]:
            return self._of_both(key, judging, _BEHIND)
        return answer(key, judging, *values)

    def _guess(self, machine: bool, key: str, judging: Judging, why: str) -> Values:
        ended, said = judging.guess(machine, why if machine else ""), ""
        if ended is not None:
            this, points = ended
            truth = "no machine wrote" if this.boundary is None else f"the machine began at sentence {this.boundary}"
            whole = f"<details><summary>Show the last text</summary>{round_shown(this, 0, True)}</details>"
            said = f"<p>{counted(int(points), 'point')}: {truth}.</p>{whole}"
        return {self.reason: "", **self._of_game(key, judging, said)}

    def _rate(self, words: str, key: str, judging: Judging) -> Values:
        judging.rate(words)
        return self._of_pairs(key, judging)

    def _forget(self, kept: dict[str, object], answer: str) -> Values:
        if not answer:
            return {self.sure: ""}
        key = str(kept.get("key", ""))
        judging = self.judgings.get(key)
        if judging is None:
            return {self.browser: {"at": time.time()}, **self._only_tables({}, "<p>Press Start.</p>")}
        judging.boundaries, judging.preferences = [], []
        return self._of_both(key, judging)


def _for_browser(key: str, judging: Judging) -> dict[str, object]:
    """A person's judgements in the form that the browser keeps."""
    tables = {"boundaries": judging.boundaries, "preferences": judging.preferences}
    return {"at": time.time(), "key": key, "rater": judging.rater, "place": [key, *judging.place], **tables}
