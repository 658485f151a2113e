"""An explanation for the terminal."""

from __future__ import annotations

from mauve_metric.results.digits import digits, percent
from mauve_metric.results.document import wrapped
from mauve_metric.results.numbers import ExplanationNumbers, GapBucket
from mauve_metric.results.wording.learned_words import (
    EXTREMES_NOTE,
    NGRAMS_NOTE,
    learned_sentence,
    ngram_sentence,
    scored_label,
)
from mauve_metric.results.wording.verdict import verdict
from mauve_metric.results.wording.words import (
    STABILITY_NOTE,
    bucket_facts,
    bucket_title,
    excerpt,
    headline,
    near_label,
    warning_lines,
)


def explanation_table(explanation: ExplanationNumbers) -> str:
    """The explanation for the terminal: score, verdict, warnings, the gap, each bucket's words and texts."""
    result, gap = explanation.result, explanation.gap
    first = headline(result)
    whose = " of the literature's number" if first.literature else ""
    lines = [*wrapped(f"{first.sentence}.", "", ""), *wrapped(first.beside, "", "")]
    lines += wrapped(verdict(result), "", "")
    lines += [line for found in result.warnings for line in warning_lines("", found)]
    lines += [f"The gap{whose} to 1 is {digits(gap)}, in {result.num_buckets} buckets.", ""]
    for value, meaning in (
        (explanation.type_one, "from buckets with too many model texts (Type I)"),
        (explanation.type_two, "from buckets with too few (Type II): human text that the model misses"),
        (explanation.noise, "of it from buckets that could be noise"),
    ):
        lines.append(f"  {digits(value)}  {percent(value, gap):>5}  {meaning}")
    for bucket in explanation.buckets:
        lines += ["", *_bucket_lines(bucket)]
    lines += ["", *wrapped(STABILITY_NOTE, "", ""), *_learned_lines(explanation)]
    return "\n".join([*lines, "", f"signature: {result.signature}"])


def _learned_lines(explanation: ExplanationNumbers) -> list[str]:
    """The texts and the n-grams by which a classifier tells the two sets apart."""
    lines = []
    if explanation.most_human or explanation.most_model:
        lines += ["", *wrapped(EXTREMES_NOTE, "", "")]
    for side, texts in (("human", explanation.most_human), ("model", explanation.most_model)):
        for item in texts:
            lines += wrapped(f"{side} {scored_label(item)}: {excerpt(item.text or '')}".rstrip(": "), "   - ", "     ")
    if explanation.ngrams:
        lines += ["", *wrapped(NGRAMS_NOTE, "", "")]
    for use in explanation.ngrams:
        lines += wrapped(ngram_sentence(use), "   - ", "     ")
    normalised = explanation.result.normalised
    return [*lines, "", *wrapped(learned_sentence(explanation.result), "", "")] if normalised else lines


def _bucket_lines(bucket: GapBucket) -> list[str]:
    lines = [bucket_title(bucket)]
    for name, value in bucket_facts(bucket):
        lines += wrapped(f"{name}: {value}", "   ", "      ")
    for side, texts in (("human", bucket.p_texts), ("model", bucket.q_texts)):
        for near in texts:
            lines += wrapped(f"{side} {near_label(near)}: {excerpt(near.text or '')}".rstrip(": "), "   - ", "     ")
    return lines
