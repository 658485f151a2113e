"""The first screen of a result: the verdict, the main number with what it rests on, and what to do."""

from __future__ import annotations

from collections.abc import Mapping

from mauve_metric.options import HUMAN
from mauve_metric.report.document import Column, Table, plain_table
from mauve_metric.report.wording.evidence import ngram_sentence
from mauve_metric.report.wording.notes import MOST_NOTES, notes_of, said_of_models
from mauve_metric.report.wording.verdict_sentence import (
    facts_of,
    featurizers_of,
    headline,
    ranking_sentence,
    reference_text,
)
from mauve_metric.report.wording.words import as_in_papers
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.explanation import Explanation, GapBucket, NearText, ScoredText
from mauve_metric.results.result import MauveResult
from mauve_metric.results.signature import format_value
from mauve_metric.runtime.plain_text import counted, digits, excerpt, printable, shown_names

_SHORT = 90  # characters of a text
_MOST_SHOWN = 3  # things of a kind in an explanation


_COLUMNS = (
    *Column.each("s", "model", "closeness"),
    *Column.each(".3f", groups="by groups", mauve="MAUVE"),
    *Column.each(".2f", "precision", "recall"),
    Column("verdict", "verdict"),
)


PAPER_COLUMNS = (
    Column("model", "model"),
    Column("mauve", "MAUVE", ".3f"),
    Column("closeness", "closeness"),
    *Column.each(".2f", "precision", "recall"),
)


def first_screen(result: MauveResult, title: str = "", more: str = "") -> str:
    """At most 14 lines: the sets, the verdict, closeness and what it rests on, MAUVE, notes.

    Args:
        title: of the sets; empty: their sizes alone. more: the last line.
    """
    facts = facts_of(result)
    design = {
        "aligned": "same prompts row by row",
        "prompts": "shared prompts",
        "found": f"shared prompts, found for {result.partners} of {result.n_q} texts",
        "independent": "each row a draw of its own",
        "undeclared": "",
    }[result.design]
    sizes = _sizes(result)
    head = " · ".join(filter(None, (printable(title), sizes, featurizers_of(result), design)))
    caught = f"picks the model's text {facts.caught} times in 100" if facts.caught is not None else ""
    name = printable(result.reference_name)
    reach = f"{as_in_papers(result.signature)}; two {name} sets reach {digits(result.mauve_ceiling, '.3f')}"
    rows: list[tuple[str, float | None, tuple[float, float] | None, str]] = [
        (
            "  closeness",
            result.closeness,
            result.closeness_ci,
            f"1 = like other {name} texts",
        ),
        ("    by groups", result.mauve_debiased, result.mauve_debiased_ci, "of similar texts"),
        ("    classifier", result.mauve_classifier, result.mauve_classifier_ci, caught),
        ("  MAUVE", result.mauve, None, reach),
    ]
    shown = [(name, _number(value, ends), gloss) for name, value, ends, gloss in rows if value is not None]
    lines = [f"{name:<16}{number:<23} {gloss}".rstrip() for name, number, gloss in shown]
    if result.precision is not None and result.recall is not None:
        lines.append(f"  precision {digits(result.precision, '.2f')}  recall {digits(result.recall, '.2f')}")
    blocks = [[head], [headline(result, facts), *lines], [f"! {note}" for note in facts.notes], [more] if more else []]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def one_line(result: MauveResult) -> str:
    """The verdict and closeness.

    >>> from mauve_metric import compute_mauve
    >>> one_line(compute_mauve(p_features=[[0.0], [1.0]] * 9, q_features=[[0.0], [1.0]] * 9))[:37]
    'no verdict (too_few): closeness 1.000'
    """
    return f"{verdict_words(result)}: closeness {_number(result.closeness, result.closeness_ci)}"


def verdict_words(result: MauveResult) -> str:
    """The verdict, and the code of its reason in brackets."""
    verdict = result.verdict.replace(HUMAN, printable(result.reference_name))
    return verdict + (f" ({result.verdict_reason})" if result.verdict_reason else "")


def comparison_screen(comparison: Comparison, title: str = "", more: str = "") -> str:
    """At most 20 lines for three models: a row a model in the order of the ranking, what differs, notes."""
    first = next(iter(comparison.models.values()))
    called = shown_names(list(comparison.models))
    design = {"aligned": "same prompts", "prompts": "shared prompts", "found": "shared prompts, found"}
    texts = counted(first.n_p, f"{printable(first.reference_name)} text")
    sizes = f"{counted(len(comparison.models), 'model')} against {texts}"
    named = comparison.by_featurizer or {str(first.signature_entries.get("featurize_model_name", "")): comparison}
    featurizers = " + ".join(printable(name) for name in named if name)
    head = " · ".join(filter(None, (title or sizes, featurizers, design.get(comparison.design, ""))))
    rows = [
        {
            "model": called[name],
            "closeness": _number(result.closeness, result.closeness_ci, ".2f"),
            "groups": result.mauve_debiased,
            "mauve": comparison.own[name].mauve,
            "precision": result.precision,
            "recall": result.recall,
            "verdict": verdict_words(result),
        }
        for name in comparison.ranking
        for result in (comparison.models[name],)
    ]
    table = plain_table(_COLUMNS, rows)
    said = [ranking_sentence(comparison), *runs_sentences(comparison)]
    if comparison.ranked_by == "groups":
        reference = reference_text(first.reference_name)
        said.insert(0, f"All models differ strongly from {reference}: closeness cannot order them, groups do.")
    notes = said_of_models({name: notes_of(result) for name, result in comparison.models.items()})[:MOST_NOTES]
    blocks = [[head], table, said, [f"! {note}" for note in notes], [more] if more else []]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _sizes(result: MauveResult) -> str:
    """The number of texts of each side, and of those that were missing and left out."""
    dropped = result.p_dropped + result.q_dropped
    left_out = f" ({result.p_dropped} + {result.q_dropped} missing left out)" if dropped else ""
    return f"{result.n_p} + {result.n_q} texts{left_out}"


def runs_sentences(comparison: Comparison) -> list[str]:
    """A sentence for each model of which several runs were compared."""
    lines = []
    for name, summary in comparison.runs.items():
        scored = f"{printable(name)}, {len(summary.runs)} runs: "
        if summary.closeness is not None and summary.deviation is not None:
            scored += f"closeness {_number(summary.closeness, summary.ci, '.2f')} on average, "
            scored += f"deviation {digits(summary.deviation, '.3f')}; "
        mauve, deviation = digits(summary.mauve, ".3f"), digits(summary.mauve_deviation, ".3f")
        lines.append(f"{scored}MAUVE {mauve}, deviation {deviation}.")
    return lines


def explanation_screen(explanation: Explanation, title: str = "", more: str = "") -> str:
    """At most 40 lines: the verdict, what gives the model away, and the kinds of texts it misses or overdoes."""
    result = explanation.result
    sizes = _sizes(result)
    head = " · ".join(filter(None, (printable(title), sizes, featurizers_of(result))))
    blocks = [[head], [headline(result)], _giveaways(explanation)]
    for side, heading in (("missed", "Kinds of texts that the model misses:"), ("too much", "That it overdoes:")):
        kinds = [bucket for bucket in explanation.buckets if bucket.side == side and not bucket.noise][:_MOST_SHOWN]
        said = [line for bucket in kinds for line in _kind_lines(bucket, printable(result.reference_name))]
        blocks.append([heading, *said] if said else [])
    if not any(blocks[2:]):
        blocks.append(["Nothing here is more than chance would show."])
    return "\n\n".join("\n".join(block) for block in [*blocks, [more] if more else []] if block)


def _giveaways(explanation: Explanation) -> list[str]:
    """The n-grams that differ most, and two texts at each end of a classifier that tells the sets apart."""
    lines = [f"  {printable(ngram_sentence(use))}" for use in explanation.ngrams[:_MOST_SHOWN]]
    result = explanation.result
    is_told = result.auc is not None and result.auc > 0.5 and result.auc_p_value is not None
    if is_told and (result.auc_p_value or 0.0) <= 1 - result.confidence_level:
        for model, human in zip(explanation.most_model[:2], explanation.most_human[:2], strict=False):
            lines += [
                f"  {side}: {_short(near)}"
                for side, near in (("model", model), (printable(result.reference_name), human))
            ]
    return ["What gives the model away:", *lines] if lines else []


def _kind_lines(bucket: GapBucket, name: str) -> list[str]:
    """A bucket in two lines: its numbers with its words, and its most typical text of the side that has more there."""
    words_of = f": {printable(', '.join(bucket.words))}" if bucket.words else ""
    texts = bucket.p_texts if bucket.side == "missed" else bucket.q_texts
    shown = [f"    {_short(near)}" for near in texts if near.in_bucket][:1]
    return [f"  {bucket.p_count} {name} and {bucket.q_count} model texts{words_of}", *shown]


def _short(near: NearText | ScoredText) -> str:
    """The number of a text and its beginning."""
    return f"text {near.row}" if near.text is None else f"text {near.row}: {excerpt(near.text, _SHORT)}"


def paper_table(rows: Mapping[str, tuple[MauveResult, float]]) -> Table:
    """The columns of a paper: for each model its result and the published MAUVE."""
    table = [
        {
            "model": name,
            "mauve": mauve,
            "closeness": _number(result.closeness, result.closeness_ci),
            "precision": result.precision,
            "recall": result.recall,
        }
        for name, (result, mauve) in rows.items()
    ]
    return Table(PAPER_COLUMNS, table)


def paper_note(models: Mapping[str, MauveResult], signature: str) -> str:
    """The note below the table of a paper: the sets, the settings and the meaning of the columns.

    signature: of the MAUVE of the first model.
    """
    first = next(iter(models.values()))
    sizes = sorted({result.n_q for result in models.values()})
    of_models = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    scaling = format_value(first.signature_entries["mauve_scaling_factor"])
    features = f", features of {featurizers_of(first)}" if featurizers_of(first) else ""
    ceiling, name = digits(first.mauve_ceiling, ".3f"), printable(first.reference_name)
    return (
        f"{counted(first.n_p, f'{name} text')} and {of_models} of each model{features}, "
        f"{counted(first.num_buckets, 'bucket')}, "
        f"c = {scaling}. Closeness: MAUVE without sampling bias, by groups of similar texts or by a classifier, with "
        f"{100 * first.confidence_level:g} % intervals; 1 = like other {name} texts. MAUVE {as_in_papers(signature)} "
        f"(Pillutla et al., 2021): two {name} sets of this size reach {ceiling}."
    )


def caveats(models: Mapping[str, MauveResult]) -> list[str]:
    """The verdicts with their notes as sentences, each once, with the models that they are about."""
    said = {name: (headline(result).removesuffix("."), *notes_of(result)) for name, result in models.items()}
    return [f"{sentence}." for sentence in said_of_models(said)]


def _number(value: float | None, ends: tuple[float, float] | None, form: str = ".3f") -> str:
    if value is None:
        return "–"
    interval = "" if ends is None else f" [{digits(ends[0], form)}, {digits(ends[1], form)}]"
    return digits(value, ".3f") + interval
