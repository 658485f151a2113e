"""Copies."""

from __future__ import annotations

from mauve_metric.catalogue.row import Measure
from mauve_metric.duplicates.copied_text import copied_substrings, near_duplicates_across
from mauve_metric.duplicates.near_duplicates import near_duplicates
from mauve_metric.duplicates.repeated_substrings import repeated_substrings

DUPLICATION: dict[str, Measure] = {
    "near_duplicates": Measure(
        title="Near duplicates",
        group="duplication",
        better="human",
        low=0.0,
        high=1.0,
        paper="Lee et al. 2022",
        meaning="Share of texts that nearly repeat another one of their set",
        needs="texts",
        compute=near_duplicates,
        sizes_matter=True,
        trap="texts of one template count too, though nobody copied; paraphrases do not",
    ),
    "near_duplicates_across": Measure(
        title="Near duplicates of human texts",
        group="duplication",
        better="lower",
        low=0.0,
        high=1.0,
        paper="Lee et al. 2022",
        meaning="Share of the model's texts that nearly repeat a human text",
        needs="both texts",
        compute=near_duplicates_across,
        sizes_matter=True,
        trap="paraphrases and copied parts of texts are not found",
    ),
    "repeated_substrings": Measure(
        title="Repeated passages",
        group="duplication",
        better="human",
        low=0.0,
        high=1.0,
        paper="Lee et al. 2022",
        meaning="Share of tokens in passages of 50 tokens that the set repeats",
        needs="tokens",
        compute=repeated_substrings,
        sizes_matter=True,
        trap="texts of fewer than 50 tokens have none",
    ),
    "copied_substrings": Measure(
        title="Passages of human texts",
        group="duplication",
        better="lower",
        low=0.0,
        high=1.0,
        paper="Lee et al. 2022",
        meaning="Share of the model's words in passages of 50 words that stand in the human texts",
        needs="both texts",
        compute=copied_substrings,
        sizes_matter=True,
        trap="texts of fewer than 50 words have none; quotations count too",
    ),
}
