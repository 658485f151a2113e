"""What the page's buttons do: the values of its inputs in, those of its outputs out."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import gradio as gr
from gradio.utils import get_upload_folder

from mauve_metric import plot
from mauve_metric.cli import examples_folder
from mauve_metric.config import knobs
from mauve_metric.space import markup, takeaway
from mauve_metric.space.controls import PLAY, panel_options, play_options
from mauve_metric.space.limits import Limits, check_options, check_texts
from mauve_metric.space.scoring import Cancelled, Encoders, Run, embed, score_again
from mauve_metric.space.session import Session, Sessions
from mauve_metric.space.uploads import USER_ERRORS, TextSet, read_paste, read_upload

logger = logging.getLogger(__name__)

SIDES = {"human": "the human texts", "model": "the model's texts"}
EXAMPLES = {
    "nucleus": "nucleus sampling",
    "top_k": "top-k sampling",
    "temperature": "temperature 0.7",
    "sampling": "pure sampling",
    "greedy": "greedy decoding",
    "human_other": "other human texts",
}
_WAIT = 15.0  # seconds that a run waits for one that was just stopped
_TITLES = {"p_text": SIDES["human"], "q_text": SIDES["model"], "p_features": "the features of the human texts"}


def example_files() -> dict[str, Path]:
    """The model texts of the examples that are there, by the word on their button."""
    try:
        folder = examples_folder()
    except FileNotFoundError:
        return {}
    found = {label: folder / f"{name}.jsonl" for name, label in EXAMPLES.items()}
    return {label: file for label, file in found.items() if file.is_file()}


@contextmanager
def errors_shown(*, as_html: bool) -> Iterator[None]:
    """Every error goes to the visitor as one sentence, and none to the log with its words, since they may quote texts.

    A mistake of the program itself leaves its kind and place in the log.
    """
    try:
        yield
    except (gr.Error, Cancelled):
        raise
    except Exception as error:
        if isinstance(error, USER_ERRORS):
            message = " ".join(str(error).split()) or type(error).__name__
        else:
            place = traceback.extract_tb(error.__traceback__)[-1]
            logger.error("%s in %s, line %s", type(error).__name__, place.filename, place.lineno)
            message = f"something went wrong here ({type(error).__name__}); your texts are still on the page"
        message = markup.shorten(message, 600)
        raise gr.Error(markup.escape(message) if as_html else message, print_exception=False) from None


def problem(message: str) -> str:
    """A sentence in place of a preview."""
    return f"<p class='mm-problem' role='alert'>{markup.escape(message)}</p>"


class Handlers:
    """The functions of one page and its endpoint.

    Args:
        limits: of the server.
        models: names of the featurizers that a visitor may choose.
        encoders: what is in memory of them.
    """

    def __init__(self, limits: Limits, models: Sequence[str], encoders: Encoders) -> None:
        self.limits, self.models, self.encoders = limits, list(models), encoders
        self.sessions = Sessions(limits.sessions)

    # --- texts come in --------------------------------------------------------------------------------------------

    def take_file(self, which: str, path: str | None, request: gr.Request) -> list[Any]:
        """A file was chosen or taken away: preview, columns, and the paste box emptied."""
        session = self.sessions.get(request.session_hash)
        self._replace(session, which, None)
        if path is None:
            return [*self._shown(None), gr.skip()]
        return [*self._take(session, which, lambda: read_upload(SIDES[which], path, None, self.limits)), ""]

    def take_column(self, which: str, column: str, request: gr.Request) -> str:
        """Another column of the file was chosen: preview."""
        session = self.sessions.get(request.session_hash)
        old = session.sides.get(which)
        if old is None or old.path is None:
            return problem(f"{SIDES[which]}: choose a file first")
        path, kind = old.path, old.kind
        shown = self._take(session, which, lambda: read_upload(SIDES[which], path, column, self.limits, kind))
        return str(shown[0])

    def take_paste(self, which: str, pasted: str, request: gr.Request) -> list[Any]:
        """The paste box was left: preview, no column to choose, and no file any more."""
        session = self.sessions.get(request.session_hash)
        if not pasted.strip():
            return [gr.skip(), gr.skip(), gr.skip()]
        self._replace(session, which, None)
        return [*self._take(session, which, lambda: read_paste(SIDES[which], pasted, self.limits)), None]

    def _take(self, session: Session, which: str, read: Callable[[], TextSet]) -> list[Any]:
        """Preview and columns of what is read, which the session keeps; or what is wrong with it."""
        try:
            with errors_shown(as_html=True):
                side = session.sides[which] = read()
        except gr.Error as error:
            return [f"<p class='mm-problem' role='alert'>{error.message}</p>", gr.update(visible=False)]
        return self._shown(side)

    def take_example(self, label: str, request: gr.Request) -> list[Any]:
        """Both sides from the examples: previews, columns, and the other inputs emptied."""
        session = self.sessions.get(request.session_hash)
        with errors_shown(as_html=True):
            model = example_files()[label]
            shown: list[Any] = []
            for which, path in (("human", model.with_name("human.jsonl")), ("model", model)):
                self._replace(session, which, read_upload(SIDES[which], path, "text", self.limits, "example"))
                shown += [*self._shown(session.sides[which]), None, ""]
        return shown

    def _replace(self, session: Session, which: str, side: TextSet | None) -> None:
        old = session.sides.pop(which, None)
        if side is not None:
            session.sides[which] = side
        if old is not None and old.kind == "file":
            self.sessions.release(old.path)

    def _shown(self, side: TextSet | None) -> list[Any]:
        """Preview and columns of a side."""
        if side is None:
            return ["", gr.update(visible=False)]
        several = len(side.columns) > 1 and side.kind == "file"
        columns = gr.update(choices=list(side.columns), value=side.column, visible=several) if several else None
        return [markup.preview(side), columns or gr.update(visible=False)]

    # --- results go out -------------------------------------------------------------------------------------------

    def compare(self, values: Sequence[Any], request: gr.Request, progress: gr.Progress) -> list[Any]:
        """The button: both pasted texts, the featurizer, `PLAY` and the panel's options in, the whole result out."""
        pasted, model = values[:2], values[2]
        play, panel = values[3 : 3 + len(PLAY)], values[3 + len(PLAY) :]
        session = self.sessions.get(request.session_hash)
        if session.run is not None and not session.run.stopped:
            raise gr.Error("a comparison of this page is running already", print_exception=False)
        run = session.run = Run(lambda share, words: progress(share, desc=words))
        try:
            with errors_shown(as_html=True), self._alone(session):
                for which, text in zip(SIDES, pasted, strict=True):
                    if text and text.strip():
                        self._replace(session, which, read_paste(SIDES[which], text, self.limits))
                options = {"featurize_model_name": model, **play_options(list(play)), **panel_options(list(panel))}
                self._score(session, options, run)
                return self._result(session)
        except Cancelled:
            gr.Info("Stopped. Nothing was changed.", duration=4)
            return [gr.skip()] * NUM_RESULTS
        finally:
            if session.run is run:
                session.run = None

    def replay(self, values: Sequence[Any], request: gr.Request) -> list[Any]:
        """Other values of `PLAY`: the result again, from the features that are kept."""
        session = self.sessions.get(request.session_hash)
        with errors_shown(as_html=True), self._alone(session):
            if session.embedded is None:
                raise ValueError("compare two sets first (they are kept for an hour)")
            self._score(session, session.options | play_options(list(values)), Run())
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

    def _score(self, session: Session, options: dict[str, Any], run: Run) -> None:
        """Put the result of a session's texts, or of the ones it has features of, into the session."""
        check_options(options, self.models, self.limits)
        sides = self._both(session) if run is session.run else session.scored
        if sides is None:
            raise ValueError("compare two sets first (they are kept for an hour)")
        with named(_TITLES):
            config = self.encoders.config(options)
            texts = sides[0].texts, sides[1].texts
            embedded = session.embedded
            if embedded is None or not embedded.fits(*texts, config):
                embedded = embed(*texts, config, self.encoders, run)
            run.stage(0.85, "clustering and scoring")
            result, partition = score_again(embedded, config, session.partition)
            run.check()
        session.embedded, session.partition, session.result = embedded, partition, result
        session.scored, session.options = sides, options

    def _both(self, session: Session) -> tuple[TextSet, TextSet]:
        for which, title in SIDES.items():
            if which not in session.sides:
                raise ValueError(f"{title}: choose a file, paste texts or take an example first")
        return session.sides["human"], session.sides["model"]

    def _result(self, session: Session) -> list[Any]:
        """The values of the result's outputs, in the order of the layout."""
        result, sides = session.result, session.scored
        if result is None or sides is None:
            raise ValueError("compare two sets first (they are kept for an hour)")
        buckets = markup.bucket_choices(result)
        charts = [
            plot.score_chart(result),
            plot.divergence_curve_chart(result),
            plot.precision_recall_chart(result),
            plot.histogram_chart(result),
        ]
        return [
            gr.update(visible=True),
            markup.warnings_list(result),
            markup.headline(result),
            *(chart.properties(width="container") for chart in charts),
            gr.update(choices=buckets, value=buckets[0][1]),
            self._bucket(session, buckets[0][1]),
            markup.score_table(result),
            result.signature,
            takeaway.python_code(sides, session.options),
            takeaway.shell_code(sides, session.options),
            gr.update(value=None, visible=False),
        ]

    def pick_bucket(self, bucket: int | None, request: gr.Request) -> str:
        """The texts of a bucket, both sides."""
        session = self.sessions.get(request.session_hash)
        with errors_shown(as_html=True):
            return self._bucket(session, bucket)

    def _bucket(self, session: Session, bucket: int | None) -> str:
        if session.result is None or session.embedded is None:
            raise ValueError("compare two sets first (they are kept for an hour)")
        if bucket is None:
            return ""
        return markup.bucket_texts(session.result, bucket, *session.embedded.kept())

    def make_files(self, request: gr.Request) -> Any:
        """Result, figures and signature as files."""
        session = self.sessions.get(request.session_hash)
        with errors_shown(as_html=True):
            if session.result is None:
                raise ValueError("compare two sets first (they are kept for an hour)")
            folder = session.new_folder(get_upload_folder())
            return gr.update(value=takeaway.write_files(session.result, folder), visible=True)

    def cancel(self, request: gr.Request) -> None:
        """Stop the run of this page, if there is one."""
        run = self.sessions.get(request.session_hash).run
        if run is not None:
            run.cancel()

    def leave(self, request: gr.Request) -> None:
        """The page was closed: nothing of it is kept."""
        self.sessions.drop(request.session_hash)

    # --- the endpoint ---------------------------------------------------------------------------------------------

    def endpoint(self) -> Callable[..., dict[str, Any]]:
        """What `/score` does; its signature and docstring are the endpoint's documentation."""
        preset = self.models[0]

        def score(
            references: list[str],
            predictions: list[str],
            num_buckets: int | None = None,
            seed: int = knobs()["seed"].default,
            mauve_scaling_factor: float = knobs()["mauve_scaling_factor"].default,
            confidence_level: float = knobs()["confidence_level"].default,
            empty_texts: Literal["error", "drop"] = knobs()["empty_texts"].default,
            featurize_model_name: str = preset,
        ) -> dict[str, Any]:
            """Score a model's texts (predictions) against human texts (references): every number of the result.

            num_buckets: left out, it follows from the number of texts.
            """
            options = {
                "featurize_model_name": featurize_model_name,
                "num_buckets": knobs()["num_buckets"].default if num_buckets is None else num_buckets,
                "seed": seed,
                "mauve_scaling_factor": mauve_scaling_factor,
                "confidence_level": confidence_level,
                "empty_texts": empty_texts,
            }
            with errors_shown(as_html=False), named({"p_text": "references", "q_text": "predictions"}):
                p = check_texts("references", references, self.limits)
                q = check_texts("predictions", predictions, self.limits)
                check_options(options, self.models, self.limits)
                config = self.encoders.config(options)
                result, _ = score_again(embed(p, q, config, self.encoders, Run()), config)
                return result.to_dict()

        return score


NUM_RESULTS = 14  # outputs of `Handlers._result`


@contextmanager
def named(titles: Mapping[str, str]) -> Iterator[None]:
    """Errors call the arguments by the names that the visitor knows."""
    try:
        yield
    except USER_ERRORS as error:
        message = str(error)
        for name, title in titles.items():
            message = message.replace(name, title)
        raise ValueError(message) from error
