"""Reliability of `compare`'s differences: coverage, false alarms, power, and the forecast of texts needed.

    python benchmarks/compare.py [--repeats 1000] [--small]
    python benchmarks/compare.py --speed

Populations are multinomials over fixed buckets (ten texts a bucket, as by default), so that every score's truth is
known. All models share one human sample. A model's share of each bucket is that of the human population times
exp(shift × a normal draw); "aligned" models answer the same prompts: row i of both falls, with probability ½, where
one common draw puts it. `--speed` times `compare` on eight models of 1000 rows of features, and `explain` on one.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mauve_metric import compare, explain
from mauve_metric.apps.studies.texts_needed import texts_needed
from mauve_metric.measures import frontier
from mauve_metric.measures.p_values import holm
from mauve_metric.options import MauveConfig
from mauve_metric.uncertainty import intervals, jackknife
from mauve_metric.uncertainty.closeness import Bound, joint_covariance
from mauve_metric.uncertainty.differences import difference_of

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Estimate = intervals.Estimate
SHARED = 0.5  # of aligned rows follow a common draw


def population(k: int, shifts: Sequence[float], common: float = 0.0) -> tuple[Floats, list[Floats]]:
    """P and one Q a shift; `common` is a shift that all models have together."""
    fixed = np.random.default_rng(0)
    p = fixed.dirichlet(np.full(k, 5.0))
    base = common * fixed.normal(size=k)
    models = []
    for shift in shifts:
        q = p * np.exp(base + shift * fixed.normal(size=k))
        models.append(q / q.sum())
    return p, models


def draw(p: Floats, models: Sequence[Floats], n: int, aligned: bool, rng: np.random.Generator) -> list[Counts]:
    """Buckets of n texts of P and of each model."""
    p_labels = rng.choice(len(p), size=n, p=p)
    ranks, shared = rng.random(n), rng.random(n) < SHARED
    labels = []
    for q in models:
        own = np.where(shared, ranks, rng.random(n)) if aligned else rng.random(n)
        labels.append(np.minimum(np.searchsorted(np.cumsum(q), own), len(q) - 1))
    return [p_labels, *labels]


def differences(labels: Sequence[Counts], k: int, aligned: bool) -> tuple[list[Estimate], list[Estimate]]:
    """Every pair of models as `compare` estimates it, and as if the two scores were independent."""
    counts = [np.bincount(side, minlength=k) for side in labels]
    frontiers = [jackknife.debiased_frontier(counts[0], q_counts) for q_counts in counts[1:]]
    scores = [intervals.estimate_scores(frontier)[0] for frontier in frontiers]
    numbers = np.arange(len(labels[0]))
    codes = (numbers, len(numbers) + numbers) if aligned else None
    bounds = [Bound("groups", [(labels[0], side)], codes) for side in labels[1:]]
    covariance = joint_covariance(bounds, scores, MauveConfig().mauve_scaling_factor)
    pairs = list(itertools.combinations(range(len(scores)), 2))
    paired = [difference_of(scores, covariance, i, j) for i, j in pairs]
    return paired, [intervals.estimate_difference(scores[i], scores[j], 0.0) for i, j in pairs]


def leaves_out_zero(found: Estimate) -> bool:
    """Return whether the interval shows a difference."""
    return found.ci[0] > 0 or found.ci[1] < 0


def coverage(n: int, shifts: tuple[float, float], common: float, aligned: bool, repeats: int) -> dict[str, float]:
    """Of the interval of one difference: shares of repeats that cover the truth and that find a difference."""
    k, rng = n // 10, np.random.default_rng(1)
    p, models = population(k, shifts, common)
    truth = frontier.exact_area(p, models[0]) - frontier.exact_area(p, models[1])
    rows = []
    for _ in range(repeats):
        labels = draw(p, models, n, aligned, rng)
        (paired,), (plain,) = differences(labels, k, aligned)
        rows.append(
            (
                paired.ci[0] - 1e-12 <= truth <= paired.ci[1] + 1e-12,
                plain.ci[0] - 1e-12 <= truth <= plain.ci[1] + 1e-12,
                leaves_out_zero(paired),
                leaves_out_zero(plain),
                paired.ci[1] - paired.ci[0],
                plain.ci[1] - plain.ci[0],
                paired.value,
            )
        )
    names = ("covered", "unpaired covered", "found", "unpaired found", "width", "unpaired width", "mean")
    means = dict(zip(names, np.mean(np.array(rows, dtype=float), axis=0).tolist(), strict=True))
    return means | {"truth": truth, "score": frontier.exact_area(p, models[0])}


def false_alarms(n: int, common: float, aligned: bool, repeats: int, count: int = 10) -> float:
    """Share of repeats in which at least one pair of ten equal models is called different at 5 %."""
    k, rng = n // 10, np.random.default_rng(2)
    p, models = population(k, [0.0] * count, common)
    alarms = 0
    for _ in range(repeats):
        found, _ = differences(draw(p, models, n, aligned, rng), k, aligned)
        alarms += bool((holm([item.p_value for item in found]) < 0.05).any())
    return alarms / repeats


def forecast(n: int, shifts: tuple[float, float], common: float, repeats: int) -> dict[str, float]:
    """The texts that were forecast at n, and how often sets of about that size do show the difference."""
    k, rng = n // 10, np.random.default_rng(3)
    p, models = population(k, shifts, common)
    forecasts = []
    for _ in range(max(repeats // 4, 10)):
        counts = [np.bincount(side, minlength=k) for side in draw(p, models, n, False, rng)]
        frontiers = [jackknife.debiased_frontier(counts[0], q_counts) for q_counts in counts[1:]]
        scores = [intervals.estimate_scores(frontier)[0].value for frontier in frontiers]
        forecasts.append(texts_needed(counts[0], (counts[1], counts[2]), (scores[0], scores[1]), n) or np.inf)
    low, middle, high = np.percentile(forecasts, [25, 50, 75]).tolist()
    found = {"quarter": low, "forecast": middle, "three quarters": high}
    for name, factor in (("power at 2/3", 2 / 3), ("power", 1.0), ("power at 3/2", 1.5)):
        size = round(middle * factor)
        pairs = [differences(draw(p, models, size, False, rng), k, False)[0][0] for _ in range(repeats)]
        found[name] = float(np.mean([pair.p_value < 0.05 for pair in pairs]))
    return found


def speed(n: int = 1000, count: int = 8, repeats: int = 3) -> None:
    """Print the least seconds of `compare` and of `explain` with texts, features at hand."""
    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(2000)]
    texts = [[" ".join(rng.choice(words, 150)) for _ in range(n)] for _ in range(2)]
    print("| columns | eight models of 1000 rows | explain one, with texts |\n|--:|--:|--:|", flush=True)
    for d in (384, 1280):
        scale = np.arange(1, d + 1) ** -0.45
        topics = rng.normal(size=(60, d)) * scale * 0.7
        shares = [np.full(60, 1 / 60), *rng.dirichlet(np.full(60, 8.0), size=count)]
        human, *models = (
            (3 + rng.normal(size=(n, d)) * scale + topics[rng.choice(60, n, p=share)]).astype(np.float32)
            for share in shares
        )
        least = [float("inf")] * 2
        for _ in range(repeats):
            started = time.perf_counter()
            compare(p_features=human, models={f"model {number}": rows for number, rows in enumerate(models)})
            compared = time.perf_counter()
            explain(p_features=human, q_features=models[0], p_text=texts[0], q_text=texts[1])
            least = [min(least[0], compared - started), min(least[1], time.perf_counter() - compared)]
        print(f"| {d} | {least[0]:.2f} s | {least[1]:.2f} s |", flush=True)


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--small", action="store_true", help="fewer cases")
    parser.add_argument("--speed", action="store_true", help="time instead")
    options = parser.parse_args()
    logging.getLogger("mauve_metric").setLevel(logging.ERROR)
    if options.speed:
        return speed()
    sizes = (500, 1000) if options.small else (500, 1000, 5000)
    # (shifts of the two models, shift of both)
    cases = {"equal to P": ((0.0, 0.0), 0.0), "no difference": ((0.0, 0.0), 0.5), "near 1": ((0.1, 0.3), 0.0)}
    cases |= {"known": ((0.3, 0.5), 0.3), "large": ((0.3, 1.0), 0.0), "near the floor": ((1.5, 2.0), 1.0)}
    print("| n | models | aligned | score | truth | mean | covered | unpaired | found | unpaired | width | unpaired |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for n, (name, (shifts, common)), aligned in itertools.product(sizes, cases.items(), (False, True)):
        found = coverage(n, shifts, common, aligned, options.repeats)
        shares = [f"{100 * found[key]:.1f} %" for key in ("covered", "unpaired covered", "found", "unpaired found")]
        numbers = [f"{found[key]:.4f}" for key in ("score", "truth", "mean")]
        widths = [f"{found[key]:.4f}" for key in ("width", "unpaired width")]
        print(
            f"| {n} | {name} | {'yes' if aligned else 'no'} | {' | '.join([*numbers, *shares, *widths])} |", flush=True
        )
    print("\n| ten equal models | aligned | at least one difference called real |\n|---|---|---|", flush=True)
    for n, common, aligned in itertools.product(sizes[:2], (0.0, 0.5, 1.0), (False, True)):
        share = false_alarms(n, common, aligned, options.repeats)
        print(f"| n = {n}, shift {common} | {'yes' if aligned else 'no'} | {100 * share:.1f} % |", flush=True)
    print(
        "\n| n | models | texts needed (middle half) | found at 2/3 of them | at all | at 3/2 |"
        "\n|---|---|---|---|---|---|",
        flush=True,
    )
    for n, (name, (shifts, common)) in itertools.product(sizes[:2], list(cases.items())[2:]):
        if n == 1000 and name == "near the floor":
            continue  # there is no difference to be found
        seen = forecast(n, shifts, common, options.repeats)
        shares = [f"{100 * seen[key]:.0f} %" for key in ("power at 2/3", "power", "power at 3/2")]
        needed = f"{seen['forecast']:.0f} ({seen['quarter']:.0f} to {seen['three quarters']:.0f})"
        print(f"| {n} | {name} | {needed} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()
