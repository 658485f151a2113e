"""Meaning and remedy of each warning's code, for the page of warnings and for the shell."""

from __future__ import annotations

from typing import NamedTuple

from mauve_metric.measures.groups import FEW_GROUPS, FEWEST_GROUPS, GROUPS_A_BUCKET
from mauve_metric.uncertainty import (
    comparison_warnings,
    duplication_warnings,
    format_check,
    score_warnings,
    wrapping_warnings,
)


class Advice(NamedTuple):
    """One code. cause: when the warning comes, with its threshold. cure: what to do."""

    cause: str
    cure: str


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


ADVICE: dict[str, Advice] = {
    # sizes and buckets
    "few_texts": Advice(
        f"A set has fewer than {score_warnings.FEW_TEXTS} texts: the standard error of a middling score is above .05.",
        "Take more texts (`human_baseline` says how many), or report the interval of the debiased score.",
    ),
    "unequal_sizes": Advice(
        f"One set is more than {score_warnings.SIZE_RATIO:g} times as large as the other and decides the buckets.",
        "Draw as many texts from the larger set as the smaller one has.",
    ),
    "num_buckets_large": Advice(
        f"The smaller set has fewer than {score_warnings.TEXTS_A_BUCKET} texts a bucket: noise alone takes more than "
        ".1 off the score of equal sets.",
        'Lower `num_buckets`, or leave it at `"auto"` (ten texts a bucket).',
    ),
    "num_buckets_small": Advice(
        f"There are more than {score_warnings.TEXTS_A_BUCKET_MANY} texts a bucket: different sets look alike.",
        'Raise `num_buckets`, or leave it at `"auto"`.',
    ),
    "empty_buckets": Advice(
        "Some buckets hold no text of either set: there are fewer kinds of texts than buckets, often from duplicates.",
        "Look for duplicates (`deduplicate`), or lower `num_buckets`.",
    ),
    "quantizer_not_converged": Advice(
        "The training of a quantizer (`drmm`, `lattice`) ended while it was still improving.",
        "Give it more steps or epochs, as the message says, before you compare the score.",
    ),
    # the score itself
    "at_floor": Advice(
        "The score is that of sets that have no bucket in common. Scores there cannot be told apart.",
        "Check both files. Compare such models by a smaller `mauve_scaling_factor` or by `frontier_integral_debiased`.",
    ),
    "above_ceiling": Advice(
        f"The score is more than {score_warnings.CEILING_STDS:g} standard deviations above that of two samples of one "
        "distribution.",
        "Look for prompts or texts that both sets share. Take human texts that the model has not seen.",
    ),
    # features
    "constant_features": Advice(
        "All features of both sets are equal: MAUVE is 1 whatever the texts are.",
        "Check the featurizer: a wrong layer, padding in place of the last token, or one text many times.",
    ),
    "nearly_constant_features": Advice(
        "All features point the same way; their differences are as small as rounding.",
        'Try another `pooling` (`"mean"`), layer or featurizer; use float32.',
    ),
    "not_literature_featurizer": Advice(
        f"The featurizer is not {score_warnings.LITERATURE_FEATURIZER}. Its scores compare only among themselves. "
        "The message names errors that it does not see, where that was measured.",
        "Name the featurizer beside the score. Run `stress_test` with it on your texts. Take gpt2-large to compare "
        "with published numbers.",
    ),
    "featurizer_missing": Advice(
        "One of several `featurizers` is not there or fails on these texts. The joint verdict is of the others alone.",
        "Mend what the message says, or leave this one out.",
    ),
    "features_without_identity": Advice(
        "A file of features does not say which featurizer made it: the sets may have been featurized differently.",
        "Write features with `mauve-metric featurize` or `FeatureSet.save`, which keep it.",
    ),
    # texts
    "duplicates_between": Advice(
        f"More than {_percent(score_warnings.SHARED_SHARE)} of the model's texts are in the human set too, which "
        "lifts the score.",
        "Take them out (`deduplicate MODEL --against HUMAN`); `memorised` says what was learnt by heart.",
    ),
    "duplicates_within": Advice(
        f"More than {_percent(score_warnings.DUPLICATE_SHARE)} of a set's texts repeat another one: intervals are too "
        "narrow.",
        "Take repeated human texts out (`deduplicate`). Of a model they are a finding: report them.",
    ),
    "shared_prompts": Advice(
        f"More than {_percent(score_warnings.OPENING_SHARE)} of the model's texts open like a human one. Shared "
        "prompts lift the score.",
        "Say `aligned=True` (`--aligned`) if row i of every set answers prompt i, or give the prompts by `p_groups` "
        'and `q_groups` (`--prompt-field`). Compare such scores only with each other. `strip="prompts"` with '
        "`prompts=` takes prompts off the texts.",
    ),
    "dropped_texts": Advice(
        'Empty texts were left out, as `empty_texts="drop"` asks.',
        "Report how many: there the model has failed.",
    ),
    "truncated_texts": Advice(
        f"More than {_percent(score_warnings.TRUNCATED_SHARE)} of a set's texts are longer than the featurizer reads. "
        "What was cut is not in the score.",
        "Raise `max_text_length` as far as the featurizer goes, take one that reads more, or score shorter passages.",
    ),
    "short_references": Advice(
        f"Half of the human texts have {score_warnings.SHORT_TOKENS} tokens or fewer.",
        "Use accuracy or exact match for short answers. MAUVE is for longer, open-ended texts.",
    ),
    "length_mismatch": Advice(
        f"The median lengths differ by a factor of more than {score_warnings.LENGTH_RATIO:g}. The score may measure "
        "little but length.",
        'Cut both sets to one length (`match_lengths="truncate"`), or let the model write as long as people do.',
    ),
    # what texts are wrapped in
    "stripped_texts": Advice(
        f"`strip` changed more than {_percent(wrapping_warnings.STRIPPED_SHARE)} of a set: the score is of what was "
        "left.",
        "Report it with the score; it is in the signature.",
    ),
    "wrapping_in_one_set": Advice(
        f"More than {_percent(wrapping_warnings.WRAPPED_SHARE)} of one set, and next to none of the other, show "
        "reasoning, special tokens or Markdown, which a featurizer sees first.",
        "Take them off both sets with the rule of `strip` that the message names, or mend the generation.",
    ),
    "format_differs": Advice(
        "A classifier that sees only how the texts are formatted (length, line breaks, capitals, quotation marks, "
        f"dashes, Markdown, characters a word) has an AUC above {format_check.TELLING:g}, by more than "
        "chance. A featurizer that sees it (`ngrams`, in part a sentence encoder) scores layout before writing, and "
        "`mauve_classifier` falls.",
        "Do what the warning says of the strongest difference (`strip`, `match_lengths`), and score again. "
        "`format_aucs` has the AUC of each.",
    ),
    "blanks_in_one_set": Advice(
        f"More than {_percent(wrapping_warnings.BLANKS_SHARE)} of one set, and next to none of the other, begin or end "
        "with blanks.",
        'Take them off both sets with `strip="whitespace"`.',
    ),
    "opening_in_one_set": Advice(
        f"More than {_percent(wrapping_warnings.OPENING_SHARE)} of one set begin with the same words, and next to none "
        "of the other (“Sure, here is …”).",
        "Mend the prompt or cut the opening off. If it is how the model writes, report it.",
    ),
    # copies
    "near_duplicates_between": Advice(
        f"More than {_percent(duplication_warnings.NEAR_SHARE)} of the model's texts nearly repeat a human text, which "
        "lifts the score.",
        "Take other human texts, or take the copies out (`deduplicate MODEL --against HUMAN`).",
    ),
    "copied_passages": Advice(
        f"More than {_percent(duplication_warnings.COPIED_SHARE)} of the model's words are in passages of 50 words "
        "that the human set has too.",
        "See which (`memorised MODEL HUMAN`). Score against texts that the model was not trained on.",
    ),
    "near_duplicates_within": Advice(
        f"The model has {_percent(duplication_warnings.WITHIN_MORE)} more near duplicates among its texts than the "
        "human set.",
        "Report it as a lack of diversity. Look at temperature, seeds and prompts.",
    ),
    "repeated_passages": Advice(
        f"{_percent(duplication_warnings.REPEATED_MORE)} more of the model's words than of the human words are in "
        "passages that their set repeats.",
        "Take boilerplate around the texts off both sets; otherwise report the repetition.",
    ),
    # comparisons
    "unequal_models": Advice(
        "The models' sets differ in size, and `mauve` falls with fewer texts.",
        "Compare the debiased scores, or draw sets of one size.",
    ),
    "equal_models": Advice(
        "Two models hold the very same texts.",
        "Check the files: one was probably given twice.",
    ),
    "repeated_prompts": Advice(
        f"More than {_percent(score_warnings.OPENING_SHARE)} of a set's texts open like another one of it, as answers "
        "to one prompt do: they count for fewer.",
        "Give the prompt of each text by `p_groups` and `q_groups` (`--prompt-field`).",
    ),
    "no_interval": Advice(
        f"No error can be estimated: there are fewer than {FEWEST_GROUPS} texts or prompts, or the sets are more alike "
        "than two independent samples of one distribution.",
        "Take more prompts. Say which texts share one (`aligned=True`, `p_groups`, `q_groups`). Take copies out.",
    ),
    "few_prompts": Advice(
        f"A side has {FEW_GROUPS} prompts or fewer, from which its error is estimated.",
        "Take more prompts rather than more answers to each.",
    ),
    "few_prompts_a_bucket": Advice(
        f"A bucket has fewer than {GROUPS_A_BUCKET} prompts on average: the bias left over is larger than the error.",
        'Leave `num_buckets` at "auto", which takes ten prompts a bucket.',
    ),
    "rows_look_aligned": Advice(
        f"Row by row, more than {_percent(comparison_warnings.ALIGNED_SHARE)} of two models' texts open alike.",
        "If row i of every model answers prompt i, say `aligned=True`: intervals and tests then allow for it.",
    ),
    "coarse_common_buckets": Advice(
        f"A model scores {comparison_warnings.BLURRED:g} higher on the buckets common to all models than on its own: "
        "these are too coarse to show all its differences.",
        "Compare fewer models at once, take more texts, or raise `num_buckets`.",
    ),
}
