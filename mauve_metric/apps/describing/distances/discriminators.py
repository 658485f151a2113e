"""Classifiers that tell a model's texts from human ones, scored on texts not used in training."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mauve_metric.apps.describing.duplicates.near_duplicates import texts_of_one_origin
from mauve_metric.apps.lexical.ngrams import letter_runs, word_counts
from mauve_metric.apps.lexical.tokens import Tokens
from mauve_metric.arrays import Array, Integers, MeasuredValue
from mauve_metric.features.row_blocks import in_one_format
from mauve_metric.measures.cross_fitting import FEWEST_TO_CLASSIFY, assign_folds, check_groups, cross_fit, same_rows
from mauve_metric.measures.groups import same_origin
from mauve_metric.measures.roc_auc import HeldOut, auc_of_scores, estimate_of_scores
from mauve_metric.runtime.threads import one_blas_thread

STRENGTHS = tuple(10.0**power for power in range(-4, 1))  # C of a logistic regression
Prompts = tuple[Sequence[Hashable], Sequence[Hashable]]  # of the human texts, of the model's
Texts = Sequence[str] | Sequence[Tokens]


class Discrimination(NamedTuple):
    """Results from a classifier's held-out scores.

    auc: chance that a model's text scores above a human one. accuracy: mean share of texts classified correctly. Both
    in [0, 1], ½ for sets that cannot be told apart, lower is better. held_out: the scores, human texts first.
    """

    auc: MeasuredValue
    accuracy: MeasuredValue
    held_out: HeldOut


def discriminate(
    p: Array,
    q: Array,
    *,
    seed: int = 25,
    level: float = 0.95,
    groups_p: Sequence[Hashable] | None = None,
    groups_q: Sequence[Hashable] | None = None,
) -> Discrimination:
    """Score each text by the linear classifier of `cross_fitting.cross_fit`, fitted to the features of the other folds.

    A classifier two-sample test (Lopez-Paz & Oquab 2017, §3; for features of texts Pillutla et al. 2023, §6). Equal
    rows, and rows of one group, are in one fold.

    Args:
        p, q: features, shapes (n_p, d) and (n_q, d).
        groups_p, groups_q: of each row, such as its prompt, shared by both sides; None entries are alone.

    Raises:
        ValueError: fewer than ten texts of a side, different numbers of columns, groups of another length.

    >>> rows = np.random.default_rng(0).normal(size=(60, 2))
    >>> discriminate(rows, rows + 9.0).auc.value
    1.0
    """
    rows, set_of, groups = _stacked({"p": p, "q": q}, {"p": groups_p, "q": groups_q})
    return _discrimination(cross_fit(rows, set_of == 1, groups, seed=seed).held_out, level)


def discriminate_words(
    human_texts: Texts,
    model_texts: Texts,
    *,
    seed: int = 25,
    level: float = 0.95,
    prompts: Prompts | None = None,
    n: int = 1,
) -> Discrimination:
    """Score each text by a logistic regression on counts of runs of letters and of marks (Ippolito 2021, §3.4).

    scikit-learn's, fitted to the other folds, among which C is chosen; both sides weigh the same. Copies, and texts of
    one prompt, are in one fold: see `texts_of_one_origin`.

    Args:
        human_texts, model_texts: strings, or tokens such as the ids of a language model.
        prompts: of the human texts and of the model's; None: known by the texts' first eight words.
        n: tokens of the longest n-grams that are counted as well.

    Raises:
        ValueError: fewer than ten texts of a side, n below 1, prompts of another length.

    >>> human, model = ([f"{word} text number {index}" for index in range(20)] for word in ("A", "One"))
    >>> discriminate_words(human, model, prompts=(range(20), range(20))).auc.value
    1.0
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    sides: dict[str, Texts] = {"human_texts": human_texts, "model_texts": model_texts}
    texts = [*human_texts, *model_texts]
    if prompts is not None:
        for (name, side), of_side in zip(sides.items(), prompts, strict=True):
            if len(side) != len(of_side):
                raise ValueError(f"prompts must have one entry for each of {name}, got {len(of_side)} for {len(side)}")
    groups = texts_of_one_origin(texts, None if prompts is None else [*prompts[0], *prompts[1]])
    is_model = np.repeat([False, True], [len(human_texts), len(model_texts)])
    check_groups(groups, is_model, FEWEST_TO_CLASSIFY)
    fold_of = assign_folds(groups, is_model, seed)
    counts = word_counts([letter_runs(text) if isinstance(text, str) else text for text in texts], n)
    folds, scores = range(int(fold_of.max()) + 1), np.empty(len(texts))
    losses = np.zeros((len(folds), len(STRENGTHS)))  # of the fits without a fold, summed over the others

    def fitted(strength: float, *without: int) -> LogisticRegression:
        seen = ~np.isin(fold_of, without)
        logistic = LogisticRegression(C=strength, class_weight="balanced", solver="newton-cg", tol=1e-3)
        return logistic.fit(counts[seen], is_model[seen])

    with one_blas_thread():  # twice as fast: the products are small
        for pair in itertools.combinations(folds, 2):
            for number, strength in enumerate(STRENGTHS):
                classifier = fitted(strength, *pair)
                for outer, inner in (pair, pair[::-1]):
                    held = fold_of == inner
                    losses[outer, number] += log_loss(is_model[held], classifier.predict_proba(counts[held]))
        for fold, best in enumerate(losses.argmin(axis=1).tolist()):
            held = fold_of == fold
            scores[held] = fitted(STRENGTHS[best], fold).decision_function(counts[held])
    return _discrimination(HeldOut(scores, is_model, fold_of, groups), level)


class TransferTable(NamedTuple):
    """Discriminators trained on one model's texts against human ones, tested on another's.

    models: names. auc, accuracy: [trained on][tested on], the diagonal being the ordinary discriminators. mixed: of one
    trained on all models' texts, [tested on].
    """

    models: tuple[str, ...]
    auc: dict[str, dict[str, MeasuredValue]]
    accuracy: dict[str, dict[str, MeasuredValue]]
    mixed: dict[str, Discrimination]


def transfer_table(
    human: Array,
    models: Mapping[str, Array],
    *,
    seed: int = 25,
    level: float = 0.95,
    groups: Mapping[str, Sequence[Hashable]] | None = None,
) -> TransferTable:
    """Train on model A's texts against human ones, test on B's against held-out human ones (Ippolito 2021, §3.4).

    The folds are common to all sets, so that no test text, its copy, or text of its prompt was trained on.

    Args:
        human: features, (n, d). models: features of each model, (n_m, d).
        groups: of the rows of each set, by its name, the human one's "human"; shared by all sets.

    Raises:
        ValueError: no model, one named "human", fewer than ten texts of a set, different numbers of columns.

    >>> rows = np.random.default_rng(0).normal(size=(60, 2))
    >>> table = transfer_table(rows, {"far": rows + 9.0, "opposite": rows - 9.0})
    >>> table.auc["far"]["far"].value, table.auc["far"]["opposite"].value
    (1.0, 0.0)
    """
    if not models or "human" in models:
        raise ValueError(f"models must hold at least one model, none of them named 'human', got {list(models)}")
    sets = {"human": human, **models}
    rows, set_of, together = _stacked(sets, groups or {})

    def trained(numbers: Sequence[int]) -> list[Discrimination]:
        fitted = cross_fit(rows, set_of > 0, together, seed=seed, trained_on=np.isin(set_of, [0, *numbers]))
        tested = [(set_of == 0) | (set_of == number) for number in range(1, len(sets))]
        return [_discrimination(HeldOut(*(part[chosen] for part in fitted.held_out)), level) for chosen in tested]

    names = tuple(models)
    table = {name: dict(zip(names, trained([number]), strict=True)) for number, name in enumerate(names, start=1)}
    return TransferTable(
        names,
        {name: {other: test.auc for other, test in row.items()} for name, row in table.items()},
        {name: {other: test.accuracy for other, test in row.items()} for name, row in table.items()},
        dict(zip(names, trained(range(1, len(sets))), strict=True)),
    )


def _discrimination(held_out: HeldOut, level: float) -> Discrimination:
    return Discrimination(auc_of_scores(held_out, level), accuracy_of_scores(held_out, level), held_out)


def _stacked(
    sets: Mapping[str, Array], groups: Mapping[str, Sequence[Hashable] | None]
) -> tuple[Array, Integers, Integers]:
    """All rows, the number of each one's set, and groups of equal rows and of those of one group."""
    shapes = {name: np.shape(rows) for name, rows in sets.items()}
    widths = {shape[1:] for shape in shapes.values()}
    if len(widths) > 1 or any(len(shape) != 2 for shape in shapes.values()):
        raise ValueError(f"features must be (n, d) with one d, got shapes {shapes}")
    group_of_row: list[Hashable] = []
    for name, part in sets.items():
        of_set = groups.get(name)
        if of_set is not None and len(of_set) != len(part):
            raise ValueError(f"groups of {name} must have one entry a row, got {len(of_set)} for {len(part)} rows")
        group_of_row += [None] * len(part) if of_set is None else list(of_set)
    rows = np.concatenate(in_one_format(*map(np.asarray, sets.values())))
    set_of = np.repeat(np.arange(len(sets)), [len(part) for part in sets.values()])
    together = same_rows(rows, same_origin(group_of_row))
    for number in range(1, len(sets)):
        chosen = (set_of == 0) | (set_of == number)
        check_groups(together[chosen], set_of[chosen] > 0, FEWEST_TO_CLASSIFY)
    return rows, set_of, together


def accuracy_of_scores(held_out: HeldOut, level: float = 0.95) -> MeasuredValue:
    """Share of held-out texts on the right side of log odds 0, the mean of the two sides' shares.

    Its variance is θ(1 - θ) (1/n_p + 1/n_q)/4, at θ = ½ that of the classifier two-sample test, 1/(4 n_test)
    (Lopez-Paz & Oquab 2017, §3); interval (Wilson 1927) and factors as for `auc_of_scores`.

    Returns:
        value in [0, 1], ½ for sets that cannot be told apart; p_value against that, one-sided.

    Raises:
        ValueError: level outside (0, 1).
    """
    correct = np.where(held_out.scores == 0, 0.5, (held_out.scores > 0) == held_out.is_model)
    shares = np.array([correct[held_out.is_model == side].mean() for side in (False, True)])
    counts = np.array([np.sum(held_out.is_model == side) for side in (False, True)])
    side = held_out.is_model.astype(np.int64)
    influences = (correct - shares[side]) / (2 * counts[side])
    return estimate_of_scores(
        float(shares.mean()),
        lambda theta: theta * (1 - theta) * float((1 / counts).sum()) / 4,
        influences,
        held_out,
        level,
    )
