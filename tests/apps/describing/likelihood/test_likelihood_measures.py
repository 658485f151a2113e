"""The rows of the language-model group and the discriminators on likelihoods, from texts to numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from samples import texts_of

from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.apps.describing.likelihood.likelihood_measures import (
    _groups,
    discriminator_ranks,
    discriminator_total_probability,
    epsilon_perplexity,
    generation_perplexity,
    log_probability_after_prompt,
    rank_distance,
    rep,
    wrep,
)
from mauve_metric.apps.describing.likelihood.likelihoods import Likelihoods, last_tokens, likelihoods
from mauve_metric.arrays import MeasuredValue
from mauve_metric.measures.measure import LIKELIHOODS
from mauve_metric.options import RunOptions

SIZE = 1000  # of the vocabulary
DISCRIMINATORS = [discriminator_ranks, discriminator_total_probability]


@pytest.fixture(scope="module")
def read(tiny_gpt2: str) -> Likelihoods:
    return likelihoods(texts_of(30), tiny_gpt2, run=RunOptions(cache=False))


def made(seed: int, texts: int = 60, level: float = -3.0, spread: float = 1.0, repeated: float = 0.1) -> Likelihoods:
    """Likelihoods of texts whose tokens are about as likely as `level` says, and likelier ones rank higher."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(5, 30, size=texts)
    size = int(lengths.sum())
    logs = np.minimum(rng.normal(level, spread, size=size), -1e-3)
    ids = rng.integers(0, SIZE, size=size)
    again = np.where(rng.random(size) < repeated, np.roll(ids, 2), rng.integers(0, SIZE, size=size))
    ranks = np.clip(np.exp(-logs) * rng.uniform(0.3, 1, size=size), 1, SIZE).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    first = rng.integers(0, SIZE, size=texts)
    return Likelihoods(
        ids, offsets, first, logs, ranks, np.exp(logs), again, np.full(len(ids), SIZE), SIZE, {"revision": "r"}
    )


def mean_of(name: str, given: Likelihoods) -> float:
    numbers = np.asarray(MEASURES[name].compute(given))
    assert numbers.shape == (len(given),) and numbers.dtype == np.float64
    return float(numbers.mean())


def test_every_row_gives_one_number_a_text_in_its_range(read: Likelihoods) -> None:
    rows = {name: row for name, row in MEASURES.items() if row.inputs == LIKELIHOODS}
    assert len(rows) >= 11
    for name, row in rows.items():
        assert row.group == "language-model" and not row.cheap
        value = mean_of(name, read)
        assert (row.low is None or row.low <= value) and (row.high is None or value <= row.high), name


def test_rows_equal_loops_over_tokens(read: Likelihoods) -> None:
    p = np.exp(read.log_probabilities)
    assert mean_of("generation_perplexity", read) == pytest.approx(np.prod(p ** (-1 / len(p))), rel=1e-9)
    assert mean_of("log_probability", read) == pytest.approx(
        np.mean([part.mean() for part in np.split(np.log(p), read.offsets[1:-1])])
    )
    assert mean_of("probability", read) == pytest.approx(p.mean())
    assert mean_of("sparsemax_score", read) == pytest.approx(read.sparsemax.mean())
    shares = [mean_of(name, read) for name in ("rank_1", "rank_2_5", "rank_6_100", "rank_above_100")]
    counts = np.histogram(read.ranks, [1, 2, 6, 101, np.inf])[0]
    np.testing.assert_allclose(shares, counts / len(read.ranks), atol=1e-12)
    assert sum(shares) == pytest.approx(1)
    assert shares[0] == pytest.approx((read.most_likely == read.token_ids).mean())
    assert 0 <= wrep(read).mean() <= rep(read).mean() <= 1


def test_reference_counts_tokens_without_a_probability(read: Likelihoods) -> None:
    total = -read.log_probabilities.sum()
    tokens, texts = len(read.token_ids), len(read)
    assert generation_perplexity(read).mean() == pytest.approx(np.exp(total / tokens))
    assert generation_perplexity(read, tokens_counted="all").mean() == pytest.approx(np.exp(total / (tokens + texts)))
    marked = replace(read, first_ids=np.full(texts, -1))  # every token of the text is predicted
    np.testing.assert_array_equal(generation_perplexity(marked, tokens_counted="all"), generation_perplexity(marked))
    with pytest.raises(ValueError, match="tokens_counted must be 'predicted' or 'all', got 'both'"):
        generation_perplexity(read, tokens_counted="both")  # type: ignore[arg-type]


def test_directions() -> None:
    """A collapsed model's text is too likely, a noisy one's too unlikely, an equal one's and a copy as the human."""
    human = made(0)
    kinds = {"collapsed": made(1, level=-0.7, spread=0.3, repeated=0.6), "noisy": made(2, level=-6), "equal": made(3)}
    signs = {
        "generation_perplexity": -1,
        "epsilon_perplexity": -1,
        "log_probability": 1,
        "sparsemax_score": 1,
        "token_jensen_shannon": -1,
        "rank_1": 1,
    }
    for name, sign in signs.items():
        far = {kind: sign * (mean_of(name, given) - mean_of(name, human)) for kind, given in kinds.items()}
        assert far["collapsed"] > 4 * abs(far["equal"]) and -far["noisy"] > 2 * abs(far["equal"]), name
        assert mean_of(name, human) == mean_of(name, replace(human))
    assert mean_of("rep", kinds["collapsed"]) > 2 * mean_of("rep", kinds["equal"])
    for measure in DISCRIMINATORS:
        found = {kind: measure(human, given) for kind, given in kinds.items()}
        assert found["collapsed"].value > 0.7 and found["noisy"].value > 0.7
        for far_off in (found["collapsed"], found["noisy"]):
            assert far_off.ci is not None and far_off.ci[0] > 0.5
        assert found["equal"].ci is not None and found["equal"].ci[0] < 0.5 < found["equal"].ci[1]
        assert measure(human, human).value == 0.5  # a copy


def test_epsilon_reaches_the_measure(read: Likelihoods) -> None:
    assert epsilon_perplexity(read, epsilon=0).mean() == pytest.approx(generation_perplexity(read).mean())
    assert epsilon_perplexity(read, epsilon=1e9).mean() == pytest.approx(read.vocabulary_size)


# --- discriminators -----------------------------------------------------------------------------------------------


def test_ranks_tell_apart() -> None:
    found = discriminator_ranks(made(0), made(1, level=-6))
    assert found.value > 0.85 and found.p_value is not None and found.p_value < 1e-6


def test_total_probability_by_hand() -> None:
    human, model = made(0, level=-1), made(1, level=-8, spread=0.1)
    found = discriminator_total_probability(human, model, seed=1)
    totals = [np.add.reduceat(side.log_probabilities, side.offsets[:-1]) for side in (human, model)]
    middle = (totals[0].mean() + totals[1].mean()) / 2
    by_hand = ((totals[0] > middle).mean() + (totals[1] < middle).mean()) / 2
    assert found.value == pytest.approx(by_hand, abs=0.03)  # the threshold moves a little from fold to fold


def test_prompts_and_copies_stay_together() -> None:
    human = made(0, texts=4)
    model = replace(human, first_ids=np.where(np.arange(4) == 2, human.first_ids, human.first_ids + 1))
    groups = _groups(human, model, None, np.array([5, 5, 9, 8]))
    p, q = groups[:4], groups[4:]
    assert p[2] == q[2]  # copies
    assert q[0] == q[1]  # of one prompt
    assert set(groups) == set(range(6))
    groups = _groups(human, model, np.array([1, 2, 3, 4]), np.array([1, 2, 4, 4]))
    p, q = groups[:4], groups[4:]
    assert p[0] == q[0] and p[1] == q[1] and p[2] == q[2] == p[3] == q[3]


@pytest.mark.parametrize("measure", DISCRIMINATORS)
def test_copies_on_both_sides_cannot_be_told_apart(measure: Callable[..., MeasuredValue]) -> None:
    assert measure(made(0), made(0)).value == 0.5
    with pytest.raises(ValueError, match="groups_q must be 60 whole numbers from 0, got"):
        measure(made(0, texts=60), made(0, texts=60), groups_q=np.array([0, 1]))


@pytest.mark.parametrize("measure", DISCRIMINATORS)
def test_sides_of_two_models_are_refused(measure: Callable[..., MeasuredValue]) -> None:
    other = replace(made(1), identity={"revision": "s"})
    with pytest.raises(ValueError, match="read by one language model in one way, got revision 'r' and 's'"):
        measure(made(0), other)
    with pytest.raises(ValueError, match="at least 2 texts a side"):
        measure(made(0), made(1, texts=1))


def test_seed_and_level_reach_the_estimate() -> None:
    human, model = made(0), made(1, level=-3.3)
    wide, narrow = (discriminator_ranks(human, model, level=level).ci for level in (0.99, 0.5))
    assert wide is not None and narrow is not None and np.diff(wide) > np.diff(narrow)
    assert len({discriminator_ranks(human, model, seed=seed).value for seed in range(5)}) > 1
    assert discriminator_ranks(human, model) == discriminator_ranks(human, model, seed=25, level=0.95)


def test_the_distance_of_ranks_is_that_of_their_histograms() -> None:
    human, model = made(1), made(2, level=-1.0)
    edges = [0.5, *(2.0**power + 0.5 for power in range(0, 40))]  # 1, 2, 3-4, 5-8, …
    shares = [np.histogram(side.ranks, edges)[0] / len(side.ranks) for side in (human, model)]
    assert rank_distance(human, model) == pytest.approx(np.abs(shares[0] - shares[1]).sum() / 2)
    assert rank_distance(human, human) == 0
    with pytest.raises(ValueError, match="read by one language model"):
        rank_distance(human, replace(model, identity={"revision": "x"}))


def test_the_last_tokens_are_those_after_the_prompt_and_none_is_no_value() -> None:
    whole = made(3, texts=4)
    last = last_tokens(whole, np.array([2, 0, -3, 10_000]))
    assert last.counts.tolist() == [2, 0, 0, whole.counts[3]]
    logs = np.split(whole.log_probabilities, whole.offsets[1:-1])
    expected = [logs[0][-2:].mean(), np.nan, np.nan, logs[3].mean()]
    assert log_probability_after_prompt(last) == pytest.approx(expected, nan_ok=True)
    assert last.ranks.tolist() == [*whole.ranks[: whole.offsets[1]][-2:], *whole.ranks[whole.offsets[3] :]]
