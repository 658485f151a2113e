"""How well a classifier tells a model's texts from human ones that it has not seen."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mauve_metric.arrays import Array, Integers
from mauve_metric.measures.estimate import Estimate
from mauve_metric.measures.folds import FOLDS, assign_folds
from mauve_metric.measures.logistic import Logistic, cross_fitted
from mauve_metric.measures.separation import HeldOut, accuracy_of_scores, auc_of_scores
from mauve_metric.texts.same_origin import same_origin, texts_of_one_origin
from mauve_metric.texts.tokens import Tokens
from mauve_metric.texts.word_counts import word_counts, words_and_marks

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Prompts = tuple[Sequence[Hashable], Sequence[Hashable]]  # of the human texts, of the model's


class Discrimination(NamedTuple):
    """What a classifier's held-out scores say.

    auc: chance that a model's text scores above a human one. accuracy: mean share of texts told rightly, of both sides.
    held_out: the scores themselves, human texts first.
    """

    auc: Estimate
    accuracy: Estimate
    held_out: HeldOut


def discriminate(
    p: Array,
    q: Array,
    *,
    seed: int = 25,
    level: float = 0.95,
    groups_p: Sequence[Hashable] | None = None,
    groups_q: Sequence[Hashable] | None = None,
    folds: int = FOLDS,
) -> Discrimination:
    """Logistic regression on features, cross-fitted: each text is scored by a classifier fitted to the other folds.

    Columns are standardised, both sides weigh the same, and the penalty is chosen within the other folds
    (`logistic.cross_fitted`). Equal rows, and rows of one group, stand in one fold.

    Args:
        p, q: features, shapes (n_p, d) and (n_q, d).
        groups_p, groups_q: of each row, such as its prompt, shared by both sides; None entries are alone.
        folds: at least 3.

    Raises:
        ValueError: too few texts for the folds, different numbers of columns, groups of another length.

    >>> rows = np.random.default_rng(0).normal(size=(60, 2))
    >>> discriminate(rows, rows + 9.0).auc.value
    1.0
    """
    held_out = _held_out_of_features({"p": p, "q": q}, {"p": groups_p, "q": groups_q}, seed, folds)
    return _discrimination(held_out, level)


def discriminator_auc(
    p: Array,
    q: Array,
    *,
    seed: int = 25,
    level: float = 0.95,
    groups_p: Sequence[Hashable] | None = None,
    groups_q: Sequence[Hashable] | None = None,
) -> Estimate:
    """`discriminate(…).auc`: in [0, 1], ½ for sets that cannot be told apart, lower is better.

    A classifier two-sample test (Lopez-Paz & Oquab 2017) with a logistic head on the features (Pillutla et al. 2023,
    §6); errors as there.

    >>> rows = np.random.default_rng(0).normal(size=(60, 2))
    >>> discriminator_auc(rows, rows[::-1]).value < 0.6
    True
    """
    return discriminate(p, q, seed=seed, level=level, groups_p=groups_p, groups_q=groups_q).auc


def discriminator_accuracy(
    p: Array,
    q: Array,
    *,
    seed: int = 25,
    level: float = 0.95,
    groups_p: Sequence[Hashable] | None = None,
    groups_q: Sequence[Hashable] | None = None,
) -> Estimate:
    """`discriminate(…).accuracy`: in [0, 1], ½ for sets that cannot be told apart, lower is better.

    A classifier two-sample test (Lopez-Paz & Oquab 2017, §3); errors as there.

    >>> rows = np.random.default_rng(0).normal(size=(60, 2))
    >>> discriminator_accuracy(rows, rows + 9.0).value
    1.0
    """
    return discriminate(p, q, seed=seed, level=level, groups_p=groups_p, groups_q=groups_q).accuracy


def discriminate_words(
    human_texts: Sequence[str] | Sequence[Tokens],
    model_texts: Sequence[str] | Sequence[Tokens],
    *,
    seed: int = 25,
    level: float = 0.95,
    prompts: Prompts | None = None,
    n: int = 1,
    folds: int = FOLDS,
) -> Discrimination:
    """Logistic regression on counts of words and punctuation marks, or of token ids (Ippolito 2021, §3.4).

    Copies, and texts of one prompt, stand in one fold: see `texts_of_one_origin`.

    Args:
        human_texts, model_texts: strings, or tokens such as the ids of a language model.
        prompts: of the human texts and of the model's; None: known by the texts' first eight words.
        n: tokens of the longest n-grams that are counted as well.
        folds: at least 3.

    Raises:
        ValueError: too few texts for the folds, n below 1, prompts of another length.

    >>> human, model = ([f"{word} text number {index}" for index in range(20)] for word in ("A", "One"))
    >>> discriminate_words(human, model, prompts=(range(20), range(20))).auc.value
    1.0
    """
    sides: dict[str, Sequence[str] | Sequence[Tokens]] = {"human_texts": human_texts, "model_texts": model_texts}
    texts = [*human_texts, *model_texts]
    if prompts is not None:
        for (name, side), of_side in zip(sides.items(), prompts, strict=True):
            if len(side) != len(of_side):
                raise ValueError(f"prompts must have one entry for each of {name}, got {len(of_side)} for {len(side)}")
    groups = texts_of_one_origin(texts, None if prompts is None else [*prompts[0], *prompts[1]])
    set_of = np.repeat([0, 1], [len(human_texts), len(model_texts)])
    fold_of = _folds(groups, set_of, folds, seed, tuple(sides))
    counts = word_counts([words_and_marks(text) if isinstance(text, str) else text for text in texts], n)
    return _discrimination(_held_out(counts, set_of == 1, fold_of, groups), level)


def bag_of_words_auc(
    human_texts: Sequence[str] | Sequence[Tokens],
    model_texts: Sequence[str] | Sequence[Tokens],
    *,
    seed: int = 25,
    level: float = 0.95,
    prompts: Prompts | None = None,
) -> Estimate:
    """`discriminate_words(…).auc`: in [0, 1], ½ for sets that cannot be told apart, lower is better; errors as there.

    Bag of words and logistic regression (Ippolito 2021, §3.4).

    >>> human, model = ([f"{word} text number {index}" for index in range(20)] for word in ("A", "One"))
    >>> bag_of_words_auc(human, model).value
    1.0
    """
    return discriminate_words(human_texts, model_texts, seed=seed, level=level, prompts=prompts).auc


def bag_of_words_accuracy(
    human_texts: Sequence[str] | Sequence[Tokens],
    model_texts: Sequence[str] | Sequence[Tokens],
    *,
    seed: int = 25,
    level: float = 0.95,
    prompts: Prompts | None = None,
) -> Estimate:
    """`discriminate_words(…).accuracy`: in [0, 1], ½ for sets that cannot be told apart, lower is better; errors as
    there.

    Bag of words and logistic regression (Ippolito 2021, §3.4).

    >>> human, model = ([f"{word} text number {index}" for index in range(20)] for word in ("A", "One"))
    >>> bag_of_words_accuracy(human, model).value
    1.0
    """
    return discriminate_words(human_texts, model_texts, seed=seed, level=level, prompts=prompts).accuracy


class TransferTable(NamedTuple):
    """Discriminators trained on one model's texts against human ones, tested on another's.

    models: names. auc, accuracy: [trained on][tested on], the diagonal being the ordinary discriminators. mixed: of one
    trained on all models' texts, [tested on].
    """

    models: tuple[str, ...]
    auc: dict[str, dict[str, Estimate]]
    accuracy: dict[str, dict[str, Estimate]]
    mixed: dict[str, Discrimination]


def transfer_table(
    human: Array,
    models: Mapping[str, Array],
    *,
    seed: int = 25,
    level: float = 0.95,
    groups: Mapping[str, Sequence[Hashable]] | None = None,
    folds: int = FOLDS,
) -> TransferTable:
    """Train on model A's texts against human ones, test on B's against held-out human ones (Ippolito 2021, §3.4).

    The folds are common to all sets, so that no test text, its copy, or text of its prompt was trained on.

    Args:
        human: features, (n, d). models: features of each model, (n_m, d).
        groups: of the rows of each set, by its name, the human one's "human"; shared by all sets.
        folds: at least 3.

    Raises:
        ValueError: no model, one named "human", too few texts, different numbers of columns.

    >>> rows = np.random.default_rng(0).normal(size=(60, 2))
    >>> table = transfer_table(rows, {"far": rows + 9.0, "opposite": rows - 9.0})
    >>> table.auc["far"]["far"].value, table.auc["far"]["opposite"].value
    (1.0, 0.0)
    """
    if not models or "human" in models:
        raise ValueError(f"models must hold at least one model, none of them named 'human', got {list(models)}")
    sets = {"human": human, **models}
    rows, set_of = _stacked(sets)
    origins = _row_groups(rows, sets, groups or {})
    fold_of = _folds(origins, set_of, folds, seed, tuple(sets))

    def trained(numbers: Sequence[int]) -> list[Discrimination]:
        seen = np.isin(set_of, [0, *numbers])
        classifiers = cross_fitted(rows[seen], set_of[seen] > 0, fold_of[seen])
        return [_tested(classifiers, rows, set_of, fold_of, origins, number, level) for number in range(1, len(sets))]

    names = tuple(models)
    table = {name: dict(zip(names, trained([number]), strict=True)) for number, name in enumerate(names, start=1)}
    return TransferTable(
        names,
        {name: {other: found.auc for other, found in row.items()} for name, row in table.items()},
        {name: {other: found.accuracy for other, found in row.items()} for name, row in table.items()},
        dict(zip(names, trained(range(1, len(sets))), strict=True)),
    )


def _tested(
    classifiers: Sequence[Logistic],
    rows: Array,
    set_of: Integers,
    fold_of: Integers,
    groups: Integers,
    number: int,
    level: float,
) -> Discrimination:
    """The classifiers of the folds on the held-out texts of one model and of people."""
    chosen = (set_of == 0) | (set_of == number)
    scores = _scores(classifiers, rows[chosen], fold_of[chosen])
    return _discrimination(HeldOut(scores, set_of[chosen] > 0, fold_of[chosen], groups[chosen]), level)


def _held_out_of_features(
    sets: Mapping[str, Array], groups: Mapping[str, Sequence[Hashable] | None], seed: int, folds: int
) -> HeldOut:
    rows, set_of = _stacked(sets)
    origins = _row_groups(rows, sets, groups)
    fold_of = _folds(origins, set_of, folds, seed, tuple(sets))
    return _held_out(rows, set_of == 1, fold_of, origins)


def _held_out(rows: Array | csr_array, is_model: Array, fold_of: Integers, groups: Integers) -> HeldOut:
    scores = _scores(cross_fitted(rows, is_model, fold_of), rows, fold_of)
    return HeldOut(scores, is_model, fold_of, groups)


def _scores(classifiers: Sequence[Logistic], rows: Array | csr_array, fold_of: Integers) -> Array:
    """Each row by the classifier of its fold, (n,)."""
    scores = np.zeros(len(fold_of))
    for fold, classifier in enumerate(classifiers):
        scores[fold_of == fold] = classifier(rows[fold_of == fold])
    return scores


def _discrimination(held_out: HeldOut, level: float) -> Discrimination:
    return Discrimination(auc_of_scores(held_out, level), accuracy_of_scores(held_out, level), held_out)


def _folds(groups: Integers, set_of: Integers, folds: int, seed: int, names: tuple[str, ...]) -> Integers:
    if folds < 3:
        raise ValueError(f"folds must be at least 3, one to test, one to choose the penalty, one to fit, got {folds}")
    return assign_folds(groups, set_of, folds, seed, names)


def _stacked(sets: Mapping[str, Array]) -> tuple[Array, Integers]:
    """All rows, float64, about their mean, and the number of each one's set."""
    shapes = {name: np.shape(rows) for name, rows in sets.items()}
    widths = {shape[1:] for shape in shapes.values()}
    if len(widths) > 1 or any(len(shape) != 2 for shape in shapes.values()):
        raise ValueError(f"features must be (n, d) with one d, got shapes {shapes}")
    rows = np.concatenate([np.asarray(part, dtype=np.float64) for part in sets.values()])
    return rows, np.repeat(np.arange(len(sets)), [len(part) for part in sets.values()])


def _row_groups(rows: Array, sets: Mapping[str, Array], groups: Mapping[str, Sequence[Hashable] | None]) -> Integers:
    """Equal rows, and those of one group, (n,)."""
    given: list[Hashable] = []
    for name, part in sets.items():
        of_set = groups.get(name)
        if of_set is not None and len(of_set) != len(part):
            raise ValueError(f"groups of {name} must have one entry a row, got {len(of_set)} for {len(part)} rows")
        given += [None] * len(part) if of_set is None else list(of_set)
    return same_origin([row.tobytes() for row in rows], given)
