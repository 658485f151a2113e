"""How often a simple classifier of numbers a text tells human from model texts that it has not seen."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mauve_metric.arrays import Floats, Integers
from mauve_metric.measures.estimate import Estimate
from mauve_metric.measures.tails import upper_tail

Decide = Callable[[Floats], Floats]  # numbers of texts (n, d) → above 0 for model text, below for human, (n,)
Fit = Callable[[Floats, Floats], Decide]  # of human and model texts
FOLDS = 5
_SHARED = 2.0  # variance of cross-fitted accuracy over that of independent verdicts, at most


def cross_fitted_accuracy(
    human: Floats,
    model: Floats,
    fit: Fit,
    *,
    groups_p: Integers,
    groups_q: Integers,
    seed: int = 25,
    level: float = 0.95,
) -> Estimate:
    """Share of held-out texts that a classifier puts on the right side, the mean of both sides; ½ if it cannot tell.

    Five folds; each is judged by a classifier that was fitted on the other four. Texts of one group never stand on both
    sides of that. A text on the border counts half. The interval is Wilson's, and the p-value that of the classifier
    two-sample test (Lopez-Paz & Oquab 2017, §3), for half as many texts: the five classifiers share what they learned
    from, which makes them right and wrong together (in simulations of equal sets their accuracy has 1.3 times the
    error of independent verdicts, against the 1.4 that this allows for); texts that hang together count less still.

    Args:
        human, model: numbers of each text, (n_p, d) and (n_q, d).
        fit: from training texts of both sides to a decision.
        groups_p, groups_q: texts with one number hang together, (n_p,) and (n_q,).
        seed: of the folds. level: of the interval.

    Returns:
        In [0, 1]; lower is better for the model.

    Raises:
        ValueError: a side has fewer than two groups.
    """
    n_p, n_q = len(human), len(model)
    groups = np.unique(np.concatenate([groups_p, groups_q]), return_inverse=True)[1]
    sides = np.repeat([0, 1], [n_p, n_q])
    folds = group_folds(groups, sides, seed)
    numbers, verdicts = np.concatenate([human, model]), np.empty(n_p + n_q)
    for fold in range(int(folds.max()) + 1):
        seen, held_out = folds != fold, folds == fold
        decide = fit(numbers[seen & (sides == 0)], numbers[seen & (sides == 1)])
        verdicts[held_out] = decide(numbers[held_out])
    right = 0.5 + 0.5 * np.sign(verdicts) * np.where(sides == 1, 1.0, -1.0)
    return _estimate(right, sides, groups, level)


def group_folds(groups: Integers, sides: Integers, seed: int = 25) -> Integers:
    """The fold of each text, (n,): all of a group in one, and both sides spread evenly.

    The largest groups first, equal ones in random order, each goes where its sides have the fewest texts so far.

    Args:
        groups: numbers from 0, (n,). sides: 0 for human, 1 for model, (n,). seed: of the order.

    Raises:
        ValueError: a side has fewer than two groups.
    """
    sizes = np.stack([np.bincount(groups[sides == side], minlength=int(groups.max()) + 1) for side in (0, 1)], axis=1)
    fewest = int((sizes > 0).sum(axis=0).min())
    if fewest < 2:
        raise ValueError(
            "a classifier needs at least 2 texts a side that are neither copies nor of one prompt, to learn from one "
            f"and be judged by the other; got {fewest}"
        )
    loads = np.zeros((min(FOLDS, fewest), 2))
    order = np.random.default_rng(seed).permutation(len(sizes))
    order = order[np.argsort(-sizes[order].sum(axis=1), kind="stable")]
    fold_of = np.empty(len(sizes), dtype=np.int64)
    totals = sizes.sum(axis=0)
    for group in order:
        size = sizes[group]
        fold = int(np.argmin((loads * (size > 0) / totals).sum(axis=1)))
        loads[fold] += size
        fold_of[group] = fold
    return fold_of[groups]


def _estimate(right: Floats, sides: Integers, groups: Integers, level: float) -> Estimate:
    """Balanced accuracy with interval and p-value from verdicts that were right (1), wrong (0) or neither (½)."""
    from scipy.stats import norm

    sizes = np.bincount(sides)
    accuracy = float(np.mean([right[sides == side].mean() for side in (0, 1)]))
    # what each text adds to the error; as if one more right and one more wrong had been seen, so that it is never 0
    centres = np.array([(right[sides == side].sum() + 1) / (sizes[side] + 2) for side in (0, 1)])
    errors = (right - centres[sides]) / sizes[sides]
    together = max(1.0, float((np.bincount(groups, errors) ** 2).sum() / max(float((errors**2).sum()), 1e-300)))
    texts = float(4 / (1 / sizes[0] + 1 / sizes[1])) / (_SHARED * together)
    z = float(norm.ppf(0.5 + level / 2))
    centre, share = (accuracy + z * z / (2 * texts)) / (1 + z * z / texts), 1 / (1 + z * z / texts)
    half = share * z * math.sqrt(accuracy * (1 - accuracy) / texts + (z / (2 * texts)) ** 2)
    p_value = upper_tail((accuracy - 0.5) * 2 * math.sqrt(texts))
    return Estimate(accuracy, (max(0.0, min(accuracy, centre - half)), min(1.0, max(accuracy, centre + half))), p_value)


def nearest_mean(human: Floats, model: Floats) -> Decide:
    """Model text iff its number is nearer to the mean of the model's (Solaiman et al. 2019); d = 1.

    Where both means are equal every text is on the border.

    >>> nearest_mean(np.array([[1.0], [3.0]]), np.array([[8.0]]))(np.array([[4.0], [5.0], [6.0]])).tolist()
    [-2.0, 0.0, 2.0]
    """
    mean_p, mean_q = human.mean(), model.mean()
    return lambda numbers: (abs(numbers - mean_p) - abs(numbers - mean_q))[:, 0]


def logistic(human: Floats, model: Floats) -> Decide:
    """scikit-learn's logistic regression (C = 1) on standardised columns, both sides weighing the same.

    >>> bool(logistic(np.array([[0.0], [1.0]]), np.array([[8.0], [9.0]]))(np.array([[7.0]]))[0] > 0)
    True
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    classifier = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", tol=1e-8, max_iter=1000))
    classifier.fit(np.concatenate([human, model]), np.repeat([0, 1], [len(human), len(model)]))
    return lambda texts: np.asarray(classifier.decision_function(texts), dtype=np.float64)
