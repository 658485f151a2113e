"""Read the sets of a description, in the forms that measures take; make the entries of their values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mauve_metric.api.compare import check_sides, side_of
from mauve_metric.arrays import Array, Estimate, Floats, Integers
from mauve_metric.catalogue.row import Form
from mauve_metric.features.feature_set import FeatureSet, Featurizing, Side
from mauve_metric.features.likelihood.language_model import Decoder, describe_decoder
from mauve_metric.features.rows import all_rows
from mauve_metric.features.sides import OpenedSides, open_sides, read_sides
from mauve_metric.lexical.tokens import NumberedTokens, number_tokens, split_words
from mauve_metric.results.description import Described
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import EXPECTED, message_of
from mauve_metric.uncertainty.means import difference_interval, mean_interval

if TYPE_CHECKING:
    from mauve_metric.features.likelihood.likelihoods import Likelihoods


@dataclass
class DescribedSet:
    """One set of texts in the forms that measures take."""

    name: str
    texts: list[str] | None
    side: FeatureSet | None = None
    groups: Integers | None = None  # codes of `measures.groups`
    tokenize: Callable[[str], Sequence[Hashable]] = split_words
    likely: Callable[..., Likelihoods] | None = None
    of_decoders: dict[str, Likelihoods] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.texts) if self.texts is not None else len(self.side or ())

    @property
    def has_repeated_groups(self) -> bool:
        """True if several texts of the set have one prompt."""
        return self.groups is not None and len(np.unique(self.groups)) < len(self.groups)

    def form(self, form: Form) -> Any:
        """The set in the form that a measure takes."""
        return self.needed_texts() if form == "texts" else getattr(self, form)

    def needed_texts(self) -> list[str]:
        """The texts, or `ValueError`."""
        if self.texts is None:
            raise ValueError(f"it needs the texts of {self.name}, of which only features were given")
        return self.texts

    @property
    def prompts(self) -> list[Hashable]:
        """The group of each text."""
        return [] if self.groups is None else self.groups.tolist()

    @cached_property
    def tokens(self) -> NumberedTokens:
        """The tokens of each text."""
        return number_tokens([self.tokenize(text) for text in self.needed_texts()])

    def reference(self) -> FeatureSet:
        """The features with their origin, or `ValueError`."""
        if self.side is None:
            raise ValueError(f"it needs the features of {self.name}")
        return self.side

    @cached_property
    def features(self) -> Array:
        """The features, (n, d)."""
        return all_rows(self.reference().features)

    @cached_property
    def likelihoods(self) -> Likelihoods:
        """Likelihoods of the texts under the language model."""
        return self.decoded({})

    def decoded(self, decoder: Decoder) -> Likelihoods:
        """Likelihoods of the texts under the language model with a decoder."""
        if self.likely is None:
            raise ValueError("it needs a language model")
        words = describe_decoder(decoder)
        if words not in self.of_decoders:
            self.of_decoders[words] = self.likely(self.needed_texts(), **decoder)
        return self.of_decoders[words]

    def drawn(self, size: int, seed: int) -> DescribedSet:
        """A random sample of the texts in their order; the set itself if it is no larger."""
        if len(self) <= size:
            return self
        less = self.of_rows(np.sort(np.random.default_rng(seed).choice(len(self), size, replace=False)))
        less.groups = None
        return less

    def of_rows(self, chosen: Integers) -> DescribedSet:
        """The texts with these numbers, in this order."""
        texts = None if self.texts is None else [self.texts[row] for row in chosen]
        less = DescribedSet(
            self.name,
            texts,
            None if self.side is None else self.side.of_rows(chosen),
            None if self.groups is None else self.groups[chosen],
            self.tokenize,
            self.likely,
        )
        if "tokens" in vars(self):
            less.tokens = number_tokens([self.tokens[row] for row in chosen])
        return less


def tokenizing(tokenizer: object) -> Callable[[str], Sequence[Hashable]]:
    """The function from a text to its tokens."""
    if tokenizer is None:
        return split_words
    if isinstance(tokenizer, str):
        from mauve_metric.features.pretrained import load_tokenizer

        tokenizer = load_tokenizer(tokenizer)
    encode = getattr(tokenizer, "encode", None)
    if encode is not None:
        return lambda text: encode(text, add_special_tokens=False)
    if callable(tokenizer):
        return lambda text: _tokens_of(tokenizer(text))
    raise TypeError(
        f"tokenizer must be a name, a folder, a tokenizer or a function from a text to tokens, got {shown(tokenizer)}"
    )


def _tokens_of(value: object) -> Sequence[Hashable]:
    """The tokens that a tokenizer of the caller returned, as a list; `TypeError` if they are none."""
    if isinstance(value, str | bytes) or not isinstance(value, Collection):
        raise TypeError(f"tokenizer must return a list of tokens for a text, got {shown(value)}")
    return list(value)


def value_of(found: float | Floats | Estimate | None) -> Floats | None:
    """Values of a measure of one set, as an array: one number per text, or one for the set."""
    if found is None:
        return None
    values = np.atleast_1d(np.asarray(found.value if isinstance(found, Estimate) else found, dtype=np.float64))
    if not len(values):
        raise ValueError("there is nothing to compute it on")
    if np.isnan(values).any():
        raise ValueError(
            "it has no value for these texts"
            if len(values) == 1
            else f"{int(np.isnan(values).sum())} texts have no value"
        )
    return values


def entry_of(
    values: Floats,
    level: float,
    groups: Integers | None,
    human: Floats | None = None,
    human_groups: Integers | None = None,
) -> Described:
    """A model's value and its interval; where the human texts have values, the difference and its interval."""
    value = float(values.mean())
    if human is None:
        return Described(value, None, mean_interval(values, level, groups) if len(values) > 1 else None)
    several = len(values) > 1 and len(human) > 1
    ci = difference_interval(values, human, level, groups, human_groups) if several else None
    return Described(value, value - float(human.mean()), ci)


def read_sets(
    opened: OpenedSides,
    job: Featurizing,
    with_features: bool,
    tokenize: Callable[[str], Sequence[Hashable]],
    likely: Callable[..., Likelihoods],
) -> tuple[list[DescribedSet], str]:
    """Read all sets; return them, and the reason where texts cannot be featurized, else an empty one.

    Args:
        tokenize, likely: functions of texts that the sets call later.

    Raises:
        TypeError, ValueError, OSError, ImportError: invalid texts or features.
    """
    read: dict[str, tuple[FeatureSet | None, list[str] | None]] = {}
    missing = ""
    with job:
        try:
            featurized = read_sides(job, opened) if with_features else None
        except EXPECTED as error:
            if not opened.are_texts:
                raise
            featurized, missing = None, f"the texts have no features: {message_of(error)}"
        if featurized is None:
            for name, side in job.prepared(opened.sides).items():
                is_text = side.kind == "text"
                read[name] = (None, _texts_of(job, side)) if is_text else (job.side(side), None)
        else:
            check_sides({opened.sides[name].argument: side for name, (side, _) in featurized.items()})
            read |= featurized
    sizes = {name: len(item) for name, sides in read.items() for item in sides if item is not None}
    codes = opened.codes(sizes) or {}
    sets = [
        DescribedSet(name, texts, side, codes.get(name), tokenize=tokenize, likely=likely)
        for name, (side, texts) in read.items()
    ]
    return sets, missing


def read_training(training: object, job: Featurizing, with_features: bool) -> DescribedSet:
    """The training set: its texts, and its features when a measure needs them."""
    (side,) = open_sides({"training": side_of("training", training)}, job.config, job.run).sides.values()
    with job:
        texts = _texts_of(job, side) if side.kind == "text" else None
        if not with_features:
            return DescribedSet("training", texts)
        return DescribedSet("training", texts, job.side(side if texts is None else side.with_texts(texts)))


def _texts_of(job: Featurizing, side: Side) -> list[str]:
    return list(job.source(side.argument, side.content).texts)
