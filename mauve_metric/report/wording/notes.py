"""The notes below a verdict: of all warnings those that can change it most, in a line each."""

from __future__ import annotations

from mauve_metric.results.result import MauveResult
from mauve_metric.uncertainty.blind_spots import seen_by
from mauve_metric.uncertainty.score_warnings import ScoreWarning

MOST_NOTES = 3
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


def notes_of(result: MauveResult) -> tuple[str, ...]:
    """The most important notes, without the one that is the reason of the verdict."""
    warnings = {warning.code: warning for warning in reversed(result.warnings)}
    notes = [
        _note(warnings[code], text, result)
        for code, text in NOTES.items()
        if code in warnings and not (code in ("shared_prompts", "repeated_prompts") and result.design != "independent")
    ]
    told = result.verdict == "no verdict"
    return tuple([note for note in notes if note and not (told and "--aligned" in note)][:MOST_NOTES])


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
