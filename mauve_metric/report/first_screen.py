"""The first screen of a result: the verdict, the main number with what it rests on, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mauve_metric.report.document import Column, Table, plain_table
from mauve_metric.report.wording.evidence import ngram_sentence
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.explanation import Explanation, GapBucket, NearText, ScoredText
from mauve_metric.results.result import MauveResult, VerdictWord
from mauve_metric.runtime.checks import listed
from mauve_metric.runtime.plain_text import digits, excerpt, printable, rounded_up, shown_names
from mauve_metric.scoring.verdict import SMALL
from mauve_metric.uncertainty.blind_spots import seen_by
from mauve_metric.uncertainty.intervals import local_form_inverse
from mauve_metric.uncertainty.score_warnings import ScoreWarning

MOST_NOTES = 3
_SHORT = 90  # characters of a text
_MOST_SHOWN = 3  # things of a kind in an explanation
DIFFERS = {
    "groups": "other kinds of texts, or other shares of them",
    "detail": "the same topics, but recognisable",
    "both": "in its topics and in detail",
}
LEADS: dict[VerdictWord, str] = {
    "different": "DIFFERENT from human text",
    "like human": "LIKE HUMAN TEXT",
    "undecided": "UNDECIDED: {n} texts a set are too few",
    "no verdict": "NO VERDICT",
}
NO_VERDICT = {  # reason → what is wrong, and what to do
    "too_few": "{n} texts a set are too few. Give 20 at least, better 500.",
    "constant_features": "all texts have the same features. Check the files and the featurizer.",
    "nearly_constant": "the features differ by rounding only. Try another featurizer.",
    "rows_not_aligned": "the rows are not aligned. Give both files in one order, or leave --aligned out.",
    "echoed_prompts": "the texts of one set begin with their prompt. Add --strip prompts.",
    "prompts_as_answers": "many texts are in both sets. Give each file once; if these are the prompts, name the "
    "field of the answers with --text-field.",
    "unseen_characters": "the featurizer cannot read these texts. Add --featurizer ngrams.",
    "undeclared_prompts": "both files continue the same prompts. Add --aligned if row 1 answers row 1, "
    "or --prompt-field NAME.",
    "shared_texts": "texts of the model are copies of human ones. Take them out: mauve-metric deduplicate.",
    "short_texts": "the human texts are a few words long. Use accuracy for short answers.",
    "no_interval": "there are too few texts or prompts for an error bar. Give more of them.",
}
# Notes by the code of a warning, those that can change the verdict most first; "" shows the warning's own words.
NOTES = {
    "duplicates_between": "{percent} of the model's texts are human texts too: mauve-metric deduplicate takes them out",
    "near_duplicates_between": "{percent} of the model's texts nearly repeat human ones: mauve-metric deduplicate",
    "copied_passages": "{percent} of the model's words are copied from human texts: see mauve-metric memorised",
    "shared_prompts": "both files continue the same prompts: add --aligned, or --prompt-field NAME",
    "repeated_prompts": "several texts answer one prompt: add --prompt-field NAME",
    "wrapping_in_one_set": "only one set has such layout: add --strip {kind}",
    "format_differs": "",
    "at_floor": "the sets have next to nothing in common: check both files",
    "some_unseen_characters": "the featurizer cannot read {percent} of the {set} characters: add --featurizer ngrams",
    "uneven_answers": "answers to prompts of one set alone lower MAUVE, precision and recall, not closeness",
    "length_mismatch": "the texts differ in length, {p_median_length:.0f} and {q_median_length:.0f} tokens",
    "unequal_sizes": "the sets differ in size: draw as many texts from the larger one",
    "num_buckets_large": "{num_buckets} buckets are too many for so few texts: leave --num-buckets out",
    "num_buckets_small": "{num_buckets} buckets are few and hide differences: leave --num-buckets out",
    "truncated_texts": "{percent} of the {set} texts were cut to the featurizer's length",
    "duplicates_within": "{percent} of the {set} texts repeat another one: error bars are too short",
    "above_ceiling": "the sets are more alike than most: by chance, or they share texts",
    "garbled_texts": "{more} texts were decoded wrongly (such as â€™ for ’): save them anew, or mend them by ftfy",
    "few_texts": "{n} texts a set are few: 500 or more for a paper",
    "few_prompts": "{prompts} prompts are few: error bars are rough",
    "not_literature_featurizer": "{featurizer} does not see {unseen}: add --featurizer ngrams",
}


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


class Facts(NamedTuple):
    """The facts that every view shows.

    differs: "groups" of texts, "detail" or "both", by what shows the difference; None without one. seen_by: of several
    featurizers those that show it. caught: the AUC of the sharpest classifier, as times in 100. smallest: the distance
    from 1 that these sets would show in 8 of 10 cases.
    needed: texts a set that would decide. notes: at most three, by how much they can change the verdict.
    """

    differs: str | None
    seen_by: tuple[str, ...]
    caught: int | None
    smallest: float | None
    needed: int | None
    notes: tuple[str, ...]


def facts_of(result: MauveResult) -> Facts:
    """Collect the facts of a result."""
    shown = [name.partition(" by ") for name in result.shown_by]
    kinds = {kind for kind, _, _ in shown}
    seen_by = tuple(dict.fromkeys(featurizer for _, _, featurizer in shown if featurizer))
    differs = None
    if result.verdict == "different":
        differs = "both" if len(kinds) > 1 else "detail" if kinds == {"classifier"} else "groups"
    each = [one.auc for one in (result, *result.by_featurizer.values())]
    aucs = [auc for auc in (*each, result.together and result.together.auc) if auc is not None]
    smallest, needed = result.smallest_difference, None
    if smallest is not None and result.verdict == "undecided":
        growth = local_form_inverse(1 - min(smallest, 0.99)) / local_form_inverse(1 - SMALL)
        needed = max(round(min(result.n_p, result.n_q) * growth), min(result.n_p, result.n_q) + 1)
    return Facts(differs, seen_by, round(100 * max(aucs)) if aucs else None, smallest, needed, notes_of(result))


def notes_of(result: MauveResult) -> tuple[str, ...]:
    """The most important notes, without the one that is the reason of the verdict."""
    warnings = {warning.code: warning for warning in reversed(result.warnings)}
    found = [
        _note(warnings[code], text, result)
        for code, text in NOTES.items()
        if code in warnings and not (code in ("shared_prompts", "repeated_prompts") and result.design != "independent")
    ]
    told = result.verdict == "no verdict"
    return tuple([note for note in found if note and not (told and "--aligned" in note)][:MOST_NOTES])


def _note(warning: ScoreWarning, text: str, result: MauveResult) -> str:
    numbers = {"n": min(result.n_p, result.n_q), **warning.numbers}
    if "share" in numbers:
        numbers["percent"] = f"{100 * numbers['share']:.1f} %"
    if warning.code == "not_literature_featurizer":
        unseen = seen_by("ngrams", numbers.get("unseen", ()))
        if len(result.by_featurizer) > 1 or not unseen:
            return ""
        name, more = str(numbers["featurizer"]).split("/")[-1], len(unseen) - 1
        others = f" and {more} other kind{'s' * (more > 1)} of errors" if more else ""
        return text.format(featurizer=name, unseen=unseen[0] + others)
    return text.format(**numbers) if text else warning.message


def headline(result: MauveResult, facts: Facts | None = None) -> str:
    """The verdict in one or two sentences."""
    size, seen = min(result.n_p, result.n_q), featurizers_of(result)
    return verdict_sentence(result.verdict, result.verdict_reason, size, seen, facts or facts_of(result))


def verdict_sentence(verdict: VerdictWord, reason: str | None, n: int, seen: str, facts: Facts) -> str:
    """The verdict in words; n: texts of the smaller set. seen: names of the featurizers."""
    lead = LEADS[verdict].format(n=n)
    if verdict == "different":
        how = ", in part by its layout" if reason == "layout" else f": {DIFFERS[facts.differs or 'detail']}"
        shown = f" Shown by {listed([*shown_names([*facts.seen_by]).values()])}." if facts.seen_by else ""
        return f"{lead}{how}.{shown}"
    if verdict == "like human":
        said = f"{lead} as far as {seen} sees." if seen else f"{lead}."
        if facts.smallest is not None:
            said += f" A difference of {digits(facts.smallest, '.2g')} or more would have shown in 8 of 10 cases."
        return said
    if verdict == "undecided":
        enough = f"; about {rounded_up(facts.needed)} a set would decide" if facts.needed else ""
        return f"{lead}{enough}."
    return f"{lead}: {NO_VERDICT[reason or 'no_interval'].format(n=n)}"


def featurizers_of(result: MauveResult) -> str:
    """The names of a result's featurizers; empty for features."""
    if len(result.by_featurizer) > 1:
        return " + ".join(shown_names([*result.by_featurizer]).values())
    return printable(str(result.signature_entries.get("featurize_model_name", "")))


def first_screen(result: MauveResult, title: str = "", more: str = "") -> str:
    """At most 14 lines: the sets, the verdict, closeness and what it rests on, MAUVE, notes.

    Args:
        title: of the sets; empty: their sizes alone. more: the last line.
    """
    facts = facts_of(result)
    design = {
        "aligned": "same prompts row by row",
        "prompts": "shared prompts",
        "found": f"shared prompts, found for {result.partners} of {result.n_q} texts"
        if result.partners
        else "several answers to a prompt, found",
        "independent": "",
    }[result.design]
    sizes = f"{result.n_p} + {result.n_q} texts"
    head = " · ".join(filter(None, (printable(title), sizes, featurizers_of(result), design)))
    caught = f"picks the model's text {facts.caught} times in 100" if facts.caught is not None else ""
    rows: list[tuple[str, float | None, tuple[float, float] | None, str]] = [
        ("  closeness", result.closeness, result.closeness_ci, "1 = like other human texts"),
        ("    by groups", result.mauve_debiased, result.mauve_ci, "of similar texts"),
        ("    classifier", result.mauve_classifier, result.mauve_classifier_ci, caught),
        ("  MAUVE", result.mauve, None, f"as in papers; two human sets reach {digits(result.mauve_ceiling, '.3f')}"),
    ]
    known = [(name, _number(value, ends), gloss) for name, value, ends, gloss in rows if value is not None]
    lines = [f"{name:<16}{number:<23} {gloss}".rstrip() for name, number, gloss in known]
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
    return result.verdict + (f" ({result.verdict_reason})" if result.verdict_reason else "")


def comparison_screen(comparison: Comparison, title: str = "", more: str = "") -> str:
    """At most 20 lines for three models: a row a model in the order of the ranking, what differs, notes."""
    first = next(iter(comparison.models.values()))
    called = shown_names(list(comparison.models))
    design = {"aligned": "same prompts", "prompts": "shared prompts", "found": "shared prompts, found"}
    number = len(comparison.models)
    sizes = f"{number} model{'' if number == 1 else 's'} against {first.n_p} human texts"
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
    said = [ranking_sentence(comparison)]
    if comparison.ranked_by == "groups":
        said.insert(0, "All models differ strongly from human text: closeness cannot order them, groups do.")
    notes = dict.fromkeys(note for result in comparison.models.values() for note in notes_of(result))
    blocks = [[head], table, said, [f"! {note}" for note in [*notes][:MOST_NOTES]], [more] if more else []]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def ranking_sentence(comparison: Comparison) -> str:
    """Name the models that differ; call none closest while there is a doubt about any of them."""
    if len(comparison.ranking) == 1:
        return headline(comparison.models[comparison.ranking[0]])
    called = shown_names(list(comparison.models))
    doubtful = [called[name] for name, result in comparison.models.items() if result.verdict == "no verdict"]
    if doubtful:
        return f"NO RANKING: there is no verdict on {listed(doubtful)}."
    best = comparison.ranking[0]
    alike = [called[pair.b] for pair in comparison.differences if pair.a == best and not pair.real]
    real = sum(pair.real for pair in comparison.differences)
    if not real:
        return "These texts do not tell the models apart."
    if alike:
        return f"{listed([called[best], *alike])} come first, and cannot be told apart."
    return f"{called[best]} is closest to human text."


def explanation_screen(explanation: Explanation, title: str = "", more: str = "") -> str:
    """At most 40 lines: the verdict, what gives the model away, and the kinds of texts it misses or overdoes."""
    result = explanation.result
    sizes = f"{result.n_p} + {result.n_q} texts"
    head = " · ".join(filter(None, (printable(title), sizes, featurizers_of(result))))
    blocks = [[head], [headline(result)], _giveaways(explanation)]
    for side, heading in (("missed", "Kinds of texts that the model misses:"), ("too much", "That it overdoes:")):
        kinds = [bucket for bucket in explanation.buckets if bucket.side == side and not bucket.noise][:_MOST_SHOWN]
        blocks.append([heading, *(line for bucket in kinds for line in _kind_lines(bucket))] if kinds else [])
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
            lines += [f"  {side}: {_short(near)}" for side, near in (("model", model), ("human", human))]
    return ["What gives the model away:", *lines] if lines else []


def _kind_lines(bucket: GapBucket) -> list[str]:
    """A bucket in two lines: its numbers with its words, and its most typical text of the side that has more there."""
    words_of = f": {printable(', '.join(bucket.words))}" if bucket.words else ""
    texts = bucket.p_texts if bucket.side == "missed" else bucket.q_texts
    shown = [f"    {_short(near)}" for near in texts if near.in_bucket][:1]
    return [f"  {bucket.p_count} human and {bucket.q_count} model texts{words_of}", *shown]


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


def caveats(models: Mapping[str, MauveResult]) -> list[str]:
    """The verdicts with their notes as sentences, each once, with the models that they are about."""
    found: dict[str, list[str]] = {}
    for name, result in models.items():
        for text in (headline(result), *notes_of(result)):
            found.setdefault(text if text.endswith(".") else f"{text}.", []).append(name)
    everyone = len(models)
    return [text if len(names) == everyone else f"{listed(names)}: {text}" for text, names in found.items()]


def _number(value: float | None, ends: tuple[float, float] | None, form: str = ".3f") -> str:
    if value is None:
        return "–"
    interval = "" if ends is None else f" [{digits(ends[0], form)}, {digits(ends[1], form)}]"
    return digits(value, ".3f") + interval
