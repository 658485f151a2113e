"""Options of the generation of texts: each with its default, its meaning and its check, written once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, cast

from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.options import CheckedFields, Options, OptionsOfOneProcess
from mauve_metric.runtime.checks import Check, check_bool, check_count, choice_check, or_none, wrong
from mauve_metric.runtime.errors import EmptyTexts, NotTexts, WrongOption

if TYPE_CHECKING:
    from transformers import GenerationConfig

Value = TypeVar("Value")
GenerateFunction = Callable[[list[Any]], Sequence[str | None]]  # texts, or conversations where prompts are such


def _anything(name: str, value: object) -> object:
    """Accept any value: the code that reads it checks it."""
    return value


def _function_or_none(name: str, value: object) -> object:
    if value is not None and not callable(value):
        raise wrong(name, "a function from prompts to texts", value)
    return value


def _option(default: Value, check: Check, help: str) -> Value:
    return field(default=default, metadata={"check": check, "help": help})


@dataclass(frozen=True, kw_only=True)
class WritingOptions(CheckedFields):
    """Prompts, length and decoding of the texts to generate, and the human texts to compare them with."""

    prompts: Iterable[object] | None = _option(
        None,
        _anything,
        "texts or a dataset column to continue, or conversations (lists of messages with role and content) to answer; "
        "None: start from the BOS token",
    )
    references: Iterable[object] | FeatureSet | str | Path | None = _option(
        None, _anything, "human texts, a dataset column, a `FeatureSet`, or a file of texts or of a saved `FeatureSet`"
    )
    dataset: Iterable[object] | None = _option(
        None,
        _anything,
        "human texts of which the first `prompt_tokens` tokens are the prompts and, unless `references` are given, the "
        "whole the references",
    )
    prompt_tokens: int = _option(35, check_count, "see `dataset`; 35 as in Pillutla et al. 2021")
    include_prompt: bool = _option(
        True,
        check_bool,
        "score prompt and continuation, as the papers do, not the continuation alone (with an encoder-decoder model, "
        "and of a conversation, always the output alone)",
    )
    chat_template: Literal["auto"] | bool = _option(
        "auto",
        choice_check("auto", True, False),
        "put plain prompts into the tokenizer's chat template, as a user's words, and score the answer; \"auto\": in a "
        "training on conversations. Prompts that are conversations always are",
    )
    num_samples: int | None = _option(
        None,
        or_none(check_count),
        "how many texts; None: as many as there are prompts, or references without prompts. Prompts are used again if "
        "there are fewer",
    )
    generation_config: GenerationConfig | Mapping[str, object] | None = _option(
        None, _anything, "a `transformers.GenerationConfig` or dict; None: sampling from the whole distribution"
    )
    max_new_tokens: int | None = _option(
        None,
        or_none(check_count),
        "the most tokens to write; None: what `generation_config` says, else as many as the human text of the same "
        "number has (128 if its length is not known)",
    )
    cut_references: Literal["auto"] | bool = _option(
        "auto",
        choice_check("auto", True, False),
        "where the new tokens have a limit, cut each human text to the length that the text of the same number can "
        'have, so that length does not tell the sets apart (texts alone, where the model itself writes); "auto": in a '
        "training",
    )
    generate_fn: GenerateFunction | None = _option(
        None,
        _function_or_none,
        "writes instead of the model: from a list of prompts (texts or conversations, as given; with "
        "chat_template=True conversations) to a list of continuations, None for one that failed. Every process calls "
        "it with its share",
    )
    generation_batch_size: int = _option(
        32, check_count, "prompts that are continued together, halved when memory runs out"
    )

    def __post_init__(self) -> None:
        if self.references is None and self.dataset is None:
            raise ValueError("references must be given (or a dataset, to cut prompts and references from)")
        if self.prompts is not None and self.dataset is not None:
            raise ValueError("prompts and dataset were both given: the dataset's first tokens are the prompts")
        if self.prompts is None and self.chat_template is True:
            raise ValueError("chat_template=True needs prompts, which the model is to answer")
        if isinstance(self.prompts, (str, bytes)):
            raise NotTexts.of("prompts", f"must be a list of texts, got a single {type(self.prompts).__name__}")
        if isinstance(self.prompts, Sized) and not len(self.prompts):
            raise EmptyTexts.of("prompts", "must hold at least one text, got none")
        super().__post_init__()


_MEANINGS = [f"    {option.name}: {option.metadata['help']}." for option in fields(WritingOptions)]
WritingOptions.__doc__ = "\n".join([f"{WritingOptions.__doc__}", "", *_MEANINGS])


class WritingKeywords(TypedDict, total=False):
    """The fields of `WritingOptions` as keywords, for editors and type checkers, but for prompts and references."""

    dataset: Iterable[object] | None
    prompt_tokens: int
    include_prompt: bool
    chat_template: Literal["auto"] | bool
    num_samples: int | None
    generation_config: GenerationConfig | Mapping[str, object] | None
    max_new_tokens: int | None
    cut_references: Literal["auto"] | bool
    generate_fn: GenerateFunction | None
    generation_batch_size: int


class TrainingKeywords(WritingKeywords, OptionsOfOneProcess, total=False):
    """Keywords of `MauveCallback` for writing and scoring; it finds the other processes by itself."""


class ModelKeywords(WritingKeywords, OptionsOfOneProcess, total=False):
    """Keywords of `evaluate_model` for writing and scoring."""

    distributed: bool


def split_writing(keywords: Mapping[str, object]) -> tuple[WritingOptions, Options]:
    """Keywords whose names are known → the options of writing, and those of the score.

    Raises:
        TypeError, ValueError: an option of writing is wrong, or would have no effect.
    """
    names = {option.name for option in fields(WritingOptions)}
    writing: dict[str, Any] = {name: value for name, value in keywords.items() if name in names}
    scoring = {name: value for name, value in keywords.items() if name not in names}
    options = WritingOptions(**writing)
    if "prompt_tokens" in writing and options.dataset is None:
        raise WrongOption.of("prompt_tokens", "is for a dataset, and there is none: give the human texts as dataset")
    return options, cast("Options", scoring)
