"""`explain`: the buckets that cause the gap 1 - MAUVE, with their words and texts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Unpack

from mauve_metric.arrays import FeatureData, TextData, TokenData
from mauve_metric.features.feature_set import FeatureSet, given_side
from mauve_metric.features.sides import By
from mauve_metric.inputs.files import TextFile
from mauve_metric.options import Options, with_options
from mauve_metric.results.explanation import Explanation
from mauve_metric.runtime.checks import check_count
from mauve_metric.scoring.evaluation import Evaluation


@with_options()
def explain(
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
    buckets: int = 10,
    texts: int = 3,
    by: By | None = None,
    **options: Unpack[Options],
) -> Explanation:
    """Score two sides as `compute_mauve` does, and find the buckets that cause the gap 1 - MAUVE.

    Each side is given as in `compute_mauve`. Texts that are given beside features, tokens or a `FeatureSet` are not
    featurized but read: they are what the buckets' words and texts are taken from, one for each row.

    Args:
        p_features, q_features, p_tokens, q_tokens, p_text, q_text, p, q: see `compute_mauve`.
        aligned, p_groups, q_groups, **options: likewise.
        buckets: how many are described, the largest contributions first.
        texts: how many of each side are shown for a bucket.
        by: the field of a label of each text in the files, such as its topic; or the labels, lists for "human" and
            "model". Each bucket then says how many texts of each label it has (MAUVE's appendix F).

    Returns:
        An `Explanation`.

    Raises:
        TypeError, ValueError, OSError, ImportError: as `compute_mauve`; `ValueError` too for a number of texts other
            than that of the rows.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> human, model = rng.normal(size=(200, 8)), 0.5 * rng.normal(size=(200, 8))
    >>> found = explain(p_features=human, q_features=model, seed=1)
    >>> bool(abs(found.contributions.sum() - (1 - found.result.mauve)) < 1e-12)
    True
    """
    buckets = check_count("buckets", buckets)
    texts = check_count("texts", texts, low=0)
    sides = {
        "p": given_side("p", {"set": p, "features": p_features, "tokens": p_tokens, "text": p_text}, p_groups),
        "q": given_side("q", {"set": q, "features": q_features, "tokens": q_tokens, "text": q_text}, q_groups),
    }
    with Evaluation.open("explain", options, sides, aligned, by=by, listed=True, every_row=True) as evaluation:
        return evaluation.explanation(evaluation.names[0], buckets, texts)
