"""Numbers, the name of the reference texts and evidence of a gap as words, the same in every view."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from mauve_metric.features.text_functions import NgramUse
from mauve_metric.measures.groups import SHARED
from mauve_metric.options import HUMAN
from mauve_metric.report.document import Column, Line, Prose
from mauve_metric.results.comparison import Comparison, Subgroup
from mauve_metric.results.explanation import GapBucket
from mauve_metric.results.result import LearnedScore, MauveResult
from mauve_metric.results.signature import is_published_setting, signature_number
from mauve_metric.runtime.plain_text import counted, digits, in_brackets, printable, rounded_up, shown_names
from mauve_metric.scoring.phrases import phrase_spans
from mauve_metric.uncertainty.score_warnings import ScoreWarning

_QUOTED_OR_HUMAN = re.compile(r"“[^”]*”|(?<![\w./-])[Hh]uman(?![\w/=-]|\.\w)")


def reference_text(name: str) -> str:
    """The reference in a sentence.

    >>> reference_text("human"), reference_text("release 1.2")
    ('human text', 'release 1.2')
    """
    return f"{HUMAN} text" if name == HUMAN else printable(name)


def with_reference(text: str, name: str) -> str:
    """A sentence or label that calls the reference texts by their name; quotations, flags and files stay.

    >>> with_reference("two human sets, “human” in human.jsonl", "release 1.2")
    'two release 1.2 sets, “human” in human.jsonl'
    """
    if name == HUMAN:
        return text
    shown = printable(name)
    return _QUOTED_OR_HUMAN.sub(lambda match: match[0] if match[0].startswith("“") else shown, text)


def columns_with_reference(columns: Iterable[Column], name: str) -> tuple[Column, ...]:
    """Columns whose titles call the reference texts by their name."""
    return tuple(column._replace(title=with_reference(column.title, name)) for column in columns)


ResultT = TypeVar("ResultT", "MauveResult", "Comparison")

RUNS_DIFFERENCES = "Differences of means over runs"
RECALL_DIFFERENCES = "Differences of recall"
LEARNED_DIFFERENCES = "Differences by classifier"
TOGETHER_DIFFERENCES = "Differences by one classifier of the features of all featurizers"


def with_labels(comparison: Comparison, form: Callable[[str], str] = printable) -> Comparison:
    """Replace the models' names in a comparison by their displayed forms."""
    called = shown_names(list(comparison.models), form)
    if all(name == label for name, label in called.items()):
        return comparison
    changed: dict[str, Any] = {
        "subgroups": tuple(subgroup._replace(model=called[subgroup.model]) for subgroup in comparison.subgroups)
    }
    for key in ("models", "own", "explanations"):
        changed[key] = {called[name]: value for name, value in getattr(comparison, key).items()}
    for key in ("by_subgroup", "by_featurizer"):
        changed[key] = {label: with_labels(part, form) for label, part in getattr(comparison, key).items()}
    for key in ("", "learned_", "together_"):
        changed[f"{key}ranking"] = tuple(called[name] for name in getattr(comparison, f"{key}ranking"))
        pairs = getattr(comparison, f"{key}differences")
        changed[f"{key}differences"] = tuple(replace(pair, a=called[pair.a], b=called[pair.b]) for pair in pairs)
    models = shown_names([*comparison.runs], form)
    changed["runs"] = {
        models[model]: summary._replace(runs=tuple(called[name] for name in summary.runs))
        for model, summary in comparison.runs.items()
    }
    changed["runs_ranking"] = tuple(models[model] for model in comparison.runs_ranking)
    changed["runs_differences"] = tuple(
        replace(pair, a=models[pair.a], b=models[pair.b]) for pair in comparison.runs_differences
    )
    return replace(comparison, **changed)


def each_featurizer(comparison: Comparison, form: Callable[[str], str] = printable) -> dict[str, Comparison]:
    """The comparison of each featurizer by its displayed name; key "" when there is only one featurizer."""
    return {name: with_labels(scored, form) for name, scored in each_result(comparison, form).items()}


def each_result(result: ResultT, form: Callable[[str], str] = printable) -> dict[str, ResultT]:
    """The result of each featurizer by its displayed name; key "" for a single one."""
    if len(result.by_featurizer) < 2:
        return {"": result}
    called = shown_names(list(result.by_featurizer), form)
    return {called[name]: scored for name, scored in result.by_featurizer.items()}


def forecast_sentence(comparison: Comparison) -> str:
    """Sentences on the difference of the two best that these sets could show; empty without two sure ones."""
    smallest = comparison.smallest_difference
    if smallest is None or any(result.verdict == "no verdict" for result in comparison.models.values()):
        return ""
    comparison = with_labels(comparison)
    pair, needed = comparison.differences[0], comparison.texts_needed
    n = min(min(result.n_p, result.n_q) for result in comparison.models.values())
    least = digits(smallest, ".2g")
    said = f"Sets of {n} texts would show a difference of {least} between {pair.a} and {pair.b} in 8 of 10 cases."
    if pair.real or needed is None or needed <= n:  # nearly enough: a number would contradict the test
        return said
    said += f" For the one seen, {digits(pair.difference, '.3f')}, it takes about {rounded_up(needed)} texts a set"
    shares = [result.q_prompts / result.n_q for result in comparison.models.values() if result.q_prompts is not None]
    if comparison.design == "prompts" and shares and min(shares) < 1:
        said += f", of {rounded_up(math.ceil(needed * min(shares)))} prompts"
    return f"{said}."


def learned_sentence(result: MauveResult) -> str:
    """The score by classifier without layout, or why it is not known, and that of all featurizers' features."""
    said = []
    if result.normalised is not None:
        said.append(f"By classifier, without the layout that differs: {_score_words(result.normalised)}.")
    elif result.normalised_missing:
        said.append(f"The score without layout is not known: {result.normalised_missing}.")
    if result.together is not None:
        said.append(f"By one classifier of the features of all featurizers: {_score_words(result.together)}.")
    return " ".join(said)


def _score_words(learned: LearnedScore) -> str:
    score = f"{digits(learned.mauve_classifier, '.3f')}{in_brackets(learned.mauve_classifier_ci)}"
    return f"{score}, AUC {digits(learned.auc, '.3f')}"


def permutations(result: MauveResult) -> int:
    """Number of permutations in the test of a result."""
    return int(signature_number(result.signature_entries, "permutations"))


def facts(result: MauveResult) -> list[tuple[str, str, str]]:
    """Facts behind a result's scores: the name of each, its value as text, its meaning."""
    ends = f"{digits(result.mauve_floor)} … {digits(result.mauve_ceiling)}"
    lines = [("floor … ceiling", ends, "MAUVE of sets with nothing in common … of two samples of one distribution")]
    if result.mauve_std is not None:
        value = f"{digits(result.mauve_mean)} ± {digits(result.mauve_std)}"
        meaning = f"mean and standard deviation of {len(result.mauve_runs)} clusterings"
        lines.append(("MAUVE over seeds", value, meaning))
    if result.p_value is not None:
        splits = permutations(result) + 1
        meaning = f"share of {splits} splits of all texts, this one and random ones, that differ as much"
        lines.append(("p-value", digits(result.p_value), meaning))
    lengths, reference = "", printable(result.reference_name)
    if result.p_median_length is not None and result.q_median_length is not None:
        lengths = f"median length {result.p_median_length:.0f} and {result.q_median_length:.0f} tokens"
    lines.append(("texts", f"{result.n_p} {reference}, {result.n_q} model", lengths))
    if result.design in SHARED and result.p_prompts is not None:
        rows = f"row by row the same {counted(result.p_prompts, 'prompt')}"
        prompts = f"{counted(result.p_prompts, 'prompt')} of {reference} texts, {result.q_prompts} of the model's"
        meaning = "texts share prompts: such a score does not compare with one of independent texts"
        lines.append(("design", rows if result.design == "aligned" else prompts, meaning))
    lines.append(("buckets", str(result.num_buckets), "kinds of texts that are told apart"))
    if result.mauve_debiased_ci is not None:
        lines.append(("intervals", f"{100 * result.confidence_level:g} % {result.ci_scope}", ""))
    return lines


def as_in_papers(entries: Mapping[str, object]) -> str:
    """The kind of number that `mauve` is by the entries of a signature: on buckets as in papers, by any featurizer.

    >>> sizes = {"n_p": 500, "n_q": 500}
    >>> as_in_papers({**sizes, "num_buckets": 50}), as_in_papers({**sizes, "num_buckets": 2})
    ('computed as in papers', 'not computed as in papers')
    """
    return "computed as in papers" if is_published_setting(entries) else "not computed as in papers"


def many_warnings(number: int, more: bool = False) -> str:
    """Heading above warnings, with their number.

    >>> many_warnings(1), many_warnings(3, more=True)
    ('1 thing to know before you believe it', '3 more things to know before you believe it')
    """
    return f"{counted(number, 'more thing' if more else 'thing')} to know before you believe it"


def notes(comparison: Comparison) -> list[str]:
    """Explanations of the columns of the tables."""
    order = {"closeness": "closeness", "groups": "the score by groups", "precision": "precision"}[comparison.ranked_by]
    lines = [
        "closeness, low, high: the lowest of by groups, by finer groups and by classifier, and its interval. "
        f"Ranked by {order}.",
        "by groups, by classifier: MAUVE without sampling bias on these buckets, where two human sets reach 1.",
        "MAUVE: the published number, on buckets of each model's own. shared MAUVE: on the buckets that all share.",
    ]
    tested = [result for result in comparison.models.values() if result.p_value is not None]
    if tested:
        number = permutations(tested[0])
        lines.append(f"p: of {number} permutations, that a model's texts and the human ones have one distribution.")
    if len(comparison.by_featurizer) > 1:
        first = next(iter(each_featurizer(comparison)))
        lines.append(
            "featurizer: the rows of all have the lowest closeness of the featurizers and of all joined, and decide; "
            "each ranks the models by itself and corrects for its own pairs. "
            f"Curves and explanations are those of the first, {first}."
        )
    return [with_reference(line, comparison.reference_name) for line in lines]


_SUBGROUP_NOTE = (
    "recall, coverage: shares of a subgroup's human texts that are like some text of the model. "
    "missed: a lower coverage than all other human texts have, with all subgroups taken together. "
    "The other scores compare the texts of the subgroup alone."
)


def subgroup_note(comparison: Comparison) -> str:
    """Explanations of the columns of subgroups."""
    return with_reference(_SUBGROUP_NOTE, comparison.reference_name)


def bucket_facts(bucket: GapBucket, reference_name: str) -> list[tuple[str, str]]:
    """The facts below the title of a bucket, with the name of the reference texts."""
    return [(with_reference(fact, reference_name), value) for fact, value in bucket.facts]


def missed_sentence(subgroups: Sequence[Subgroup]) -> str:
    """The subgroups that each model misses, the one of the lowest coverage first; empty where none is missed."""
    missed_by_model: dict[str, list[str]] = {subgroup.model: [] for subgroup in subgroups}
    for subgroup in sorted(subgroups, key=lambda subgroup: subgroup.coverage or 0):
        if subgroup.missed:
            coverage = f"{digits(subgroup.coverage or 0)}, of the others {digits(subgroup.coverage_of_others or 0)}"
            missed_by_model[subgroup.model].append(f"{printable(subgroup.label)} (coverage {coverage})")
    return " ".join(f"{model} misses {', '.join(missed)}." for model, missed in missed_by_model.items() if missed)


DIFFERENCE_NOTE = "p: of each pair alone. real: significant with all pairs taken together, which asks for more."


def collected_warnings(comparison: Comparison) -> list[tuple[str, ScoreWarning]]:
    """Each warning once, with the models it is about: "all models", names, or "" for the comparison's own.

    A warning that only one of several featurizers has begins with its name.
    """
    first = _warnings_of(with_labels(comparison))
    each = {name: _warnings_of(single) for name, single in each_featurizer(comparison).items()}
    return first + own_warnings(first, each)


def result_warnings(result: MauveResult) -> list[tuple[str, ScoreWarning]]:
    """A result's warnings, then what only some of its featurizers warn of, with their names."""
    first = [("", _named(warning, result)) for warning in result.warnings]
    each = each_result(result).items()
    others = {name: [("", _named(warning, result)) for warning in other.warnings] for name, other in each}
    return first + own_warnings(first, others)


def _named(warning: ScoreWarning, result: MauveResult | Comparison) -> ScoreWarning:
    """The warning with the name of the reference texts."""
    return warning._replace(message=with_reference(warning.message, result.reference_name))


def own_warnings(
    first: Sequence[tuple[str, ScoreWarning]], others: Mapping[str, Sequence[tuple[str, ScoreWarning]]]
) -> list[tuple[str, ScoreWarning]]:
    """The warnings of featurizers that are not among the first ones, with the featurizer's name."""
    messages = {(warning.code, warning.message) for _, warning in first}
    return [
        (f"{name}, {who}" if who else name, warning)
        for name, warnings in others.items()
        for who, warning in warnings
        if (warning.code, warning.message) not in messages
    ]


def _warnings_of(comparison: Comparison) -> list[tuple[str, ScoreWarning]]:
    """The warnings of one featurizer."""
    alike: dict[tuple[str, str], list[tuple[str, ScoreWarning]]] = {}
    for name, result in comparison.models.items():
        for warning in result.warnings:
            alike.setdefault((warning.code, warning.message), []).append((name, warning))
    warnings = [("", warning) for warning in comparison.warnings]
    for group in alike.values():
        everyone = len(group) == len(comparison.models) > 1
        warnings.append(("all models" if everyone else ", ".join(name for name, _ in group), group[0][1]))
    shown = [(who, warning._replace(message=printable(warning.message))) for who, warning in warnings]
    return [(who, _named(warning, comparison)) for who, warning in shown]


def warnings_prose(warnings: Sequence[tuple[str, ScoreWarning]]) -> Prose:
    """Warnings, each with the models it is about."""
    texts = [f"! {f'{who}: ' if who else ''}{warning.message}  [{warning.code}]" for who, warning in warnings]
    return Prose([Line(text, "  ", "    ") for text in texts], paragraphs=True, advice=True)


READ = 20_000  # characters of a text that are searched for phrases
BEFORE = 100  # characters shown before the first phrase if that is far from the beginning
LEGEND = (
    "Underlined: words that tell the human texts here from the model's, and dashed, those that tell the model's from "
    "the human ones or that it repeats."
)
STABILITY_NOTE = (
    "Under another seed: how much of a bucket's texts another clustering keeps together (Jaccard index), and the rank "
    "of that bucket there."
)
EXTREMES_NOTE = (
    "Texts at the two ends of the classifier behind the learned buckets, which was not fitted to them: the human texts "
    "that it finds most human, and the model's that it finds most like the model's."
)
NGRAMS_NOTE = (
    "What the two sets use differently (⏎ is a line break, ␣ a blank, [long word] any word of more than three letters):"
)


class Piece(NamedTuple):
    """A part of a text; marked: it is a telling phrase."""

    text: str
    marked: bool


def marked(text: str, phrases: Sequence[str], most: int) -> list[Piece]:
    """Divide a text into pieces, from its beginning or around the first phrase; most: characters shown.

    >>> [tuple(piece) for piece in marked("Not so: he said so.", ["he said"], 100)]
    [('Not so: ', False), ('he said', True), (' so.', False)]
    """
    spans = phrase_spans(text[:READ], phrases)
    start = 0
    if spans and spans[0][1] > most:
        start = text.rfind(" ", 0, max(spans[0][0] - BEFORE, 0)) + 1
    end = min(start + most, len(text))
    pieces, position = ([Piece("… ", False)] if start else []), start
    for first, last in spans:
        if last <= end:
            pieces += [Piece(text[position:first], False), Piece(text[first:last], True)]
            position = last
    pieces.append(Piece(text[position:end] + ("…" if end < len(text) else ""), False))
    return [piece for piece in pieces if piece.text]


def ngram_sentence(use: NgramUse, reference_name: str = HUMAN) -> str:
    """Sentence on the use of an n-gram by either side, with the part of the format that it is.

    >>> from mauve_metric.features.text_functions import NgramUse
    >>> ngram_sentence(NgramUse("⏎⏎", "letters", 0.5, 4.5, 30.0, "line breaks"))
    'the model writes “⏎⏎” 9.0 times as often (4.5 against 0.5 of 1,000 pairs of characters); format: line breaks'
    """
    more, less = max(use.p_per_1000, use.q_per_1000), min(use.p_per_1000, use.q_per_1000)
    people = ("people", "write") if reference_name == HUMAN else (printable(reference_name), "writes")
    who, writes = ("the model", "writes") if use.q_per_1000 >= use.p_per_1000 else people
    pairs = "characters" if use.kind == "letters" else "words and marks"
    if less == 0:
        said = f"only {who} {writes} “{use.ngram}” ({_rate(more)} of 1,000 pairs of {pairs})"
    else:
        times = f"{_rate(more / less)} times as often"
        rates = f"({_rate(more)} against {_rate(less)} of 1,000 pairs of {pairs})"
        said = f"{who} {writes} “{use.ngram}” {times} {rates}"
    return f"{said}; format: {use.format}" if use.format else said


def _rate(value: float) -> str:
    return f"{value:.0f}" if value >= 20 else f"{value:.1f}" if value >= 0.1 else f"{value:.2g}"
