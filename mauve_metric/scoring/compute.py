"""`compute_mauve`: texts, tokens or features in, a `MauveResult` out, by one featurizer or each of several."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Unpack

from mauve_metric.arrays import FeatureData, TextData, TokenData
from mauve_metric.features.feature_set import FeatureSet, InputSide, given_side
from mauve_metric.inputs.files import TextFile
from mauve_metric.options import Featurizer, Options, with_options
from mauve_metric.results.result import MauveResult
from mauve_metric.scoring.evaluation import Evaluation
from mauve_metric.scoring.featurizers import add_pooled_score, score_with_each
from mauve_metric.scoring.score import log_warnings


@with_options()
def compute_mauve(
    p_features: FeatureData | None = None,
    q_features: FeatureData | None = None,
    p_tokens: TokenData | None = None,
    q_tokens: TokenData | None = None,
    p_text: TextData | TextFile | None = None,
    q_text: TextData | TextFile | None = None,
    *,
    p: FeatureSet | None = None,
    q: FeatureSet | None = None,
    aligned: bool = False,
    p_groups: Sequence[Hashable] | None = None,
    q_groups: Sequence[Hashable] | None = None,
    featurizers: Sequence[Featurizer] | Mapping[str, Featurizer] | None = None,
    **options: Unpack[Options],
) -> MauveResult:
    """Compute MAUVE between human texts P and model texts Q (Pillutla et al. 2021), with mauve-text's keywords.

    Each side is given as a `FeatureSet`, features, tokens or texts; the first of these that is given is used, and the
    two sides may differ in form. Where one side is a `FeatureSet`, texts of the other are featurized as it was.

    Args:
        p_features, q_features: finite arrays (n_p, d) and (n_q, d) of one featurizer.
        p_tokens, q_tokens: lists of token id lists of the featurizer's tokenizer, used as they are.
        p_text, q_text: texts: a list, a `datasets` column, a stream (see `sources.text_source`), a file's name or a
            `TextFile`. Where q_text is a file with human texts beside the model's, the side P can be left out.
        p, q: features kept with their origin (see `FeatureSet`).
        aligned: row i of both sides answers prompt i, as where a model continues the beginnings of the human texts.
            Scores of aligned sets are higher than those of sets with other prompts: compare them only with each other.
        p_groups, q_groups: for each text of a side its prompt, or anything else that is equal for texts which are not
            independent, such as the number of a document; equal groups on both sides are one. None, as an entry or in
            place of those of a side, stands for texts that depend on no other. Bias, error, interval, ceiling and test
            allow for the groups (docs/mathematics.md). A file with human texts beside the model's is aligned unasked.
        featurizers: several, each as `featurize_model_name`; a dict gives them names. Each featurizes the texts of both
            sides and makes a score. The first one's is the result (that of `featurize_model_name` if it is given too);
            those of all are in its `by_featurizer`, the learned score of one classifier of all their features in its
            `together`. Its closeness and verdict follow from all. Another one that cannot be used is named in a
            warning. The other options hold for all of them.
        **options: the fields of `MauveConfig` (what can change the score) and of `RunOptions` (what cannot), and
            mauve-text's `use_float64`, which means `dtype="float64"`.

    Returns:
        A `MauveResult`.

    Raises:
        TypeError: an unknown option, or an argument of the wrong type.
        ValueError: a value out of range, or data that cannot be scored; features or tokens with several featurizers.
        OSError, ImportError: the model or a package is not there.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> human, model = rng.normal(size=(200, 8)), rng.normal(size=(200, 8)) + 1
    >>> out = compute_mauve(p_features=human, q_features=model, seed=1)
    >>> 0 < out.mauve < 1, out.num_buckets, out.divergence_curve.shape
    (True, 20, (27, 2))
    """
    sides = {
        "p": given_side("p", {"set": p, "features": p_features, "tokens": p_tokens, "text": p_text}, p_groups),
        "q": given_side("q", {"set": q, "features": q_features, "tokens": q_tokens, "text": q_text}, q_groups),
    }
    return score_sides(sides, options, aligned, featurizers)


def score_sides(
    sides: Mapping[str, InputSide],
    options: Mapping[str, Any],
    aligned: object = False,
    featurizers: Sequence[Featurizer] | Mapping[str, Featurizer] | None = None,
) -> MauveResult:
    """`compute_mauve` of the sides "p" and "q", which errors name by their arguments."""
    evaluation = Evaluation.open("compute_mauve", options, sides, aligned)
    return score_with_each(featurizers, evaluation, _score, add_pooled_score)


def _score(evaluation: Evaluation, is_first: bool) -> MauveResult:
    """Score with one featurizer. is_first: log the warnings."""
    result = evaluation.result()
    if is_first:
        log_warnings(result)
    return result
