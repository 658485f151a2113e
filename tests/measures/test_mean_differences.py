"""Mean differences without noise, against densities by scipy and against what must hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from mauve_metric.measures.linear_classifier import without_noise


@pytest.mark.parametrize(("large", "least"), [((2.4, -3.5, 4.2, 3.0), 0.2), ((2.5, 1.0, 1.0, 1.0), 0.05)])
def test_shares_are_posterior_means_over_the_priors(large: tuple[float, ...], least: float) -> None:
    """By densities of normal variables: t is N(0, 1 + v), and its mean v / (1 + v) t."""
    rng = np.random.default_rng(0)
    t = np.r_[rng.normal(size=26), large]
    likelihood, mean = [], []
    for v in (1 / 16, 1 / 4, 1, 4, 16, 64):
        likelihood.append(9 * norm.pdf(t, scale=np.sqrt(1 + v)).prod())
        mean.append(np.full(30, v / (1 + v)))
    for v in (0, 0.5, 4):
        for share in (1 / 31, 0.1):
            most, few = (1 - share) * norm.pdf(t, scale=np.sqrt(1 + v)), share * norm.pdf(t, scale=np.sqrt(33))
            likelihood.append((most + few).prod())
            mean.append((most * v / (1 + v) + few * 32 / 33) / (most + few))
    shares = np.array(likelihood) @ np.array(mean)
    found = without_noise(0.5 * t[:, None], np.array([0.25]))[:, 0]
    assert np.ptp(shares / shares.max()) > least
    np.testing.assert_allclose(found, 0.5 * t * shares / shares.max(), rtol=1e-4)  # float32


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [0.0, 1e-3, 3.0, 1e6])
@pytest.mark.parametrize("d", [1, 2, 50])
def test_columns_that_differ_alike_keep_their_differences(d: int, size: float) -> None:
    delta = np.full((d, 2), size) * [1, -1]
    np.testing.assert_allclose(without_noise(delta, np.ones(2)), delta, rtol=1e-12)


def test_few_columns_stand_out_of_noise_and_of_small_differences() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(384, 1))
    noise[0] = 14
    found = without_noise(noise, np.ones(1))
    assert found[0] == pytest.approx(14) and np.linalg.norm(found[1:]) < 0.1 * np.linalg.norm(noise[1:])
    both = 3 * noise
    both[0] = 40
    assert np.linalg.norm(without_noise(both, np.ones(1))[1:]) > 0.7 * np.linalg.norm(both[1:])


@pytest.mark.filterwarnings("error")
def test_differences_of_each_division_are_judged_by_themselves() -> None:
    """Of next to nothing, of noise with another variance, and with one column and all far beyond it."""
    rng = np.random.default_rng(2)
    delta = rng.normal(size=(40, 4)) * [0.01, 3, 1, 30]
    delta[0, 2] = 12
    variances = np.array([1.0, 9.0, 1.0, 1.0])
    alone = [without_noise(delta[:, [column]], variances[[column]]) for column in range(4)]
    np.testing.assert_allclose(without_noise(delta, variances), np.hstack(alone), rtol=1e-4)  # float32
