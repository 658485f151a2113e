"""The callback in a Trainer: values everywhere they are looked for, and a training that does not notice."""

from __future__ import annotations

import importlib.util
import io
import json
import logging
import math
import random
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from programs import TORCH, TWO_PROCESSES, Programs

from mauve_metric import FeatureSet, MauveCallback, MauveTrainerMixin, evaluate_model
from mauve_metric.apps.generation.evaluation import COUNTS, LOGGED_SCORES, STATISTICS, values_of
from mauve_metric.hosts.trainer.callback import curve_image, evaluation_prefix, generation_table

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

HUMAN = [
    f"Ship {i} left the {'harbour' if i % 3 else 'river'} with {i * 7 % 11} sailors, and she counts." for i in range(24)
]
NAMES = [*LOGGED_SCORES, *STATISTICS, *COUNTS]


def features(texts: list[str]) -> Any:
    """A featurizer that takes no time: how often each of a few letters occurs."""
    return np.array([[text.count(letter) for letter in "aeinorst "] for text in texts], dtype=float)


def mauve_callback(**options: Any) -> MauveCallback:
    short: dict[str, Any] = {"references": HUMAN, "max_new_tokens": 8, "num_runs": 1, "num_samples": 16}
    return MauveCallback(**{**short, "featurize_model_name": features, **options})


@pytest.fixture(scope="module")
def tokenizer(tiny_gpt2: str) -> Any:
    found = transformers.AutoTokenizer.from_pretrained(tiny_gpt2)
    found.pad_token = found.eos_token
    return found


def rows_of(tokenizer: Any, texts: list[str]) -> list[dict[str, list[int]]]:
    rows = [tokenizer(text)["input_ids"][:24] for text in texts]
    return [{"input_ids": row + [0] * (24 - len(row)), "labels": row + [-100] * (24 - len(row))} for row in rows]


def new_model(tiny_gpt2: str) -> Any:
    """GPT-2 with the dropout of a training."""
    return transformers.GPT2LMHeadModel.from_pretrained(tiny_gpt2, resid_pdrop=0.2, attn_pdrop=0.2, embd_pdrop=0.2)


def make_trainer(
    tiny_gpt2: str, tokenizer: Any, folder: Path, callbacks: list[Any], kind: Any = None, **options: Any
) -> Any:
    given: dict[str, Any] = {
        "output_dir": str(folder / "out"),
        "report_to": "none",
        "use_cpu": True,
        "disable_tqdm": True,
        "max_steps": 6,
        "eval_strategy": "steps",
        "eval_steps": 2,
        "save_strategy": "no",
        "logging_steps": 1,
        "learning_rate": 3e-3,
        "per_device_train_batch_size": 4,
        "seed": 5,
    }
    rows = rows_of(tokenizer, HUMAN)
    arguments = options.pop("arguments", transformers.TrainingArguments)
    evaluation = options.pop("eval_dataset", rows[:4])
    return (kind or transformers.Trainer)(
        model=options.pop("model", None) or new_model(tiny_gpt2),
        args=arguments(**{**given, **options}),
        train_dataset=rows,
        eval_dataset=evaluation,
        data_collator=transformers.default_data_collator,
        processing_class=tokenizer,
        callbacks=callbacks,
    )


def evaluations(trainer: Any, prefix: str = "eval") -> list[dict[str, Any]]:
    return [row for row in trainer.state.log_history if f"{prefix}_runtime" in row]


class Listener(transformers.TrainerCallback):  # type: ignore[misc]
    """A reporter that keeps what it receives."""

    def __init__(self) -> None:
        self.logs: list[dict[str, Any]] = []

    def on_log(self, *_: Any, logs: dict[str, Any] | None = None, **__: Any) -> None:
        self.logs.append(dict(logs or {}))


def value_of(result: Any, name: str) -> float:
    """A score, NaN where a result of few texts has none."""
    ends = result.closeness_ci or (None, None)
    codes = {"like human": 1, "undecided": 0, "different": -1, "no verdict": None}
    value = ends[name.endswith("high")] if name.startswith("closeness_ci") else getattr(result, name)
    value = codes[result.verdict] if name == "verdict" else value
    return math.nan if value is None else value


# --- values -------------------------------------------------------------------------------------------------------


@pytest.mark.more
def test_every_value_is_in_history_and_return(tiny_gpt2: str, tokenizer: Any, tmp_path: Path) -> None:
    callback = mauve_callback()
    trainer = make_trainer(tiny_gpt2, tokenizer, tmp_path, [callback])
    trainer.train()
    rows = evaluations(trainer)
    assert [row["step"] for row in rows] == [2, 4, 6]
    for row, scored in zip(rows, callback.history, strict=True):
        assert all(type(row[f"eval_{name}"]) is float for name in NAMES)
        assert scored.evaluation.result is not None
        assert row["eval_mauve"] == scored.evaluation.result.mauve
    assert not any("eval_mauve" in row for row in trainer.state.log_history if "eval_runtime" not in row)
    metrics = trainer.evaluate()
    assert {f"eval_{name}" for name in NAMES} <= set(metrics)
    assert metrics["eval_mauve"] == rows[-1]["eval_mauve"]  # the same weights and seed
    json.dumps(trainer.state.log_history)
    direct = evaluate_model(
        trainer.model, tokenizer, None, HUMAN, max_new_tokens=8, num_samples=16, num_runs=1,
        featurize_model_name=features, cut_references=True,
    )  # fmt: skip
    assert direct.mauve == metrics["eval_mauve"]
    assert callback.result is not None and callback.result.signature == direct.signature


@pytest.mark.more
def test_each_evaluation_leaves_its_texts(
    tiny_gpt2: str, tokenizer: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Of all but the last, the history has the numbers alone."""
    callback = mauve_callback(save_texts=tmp_path / "texts", prompts=["The ships", "She"])
    make_trainer(tiny_gpt2, tokenizer, tmp_path, [callback]).train()
    files = sorted((tmp_path / "texts").iterdir())
    assert [path.name for path in files] == [f"eval-step-00000{step}.jsonl" for step in (2, 4, 6)]
    rows = [json.loads(line) for line in files[-1].read_text(encoding="utf-8").splitlines()]
    assert callback.result is not None
    assert [(row["prompt"], row["text"]) for row in rows] == [(it.prompt, it.text) for it in callback.result.texts]
    assert len(rows) == 16 and all(row["text"].startswith(row["prompt"]) for row in rows)
    earlier = callback.history[0].evaluation
    assert earlier.texts == () and earlier.result is not None and earlier.result.texts == ()
    before = files[-1].read_text(encoding="utf-8")
    make_trainer(tiny_gpt2, tokenizer, tmp_path, [mauve_callback(save_texts=tmp_path / "texts")]).train()  # again
    assert files[-1].read_text(encoding="utf-8") != before  # without prompts
    files[0].write_text("notes of my own\n", encoding="utf-8")
    make_trainer(tiny_gpt2, tokenizer, tmp_path, [mauve_callback(save_texts=tmp_path / "texts")]).train()
    assert "is a file of something else: move it away" in caplog.text
    assert files[0].read_text(encoding="utf-8") == "notes of my own\n"
    strict = mauve_callback(save_texts=tmp_path / "texts", on_error="raise")
    with pytest.raises(FileExistsError, match="is a file of something else"):
        make_trainer(tiny_gpt2, tokenizer, tmp_path, [strict]).train()


@pytest.mark.more
def test_references_are_cut_unless_told_otherwise(
    tiny_gpt2: str, tokenizer: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for options, times in (({}, 1), ({"cut_references": False}, 0)):
        caplog.clear()
        make_trainer(tiny_gpt2, tokenizer, tmp_path, [mauve_callback(**options)], max_steps=4).train()
        assert caplog.text.count("texts are cut to the length that is generated") == times


@pytest.mark.more
@pytest.mark.parametrize("first", ["early", "mauve"])
def test_best_model_and_early_stopping_in_any_order(
    tiny_gpt2: str, tokenizer: Any, tmp_path: Path, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = iter([0.2, 0.6, 0.5, 0.4, 0.3])  # the best is the second; patience 2 ends it after the fourth
    mauve = mauve_callback()
    monkeypatch.setattr(
        "mauve_metric.hosts.trainer.callback.values_of",
        lambda evaluation, others: {**values_of(evaluation, others), "mauve": next(planned)},
    )
    early = transformers.EarlyStoppingCallback(2)
    callbacks = [early, mauve] if first == "early" else [mauve, early]
    trainer = make_trainer(
        tiny_gpt2, tokenizer, tmp_path, callbacks, max_steps=20, save_strategy="steps", save_steps=2,
        metric_for_best_model="eval_mauve", greater_is_better=True, load_best_model_at_end=True,
    )  # fmt: skip
    trainer.train()
    assert trainer.state.global_step == 8
    assert trainer.state.best_metric == 0.6
    assert trainer.state.best_model_checkpoint.endswith("checkpoint-4")
    saved = transformers.GPT2LMHeadModel.from_pretrained(trainer.state.best_model_checkpoint)
    assert torch.equal(saved.transformer.wte.weight, trainer.model.transformer.wte.weight)
    state = json.loads((tmp_path / "out" / "checkpoint-8" / "trainer_state.json").read_text())
    assert [row["eval_mauve"] for row in state["log_history"] if "eval_runtime" in row] == [0.2, 0.6, 0.5, 0.4]


@pytest.mark.more
def test_the_second_featurizer_may_choose_the_best_model(
    tiny_gpt2: str, tokenizer: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def moody(texts: list[str]) -> Any:
        if texts[0].startswith("ship 1"):  # of the second evaluation
            raise RuntimeError("out of memory")
        return 2 * features(texts) ** 2

    callback = mauve_callback(
        generate_fn=lambda prompts: [f"ship {len(callback.history)} and {index}" for index in range(len(prompts))],
        featurizers={"first": features, "moody": moody},
        embed_at_start=True,
        featurize_model_name=features,
        on_error="raise",
    )
    chosen: dict[str, Any] = {"metric_for_best_model": "mauve_moody", "save_strategy": "steps", "save_steps": 2}
    trainer = make_trainer(tiny_gpt2, tokenizer, tmp_path, [callback], load_best_model_at_end=True, **chosen)
    trainer.train()
    rows = evaluations(trainer)
    assert [math.isnan(row["eval_mauve_moody"]) for row in rows] == [False, True, False]
    assert not any(math.isnan(row["eval_mauve"]) for row in rows)
    assert trainer.state.best_metric == max(rows[place]["eval_mauve_moody"] for place in (0, 2))
    assert "moody could not be used" in caplog.text
    result = callback.result
    assert result is not None and [*result.by_featurizer] == [f"{__name__}.features", "moody"]
    for name, one in (("", result), ("_moody", result.by_featurizer["moody"])):
        assert {score: rows[-1][f"eval_{score}{name}"] for score in LOGGED_SCORES} == {
            score: pytest.approx(value_of(one, score), rel=0, abs=0, nan_ok=True) for score in LOGGED_SCORES
        }
        assert "|generation:" in one.signature and "|featurize_model_name:" in f"|{one.signature}"
    assert result.mauve == rows[-1]["eval_mauve"]
    assert callback._chooses_the_best({}, "eval", trainer.args)
    assert not callback._chooses_the_best({}, "eval_news", trainer.args)
    with pytest.raises(ValueError, match="references holds what one featurizer made"):
        mauve_callback(featurizers=[features, moody], references=FeatureSet(np.eye(9)))


@pytest.mark.more
def test_evaluation_sets_and_prefixes(tiny_gpt2: str, tokenizer: Any, tmp_path: Path) -> None:
    rows = rows_of(tokenizer, HUMAN)
    trainer = make_trainer(
        tiny_gpt2, tokenizer, tmp_path, [mauve_callback()], eval_dataset={"news": rows[:4], "prose": rows[4:8]},
        metric_for_best_model="eval_prose_mauve", greater_is_better=True, save_strategy="best", max_steps=4,
    )  # fmt: skip
    trainer.train()
    news, prose = evaluations(trainer, "eval_news"), evaluations(trainer, "eval_prose")
    assert [row["eval_news_mauve"] for row in news] == [row["eval_prose_mauve"] for row in prose]
    assert trainer.state.best_metric == max(row["eval_prose_mauve"] for row in prose)
    assert {"eval_news_mauve", "eval_prose_mauve"} <= set(trainer.evaluate())
    assert "mine_mauve" in trainer.evaluate(rows[:4], metric_key_prefix="mine")
    assert "train_mauve" in trainer.evaluate(rows[:4], metric_key_prefix="train")
    assert "test_mauve" in trainer.predict(rows[:4]).metrics
    assert "held_out_mauve" in trainer.predict(rows[:4], metric_key_prefix="held_out").metrics


@pytest.mark.more
def test_the_sets_of_one_evaluation_share_the_texts(tiny_gpt2: str, tokenizer: Any, tmp_path: Path) -> None:
    rows = rows_of(tokenizer, HUMAN)
    asked: list[int] = []

    def writer(prompts: list[str]) -> list[str]:
        asked.append(len(prompts))
        return [f"{len(asked)} ships {index} sail" for index in range(len(prompts))]

    callback = mauve_callback(generate_fn=writer)
    trainer = make_trainer(tiny_gpt2, tokenizer, tmp_path, [callback], eval_dataset={"a": rows[:4], "b": rows[:4]})
    trainer.train()
    assert asked == [16] * 3 and len(callback.history) == 6
    trainer.evaluate()  # outside of a training anything may happen between two sets
    assert asked == [16] * 5


def test_a_search_for_hyperparameters_can_aim_at_it(tiny_gpt2: str, tokenizer: Any, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    trainer = make_trainer(tiny_gpt2, tokenizer, tmp_path, [mauve_callback()], max_steps=2)
    trainer.model_init = lambda *_: new_model(tiny_gpt2)
    best = trainer.hyperparameter_search(
        hp_space=lambda trial: {"learning_rate": trial.suggest_float("learning_rate", 1e-4, 1e-2)},
        compute_objective=lambda metrics: metrics["eval_mauve"],
        direction="maximize",
        n_trials=2,
        backend="optuna",
    )
    assert 0 < best.objective <= 1


@pytest.mark.more
def test_every_so_many_evaluations(tiny_gpt2: str, tokenizer: Any, tmp_path: Path) -> None:
    trainer = make_trainer(tiny_gpt2, tokenizer, tmp_path, [mauve_callback(every=2)], max_steps=8)
    trainer.train()
    assert ["eval_mauve" in row for row in evaluations(trainer)] == [True, False, True, False]


@pytest.mark.more
@pytest.mark.parametrize(
    ("best", "scored"),
    [("mauve", [True, True, True]), ("eval_news_verdict", [True, True, True]),
     ("precision", [True, False, True]), ("my_mauve", [True, False, True])],
)  # fmt: skip
def test_the_value_that_chooses_the_best_model_is_always_there(
    tiny_gpt2: str, tokenizer: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, best: str, scored: list[bool]
) -> None:
    """And `every` is obeyed where `compute_metrics` gives it, whatever its name ends with."""
    rows = rows_of(tokenizer, HUMAN)[:4]
    trainer = make_trainer(
        tiny_gpt2, tokenizer, tmp_path, [mauve_callback(every=2)], save_strategy="steps", save_steps=2,
        metric_for_best_model=best, greater_is_better=True, load_best_model_at_end=True,
        eval_dataset={"news": rows} if "news" in best else rows,
    )  # fmt: skip
    trainer.compute_metrics = lambda _: {"precision": 0.5, "my_mauve": 0.5}
    trainer.train()
    found = evaluations(trainer, "eval_news" if "news" in best else "eval")
    assert [any(name.endswith("_recall") for name in row) for row in found] == scored
    assert caplog.text.count("each evaluation is scored all the same") == all(scored)


@pytest.mark.parametrize(
    ("best", "greater", "told"),
    [("eval_auc", True, True), ("auc", False, False), ("eval_a_frontier_integral_ngrams", True, True),
     ("eval_closeness", True, False), ("closeness_ngrams", False, True), ("eval_loss", False, False),
     (None, None, False)],
)  # fmt: skip
def test_a_score_that_would_choose_the_worst_model_is_named(
    caplog: pytest.LogCaptureFixture, best: str | None, greater: bool | None, told: bool
) -> None:
    args: Any = SimpleNamespace(metric_for_best_model=best, greater_is_better=greater)
    mauve_callback(featurizers=["use", "ngrams"])._tell_direction(args)
    assert ("the worst model is chosen" in caplog.text) == told


@pytest.mark.more
@pytest.mark.parametrize("given", ["trainer", "mixin"])
def test_reporters_get_the_values(tiny_gpt2: str, tokenizer: Any, tmp_path: Path, given: str) -> None:
    class MauveTrainer(MauveTrainerMixin, transformers.Trainer):  # type: ignore[misc]
        pass

    listener = Listener()
    if given == "mixin":
        trainer = make_trainer(tiny_gpt2, tokenizer, tmp_path, [listener, mauve_callback()], MauveTrainer)
    else:
        trainer = make_trainer(tiny_gpt2, tokenizer, tmp_path, [listener])
        trainer.add_callback(mauve_callback(trainer=trainer))
    before = trainer.evaluate()
    trainer.train()
    told = [logs for logs in listener.logs if "eval_runtime" in logs]
    assert len(told) == 4
    assert told[0]["eval_mauve"] == before["eval_mauve"]
    assert [logs["eval_mauve"] for logs in told[1:]] == [row["eval_mauve"] for row in evaluations(trainer)]
    assert len(evaluations(trainer)) == 3  # no row was written twice


def test_a_trainer_that_logs_a_copy_gets_the_values(tiny_gpt2: str, tokenizer: Any, tmp_path: Path) -> None:
    class Copying(transformers.Trainer):  # type: ignore[misc]
        def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
            super().log({**logs, "extra": 1.0}, *args, **kwargs)

    callback = mauve_callback()
    trainer = make_trainer(tiny_gpt2, tokenizer, tmp_path, [callback], Copying)
    metrics = trainer.evaluate()
    assert len(callback.history) == 1
    assert metrics["eval_mauve"] == evaluations(trainer)[0]["eval_mauve"]


def test_tensorboard_gets_texts_and_curve(tiny_gpt2: str, tokenizer: Any, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    trainer = make_trainer(tiny_gpt2, tokenizer, tmp_path, [], report_to="tensorboard", max_steps=2)
    trainer.add_callback(mauve_callback(trainer=trainer))
    trainer.train()
    files = list((tmp_path / "out").rglob("events.out.tfevents*"))
    found: dict[str, set[str]] = {"scalars": set(), "tensors": set(), "images": set()}
    for file in files:
        events = EventAccumulator(str(file))
        events.Reload()
        for kind in found:
            found[kind] |= set(events.Tags()[kind])
    assert {"eval/mauve", "eval/precision", "eval/mauve_empty"} <= found["scalars"]
    assert any("mauve_texts" in name for name in found["tensors"])
    if importlib.util.find_spec("vl_convert") is not None:
        assert any("mauve_curve" in name for name in found["images"])


@pytest.mark.slow
def test_weights_and_biases_get_texts_and_curve(tiny_gpt2: str, tokenizer: Any, tmp_path: Path) -> None:
    class Wandb:
        run = "a run"
        Table = Image = staticmethod(lambda *given, **named: (given, named))

        def __init__(self) -> None:
            self.logged: list[dict[str, Any]] = []
            self.log = self.logged.append

    class Reporter(Listener):
        _wandb = Wandb()

    class Broken(Listener):
        _wandb = object

    reporter = Reporter()
    trainer = make_trainer(tiny_gpt2, tokenizer, tmp_path, [Broken(), reporter], max_steps=2)
    trainer.add_callback(mauve_callback(trainer=trainer, table_rows=3))
    trainer.train()
    (logged,) = reporter._wandb.logged
    assert logged["train/global_step"] == 2
    assert len(logged["eval/mauve_texts"][1]["data"]) == 3


@pytest.mark.more
def test_table_and_curve(tiny_gpt2: str, tokenizer: Any) -> None:
    callback = mauve_callback(prompts=["Raise | it", "She"])
    evaluation = callback.evaluator.evaluate(new_model(tiny_gpt2), tokenizer)
    lines = generation_table(evaluation, 2).splitlines()
    assert len(lines) == 4 and lines[2].startswith("| Raise \\| it |")
    pytest.importorskip("vl_convert")
    pytest.importorskip("altair")
    assert evaluation.result is not None
    image = curve_image(evaluation.result)
    assert image.ndim == 3 and image.shape[2] == 3 and image.dtype == np.uint8


@pytest.mark.parametrize("quiet", [False, True])
def test_a_progress_bar_is_shown_unless_the_trainer_has_none(
    tiny_gpt2: str, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet: bool
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    callback = mauve_callback(featurize_model_name=tiny_gpt2)
    make_trainer(tiny_gpt2, tokenizer, tmp_path, [callback], disable_tqdm=quiet).evaluate()
    assert ("generate:" in terminal.getvalue()) is not quiet
    assert ("featurize model texts:" in terminal.getvalue()) is not quiet


# --- nothing else changes -----------------------------------------------------------------------------------------


class Witness(transformers.TrainerCallback):  # type: ignore[misc]
    """Notes what could have been disturbed, at every step."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        weights = [parameter.detach().clone() for parameter in model.parameters()]
        modes = [module.training for module in model.modules()]
        numbers = np.random.get_state()[1].tolist()  # type: ignore[union-attr, index]
        self.seen.append((weights, modes, torch.get_rng_state().tolist(), random.getstate(), numbers))


@pytest.mark.more
@pytest.mark.parametrize("options", [{}, {"gradient_checkpointing": True, "bf16": True}], ids=["plain", "saving"])
def test_a_training_is_the_same_bit_for_bit(
    tiny_gpt2: str, tokenizer: Any, tmp_path: Path, options: dict[str, bool]
) -> None:
    runs = []
    for callbacks in ([], [mauve_callback(featurize_model_name=tiny_gpt2, embed_at_start=True)]):
        witness = Witness()
        trainer = make_trainer(tiny_gpt2, tokenizer, tmp_path, [*callbacks, witness], **options)
        trainer.train()
        losses = [row.get("loss", row.get("eval_loss")) for row in trainer.state.log_history]
        runs.append((losses, witness.seen, trainer.model.config.to_dict(), trainer.model.generation_config.to_dict()))
    (losses, seen, *configs), (other_losses, other_seen, *other_configs) = runs
    assert losses == other_losses and len(losses) == 10
    assert configs == other_configs
    for (weights, *rest), (other_weights, *others) in zip(seen, other_seen, strict=True):
        assert all(torch.equal(one, other) for one, other in zip(weights, other_weights, strict=True))
        assert rest == others
    assert tokenizer.padding_side == "right"


def test_a_training_goes_on_from_a_checkpoint(tiny_gpt2: str, tokenizer: Any, tmp_path: Path) -> None:
    options = {"save_strategy": "steps", "save_steps": 2, "max_steps": 8}
    whole = make_trainer(tiny_gpt2, tokenizer, tmp_path, [mauve_callback(every=2)], **options)
    whole.train()
    resumed = make_trainer(tiny_gpt2, tokenizer, tmp_path, [mauve_callback(every=2)], **options)
    resumed.train(resume_from_checkpoint=str(tmp_path / "out" / "checkpoint-2"))
    assert [row.get("eval_mauve") for row in evaluations(whole)] == [
        row.get("eval_mauve") for row in evaluations(resumed)
    ]
    assert torch.equal(whole.model.transformer.wte.weight, resumed.model.transformer.wte.weight)


# --- what goes wrong ----------------------------------------------------------------------------------------------


@pytest.mark.more
def test_a_generation_that_fails_is_not_fatal(
    tiny_gpt2: str, tokenizer: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[int] = []

    def moody(prompts: list[str]) -> list[str]:
        calls.append(1)
        if len(calls) == 2:
            raise ConnectionError("the generator is gone")
        return [f"ship {index} of {len(calls)}" for index in range(len(prompts))]

    trainer = make_trainer(
        tiny_gpt2, tokenizer, tmp_path, [transformers.EarlyStoppingCallback(3), mauve_callback(generate_fn=moody)],
        metric_for_best_model="mauve", greater_is_better=True, save_strategy="steps", save_steps=2,
        load_best_model_at_end=True,
    )  # fmt: skip
    with caplog.at_level(logging.WARNING):
        trainer.train()
    rows = evaluations(trainer)
    assert [math.isnan(row["eval_mauve"]) for row in rows] == [False, True, False]
    assert [row["eval_mauve_failed"] for row in rows] == [0, 16, 0]
    assert "the generator is gone" in caplog.text
    assert trainer.state.global_step == 6 and not math.isnan(trainer.state.best_metric)
    fatal = mauve_callback(generate_fn=lambda prompts: moody(prompts) and calls.clear(), on_error="raise")
    with pytest.raises(TypeError):
        make_trainer(tiny_gpt2, tokenizer, tmp_path, [fatal]).train()


def test_a_score_that_fails_is_not_fatal_either(tiny_gpt2: str, tokenizer: Any, tmp_path: Path) -> None:
    broken: dict[str, Any] = {"featurize_model_name": lambda texts: np.full((len(texts), 2), np.nan)}
    metrics = make_trainer(tiny_gpt2, tokenizer, tmp_path, [mauve_callback(**broken)]).evaluate()
    assert math.isnan(metrics["eval_mauve"]) and metrics["eval_mauve_failed"] == 0
    with pytest.raises(ValueError, match="must be finite"):
        make_trainer(tiny_gpt2, tokenizer, tmp_path, [mauve_callback(**broken, on_error="raise")]).evaluate()


def test_contradicting_options_are_refused_at_the_start(tiny_gpt2: str, tokenizer: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="on_error must be 'warn' or 'raise'"):
        mauve_callback(on_error="ignore")
    with pytest.raises(ValueError, match="every must be"):
        mauve_callback(every=0)
    with pytest.raises(TypeError, match="finds the other processes by itself"):
        mauve_callback(distributed=True)
    with pytest.raises(TypeError, match=r"unknown option 'referencs' \(did you mean 'references'"):
        mauve_callback(referencs=HUMAN)
    long = make_trainer(tiny_gpt2, tokenizer, tmp_path, [mauve_callback(prompts=[" ".join(HUMAN)])])
    with pytest.raises(ValueError, match="leave no room to write"):
        long.train()
    missing = mauve_callback(featurize_model_name="/no/such/folder", embed_at_start=True)
    with pytest.raises(FileNotFoundError):
        make_trainer(tiny_gpt2, tokenizer, tmp_path, [missing]).train()
    with pytest.raises(ValueError, match=r"^cut_references must be one of 'auto', True, False, got "):
        MauveCallback(references=HUMAN, cut_references=np.zeros(2))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"match_lengths": "truncate"}, "match_lengths='truncate' needs a featurizer with tokens"),
        ({"featurize_model_name": "server:one"}, "server must be the address of the server"),
        ({"featurize_model_name": "minilm", "device": "cuda:4096"}, "device 'cuda:4096' does not exist"),
        ({"independent": True}, "independent must be left out: the prompts say which texts depend on each other"),
        ({"trainer": "mine"}, "trainer must be a Trainer of transformers, got 'mine'"),
        ({"strip": "html,prompts", "prompts": ["She"]}, "strip must be without 'prompts'"),
    ],
)
def test_options_that_no_evaluation_could_follow_are_refused_at_once(options: dict[str, Any], message: str) -> None:
    """Every evaluation of the training was NaN."""
    with pytest.raises((TypeError, ValueError), match=message):
        mauve_callback(**options)


def test_a_second_callback_says_that_it_adds_nothing(
    tiny_gpt2: str, tokenizer: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    callbacks = [mauve_callback(), mauve_callback(seed=3)]
    make_trainer(tiny_gpt2, tokenizer, tmp_path, callbacks, max_steps=4).train()
    said = "eval_mauve is there already, by another MauveCallback or compute_metrics: this callback adds nothing"
    assert caplog.messages.count(said) == 1
    assert [len(callback.history) for callback in callbacks] == [2, 0]


def test_a_value_of_compute_metrics_stays(
    tiny_gpt2: str, tokenizer: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    callback = mauve_callback()
    trainer = make_trainer(tiny_gpt2, tokenizer, tmp_path, [callback])
    trainer.compute_metrics = lambda _: {"precision": 0.12, "writing_runtime": 7.0}
    metrics = trainer.evaluate()
    assert metrics["eval_precision"] == evaluations(trainer)[0]["eval_precision"] == 0.12
    assert callback.result is not None and metrics["eval_recall"] == callback.result.recall
    found = trainer.predict(rows_of(tokenizer, HUMAN)[:4]).metrics
    assert found["test_precision"] == 0.12 and "test_mauve" in found
    said = "eval_precision: there already, by compute_metrics, which stays; MAUVE's is in the history of the callback"
    assert caplog.messages.count(said) == 1


def test_texts_of_a_set_whose_name_holds_a_slash_are_saved(tiny_gpt2: str, tokenizer: Any, tmp_path: Path) -> None:
    rows = rows_of(tokenizer, HUMAN)[:4]
    callback, sets = mauve_callback(save_texts=tmp_path / "texts"), {"wmt/en-de": rows}
    make_trainer(tiny_gpt2, tokenizer, tmp_path, [callback], max_steps=2, eval_dataset=sets).train()
    assert (tmp_path / "texts" / "eval_wmt" / "en-de-step-000002.jsonl").is_file()


def test_texts_that_cannot_be_saved_end_a_training_only_on_request(
    tiny_gpt2: str, tokenizer: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    texts = tmp_path / "texts"
    going, ending = mauve_callback(save_texts=texts), mauve_callback(save_texts=texts, on_error="raise")
    texts.rmdir()
    texts.write_text("no folder any more", encoding="utf-8")
    assert "eval_mauve" in make_trainer(tiny_gpt2, tokenizer, tmp_path, [going]).evaluate()
    assert "the texts of this evaluation are not saved" in caplog.text
    with pytest.raises(OSError, match="texts"):
        make_trainer(tiny_gpt2, tokenizer, tmp_path, [ending]).evaluate()
    with pytest.raises(OSError, match=r"/texts' cannot be written: it is a file, expected a folder"):
        mauve_callback(save_texts=texts)


@pytest.mark.parametrize("name", ["eval", "eval_news"])
def test_weights_that_change_after_an_interrupt_are_scored_anew(
    tiny_gpt2: str, tokenizer: Any, tmp_path: Path, name: str
) -> None:
    class Interrupt(transformers.TrainerCallback):  # type: ignore[misc]
        def on_evaluate(self, *_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

    written: list[int] = []

    def writer(prompts: list[str]) -> list[str]:
        written.append(len(prompts))
        return [f"{len(written)} ships {index} sail" for index in range(len(prompts))]

    callback, interrupt = mauve_callback(generate_fn=writer), Interrupt()
    rows = rows_of(tokenizer, HUMAN)[:4]
    sets: Any = rows if name == "eval" else {"news": rows, "prose": rows}
    trainer = make_trainer(tiny_gpt2, tokenizer, tmp_path, [callback, interrupt], eval_dataset=sets)
    with pytest.raises(KeyboardInterrupt):
        trainer.train()
    trainer.remove_callback(interrupt)
    for times in (2, 3):
        trainer.evaluate(rows, metric_key_prefix=name)
        assert len(written) == times


def test_the_prefix_is_read_from_the_runtime() -> None:
    assert evaluation_prefix({"eval_runtime": 1.0}) == "eval"
    assert evaluation_prefix({"loss": 1.0, "epoch": 1.0}) is None
    assert evaluation_prefix({"train_runtime": 1.0}, training=True) is None
    assert evaluation_prefix({"train_runtime": 1.0}) == "train"
    assert evaluation_prefix({"eval_writing_runtime": 7.0, "eval_runtime": 1.0}) == "eval"


# --- other Trainers -----------------------------------------------------------------------------------------------


def test_seq2seq_trainer(tokenizer: Any, tmp_path: Path) -> None:
    config = transformers.T5Config(
        vocab_size=len(tokenizer), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0,
        pad_token_id=1, eos_token_id=0,
    )  # fmt: skip
    trainer = make_trainer(
        "", tokenizer, tmp_path, [mauve_callback(prompts=HUMAN)], transformers.Seq2SeqTrainer,
        model=transformers.T5ForConditionalGeneration(config), arguments=transformers.Seq2SeqTrainingArguments,
        max_steps=2,
    )  # fmt: skip
    trainer.train()
    assert evaluations(trainer)[0]["eval_mauve"] > 0


CHATS = [
    [{"role": "user", "content": f"Where is ship {index}?"}, {"role": "assistant", "content": text}]
    for index, text in enumerate(HUMAN)
]


@pytest.mark.more
@pytest.mark.parametrize("conversational", [True, False])
def test_plain_prompts_are_wrapped_where_the_training_is_of_conversations(
    tiny_chat: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, conversational: bool
) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_chat)
    model = transformers.GPT2LMHeadModel.from_pretrained(tiny_chat)
    texts = [tokenizer.apply_chat_template(chat, tokenize=False) if conversational else HUMAN[0] for chat in CHATS]
    prompts = ["Where is she?", "Which ship?"]
    callback = mauve_callback(prompts=prompts, num_samples=6, generation_config={"do_sample": False})
    trainer = make_trainer("", tokenizer, tmp_path, [callback], model=model, max_steps=2)
    trainer.train_dataset = rows_of(tokenizer, texts)
    with caplog.at_level(logging.WARNING):
        trainer.train()
        trainer.evaluate()
    assert caplog.text.count("the training data are conversations") == conversational
    options: dict[str, Any] = {"max_new_tokens": 8, "num_runs": 1, "num_samples": 6, "featurize_model_name": features}
    options["cut_references"] = True  # as the callback does by itself
    for asked in (True, False):
        result = evaluate_model(
            trainer.model, tokenizer, prompts, HUMAN, chat_template=asked, generation_config={"do_sample": False},
            **options,
        )  # fmt: skip
        assert callback.result is not None
        assert (callback.result.signature == result.signature) is (asked is conversational)
        assert (callback.result.mauve == result.mauve) or asked is not conversational


@pytest.mark.more
@pytest.mark.parametrize("kind", ["text", "messages"])
def test_sft_trainer(tiny_chat: str, tmp_path: Path, kind: str) -> None:
    trl = pytest.importorskip("trl")
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({kind: HUMAN if kind == "text" else CHATS})
    arguments = trl.SFTConfig(
        output_dir=str(tmp_path), report_to="none", use_cpu=True, max_steps=2, eval_strategy="steps", eval_steps=1,
        metric_for_best_model="eval_mauve", greater_is_better=True, save_strategy="best", max_length=64, bf16=False,
        disable_tqdm=True,
    )  # fmt: skip
    callback = mauve_callback(prompts=["Where is she?"])
    trainer = trl.SFTTrainer(
        transformers.GPT2LMHeadModel.from_pretrained(tiny_chat), args=arguments, train_dataset=data,
        eval_dataset=data.select(range(4)), callbacks=[transformers.EarlyStoppingCallback(3), callback],
        processing_class=transformers.AutoTokenizer.from_pretrained(tiny_chat),
    )  # fmt: skip
    trainer.train()
    rows = evaluations(trainer)
    assert len(rows) == 2 and trainer.state.best_metric == max(row["eval_mauve"] for row in rows)
    assert callback.result is not None
    assert ("prompts:conversations|chat_template:" in callback.result.signature) is (kind == "messages")


@pytest.mark.more
def test_grpo_trainer(tiny_chat: str, tmp_path: Path) -> None:
    trl = pytest.importorskip("trl")
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"prompt": [chat[:1] for chat in CHATS]})
    arguments = trl.GRPOConfig(
        output_dir=str(tmp_path), report_to="none", use_cpu=True, max_steps=2, eval_strategy="steps", eval_steps=1,
        per_device_train_batch_size=2, per_device_eval_batch_size=2, num_generations=2, max_completion_length=4,
        save_strategy="no", bf16=False, disable_tqdm=True,
    )  # fmt: skip
    callback = mauve_callback(prompts=data)
    trainer = trl.GRPOTrainer(
        transformers.GPT2LMHeadModel.from_pretrained(tiny_chat), args=arguments, train_dataset=data,
        eval_dataset=data.select(range(2)), callbacks=[callback],
        processing_class=transformers.AutoTokenizer.from_pretrained(tiny_chat, padding_side="left"),
        reward_funcs=lambda completions, **_: [float(len(completion[0]["content"])) for completion in completions],
    )  # fmt: skip
    trainer.train()
    rows = evaluations(trainer)
    assert len(rows) == 2 and all(row["eval_mauve"] > 0 and row["eval_mauve_failed"] == 0 for row in rows)
    assert callback.history[-1].evaluation.texts[1][0] == "Where is ship 1?"


@pytest.mark.more
def test_adapters(tiny_gpt2: str, tokenizer: Any, tmp_path: Path) -> None:
    peft = pytest.importorskip("peft")
    written: list[list[str]] = []

    def noted(texts: list[str]) -> Any:
        written.append(texts)
        return features(texts)

    # random weights, scaled by a hundred: the adapter decides what the model writes
    config = peft.LoraConfig(task_type="CAUSAL_LM", init_lora_weights=False, r=8, lora_alpha=800)
    model = peft.get_peft_model(new_model(tiny_gpt2), config)
    callback = mauve_callback(generation_config={"do_sample": False}, featurize_model_name=noted)
    trainer = make_trainer(tiny_gpt2, tokenizer, tmp_path, [callback], model=model)
    assert trainer.evaluate()["eval_mean_length"] > 0
    with_adapter = written[-1]
    with model.disable_adapter():
        trainer.evaluate()
    assert written[-1] != with_adapter
    trainer.train()
    assert len(evaluations(trainer)) == 3


# --- several processes --------------------------------------------------------------------------------------------

TRAINS = """
import json, pathlib, sys
import numpy as np, torch, transformers
from mauve_metric import MauveCallback
folder, name, mode = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
human = json.loads((folder / "human.json").read_text())
tokenizer = transformers.AutoTokenizer.from_pretrained(name)
tokenizer.pad_token = tokenizer.eos_token
rows = [tokenizer(text)["input_ids"][:24] for text in human]
rows = [{"input_ids": row + [0] * (24 - len(row)), "labels": row + [-100] * (24 - len(row))} for row in rows]
model = transformers.GPT2LMHeadModel.from_pretrained(name)
featurized = []
def features(texts):
    featurized.append(len(texts))
    return np.array([[text.count(letter) for letter in "aeinorst "] for text in texts], dtype=float)
args = transformers.TrainingArguments(
    output_dir=str(folder / "out"), report_to="none", use_cpu=True, disable_tqdm=True, max_steps=4,
    eval_strategy="steps", eval_steps=2, save_strategy="no", per_device_train_batch_size=2, learning_rate=3e-3,
)
rank = args.process_index
written = []
whole = model.generate
def generate(**options):
    written.append(len(options["input_ids"]))
    if rank == 1 and len(written) > 1:
        raise RuntimeError("the second process is ill")
    return whole(**options)
model.generate = generate
callback = MauveCallback(
    references=human, num_samples=15, max_new_tokens=6, num_runs=1, featurize_model_name=features,
    on_error="raise" if mode == "raise" else "warn",
)
trainer = transformers.Trainer(
    model, args, train_dataset=rows, eval_dataset=rows[:4], processing_class=tokenizer,
    data_collator=transformers.default_data_collator, callbacks=[callback],
)
error = None
try:
    trainer.train()
except Exception as found:
    error = repr(found)
values = [row["eval_mauve"] for row in trainer.state.log_history if "eval_mauve" in row]
failed = [row["eval_mauve_failed"] for row in trainer.state.log_history if "eval_mauve_failed" in row]
texts = callback.history[-1].evaluation.texts if callback.history else None
(folder / f"rank{rank}.json").write_text(json.dumps(
    {"values": values, "failed": failed, "written": written, "featurized": featurized, "error": error,
     "texts": texts, "size": args.world_size}
))
if error is not None and torch.distributed.is_initialized():
    torch.distributed.destroy_process_group()
"""

SHARDED = """
import json, pathlib, sys
import numpy as np, torch, transformers
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from mauve_metric.apps.generation.evaluator import ModelEvaluator
folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
human = json.loads((folder / "warn" / "human.json").read_text())
tokenizer = transformers.AutoTokenizer.from_pretrained(name)
torch.distributed.init_process_group("gloo")
def features(texts):
    return np.array([[text.count(letter) for letter in "aeinorst "] for text in texts], dtype=float)
def whole():
    return transformers.GPT2LMHeadModel.from_pretrained(name)
def shell(**options):
    policy = ModuleWrapPolicy({transformers.models.gpt2.modeling_gpt2.GPT2Block})
    return FullyShardedDataParallel(whole(), auto_wrap_policy=policy, device_id=torch.device("cpu"), **options)
def second():
    model = whole()
    for part in (*model.transformer.h, model):
        fully_shard(part)
    return model
def written(model):
    before = [parameter.shape for parameter in model.parameters()]
    evaluator = ModelEvaluator(
        human[:7], human, distributed=True, featurize_model_name=features, num_samples=13, max_new_tokens=5,
        generation_batch_size=3, num_runs=1,
    )
    found = evaluator.evaluate(model, tokenizer)
    assert [parameter.shape for parameter in model.parameters()] == before
    return {"texts": found.texts, "mauve": found.result.mauve}
wrapped = shell(use_orig_params=True)
models = {"whole": whole(), "first": wrapped, "flat": shell(use_orig_params=False), "second": second()}
found = {kind: written(model) for kind, model in models.items()}
for parameter in wrapped.parameters():  # as an optimizer does
    parameter.data.mul_(1.5)
found["changed"] = written(wrapped)
refused = []
for model, options in ((wrapped.module, {"distributed": True}), (models["second"], {})):
    try:
        ModelEvaluator(human, human, featurize_model_name=features, **options).prepare(model, tokenizer)
    except ValueError as error:
        refused.append(str(error))
rank = torch.distributed.get_rank()
(folder / f"sharded{rank}.json").write_text(json.dumps(found | {"refused": refused}))
"""

TWICE = """
import pathlib, runpy, sys
folder, model = pathlib.Path(sys.argv[1]), sys.argv[2]
runpy.run_path(str(folder / "sharded.py"), run_name="__main__")
for mode in ("warn", "raise"):
    sys.argv[1:] = [str(folder / mode), model, mode]
    runpy.run_path(str(folder / "trains.py"), run_name="__main__")
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not (torch.distributed.is_available() and torch.distributed.is_gloo_available()),
    reason="torch was built without gloo",
)
def test_two_processes(tiny_gpt2: str, tmp_path: Path, programs: Programs) -> None:
    """Sharded weights and two trainings, one after the other, since starting the processes is what takes long."""
    for mode in ("warn", "raise"):
        (tmp_path / mode).mkdir()
        (tmp_path / mode / "human.json").write_text(json.dumps(HUMAN))
    (tmp_path / "trains.py").write_text(TRAINS)
    (tmp_path / "sharded.py").write_text(SHARDED)
    script = tmp_path / "twice.py"
    script.write_text(TWICE)
    imports = (*TORCH, "transformers.trainer")
    run = programs.run(TWO_PROCESSES, script, tmp_path, tiny_gpt2, cwd=tmp_path, imports=imports)
    assert run.returncode == 0, run.stderr[-3000:]
    found, other = (json.loads((tmp_path / f"sharded{rank}.json").read_text()) for rank in (0, 1))
    assert found == other and len(found["whole"]["texts"]) == 13
    assert found["first"] == found["flat"] == found["second"] == found["whole"] != found["changed"]
    assert "what came is the module inside" in found["refused"][0]
    assert "sharded by FSDP, so that no process can write by itself" in found["refused"][1]
    for mode in ("raise", "warn"):
        first, second = (json.loads((tmp_path / mode / f"rank{rank}.json").read_text()) for rank in (0, 1))
        assert first["size"] == second["size"] == 2
        assert first["written"][0] == 8 and second["written"][0] == 7  # each its share
        assert second["featurized"] == []  # the first process scores
        if mode == "raise":
            assert "evaluating the model failed: process 1: RuntimeError('the second process is ill')" in first["error"]
            assert second["error"] == "RuntimeError('the second process is ill')"
    assert first["error"] is None and second["error"] is None
    assert first["featurized"] == [24, 15, 8]  # the references once
    assert first["values"] == second["values"] and len(first["values"]) == 2
    assert first["texts"] == second["texts"] and len(first["texts"]) == 8
    assert first["failed"] == [0, 7]  # the score of what the others wrote
    assert all(math.isfinite(value) for value in first["values"])


@pytest.mark.parametrize(
    ("prompts", "message"), [("one text", "got a single str"), ([], "at least one text, got none")]
)
def test_wrong_prompts_fail_before_the_training(prompts: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"prompts must .*{message}"):
        MauveCallback(prompts=prompts, references=["One text."])
