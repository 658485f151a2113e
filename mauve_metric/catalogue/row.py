"""One row of the table of measures, and the inputs that a row can name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from mauve_metric.arrays import Estimate, Floats

Group = Literal[
    "score", "lexical", "distance", "buckets", "estimators", "language-model", "discriminator", "duplication"
]
Needs = Literal[
    "result",  # nothing: computed with the other scores of a result
    "both shares",  # f(shares of human texts in the buckets, of model texts) → number, in every result
    "tokens",  # of one set: f(list of token lists) → number, or one number a text
    "texts",  # of one set: f(list of str) → number, or one number a text
    "features",  # of one set: f((n, d) array) → number
    "likelihoods",  # of one set under a language model: f(Likelihoods) → number, or one number a text
    "decoder",  # of the human texts under a model's decoder: f(Likelihoods) → one number a text
    "prompts",  # of one set with several texts a prompt: f(list of token lists, prompt of each) → number a prompt
    "both texts",  # f(human texts, model texts, seed=…, level=…) → Estimate or number
    "both features",  # f(human features, model features, seed=…, level=…) → Estimate or number
    "three features",  # f(human, model, training features, seed=…, level=…) → Estimate or number
    "both histograms",  # f(human counts, model counts, level=…) → Estimate
    "both likelihoods",  # f(human Likelihoods, model Likelihoods, seed=…, level=…) → Estimate or number
]
Form = Literal["texts", "tokens", "features", "likelihoods", "prompts", "histograms", "shares"]
Given = Literal["texts", "features", "a language model", "a decoder", "prompts", "training"]


class Inputs(NamedTuple):
    """Inputs of a measure.

    sets: 1 for one set, 2 for the human texts and a model's, 3 for the training texts too. forms: of each set, in the
    order in which the function takes them. given: what the user gives for that.
    """

    sets: int
    forms: tuple[Form, ...]
    given: tuple[Given, ...]


_INPUTS: dict[Needs, Inputs] = {
    "result": Inputs(2, (), ("features",)),
    "both shares": Inputs(2, ("shares",), ("features",)),
    "tokens": Inputs(1, ("tokens",), ("texts",)),
    "texts": Inputs(1, ("texts",), ("texts",)),
    "features": Inputs(1, ("features",), ("features",)),
    "likelihoods": Inputs(1, ("likelihoods",), ("texts", "a language model")),
    "decoder": Inputs(2, ("likelihoods",), ("texts", "a language model", "a decoder")),
    "prompts": Inputs(1, ("tokens", "prompts"), ("texts", "prompts")),
    "both texts": Inputs(2, ("texts",), ("texts",)),
    "both features": Inputs(2, ("features",), ("features",)),
    "three features": Inputs(3, ("features",), ("features", "training")),
    "both histograms": Inputs(2, ("histograms",), ("features",)),
    "both likelihoods": Inputs(2, ("likelihoods",), ("texts", "a language model")),
}


def _in_result(*values: object) -> float:
    raise TypeError("computed with the other scores of a result, not by itself")


class Measure(NamedTuple):
    """One row of the table of measures.

    better: "higher" or "lower"; "human": the closer to the human texts' value the better. low, high: the range;
    None where there is no bound. trap: how it misleads. formula: the heading of docs/mathematics.md, as an anchor.
    test: the file in tests/ that compares it with something independent; empty: the one of the function's file.
    needs: what `compute` takes. part: the attribute of what it returns that is the measure, where several measures
    share one computation; empty: all of it. A number a text becomes their mean, with an interval from a bootstrap
    over texts; a plain number has none. cheap: computed unless groups are named. sizes_matter: it moves with the
    number of texts, so that only sets of one size compare. grouped: `compute` takes `groups_p` and `groups_q`, or,
    of texts, `prompts` of both sides: the groups that no fold may divide. designed: `compute` takes the codes of
    the groups of both sides as `groups`, where some texts share prompts. in_result: a field of `MauveResult` of
    this name; one of features is computed there on request, if `MauveConfig` has a field of its name.
    """

    title: str
    group: Group
    better: Literal["higher", "lower", "human"]
    low: float | None
    high: float | None
    paper: str
    meaning: str
    needs: Needs
    compute: Callable[..., Any] = _in_result
    part: str = ""
    trap: str = ""
    formula: str = ""
    test: str = ""
    cheap: bool = True
    sizes_matter: bool = False
    grouped: bool = False
    designed: bool = False
    in_result: bool = False

    @property
    def inputs(self) -> Inputs:
        """The meaning of `needs`."""
        return _INPUTS[self.needs]

    def on(self, *sets: Callable[[Form], Any], **options: Any) -> float | Floats | Estimate:
        """Compute the measure on one set, or on the human texts, a model's and the training texts.

        sets: functions that return a set in one form; `ValueError` where it does not have it.
        """
        found = self.compute(*(form_of(form) for form_of in sets for form in self.inputs.forms), **options)
        value: float | Floats | Estimate = getattr(found, self.part) if self.part else found
        return value
