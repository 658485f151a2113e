"""Measures of features: distances of two sets, MAUVE without buckets, and classifiers that tell the sets apart."""

from __future__ import annotations

from functools import partial

from mauve_metric.apps.describing.distances import discriminators
from mauve_metric.apps.describing.distances.authenticity import authenticity, data_copying
from mauve_metric.apps.describing.distances.clipped_support import clipped_coverage, clipped_density
from mauve_metric.apps.describing.distances.density_ratios import mauve_without_buckets
from mauve_metric.apps.describing.distances.feature_distances import (
    coherence,
    frechet_infinity,
    sliced_wasserstein,
    vendi_score,
)
from mauve_metric.apps.describing.distances.mmd import mmd, mmd_gaussian
from mauve_metric.apps.describing.likelihood.likelihood_measures import (
    discriminator_ranks,
    discriminator_total_probability,
)
from mauve_metric.measures.measure import (
    AFTER_PROMPTS,
    BOTH_FEATURES,
    BOTH_LIKELIHOODS,
    BOTH_TEXTS,
    FEATURES,
    THREE_FEATURES,
    Measure,
)
from mauve_metric.results.scores import SCORES

_distance = partial(Measure, group="distance", better="lower", low=0, high=None, inputs=BOTH_FEATURES)
_of_size = partial(_distance, sizes_matter=True)
_clipped = partial(
    _distance, better="higher", high=1, paper="Salvy et al. 2025", formula="clipped-density-and-coverage"
)
_kernel = partial(_distance, low=None, formula="kernel-distance", designed=True)
_copying = partial(_distance, inputs=THREE_FEATURES, formula="copies-of-training-texts")

DISTANCE: dict[str, Measure] = {
    "mmd": _kernel(
        title="MMD² (KID kernel)",
        paper="Bińkowski et al. 2018",
        meaning="kernel distance of the features, unbiased, with a permutation test; about 0 if equal",
        trap="often below 0 for equal sets; its scale is that of the featurizer",
        compute=mmd,
    ),
    "mmd_gaussian": _kernel(
        title="MMD² (Gaussian)",
        high=2,
        paper="Gretton et al. 2012",
        meaning="the same with a Gaussian kernel as wide as the median distance; about 0 if equal",
        trap="the width of the kernel comes from the sets: other pairs of sets have another scale",
        compute=mmd_gaussian,
    ),
    "frechet_distance": SCORES["frechet_distance"],
    "frechet_infinity": _distance(
        title="Fréchet distance, n → ∞",
        low=None,
        paper="Chong and Forsyth 2020",
        meaning="the same extrapolated to infinitely many texts; about 0 if equal",
        trap="still too high below two texts a dimension; may be below 0, and has no interval",
        formula="distance-of-gaussians",
        compute=lambda p, q, seed, level: frechet_infinity(p, q, seed=seed),
        cheap=False,
    ),
    "sliced_wasserstein": _of_size(
        title="sliced Wasserstein-2²",
        paper="Bonneel et al. 2015",
        meaning="how far the features have to move along random directions; too high for few texts",
        trap="above 0 for equal sets; its scale is that of the featurizer",
        formula="sliced-wasserstein-distance",
        compute=lambda p, q, seed, level: sliced_wasserstein(p, q, seed=seed),
    ),
    "clipped_density": _clipped(
        title="clipped density",
        meaning="quality: share of model texts like human ones, whatever the outliers",
        trap="quality alone: one good text many times over has a high one",
        compute=lambda p, q, seed, level: clipped_density(p, q),
    ),
    "clipped_coverage": _clipped(
        title="clipped coverage",
        meaning="coverage: share of good model texts that would cover the human ones as well",
        trap="coverage alone: bad texts beside the good ones do not lower it",
        compute=lambda p, q, seed, level: clipped_coverage(p, q),
    ),
    "vendi": _of_size(
        title="Vendi score",
        better="human",
        low=1,
        paper="Friedman and Dieng 2023",
        meaning="diversity: how many unlike texts the set is worth",
        trap="noise has the highest: variety, not quality",
        formula="vendi-score",
        inputs=FEATURES,
        compute=vendi_score,
    ),
    "coherence": _distance(
        title="coherence with the prompt",
        better="human",
        low=-1,
        high=1,
        paper="Su et al. 2022, §4.2; Li et al. 2023, §5.2",
        meaning="cosine of the features of a text and of its prompt, mean over texts",
        trap="a text that repeats its prompt has the highest; its scale is that of the featurizer (papers: SimCSE)",
        formula="coherence-with-the-prompt",
        inputs=AFTER_PROMPTS,
        compute=coherence,
        cheap=False,
    ),
    "authenticity": _copying(
        title="authenticity",
        better="higher",
        high=1,
        paper="Alaa et al. 2022",
        meaning="share of model texts that are no near copies of a training text",
        trap="new human texts have less than 1 too: read it beside theirs",
        compute=authenticity,
    ),
    "copying": _copying(
        title="data copying C_T",
        better="human",
        low=None,
        paper="Meehan et al. 2020",
        meaning="below 0: nearer to the training texts than human texts are; about 0 if not copied",
        trap="copies of a few texts drown among many new ones",
        sizes_matter=True,
        compute=data_copying,
    ),
}

_estimator = partial(
    Measure,
    group="estimators",
    better="higher",
    paper="Pillutla et al. 2023",
    trap="compares with itself only, not with MAUVE of buckets; no interval",
    formula="mauve-without-buckets",
    inputs=BOTH_FEATURES,
    cheap=False,
)

ESTIMATORS: dict[str, Measure] = {
    "mauve_neighbours": _estimator(
        title="MAUVE by neighbours",
        meaning="from the sides of each text's nearest neighbours; too high in many dimensions",
        compute=partial(mauve_without_buckets, estimator="neighbours"),
    ),
    "mauve_logistic": _estimator(
        title="MAUVE by a classifier",
        meaning="from a cross-fitted logistic regression; blind to all but mean and variance",
        compute=partial(mauve_without_buckets, estimator="classifier"),
    ),
    "mauve_gaussian": _estimator(
        title="MAUVE by Gaussians",
        meaning="from two Gaussians fitted to the features; needs the fewest texts, and is as blind",
        compute=partial(mauve_without_buckets, estimator="gaussian"),
    ),
}

_discriminator = partial(
    Measure, group="discriminator", cheap=False, grouped=True, better="lower", formula="discriminators"
)
_of_likelihoods = partial(_discriminator, formula="under-a-language-model", inputs=BOTH_LIKELIHOODS)
_of_words = partial(
    _discriminator,
    paper="Ippolito 2021",
    trap="other topics are enough for 1, however well the model writes",
    inputs=BOTH_TEXTS,
    compute=discriminators.discriminate_words,
)
_of_features = partial(
    _discriminator,
    paper="Lopez-Paz & Oquab 2017",
    trap="a mark or a length that only one set has is enough for 1: read the warnings first",
    inputs=BOTH_FEATURES,
    compute=discriminators.discriminate,
)

DISCRIMINATOR: dict[str, Measure] = {
    "discriminator_auc": _of_features(
        title="Discriminator AUC",
        meaning="how often a classifier on the features ranks a model's text above a human one; 0.5: it cannot tell",
        part="auc",
    ),
    "discriminator_accuracy": _of_features(
        title="Discriminator accuracy",
        meaning="share of unseen texts that a classifier on the features puts on the right side; 0.5: it cannot tell",
        part="accuracy",
    ),
    "discriminator_words_auc": _of_words(
        title="Bag-of-words AUC",
        meaning="how often a classifier on word counts ranks a model's text above a human one; 0.5: it cannot tell",
        part="auc",
    ),
    "discriminator_words_accuracy": _of_words(
        title="Bag-of-words accuracy",
        meaning="share of unseen texts that a classifier on word counts puts on the right side; 0.5: it cannot tell",
        part="accuracy",
    ),
    "discriminator_ranks": _of_likelihoods(
        title="Accuracy from ranks",
        paper="Gehrmann et al. 2019, §3; Ippolito 2021, §3.4",
        meaning="share of unseen texts told apart by how likely a language model finds their tokens; 0.5: not at all",
        trap="moves with the language model that reads: name it",
        compute=discriminator_ranks,
    ),
    "discriminator_total_probability": _of_likelihoods(
        title="Accuracy from total probability",
        paper="Solaiman et al. 2019",
        meaning="share of unseen texts told apart by their total probability; 0.5: not at all",
        trap="sets of different lengths are told apart by length alone",
        compute=discriminator_total_probability,
    ),
}
