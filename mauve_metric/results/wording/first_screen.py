"""The first screen of a result: what it says of the model's texts in ten seconds, from the facts of its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mauve_metric.results.plain_text import percent, printable

if TYPE_CHECKING:
    from mauve_metric.results.result import MauveResult
    from mauve_metric.uncertainty.score_warnings import ScoreWarning

# For each code of `verdict.REASONS` that leaves no verdict: the sentences after "No verdict:", options as in Python.
NO_VERDICT = {
    "too_few": "{few} texts are too few for one. Take 20 of each set at least; 500 make a good one.",
    "constant_features": "all features are equal, so that nothing can be told apart. Take another featurizer.",
    "nearly_constant": "the features differ by rounding only. Take another featurizer.",
    "rows_not_aligned": "the rows are not aligned: {share} of the texts that belong together are in the same row.",
    "echoed_prompts": "one set repeats the prompts before its texts. Add strip='prompts' to take them off.",
    "prompts_as_answers": "{share} of the model's texts are human texts: were prompts read as answers? Name the field "
    "with text_field.",
    "unseen_characters": "{featurizer} has no token for {share} of the characters. Take one that knows this script.",
    "undeclared_prompts": "the files share openings, but no pairs were found. Add aligned=True if row 1 answers row 1, "
    "or name the prompts with p_groups and q_groups.",
    "shared_texts": "{share} of the model's texts are copies of human texts or hold copied passages, which lifts the "
    "score. Take them out.",
    "short_texts": "the human texts are a few words long. MAUVE compares sets of longer texts.",
    "no_interval": "there is no error bar: {problem}.",
}
_CODES = {  # the warnings behind a reason whose name is not theirs
    "nearly_constant": ("nearly_constant_features",),
    "undeclared_prompts": ("shared_prompts", "repeated_prompts"),
    "shared_texts": ("duplicates_between", "near_duplicates_between", "copied_passages"),
    "short_texts": ("short_references",),
}


def reason_sentence(result: MauveResult) -> str:
    """The reason for which a result has no verdict, and what to do; options are written as in Python."""
    reason = result.verdict_reason or "no_interval"
    warning = _warning_of(result, reason)
    numbers = {} if warning is None else warning.numbers
    problem = "" if warning is None else warning.message.partition(": ")[2]
    return NO_VERDICT[reason].format(
        few=min(result.n_p, result.n_q),
        share=percent(float(numbers.get("share", 1.0)), 1.0),
        featurizer=featurizer_name(result),
        problem=problem or "the scores are not debiased",
    )


def featurizer_name(result: MauveResult) -> str:
    """The name of a result's featurizer, as it was given."""
    return printable(str(result.signature_entries.get("featurize_model_name", "the featurizer")))


def _warning_of(result: MauveResult, reason: str) -> ScoreWarning | None:
    """The warning behind the reason of a verdict."""
    codes = _CODES.get(reason, (reason,))
    return next((warning for warning in result.warnings if warning.code in codes), None)
