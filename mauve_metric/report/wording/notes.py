"""The notes below a verdict: of all warnings those that can change it most, in a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mauve_metric.features.pretrained import advice_for, reader_of
from mauve_metric.report.wording.reference import with_reference
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.checks import listed
from mauve_metric.runtime.plain_text import counted, digits, shown_names
from mauve_metric.uncertainty.blind_spots import seen_by
from mauve_metric.uncertainty.format_check import SIGHTS, with_more
from mauve_metric.uncertainty.score_warnings import ScoreWarning, check_of_lengths

MOST_NOTES = 3
OTHER_LANGUAGE = {"unseen_characters", "language_not_read"}  # whose notes name the featurizer to take
# Notes by the code of a warning, those that can change the verdict most first; "" shows the warning's own words. {set}
# is the one that has more of it, {count} the number of such texts, {of} the set's number and name.
NOTES = {
    "unseen_characters": "take {cure} for these texts",
    "duplicates_between": "{percent} of the model's texts are human texts too: mauve-metric deduplicate takes them out",
    "near_duplicates_between": "{percent} of the model's texts nearly repeat human ones: mauve-metric deduplicate",
    "copied_passages": "{percent} of the model's words are copied from human texts: see mauve-metric memorised",
    "joined_with_itself": "each text of the {set} file is there {times} times: was it joined with itself?",
    "repeated_texts": "the model's texts come in about {groups} groups of near-alike texts. Several answers to a "
    "prompt? Add --prompt-field NAME{as_prompts}",
    "shared_prompts": "both files continue the same prompts: add --aligned, or --prompt-field NAME",
    "repeated_prompts": "several texts answer one prompt: add --prompt-field NAME",
    "missing_values": "missing values such as None in {count} of {of}: take these rows out",
    "wrapping_in_one_set": "{sight} in {count} of {of}: add --strip {kind}",
    "garbled_texts": "wrongly decoded characters such as â€™ for ’ in {count} of {of}: save them as UTF-8, or use ftfy",
    "opening_in_one_set": "“{opening}” begins {count} of {of}: is it part of the text?",
    "format_differs": "",
    "length_mismatch": "the texts differ in length: model {q_median_length:.0f}, others {p_median_length:.0f} "
    "{units}{check}",
    "at_floor": "the sets have next to nothing in common: check both files",
    "language_not_read": "most {set} texts are in {language}, which the featurizer is not made for: take {cure}",
    "some_unseen_characters": "the featurizer cannot read {percent} of the {set} characters: add {cure}",
    "uneven_answers": "answers to prompts of one set alone lower MAUVE, precision and recall, not closeness",
    "looping_texts": "loops in {count} of {of}",
    "unequal_sizes": "the sets differ in size: draw as many texts from the larger one",
    "num_buckets_large": "{num_buckets} buckets are too many for so few texts: leave --num-buckets out",
    "num_buckets_small": "{num_buckets} buckets are few and hide differences: leave --num-buckets out",
    "truncated_texts": "{percent} of the {set} texts were cut to the featurizer's length",
    "duplicates_within": "{percent} of the {set} texts repeat another one",
    "above_ceiling": "the sets are more alike than most: by chance, or they share texts",
    "few_texts": "only {texts} a set: 500 or more for a paper",
    "few_prompts": "only {few_prompts}: error bars are rough",
    "not_literature_featurizer": "not checked: {unseen}, which {featurizer} does not see (add --featurizer ngrams)",
}


def notes_of(result: MauveResult) -> tuple[str, ...]:
    """The most important notes, without the one that is the reason of the verdict."""
    strongest = sorted(result.warnings, key=lambda warning: -max(warning.numbers.get("openings", {0: 0}).values()))
    warnings = {warning.code: warning for warning in reversed(strongest)}
    told_already = {"shared_prompts", "repeated_prompts", "repeated_texts"} if result.design != "undeclared" else set()
    told_already |= {"few_texts", "at_floor"} if result.verdict_reason == "too_few" else set()
    told_already |= {"few_texts"} if result.texts_needed is not None else set()  # the verdict says how many
    notes = [
        with_reference(_note(warnings[code], text, result), result.reference_name)
        for code, text in NOTES.items()
        if code in warnings and code not in told_already
    ]
    told = result.verdict == "no verdict"
    return tuple([note for note in notes if note and not (told and "--aligned" in note)][:MOST_NOTES])


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
        return text.format(featurizer=name, unseen=unseen[0] + others)
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
    if "groups" in numbers and result.closeness_as_prompts is not None:
        value, low, high = (digits(number, ".2f") for number in result.closeness_as_prompts)
        words["as_prompts"] = f": closeness would be {value} [{low}, {high}]"
    if "kind" in numbers:
        words["sight"] = SIGHTS[numbers["kind"]]
    language, featurizer = numbers.get("language"), str(result.signature_entries.get("featurize_model_name"))
    reader = reader_of(language, featurizer)
    words["cure"] = advice_for(language, featurizer) if reader is None else f"--featurizer {reader}"
    if "openings" in numbers:
        words["opening"], words["count"] = next(iter(numbers["openings"].items()))
    if "count" in words:
        words["of"] = counted(words["texts"], f"{words['set']} text")
    if "p_median_length" in numbers and "q_median_length" in numbers:
        check = check_of_lengths(numbers["p_median_length"], numbers["q_median_length"])
        words["check"] = f": {check}" if check else ""
    return words
