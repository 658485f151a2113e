"""Rows of copies within a set and of the human texts."""

from __future__ import annotations

from functools import partial

from mauve_metric.catalogue.row import Measure
from mauve_metric.duplicates.copied_text import copied_substrings, near_duplicates_across
from mauve_metric.duplicates.near_duplicates import near_duplicates
from mauve_metric.duplicates.repeated_substrings import repeated_substrings

_row = partial(
    Measure,
    group="duplication",
    formula="duplicates-and-copied-passages",
    better="human",
    low=0.0,
    high=1.0,
    paper="Lee et al. 2022",
    sizes_matter=True,
)
_copies = partial(_row, better="lower", needs="both texts")

DUPLICATION: dict[str, Measure] = {
    "near_duplicates": _row(
        title="Near duplicates",
        meaning="Share of texts that nearly repeat another one of their set",
        trap="texts of one template count too, without any copying; paraphrases do not",
        needs="texts",
        compute=near_duplicates,
    ),
    "near_duplicates_across": _copies(
        title="Near duplicates of human texts",
        meaning="Share of the model's texts that nearly repeat a human text",
        trap="paraphrases and copied parts of texts are not found",
        compute=near_duplicates_across,
    ),
    "repeated_substrings": _row(
        title="Repeated passages",
        meaning="Share of tokens in passages of 50 tokens that the set repeats",
        trap="texts of fewer than 50 tokens have none",
        needs="tokens",
        compute=repeated_substrings,
    ),
    "copied_substrings": _copies(
        title="Passages of human texts",
        meaning="Share of the model's words in passages of 50 words that occur in the human texts",
        trap="texts of fewer than 50 words have none; quotations count too",
        compute=copied_substrings,
    ),
}
