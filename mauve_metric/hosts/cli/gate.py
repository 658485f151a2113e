"""Gates for automatic jobs: a score below a bound, and models that are worse than in an earlier run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.features.pretrained import MODEL_FOLDERS
from mauve_metric.features.text_functions import TEXT_FUNCTIONS
from mauve_metric.hosts.flags_and_labels import SHELL
from mauve_metric.inputs.json_rows import read_json
from mauve_metric.measures.p_values import holm
from mauve_metric.options import config_fields
from mauve_metric.report.document import Column, Document, Heading, Prose, Table, TableRow, row_of
from mauve_metric.report.wording.verdict_sentence import headline
from mauve_metric.results.comparison import Comparison, layout_effect_is_unknown, ranking_score
from mauve_metric.results.result import MauveResult
from mauve_metric.results.runs import mean_of_runs, runs_of_names
from mauve_metric.results.signature import VERSIONS, format_value, settings_of
from mauve_metric.runtime.checks import is_bool, shown
from mauve_metric.runtime.plain_text import digits, p_words, printable
from mauve_metric.uncertainty.forecast import detectable_difference
from mauve_metric.uncertainty.intervals import Estimate, estimate_difference

_ROUNDING = 1e-9
_MAY_DIFFER = ("n_q", "q_digest", "q_texts", "groups", *VERSIONS)  # entries of the signatures of two runs
_KINDS = ("mauve_debiased", "mauve_classifier")
_OF_ENTRIES = {"p_digest": "the hash of the human texts is", "partition": "buckets"}
_SAID = {"mauve_debiased": "by groups", "mauve_classifier": "by classifier"}

COLUMNS = (
    *Column.each("s", "model", "score"),
    *Column.each(".4f", "before", "now"),
    *Column.each("s", "difference", "p"),
    Column("shows", "shows", ".2g"),
)

Stored = Mapping[str, Any]  # what `MauveResult.to_dict` gave


class Change(NamedTuple):
    """A model's change since an earlier comparison.

    is_worse: a score by either kind of partition is significantly lower, with Holm's correction for all that are
    tested. sentence: the numbers, and the change that these sets would have shown. rows: the same for `COLUMNS`.
    doubt: that layout may be the cause, where a score without it is not known.
    """

    is_worse: bool
    sentence: str
    rows: tuple[TableRow, ...] = ()
    doubt: str = ""


def closeness_below(result: MauveResult, bound: float) -> str:
    """Sentence on a closeness below a bound; empty for one at or above it, and for none (see `without_verdict`).

    Where layout makes a difference, it is the closeness without that, if known.
    """
    score = ranking_score(result)
    if score is None or score >= bound:
        return ""
    without = "" if result.closeness_without_layout is None else " without the layout that differs"
    doubt = _layout_doubt("", vars(result)) if result.closeness_without_layout is None else ""
    return f"closeness{without} is {digits(score)}, below {bound:g}{doubt}"


def _layout_doubt(whose: str, values: Stored, other: Stored | None = None) -> str:
    """The end of a reason that layout may be the cause; empty where it makes no difference, or its effect is known.

    whose: of which result, such as "the earlier ". other: the result that it is compared with.
    """
    is_open = layout_effect_is_unknown(values) and other is not None and _has_plain(other)
    if not is_open and (values.get("verdict_reason") != "layout" or values.get("closeness_without_layout") is not None):
        return ""
    reason = values.get("normalised_missing")
    why = f" ({printable(str(reason))})" if reason else ""
    return f"; layout may be the cause: {whose}closeness without the layout that differs is not known{why}"


def without_verdict(result: MauveResult) -> str:
    """The reason for which a gate cannot decide by a result; empty for one with a verdict."""
    return SHELL.respell(headline(result)) if result.verdict == "no verdict" else ""


def stored_without_verdict(values: Stored) -> str:
    """The same of a stored result, by the code of the reason."""
    return f"no verdict ({values.get('verdict_reason')})" if values.get("verdict") == "no verdict" else ""


def read_scores(path: str | Path) -> Mapping[str, Stored]:
    """The results by model in a file that `compare --json` printed, those of several featurizers in `by_featurizer`.

    Raises:
        ValueError: the file holds no such results. OSError: it cannot be read.
    """
    content = read_json(path)
    scores = _models_of(content, path)
    each = (content.get("by_featurizer") if isinstance(content, Mapping) else None) or {}
    if not isinstance(each, Mapping):
        raise ValueError(f"{path} must be what compare --json printed: its 'by_featurizer' holds no scores")
    for label, comparison in each.items():
        for name, values in _models_of(comparison, path).items():
            if name in scores:
                scores[name].setdefault("by_featurizer", {})[label] = values
    return scores


def _models_of(content: object, path: str | Path) -> dict[str, dict[str, Any]]:
    models = content.get("models") if isinstance(content, Mapping) else None
    if not isinstance(models, Mapping) or not all(isinstance(scores, Mapping) for scores in models.values()):
        raise ValueError(f"{path} must be what compare --json printed: it has no 'models' with scores")
    return {name: dict(values) for name, values in models.items()}


def check_before(
    before: Mapping[str, Stored], models: Iterable[str], options: Mapping[str, object], human: object = None
) -> None:
    """Refuse earlier scores with which those of a run cannot be compared, as far as that is known before it.

    Args:
        before: see `read_scores`. models: names of this run. options: its options that were given.
        human: its human side; features are compared by their hash.

    Raises:
        ValueError: no model is in both; a score is none, or lacks its interval; the settings differ.
    """
    named = (*MODEL_FOLDERS, *TEXT_FUNCTIONS)  # other names may be written in several ways
    for name in _in_both(models, before):
        _estimates(name, before[name])
        earlier = settings_of(str(before[name].get("signature")))
        now: dict[str, object] = {}
        for key, option in config_fields("compare").items():
            value = options.get(key, option.default)
            of_texts = option.metadata["stage"] == "featurize"
            if key in earlier and value not in ("auto", None) and (not of_texts or {value, earlier[key]} <= {*named}):
                now[key] = value
        if options.get("aligned"):
            now["design"] = "aligned"
        if isinstance(human, FeatureSet):
            now |= {"n_p": len(human), "p_digest": human.digest}
        _check_equal(name, {key: (format_value(value), earlier.get(key)) for key, value in now.items()})


def _in_both(models: Iterable[str], before: Mapping[str, object]) -> list[str]:
    """The names that are in both runs; `ValueError` for none."""
    models = [*models]
    names = [name for name in models if name in before]
    if not names:
        raise ValueError(f"no model is in both runs: {', '.join(models)} now, {', '.join(before)} before")
    return names


def _check_equal(name: str, settings: Mapping[str, tuple[str | None, str | None]]) -> None:
    """`ValueError` for settings, now and before, that must not differ."""
    entries = [
        f"{_OF_ENTRIES.get(key, key)} {now} now and {earlier} before"
        for key, (now, earlier) in settings.items()
        if now != earlier and key not in _MAY_DIFFER
    ]
    if entries:
        raise ValueError(f"the scores of {name} cannot be compared with the earlier ones: {', '.join(entries)}")


def changes(comparison: Comparison, before: Mapping[str, Stored]) -> dict[str, Change]:
    """The change of each model that an earlier comparison has too, by the scores that closeness is the lowest of.

    Groups of similar texts do not see all that a classifier does, and the other way round, so that both are tested, of
    every featurizer. Where layout makes a difference in either run, the classifier's score without it is tested
    alone. The errors of both runs are taken as independent. They share the human texts, so that the test errs on the
    safe side: it calls fewer changes real. Of a model with several runs (see `runs_of_names`) the means over runs are
    tested, with the error between runs, and no single run.

    Args:
        comparison: of this run. before: see `read_scores`.

    Raises:
        ValueError: no model is in both; the runs differ in more than the models' texts; an earlier score has no
            interval.
    """
    level = comparison.confidence_level
    tested: dict[tuple[str, str], tuple[Estimate, Estimate, Estimate]] = {}
    names = _in_both(comparison.models, before)
    models = runs_of_names(names)
    runs = [name for of_model in models.values() for name in of_model]
    models |= {name: [name] for name in names if name not in runs}
    for model, of_model in models.items():
        for partition, pairs in _tested_pairs(comparison, of_model, before).items():
            now, then = (mean_of_runs(side, level) for side in zip(*pairs, strict=True))
            tested[model, partition] = now, then, estimate_difference(now, then, 0.0, level)
    p_values = dict(zip(tested, holm([difference.p_value for *_, difference in tested.values()]), strict=True))
    changed = {
        model: _change(model, [(key[1], *tested[key], p_values[key]) for key in tested if key[0] == model], level)
        for model in models
    }
    doubts = {
        model: [
            _layout_doubt("", latest := vars(comparison.models[name]), before[name])
            or _layout_doubt("the earlier ", before[name], latest)
            for name in of_model
        ]
        for model, of_model in models.items()
    }
    return {model: change._replace(doubt=next(filter(None, doubts[model]), "")) for model, change in changed.items()}


def _tested_pairs(
    comparison: Comparison, runs: Sequence[str], before: Mapping[str, Stored]
) -> dict[str, list[tuple[Estimate, Estimate]]]:
    """The scores of every run of a model now and before, by the partition; those that all runs have."""
    by_label: dict[str, list[tuple[str, MauveResult, Stored]]] = {}
    for name in runs:
        for label, now, earlier in _pairs(comparison, name, before[name]):
            by_label.setdefault(label, []).append((name, now, earlier))
    tested = {}
    for label, pairs in by_label.items():
        # layout is in the groups of texts, too
        both = [values for _, now, earlier in pairs for values in (vars(now), earlier)]
        without = any(map(_has_plain, both)) and not any(map(layout_effect_is_unknown, both))
        then = [_estimates(name, earlier, without) for name, _, earlier in pairs]
        for kind in _KINDS:
            is_known = all(
                kind in estimates and (without or getattr(now, f"{kind}_ci") is not None)
                for estimates, (_, now, _) in zip(then, pairs, strict=True)
            )
            if is_known and (kind == "mauve_classifier" or not without):
                said = f"{_SAID[kind]} without layout" if without else _SAID[kind]
                tested[f"{label} {said}".lstrip()] = [
                    (_estimate(name, vars(now), kind, without), estimates[kind])
                    for (name, now, _), estimates in zip(pairs, then, strict=True)
                ]
    return tested


def _change(name: str, scores: Sequence[tuple[str, Estimate, Estimate, Estimate, float]], level: float) -> Change:
    """The change of one model.

    scores: for each partition its name, the score now and before, the difference and its p-value.
    """
    if not scores:
        return Change(False, f"{name}: no change can be tested, since the score has no interval")
    said, worse, rows, least = [], False, [], {}
    for partition, now, then, difference, p_value in scores:
        value, low, high = (digits(number, "+.4f") for number in (difference.value, *difference.ci))
        numbers = f"{digits(now.value)} now, {digits(then.value)} before"
        said.append(f"{partition} {numbers}, difference {value} ({low} to {high}, {p_words(p_value)})")
        worse = worse or (difference.value < 0 and bool(p_value < 1 - level))
        least[partition] = detectable_difference(difference.stderr, level)
        p = p_words(p_value).removeprefix("p ").removeprefix("= ")
        values = name, partition, then.value, now.value, f"{value} [{low}, {high}]", p, least[partition]
        rows.append(row_of(COLUMNS, *values))
    partition = min(least, key=least.__getitem__)
    power = f"A difference of {digits(least[partition], '.2g')} {partition} would have shown in 8 of 10 cases"
    return Change(worse, f"{name}: {'; '.join(said)}. {power}", tuple(rows))


def document_of(changed: Iterable[Change], outcome: str) -> Document:
    """The changes since an earlier run as a document: a row for each score of each model, then the outcome."""
    rows = [row for change in changed for row in change.rows]
    note = "shows: the difference that these sets would have shown in 8 of 10 cases."
    table = Table(COLUMNS, rows)
    return Document("", [Heading("Since the earlier run"), table, Prose([note, outcome])], {"changes": table}, [])


def _pairs(comparison: Comparison, name: str, earlier: Stored) -> list[tuple[str, MauveResult, Stored]]:
    """The results of a model now and before, by the name of each featurizer; `ValueError` for other settings."""
    each = comparison.by_featurizer if len(comparison.by_featurizer) > 1 else {}
    stored = earlier.get("by_featurizer") or {}
    stored = stored if len(stored) > 1 else {}
    _check_equal(name, {"featurizers": (", ".join(each) or "one", ", ".join(stored) or "one")})
    results = [("", comparison.models[name], earlier)]
    if each:
        results = [(label, of_featurizer.models[name], stored[label]) for label, of_featurizer in each.items()]
    for _, now, then in results:
        settings, before = settings_of(now.signature), settings_of(str(then.get("signature")))
        _check_equal(name, {key: (settings.get(key), before.get(key)) for key in settings | before})
        is_missing = (now.mauve_classifier is None) != (then.get("mauve_classifier") is None)
        if is_missing and not without_verdict(now) and not stored_without_verdict(then):
            raise ValueError(f"the scores of {name} cannot be compared: only one of the runs has mauve_classifier")
    return results


def _has_plain(values: Stored) -> bool:
    """Return whether a result differs by layout, and its score without that is known."""
    return values.get("verdict_reason") == "layout" and values.get("normalised") is not None


def _estimates(name: str, values: Stored, without: bool = True) -> dict[str, Estimate]:
    """The scores of a stored result by either kind of partition; that of a classifier is not there for few texts.

    without: by the classifier without the layout that makes a difference, where this is known.
    """
    kinds = [kind for kind in _KINDS if kind == "mauve_debiased" or values.get(kind) is not None]
    return {kind: _estimate(name, values, kind, without) for kind in kinds}


def _estimate(name: str, values: Stored, kind: str, without: bool) -> Estimate:
    """A debiased score, see `_estimates`; `ValueError` for one without an interval, and for numbers of no score."""
    if kind == "mauve_classifier" and without and _has_plain(values):
        plain = values["normalised"]
        values = plain if isinstance(plain, Mapping) else plain._asdict()
    numbers: list[Any] = []
    ends = values.get(f"{kind}_ci")
    if isinstance(ends, (list, tuple)) and len(ends) == 2:
        numbers = [values.get(kind), values.get(f"{kind}_stderr"), *ends]
    if not numbers or None in numbers:
        raise ValueError(f"a score of {name} has no interval, so that a change cannot be tested")
    for number in numbers:
        if is_bool(number) or not isinstance(number, (int, float)) or not 0 <= number <= 1:  # nor NaN
            raise ValueError(f"a score of {name} must be made of numbers in [0, 1], got {shown(number)}")
    value, error, low, high = map(float, numbers)
    if not low - _ROUNDING <= value <= high + _ROUNDING:
        raise ValueError(f"a score of {name} must be in its interval, got {value} in [{low}, {high}]")
    return Estimate(value, error, (low, high))
