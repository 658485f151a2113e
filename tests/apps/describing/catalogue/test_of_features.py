"""The direction of the distances on the features: data for a collapsed, a noisy, a copying and an equal model."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.arrays import MeasuredValue

Floats = NDArray[np.float64]

_DISTANCES = {name: row for name, row in MEASURES.items() if row.group == "distance"}
_FROM_0 = ["mmd", "mmd_gaussian", "frechet_distance", "frechet_infinity", "sliced_wasserstein"]


def world() -> dict[str, Floats]:
    """Features of human texts, of the texts that all models learned from, and of four models."""
    rng = np.random.default_rng(0)
    centres = 4 * rng.normal(size=(5, 6))

    def human(n: int) -> Floats:
        return centres[rng.integers(0, 5, n)] + rng.normal(size=(n, 6))

    training = human(200)
    return {
        "human": human(200),
        "training": training,
        "collapsed": centres[0] + 0.5 * rng.normal(size=(200, 6)),
        "noisy": human(200) + 6 * rng.normal(size=(200, 6)),
        "copying": training + 1e-4 * rng.normal(size=(200, 6)),
        "equal": human(200),
    }


WORLD = world()


def of(name: str, model: str, scale: float = 1.0, offset: Floats | float = 0.0) -> MeasuredValue:
    row = MEASURES[name]
    sets = row.inputs.sets
    sides = [WORLD[model]] if sets == 1 else [WORLD["human"], WORLD[model], WORLD["training"]][:sets]
    keywords = {} if sets == 1 else {"seed": 25, "level": 0.95}
    forms = [dict.fromkeys(row.inputs.forms, rows * scale + offset).__getitem__ for rows in sides]
    found = row.compute_on(*forms, **keywords)
    return found if isinstance(found, MeasuredValue) else MeasuredValue(float(np.mean(found)))


def test_the_rows_are_those_that_are_announced() -> None:
    assert {*_DISTANCES} >= {*_FROM_0, "clipped_density", "clipped_coverage", "vendi", "authenticity", "copying"}


@pytest.mark.parametrize("name", _DISTANCES)
@pytest.mark.parametrize("model", ["collapsed", "noisy", "copying", "equal"])
def test_values_are_in_their_range_and_inside_their_interval(name: str, model: str) -> None:
    row, (value, ci, p_value) = _DISTANCES[name], of(name, model)
    assert row.low is None or value >= row.low
    assert row.high is None or value <= row.high
    assert ci is None or ci[0] <= value <= ci[1]
    assert p_value is None or 0 < p_value <= 1


@pytest.mark.parametrize("name", _FROM_0)
def test_distances_of_collapsed_and_noisy_models_are_larger_than_of_equal_ones(name: str) -> None:
    equal = of(name, "equal").value
    for model in ("collapsed", "noisy"):
        assert of(name, model).value > 3 * abs(equal)
    # a copy of the training texts is a sample of the same distribution: these cannot tell
    assert abs(of(name, "copying").value) < of(name, "collapsed").value / 3


@pytest.mark.parametrize("name", ["mmd", "mmd_gaussian"])
def test_the_test_finds_collapse_and_noise_and_nothing_else(name: str) -> None:
    for model, different in (("collapsed", True), ("noisy", True), ("copying", False), ("equal", False)):
        _, ci, p_value = of(name, model)
        assert ci is not None
        assert p_value is not None
        assert (p_value < 0.05) == different
        assert (ci[0] > 0) == different


def test_density_is_quality_and_coverage_is_coverage() -> None:
    assert of("clipped_density", "collapsed").value > 0.9
    assert of("clipped_coverage", "collapsed").value < 0.3
    assert of("clipped_density", "noisy").value < 0.3
    assert of("clipped_coverage", "noisy").value < 0.3
    for model in ("copying", "equal"):
        assert of("clipped_density", model).value > 0.85
        assert of("clipped_coverage", model).value > 0.8


def test_vendi_falls_for_a_collapsed_model_and_rises_for_a_noisy_one() -> None:
    human = of("vendi", "human").value
    assert of("vendi", "collapsed").value < 0.8 * human
    assert of("vendi", "noisy").value > 1.1 * human
    assert of("vendi", "equal").value == pytest.approx(human, rel=0.1)


def test_only_the_third_set_shows_the_copies() -> None:
    assert of("authenticity", "copying").value == 0.0
    assert of("authenticity", "noisy").value > of("authenticity", "equal").value > 0.2
    (_, copied, _), (_, equal, _), (_, noisy, _) = (of("copying", model) for model in ("copying", "equal", "noisy"))
    assert copied is not None
    assert equal is not None
    assert noisy is not None
    assert copied[1] < 0
    assert equal[0] < 0 < equal[1]
    assert noisy[0] > 0


_OF_FEATURES = {name: row for name, row in MEASURES.items() if "features" in row.inputs.forms}
_SQUARED = {"frechet_distance", "frechet_infinity", "sliced_wasserstein"}  # in squared units of the features
_KNOWS_ORIGIN = {"mmd", "vendi"}  # their kernels do: cosines, and (x·y/d + 1)³, which knows the scale too
_OF_UNIT_ROWS = {"mauve_neighbours", "mauve_logistic", "mauve_gaussian"}  # rows are scaled to length 1 first


@pytest.mark.more
@pytest.mark.parametrize("name", _OF_FEATURES)
def test_where_the_features_have_their_origin_and_unit_does_not_matter(name: str) -> None:
    before = of(name, "noisy").value
    for scale in (1e-6, 1e3):
        expected = before * scale**2 if name in _SQUARED else before
        if name != "mmd":
            assert of(name, "noisy", scale).value == pytest.approx(expected, rel=1e-6)
    if name in _OF_UNIT_ROWS:  # at 1e3 all rows point the same way already
        before = of(name, "noisy", offset=1e3 * np.eye(6)[0]).value
    for offset in (1e5 * np.eye(6)[0], 1e5 * np.ones(6), 1e7 * np.eye(6)[0]):
        if name not in _KNOWS_ORIGIN and not (name in _OF_UNIT_ROWS and offset[1]):
            shifted = of(name, "noisy", offset=offset).value
            assert shifted == pytest.approx(before, rel=0.02 if name in _OF_UNIT_ROWS else 1e-5)
