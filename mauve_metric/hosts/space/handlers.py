"""What the page's buttons do once the texts are there: the values of its inputs in, those of its outputs out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import gradio as gr
import numpy as np
from gradio.utils import get_upload_folder

from mauve_metric.arrays import Array
from mauve_metric.hosts.space import markup, takeaway
from mauve_metric.hosts.space.clients import forget_state, new_run
from mauve_metric.hosts.space.controls import PLAY, panel_options, play_options
from mauve_metric.hosts.space.endpoints import Endpoints
from mauve_metric.hosts.space.limits import Limits, check_options, check_together
from mauve_metric.hosts.space.run import Cancelled, Run, errors_shown
from mauve_metric.hosts.space.scoring import Encoders, Scored, embed, score
from mauve_metric.hosts.space.session import Session, Shown, title_of
from mauve_metric.hosts.space.text_handlers import HUMAN, TextHandlers
from mauve_metric.hosts.space.uploads import TextSet, read_paste
from mauve_metric.results.charts import of_comparison, of_explanation, of_result
from mauve_metric.results.charts.of_texts import map_chart
from mauve_metric.results.words import collected_warnings
from mauve_metric.runtime.tensors import on_cpu

if TYPE_CHECKING:
    import altair as alt

RESULT = (  # the outputs that show a result, in the order of the handlers
    "rest",
    "warnings",
    "score",
    "score_line",
    "tables",
    "divergence_curve",
    "precision_recall",
    "picked",
    "contributions",
    "bucket",
    "bucket_texts",
    "histogram",
    "table",
    "text_map",
    "signature",
    "python",
    "shell",
    "files",
)
OF_MODEL = ("contributions", "bucket", "bucket_texts", "histogram", "table")  # those of the picked model
BUCKET_LINK = "#bucket-"  # where a click in a figure leads: the page listens for it
_WAIT = 15.0  # seconds that a run waits for one that was just stopped
_FIRST = "compare two sets first (they are kept for an hour)"


class Handlers(TextHandlers):
    """The functions of one page and its endpoints.

    Args:
        limits: of the server.
        models: names of the featurizers that a visitor may choose.
        encoders: what is in memory of them.
    """

    def __init__(self, limits: Limits, models: Sequence[str], encoders: Encoders) -> None:
        super().__init__(limits)
        self.featurizers, self.encoders = list(models), encoders
        self.endpoints = Endpoints(limits, models, encoders)

    # --- scores ---------------------------------------------------------------------------------------------------

    def compare(self, values: Sequence[object], request: gr.Request, progress: gr.Progress) -> list[object]:
        """The button: pasted texts, rows aligned, featurizer, `PLAY` and the panel's options in, the result out."""
        pasted, aligned, featurizer = [str(text or "") for text in values[:2]], bool(values[2]), values[3]
        play, panel = values[4 : 4 + len(PLAY)], values[4 + len(PLAY) :]
        session = self.sessions.get(request.session_hash)
        if session.run is not None and not session.run.stopped:
            raise gr.Error("a comparison of this page is running already", print_exception=False)
        run = session.run = new_run(self.limits, lambda share, words: progress(share, desc=words))
        try:
            with errors_shown(as_html=True), self._alone(session):
                options = {"featurize_model_name": featurizer, **play_options(list(play)), **panel_options(list(panel))}
                human, models = self._given(session, *pasted)
                self._score(session, human, models, options, aligned, run)
                return self._result(session)
        except Cancelled:
            gr.Info("Stopped. Nothing was changed.", duration=4)
            return [gr.skip()] * len(RESULT)
        finally:
            if session.run is run:
                session.run = None

    def replay(self, values: Sequence[object], request: gr.Request) -> list[object]:
        """Other values of `PLAY`: the result again, from the features that are kept."""
        session = self.sessions.get(request.session_hash)
        with errors_shown(as_html=True), self._alone(session):
            shown = _shown(session)
            options = shown.options | play_options(list(values))
            self._score(session, shown.human, shown.models, options, shown.scored.aligned, new_run(self.limits))
            return self._result(session)

    @contextmanager
    def _alone(self, session: Session) -> Iterator[None]:
        """One computation of a session at a time."""
        if not session.lock.acquire(timeout=_WAIT):
            raise ValueError("a comparison of this page is running already")
        try:
            yield
        finally:
            session.lock.release()

    def _given(self, session: Session, human_pasted: str, model_pasted: str) -> tuple[TextSet, dict[str, TextSet]]:
        """The sets of the page, with what stands in the paste boxes."""
        with session.editing:
            if human_pasted.strip():
                self._set_human(session, read_paste(HUMAN, human_pasted, self.limits))
            if model_pasted.strip():
                self._paste_model(session, model_pasted)
            if session.human is None:
                raise ValueError(f"{HUMAN}: choose a file, paste texts or take an example first")
            if not session.models:
                raise ValueError("the model's texts: choose a file, paste texts or take an example first")
            check_together([side.texts for side in session.sets()], self.limits)
            return session.human, dict(session.models)

    def _score(
        self,
        session: Session,
        human: TextSet,
        models: dict[str, TextSet],
        options: dict[str, object],
        aligned: bool,
        run: Run,
    ) -> None:
        """Put the result of sets into the session."""
        check_options(options, self.featurizers, self.limits)
        config = self.encoders.config(options)
        titles = {name: title_of(name) for name in models}
        sets = {HUMAN: human.texts} | {titles[name]: side.texts for name, side in models.items()}
        last = None if session.shown is None else session.shown.scored
        embedded = embed(sets, config, self.encoders, run, None if last is None else last.embedded)
        scored = score(embedded, titles, config, aligned=aligned and len(models) > 1, last=last, run=run)
        picked = scored.best_first[-1]
        if session.shown is not None and session.shown.picked in models:
            picked = session.shown.picked
        run.stage(0.97, "looking for words")
        scored.explain(picked)  # which reads the words of all texts and keeps them
        run.check()
        session.shown = Shown(human, models, options, scored, picked)

    # --- what is shown --------------------------------------------------------------------------------------------

    def _result(self, session: Session) -> list[object]:
        """The values of the outputs of `RESULT`."""
        shown = _shown(session)
        scored, comparison = shown.scored, shown.scored.comparison
        if comparison is None:
            result = scored.results[shown.picked]
            found = [("", warning) for warning in result.warnings]
            charts = [
                of_result.score_chart(result),
                of_result.divergence_curve_chart(result),
                of_result.precision_recall_chart(result),
            ]
            score, tables, signature = markup.headline(result), "", result.signature
        else:
            found = collected_warnings(comparison)
            charts = [
                of_comparison.forest_chart(comparison),
                of_comparison.curves_chart(comparison),
                of_comparison.precision_recall_curves_chart(comparison),
            ]
            score, tables = markup.comparison_headline(comparison), markup.comparison_tables(comparison)
            signature = comparison.signature
        line, curve, points = charts
        code = shown.human, shown.models, shown.options, scored.aligned
        picked = gr.update(choices=scored.best_first, value=shown.picked, visible=comparison is not None)
        values: dict[str, object] = {
            "rest": gr.update(visible=True),
            "warnings": markup.warnings_list(found),
            "score": score,
            "score_line": line,
            "tables": tables,
            "divergence_curve": curve,
            "precision_recall": points,
            "picked": picked,
            "text_map": text_map(scored, self.limits.points, BUCKET_LINK),
            "signature": signature,
            "python": takeaway.python_code(*code),
            "shell": takeaway.shell_code(*code),
            "files": gr.update(value=None, visible=False),
        }
        values |= self._of_model(shown)
        return [values[name] for name in RESULT]

    def _of_model(self, shown: Shown, bucket: int | None = None) -> dict[str, object]:
        """The values of the outputs of `OF_MODEL` by their names; bucket: the one shown, None: the largest."""
        scored, name = shown.scored, shown.picked
        explanation, result = scored.explain(name), scored.results[name]
        buckets = markup.bucket_choices(explanation, scored.resolved.confidence_level)
        bucket = buckets[0][1] if bucket is None else bucket
        if bucket not in (number for _, number in buckets):
            raise ValueError("there is no such bucket any more: compare again")
        return {
            "contributions": of_explanation.contributions_chart(explanation, link=BUCKET_LINK),
            "bucket": gr.update(choices=buckets, value=bucket),
            "bucket_texts": _bucket(shown, bucket),
            "histogram": of_result.histogram_chart(result, place=scored.best_first.index(name)),
            "table": markup.scores_panel(result, None if scored.comparison is None else name),
        }

    def pick_model(self, name: str | None, request: gr.Request) -> list[object]:
        """Another model's buckets and scores."""
        session = self.sessions.get(request.session_hash)
        with errors_shown(as_html=True):
            shown = _shown(session)
            if name not in shown.models:
                raise ValueError(f"there is no model set “{str(name)[:60]}” in this comparison")
            shown.picked = name
            values = self._of_model(shown)
            return [values[part] for part in OF_MODEL]

    def pick_bucket(self, bucket: int | None, request: gr.Request) -> str:
        """The texts of a bucket, both sides."""
        session = self.sessions.get(request.session_hash)
        with errors_shown(as_html=True):
            return _bucket(_shown(session), bucket)

    def click_bucket(self, clicked: str, request: gr.Request) -> list[object]:
        """A bar or a text was clicked in a figure: the picked model, and what is shown of it.

        Args:
            clicked: begins with the number of a bucket, and of a text's set behind a hyphen: 0 for the human texts,
                then the models in the order of the ranking.
            request: of the visitor.
        """
        session = self.sessions.get(request.session_hash)
        with errors_shown(as_html=True):
            shown = _shown(session)
            found = re.match(r"(\d{1,6})(?:-(\d{1,3}))?\b", clicked, re.ASCII)
            number, which = (int(part or 0) for part in found.groups()) if found else (-1, 0)
            names = shown.scored.best_first
            changed = 0 < which <= len(names) and names[which - 1] != shown.picked
            if changed:
                shown.picked = names[which - 1]
            values = self._of_model(shown, number)
            if not changed:
                values |= dict.fromkeys(("contributions", "histogram", "table"), gr.skip())
            return [shown.picked, *(values[part] for part in OF_MODEL)]

    def make_files(self, request: gr.Request) -> dict[str, object]:
        """Result, figures, signature and report as files."""
        session = self.sessions.get(request.session_hash)
        with errors_shown(as_html=True):
            scored = _shown(session).scored
            folder = session.new_folder(get_upload_folder())
            return gr.update(value=takeaway.write_files(scored, folder), visible=True)

    def cancel(self, request: gr.Request) -> None:
        """Stop the run of this page, if there is one."""
        run = self.sessions.get(request.session_hash).run
        if run is not None:
            run.cancel()

    def leave(self, request: gr.Request) -> None:
        """The page was closed: nothing of it is kept."""
        self.sessions.drop(request.session_hash)
        forget_state()


def _shown(session: Session) -> Shown:
    if session.shown is None:
        raise ValueError(_FIRST)
    return session.shown


def _bucket(shown: Shown, bucket: int | None) -> str:
    """What is in a bucket of the picked model."""
    if bucket is None:
        return ""
    result = shown.scored.results[shown.picked]
    described = shown.scored.explain(shown.picked, [int(bucket)], max(result.n_p, result.n_q)).buckets[0]
    return markup.bucket_panel(described, (result.n_p, result.n_q))


def text_map(scored: Scored, most: int, link: str | None = None) -> alt.Chart:
    """Human texts and those of every model on their first two principal components (see `of_texts.map_chart`).

    The models come in the order of the ranking, so that they have the colours of the other figures.

    Args:
        scored: what is known of the models.
        most: points that are drawn.
        link: see `map_chart`.
    """
    partition, embedded, given = scored.partition, scored.embedded, list(scored.results)
    rows = [on_cpu(part) for part in partition.rows]
    order = [0, *(given.index(name) + 1 for name in scored.best_first)]
    return map_chart(
        ["human texts", *scored.best_first],
        [rows[number] for number in order],
        [partition.labels[0][number] for number in order],
        [embedded.kept(number) for number in order],
        variance_shares(rows, embedded.variance),
        most=most,
        link=link,
    )


def variance_shares(rows: Sequence[Array], variance: float) -> tuple[float, float]:
    """Which shares of the variance of the features, scaled to length 1, the first two projected columns hold.

    >>> from mauve_metric.quantize.projection import unit_rows
    >>> from mauve_metric.hosts.space.scoring import unit_variance
    >>> features = np.array([[3.0, 4.0], [4.0, 3.0], [0.0, 1.0], [1.0, 0.0]])
    >>> unit = unit_rows(features)
    >>> variance = unit_variance([features[:2], features[2:]])
    >>> [round(share, 6) for share in variance_shares([unit[:2], unit[2:]], variance)]
    [0.5, 0.5]
    """
    along = [*np.concatenate([part[:, :2] for part in rows]).var(axis=0, dtype=np.float64).tolist(), 0.0][:2]
    first, second = (min(max(value / variance, 0.0), 1.0) if variance > 0 else 0.0 for value in along)
    return first, second
