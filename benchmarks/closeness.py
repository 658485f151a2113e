"""Does closeness hold: sets that share prompts and nobody says so, and distributions whose MAUVE is known.

    OMP_NUM_THREADS=1 python benchmarks/closeness.py undeclared --repeats 16 > benchmarks/results/undeclared.csv
    OMP_NUM_THREADS=1 python benchmarks/closeness.py truth --repeats 40 > benchmarks/results/closeness.csv

undeclared: both sets are draws of one distribution, or one is shifted in one column; texts of one prompt correlate,
or model texts are near copies of human ones; nothing is declared, and the rows are shuffled or in the order in which
they are written. Columns: share of repeats in which pairs were found, and in which repeats were named; mean closeness;
how often its interval contains 1; how often the verdict is "different"; mean AUC; the last three again with the
prompts declared. Of equal sets the interval should contain 1, and "different" should be rare; of shifted ones
"different" should be about as frequent as with declared prompts. Answers of the model alone are repeats of its own:
there equal sets are "different" unless the prompts are declared, and the repeats are named.

truth: mixtures of Gaussian kinds of texts with other shares on either side, or shifted each in a direction of its own,
or both; shifts in one column or in all; another spread of all or of few columns; opposite correlations; heavy tails; a
text that the model repeats; unequal sizes; equal sets; and the features of the shipped examples as kinds with shares
that follow their first principal component. MAUVE of the distributions is known: of the shares where kinds lie apart,
else by quadrature, or from the densities of 40,000 draws. Columns: truth; mean closeness and how often its interval
contains the truth; the same of the score by groups and of that by a classifier; shares of the verdicts.

forecasts: of pairs of equal or nearly equal sets that are undecided, how often as many texts as forecast decide:

    OMP_NUM_THREADS=1 python benchmarks/closeness.py forecasts --repeats 40 > benchmarks/results/forecasts.csv

mixed: human texts, and other human ones among which a share is a model's, of the shipped examples; how often that is
"different":

    OMP_NUM_THREADS=1 python benchmarks/closeness.py mixed --repeats 20 > benchmarks/results/mixed.csv

differences: models against one human set, all with a known MAUVE: the true difference, the mean of those measured,
how often the interval contains the true one, how often the difference is called real, and how often it is though there
is none, or one in the other order:

    OMP_NUM_THREADS=1 python benchmarks/closeness.py differences --repeats 100 > benchmarks/results/differences.csv
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist

import numpy as np
from learned import gaussian_mauve

from mauve_metric import FeatureSet, compare, featurize, read_texts
from mauve_metric.arrays import Array, Floats, Integers
from mauve_metric.measures.frontier import exact_area
from mauve_metric.options import MauveConfig
from mauve_metric.results.comparison import Difference
from mauve_metric.results.result import MauveResult
from mauve_metric.scoring.evaluation import Evaluation

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


def own_prompts_of_both(n: int, most: int, d: int, correlation: float, shift: float) -> Draw:
    """One to so many answers to each prompt, and other prompts on either side."""

    def draw(rng: np.random.Generator) -> tuple[Array, Array, tuple[Integers, Integers]]:
        codes = [np.repeat(np.arange(n), rng.integers(1, most + 1, size=n))[:n] for _ in range(2)]
        p, q = (
            np.sqrt(correlation) * rng.normal(size=(n, d))[of] + np.sqrt(1 - correlation) * rng.normal(size=(n, d))
            for of in codes
        )
        q[:, 0] += shift
        return p, q, (codes[0], codes[1] + n)

    return draw


def unequal_answers(n: int, most: int, d: int, correlation: float, shift: float) -> Draw:
    """Independent human texts, and one to so many answers of the model to each of other prompts, shuffled."""

    def draw(rng: np.random.Generator) -> tuple[Array, Array, tuple[Integers, Integers]]:
        of = rng.permutation(np.repeat(np.arange(n), rng.integers(1, most + 1, size=n))[:n])
        q = np.sqrt(correlation) * rng.normal(size=(n, d))[of] + np.sqrt(1 - correlation) * rng.normal(size=(n, d))
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
    for d, correlation, shift in itertools.product((20, 200), (0.5, 0.8), (0.0, 0.6)):
        name = "1 to 9 answers to the model's own prompts"
        yield (name, "shuffled", 300, d, correlation, shift), unequal_answers(300, 9, d, correlation, shift)
        name = "1 to 5 answers of both to prompts of their own"
        yield (name, "kept", 300, d, correlation, shift), own_prompts_of_both(300, 5, d, correlation, shift)
    for share, shift in itertools.product((0.1, 0.5), (0.0, 0.6)):
        yield ("near copies", "kept", 300, 384, share, shift), near_copies(300, 384, share, shift)


def undeclared(repeats: int) -> None:
    """Print the table of undeclared designs."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    measured = ("closeness", "contains 1", "different", "AUC")
    declared = ("declared contains 1", "declared different", "declared AUC")
    table.writerow(["design", "order", "n", "d", "correlation", "shift", "found", "named", *measured, *declared])
    for name, draw in undeclared_cells():
        rows = []
        for repeat in range(repeats):
            p, q, groups = draw(np.random.default_rng(repeat))
            sides = FeatureSet(p), FeatureSet(q)
            alone = Evaluation.of_sets(sides, CONFIG).result()
            in_groups = [replace(side, groups=codes) for side, codes in zip(sides, groups, strict=True)]
            told = Evaluation.of_sets(in_groups, CONFIG).result()
            named = {"own_prompts", "repeated_texts"} & {warning.code for warning in alone.warnings}
            row: list[float] = [alone.design == "found", bool(named), alone.closeness or np.nan]
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


Density = Callable[[Array], Floats]


def of_densities(
    sample: Callable[[np.random.Generator, int], tuple[Array, Array]], log_p: Density, log_q: Density, n: int
) -> Truth:
    """Draws of two distributions with these log densities, up to a common constant."""
    p, q = sample(np.random.default_rng(1), 40_000)
    value = _area_of_ratios(log_p(p) - log_q(p), log_p(q) - log_q(q))

    def draw(rng: np.random.Generator) -> tuple[Array, Array, float]:
        return *sample(rng, n), value

    return draw


def _area_of_ratios(of_p: Floats, of_q: Floats, c: float = 5.0) -> float:
    """MAUVE from log p/q at draws of P and of Q."""
    ends = np.geomspace(1e-6, 0.5, 80)
    weights = np.concatenate([ends, 1 - ends[-2::-1]])
    type_two = [-np.mean(np.logaddexp(np.log(weight), np.log1p(-weight) - of_p)) for weight in weights]
    type_one = [-np.mean(np.logaddexp(np.log(weight) + of_q, np.log1p(-weight))) for weight in weights]
    x, y = np.exp(-c * np.array(type_one)), np.exp(-c * np.array(type_two))
    return float(np.trapezoid(np.r_[1, y[::-1], 0], np.r_[0, x[::-1], 1]))


def _normal(x: Array, deviations: Floats, means: Floats | float = 0.0) -> Floats:
    """Log density of independent normal columns, up to a constant."""
    log_density: Floats = -(np.square((x - means) / deviations) / 2 + np.log(deviations)).sum(axis=1)
    return log_density


def spread(n: int, d: int, factor: float, columns: int) -> Truth:
    """Rows far from 0 in one direction, of which the model's have another spread in some columns."""
    means, wide = np.zeros(d), np.ones(d)
    means[-1], wide[:columns] = 15.0, factor

    def sample(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        p, q = rng.normal(size=(2, size, d))
        return p + means, q * wide + means

    return of_densities(sample, lambda x: _normal(x, np.ones(d), means), lambda x: _normal(x, wide, means), n)


def correlated(n: int, d: int, rho: float) -> Truth:
    """Two columns that are correlated by rho in one set and by -rho in the other."""

    def sample(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        sets = rng.normal(size=(2, size, d))
        for rows, sign in zip(sets, (1, -1), strict=True):
            rows[:, 1] = sign * rho * rows[:, 0] + np.sqrt(1 - rho**2) * rows[:, 1]
        return sets[0], sets[1]

    def density(sign: int) -> Density:
        return lambda x: -np.square(x[:, 1] - sign * rho * x[:, 0]) / (2 * (1 - rho**2))

    return of_densities(sample, density(1), density(-1), n)


def heavy_tails(n: int, d: int, freedom: float) -> Truth:
    """Normal columns against Student's t, scaled to the same quartiles."""
    from scipy import stats

    scale = stats.norm.ppf(0.75) / stats.t.ppf(0.75, freedom)

    def sample(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        return rng.normal(size=(size, d)), scale * rng.standard_t(freedom, size=(size, d))

    def tailed(x: Array) -> Floats:
        log_density: Floats = stats.t.logpdf(x / scale, freedom).sum(axis=1) - d * np.log(scale)
        return log_density

    return of_densities(sample, lambda x: stats.norm.logpdf(x).sum(axis=1), tailed, n)


def shifted_kinds(n: int, kinds: int, d: int, shift: float, tilt: float = 0.0, one_column: bool = False) -> Truth:
    """Kinds of which the model's are shifted, each in a direction of its own or all in one, with other shares."""
    from scipy.special import logsumexp

    rng = np.random.default_rng(5)
    centres = 3.0 * rng.normal(size=(kinds, d))
    shares = np.exp(tilt * rng.normal(size=kinds))
    moves = np.zeros((kinds, d)) if one_column else rng.normal(size=(kinds, d))
    moves[:, 0] += one_column
    moves *= shift / np.linalg.norm(moves, axis=1, keepdims=True)
    p_shares, q_shares = np.full(kinds, 1 / kinds), shares / shares.sum()

    def sample(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        of_p, of_q = (rng.choice(kinds, size, p=one) for one in (p_shares, q_shares))
        noise = rng.normal(size=(2, size, d))
        return centres[of_p] + noise[0], (centres + moves)[of_q] + noise[1]

    def density(around: Floats, weights: Floats) -> Density:
        def of(x: Array) -> Floats:
            away = np.square(x).sum(axis=1)[:, None] - 2 * x @ around.T + np.square(around).sum(axis=1)
            log_density: Floats = logsumexp(-away / 2, b=weights, axis=1)
            return log_density

        return of

    return of_densities(sample, density(centres, p_shares), density(centres + moves, q_shares), n)


def atom(n: int, d: int, share: float) -> Truth:
    """A model that writes one text in this share of its rows, and otherwise as people do."""
    value = exact_area(np.array([1.0, 0.0]), np.array([1 - share, share]), 5.0)

    def draw(rng: np.random.Generator) -> tuple[Array, Array, float]:
        p, q = rng.normal(size=(2, n, d))
        q[: round(share * n)] = q[0]
        return p, q, value

    return draw


def unequal(cell: Truth, share: float) -> Truth:
    """The same with fewer model texts."""

    def draw(rng: np.random.Generator) -> tuple[Array, Array, float]:
        p, q, value = cell(rng)
        return p, q[: round(share * len(q))], value

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
    for n, d in ((100, 384), (150, 20), (500, 50), (1000, 20), (10_000, 20)):
        yield ("equal", n, d, 0.0), shifted(n, d, 0.0)
    yield ("equal, a third of the model's texts", 900, 20, 0.0), unequal(shifted(900, 20, 0.0), 1 / 3)
    for n in (500, 1000, 5000):
        yield ("spread of all columns", n, 50, 0.8), spread(n, 50, 0.8, 50)
    yield ("spread of all columns", 1000, 50, 1.3), spread(1000, 50, 1.3, 50)
    yield ("spread of 3 columns", 1000, 20, 0.5), spread(1000, 20, 0.5, 3)
    yield ("spread of 1 column", 1000, 20, 2.0), spread(1000, 20, 2.0, 1)
    yield ("spread, a third of the model's texts", 1000, 50, 0.8), unequal(spread(1000, 50, 0.8, 50), 1 / 3)
    yield ("opposite correlations", 1000, 20, 0.9), correlated(1000, 20, 0.9)
    yield ("heavy tails", 1000, 20, 3.0), heavy_tails(1000, 20, 3.0)
    for shift in (1.0, 2.0):
        yield ("shift by kind", 1000, 20, shift), shifted_kinds(1000, 20, 20, shift)
    for n in (500, 2000, 5000):
        yield ("kinds and a shift", n, 20, 1.0), shifted_kinds(n, 20, 20, 1.0, 1.0, one_column=True)
    yield ("kinds, more texts", 2010, 800, 1.0), mixture(800, 2010, 1.0)
    yield ("kinds, more texts", 5000, 400, 1.0), mixture(400, 5000, 1.0)
    for share in (0.1, 0.5):
        yield ("an atom", 400, 50, share), atom(400, 50, share)


def truth(repeats: int) -> None:
    """Print the table of populations with a known score."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    measured = [f"{name}{what}" for name in ("closeness", "by groups", "by classifier") for what in ("", " covers")]
    verdicts = ("different", "like human", "undecided")
    table.writerow(["population", "n", "kinds or columns", "tilt or shift", "truth", *measured, *verdicts])
    for name, draw in truth_cells():
        rows = []
        for repeat in range(repeats):
            p, q, value = draw(np.random.default_rng(repeat))
            result = Evaluation.of_sets([FeatureSet(p), FeatureSet(q)], CONFIG).result()
            row: list[float] = [value]
            for score, ci in (
                (result.closeness, result.closeness_ci),
                (result.mauve_debiased, result.mauve_debiased_ci),
                (result.mauve_classifier, result.mauve_classifier_ci),
            ):
                row += [score or np.nan, ci is not None and ci[0] - 1e-9 <= value <= ci[1] + 1e-9]
            rows.append([*row, *(result.verdict == verdict for verdict in verdicts)])
        table.writerow([*name, *(f"{value:.3f}" for value in np.nanmean(np.array(rows, dtype=float), axis=0))])
        sys.stdout.flush()


def forecasts(repeats: int) -> None:
    """Print the table of forecasts."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(
        ["population", "n", "columns", "shift", "undecided", "with a forecast", "mean forecast", "decided then"]
    )
    for n, d, shift in (
        (100, 20, 0.0),
        (200, 50, 0.0),
        (150, 20, 0.2),
        (200, 50, 0.4),
        (300, 384, 0.3),
        (100, 20, 0.6),
    ):
        sizes, decided, undecided = [], [], 0
        for repeat in range(repeats):
            result = _result_of(shifted(n, d, shift)(np.random.default_rng(repeat)))
            undecided += result.verdict == "undecided"
            if result.verdict == "undecided" and result.texts_needed is not None and result.texts_needed <= 6000:
                sizes.append(result.texts_needed)
                more = _result_of(shifted(sizes[-1], d, shift)(np.random.default_rng([repeat, 1])))
                decided.append(more.verdict != "undecided")
        means = [f"{np.mean(values):.3f}" if values else "" for values in (sizes, decided)]
        table.writerow(["shift", n, d, shift, undecided, len(sizes), *means])
        sys.stdout.flush()


def mixed(repeats: int) -> None:
    """Print how often a share of a model's texts among human ones shows."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["featurizer", "texts", "share", "closeness", "different"])
    for featurizer in ("minilm", "ngrams"):
        texts = (read_texts(EXAMPLES / f"{name}.jsonl") for name in ("human", "human_other", "nucleus"))
        human, other, model = (
            np.asarray(featurize(some, featurize_model_name=featurizer, verbose=False).features) for some in texts
        )
        for n, share in itertools.product((150, 300, 600), (0.0, 0.1, 0.2, 0.3, 0.5)):
            found = []
            for repeat in range(repeats):
                rng = np.random.default_rng(repeat)
                count = round(share * n)
                p = human[rng.permutation(len(human))[:n]]
                q = [other[rng.permutation(len(other))[: n - count]], model[rng.permutation(len(model))[:count]]]
                result = _result_of((p, np.concatenate(q), share))
                found.append([result.closeness or np.nan, result.verdict == "different"])
            means = np.nanmean(np.array(found, dtype=float), axis=0)
            table.writerow([featurizer, n, share, *(f"{value:.3f}" for value in means)])
            sys.stdout.flush()


Models = Callable[[np.random.Generator], tuple[list[Array], list[float], bool]]


def shifted_models(n: int, d: int, shifts: Sequence[float], share: float = 1.0, correlation: float = 0.0) -> Models:
    """Normal rows, and models with a shift, each in a column of its own; the last has this share of the texts.

    correlation: of the texts of one prompt, which all sets answer once; 0: there are no prompts.
    """
    truths = [gaussian_mauve(shift) if shift else 1.0 for shift in shifts]

    def draw(rng: np.random.Generator) -> tuple[list[Array], list[float], bool]:
        prompt, sets = rng.normal(size=(n, d)), rng.normal(size=(len(shifts) + 1, n, d))
        p, *models = correlation**0.5 * prompt + (1 - correlation) ** 0.5 * sets
        for column, (rows, shift) in enumerate(zip(models, shifts, strict=True)):
            rows[:, column] += shift
        return [p, *models[:-1], models[-1][: round(share * n)]], truths, correlation > 0

    return draw


def models_of_kinds(n: int, kinds: int, tilts: tuple[float, float], shifts: tuple[float, float]) -> Models:
    """Kinds of texts that lie apart; each model has other shares of them, or is shifted in one column, or both."""

    def draw(rng: np.random.Generator) -> tuple[list[Array], list[float], bool]:
        centres = 1.5 * rng.normal(size=(kinds, 50))
        shares, truths, models = np.full(kinds, 1 / kinds), [], []
        for tilt, shift in zip(tilts, shifts, strict=True):
            q = shares * np.exp(tilt * rng.normal(size=kinds))
            q /= q.sum()
            p_rows, rows = _of_kinds(centres, shares, q, 1.0, n, rng)
            rows[:, 0] += shift
            models.append(rows)
            truths.append(_area_of_both(shares, q, shift))
        return [p_rows, *models], truths, False

    return draw


def _area_of_both(p: Floats, q: Floats, shift: float) -> float:
    """MAUVE of kinds that lie apart, with these shares, of which the second side's are shifted in one column."""
    edges = np.linspace(-6, 6 + shift, 401)
    cells = [np.diff([NormalDist(mean).cdf(edge) for edge in edges]) for mean in (0.0, shift)]
    return exact_area(np.outer(p, cells[0]).ravel(), np.outer(q, cells[1]).ravel(), 5.0)


def difference_cells() -> Iterator[tuple[tuple[object, ...], Models]]:
    """Every pair of models: what they are, texts a side, columns or kinds."""
    for n, d in ((150, 20), (500, 20), (2000, 20), (500, 384)):
        yield ("shift 1 and 1", n, d), shifted_models(n, d, (1.0, 1.0))
    for n, d in ((500, 20), (2000, 20), (500, 384)):
        yield ("shift 0.6 and 0.9", n, d), shifted_models(n, d, (0.6, 0.9))
    yield ("ten, shift 1 each", 500, 20), shifted_models(500, 20, [1.0] * 10)
    for n in (150, 500):
        yield ("equal sets, and equal sets", n, 20), shifted_models(n, 20, (0.0, 0.0))
        yield ("equal sets, and shift 0.6", n, 20), shifted_models(n, 20, (0.0, 0.6))
    yield ("shift 1 and 1, a third of the texts", 900, 20), shifted_models(900, 20, (1.0, 1.0), share=1 / 3)
    for n, correlation in ((100, 0.5), (300, 0.5), (300, 0.9)):
        name = f"shift 1 and 1, same prompts with correlation {correlation}"
        yield (name, n, 20), shifted_models(n, 20, (1.0, 1.0), correlation=correlation)
    for n, kinds in ((500, 20), (1000, 60), (1000, 200)):
        yield ("other shares of kinds, both", n, kinds), models_of_kinds(n, kinds, (1.0, 1.0), (0.0, 0.0))
    for n in (500, 2000):
        yield ("other shares of kinds, and shift 0.9", n, 20), models_of_kinds(n, 20, (1.0, 0.0), (0.0, 0.9))
        yield ("other shares of kinds, and such with shift 1", n, 20), models_of_kinds(n, 20, (1.0, 1.0), (0.0, 1.0))


def differences(repeats: int) -> None:
    """Print the table of differences between models; of several pairs the means, and whether one is real."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    measured = ("truth", "difference", "without an interval", "covered", "real", "falsely real")
    table.writerow(["models", "n", "kinds or columns", *measured])
    for name, draw in difference_cells():
        rows = []
        for repeat in range(repeats):
            (p, *models), truths, aligned = draw(np.random.default_rng(repeat))
            named = {str(number): model for number, model in enumerate(models)}
            found = compare(p_features=p, models=named, aligned=aligned, knn=False, verbose=False).differences
            rows.append(_of_pairs([_of_pair(difference, truths) for difference in found]))
        table.writerow([*name, *(f"{value:.3f}" for value in np.nanmean(np.array(rows, dtype=float), axis=0))])
        sys.stdout.flush()


def _of_pair(found: Difference, truths: Sequence[float]) -> list[float]:
    """The columns of the table of one pair, the model with the lower number first."""
    a, b = int(found.a), int(found.b)
    truth, sign = truths[a] - truths[b], 1 if a < b else -1
    covered = np.nan if found.ci is None else found.ci[0] - 1e-9 <= truth <= found.ci[1] + 1e-9
    is_false = found.real and found.difference * truth <= 0
    return [sign * truth, sign * found.difference, found.ci is None, covered, found.real, is_false]


def _of_pairs(pairs: Sequence[Sequence[float]]) -> list[float]:
    values = np.array(pairs, dtype=float)
    return [*np.nanmean(values[:, :4], axis=0), *values[:, 4:].max(axis=0)]


def _result_of(drawn: tuple[Array, Array, float]) -> MauveResult:
    return Evaluation.of_sets([*map(FeatureSet, drawn[:2])], CONFIG).result()


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=["undeclared", "truth", "forecasts", "mixed", "differences"])
    parser.add_argument("--repeats", type=int, default=40)
    options = parser.parse_args()
    tables = (undeclared, truth, forecasts, mixed, differences)
    {table.__name__: table for table in tables}[options.table](options.repeats)


if __name__ == "__main__":
    main()
