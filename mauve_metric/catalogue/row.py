"""What one row of the table of measures says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from mauve_metric.arrays import Estimate, Floats

Group = Literal["lexical", "distance", "buckets", "estimators", "language-model", "discriminator", "duplication"]
Needs = Literal[
    "tokens",  # of one set: f(list of token lists) → number, or one number a text
    "texts",  # of one set: f(list of str) → number, or one number a text
    "features",  # of one set: f((n, d) array) → number
    "likelihoods",  # of one set under a language model: f(Likelihoods) → number, or one number a text
    "prompts",  # of one set with several texts a prompt: f(list of token lists, prompt of each) → number a prompt
    "both texts",  # f(human texts, model texts, seed=…, level=…) → Estimate or number
    "both features",  # f(human features, model features, seed=…, level=…) → Estimate or number
    "three features",  # f(human, model, training features, seed=…, level=…) → Estimate or number
    "both histograms",  # f(human counts, model counts, level=…) → Estimate
    "both likelihoods",  # f(human Likelihoods, model Likelihoods, seed=…, level=…) → Estimate or number
]


class Measure(NamedTuple):
    """One row of the table of measures.

    better: "higher" or "lower"; "human": the closer to the human texts' value the better. low, high: the range; None
    where there is no bound. needs: what `compute` takes. A number a text becomes their mean, with an interval from a
    bootstrap over texts; a plain number has none. cheap: computed unless groups are named. sizes_matter: it moves with
    the number of texts, so that only sets of one size compare. grouped: `compute` takes `groups_p` and `groups_q`,
    or, of texts, `prompts` of both sides: what must not stand on both sides of a fold. designed: `compute` takes the
    codes of the groups of both sides as `groups`, where some texts share prompts. trap: how it misleads.
    """

    title: str
    group: Group
    better: Literal["higher", "lower", "human"]
    low: float | None
    high: float | None
    paper: str
    meaning: str
    needs: Needs
    compute: Callable[..., float | Floats | Estimate]
    cheap: bool = True
    sizes_matter: bool = False
    grouped: bool = False
    designed: bool = False
    trap: str = ""
