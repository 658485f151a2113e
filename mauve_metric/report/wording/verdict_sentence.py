"""The verdict in one or two sentences with the notes below it, the ranking in one, and the facts that they rest on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mauve_metric.features.pretrained import advice_for, reader_of
from mauve_metric.inputs.fingerprints import TRAITS
from mauve_metric.options import HUMAN
from mauve_metric.report.wording.words import reference_text, with_reference
from mauve_metric.results.comparison import Comparison, Difference
from mauve_metric.results.result import LearnedScore, MauveResult, VerdictWord
from mauve_metric.runtime.checks import listed
from mauve_metric.runtime.plain_text import counted, digits, in_brackets, p_words, printable, rounded_up, shown_names
from mauve_metric.scoring.verdict import EQUIVALENT
from mauve_metric.uncertainty.blind_spots import seen_by
from mauve_metric.uncertainty.format_check import SIGHTS, with_more
from mauve_metric.uncertainty.score_warnings import ScoreWarning, check_of_lengths

MOST_NOTES = 3
_WRAPPING_SHARE = 0.1  # of a set, that begin alike: fewer are most often natural, and their note is the last
OTHER_LANGUAGE = {"unseen_characters", "language_not_read"}  # whose notes name the featurizer to take
# Notes by the code of a warning, those that can change the verdict most first; "" shows the warning's own words. {set}
# is the one that has more of it, {count} the number of such texts, {of} the set's number and name.
NOTES = {
    "unseen_characters": "take {cure} for these texts",
    "duplicates_between": "{percent} of the model's texts are human texts too: mauve-metric deduplicate takes them out",
    "near_duplicates_between": "{percent} of the model's texts nearly repeat human ones: mauve-metric deduplicate",
    "copied_passages": "{percent} of the model's words are copied from human texts: see mauve-metric memorised",
    "joined_with_itself": "each text of the {set} file is there {times} times: was it joined with itself?",
    "repeated_texts": "{percent} of the model's texts come in about {in_groups} of near-alike texts. Several answers "
    "to a prompt? Add p_groups and q_groups{as_prompts}",
    "shared_prompts": "both files continue the same prompts: add aligned=True, or p_groups and q_groups",
    "repeated_prompts": "several texts answer one prompt: add p_groups and q_groups",
    "missing_values": "texts such as null or None in {count} of {of}: take these rows out if they are missing values",
    "wrapping_in_one_set": "{sight} in {count} of {of}: add strip='{kind}'",
    "garbled_texts": "wrongly decoded characters such as â€™ for ’ in {count} of {of}: save them as UTF-8, or use ftfy",
    "opening_in_one_set": "“{opening}” begins {count} of {of}: is it part of the text?",
    "rounded_features": "only the {set} features are rounded ({format}), which a classifier may recognise: round both",
    "scaled_features": "",
    "format_differs": "",
    "length_mismatch": "the texts differ in length: model {q_median_length:.0f}, others {p_median_length:.0f} "
    "{units}{check}",
    "at_floor": "the sets have next to nothing in common: check both files",
    "language_not_read": "most {set} texts are in {language}, which the featurizer is not made for: take {cure}",
    "some_unseen_characters": "the featurizer cannot read {percent} of the {set} characters: add {more}",
    "uneven_answers": "answers to prompts of one set alone lower MAUVE, precision and recall, not closeness",
    "looping_texts": "loops in {count} of {of}",
    "unequal_sizes": "the sets differ in size: draw as many texts from the larger one",
    "num_buckets_large": "{num_buckets} buckets are too many for so few texts: leave num_buckets out",
    "num_buckets_small": "{num_buckets} buckets are few and hide differences: leave num_buckets out",
    "truncated_texts": "{percent} of the {set} texts were cut to the featurizer's length",
    "duplicates_within": "{percent} of the {set} texts repeat another one",
    "above_ceiling": "the sets are more alike than most: by chance, or they share texts",
    "few_texts": "a set has only {texts}: 500 or more for a paper",
    "few_prompts": "only {few_prompts}: error bars are rough",
    "not_literature_featurizer": "not checked: {unseen}, which {featurizer} does not see ({cure})",
}


def notes_of(result: MauveResult) -> tuple[str, ...]:
    """The most important notes, without the one that is the reason of the verdict."""
    strongest = sorted(result.warnings, key=lambda warning: -warning.numbers.get("share", 1.0))
    warnings = {warning.code: warning for warning in reversed(strongest)}
    opening = warnings.get("opening_in_one_set")
    last = "" if opening is None or opening.numbers.get("share", 1.0) >= _WRAPPING_SHARE else opening.code
    told_already = {"shared_prompts", "repeated_prompts", "repeated_texts"} if result.design != "undeclared" else set()
    told_already |= {"few_texts", "at_floor"} if result.verdict_reason == "too_few" else set()
    told_already |= {"few_texts"} if result.texts_needed is not None else set()  # the verdict says how many
    if result.verdict_reason == "layout" and result.closeness_without_layout is not None:
        told_already.add("format_differs")
    notes = [
        with_reference(_note(warnings[code], text, result), result.reference_name)
        for code, text in sorted(NOTES.items(), key=lambda note: note[0] == last)
        if code in warnings and code not in told_already
    ]
    told = result.verdict == "no verdict"
    return tuple([note for note in notes if note and not (told and "aligned=True" in note)][:MOST_NOTES])


def said_of_models(said: Mapping[str, Sequence[str]]) -> list[str]:
    """Sentences on models, by their names, each once; with the names of its models where it is not about all.

    >>> said_of_models({"a": ["one", "two"], "b": ["one"]})
    ['one', 'a: two']
    """
    names_by_sentence: dict[str, list[str]] = {}
    for name, sentences in zip(shown_names(list(said)).values(), said.values(), strict=True):
        for sentence in sentences:
            names_by_sentence.setdefault(sentence, []).append(name)
    return [
        text if len(names) == len(said) else f"{listed(names)}: {text}" for text, names in names_by_sentence.items()
    ]


def _note(warning: ScoreWarning, text: str, result: MauveResult) -> str:
    numbers = _words_of(warning.numbers, result)
    if warning.code == "not_literature_featurizer":
        unseen = seen_by("ngrams", numbers.get("unseen", ()))
        several = len({bound.featurizer for bound in result.bounds}) > 1
        if several or not unseen or OTHER_LANGUAGE & {other.code for other in result.warnings}:
            return ""
        name, more = str(numbers["featurizer"]).split("/")[-1], len(unseen) - 1
        others = f" and {counted(more, 'other kind')} of errors" if more else ""
        is_of_texts = result.format_auc is not None  # to features nothing can be added
        cure = "add 'ngrams' to featurizers" if is_of_texts else "score the texts by ngrams too"
        return text.format(featurizer=name, unseen=unseen[0] + others, cure=cure)
    return text.format(**numbers) if text else warning.message


def _words_of(numbers: Mapping[str, Any], result: MauveResult) -> dict[str, Any]:
    """The words of a note from the numbers of its warning."""
    words = {"texts": counted(min(result.n_p, result.n_q), "text"), "as_prompts": "", **numbers}
    words["few_prompts"] = counted(numbers.get("prompts", 0), "prompt")
    if "share" in numbers:
        words["percent"] = f"{100 * numbers['share']:.1f} %"
    if "p_texts" in numbers:
        words["set"] = with_more(numbers)
        side = "q" if words["set"] == "model" else "p"
        words |= {"count": numbers[f"{side}_texts"], "texts": numbers[f"n_{side}"]}
    words["in_groups"] = counted(numbers.get("groups", 0), "group")
    if "groups" in numbers and result.closeness_as_prompts is not None:
        value, low, high = (digits(number, ".2f") for number in result.closeness_as_prompts)
        words["as_prompts"] = f": closeness would be {value} [{low}, {high}]"
    if "kind" in numbers:
        words["sight"] = SIGHTS[numbers["kind"]]
    language, featurizer = numbers.get("language"), str(result.signature_entries.get("featurize_model_name"))
    reader = reader_of(language, featurizer)
    words["cure"] = advice_for(language, featurizer)
    words["more"] = words["cure"] if reader is None else f"{reader!r} to featurizers"
    if "openings" in numbers:
        words["opening"], words["count"] = next(iter(numbers["openings"].items()))
    if "count" in words:
        words["of"] = counted(words["texts"], f"{words['set']} text")
    if "p_median_length" in numbers and "q_median_length" in numbers:
        check = check_of_lengths(numbers["p_median_length"], numbers["q_median_length"])
        words["check"] = f": {check}" if check else ""
    return words


_MOST_LAYOUT = 3  # parts that a sentence names
DIFFERS = {  # by what shows it
    "groups": "other kinds of texts, or other shares of them",
    "classifier": "a classifier recognises them",
    "repeats": "it repeats itself",
}
LEADS: dict[VerdictWord, str] = {
    "different": "DIFFERENT from {reference}",
    "like human": "LIKE {reference}",
    "undecided": "UNDECIDED: a set of {n} texts is too small",
    "no verdict": "NO VERDICT YET",
}
NO_VERDICT = {  # reason → what is wrong, and what to do
    "too_few": "a set has only {texts}. Give 20 at least, better 500.",
    "constant_features": "all texts have the same features. Check the files and the featurizer.",
    "nearly_constant": "the features differ by rounding only. Try another featurizer.",
    "rows_not_aligned": "the rows are not aligned. Give both files in one order, or leave aligned out.",
    "echoed_prompts": "the texts of one set begin with their prompt. Add strip='prompts'.",
    "prompts_as_answers": "many texts are in both sets. Give each file once; if these are the prompts, name the "
    "field of the answers with text_field.",
    "token_ids": "the texts of one set are lists of numbers, such as token ids. Decode them first.",
    "unseen_characters": "the featurizer cannot read these texts.",
    "undeclared_prompts": "texts share undeclared prompts. Add aligned=True if row 1 answers row 1, "
    "p_groups and q_groups, or independent=True if each row is a draw of its own.",
    "shared_texts": "texts of the model are copies of human ones. Take them out: mauve-metric deduplicate.",
    "short_texts": "the human texts are a few words long. Use accuracy for short answers.",
    "no_interval": "there are too few texts or prompts for an error bar, or both sets hold the same texts. Give more "
    "of them, and each file once.",
}
NOT_BY_NUMBERS = "Do not judge by these numbers."  # where there is no verdict


class Facts(NamedTuple):
    """The facts that every view shows.

    differs: what shows a difference, of "groups", "classifier" and "repeats". seen_by: of several featurizers those
    that show it. caught: the AUC of the sharpest classifier, as times in 100. p_value: of the test that shows a
    difference which the interval does not. needed: texts a set that would decide. notes: at most three, by how much
    they can change the verdict. test: the one with this p-value. layout: what tells the sets apart by layout.
    by_layout_alone, without_layout: whether nothing else does, and closeness without it, with its interval, in words.
    """

    differs: tuple[str, ...]
    seen_by: tuple[str, ...]
    caught: int | None
    p_value: float | None
    needed: int | None
    notes: tuple[str, ...]
    test: str = "a test"
    layout: tuple[str, ...] = ()
    by_layout_alone: bool = False
    without_layout: str = ""


def facts_of(result: MauveResult) -> Facts:
    """Collect the facts of a result."""
    shown = [name.partition(" by ") for name in result.shown_by] if result.verdict == "different" else []
    kinds, _, featurizers = [*zip(*shown, strict=True)] or [(), (), ()]
    seen_by, differs = tuple(dict.fromkeys(filter(None, featurizers))), tuple(filter(kinds.__contains__, DIFFERS))
    scored: list[MauveResult | LearnedScore] = [
        result,
        *result.by_featurizer.values(),
        *filter(None, [result.together]),
    ]
    aucs = [scores.auc for scores in scored if scores.auc is not None]
    reaches_1 = result.closeness_ci is None or result.closeness_ci[1] >= 1
    p_value = result.shown_p_value if differs and reaches_1 else None
    caught = round(100 * max(aucs)) if aucs else None
    layout = layout_of(result) if result.verdict_reason == "layout" else ()
    plain = ""
    if result.closeness_without_layout is not None:
        ends = in_brackets(result.closeness_without_layout_ci)
        plain = f"{digits(result.closeness_without_layout, '.3f')}{ends}"
    facts = (differs, seen_by, caught, p_value, result.texts_needed, notes_of(result))
    test = "a test" if p_value is None else _test_of(result)
    return Facts(*facts, test, layout, result.by_layout_alone, plain)


def _test_of(result: MauveResult) -> str:
    """The test with the least p-value of those that show a difference."""
    if result.repeats_p_value is not None and result.repeats_p_value == result.shown_p_value:
        return "a test of how much it repeats itself"
    tested = [bound for bound in result.bounds if bound.p_value is not None]
    least = min(tested, key=lambda bound: bound.p_value or 0.0, default=None)
    if least is None:
        return "a test"
    return "a test of the classifier" if least.kind == "classifier" else "a permutation test of the groups"


def layout_of(result: MauveResult) -> tuple[str, ...]:
    """The parts of the layout that tell the sets apart, the strongest first."""
    names = [name for warning in result.warnings for name in warning.numbers.get("layout", ())]
    kinds = [warning.numbers["kind"] for warning in result.warnings if warning.code == "wrapping_in_one_set"]
    said = [*(TRAITS[name].what for name in names), *(SIGHTS[kind] for kind in kinds)]
    return tuple(dict.fromkeys(said))[:_MOST_LAYOUT]


def headline(result: MauveResult, facts: Facts | None = None) -> str:
    """The verdict in one or two sentences."""
    size, seen = min(result.n_p, result.n_q), featurizers_of(result)
    facts, low = facts or facts_of(result), None if result.closeness_ci is None else result.closeness_ci[0]
    return verdict_sentence(result.verdict, result.verdict_reason, size, seen, low, facts, result.reference_name)


def verdict_sentence(
    verdict: VerdictWord,
    reason: str | None,
    n: int,
    seen: str,
    low: float | None,
    facts: Facts,
    reference_name: str = HUMAN,
) -> str:
    """The verdict in words; n: texts of the smaller set. seen: names of the featurizers. low: end of the interval."""
    reference = reference_text(reference_name)
    if verdict == "like human" and reference_name == HUMAN:
        reference = reference.upper()
    lead = LEADS[verdict].format(n=n, reference=reference)
    if verdict == "different":
        how = "; ".join(DIFFERS[kind] for kind in facts.differs) or "by its features"
        layout = f" ({listed([*facts.layout])})" if facts.layout else ""
        said = [f"{lead} by layout alone{layout}" if facts.by_layout_alone else f"{lead}: {how}"]
        if facts.p_value is not None:
            said.append(
                f"{facts.test.capitalize()} shows it ({p_words(facts.p_value)}), although the interval reaches 1"
            )
        plain = f", closeness is {facts.without_layout}" if facts.without_layout else ""
        if facts.by_layout_alone:
            said += [f"Without that layout{plain}"] if plain else []
        elif reason == "layout":
            said.append(f"Part of it is layout{layout}" + (f": without that{plain}" if plain else ""))
        said += [f"Shown by {listed([*shown_names([*facts.seen_by]).values()])}"] if facts.seen_by else []
        cause = f" But {with_reference(NO_VERDICT[reason], reference_name)}" if reason in NO_VERDICT else ""
        return f"{'. '.join(said)}.{cause}"
    if verdict == "like human":
        seen_by = f" as far as {seen} {'see' if ' + ' in seen else 'sees'}" if seen else ""
        return f"{lead}{seen_by}: closeness is at least {rounded_down(low or EQUIVALENT)}."
    if verdict == "undecided":
        enough = f"; about {rounded_up(facts.needed)} a set would most likely decide" if facts.needed else ""
        return f"{lead}{enough}."
    cause = with_reference(NO_VERDICT[reason or "no_interval"], reference_name)
    return f"{lead}: {cause.format(texts=counted(n, 'text'))} {NOT_BY_NUMBERS}"


def rounded_down(score: float) -> str:
    """A score with two decimals, not rounded up.

    >>> rounded_down(0.939), rounded_down(0.9)
    ('0.93', '0.90')
    """
    return f"{math.floor(100 * score + 1e-9) / 100:.2f}"


def featurizers_of(result: MauveResult) -> str:
    """The names of a result's featurizers; empty for features."""
    alone = printable(str(result.signature_entries.get("featurize_model_name", "")))
    return " + ".join(several_featurizers(result)) or alone


def several_featurizers(result: MauveResult) -> tuple[str, ...]:
    """The names of the featurizers of a result, or of a model in a comparison; empty for fewer than two."""
    named = dict.fromkeys([*result.by_featurizer, *(bound.featurizer for bound in result.bounds if bound.featurizer)])
    return tuple(shown_names([*named]).values()) if len(named) > 1 else ()


def has_layout_scores(comparison: Comparison) -> bool:
    """Return whether the models are ranked by their closeness without layout."""
    return any(result.closeness_without_layout is not None for result in comparison.models.values())


def ranking_sentence(comparison: Comparison) -> str:
    """Name the models that differ; call none closest while there is a doubt about any of them."""
    if len(comparison.ranking) == 1:
        return headline(comparison.models[comparison.ranking[0]])
    called = shown_names(list(comparison.models))
    doubtful = {called[name]: result for name, result in comparison.models.items() if result.verdict == "no verdict"}
    if doubtful:
        reasons = {headline(result).removeprefix(LEADS["no verdict"]) for result in doubtful.values()}
        return f"NO RANKING: there is no verdict on {listed([*doubtful])}{reasons.pop() if len(reasons) == 1 else '.'}"
    lead = ""
    if comparison.ranked_by == "precision":
        by_recall = _order(comparison.recall_ranking, comparison.recall_differences, called)
        by_precision = _order(comparison.ranking, comparison.differences, called)
        said = "The closeness of all is near 0, where it does not order them."
        return f"{said} By precision (quality), {by_precision}. By recall (diversity), {by_recall}."
    if comparison.ranked_by == "groups":
        lead = "The closeness of all is near 0, where it does not order them; by groups of similar texts: "
    elif has_layout_scores(comparison):
        lead = "Without the layout that differs: "
    best, *others = comparison.ranking
    alike = [called[pair.b] for pair in comparison.differences if pair.a == best and not pair.real]
    if any(pair.real for pair in comparison.differences) and not alike:
        reference = reference_text(comparison.reference_name)
        said = f"{lead}{called[best]} is closest to {reference}, as far as these tests see."
        behind = [called[name] for name in others if _is_unsure(comparison.models[name])]
        layout = f" Layout alone may put {listed(behind)} behind." if behind else ""
        return said + layout
    closest = f"are closest to {reference_text(comparison.reference_name)}"
    said = f"{lead}{_order(comparison.ranking, comparison.differences, called, closest)}."
    return f"These{said[5:]}" if said.startswith("these texts do not") else said


def runs_ranking_sentence(comparison: Comparison) -> str:
    """Name the models that differ by their means over runs, with the difference of the first two; empty for one."""
    if not comparison.runs_differences or any(result.verdict == "no verdict" for result in comparison.models.values()):
        return ""
    called = shown_names([*comparison.runs])
    order = _order(comparison.runs_ranking, comparison.runs_differences, called)
    first = comparison.runs_differences[0]
    value, score = digits(first.difference, "+.3f"), {"groups": "score by groups"}.get(comparison.ranked_by)
    said = f"By the mean {score or comparison.ranked_by} over runs, {order}: {called[first.a]} - {called[first.b]}"
    if first.ci is None or first.p_value is None:
        return f"{said} {value}, without an interval."
    low, high = (digits(end, "+.2f") for end in first.ci)
    return f"{said} {value} [{low}, {high}], {p_words(first.p_value)}."


def _is_unsure(result: MauveResult) -> bool:
    """Return whether a model differs by layout, and its closeness without that is not known."""
    return result.verdict_reason == "layout" and result.closeness_without_layout is None


def _order(
    ranking: Sequence[str], differences: Sequence[Difference], called: Mapping[str, str], lead: str = "come first"
) -> str:
    """The models that come first in an order, or that it does not tell them apart; lead: what several of them do."""
    if not any(pair.real for pair in differences):
        return "these texts do not tell the models apart"
    best = ranking[0]
    alike = [called[pair.b] for pair in differences if pair.a == best and not pair.real]
    return f"{listed([called[best], *alike])} {lead}, and cannot be told apart" if alike else f"{called[best]} is first"
