"""MAUVE during training: a callback for transformers' Trainer, and a mixin that passes the values to every reporter.

The Trainer logs an evaluation before it calls `on_evaluate`, and reporters precede a user's callbacks. The values
are therefore computed when the evaluation is logged, and written into the dict that the Trainer uses afterwards and
into the row of the history; given the trainer, the callback also moves to the head of the list.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from mauve_metric.apps.generation.evaluation import LOGGED_SCORES, Evaluation, value_names, values_of
from mauve_metric.apps.generation.evaluator import ModelEvaluator
from mauve_metric.apps.generation.writing_options import TrainingKeywords, WritingOptions
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.options import Featurizer, check_option_names, with_options
from mauve_metric.results.result import MauveResult
from mauve_metric.results.scores import SCORES
from mauve_metric.runtime.checks import check_bool, check_count, check_path, shown, wrong
from mauve_metric.runtime.outputs import make_folder

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase, Trainer

    Host = Trainer
else:
    Host = object

logger = logging.getLogger(__name__)

_RUNTIME = "_runtime"
_SHOWN_CHARACTERS = 300  # of a prompt or a text in a table
_TRAINING = "train_runtime"  # the key in the last row of a training

Metrics = MutableMapping[str, float]


class Moment(NamedTuple):
    """A Trainer at the moment of an evaluation; `data` are the datasets of the training and of the evaluation."""

    args: TrainingArguments
    state: TrainerState
    control: TrainerControl
    model: torch.nn.Module | None
    processing_class: PreTrainedTokenizerBase | None
    data: tuple[object, ...]


class Evaluated(NamedTuple):
    """One scored evaluation: its step, its prefix and its values."""

    step: int
    prefix: str
    evaluation: Evaluation


class MauveCallback(TrainerCallback):
    """Add MAUVE to every evaluation of a Trainer, and change nothing else.

    Each evaluation gains `<prefix>_closeness`, which chooses the best model (`metric_for_best_model="eval_closeness"`,
    `greater_is_better=True`), its interval `_closeness_ci_low` and `_closeness_ci_high`, `_verdict` (1 like human, 0
    undecided, -1 different, NaN no verdict), `_mauve`, `_mauve_debiased`, `_mauve_debiased_stderr`, `_precision`,
    `_recall`, `_frontier_integral`, `_repetition`, `_distinct_4`, `_mean_length`, and the counts `_mauve_empty` and
    `_mauve_failed`; of each featurizer after the first the scores, with its name behind (`_mauve_ngrams`): in the
    returned metrics, the log history, the choice of the best model, early stopping and the
    search for hyper-parameters, at any position of the callback in the list. A value that `compute_metrics` gives under
    one of these names stays, with a warning. Reporters get them if `trainer` is given,
    or the Trainer has the `MauveTrainerMixin`; TensorBoard and Weights & Biases then also some texts and the curve.

    Args:
        prompts, references, dataset, prompt_tokens, include_prompt: see `WritingOptions`.
        chat_template, num_samples, generation_config, max_new_tokens, generate_fn, generation_batch_size: likewise.
        every: score every so many evaluations under one prefix, the first included; all of them, with a warning, where
            `metric_for_best_model` is one of these values.
        on_error: "warn": an evaluation that fails is logged and its scores are NaN, which is never the best;
            "raise": it ends the training, on all processes. A model with sharded weights (FSDP, ZeRO stage 3) that
            fails while it writes ends it in any case.
        embed_at_start: featurize the references when training starts, not at the first evaluation.
        tokenizer: of the model; None: the Trainer's `processing_class`.
        trainer: the Trainer, so that reporters see the values. Give it and call `trainer.add_callback` with this.
        table_rows: texts in the reporters' tables.
        save_texts: a folder in which each evaluation leaves its texts, `eval-step-000320.jsonl`, as `mauve-metric
            generate` writes them; a training that is resumed or repeated replaces its own files, and no others.
        featurizers: several, as in `compute_mauve`; the references must be texts then. One after the first that fails
            is named in a warning, whatever `on_error` says, and its scores are NaN.
        **options: the others are those of `compute_mauve`; `featurize_model_name` may be "self".

    Attributes:
        history: what was scored, a list of `Evaluated`; the last one holds its texts, too.

    Raises:
        TypeError, ValueError: an argument is not what it should be. OSError: `save_texts` can be no folder.

    Example:
        trainer = Trainer(..., callbacks=[MauveCallback(prompts=prompts, references=human_texts)])
    """

    @with_options("distributed", first=fields(WritingOptions))
    def __init__(
        self,
        prompts: Iterable[object] | None = None,
        references: Iterable[object] | FeatureSet | str | Path | None = None,
        *,
        every: int = 1,
        on_error: Literal["warn", "raise"] = "warn",
        embed_at_start: bool = False,
        tokenizer: PreTrainedTokenizerBase | None = None,
        trainer: Trainer | None = None,
        table_rows: int = 8,
        save_texts: str | Path | None = None,
        featurizers: Sequence[Featurizer] | Mapping[str, Featurizer] | None = None,
        **options: Unpack[TrainingKeywords],
    ) -> None:
        if not isinstance(on_error, str) or on_error not in ("warn", "raise"):
            raise ValueError(f"on_error must be 'warn' or 'raise', got {shown(on_error)}")
        check_option_names(options, MauveCallback.__init__)
        if "distributed" in options:
            raise TypeError("distributed is not an option of the callback: it finds the other processes by itself")
        cut = options.get("cut_references", "auto")
        if isinstance(cut, str) and cut == "auto":
            options["cut_references"] = True
        self.evaluator = ModelEvaluator(
            prompts,
            references,
            keep_going=on_error == "warn",
            featurizers=featurizers,
            distributed=True,
            **options,
        )
        self.every, self.table_rows = check_count("every", every), check_count("table_rows", table_rows, low=0)
        self.embed_at_start = check_bool("embed_at_start", embed_at_start)
        if trainer is not None and not hasattr(trainer, "callback_handler"):
            raise wrong("trainer", "a Trainer of transformers", trainer)
        self.tokenizer, self.trainer = tokenizer, trainer
        self.save_texts = None if save_texts is None else check_path("save_texts", save_texts)
        if self.save_texts is not None:
            make_folder(self.save_texts)
        self.history: list[Evaluated] = []
        self._verbose = options.get("verbose")
        self._done: tuple[str, float, dict[str, float]] | None = None  # prefix, runtime and values of the last row
        self._is_named = False  # that the values, or some of them, are another's
        self._is_always_due = False  # which was said, too
        self._fresh: dict[str, Evaluation] = {}  # of the present weights, by the prefixes of the evaluation sets so far

    @property
    def result(self) -> MauveResult | None:
        """The last evaluation's result; None before the first, and when it failed."""
        return self.history[-1].evaluation.result if self.history else None

    # --- events ---------------------------------------------------------------------------------------------------

    def on_train_begin(self, *trainer: Any, **host: Any) -> None:
        """Refuse what does not fit the model, cut the prompts, and embed the references if requested."""
        self._fresh, moment = {}, _moment(trainer, host)
        self._tell_direction(moment.args)
        self._move_to_the_head()
        self.evaluator.prepare(*self._model_and_tokenizer(moment), embed=self.embed_at_start)

    def on_prediction_step(self, *_: object, **__: object) -> None:
        """Move to the head of the list, before anything is logged."""
        self._move_to_the_head()

    def on_log(self, *trainer: Any, logs: Metrics | None = None, **host: Any) -> None:
        """Score the model when an evaluation without values is logged."""
        prefix = evaluation_prefix(logs or {}, training=True)
        if logs is None or prefix is None:
            return
        if f"{prefix}_mauve" not in logs:
            self._add_values(logs, prefix, _moment(trainer, host))
        elif not self._is_named and (self._done is None or self._done[:2] != (prefix, logs[f"{prefix}{_RUNTIME}"])):
            self._is_named = True
            said = "%s_mauve is there already, by another MauveCallback or compute_metrics: this callback adds nothing"
            logger.warning(said, prefix)

    def on_evaluate(self, *trainer: Any, metrics: Metrics | None = None, **host: Any) -> None:
        """Add the values for a Trainer that logged a copy of its metrics, or none; report texts and curve."""
        prefix, moment = evaluation_prefix(metrics or {}), _moment(trainer, host)
        if metrics is None or prefix is None:
            return
        if f"{prefix}_mauve" not in metrics:
            runtime = metrics[f"{prefix}{_RUNTIME}"]
            if self._done is not None and self._done[:2] == (prefix, runtime):
                metrics.update(self._done[2])
            else:
                self._add_values(metrics, prefix, moment)
        state = moment.state
        if f"{prefix}_mauve" in metrics and state.is_world_process_zero and self.trainer is not None and self.history:
            reporters = self.trainer.callback_handler.callbacks
            show_evaluation(reporters, self.history[-1].evaluation, prefix, state.global_step, self.table_rows)

    def on_predict(self, *trainer: Any, metrics: Metrics | None = None, **host: Any) -> None:
        """Score the model in `predict`, whose metrics are not logged."""
        prefix = evaluation_prefix(metrics or {})
        if metrics is not None and prefix is not None and f"{prefix}_mauve" not in metrics:
            metrics.update(self._new_values(metrics, prefix, _moment(trainer, host)))

    def on_step_begin(self, *_: object, **__: object) -> None:
        """Discard the stored evaluation, because the weights change."""
        self._fresh = {}

    on_step_end = on_epoch_begin = on_epoch_end = on_save = on_train_end = on_step_begin

    # --- values ---------------------------------------------------------------------------------------------------

    def _add_values(self, metrics: Metrics, prefix: str, moment: Moment) -> None:
        """Score the model if this evaluation is due (see `every`); write the values into `metrics` and the history."""
        runtime = metrics[f"{prefix}{_RUNTIME}"]
        rows = [row for row in moment.state.log_history if f"{prefix}{_RUNTIME}" in row]
        last = rows[-1] if rows else {}
        is_mine = last.get(f"{prefix}{_RUNTIME}") == runtime and last.get("step") == moment.state.global_step
        mine = last if is_mine and f"{prefix}_mauve" not in last else None  # runtimes are rounded and may be equal
        turn = len(rows) - (mine is not None)  # earlier evaluations; the count survives a checkpoint
        is_due = turn % self.every == 0 or self._chooses_the_best(metrics, prefix, moment.args)
        values = self._new_values(metrics, prefix, moment) if is_due else {}
        self._done = (prefix, runtime, values)
        metrics.update(values)
        if mine is not None:
            mine.update(values)

    def _new_values(self, metrics: Metrics, prefix: str, moment: Moment) -> dict[str, float]:
        """The values, but for those under whose names `metrics` has another's."""
        values = self._values(prefix, moment)
        taken = [name for name in values if name in metrics]
        if taken and not self._is_named:
            self._is_named = True
            said = "%s: there already, by compute_metrics, which stays; MAUVE's is in the history of the callback"
            logger.warning(said, ", ".join(taken))
        return {name: value for name, value in values.items() if name not in taken}

    def _values(self, prefix: str, moment: Moment) -> dict[str, float]:
        """The values of the model in its present state, by their full names."""
        is_of_several = prefix.startswith("eval_")
        if prefix in self._fresh or not is_of_several:  # another evaluation, perhaps after an interrupted training
            self._fresh = {}
        evaluation = next(iter(self._fresh.values()), None)
        if evaluation is None:
            verbose = not moment.args.disable_tqdm if self._verbose is None else self._verbose
            path = None
            if self.save_texts is not None:
                path = self.save_texts / f"{prefix}-step-{moment.state.global_step:06}.jsonl"
            written_by = self._model_and_tokenizer(moment)
            evaluation = self.evaluator.evaluate(*written_by, verbose=verbose, save_texts=path, new=False)
        # inside the training loop the other evaluation sets follow at once, and the texts would be the same
        if is_of_several and (moment.control.should_evaluate or self._fresh):
            self._fresh[prefix] = evaluation
        if self.history:  # else a long training would keep all its texts
            earlier = self.history[-1]
            self.history[-1] = earlier._replace(evaluation=earlier.evaluation.without_texts())
        self.history.append(Evaluated(moment.state.global_step, prefix, evaluation))
        return {f"{prefix}_{name}": value for name, value in values_of(evaluation, self.evaluator.others).items()}

    def _model_and_tokenizer(self, moment: Moment) -> tuple[torch.nn.Module | None, PreTrainedTokenizerBase | None]:
        """The Trainer's model and the user's tokenizer, else the Trainer's; the evaluator sees the training's data.

        FSDP may have wrapped the model since it was passed to the callbacks; a tokenizer may be inside a processor.
        """
        processor, trainer = self.tokenizer if self.tokenizer is not None else moment.processing_class, self.trainer
        tokenizer: PreTrainedTokenizerBase | None = getattr(processor, "tokenizer", processor)
        data = moment.data if trainer is None else (trainer.train_dataset, *moment.data)
        self.evaluator.see_training_data(data, tokenizer)
        return moment.model if trainer is None else trainer.model, tokenizer

    def _chooses_the_best(self, metrics: Metrics, prefix: str, args: TrainingArguments) -> bool:
        """Return whether the Trainer looks for one of the values, and for none of `metrics`; warn of it once."""
        best = f"eval_{(args.metric_for_best_model or '').removeprefix('eval_')}"
        names = (f"{prefix}_{name}" for name in value_names(self.evaluator.others))
        if best in metrics or best not in names:
            return False
        if not self._is_always_due:
            self._is_always_due = True
            said = "every=%d: each evaluation is scored all the same, since metric_for_best_model needs %s"
            logger.warning(said, self.every, best)
        return True

    def _tell_direction(self, args: TrainingArguments) -> None:
        """Warn of a score by which the worst model would be chosen."""
        best, missed = args.metric_for_best_model or "", "lower" if args.greater_is_better else "higher"
        names = [f"_{best}".removesuffix(f"_{other}") for other in ("", *self.evaluator.others)]
        scores = tuple(f"_{name}" for name in LOGGED_SCORES if name in SCORES and SCORES[name].better == missed)
        if any(name.endswith(scores) for name in names):
            said = "if %r is MAUVE's, it is better the %s it is: by greater_is_better=%s the worst model is chosen"
            logger.warning(said, best, missed, args.greater_is_better)

    def _move_to_the_head(self) -> None:
        """Move before the reporters, so that the values are in the log when they read it."""
        handler = getattr(self.trainer, "callback_handler", None)
        if handler is not None and self in handler.callbacks and handler.callbacks[0] is not self:
            # a new list: the handler may be iterating over the old one
            handler.callbacks = [self, *(callback for callback in handler.callbacks if callback is not self)]


class MauveTrainerMixin(Host):
    """A Trainer whose reporters, history and callbacks all get MAUVE, in any order.

    Put it before the Trainer's class; the `MauveCallback` is given as any callback:

        class MauveTrainer(MauveTrainerMixin, Trainer):
            pass

        trainer = MauveTrainer(..., callbacks=[MauveCallback(prompts=prompts, references=human_texts)])

    Args:
        *args, **kwargs: those of the Trainer.
    """

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Add the values before any callback reads the log."""
        tokenizer = self.callback_handler.processing_class
        for callback in self.callback_handler.callbacks:
            if isinstance(callback, MauveCallback) and evaluation_prefix(logs, training=True) is not None:
                callback.trainer = self
                callback.on_log(self.args, self.state, self.control, logs=logs, processing_class=tokenizer)
        super().log(logs, start_time)


def _moment(trainer: tuple[Any, ...], host: Mapping[str, Any]) -> Moment:
    """The Trainer's arguments, state and control, with what it passes to a callback by name."""
    args, state, control = trainer
    loaders: tuple[object, ...] = (host.get("train_dataloader"), host.get("eval_dataloader"))
    data = tuple(loader.dataset for loader in loaders if hasattr(loader, "dataset"))
    return Moment(args, state, control, host.get("model"), host.get("processing_class"), data)


def evaluation_prefix(metrics: Metrics, *, training: bool = False) -> str | None:
    """The prefix of an evaluation's metrics, read from its `<prefix>_runtime`; None if it is not one.

    Args:
        metrics: what is logged or returned.
        training: the row at the end of a training, which has a `train_runtime`, may be among them.

    >>> evaluation_prefix({"eval_news_writing_runtime": 1.0, "eval_news_runtime": 2.0})
    'eval_news'
    """
    names = (name for name in metrics if name.endswith(_RUNTIME) and not (training and name == _TRAINING))
    return min((name.removesuffix(_RUNTIME) for name in names), key=len, default=None)  # others are of compute_metrics


# --- texts and curve for reporters, in addition to the numbers -------------------------------------------------------


def show_evaluation(reporters: Iterable[object], evaluation: Evaluation, prefix: str, step: int, rows: int) -> None:
    """Send the first texts and the curve to the reporters of TensorBoard and of Weights & Biases."""
    image = None
    for reporter in reporters:
        writer = getattr(reporter, "tb_writer", None)
        wandb = getattr(reporter, "_wandb", None)
        if writer is None and getattr(wandb, "run", None) is None:
            continue
        try:
            if image is None and evaluation.result is not None:
                image = curve_image(evaluation.result)
            if writer is not None:
                writer.add_text(f"{prefix}/mauve_texts", generation_table(evaluation, rows), step)
                if image is not None:
                    writer.add_image(f"{prefix}/mauve_curve", image, step, dataformats="HWC")
                writer.flush()
            elif wandb is not None:
                texts = [list(row) for row in evaluation.texts[:rows]]
                shown = {f"{prefix}/mauve_texts": wandb.Table(columns=["prompt", "continuation"], data=texts)}
                if image is not None:
                    shown[f"{prefix}/mauve_curve"] = wandb.Image(image)
                wandb.log({**shown, "train/global_step": step})
        except Exception as error:  # which does not end the training
            logger.warning("%s did not take the texts or the curve: %r", type(reporter).__name__, error)


def generation_table(evaluation: Evaluation, rows: int) -> str:
    """A Markdown table of the first texts: prompt and continuation."""

    def cell(text: str) -> str:
        short = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
        return " ".join(short.split()).replace("|", "\\|")

    lines = [f"| {cell(prompt)} | {cell(text)} |" for prompt, text in evaluation.texts[:rows]]
    return "\n".join(["| prompt | continuation |", "| --- | --- |", *lines])


def curve_image(result: MauveResult) -> NDArray[np.uint8] | None:
    """The divergence curve as an array of pixels (height, width, 3) of uint8; None without the packages for it."""
    try:
        import vl_convert
        from PIL import Image

        from mauve_metric.report.charts.of_result import divergence_curve_chart

        chart = divergence_curve_chart(result).to_json()
    except ImportError:
        logger.info("no figure of the curve: it needs altair, vl-convert-python and pillow")
        return None
    with Image.open(io.BytesIO(vl_convert.vegalite_to_png(chart))) as image:
        return np.asarray(image.convert("RGB"))
