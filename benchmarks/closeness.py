"""Does closeness hold: sets that share prompts and nobody says so, and distributions whose MAUVE is known.

    OMP_NUM_THREADS=1 python benchmarks/closeness.py undeclared --repeats 40 > benchmarks/results/undeclared.csv
    OMP_NUM_THREADS=1 python benchmarks/closeness.py truth --repeats 40 > benchmarks/results/closeness.csv

undeclared: both sets are draws of one distribution, or one is shifted in one column; texts of one prompt correlate,
or model texts are near copies of human ones; nothing is declared, and the rows are shuffled or in the order in which
they are written. Columns: share of repeats in which anything was found; mean closeness; how often its interval contains
1; how often the verdict is "different"; mean AUC; the last three once more with the prompts declared. Of equal sets the
interval should contain 1, and "different" should be rare; of shifted ones "different" should be about as frequent as
with declared prompts.

truth: mixtures of Gaussian kinds of texts with other shares on either side, a shift in one column or in all, equal
sets, and the features of the shipped examples as kinds with shares that follow their first principal component.
MAUVE of the distributions is known: of the shares where kinds lie apart, else by quadrature. Columns: truth; mean
closeness and how often its interval contains the truth; the same of the score by groups and of that by a classifier.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from learned import gaussian_mauve

from mauve_metric import FeatureSet
from mauve_metric.arrays import Array, Floats, Integers
from mauve_metric.measures.frontier import exact_area
from mauve_metric.options import MauveConfig
from mauve_metric.scoring.score import score_features

CONFIG = MauveConfig(knn=False)
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
Draw = Callable[[np.random.Generator], tuple[Array, Array, tuple[Integers, Integers]]]


def prompts(
    groups: int, answers: tuple[int, int], d: int, correlation: float, shift: float, shuffled: bool = True
) -> Draw:
    """Answers of both sides to the same prompts, as many a prompt; rows of one prompt are correlated."""

    def draw(rng: np.random.Generator) -> tuple[Array, Array, tuple[Integers, Integers]]:
        common = rng.normal(size=(groups, d))
        codes = [np.repeat(np.arange(groups), number) for number in answers]
        p, q = (
            np.sqrt(correlation) * common[of] + np.sqrt(1 - correlation) * rng.normal(size=(len(of), d)) for of in codes
        )
        q[:, 0] += shift
        order = rng.permutation(len(q)) if shuffled else np.arange(len(q))
        return p, q[order], (codes[0], codes[1][order])

    return draw


def own_prompts(n: int, answers: int, d: int, correlation: float, shift: float, shuffled: bool = True) -> Draw:
    """Independent human texts, and several answers of the model to each of other prompts."""

    def draw(rng: np.random.Generator) -> tuple[Array, Array, tuple[Integers, Integers]]:
        of = np.repeat(np.arange(n // answers), answers)
        of = rng.permutation(of) if shuffled else of
        q = np.sqrt(correlation) * rng.normal(size=(len(of), d))[of]
        q += np.sqrt(1 - correlation) * rng.normal(size=q.shape)
        q[:, 0] += shift
        return rng.normal(size=(n, d)), q, (np.arange(n) + n, of)

    return draw


def near_copies(n: int, d: int, share: float, shift: float) -> Draw:
    """A share of the model's rows repeats human rows, all but for a jitter of a tenth of their deviation."""

    def draw(rng: np.random.Generator) -> tuple[Array, Array, tuple[Integers, Integers]]:
        p, q, codes = rng.normal(size=(n, d)), rng.normal(size=(n, d)), np.arange(n) + n
        copied = round(share * n)
        q[:copied] = (p[:copied] + 0.1 * rng.normal(size=(copied, d))) / np.sqrt(1.01)
        codes[:copied] -= n
        q[:, 0] += shift
        return p, q, (np.arange(n), codes)

    return draw


def undeclared_cells() -> Iterator[tuple[tuple[object, ...], Draw]]:
    """Every design: its name, order of the rows, texts a side, columns, correlation or share of copies, shift."""
    of_both = [((1, 1), 100, 5, (0.0, 0.2, 0.5, 0.9)), ((1, 1), 100, 384, (0.0, 0.2, 0.5, 0.9))]
    of_both += [((1, 1), 300, 50, (0.0, 0.2, 0.5, 0.9)), ((1, 5), 100, 100, (0.5, 0.9)), ((5, 5), 60, 100, (0.5, 0.9))]
    of_both += [((3, 3), 33, 200, (0.5, 0.95)), ((5, 1), 60, 200, (0.5, 0.95)), ((5, 5), 60, 20, (0.5, 0.95))]
    of_both += [((5, 5), 20, 20, (0.5, 0.95))]
    in_order = [((1, 1), 100, 5, (0.5,)), ((1, 1), 300, 50, (0.2,)), ((5, 5), 60, 20, (0.3,))]
    of_model = [
        (5, 20, (0.3, 0.5, 0.8)),
        (3, 20, (0.3, 0.5, 0.8)),
        (5, 200, (0.3, 0.5, 0.8)),
        (2, 200, (0.3, 0.5, 0.8)),
    ]
    for order, designs in (("shuffled", of_both), ("kept", in_order)):
        for answers, groups, d, correlations in designs:
            name = "one answer" if answers == (1, 1) else f"{answers[0]} and {answers[1]} answers"
            for correlation, shift in itertools.product(correlations, (0.0, 0.6)):
                draw = prompts(groups, answers, d, correlation, shift, order == "shuffled")
                yield (name, order, groups * answers[0], d, correlation, shift), draw
    for order, own in (("shuffled", of_model), ("kept", [(5, 20, (0.3, 0.5)), (3, 20, (0.3, 0.5))])):
        for number, d, correlations in own:
            name = f"{number} answers to the model's own prompts"
            for correlation, shift in itertools.product(correlations, (0.0, 0.6)):
                draw = own_prompts(300, number, d, correlation, shift, order == "shuffled")
                yield (name, order, 300, d, correlation, shift), draw
    for share, shift in itertools.product((0.1, 0.5), (0.0, 0.6)):
        yield ("near copies", "kept", 300, 384, share, shift), near_copies(300, 384, share, shift)


def undeclared(repeats: int) -> None:
    """Print the table of undeclared designs."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    measured = ("closeness", "contains 1", "different", "AUC")
    declared = ("declared contains 1", "declared different", "declared AUC")
    table.writerow(["design", "order", "n", "d", "correlation", "shift", "found", *measured, *declared])
    for name, draw in undeclared_cells():
        rows = []
        for repeat in range(repeats):
            p, q, groups = draw(np.random.default_rng(repeat))
            sides = FeatureSet(p), FeatureSet(q)
            alone = score_features(*sides, CONFIG)
            told = score_features(
                *(replace(side, groups=codes) for side, codes in zip(sides, groups, strict=True)), CONFIG
            )
            row: list[float] = [alone.design == "found", alone.closeness or np.nan]
            for result in (alone, told):
                row += [result.closeness_ci is not None and result.closeness_ci[1] >= 1]
                row += [result.verdict == "different", result.auc or np.nan]
            rows.append(row)
        table.writerow([*name, *(f"{value:.3f}" for value in np.nanmean(np.array(rows, dtype=float), axis=0))])
        sys.stdout.flush()


Truth = Callable[[np.random.Generator], tuple[Array, Array, float]]


def mixture(kinds: int, n: int, tilt: float, d: int = 50) -> Truth:
    """Kinds of texts that lie apart, with random shares on the model's side."""

    def draw(rng: np.random.Generator) -> tuple[Array, Array, float]:
        centres = 1.5 * rng.normal(size=(kinds, d))
        p = np.full(kinds, 1 / kinds)
        q = p * np.exp(tilt * rng.normal(size=kinds))
        return *_of_kinds(centres, p, q / q.sum(), 1.0, n, rng), exact_area(p, q / q.sum(), 5.0)

    return draw


def examples(n: int, tilt: float) -> Truth:
    """Features of texts as kinds, with shares that follow their first principal component, and a little jitter."""
    rows = np.asarray(FeatureSet.load(EXAMPLES / "human.npz").features, dtype=np.float64)
    centred = rows - rows.mean(axis=0)
    component = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
    p = np.full(len(rows), 1 / len(rows))
    q = p * np.exp(tilt * component / component.std())
    q /= q.sum()

    def draw(rng: np.random.Generator) -> tuple[Array, Array, float]:
        return *_of_kinds(rows, p, q, 0.1 * float(rows.std()), n, rng), exact_area(p, q, 5.0)

    return draw


def _of_kinds(
    centres: Floats, p: Floats, q: Floats, spread: float, n: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    one, two = (centres[rng.choice(len(centres), n, p=shares)] for shares in (p, q))
    return one + spread * rng.normal(size=one.shape), two + spread * rng.normal(size=two.shape)


def shifted(n: int, d: int, shift: float, columns: int = 1) -> Truth:
    """Standard normal rows against the same with a shift of this length, spread over one or more columns."""
    truth = gaussian_mauve(shift) if shift else 1.0

    def draw(rng: np.random.Generator) -> tuple[Array, Array, float]:
        p, q = rng.normal(size=(2, n, d))
        q[:, :columns] += shift / columns**0.5
        return p, q, truth

    return draw


def truth_cells() -> Iterator[tuple[tuple[object, ...], Truth]]:
    """Every population: its name, texts a side, number of kinds or columns, tilt or shift."""
    for kinds, n in ((20, 150), (20, 500), (60, 1000), (200, 1000), (400, 1000)):
        yield ("mixture", n, kinds, 1.0), mixture(kinds, n, 1.0)
    for n, d, shift in ((150, 20, 1.0), (500, 20, 1.0), (500, 20, 0.5), (2000, 50, 0.5), (500, 384, 1.0)):
        yield ("shift", n, d, shift), shifted(n, d, shift)
    for n, d in ((500, 20), (500, 384)):
        yield ("shift in all columns", n, d, 1.0), shifted(n, d, 1.0, d)
    for n, tilt in ((500, 0.5), (1000, 0.5), (1000, 1.0)):
        yield ("example features", n, 600, tilt), examples(n, tilt)
    for n, d in ((100, 384), (150, 20), (500, 50), (1000, 20)):
        yield ("equal", n, d, 0.0), shifted(n, d, 0.0)


def truth(repeats: int) -> None:
    """Print the table of populations with a known score."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    measured = [f"{name}{what}" for name in ("closeness", "by groups", "by classifier") for what in ("", " covers")]
    table.writerow(["population", "n", "kinds or columns", "tilt or shift", "truth", *measured, "different"])
    for name, draw in truth_cells():
        rows = []
        for repeat in range(repeats):
            p, q, value = draw(np.random.default_rng(repeat))
            result = score_features(FeatureSet(p), FeatureSet(q), CONFIG)
            row: list[float] = [value]
            for score, ci in (
                (result.closeness, result.closeness_ci),
                (result.mauve_debiased, result.mauve_ci),
                (result.mauve_classifier, result.mauve_classifier_ci),
            ):
                row += [score or np.nan, ci is not None and ci[0] - 1e-9 <= value <= ci[1] + 1e-9]
            rows.append([*row, result.verdict == "different"])
        table.writerow([*name, *(f"{value:.3f}" for value in np.nanmean(np.array(rows, dtype=float), axis=0))])
        sys.stdout.flush()


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=["undeclared", "truth"])
    parser.add_argument("--repeats", type=int, default=40)
    options = parser.parse_args()
    {"undeclared": undeclared, "truth": truth}[options.table](options.repeats)


if __name__ == "__main__":
    main()
