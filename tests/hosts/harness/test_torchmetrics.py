"""torchmetrics: the pattern of its metrics, one number for any number of batches and processes, Lightning."""

from __future__ import annotations

import copy
import importlib
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import TORCH, Programs
from samples import HUMAN, MODEL, ngrams

from mauve_metric import FeatureSet, compute_mauve
from mauve_metric.hosts.harness.pair_scores import SCORES, scalar_scores
from mauve_metric.runtime.errors import WrongOption

torch = pytest.importorskip("torch")
torchmetrics = pytest.importorskip(
    "torchmetrics", reason="needs torchmetrics: pip install 'mauve_metric[torchmetrics]'"
)
host = importlib.import_module("mauve_metric.hosts.harness.torchmetrics")

OPTIONS: dict[str, Any] = {"featurize_model_name": ngrams, "num_buckets": 4, "num_runs": 1}


def score(**options: Any) -> Any:
    return host.MauveScore(**{**OPTIONS, **options})


def filled(metric: Any, human: list[str] = HUMAN, model: list[str] = MODEL, batch: int = 7) -> Any:
    for real, texts in ((True, human), (False, model)):
        for start in range(0, len(texts), batch):
            metric.update(texts[start : start + batch], real=real)
    return metric


def numbers(found: dict[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in found.items()}


def features(seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(60, 6)), rng.normal(size=(50, 6)) + 1


def test_what_is_known_of_the_texts_is_that_of_one_call() -> None:
    """What strip took off, characters that the featurizer cannot read, layout that it leaves out, and empty batches."""
    unseen = [f"{'அஆஇஈ'[number % 4] * 5} {number} and {'ஐஒ'[number % 2] * (number % 7 + 1)}" for number in range(30)]
    lines = [text.upper().replace(" ", "\n") for text in MODEL]
    for human, model in ((HUMAN, lines), (unseen, unseen[::-1])):
        options = {"featurize_model_name": "use", "strip": "quotes,capitals", "empty_texts": "drop", "num_runs": 1}
        direct = compute_mauve(p_text=["", *human], q_text=[*model, " "], **options)
        whole = filled(host.MauveScore(**options), [*human, ""], [" ", *model], batch=1)
        whole.compute()
        assert (whole.result.p_stripped, whole.result.q_stripped) == (direct.p_stripped, direct.q_stripped)
        assert (whole.result.p_dropped, whole.result.q_dropped) == (1, 1)
        assert whole.result.verdict_reason == direct.verdict_reason
        codes = [[warning.code for warning in result.warnings] for result in (whole.result, direct)]
        assert codes[0] == [code for code in codes[1] if code != "opening_in_one_set"]


def test_scalars_are_those_of_the_result() -> None:
    metric = filled(score())
    found = metric.compute()
    assert list(found) == list(SCORES)
    assert all(value.ndim == 0 for value in found.values())
    # torch keeps scalars in float32: seven digits
    assert numbers(found) == pytest.approx(scalar_scores(metric.result), rel=1e-6)
    direct = compute_mauve(p_text=HUMAN, q_text=MODEL, **OPTIONS)
    whole = metric.result
    assert (whole.n_p, whole.n_q) == (direct.n_p, direct.n_q)
    codes = [warning.code for warning in direct.warnings if warning.code != "opening_in_one_set"]  # takes all texts
    assert [warning.code for warning in whole.warnings] == codes
    assert whole.signature == direct.signature


HEADLINE = ("closeness", "closeness_ci_low", "closeness_ci_high", "mauve_debiased")


def test_batches_and_their_order_do_not_move_the_debiased_score() -> None:
    expected = filled(score()).compute()
    assert filled(score(), batch=100).compute() == expected
    other = filled(score(), HUMAN[::-1], MODEL[::-1], batch=100).compute()
    assert [other[name] for name in HEADLINE] == [expected[name] for name in HEADLINE]


def test_aligned_texts_are_scored_as_such() -> None:
    metric = filled(score(aligned=True), HUMAN[: len(MODEL)])
    metric.compute()
    expected = compute_mauve(p_text=HUMAN[: len(MODEL)], q_text=MODEL, aligned=True, **OPTIONS)
    assert metric.result.signature == expected.signature and "design:aligned" in expected.signature
    assert (metric.result.mauve_debiased, metric.result.mauve_debiased_ci) == (
        expected.mauve_debiased,
        expected.mauve_debiased_ci,
    )
    with pytest.raises(TypeError, match="aligned must be True or False, got 1"):
        host.MauveScore(aligned=1)


def test_features_tensors_and_a_feature_set_are_accepted() -> None:
    p, q = features()
    metric = host.MauveScore(num_buckets=5)
    metric.update(p, real=True)
    metric.update(torch.as_tensor(q), real=False)
    other = host.MauveScore(num_buckets=5)
    other.update(FeatureSet(p[::-1].copy()), real=True)
    other.update(q[:20], real=False)
    other.update(q[20:], real=False)
    found, expected = other.compute(), metric.compute()
    assert [found[name] for name in HEADLINE] == [expected[name] for name in HEADLINE]
    assert np.sum(metric.result.p_hist * 60).round() == 60


def test_a_buffer_may_be_used_again() -> None:
    rng = np.random.default_rng(0)
    batches = [rng.normal(size=(40, 3)) + side for side in (0, 0, 1, 1)]
    scores = []
    for again in (False, True):
        metric, buffer = host.MauveScore(num_buckets=4), np.empty((40, 3))
        for place, batch in enumerate(batches):
            if again:
                buffer[:] = batch
            metric.update(buffer if again else batch, real=place < 2)
        scores.append({name: float(value) for name, value in metric.compute().items()})
    assert scores[0] == scores[1] and scores[0]["mauve"] < 0.9


def test_reset_keeps_the_human_side_on_request() -> None:
    metric = filled(score(reset_real_features=False))
    first = metric.compute()
    metric.reset()
    with pytest.raises(
        ValueError, match=r"no texts of the model: call update\(preds, target\) or update\(texts, real=False\)"
    ):
        metric.compute()
    assert metric(MODEL, real=False) is None  # a batch has no score of its own
    assert metric.compute() == first and metric.result.n_p == len(HUMAN)
    metric.reset_real_features = True
    metric.reset()
    metric.update(MODEL, real=False)
    with pytest.raises(ValueError, match="no human texts"):
        metric.compute()


def test_bad_input_names_the_argument() -> None:
    metric = score()
    with pytest.raises(WrongOption, match="aligned must be left out beside independent=True"):
        score(aligned=True, independent=True)
    with pytest.raises(TypeError, match="real must be True"):
        metric.update(MODEL, real="yes")
    with pytest.raises(TypeError, match="without target, real must be True"):
        metric.update(MODEL)
    with pytest.raises(TypeError, match="got True: the side of one set is real=True"):
        metric.update(MODEL, True)
    with pytest.raises(TypeError, match="target or real=True, got both"):
        metric.update(MODEL, HUMAN, real=True)
    with pytest.raises(TypeError, match="target"):
        metric.update(MODEL, "one text")
    with pytest.raises(TypeError, match="preds"):
        metric.update("one text", real=True)
    with pytest.raises(ValueError, match="empty"):
        metric.update(["a text", " "], real=True)
    with pytest.raises(TypeError, match="num_bucket"):
        host.MauveScore(num_bucket=3)
    with pytest.raises(ValueError, match=r"the number of a MauveScore must be one of mauve, .*, got 'mauv'"):
        host.MauveScore()["mauv"]
    with pytest.raises(TypeError, match="reset_real_features"):
        host.MauveScore(reset_real_features=1)
    with pytest.raises(ValueError, match=r"^match_lengths must be 'no' here, since .*, got 'truncate'"):
        host.MauveScore(match_lengths="truncate")
    metric.update(np.ones((3, 4)), real=True)
    with pytest.raises(ValueError, match="4 columns as before, got 5"):
        metric.update(np.ones((3, 5)), real=True)
    with pytest.raises(ValueError, match="target must have 4 columns as before, got 5"):
        metric.update(np.ones((3, 4)), np.ones((3, 5)))
    assert not metric.fake_features  # of a batch all is added, or nothing
    with pytest.raises(ValueError, match="preds must have 4 columns as before, got 32"):
        metric.update(MODEL, real=False)
    with pytest.raises(ValueError, match="featurize_model_name must be one featurizer here, got 'standard'"):
        host.MauveScore(featurize_model_name="standard")


def test_states_of_one_featurizer_are_merged_and_of_others_refused() -> None:
    one, other, empty = filled(score(), HUMAN[:9], MODEL[:9]), filled(score(), HUMAN[9:], MODEL[9:]), score()
    one.merge_state(other)
    empty.merge_state(one)
    at_once = filled(score(), [*HUMAN[9:], *HUMAN[:9]], [*MODEL[9:], *MODEL[:9]])
    expected = numbers(at_once.compute())
    for merged in (one, empty):
        assert numbers(merged.compute()) == expected
        assert merged.result.signature == at_once.result.signature
    with pytest.raises(ValueError, match="incoming_state must have as many columns as the metric, got"):
        one.merge_state(filled(score(), *features()))
    first, second = (filled(score(featurize_model_name=name)) for name in ("use", "ngrams"))
    with pytest.raises(ValueError, match="the two sets were featurized differently"):
        first.merge_state(second)
    before = numbers(first.compute())
    assert len(first.real_features) == len(filled(score()).real_features) and numbers(first.compute()) == before


def test_dropped_and_truncated_texts_are_counted() -> None:
    metric = filled(score(empty_texts="drop"), model=[*MODEL, ""], batch=100)
    metric.compute()
    assert metric.result.q_dropped == 1 and metric.result.n_q == len(MODEL)


def test_the_encoder_is_loaded_once(tiny_gpt2: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from mauve_metric.features import feature_set

    loaded = []
    load = feature_set.load_encoder

    def counted(*given: Any, **options: Any) -> Any:
        loaded.append(given)
        return load(*given, **options)

    monkeypatch.setattr(feature_set, "load_encoder", counted)
    metric = filled(host.MauveScore(featurize_model_name=tiny_gpt2, num_buckets=4, cache=False), batch=10)
    metric.compute()
    assert len(loaded) == 1
    assert Path(tiny_gpt2).name in metric.result.signature and metric.result.p_median_length > 0


def test_it_is_copied_pickled_collected_and_indexed() -> None:
    metric = filled(score())
    expected = metric.compute()
    assert copy.deepcopy(metric).compute() == expected
    assert pickle.loads(pickle.dumps(metric)).compute() == expected
    collection = torchmetrics.MetricCollection({"text": score()}, prefix="val_")
    for real, texts in ((True, HUMAN), (False, MODEL)):
        collection.update(texts, real=real)
    assert {name.removeprefix("val_").removeprefix("text_"): value for name, value in collection.compute().items()} == (
        expected
    )
    one = score()["mauve"]
    filled(one)
    assert one.compute() == expected["mauve"]
    merged = filled(score(), HUMAN[:11], MODEL[:5])
    merged.merge_state(filled(score(), HUMAN[11:], MODEL[5:]))
    assert [merged.compute()[name] for name in HEADLINE] == [expected[name] for name in HEADLINE]
    assert (metric.higher_is_better, metric.is_differentiable) == (True, False)


def test_it_stands_in_a_collection_with_metrics_of_texts() -> None:
    collection = torchmetrics.MetricCollection({"bleu": torchmetrics.text.BLEUScore(), "close": score()})
    collection(MODEL[:7], HUMAN[:7])  # forward, as in a training step
    collection.update(preds=MODEL[7:], target=HUMAN[7 : len(MODEL)])
    found = numbers(collection.compute())
    alone = filled(score(), HUMAN[: len(MODEL)]).compute()
    assert {name: found[name] for name in SCORES} == pytest.approx(numbers(alone), rel=0, nan_ok=True)
    assert 0 <= found["bleu"] < 1


PROCESSES = """
import sys
import pytest, torch
from draws import draw_few
from samples import HUMAN, MODEL, ngrams
from mauve_metric.hosts.harness.torchmetrics import MauveScore

draw_few(pytest.MonkeyPatch())  # as the test
rank, file = int(sys.argv[1]), sys.argv[2]
torch.distributed.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
metric = MauveScore(featurize_model_name=ngrams, num_buckets=4, num_runs=1)
# shares of different sizes, and in several batches; of the human texts the second process has none
if rank == 0:
    metric.update(HUMAN[:20], real=True)
    metric.update(HUMAN[20:], real=True)
    metric.update(MODEL[1::3], real=False)
else:
    metric.update(MODEL[::3], real=False)
    metric.update(MODEL[2::3], real=False)
found = metric.compute()
print([float(found[name]) for name in ("closeness", "closeness_ci_low", "closeness_ci_high", "mauve_debiased")])
metric.update(MODEL[:2], real=False)  # each process has its own share again
print(sum(map(len, metric.fake_features)))
torch.distributed.destroy_process_group()
"""


@pytest.mark.slow
def test_two_processes_give_the_number_of_one(tmp_path: Path, programs: Programs) -> None:
    imports = (*TORCH, "torchmetrics")
    running = [programs.start(PROCESSES, rank, tmp_path / "group", imports=imports) for rank in (0, 1)]
    assert [process.wait() for process in running] == [0, 0], [process.stderr for process in running]
    one = filled(score())
    found = numbers(one.compute())
    expected = str([found[name] for name in HEADLINE])
    said = [process.stdout for process in running]
    assert [out.splitlines()[0] for out in said] == [expected, expected]
    assert [int(out.splitlines()[1]) for out in said] == [8 + 2, 16 + 2]


@pytest.mark.slow
def test_lightning_logs_it(tmp_path: Path) -> None:
    lightning = pytest.importorskip("lightning", reason="needs Lightning: pip install lightning")

    class Writer(lightning.LightningModule):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)
            self.score = score(reset_real_features=False)
            self.score.update(HUMAN, real=True)
            self.only = score()["mauve"]

        def validation_step(self, batch: list[str], index: int) -> None:
            self.score.update(batch, real=False)
            self.only.update(HUMAN[index::4], real=True)
            self.only.update(batch, real=False)
            self.log("val_mauve", self.only)

        def on_validation_epoch_end(self) -> None:
            self.log_dict({f"all_{name}": value for name, value in self.score.compute().items()})
            self.score.reset()

    batches = [MODEL[start : start + 6] for start in range(0, 24, 6)]
    trainer = lightning.Trainer(
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
    )
    (found,) = trainer.validate(Writer(), torch.utils.data.DataLoader(batches, batch_size=None), verbose=False)
    expected = numbers(filled(score()).compute())
    assert found == pytest.approx({"val_mauve": expected["mauve"]} | {f"all_{n}": v for n, v in expected.items()})


def test_another_type_of_states_leaves_the_whole_numbers_among_them() -> None:
    expected = numbers(filled(score()).compute())
    metric = score()
    metric.set_dtype(torch.float64)
    assert numbers(filled(metric).compute()) == pytest.approx(expected, nan_ok=True)


def test_reasoning_of_one_side_is_reported_in_batches_too() -> None:
    metric = host.MauveScore(**OPTIONS)
    for texts in (HUMAN[:12], HUMAN[12:]):
        metric.update(texts, real=True)
    for texts in (MODEL[:12], MODEL[12:]):
        metric.update([f"<think>so</think>{text}" for text in texts], real=False)
    metric.compute()
    assert metric.result is not None
    assert "wrapping_in_one_set" in [warning.code for warning in metric.result.warnings]
