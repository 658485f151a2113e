"""Coverage of intervals, and how often tests reject equal sets, for texts that share prompts.

    python benchmarks/coverage_prompts.py --repeats 500

Drawn at the level of buckets, where the truth is known: P and Q are histograms over k buckets. A prompt has a rank,
uniform in (0, 1); each of its texts has with probability √ρ the prompt's rank and else one of its own, and falls into
the bucket where the distribution function of its side reaches that rank. So every text has its side's histogram, and
the buckets of two texts of one prompt and side have the correlation ρ. k is a tenth of the number of prompts, or
of texts: by default it is the latter, but at most half the prompts.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Floats, Integers, Labels
from mauve_metric.clustering.histograms import Histograms, count_labels
from mauve_metric.clustering.num_buckets import auto_num_buckets
from mauve_metric.measures.frontier import exact_area, frontier_integral
from mauve_metric.measures.groups import count_groups
from mauve_metric.options import MauveConfig
from mauve_metric.uncertainty import ceilings
from mauve_metric.uncertainty.closeness import Bound, debiased_estimates, joint_covariance
from mauve_metric.uncertainty.differences import difference_of

RESULTS = Path(__file__).parent / "results"
SHIFT = 0.4  # log-ratio of the two histograms, a normal draw for each bucket times this
PERMUTATIONS = 99


class Case(NamedTuple):
    """One design: prompts a side, texts of each prompt on either side, and how alike they are.

    shared: whether both sides answer the same prompts. unequal: texts a prompt are geometric with these means.
    heavy: the histogram of P falls like 1/rank. by_texts: a bucket for ten texts, not for ten prompts.
    """

    design: str
    prompts: int
    p_texts: int
    q_texts: int
    correlation: float
    shared: bool = True
    unequal: bool = False
    heavy: bool = False
    by_texts: bool = False

    @property
    def texts(self) -> str:
        """Texts a prompt on either side, as the tables show them."""
        return f"{self.p_texts} and {self.q_texts}"

    @property
    def buckets(self) -> int:
        """A tenth of the smaller number of prompts, or of texts."""
        times = (self.p_texts, self.q_texts) if self.by_texts else (1, 1)
        return auto_num_buckets(*(self.prompts * each for each in times))

    def sizes(self, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Texts of each prompt of P and of Q; a single human text is a prompt of its own."""
        found = []
        for texts in (self.p_texts, self.q_texts):
            each = np.full(self.prompts, texts)
            if self.unequal and texts > 1:
                each = rng.geometric(1 / texts, size=self.prompts)
            found.append(each)
        return found[0], found[1]


SIZES = (20, 50, 200)


def cases() -> list[Case]:
    """The designs of `benchmarks/results/coverage_prompts.csv`."""
    found = [Case("independent", prompts, 1, 1, 0.0, shared=False) for prompts in SIZES]
    found += [Case("aligned", g, 1, 1, rho) for g, rho in itertools.product(SIZES, (0.0, 0.5, 0.9))]
    for g, m in itertools.product(SIZES, (2, 5, 20)):
        found += [Case("m on both sides, other prompts", g, m, m, 0.5, False)]
        found += [Case("m on both sides, same prompts", g, m, m, 0.5)]
        found += [Case("one human text, m answers", g, 1, m, 0.5)]
        found += [Case("m on one side, other prompts", g, 1, m, 0.5, False)]
    for g in SIZES:
        found += [Case("unequal m, same prompts", g, 1, 5, 0.5, True, True)]
        found += [Case("unequal m, other prompts", g, 5, 5, 0.5, False, True)]
        found += [Case("heavy tails, aligned", g, 1, 1, 0.5, heavy=True)]
        found += [Case("heavy tails, other prompts", g, 5, 5, 0.5, False, heavy=True)]
    for g, m in itertools.product((50, 200), (5, 20)):
        found += [Case("a bucket for ten texts, other prompts", g, m, m, 0.5, False, by_texts=True)]
    return sorted(found, key=lambda case: case.design)


def histograms_of(case: Case, k: int, shift: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """P and Q over k buckets."""
    p = 1 / np.arange(1, k + 1) if case.heavy else rng.dirichlet(np.full(k, 4.0))
    p = p / p.sum()
    q = p * np.exp(shift * rng.normal(size=k))
    return p, q / q.sum()


def labels_of(
    distribution: Floats, groups: Integers, ranks: Floats, correlation: float, rng: np.random.Generator
) -> Labels:
    """The bucket of each text of one side."""
    own = rng.random(len(groups))
    rank = np.where(rng.random(len(groups)) < math.sqrt(correlation), ranks[groups], own)
    edges = np.cumsum(distribution)[:-1]
    return np.searchsorted(edges, rank, side="right").astype(np.int64)


def draw(case: Case, sides: Sequence[Floats], rng: np.random.Generator) -> tuple[list[Labels], list[Integers] | None]:
    """Buckets and groups of the texts of P and of one or more models, whose prompts are the same."""
    p_sizes, q_sizes = case.sizes(rng)
    groups = [np.repeat(np.arange(case.prompts), sizes) for sizes in (p_sizes, *[q_sizes] * (len(sides) - 1))]
    if not case.shared:
        groups = [groups[0], *(case.prompts + own for own in groups[1:])]
    ranks = rng.random(2 * case.prompts)
    labels = [labels_of(side, own, ranks, case.correlation, rng) for side, own in zip(sides, groups, strict=True)]
    return labels, None if case.design == "independent" else groups


class Found(NamedTuple):
    """Shares over the repeats; NaN where there is nothing to share."""

    k: int
    truth: float
    covered: float
    integral_covered: float
    without: float
    rejected: float
    as_independent: float


def run(case: Case, shift: float, repeats: int, seed: int = 0) -> Found:
    """Coverage and rejections of one design."""
    rng = np.random.default_rng([seed, case.prompts, case.p_texts, case.q_texts, round(10 * case.correlation)])
    k = case.buckets
    config = MauveConfig(num_buckets=k, num_runs=1)
    rows, truths = [], []
    for repeat in range(repeats):
        p, q = histograms_of(case, k, shift, rng)
        truth, integral = exact_area(p, q), frontier_integral(p, q)
        labels, groups = draw(case, (p, q), rng)
        counts = count_labels(labels[0], labels[1], k, *(groups or ()))
        found = debiased_estimates([counts], config)
        alone = debiased_estimates([Histograms(counts.p_counts, counts.q_counts)], config)
        p_value = ceilings.permutation_test(
            labels[0], labels[1], k, PERMUTATIONS, count_groups(*labels, *groups, k) if groups else None, repeat
        )
        covered = integral_covered = np.nan
        if found.problem is None and found.mauve is not None and found.frontier_integral is not None:
            covered = float(found.mauve.ci[0] - 1e-9 <= truth <= found.mauve.ci[1] + 1e-9)
            integral_covered = float(
                found.frontier_integral.ci[0] - 1e-9 <= integral <= found.frontier_integral.ci[1] + 1e-9
            )
        as_independent = np.nan
        if alone.mauve is not None:
            as_independent = float(alone.mauve.ci[0] - 1e-9 <= truth <= alone.mauve.ci[1] + 1e-9)
        rows.append((covered, integral_covered, np.isnan(covered), p_value <= 0.05, as_independent))
        truths.append(truth)
    shares = np.nanmean(np.array(rows, dtype=float), axis=0)
    return Found(k, float(np.mean(truths)), *shares.tolist())


def difference_covered(case: Case, repeats: int, seed: int = 0) -> float:
    """Share of the intervals of the difference of two models that hold it."""
    rng = np.random.default_rng([seed, case.prompts, case.q_texts])
    k = case.buckets
    config, covered = MauveConfig(num_buckets=k, num_runs=1), []
    for _ in range(repeats):
        p, a = histograms_of(case, k, SHIFT, rng)
        b = a * np.exp(SHIFT * rng.normal(size=k))
        b = b / b.sum()
        labels, groups = draw(case, (p, a, b), rng)
        bounds = [Bound("groups", [(labels[0], labels[i])], (groups[0], groups[i]) if groups else None) for i in (1, 2)]
        estimates = [
            debiased_estimates([count_labels(*bound.labels[0], k, *(bound.codes or ()))], config).mauve
            for bound in bounds
        ]
        if estimates[0] is None or estimates[1] is None:
            continue
        covariance = joint_covariance(bounds, estimates, config.mauve_scaling_factor)
        found = difference_of({0: estimates[0], 1: estimates[1]}, covariance, 0, 1)
        truth = exact_area(p, a) - exact_area(p, b)
        covered.append(found.ci[0] - 1e-9 <= truth <= found.ci[1] + 1e-9)
    return float(np.mean(covered)) if covered else math.nan


def percent(share: float) -> str:
    """A share as the table shows it."""
    return "–" if math.isnan(share) else f"{100 * share:.1f}"


def main() -> None:
    """Write `coverage_prompts.csv` and `coverage_differences.csv` (percent) to the folder of results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--differences", type=int, default=200, help="repeats for differences of two models")
    options = parser.parse_args()
    columns = ["MAUVE covered", "integral covered", "no interval", "test rejects", "as independent"]
    with open(RESULTS / "coverage_prompts.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["texts", "prompts", "m", "ρ", "k", *columns])
        for title, shift in (("equal", 0.0), ("different", SHIFT)):
            for case in cases():
                found = run(case, shift, options.repeats)
                design = [f"{title}, {case.design}", case.prompts, case.texts, f"{case.correlation:g}"]
                table.writerow([*design, found.k, *map(percent, found[2:])])
    with open(RESULTS / "coverage_differences.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["texts", "ρ", "prompts", "m", "covered"])
        for case in cases():
            if case.prompts in (50, 200) and case.q_texts in (1, 5):
                covered = percent(difference_covered(case, options.differences))
                table.writerow([case.design, f"{case.correlation:g}", case.prompts, case.texts, covered])


if __name__ == "__main__":
    main()
