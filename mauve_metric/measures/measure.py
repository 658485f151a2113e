"""One row of the table of measures, and the inputs that a row can name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from mauve_metric.arrays import Floats, MeasuredValue

Group = Literal[
    "score", "lexical", "distance", "buckets", "estimators", "language-model", "discriminator", "duplication"
]
Form = Literal[
    "texts", "tokens", "features", "likelihoods", "prompts", "histograms", "shares", "prompt_features", "continuations"
]
Requirement = Literal["texts", "features", "a language model", "a decoder", "prompts", "prompt texts", "training"]


class Needs(NamedTuple):
    """Needs of a measure: one of the constants below.

    sets: 1 for one set, 2 for the human texts and a model's, 3 for the training texts too. forms: of each set, in the
    order in which the function takes them. given: what the user gives for that.
    """

    sets: int
    forms: tuple[Form, ...]
    given: tuple[Requirement, ...]


# what `compute` is called with
RESULT = Needs(2, (), ("features",))  # nothing: computed with the other scores of a result
BOTH_SHARES = Needs(2, ("shares",), ("features",))  # shares of both sets' texts in the buckets, in every result
TOKENS = Needs(1, ("tokens",), ("texts",))  # list of token lists, → number, or one number a text
TEXTS = Needs(1, ("texts",), ("texts",))  # list of str, → number, or one number a text
FEATURES = Needs(1, ("features",), ("features",))  # (n, d) array, → number
LIKELIHOODS = Needs(1, ("likelihoods",), ("texts", "a language model"))  # Likelihoods, → number, or one a text
DECODER = Needs(2, ("likelihoods",), ("texts", "a language model", "a decoder"))  # human texts' Likelihoods, likewise
PROMPTS = Needs(1, ("tokens", "prompts"), ("texts", "prompts"))  # token lists, prompt of each, → number a prompt
# rows of the texts and of their prompts → number a text; Likelihoods of the texts after their prompts, likewise
AFTER_PROMPTS = Needs(1, ("features", "prompt_features"), ("features", "prompt texts"))
CONTINUATIONS = Needs(1, ("continuations",), ("texts", "a language model", "prompt texts"))
# of both sets (human, model) or three (training), with seed=… and level=…, → MeasuredValue or number
BOTH_TEXTS = Needs(2, ("texts",), ("texts",))
BOTH_FEATURES = Needs(2, ("features",), ("features",))
THREE_FEATURES = Needs(3, ("features",), ("features", "training"))
BOTH_HISTOGRAMS = Needs(2, ("histograms",), ("features",))  # without seed
BOTH_LIKELIHOODS = Needs(2, ("likelihoods",), ("texts", "a language model"))


def _in_result(*values: object) -> float:
    raise TypeError("computed with the other scores of a result, not by itself")


class Measure(NamedTuple):
    """One row of the table of measures.

    better: "higher" or "lower"; "human": the closer to the human texts' value the better. low, high: the range;
    None where there is no bound. trap: how it misleads. formula: the heading of docs/mathematics.md, as an anchor.
    inputs: what `compute` takes. part: the attribute of what it returns that is the measure, where several measures
    share one computation; empty: all of it. A number a text becomes their mean, with an interval from a bootstrap
    over texts; a plain number has none. cheap: computed unless groups are named. sizes_matter: it moves with the
    number of texts, so that only sets of one size compare. leaves_out: texts, or prompts, may have no value (NaN); they
    are left out of the mean and counted. grouped: `compute` takes `groups_p` and `groups_q`, or,
    of texts, `prompts` of both sides: the groups that no fold may divide. designed: `compute` takes the codes of
    the groups of both sides as `groups`, where some texts share prompts. in_result: a field of `MauveResult` of
    this name; one of features is computed there on request, if `MauveConfig` has a field of its name.
    """

    title: str
    group: Group
    paper: str
    meaning: str
    inputs: Needs
    better: Literal["higher", "lower", "human"] = "human"
    low: float | None = 0.0
    high: float | None = 1.0
    compute: Callable[..., Any] = _in_result
    part: str = ""
    trap: str = ""
    formula: str = ""
    cheap: bool = True
    sizes_matter: bool = False
    leaves_out: bool = False
    grouped: bool = False
    designed: bool = False
    in_result: bool = False

    def compute_on(self, *sets: Callable[[Form], Any], **options: Any) -> float | Floats | MeasuredValue:
        """Compute the measure on one set, or on the human texts, a model's and the training texts.

        sets: functions that return a set in one form; `ValueError` where it does not have it.
        """
        computed = self.compute(*(form_of(form) for form_of in sets for form in self.inputs.forms), **options)
        value: float | Floats | MeasuredValue = getattr(computed, self.part) if self.part else computed
        return value
