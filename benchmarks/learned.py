"""Does the score on learned buckets hold: under equal sets, and against distributions whose MAUVE is known.

    python benchmarks/learned.py null truth buckets > benchmarks/results/learned.md
    OMP_NUM_THREADS=1 python benchmarks/learned.py cost

null: how often the interval contains 1 and the AUC's p-value is below .05 and .5 for two sets of one distribution:
independent texts, aligned pairs, several texts a prompt. truth: standard normal rows of d numbers against the same
with one of them shifted, whose MAUVE is known by quadrature. buckets: the same with other numbers of buckets.
verdict: how often the verdict finds a difference between equal sets. cost: CPU seconds of the learned score and of the
rest of a default score, of features like those of a language model.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.stats import norm
from score import language_model_like

from mauve_metric import compute_mauve
from mauve_metric.arrays import Array, Integers
from mauve_metric.clustering.histograms import count_labels
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.measures.cross_fitting import buckets_of_ranks
from mauve_metric.options import MauveConfig
from mauve_metric.scoring.evaluation import Evaluation
from mauve_metric.scoring.score import learned_of
from mauve_metric.uncertainty.closeness import closeness_of
from mauve_metric.uncertainty.learned_score import debiased, learned_score

REPEATS = 200
TEXTS_A_PROMPT = 5
ALIKE = 0.8  # correlation of the rows of one prompt
NULL = {
    "independent": (
        (50, 50, 200),
        (50, 1280, 200),
        (150, 384, 200),
        (500, 100, 200),
        (500, 1280, 200),
        (2000, 50, 200),
        (2000, 1280, 50),
        (10_000, 50, 100),
    ),
    "aligned": ((50, 384, 200), (150, 50, 200), (150, 384, 200), (500, 100, 200), (2000, 384, 100)),
    "prompts": ((150, 50, 200), (300, 50, 200), (500, 384, 200), (2000, 50, 100)),
}
SHIFTS = (0.5, 1.0, 1.5)
TRUTH = (
    (50, 50, 200),
    (200, 50, 200),
    (500, 20, 200),
    (500, 384, 200),
    (2000, 50, 200),
    (2000, 1280, 20),
    (10_000, 50, 40),
    (10_000, 1280, 5),
)
BUCKETS = (5, 10, 30, 100)
COST = ((500, 384), (500, 1024), (2000, 768), (5000, 384), (5000, 1280))
Groups = tuple[Integers, Integers] | None


def percent(found: Array) -> str:
    """Share of repeats in which something is true, with its standard error (one more of either kind is added to it)."""
    n, times = len(found), float(found.sum())
    error = ((times + 1) * (n - times + 1) / (n + 2) ** 3) ** 0.5
    return f"{100 * times / n:.1f} ± {100 * error:.1f} %"


def gaussian_mauve(shift: float) -> float:
    """MAUVE of N(0, 1) and N(shift, 1), by the trapezoid rule."""
    x = np.linspace(-9, 9 + shift, 4001)
    p, q = norm.pdf(x), norm.pdf(x - shift)
    weights = np.linspace(0.0025, 0.9975, 399)[:, None]
    mixture = weights * p + (1 - weights) * q
    one, two = (np.exp(-5 * np.trapezoid(side * np.log(side / mixture), x)) for side in (q, p))
    return float(abs(np.trapezoid(np.r_[0, two, 1], np.r_[1, one, 0])))


def equal_sets(design: str, n: int, d: int, rng: np.random.Generator) -> tuple[Array, Array, Groups]:
    """Two sets of one distribution, and their groups."""
    own = rng.normal(size=(2, n, d))
    if design == "independent":
        return own[0], own[1], None
    if design == "aligned":
        common, groups = rng.normal(size=(1, n, d)), np.tile(np.arange(n), (2, 1))
    else:
        prompts = n // TEXTS_A_PROMPT
        common = np.repeat(rng.normal(size=(2, prompts, d)), TEXTS_A_PROMPT, axis=1)
        groups = np.repeat(np.arange(2 * prompts).reshape(2, prompts), TEXTS_A_PROMPT, axis=1)
    rows = np.sqrt(ALIKE) * common + np.sqrt(1 - ALIKE) * own
    return rows[0], rows[1], (groups[0], groups[1])


def null() -> None:
    """Equal sets."""
    print("| design | texts a side | numbers a row | repeats | mean score | contains 1 | AUC | p < .05 | p < .5 |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|", flush=True)
    for design, sizes in NULL.items():
        for n, d, repeats in sizes:
            rng, found = np.random.default_rng(1), []
            for seed in range(repeats):
                p, q, groups = equal_sets(design, n, d, rng)
                one = learned_score(p, q, groups, MauveConfig(seed=seed))
                assert one is not None
                found.append((one.mauve, one.ci[1] >= 1, one.auc, one.auc_p_value))
            score, inside, auc, p_values = np.array(found, dtype=float).T
            mean = f"{score.mean():.4f} ± {score.std() / repeats**0.5:.4f}"
            shares = [percent(kind) for kind in (p_values < 0.05, p_values < 0.5)]
            cells = (mean, percent(inside), f"{auc.mean():.3f} ± {auc.std():.3f}", *shares)
            print(f"| {design} | {n} | {d} | {repeats} | {' | '.join(cells)} |", flush=True)


def verdict() -> None:
    """The share of equal sets between which the verdict's two tests together find a difference."""
    print("\n| permutations | told apart by buckets | by a classifier | by either |\n|--:|--:|--:|--:|", flush=True)
    for permutations in (0, 99):
        rng, found = np.random.default_rng(3), []
        for seed in range(300):
            p, q = rng.normal(size=(2, 150, 20))
            options = {"num_runs": 1, "knn": False, "permutations": permutations}
            result = compute_mauve(p_features=p, q_features=q, seed=seed, **options)
            closeness = closeness_of(result.bounds, MauveConfig(permutations=permutations))
            kinds = {result.bounds[place].kind for place in closeness.shown} if closeness else set()
            found.append(("groups" in kinds, "classifier" in kinds, result.verdict == "different"))
        print(f"| {permutations} | {' | '.join(percent(one) for one in np.array(found).T)} |", flush=True)


def truth() -> None:
    """Shifted normal rows."""
    heads = (
        "shift (MAUVE) | texts a side | numbers a row | repeats | k-means | learned buckets | interval below the truth"
    )
    print(f"\n| {heads} |\n|---|--:|--:|--:|--:|--:|--:|", flush=True)
    for shift in SHIFTS:
        known = gaussian_mauve(shift)
        for n, d, repeats in TRUTH:
            rng, found = np.random.default_rng(2), []
            for seed in range(repeats):
                p, q = _shifted(n, d, shift, rng)
                one = learned_score(p, q, None, MauveConfig(seed=seed))
                assert one is not None
                found.append((one.mauve, one.ci[1] < known))
            plain = compute_mauve(p_features=p, q_features=q, knn=False, num_runs=1).mauve_debiased
            score, below = np.array(found, dtype=float).T
            cells = (f"{plain:.3f}", f"{score.mean():.3f} ± {score.std():.3f}", percent(below))
            print(f"| {shift} ({known:.3f}) | {n} | {d} | {repeats} | {' | '.join(cells)} |", flush=True)


def buckets() -> None:
    """Other numbers of buckets, of the same scores."""
    print("\n| shift (MAUVE) | texts a side | 5 buckets | 10 | 30 | 100 | interval below the truth, each |")
    print("|---|--:|--:|--:|--:|--:|---|", flush=True)
    for shift in (0.0, *SHIFTS):
        known = gaussian_mauve(shift) if shift else 1.0
        for n in (200, 2000):
            rng, found = np.random.default_rng(3), []
            for seed in range(REPEATS):
                p, q = _shifted(n, 50, shift, rng)
                one = learned_score(p, q, None, MauveConfig(seed=seed))
                assert one is not None
                of_each = []
                for k in BUCKETS:
                    labels = (buckets_of_ranks(ranks, k) for ranks in (one.p_ranks, one.q_ranks))
                    estimate = debiased(count_labels(*labels, k), 0.0, MauveConfig())
                    of_each.append((estimate.value, estimate.ci[1] < known))
                found.append(of_each)
            scores, below = np.moveaxis(np.array(found, dtype=float), 2, 0)
            means, errors = scores.mean(axis=0), scores.std(axis=0) / REPEATS**0.5
            cells = [f"{mean:.4f} ± {error:.4f}" for mean, error in zip(means, errors, strict=True)]
            shares = ", ".join(percent(one) for one in below.T)
            print(f"| {shift} ({known:.3f}) | {n} | {' | '.join(cells)} | {shares} |", flush=True)


def cost() -> None:
    """The best of alternating repeats: three of the rest, nine of the learned score."""
    print("\n| texts a side | numbers a row | rest of the score, s | learned score, s | share of the rest |")
    print("|--:|--:|--:|--:|--:|", flush=True)
    for n, d in COST:
        p, q = (FeatureSet(rows) for rows in language_model_like(n, d))
        rest, learned = [], []
        for _ in range(3):
            start = time.process_time()
            Evaluation.of_sets([p, q], MauveConfig()).result(with_learned=False)
            rest.append(time.process_time() - start)
            for _ in range(3):
                start = time.process_time()
                learned_of(p, q, MauveConfig())
                learned.append(time.process_time() - start)
        share = f"{100 * min(learned) / min(rest):.0f} %"
        print(f"| {n} | {d} | {min(rest):.3f} | {min(learned):.3f} | {share} |", flush=True)


def _shifted(n: int, d: int, shift: float, rng: np.random.Generator) -> tuple[Array, Array]:
    p, q = rng.normal(size=(2, n, d))
    q[:, 0] += shift
    return p, q


if __name__ == "__main__":
    for name in sys.argv[1:] or ("null", "truth", "buckets"):
        modes = {"null": null, "truth": truth, "buckets": buckets, "cost": cost, "verdict": verdict}
        modes[name]()
