"""Several models against one human set: scores on common buckets, and which differences are real."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mauve_metric import quantize, uncertainty
from mauve_metric.compute import (
    check_columns,
    cluster,
    cluster_runs,
    project_together,
    resolve_config,
    score_buckets,
    score_features,
    signature_entries,
)
from mauve_metric.config import MauveConfig
from mauve_metric.explain import Explanation, Readable, check_count, check_in_memory, explain_result, read_sides
from mauve_metric.gap import holm
from mauve_metric.inputs import Featurizing, option_parameters, split_options
from mauve_metric.reference import Reference, check_same_encoder
from mauve_metric.result import MauveResult, ScoreWarning, format_signature, plain

if TYPE_CHECKING:
    import altair as alt

Labels = NDArray[np.int64]
Floats = NDArray[np.float64]
Rows = NDArray[np.float32]

POWER = 0.8  # of the forecasts
HALVES = 8  # random halves from which the forecast learns how errors fall with the number of texts
MOST_TEXTS = 1e12  # a forecast above says nothing
BLURRED = 0.1  # common buckets that lift a score by more hide a difference as large as that between two models
ALIGNED_SHARE = 0.5  # of rows whose texts open alike in two models: they answer the same prompts


class OwnScore(NamedTuple):
    """The literature's MAUVE of one model and the human set, on buckets of their own: `compute_mauve`'s `mauve`."""

    mauve: float
    num_buckets: int
    p_value: float | None
    signature: str


@dataclass(frozen=True)
class Difference:
    """Whether two models differ.

    a, b: names. difference: debiased MAUVE of a minus that of b, in [-1, 1]. ci: its interval at the config's level.
    p_value: of "no difference", for this pair alone, on the safe side (see `difference_of`). real: significant at
    1 - level with Holm's correction for the number of pairs. stderr: standard error of the difference.
    """

    a: str
    b: str
    difference: float
    ci: tuple[float, float]
    p_value: float
    real: bool
    stderr: float = field(metadata={"in_dict": False})

    def to_dict(self) -> dict[str, Any]:
        """The fields but for the standard error, fit for JSON."""
        return {name: plain(getattr(self, name)) for name in ("a", "b", "difference", "ci", "p_value", "real")}


@dataclass(frozen=True)
class Comparison:
    """Several models' scores against one human set, and their differences.

    Attributes:
        models: the result of each model on the partition that all share, in the order given.
        own: each model's MAUVE on buckets of its own, as the literature computes it.
        ranking: names by falling debiased MAUVE.
        differences: of every pair, the better ranked model first.
        confidence_level: of the intervals. aligned: whether row i of every model was taken to answer prompt i.
        smallest_difference: between the two best that these sets would show with 80 % probability; None for one model.
        texts_needed: of each set, to tell the two best apart with 80 % probability if they differ by what was seen;
            None for one model or no difference at all.
        warnings: about the comparison; those about a model stand in its result.
        signature: what fixes the comparison.
        explanations: for each model the buckets that make its gap; empty if not asked for.
    """

    models: dict[str, MauveResult]
    own: dict[str, OwnScore]
    ranking: tuple[str, ...]
    differences: tuple[Difference, ...]
    confidence_level: float
    aligned: bool
    smallest_difference: float | None
    texts_needed: int | None
    warnings: tuple[ScoreWarning, ...]
    signature: str
    explanations: dict[str, Explanation] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the explanations as plain Python values, fit for JSON.

        `models` holds for each name the result's own dict; `mauve_own` the literature's score.
        """
        return {
            "models": {name: result.to_dict() for name, result in self.models.items()},
            "differences": [difference.to_dict() for difference in self.differences],
            "mauve_own": {name: own.mauve for name, own in self.own.items()},
            "own": {name: plain(own) for name, own in self.own.items()},
            "ranking": list(self.ranking),
            "confidence_level": self.confidence_level,
            "aligned": self.aligned,
            "smallest_difference": self.smallest_difference,
            "texts_needed": self.texts_needed,
            "warnings": plain(self.warnings),
            "signature": self.signature,
        }

    def to_markdown(self) -> str:
        """The tables of models and differences in Markdown."""
        from mauve_metric import tables

        return tables.comparison_markdown(self)

    def to_csv(self, table: Literal["models", "differences"] = "models") -> str:
        """One of the tables as CSV with a header, numbers in full."""
        from mauve_metric import tables

        return tables.comparison_csv(self, table)

    def to_latex(self) -> str:
        """The tables as two LaTeX `tabular`s with the rules of booktabs."""
        from mauve_metric import tables

        return tables.comparison_latex(self)

    def plot(self) -> alt.VConcatChart:
        """The figures as one Altair chart (see `mauve_metric.plot_compare`)."""
        from mauve_metric import plot_compare

        return plot_compare.comparison_chart(self)

    def save_report(self, path: str | Path) -> Path:
        """Write one HTML page with tables, figures, warnings, buckets and signatures, that needs no network."""
        from mauve_metric import report

        return report.save_report(self, path)

    def __str__(self) -> str:
        from mauve_metric import tables

        return tables.comparison_table(self)


def compare(
    p_text: Any = None,
    models: Mapping[str, Any] | None = None,
    *,
    p_features: Any = None,
    p_tokens: Any = None,
    p: Reference | None = None,
    aligned: bool = False,
    buckets: int = 0,
    texts: int = 3,
    **options: Any,
) -> Comparison:
    """Compare models with each other by their MAUVE against one human set.

    The human texts and those of all models are projected and clustered together, once, so that all scores live on one
    partition; "auto" buckets follow from the smallest set. A difference has an interval that allows for the human
    texts that both scores share.

    Args:
        p_text, p_features, p_tokens, p: the human side, as in `compute_mauve`; texts beside another form are read only.
        models: for each name its texts, features (n, d) or `Reference`.
        aligned: row i of every model answers prompt i, so that texts of one row may be alike across models; the sets
            are of one size. The intervals of the differences allow for it.
        buckets: how many buckets of each model's gap to explain, see `explain`; 0 for none.
        texts: how many texts of each side to keep for a bucket.
        **options: see `compute_mauve`.

    Returns:
        A `Comparison`.

    Raises:
        TypeError, ValueError, OSError, ImportError: as `compute_mauve`; `ValueError` too for no model, sets of fewer
            than two texts, and aligned sets of unequal size.

    >>> rng = np.random.default_rng(0)
    >>> human, good, bad = (rng.normal(shift, 1, size=(200, 8)) for shift in (0, 0.1, 1))
    >>> found = compare(p_features=human, models={"bad": bad, "good": good}, seed=1)
    >>> found.ranking, [(item.a, item.b, item.real) for item in found.differences]
    (('good', 'bad'), [('good', 'bad', True)])
    """
    check_count("buckets", buckets, low=0)
    check_count("texts", texts, low=0)
    forms = {name: _form(name, data) for name, data in _check_models(models).items()}
    config, run = split_options(options)
    human = {"p": p, "p_features": p_features, "p_tokens": p_tokens, "p_text": p_text}
    with Featurizing(config, run, frozenset(options)) as job:
        human_read, *model_reads = read_sides(
            job, {"human": human} | {f"model {key}": forms[key] for key in forms}
        ).values()
    sides = {"the human set": human_read[0]} | {
        f"models[{name!r}]": side for name, (side, _) in zip(forms, model_reads, strict=True)
    }
    _check_sides(sides, aligned)
    return compare_features(
        human_read[0],
        {name: side for name, (side, _) in zip(forms, model_reads, strict=True)},
        config,
        aligned=aligned,
        readable=Readable.of([human_read[1], *(read for _, read in model_reads)]) if buckets else None,
        buckets=buckets,
        texts=texts,
    )


compare.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        *(item for item in inspect.signature(compare).parameters.values() if item.kind is not item.VAR_KEYWORD),
        *option_parameters(),
    ],
    return_annotation="Comparison",
)


# --- input --------------------------------------------------------------------------------------------------------


def _check_models(models: Any) -> dict[str, Any]:
    if not isinstance(models, Mapping):
        raise TypeError(
            f"models must be a dict from names to texts, features or References, got {type(models).__name__}"
        )
    if not models:
        raise ValueError("models must hold at least one model, got none")
    for name in models:
        if not isinstance(name, str) or not name.strip():
            raise TypeError(f"models: names must be non-empty strings, got {name!r}")
    return dict(models)


def _form(name: str, data: Any) -> dict[str, Any]:
    """One model's data under the name that says what it is, for `explain.read_sides`."""
    argument = f"models[{name!r}]"
    if isinstance(data, Reference):
        return {f"{argument} reference": data}
    if isinstance(data, MauveResult):
        raise TypeError(f"{argument} must hold texts, features or a Reference, got a result")
    is_table = hasattr(data, "columns") or hasattr(data, "column_names")
    is_rows = isinstance(data, (list, tuple)) and len(data) > 0 and isinstance(data[0], (list, tuple, np.ndarray))
    is_numbers = getattr(getattr(data, "dtype", None), "kind", None) in ("f", "i", "u")
    is_matrix = getattr(data, "ndim", None) == 2 and not is_table
    return {f"{argument} features" if is_matrix or is_rows or is_numbers else f"{argument} text": data}


def _check_sides(sides: Mapping[str, Reference], aligned: bool) -> None:
    """Sets that cannot be compared."""
    check_columns(sides)
    check_in_memory(sides)
    human, *models = sides.values()
    for name, side in sides.items():
        if len(side) < 2:
            raise ValueError(f"{name} must hold at least 2 texts to be compared, got {len(side)}")
        check_same_encoder(human.identity, side.identity)
        check_same_encoder(models[0].identity, side.identity)
    if not isinstance(aligned, (bool, np.bool_)):
        raise TypeError(f"aligned must be True or False, got {aligned!r}")
    if not aligned:
        return
    sizes = {name: len(side) for name, side in list(sides.items())[1:]}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise ValueError(f"aligned=True needs models of equal size, got {shown}")
    if any(side.dropped for side in models):
        raise ValueError("aligned=True needs every row: empty texts were dropped, so that rows no longer correspond")


# --- features → comparison ----------------------------------------------------------------------------------------


def compare_features(
    p: Reference,
    models: Mapping[str, Reference],
    config: MauveConfig,
    *,
    aligned: bool = False,
    readable: Readable | None = None,
    buckets: int = 0,
    texts: int = 3,
) -> Comparison:
    """Project and cluster all sets together, score each model against P, and compare the scores.

    Args:
        p, models: checked sides. config: may hold "auto".
        aligned: see `compare`.
        readable: the texts of P and of the models in order, needed for buckets > 0.
        buckets, texts: see `compare`.
    """
    names = list(models)
    resolved = resolve_config(config, len(p), *(len(side) for side in models.values()))
    p_first = resolved.row_order == "pq"
    ordered = [p, *models.values()] if p_first else [*models.values(), p]
    projected = project_together([side.features for side in ordered], resolved)
    runs = cluster_runs(projected, resolved)
    if readable is not None and len(runs) == 1:
        runs.append(cluster(projected, resolved, 1))
    rows, labels = _by_set(projected, ordered, p_first), [_by_set(run, ordered, p_first) for run in runs]
    scored = labels[: int(resolved.num_runs)]
    results = {
        name: score_buckets(
            p,
            side,
            [(run[0], run[number]) for run in scored],
            (rows[0], rows[number]),
            resolved,
            entries={"partition": f"common to {', '.join(names)}", "model": name},
        )
        for number, (name, side) in enumerate(models.items(), start=1)
    }
    own = {name: _own_score(p, side, config) for name, side in models.items()}
    results = {name: replace(result, p_value=own[name].p_value) for name, result in results.items()}
    ranking = tuple(sorted(names, key=lambda name: _quality(results[name]), reverse=True))
    errors = joint_errors(scored, resolved, aligned)
    differences = _differences(results, names, ranking, resolved, errors)
    explanations = {}
    if readable is not None and buckets:
        for number, name in enumerate(names, start=1):
            explanations[name] = explain_result(
                results[name],
                (rows[0], rows[number]),
                (labels[1][0], labels[1][number]),
                resolved,
                readable.pair(0, number),
                buckets=buckets,
                texts=texts,
            )
    best = differences[0] if differences else None
    level = resolved.confidence_level
    sizes = {f"n_{name}": len(side) for name, side in models.items()}
    entries = signature_entries(p, next(iter(models.values())), resolved, {**sizes, "aligned": aligned})
    entries.pop("n_q")
    return Comparison(
        models=results,
        own=own,
        ranking=ranking,
        differences=differences,
        confidence_level=level,
        aligned=bool(aligned),
        smallest_difference=None if best is None else detectable_difference(best.stderr, level),
        texts_needed=None
        if best is None
        else texts_needed(best.difference, best.stderr, min(map(len, ordered)), level),
        warnings=tuple(_comparison_warnings(models, aligned) + _partition_warnings(results, own)),
        signature=format_signature(entries),
        explanations=explanations,
    )


def _by_set(values: NDArray[Any], ordered: Sequence[Reference], p_first: bool) -> list[NDArray[Any]]:
    """Stacked values as one array for each set, P's first."""
    parts = np.split(values, np.cumsum([len(side) for side in ordered])[:-1])
    return parts if p_first else [parts[-1], *parts[:-1]]


def _own_score(p: Reference, q: Reference, config: MauveConfig) -> OwnScore:
    """MAUVE of the pair on its own buckets; the signature is that of `compute_mauve`."""
    resolved = resolve_config(config, len(p), len(q))
    once = replace(resolved, num_runs=1, knn=False, frechet_distance=False)
    result = score_features(p, q, once, quiet=True)
    signature = format_signature(signature_entries(p, q, resolved))
    return OwnScore(result.mauve, result.num_buckets, result.p_value, signature)


def _quality(result: MauveResult) -> tuple[float, float, float]:
    """What models are ranked by: debiased MAUVE, among equal ones the debiased frontier integral, then MAUVE."""
    debiased, integral = result.mauve_debiased, result.frontier_integral_debiased
    return (
        result.mauve if debiased is None else debiased,
        -result.frontier_integral if integral is None else -integral,
        result.mauve,
    )


def _differences(
    results: Mapping[str, MauveResult],
    names: Sequence[str],
    ranking: Sequence[str],
    config: MauveConfig,
    errors: JointErrors,
) -> tuple[Difference, ...]:
    """Every pair in the order of the ranking, with Holm's correction over all of them."""
    estimates = [_estimate(results[name]) for name in names]
    found = []
    for a, b in itertools.combinations(ranking, 2):
        i, j = names.index(a), names.index(b)
        found.append((a, b, difference_of(estimates, errors, i, j, config.confidence_level)))
    corrected = holm([difference.p_value for _, _, difference in found])
    return tuple(
        Difference(a, b, item.value, item.ci, item.p_value, bool(p_value < 1 - config.confidence_level), item.stderr)
        for (a, b, item), p_value in zip(found, corrected, strict=True)
    )


def _estimate(result: MauveResult) -> uncertainty.Estimate:
    """The debiased score of a result with its interval."""
    if result.mauve_debiased is None or result.mauve_stderr is None or result.mauve_ci is None:
        raise ValueError("scores can be compared from 2 texts a set on")
    return uncertainty.Estimate(result.mauve_debiased, result.mauve_stderr, result.mauve_ci)


class JointErrors(NamedTuple):
    """How the debiased scores of m models against one P vary together: covariance matrices, (m, m) each.

    first: of the delete-one effects of texts. Like every delete-one variance (Efron and Stein 1981) it holds twice what
    pairs of texts add together; second: that part once, so that first - second is the covariance. runs: over the
    clusterings.
    """

    first: Floats
    second: Floats
    runs: Floats

    def parts(self, i: int, j: int) -> tuple[float, float]:
        """Variance of the difference of two scores by sampling, and what of it is due to pairs of texts."""
        plain = _of_difference(self.first, i, j)
        pairs = min(max(_of_difference(self.second, i, j), 0.0), plain / 2)
        return plain - pairs, pairs

    def variance(self, i: int) -> tuple[float, float]:
        """Variance of one score, and its ratio to the delete-one variance."""
        plain, runs = float(self.first[i, i]), float(self.runs[i, i])
        variance = plain - min(max(float(self.second[i, i]), 0.0), plain / 2) + runs
        return variance, variance / (plain + runs) if plain + runs > 0 else 1.0


def _of_difference(matrix: Floats, i: int, j: int) -> float:
    return max(float(matrix[i, i] + matrix[j, j] - 2 * matrix[i, j]), 0.0)


def joint_errors(runs: Sequence[Sequence[Labels]], config: MauveConfig, aligned: bool = False) -> JointErrors:
    """The joint errors of several models' scores against one P.

    The texts of P are shared by all models; with `aligned`, row i of all models is drawn at once, otherwise the models
    are independent. What pairs of texts add falls with n², everything else with n, which random halves of the texts
    tell apart: second = (first of halves - 2·first) / 4.

    Args:
        runs: for each clustering the buckets of the texts of P, (n_p,), and of each of m models, (n_i,).
        config: without "auto". aligned: all n_i are equal.
    """
    k, c = int(config.num_buckets), config.mauve_scaling_factor
    labels = runs[0]
    first = score_covariance(labels, k, c, aligned)
    second = np.zeros_like(first)
    if min(map(len, labels)) >= 4:
        rng = np.random.default_rng(config.seed)
        halves = [score_covariance(_half(labels, aligned, rng), k, c, aligned) for _ in range(HALVES)]
        second = (np.mean(halves, axis=0) - 2 * first) / 4
    over_runs = np.zeros_like(first)
    if len(runs) > 1:
        values = [
            [uncertainty.estimate_scores(frontier, c)[0].value for frontier in _frontiers(run, k)] for run in runs
        ]
        over_runs = np.atleast_2d(np.cov(np.array(values), rowvar=False, ddof=1))
    return JointErrors(first, second, over_runs)


def _frontiers(labels: Sequence[Labels], k: int) -> list[uncertainty.DebiasedFrontier]:
    """Of P, the first, and each model."""
    counted = [quantize.count_labels(labels[0], side, k) for side in labels[1:]]
    return [uncertainty.debiased_frontier(item.p_counts, item.q_counts) for item in counted]


def _half(labels: Sequence[Labels], aligned: bool, rng: np.random.Generator) -> list[Labels]:
    """A random half of each set; with `aligned` the same rows of every model."""
    rows = [rng.permutation(len(side))[: len(side) // 2] for side in labels]
    return [side[rows[1] if aligned and number else rows[number]] for number, side in enumerate(labels)]


def score_covariance(labels: Sequence[Labels], k: int, scaling_factor: float = 5.0, aligned: bool = False) -> Floats:
    """Covariance matrix (m, m) of the debiased scores of m models by the delete-one effects of their texts.

    Args:
        labels: buckets of the texts of P, (n_p,), and of each model, (n_i,).
        k: number of buckets. scaling_factor: c. aligned: see `joint_errors`.
    """
    effects = [uncertainty.mauve_effects(frontier, scaling_factor) for frontier in _frontiers(labels, k)]
    p_effects = np.stack([p_effect[labels[0]] for p_effect, _ in effects])
    q_effects = [q_effect[side] for (_, q_effect), side in zip(effects, labels[1:], strict=True)]
    covariance: Floats = np.atleast_2d(np.cov(p_effects, ddof=0)) / len(labels[0])
    if aligned:
        return covariance + np.atleast_2d(np.cov(np.stack(q_effects), ddof=0)) / len(q_effects[0])
    return covariance + np.diag([effect.var() / len(effect) for effect in q_effects])


def difference_of(
    estimates: Sequence[uncertainty.Estimate], errors: JointErrors, i: int, j: int, level: float = 0.95
) -> uncertainty.DifferenceEstimate:
    """The difference of model i and model j.

    Its interval and standard error follow from the corrected errors. Its p-value does not: a decision among many pairs
    looks far into the tails, where the correction, itself an estimate, would call too many equal models different; the
    delete-one errors, which are too large if anything, keep that rate.
    """
    (one, one_ratio), (two, two_ratio) = errors.variance(i), errors.variance(j)
    scale = math.sqrt(one * two)
    between = errors.parts(i, j)[0] + _of_difference(errors.runs, i, j)
    correlation = min(max((one + two - between) / (2 * scale), -1.0), 1.0) if scale > 0 else 0.0
    a, b = _narrowed(estimates[i], one_ratio), _narrowed(estimates[j], two_ratio)
    found = uncertainty.estimate_difference(a, b, correlation, level)
    whole = errors.first + errors.runs
    scale = math.sqrt(whole[i, i] * whole[j, j])
    correlation = min(max(float(whole[i, j]) / scale, -1.0), 1.0) if scale > 0 else 0.0
    careful = uncertainty.estimate_difference(estimates[i], estimates[j], correlation, level)
    return found._replace(p_value=max(found.p_value, careful.p_value))


def _narrowed(estimate: uncertainty.Estimate, ratio: float) -> uncertainty.Estimate:
    """An estimate with the squares of its error and of its interval's two arms times a ratio; a cut end stays cut."""
    factor, (low, high) = math.sqrt(ratio), estimate.ci
    arm = estimate.value - factor * (estimate.value - low)
    return estimate._replace(
        stderr=factor * estimate.stderr,
        ci=(arm, high if high >= 1 else estimate.value + factor * (high - estimate.value)),
    )


# --- forecasts ----------------------------------------------------------------------------------------------------


def detectable_difference(stderr: float, level: float = 0.95, power: float = POWER) -> float:
    """The difference that a two-sided test at 1 - level finds with this probability, (z_(1-α/2) + z_power)·error.

    >>> round(detectable_difference(0.01), 5)
    0.02802
    """
    normal = NormalDist()
    return (normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power)) * stderr


def texts_needed(
    difference: float, stderr: float, n: int, level: float = 0.95, power: float = POWER, fast_share: float = 0.0
) -> int | None:
    """Texts a set at which a difference would be found with this probability.

    With n' texts the squared error is taken to be error²·[(1 - s)·n/n' + s·(n/n')²], s = `fast_share`; for s = 0 the
    answer is n·(detectable / |difference|)². None where the difference or its error is 0.

    >>> texts_needed(0.02, 0.01, 1000), texts_needed(0.02, 0.01, 1000, fast_share=0.5)
    (1963, 1596)
    """
    if difference == 0 or stderr == 0:
        return None
    wanted = (difference / detectable_difference(stderr, level, power)) ** 2
    slow = 1 - fast_share
    ratio = wanted if fast_share == 0 else (math.sqrt(slow**2 + 4 * fast_share * wanted) - slow) / (2 * fast_share)
    return max(2, math.ceil(n / ratio)) if n < ratio * MOST_TEXTS else None


def fast_share(errors: JointErrors, i: int, j: int) -> float:
    """The share of a difference's variance that is due to pairs of texts and falls with the square of their number."""
    variance, pairs = errors.parts(i, j)
    return pairs / variance if variance > 0 else 0.0


# --- warnings -----------------------------------------------------------------------------------------------------


def _comparison_warnings(models: Mapping[str, Reference], aligned: bool) -> list[ScoreWarning]:
    """Equal sets under two names, unequal sizes, rows that look aligned."""
    found = []
    sizes = {name: len(side) for name, side in models.items()}
    if len(set(sizes.values())) > 1:
        message = (
            f"the models' sets differ in size ({min(sizes.values())} to {max(sizes.values())} texts): compare "
            "the debiased scores, `mauve` falls with fewer texts"
        )
        found.append(ScoreWarning("unequal_models", message, sizes))
    alike = []
    for a, b in itertools.combinations(models, 2):
        one, two = models[a], models[b]
        if one.features.shape == two.features.shape and np.array_equal(one.features, two.features):
            found.append(ScoreWarning("equal_models", f"{a} and {b} hold the same texts", {"a": a, "b": b}))
        elif _same_openings(one, two) > ALIGNED_SHARE:
            alike.append((a, b))
    if alike and not aligned:
        message = (
            f"row by row the texts of {alike[0][0]} and {alike[0][1]} open alike: if row i of every model answers "
            "prompt i, aligned=True gives truer intervals"
        )
        found.append(ScoreWarning("rows_look_aligned", message, {"pairs": alike}))
    return found


def _partition_warnings(results: Mapping[str, MauveResult], own: Mapping[str, OwnScore]) -> list[ScoreWarning]:
    """Models that the common buckets cannot tell from human text as well as buckets of their own can."""
    found = []
    for name, result in results.items():
        alone = own[name].mauve
        if result.mauve - alone > BLURRED:
            message = (
                f"{name} scores {alone:.3f} on buckets of its own, {result.mauve:.3f} on the common ones: these are "
                "too coarse to see all that sets it apart; compare fewer models at once, or take more texts"
            )
            numbers = {"model": name, "mauve": result.mauve, "mauve_own": alone}
            found.append(ScoreWarning("coarse_common_buckets", message, numbers))
    return found


def _same_openings(one: Reference, two: Reference) -> float:
    """Share of rows whose texts open with the same words; 0 where that is not known."""
    a, b = one.opening_hashes, two.opening_hashes
    return 0.0 if a is None or b is None or len(a) != len(b) else float(np.mean(a == b))
