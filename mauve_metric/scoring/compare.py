"""`compare`: several models against one human set, on common buckets, and which differences are real."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Unpack

from mauve_metric.arrays import FeatureData, TextData, TokenData
from mauve_metric.features.feature_set import FeatureSet, given_side
from mauve_metric.features.sides import By, sides_of_models
from mauve_metric.inputs.files import TextFile
from mauve_metric.options import Featurizer, Options, with_options
from mauve_metric.results.comparison import Comparison
from mauve_metric.runtime.checks import check_count
from mauve_metric.scoring.evaluation import Evaluation
from mauve_metric.scoring.featurizers import compare_together, score_with_each


@with_options()
def compare(
    p_text: TextData | TextFile | None = None,
    models: Mapping[str, FeatureData | FeatureSet | TextFile | str] | None = None,
    *,
    p_features: FeatureData | None = None,
    p_tokens: TokenData | None = None,
    p: FeatureSet | None = None,
    aligned: bool = False,
    p_groups: Sequence[Hashable] | None = None,
    q_groups: Mapping[str, Sequence[Hashable]] | None = None,
    common_rows: bool = False,
    buckets: int = 0,
    texts: int = 3,
    by: By | None = None,
    featurizers: Sequence[Featurizer] | Mapping[str, Featurizer] | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Compare models with each other by their MAUVE against one human set.

    The human texts and those of all models are projected and clustered together, once, so that all scores of buckets
    use one partition; "auto" buckets follow from the smallest set. `own` and the scores of neighbours are those of
    `compute_mauve`. A difference has an interval that allows for the human texts that both scores share.

    Args:
        p_text, p_features, p_tokens, p: the human side, as in `compute_mauve`; texts beside another form are read only.
            Where the models are files with human texts beside theirs, on which they agree, it can be left out.
        models: for each name its texts, features (n, d), `FeatureSet`, or a file of texts, by name or as `TextFile`.
        aligned: row i of every set, the human one included, answers prompt i; see `compute_mauve`. Files that name the
            document of each row are matched by it without this option.
        p_groups: the prompt of each human text. q_groups: for models by name, the prompt of each text; see
            `compute_mauve`.
        common_rows: leave out the rows that not all of these files have, which are an error else.
        buckets: how many buckets of each model's gap to explain, see `explain`; 0 for none.
        texts: how many texts of each side to keep for a bucket.
        by: the field of a label of each text in the files, such as its topic, source or language; or the labels, a list
            for "human" and for each model that has some. The result then has the recall of the human texts of each
            label, in `subgroups`, and a comparison of the texts of each, in `by_subgroup` (Le Bronnec et al. 2024, §8).
        featurizers: several, each as `featurize_model_name`; a dict gives them names. Each compares the texts of all
            sets. The first one's comparison is the result (that of `featurize_model_name` if it is given too), with the
            buckets; those of all are in its `by_featurizer`, the learned scores of one classifier of all their features
            in each model's `together`, and in `together_ranking` and `together_differences`. Closeness, verdicts and
            ranking follow from all. Another one that cannot be used is named in a warning. The other options hold for
            all of them.
        **options: see `compute_mauve`.

    Returns:
        A `Comparison`.

    Raises:
        TypeError, ValueError, OSError, ImportError: as `compute_mauve`; `ValueError` too for no model, sets of fewer
            than two texts, aligned sets of unequal size, and groups that do not fit
            the texts.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> human, good, bad = (rng.normal(shift, 1, size=(200, 8)) for shift in (0, 0.1, 1))
    >>> found = compare(p_features=human, models={"bad": bad, "good": good}, seed=1)
    >>> found.ranking, [(item.a, item.b, item.real) for item in found.differences]
    (('good', 'bad'), [('good', 'bad', True)])
    """
    buckets = check_count("buckets", buckets, low=0)
    texts = check_count("texts", texts, low=0)
    human = given_side("p", {"set": p, "features": p_features, "tokens": p_tokens, "text": p_text}, p_groups)
    sides = sides_of_models(human, models, q_groups)
    settings: dict[str, Any] = {"common_rows": common_rows, "by": by, "listed": True, "every_row": buckets > 0}
    evaluation = Evaluation.open("compare", options, sides, aligned, **settings)

    def score(by_featurizer: Evaluation, is_first: bool) -> Comparison:
        return by_featurizer.comparison(buckets if is_first else 0, texts)

    return score_with_each(featurizers, evaluation, score, compare_together)
