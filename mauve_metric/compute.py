"""The one place that knows all stages: two sets of texts, tokens or features in, a `MauveResult` out."""

from __future__ import annotations

from typing import Unpack

from mauve_metric.arrays import FeatureData, TextData, TokenData
from mauve_metric.features.reference import Featurizing, Reference
from mauve_metric.features.sides import check_same_encoder, open_sides
from mauve_metric.options import Options, split_options, with_options
from mauve_metric.quantize.quantizers import num_buckets_of
from mauve_metric.results.result import MauveResult
from mauve_metric.score import score_features
from mauve_metric.texts.files import TextFile


def compute_mauve(
    p_features: FeatureData | None = None,
    q_features: FeatureData | None = None,
    p_tokens: TokenData | None = None,
    q_tokens: TokenData | None = None,
    p_text: TextData | TextFile | None = None,
    q_text: TextData | TextFile | None = None,
    *,
    p: Reference | None = None,
    q: Reference | None = None,
    **options: Unpack[Options],
) -> MauveResult:
    """MAUVE between reference (human) texts P and model texts Q (Pillutla et al. 2021), with mauve-text's keywords.

    Each side is given as a `Reference`, features, tokens or texts; the first of these that is there is used, and the
    two sides may differ in form. Where one side is a `Reference`, texts of the other are featurized as it was.

    Args:
        p_features, q_features: finite arrays (n_p, d) and (n_q, d) of one featurizer.
        p_tokens, q_tokens: lists of token id lists of the featurizer's tokenizer, used as they are.
        p_text, q_text: texts: a list, a `datasets` column, a stream (see `sources.text_source`), a file's name or a
            `TextFile`. Where q_text is a file with human texts beside the model's, the side P can be left out.
        p, q: features kept with their origin (see `Reference`).
        **options: the fields of `MauveConfig` (what can change the score) and of `RunOptions` (what cannot), and
            mauve-text's `use_float64`, which means `dtype="float64"`.

    Returns:
        A `MauveResult`.

    Raises:
        TypeError: an unknown option, or an argument of the wrong type.
        ValueError: a value out of range, or data that cannot be scored.
        OSError, ImportError: the model or a package is not there.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> human, model = rng.normal(size=(200, 8)), rng.normal(size=(200, 8)) + 1
    >>> out = compute_mauve(p_features=human, q_features=model, seed=1)
    >>> 0 < out.mauve < 1, out.num_buckets, out.divergence_curve.shape
    (True, 20, (27, 2))
    """
    config, run = split_options(options)
    num_buckets_of(config)
    forms = {
        "p": {"p": p, "p_features": p_features, "p_tokens": p_tokens, "p_text": p_text},
        "q": {"q": q, "q_features": q_features, "q_tokens": q_tokens, "q_text": q_text},
    }
    opened = open_sides(forms, config, run)
    with Featurizing(config, run, frozenset(options)) as job:
        p_side, q_side = (opened.told(name, job.side(given)) for name, given in job.prepared(opened.forms).items())
    check_same_encoder(p_side.identity, q_side.identity)
    return score_features(p_side, q_side, config, run=run)


compute_mauve.__signature__ = with_options(compute_mauve, "MauveResult")  # type: ignore[attr-defined]
