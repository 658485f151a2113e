"""Two pairs of sets: the difference of their closeness where the truth is one, and results that do not compare."""

from __future__ import annotations

import json
from contextlib import nullcontext
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import write_jsonl

from mauve_metric import MauveResult, compare_pairs, compute_mauve
from mauve_metric.hosts.cli.main import main
from mauve_metric.options import MauveConfig
from mauve_metric.uncertainty.closeness import Bound, closeness_of

EVEN, TILTED = np.full(10, 0.1), np.array([0.19, 0.01] * 5)  # MAUVE .88 of one against the other
SETTINGS = "confidence_level:0.95|num_buckets:7|n_p:300|n_q:300|p_digest:{0}p|q_digest:{0}q"


@cache
def pair(number: int, shift: float, n: int = 120, **options: Any) -> MauveResult:
    rng = np.random.default_rng(number)
    return compute_mauve(p_features=rng.normal(size=(n, 3)), q_features=rng.normal(size=(n, 3)) + shift, **options)


def drawn(rng: np.random.Generator, q: np.ndarray, name: str) -> dict[str, Any]:
    """The entries of a result by two partitions, of which the second is the sharper one."""
    labels = [(rng.choice(10, 300, p=EVEN), rng.choice(10, 300, p=shares)) for shares in (EVEN, q)]
    found = closeness_of([Bound("groups", [sides], None) for sides in labels], MauveConfig())
    assert found is not None
    sizes = {"n_p": 300, "n_q": 300, "signature": SETTINGS.format(name)}
    return {"closeness": found.value, "closeness_ci": found.ci, **sizes}


@pytest.mark.more
def test_equal_truth_is_called_a_difference_in_at_most_5_of_100_cases() -> None:
    rng = np.random.default_rng(3)
    for q in (EVEN, TILTED):
        found = [compare_pairs(drawn(rng, q, "a"), drawn(rng, q, "b")) for _ in range(50)]
        assert sum(item.real for item in found) <= 8  # of 50: 2.5, and four standard errors are 6
        assert all(item.ci is not None and item.ci[0] <= item.difference <= item.ci[1] for item in found)


@pytest.mark.slow
def test_equal_truth_of_whole_scores_is_no_difference() -> None:
    """Of 30 at a level of 5 %: 1.5 on average, and four standard errors are 5.8 more.

    Each score is in two pairs: their differences have a correlation of -1/2, and whether they are called real one of
    1/4 at most, that of their squares, so that the variance is 30 · 0.05 · 0.95 · (1 + 2 / 4).
    """
    one = partial(pair, shift=0.7, n=100, num_runs=1, knn=False)  # what closeness has no use for is left out
    found = [compare_pairs(one(turn), one(turn + 1)) for turn in range(30)]
    assert sum(item.real for item in found) <= 7


def test_the_difference_is_that_of_two_independent_scores() -> None:
    near, far = pair(1, 0.3), pair(2, 3.0)
    found = compare_pairs(far, near)
    assert found.real and (found.a, found.b) == ("pair", "other_pair") and found.ci is not None
    assert found.difference == pytest.approx(far.closeness - near.closeness) and found.ci[1] < 0  # type: ignore[operator]
    turned = compare_pairs(near, far)
    assert turned.ci == pytest.approx((-found.ci[1], -found.ci[0])) and turned.p_value == pytest.approx(found.p_value)
    assert compare_pairs(far.to_dict(), json.loads(json.dumps(near.to_dict()))) == found


def test_pairs_that_were_found_are_no_option() -> None:
    human = np.random.default_rng(3).normal(size=(120, 3))
    found = compute_mauve(p_features=human, q_features=human + 0.01)
    assert found.design == "found" and pair(2, 3.0).design == "undeclared"
    assert compare_pairs(found, pair(2, 3.0)).real
    with pytest.raises(ValueError, match=r"design \(independent and undeclared\)"):
        compare_pairs(pair(3, 0.3, independent=True), found)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (3, "other_pair must be a result of compute_mauve or what its to_dict gave, got 3"),
        ({"closeness": 1.0}, "other_pair must be a result of compute_mauve"),
        (
            partial(pair, 3, 0.3, seed=7),
            r"other_pair must have the options of the first pair, and differs in seed \(25 and 7\)",
        ),
        (
            partial(pair, 3, 0.3, 200),
            r"other_pair must have about as many human texts as the first pair \(120\), got 200: closeness is an upper",
        ),
        (
            partial(pair, 1, 0.5),
            "other_pair must have other human texts than the first pair, and has the same: use compare",
        ),
        (partial(pair, 3, 0.3, 10), "other_pair must have about as many"),
    ],
)
def test_what_does_not_compare_is_refused(other: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        compare_pairs(pair(1, 0.3), other() if callable(other) else other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verdict": "no verdict", "verdict_reason": "token_ids"}, r"got no verdict \(token_ids\)"),
        ({"closeness_ci": None}, r"got no verdict \(no_interval\)"),
        ({"closeness": True}, "must have a closeness with an interval"),
        ({"closeness": float("nan")}, "must have a closeness with an interval"),
        ({"closeness": 1.5}, "must have a closeness with an interval"),
        ({"closeness_ci": [-0.5, 1.0]}, "must have a closeness with an interval"),
        ({"closeness_ci": [0.5, 0.7, 1.0]}, "must be a result of compute_mauve"),
        ({"by_featurizer": {"a": {}, "b": {}}}, r"the featurizers of the first pair \(\[\]\), got \['a', 'b'\]"),
    ],
)
def test_results_that_cannot_be_believed_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"other_pair .*{message}|{message}"):
        compare_pairs(pair(1, 0.3), pair(4, 0.3).to_dict() | change)


def entries(name: str, closeness: float, low: float, high: float, n_p: int = 300, n_q: int = 300) -> dict[str, Any]:
    """A result as `to_dict` gives it, as far as it is read."""
    signature = SETTINGS.format(name).replace("n_p:300", f"n_p:{n_p}").replace("n_q:300", f"n_q:{n_q}")
    return {"closeness": closeness, "closeness_ci": [low, high], "n_p": n_p, "n_q": n_q, "signature": signature}


def test_a_set_on_different_sides_of_two_pairs_is_refused() -> None:
    a, b, c = np.random.default_rng(7).normal(size=(3, 40, 3))
    one = compute_mauve(p_features=a, q_features=b)
    for human, model in ((b, a), (c, a), (b, c)):
        with pytest.raises(ValueError, match=r"other_pair must have other texts .* has the same as the other side"):
            compare_pairs(one, compute_mauve(p_features=human, q_features=model))


def test_the_ends_of_a_difference_are_combined_of_those_of_both_pairs() -> None:
    """Zou and Donner 2008: √(.2² + .1²) away below; above, the end at 1 counts as far as the other one, .2."""
    found = compare_pairs(entries("a", 0.9, 0.7, 1.0), entries("b", 0.5, 0.4, 0.6))
    assert found.difference == pytest.approx(0.4) and found.ci == pytest.approx((0.4 - 0.05**0.5, 0.4 + 0.05**0.5))
    assert found.real and found.stderr == pytest.approx(0.05**0.5 / 1.959964, rel=1e-6)
    assert compare_pairs(entries("a", 0.0, 0.0, 0.1), entries("b", 1.0, 1.0, 1.0)).difference == -1


@pytest.mark.parametrize("side", ["n_p", "n_q"])
@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((300, 270), ""),
        ((300, 269), "must have about as many"),
        ((270, 300), ""),
        ((1, 1), ""),
        ((0, 0), "must be a result of compute_mauve"),
    ],
)
def test_sizes_are_within_a_tenth_of_each_other(side: str, sizes: tuple[int, int], message: str) -> None:
    pairs = [entries(name, 0.5, 0.4, 0.6, **{side: size}) for name, size in zip("ab", sizes, strict=True)]
    with pytest.raises((TypeError, ValueError), match=message) if message else nullcontext():
        assert compare_pairs(*pairs).difference == 0


@pytest.mark.more
def test_the_shell_reads_the_result_of_another_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["harbour", "river", "ship", "letter", "garden", "winter", "evening", "road"]
    rng = np.random.default_rng(0)
    paths = []
    for name in ("h1", "m1", "h2", "m2"):
        texts = [" ".join(rng.choice(words[: 4 if name == "m1" else 8], 12)) for _ in range(80)]
        paths.append(write_jsonl(tmp_path / f"{name}.jsonl", texts))
    flags = ["--featurizer", "ngrams", "--quiet"]
    assert main(["score", *paths[:2], *flags, "--json"]) == 0
    stored = tmp_path / "first.json"
    stored.write_text(capsys.readouterr().out)
    assert main(["score", *paths[2:], *flags, "--other-pair", str(stored)]) == 0
    said = capsys.readouterr().err
    assert "closeness 0.9" in said and "a real difference" in said and str(stored) in said
    assert main(["score", paths[0], paths[3], *flags, "--other-pair", str(stored)]) == 1
    assert "--other-pair must have other human texts than the first pair" in capsys.readouterr().err
    values = json.loads(stored.read_text())
    contents: list[Any] = [values | {"mauve": 0.5}, [], {}]
    for content in contents:
        stored.write_text(json.dumps(content))
        assert main(["score", *paths[2:], *flags, "--other-pair", str(stored)]) == 1
        assert "--other-pair must be what `score --json` printed" in capsys.readouterr().err
