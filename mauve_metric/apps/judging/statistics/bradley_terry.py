"""Strength of each model, from judgements of pairs: the Bradley–Terry model.

Pure functions of wins: counts of preferences of one model over another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.apps.judging.statistics.judgement_options import Errors, Ties
from mauve_metric.arrays import Array, Floats, Integers
from mauve_metric.runtime.checks import check_known, first_few, listed
from mauve_metric.runtime.optional_imports import import_choix

SCALE = 100.0  # a score of 100 more is e times the odds
_STEPS = 1_000  # far more than it takes: some ten where no pair is one-sided
_CLOSE = 1e-12  # a step, in log-odds, after which the scores are kept


def bradley_terry(wins: ArrayLike, *, names: Sequence[str] | None = None, pseudo_wins: float = 0.0) -> Floats:
    """The Bradley–Terry scores w that make the wins likeliest.

    Pr(i beats j) = 1 / (1 + exp(-(w_i - w_j) / 100)), Σ w = 0, by iterative Luce spectral ranking (Maystre and
    Grossglauser 2015). A score of 100 more means e times the odds of being preferred.

    Args:
        wins: wins[i, j] = how often i was preferred to j, (m, m), at least 0; a tie is half a win for each. The
            diagonal does not count.
        names: of the models, for errors; None: model 0, model 1, …
        pseudo_wins: added to every model against every other, which draws the scores together and keeps them finite.

    Returns:
        Shape (m,), unbounded, higher is better, with the sum 0.

    Raises:
        ValueError: not a table of wins, or one that leaves a score infinite, with the models that cannot be compared.
        ImportError: without `mauve_metric[preferences]`.

    Bradley and Terry 1952; Pillutla et al. 2021, App. E.2.

    >>> bradley_terry([[0, 3], [1, 0]]).round(3).tolist()  # log 3 · 100 apart
    [54.931, -54.931]
    """
    table = np.array(wins, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
        raise ValueError(f"wins must be a square table of at least two models, got the shape {table.shape}")
    if names is not None and len(names) != len(table):
        raise ValueError(f"names must name the {len(table)} models of wins, got {len(names)}")
    if not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("wins must be finite numbers of at least 0")
    if not (np.isfinite(pseudo_wins) and pseudo_wins >= 0):
        raise ValueError(f"pseudo_wins must be a finite number of at least 0, got {pseudo_wins!r}")
    table = (table + pseudo_wins) * (1 - np.eye(len(table)))
    check_comparable(table, names)
    try:
        log_odds = import_choix().ilsr_pairwise_dense(table, max_iter=_STEPS, tol=_CLOSE)
    except RuntimeError as error:
        raise ValueError(
            f"the scores of these wins do not settle in {_STEPS} steps: add pseudo_wins (--pseudo-wins 0.5)"
        ) from error
    scores: Floats = SCALE * (log_odds - log_odds.mean())
    return scores


def score_covariance(
    unit_wins: Array, scores: ArrayLike, *, errors: Errors = "robust", pseudo_wins: float = 0.0
) -> Floats:
    """The covariance of Bradley–Terry scores over other judges and judgements.

    With the information H = Σ_ij N_ij·p_ij·p_ji·(e_i - e_j)(e_i - e_j)ᵀ and the gradient s_u of each unit u:
    "fisher" H⁺, right where the model is and all judgements are independent; "robust" the sandwich
    U/(U - 1) · H⁺ (Σ_u s_u s_uᵀ) H⁺, which asks only that the units are independent of each other (White 1982).

    Args:
        unit_wins: the wins within each of U units, a sparse or dense (U, m·m): one judgement each, or all judgements of
            one annotator, who is not independent of herself.
        scores: those of the sum over the units, (m,). pseudo_wins: those they were computed with.

    Returns:
        Shape (m, m), of scores as `bradley_terry` gives them; rows sum to 0.

    Raises:
        ValueError: fewer than two units for "robust".
    """
    from scipy.sparse import csr_array
    from scipy.special import expit

    check_known("errors", errors, get_args(Errors))
    log_odds = np.asarray(scores, dtype=np.float64) / SCALE
    m, units = len(log_odds), unit_wins.shape[0]
    table = np.asarray(unit_wins.sum(axis=0)).reshape(m, m) + pseudo_wins * (1 - np.eye(m))
    chance = expit(log_odds[:, None] - log_odds[None, :])
    weights = (table + table.T) * chance * chance.T * (1 - np.eye(m))
    information = np.diag(weights.sum(axis=1)) - weights  # a graph's Laplacian: its null space are the constants
    size = np.trace(information) / m**2  # as a weight of the constants it leaves the rest of the inverse as it is
    inverse: Floats = np.linalg.inv(information + size) - 1 / (size * m * m)
    if errors == "fisher":
        return SCALE**2 * inverse
    if units < 2:
        raise ValueError("errors='robust' needs at least two independent judgements or annotators, got one: 'fisher'")
    ahead, behind = np.repeat(np.arange(m), m), np.tile(np.arange(m), m)  # winner and loser of each cell
    surprise = chance.T.ravel()  # a win of i over j moves w_i by 1 - p_ij = p_ji
    values, columns = np.concatenate([surprise, -surprise]), np.concatenate([ahead, behind])
    gradients = csr_array((values, (np.tile(np.arange(m * m), 2), columns)), shape=(m * m, m))
    influence = (csr_array(unit_wins) @ gradients).toarray() @ inverse
    covariance: Floats = SCALE**2 * units / (units - 1) * (influence.T @ influence)
    return covariance


def half_width(variance: ArrayLike, units: int | None, level: float = 0.95) -> Floats:
    """Half of an interval from a variance: Student's quantile with U - 1 degrees of freedom, the normal one for None.

    >>> half_width([1.0], None).round(2).tolist(), half_width([1.0], 5).round(2).tolist()
    ([1.96], [2.78])
    """
    from scipy.stats import norm, t

    side = (1 + level) / 2
    quantile = float(norm.ppf(side) if units is None else t.ppf(side, units - 1))
    width: Floats = quantile * np.sqrt(np.maximum(np.asarray(variance, dtype=np.float64), 0.0))
    return width


def check_comparable(wins: ArrayLike, names: Sequence[str] | None = None) -> None:
    """`ValueError` unless the wins tie every model to every other in both directions, as finite scores demand.

    >>> check_comparable([[0, 2], [1, 0]], ["human", "gpt2"])
    """
    from scipy.sparse.csgraph import connected_components

    table = np.asarray(wins, dtype=np.float64)
    labels = [f"model {i}" for i in range(len(table))] if names is None else list(names)
    parts, apart = connected_components(table > 0, directed=True, connection="weak")
    if parts > 1:
        inside, outside = _names(labels, apart == apart[0]), _names(labels, apart != apart[0])
        raise ValueError(f"no judgement compares {inside} with {outside}: their scores have no common zero")
    count, group = connected_components(table > 0, directed=True, connection="strong")
    if count == 1:
        return
    losses = [bool((table[group != g][:, group == g] > 0).any()) for g in range(count)]
    unbeaten = group == losses.index(False)
    raise ValueError(
        f"{_names(labels, unbeaten)} never lost to {_names(labels, ~unbeaten)}: the distance between them would be "
        "infinite; collect more judgements, or add pseudo_wins (--pseudo-wins 0.5)"
    )


def unit_wins(first: Integers, second: Integers, outcome: Floats, models: int) -> Array:
    """The wins of each judgement as a sparse matrix (n, m·m), as `score_covariance` takes them.

    Args:
        first, second: the two models of each judgement, (n,).
        outcome: 1 where the first was preferred, 0 where the second, 0.5 for half a win each, (n,).
        models: how many there are.

    >>> unit_wins(np.array([0, 1]), np.array([1, 0]), np.array([1.0, 0.5]), 2).sum(axis=0).tolist()
    [0.0, 1.5, 0.5, 0.0]
    """
    from scipy.sparse import csr_array

    n = len(first)
    cells = np.concatenate([first * models + second, second * models + first])
    values, rows = np.concatenate([outcome, 1 - outcome]), np.tile(np.arange(n), 2)
    wins: Array = csr_array((values, (rows, cells)), shape=(n, models * models))
    return wins


def joined_units(units: Array, judges: ArrayLike) -> Array:
    """The wins of all judgements by each judge together, (number of judges, m·m), from those of each, (n, m·m)."""
    from scipy.sparse import csr_array

    names, of = np.unique(np.asarray(judges), return_inverse=True)
    n = len(of)
    joined: Array = csr_array((np.ones(n), (of, np.arange(n))), shape=(len(names), n)) @ units
    return joined


def settle_ties(outcome: Floats, ties: Ties = "half", seed: int = 25) -> tuple[Floats, Array]:
    """Outcomes as they count, and which judgements count: (n,) each.

    "half" leaves half a win for each; "random" makes each tie a win of one of the two by a coin, as Pillutla et al.
    2021 (App. E.2) do; "drop" leaves ties out.
    """
    check_known("ties", ties, get_args(Ties))
    tied = outcome == 0.5
    if ties == "random":
        coins = np.random.default_rng(seed).integers(0, 2, len(outcome)).astype(np.float64)
        return np.where(tied, coins, outcome), np.ones(len(outcome), dtype=bool)
    return outcome, ~tied if ties == "drop" else np.ones(len(outcome), dtype=bool)


def _names(labels: Sequence[str], chosen: Array) -> str:
    """Some of the models by name, at most five of them."""
    names = [repr(label) for label, taken in zip(labels, chosen, strict=True) if taken]
    return listed(names) if len(names) <= 5 else first_few(names, 5)
