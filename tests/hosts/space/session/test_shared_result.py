"""A link holds what the first screen says, and refuses what no result says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mauve_metric import compute_mauve
from mauve_metric.hosts.space.session.shared_result import read_shared, shared_value
from mauve_metric.results.wording import answer
from mauve_metric.uncertainty.score_warnings import ScoreWarning


def test_a_link_holds_answer_and_bars_of_every_featurizer() -> None:
    rng = np.random.default_rng(0)
    human, far = (rng.normal(shift, size=(120, 3)) for shift in (0, 4))
    one = compute_mauve(p_features=human, q_features=far, num_buckets=8)
    both = replace(one, by_featurizer={"minilm": one, "ngrams": replace(one, mauve_ci=None, mauve_classifier=None)})
    offered = ["minilm", "ngrams", "org/name"]
    shared = read_shared(shared_value(both, offered), offered)
    assert (shared.n_p, shared.n_q, shared.answer) == (120, 120, answer.answer(both))
    for bar, wanted in zip(shared.bars, answer.bars(both), strict=True):
        assert bar.label == wanted.label
        for mark, other in zip(bar.marks, wanted.marks, strict=True):
            assert mark.kind == other.kind and mark.value == pytest.approx(other.value, abs=1e-5)
            assert (mark.ends is None) == (other.ends is None)
    warned = replace(one, warnings=(ScoreWarning("shared_prompts", "m", {}),), by_featurizer={})
    value = shared_value(replace(both, by_featurizer={"minilm": warned, "org/name": warned}), offered)
    assert read_shared(value, offered).answer == "No verdict: the result had none."  # a caution is not lost
    few = read_shared(shared_value(replace(both, n_q=30), offered), offered)
    assert few.answer.startswith("Cannot tell reliably: 30 texts")
    with pytest.raises(ValueError, match="a link holds results of minilm alone: send the files"):
        shared_value(both, ["minilm"])


@pytest.mark.parametrize(
    "value",
    ["", "9,9", "9;minilm,s,1,,,,,", "9,9;other,s,1,,,,,", "9,9;minilm,x,1,,,,,", "9,9;minilm,s,100001,,,,,",
     "9,9;minilm,s,5,6,7,,,", "9,9;minilm,s,1,,,,,;minilm,s,1,,,,,", "9,9;minilm,s,1,,,,,,2"],
)  # fmt: skip
def test_what_no_result_says_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="the link's shared result"):
        read_shared(value, ["minilm"])
