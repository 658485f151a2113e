"""The first screen of the page: the verdict, and the numbers of one model, each beside its scale."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from mauve_metric.hosts.space.session import bars
from mauve_metric.hosts.space.view.markup import render
from mauve_metric.hosts.space.view.settings import SharedResult
from mauve_metric.report.first_screen import (
    TOGETHER,
    comparison_sentences,
    parts_of,
    support_words,
    with_interval,
)
from mauve_metric.report.wording import verdict_sentence, words
from mauve_metric.report.wording.verdict_sentence import has_layout_scores, notes_of
from mauve_metric.report.wording.words import with_reference
from mauve_metric.results.comparison import Comparison, OwnScore, ranking_score
from mauve_metric.results.result import MauveResult
from mauve_metric.results.signature import parse_signature
from mauve_metric.runtime.plain_text import digits, printable, shown_names

MODEL_LINK = "#model-"  # target of a click on the row of a model; the page listens for it
SEES = {"minilm": "what texts are about", "ngrams": "grammar, spelling and layout", "use": "what texts are about"}
Row = dict[str, object]


def first_screen_values(result: MauveResult | Comparison, picked: str = "") -> dict[str, Any]:
    """The verdict, a row for each of several models, and the numbers of one of them.

    picked: its name; "": the first of the ranking.
    """
    if not isinstance(result, Comparison):
        return {
            "answer": [verdict_sentence.headline(result)],
            "models": [],
            "of_first": "",
            **_of_model("", result, result),
        }
    picked = picked or result.ranking[0]
    lead, each = result.models[picked], words.each_result(result)
    scored = {name: of_featurizer.models[picked] for name, of_featurizer in each.items()}
    return {
        "answer": comparison_sentences(result),
        "models": model_rows(result, picked),
        "of_first": next(iter(each)),
        **_of_model(shown_names(list(result.models))[picked], lead, result.own[picked], scored),
    }


def _of_model(
    name: str, result: MauveResult, published: OwnScore | MauveResult, each: dict[str, MauveResult] | None = None
) -> dict[str, Any]:
    """The numbers of one model.

    Args:
        name: "" for a single one. published: has its MAUVE as in papers. each: its results by the featurizers' names.
    """
    ceiling, reach = published.mauve_ceiling, ""
    if ceiling is not None:
        reach = f"; two {printable(result.reference_name)} sets of this size reach {digits(ceiling)}"
    featurizer = str(result.signature_entries.get("featurize_model_name", ""))
    by = f" by {printable(featurizer)}" if len(each or result.by_featurizer) > 1 else ""
    kind = words.as_in_papers(parse_signature(published.signature))
    scales = [f"MAUVE{by}, {kind}: {digits(published.mauve)}{reach}."]
    if result.precision is not None and result.recall is not None:
        precision = with_interval(result.precision, result.precision_ci, ".2f", ".2f")
        recall = with_interval(result.recall, result.recall_ci, ".2f", ".2f")
        halves = f"; {support_words(result)}" if support_words(result) else ""
        scales.append(f"Precision{by} (quality) {precision}, recall (diversity) {recall}{halves}.")
    return {
        "whose": name,
        "verdict": verdict_sentence.headline(result) if name else "",
        "closeness": result.closeness,
        "ends": result.closeness_ci,
        "level": f"{100 * result.confidence_level:g} %",
        "bar": bars.Bar.of(name or "this model", result.closeness, result.closeness_ci, result.reference_name),
        "rows": featurizer_rows(result, each),
        "scales": scales,
        "notes": notes_of(result),
        "doubt": result.verdict == "no verdict",
    }


def model_rows(comparison: Comparison, picked: str) -> list[Row]:
    """A row for each model in the order of the ranking; a click on one picks it."""
    called = shown_names(list(comparison.models))
    return [
        {
            "link": f"{MODEL_LINK}{number}",
            "picked": name == picked,
            "model": called[name],
            "closeness": _number(result.closeness, result.closeness_ci),
            "plain": _number(ranking_score(result), ends) if has_layout_scores(comparison) else None,
            "groups": _number(result.mauve_debiased),
            "mauve": _number(comparison.own[name].mauve),
            "precision": _number(result.precision, result.precision_ci, ".2f"),
            "recall": _number(result.recall, result.recall_ci, ".2f"),
            "verdict": with_reference(result.verdict, result.reference_name),
            "reason": result.verdict_reason or "",
        }
        for number, name in enumerate(comparison.ranking)
        for result in (comparison.models[name],)
        for ends in (result.closeness_without_layout_ci or result.closeness_ci,)
    ]


def featurizer_rows(result: MauveResult, each: dict[str, MauveResult] | None = None) -> list[Row]:
    """A row for each featurizer, and one for all together; the one that decides closeness is marked.

    each: the results by the featurizers' names; None: those of the result.
    """
    each = words.each_result(result) if each is None else each
    only = str(result.signature_entries.get("featurize_model_name", ""))
    rows = [_own_row(name or only, scored) for name, scored in each.items()]
    values = [scored.closeness for scored in each.values()]
    if result.together is not None:
        joint, score = result.together, result.together.mauve_classifier
        number = _number(score, joint.mauve_classifier_ci)
        shown: Row = {"featurizer": TOGETHER, "sees": "one classifier of all features", "closeness": number}
        rows.append(shown | {"classifier": number, "groups": None, "finer": None, "caught": _caught(joint.auc)})
        values.append(score)
    lowest = min((value for value in values if value is not None), default=None)
    if len(rows) > 1 and lowest is not None:
        rows[values.index(lowest)]["decides"] = True
    return [{"decides": False, **row} for row in rows]


def _own_row(featurizer: str, result: MauveResult) -> Row:
    """The numbers by one featurizer; "": of features."""
    finer = (_number(value, ends) for part, value, ends, _ in parts_of(result) if part == "by finer groups")
    return {
        "featurizer": printable(featurizer) or "these features",
        "sees": SEES.get(featurizer, ""),
        "closeness": _number(result.closeness, result.closeness_ci),
        "groups": _number(result.mauve_debiased, result.mauve_debiased_ci),
        "finer": next(finer, None),
        "classifier": _number(result.mauve_classifier, result.mauve_classifier_ci),
        "caught": _caught(result.auc),
    }


def _caught(auc: float | None) -> str | None:
    """The AUC of a classifier as times in 100; None for none."""
    return None if auc is None else f"{round(100 * auc)} times in 100"


def _number(value: float | None, ends: tuple[float, float] | None = None, form: str = ".3f") -> tuple[str, str] | None:
    """A number and its interval as text; None if it is not known."""
    interval = "" if ends is None else f"[{digits(ends[0], form)}, {digits(ends[1], form)}]"
    return None if value is None else (digits(value, form), interval)


def result_html(result: MauveResult | Comparison, picked: str = "") -> str:
    """The first screen as HTML: the values of `first_screen_values`."""
    return _headline(**first_screen_values(result, picked))


def asks_for_alignment(results: Iterable[MauveResult]) -> bool:
    """Return whether a verdict asks if row i of all sets answers prompt i."""
    return any(result.verdict_reason == "undeclared_prompts" and result.n_p == result.n_q for result in results)


def _headline(**values: Any) -> str:
    number = "unknown" if values["closeness"] is None else digits(values["closeness"], ".3f")
    name = values["bar"].reference_name
    scale = bars.DOUBT if values["doubt"] else bars.scale(name)
    if not values["models"]:  # the first sentence of the verdict is the heading
        values["answer"] = re.split(r"(?<=\.) (?=[A-Z])", values["answer"][0], maxsplit=1)
    return render("headline", number=number, scale=scale, ends_of_line=bars.ends_of_line(name), **values)


def shared_html(shared: SharedResult) -> str:
    """The verdict, closeness and its bar of a link, which were not computed here."""
    return _headline(
        answer=[shared.answer],
        models=[],
        of_first="",
        whose="",
        verdict="",
        closeness=shared.closeness,
        ends=shared.ends,
        level="",
        bar=bars.Bar.of("this model", shared.closeness, shared.ends, shared.reference_name),
        rows=[],
        scales=[],
        notes=[f"{shared.n_q} model texts against {shared.n_p} {printable(shared.reference_name)} texts."],
        doubt=shared.verdict == "no verdict",
    )
