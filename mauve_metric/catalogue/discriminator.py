"""Rows of the accuracy with which classifiers tell the sets apart."""

from __future__ import annotations

from functools import partial

from mauve_metric.catalogue.row import Measure
from mauve_metric.features.likelihood.likelihood_measures import discriminator_ranks, discriminator_total_probability
from mauve_metric.measures import discriminators

_row = partial(
    Measure,
    group="discriminator",
    cheap=False,
    grouped=True,
    better="lower",
    low=0.0,
    high=1.0,
    formula="discriminators",
)
_of_likelihoods = partial(_row, formula="under-a-language-model", needs="both likelihoods")
_of_words = partial(
    _row, paper="Ippolito 2021", trap="other topics are enough for 1, however well the model writes", needs="both texts"
)
_of_features = partial(
    _row,
    paper="Lopez-Paz & Oquab 2017",
    trap="a mark or a length that only one set has is enough for 1: read the warnings first",
    needs="both features",
)

DISCRIMINATOR: dict[str, Measure] = {
    "discriminator_auc": _of_features(
        title="Discriminator AUC",
        meaning="how often a classifier on the features ranks a model's text above a human one; 0.5: it cannot tell",
        compute=discriminators.discriminator_auc,
    ),
    "discriminator_accuracy": _of_features(
        title="Discriminator accuracy",
        meaning="share of unseen texts that a classifier on the features puts on the right side; 0.5: it cannot tell",
        compute=discriminators.discriminator_accuracy,
    ),
    "discriminator_words_auc": _of_words(
        title="Bag-of-words AUC",
        meaning="how often a classifier on word counts ranks a model's text above a human one; 0.5: it cannot tell",
        compute=discriminators.bag_of_words_auc,
    ),
    "discriminator_words_accuracy": _of_words(
        title="Bag-of-words accuracy",
        meaning="share of unseen texts that a classifier on word counts puts on the right side; 0.5: it cannot tell",
        compute=discriminators.bag_of_words_accuracy,
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
