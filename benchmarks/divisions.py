"""The AUC of the classifier over divisions into folds, beside the AUCs of permuted sides of the first division.

    python benchmarks/divisions.py

Prints the table of `results/divisions.md`: by kind of sets the variance over divisions divided by the variance over
permutations, and how often the p-value is below .05 where the mean over divisions, and where the first division's AUC,
is compared with the permutations. It takes half a minute on two cores.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mauve_metric import compute_mauve
from mauve_metric.inputs.files import examples_folder, read_texts
from mauve_metric.measures import cross_fitting
from mauve_metric.uncertainty import learned_score

Sets = dict[str, Any]


def copies(n: int, rng: np.random.Generator) -> Sets:
    """Texts of the examples' human set, and copies of half of them as the model's."""
    texts = read_texts(examples_folder() / "human.jsonl")
    human = [texts[place] for place in rng.choice(len(texts), n, replace=False)]
    model = [human[place] for place in rng.choice(n, n // 2, replace=False)]
    return {"p_text": human, "q_text": model, "featurize_model_name": "ngrams"}


def normal(n: int, shift: float, rng: np.random.Generator) -> Sets:
    """Normal sets of 20 columns, the model's shifted in two of them."""
    human, model = rng.normal(size=(2, n, 20))
    return {"p_features": human, "q_features": model + shift * (np.arange(20) < 2)}


def prompts(n: int, distance: float, rng: np.random.Generator) -> Sets:
    """A text of each side about each of n centres, declared as prompts; the human one is the centre of near copies."""
    centres, human, model = rng.normal(size=(3, n, 20))
    human = centres + human if distance == 1 else centres
    groups = {"p_groups": np.arange(n), "q_groups": np.arange(n)}
    return {"p_features": human, "q_features": centres + distance * model} | groups


CASES: list[tuple[str, Callable[[np.random.Generator], Sets], int]] = [
    *((f"{n} texts and {n // 2} copies", lambda rng, n=n: copies(n, rng), 4) for n in (60, 200, 400)),
    *(
        (f"{n} + {n}, {name}", lambda rng, n=n, shift=shift: normal(n, shift, rng), 4 if n == 450 else 8)
        for n in (40, 100, 250, 450)
        for name, shift in (("equal", 0.0), ("shifted", 0.4))
    ),
    *(
        (f"{n} + {n} {name}", lambda rng, n=n, distance=distance: prompts(n, distance, rng), 6)
        for n in (60, 200)
        for name, distance in ((f"of {n} prompts", 1.0), ("near copies, as prompts", 0.01))
    ),
]


def measured(make: Callable[[np.random.Generator], Sets], draws: int) -> Iterator[tuple[int, float, float, float]]:
    """For each draw the divisions, the ratio of variances, and both p-values."""
    fit, once = cross_fitting.cross_fit_repeatedly, cross_fitting.cross_fit
    fitted: list[cross_fitting.CrossFitted] = []
    aucs: list[float] = []

    def each(*arguments: Any, **keywords: Any) -> cross_fitting.CrossFitted:
        division = once(*arguments, **keywords)
        if keywords.get("stacked"):
            aucs.append(division.auc)
        return division

    def all_of(*arguments: Any, **keywords: Any) -> cross_fitting.CrossFitted:
        aucs.clear()
        fitted.append(fit(*arguments, **keywords | {"run": learned_score.run_when_asked}))
        return fitted[-1]

    for seed in range(draws):
        cross_fitting.cross_fit, learned_score.cross_fit_repeatedly = each, all_of
        try:
            compute_mauve(**make(np.random.default_rng(seed)), num_runs=1, knn=False)
        finally:
            cross_fitting.cross_fit, learned_score.cross_fit_repeatedly = once, fit
        ratio = float(np.var(aucs, ddof=1) / fitted[-1].permuted.var(ddof=1))
        mean, first = (fitted[-1]._replace(compared=auc).p_value for auc in (None, aucs[0]))
        yield len(aucs), ratio, mean, first


def main() -> None:
    """Print the table."""
    logging.getLogger("mauve_metric").setLevel(logging.ERROR)
    print("| sets | divisions | ratio of variances: median | largest | p < .05, mean over divisions | first division |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, make, draws in CASES:
        divisions, ratios, *p_values = (np.array(column) for column in zip(*measured(make, draws), strict=True))
        below = " | ".join(f"{(each < 0.05).sum()} of {draws}" for each in p_values)
        print(f"| {name} | {divisions[0]} | {np.median(ratios):.2f} | {ratios.max():.2f} | {below} |", flush=True)


if __name__ == "__main__":
    main()
