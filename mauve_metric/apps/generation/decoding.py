"""Decoding settings of a model: checks, defaults and description; prompts and texts as tokens."""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from mauve_metric.apps.decoder_settings import SAMPLER_SETTINGS, parse_decoder
from mauve_metric.apps.generation.conversations import Conversation
from mauve_metric.results.result import WrittenText
from mauve_metric.runtime.checks import Check, check_bool, check_count, did_you_mean, is_bool, number_check, shown
from mauve_metric.runtime.errors import short_message
from mauve_metric.runtime.model_state import settings_kept
from mauve_metric.runtime.optional_imports import import_transformers

if TYPE_CHECKING:
    from transformers import GenerationConfig, PreTrainedTokenizerBase

    from mauve_metric.runtime.model_state import LanguageModel

_CHECKS: dict[str, Check] = {  # of settings that generate itself does not refuse, or not before it writes
    "do_sample": check_bool,
    **dict.fromkeys(("num_beams", "num_beam_groups", "max_length", "max_new_tokens"), check_count),
    **dict.fromkeys(("top_k", "min_length", "min_new_tokens", "no_repeat_ngram_size"), partial(check_count, low=0)),
    **dict.fromkeys(("temperature", "repetition_penalty"), number_check("(0, inf)")),
    **dict.fromkeys(("top_p", "typical_p"), number_check("(0, 1]")),
    "diversity_penalty": number_check("[0, inf)"),
    "penalty_alpha": number_check("[0, 1]"),
}
# A decoder in words: from these settings, which the model's own leave as they are, on.
NEUTRAL: dict[str, object] = {
    **{"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "typical_p": 1.0},
    **{"epsilon_cutoff": 0.0, "eta_cutoff": 0.0},
    **{"repetition_penalty": 1.0, "no_repeat_ngram_size": 0},
}
_NAMED: dict[str, dict[str, object]] = {
    "greedy": {"do_sample": False},
    "sampling": {},
    "beam": {"do_sample": False, "num_beams": 4},
}
_SEARCH = {
    **{name: _CHECKS[name] for name in ("num_beams", "num_beam_groups", "diversity_penalty", "penalty_alpha")},
    **{name: _CHECKS[name] for name in ("no_repeat_ngram_size", "repetition_penalty")},
}
_NOT_CONTRASTIVE = (
    *("temperature", "top_p", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff"),
    *("no_repeat_ngram_size", "repetition_penalty"),
)
_SILENT = ("_from", "transformers_version", "use_cache", "max_length", "max_new_tokens", "cache_", "output_")


def max_positions(model: LanguageModel | None) -> int | None:
    """Maximal number of tokens, prompt and continuation together; None if any number, or where a function writes."""
    limit = None if model is None else getattr(model.config, "max_position_embeddings", None)
    is_limit = isinstance(limit, int) and limit > 0 and model is not None and not is_encoder_decoder(model)
    return limit if is_limit else None


def is_encoder_decoder(model: LanguageModel) -> bool:
    """Return whether the prompt goes into an encoder and the output does not contain it."""
    return bool(getattr(model.config, "is_encoder_decoder", False))


def generation_settings(config: GenerationConfig | Mapping[str, object] | None) -> GenerationConfig:
    """A `GenerationConfig` from one, from a dict, or from None: sampling from the model's whole distribution.

    Raises:
        TypeError: something else, or a value of the wrong type. ValueError: a value out of range, or more than one text
            a prompt.
    """
    transformers = import_transformers()
    if config is None:
        config = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0}
    if not isinstance(config, (Mapping, transformers.GenerationConfig)):
        raise TypeError(f"generation_config must be a transformers.GenerationConfig or a dict, got {shown(config, 80)}")
    values = config if isinstance(config, Mapping) else config.to_dict()
    _check_values(values)
    check_search("generation_config", values)
    defaults, is_object = vars(transformers.GenerationConfig()), config is not values
    for wrong in (name for name in values if name not in defaults):  # the library would keep it and never use it
        # a model's file may have settings of its own, as of a speech model: only a misspelt name is refused there
        close = difflib.get_close_matches(wrong, defaults, n=1, cutoff=0.85 if is_object else 0.6)
        if close or not is_object:
            meant = f": did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"generation_config has no setting {shown(wrong)}{meant}")
    try:
        settings: GenerationConfig = transformers.GenerationConfig(**config) if isinstance(config, Mapping) else config
    except (TypeError, ValueError) as error:
        raise type(error)(f"generation_config: {short_message(error)}") from error
    return settings


def _check_values(settings: Mapping[str, object]) -> None:
    """Refuse settings that are out of range, with their name.

    Raises:
        TypeError, ValueError: as for `generation_settings`.
    """
    wrong = next((name for name in settings if not isinstance(name, str)), None)
    if wrong is not None:
        raise TypeError(f"generation_config must have names of settings as keys, got {shown(wrong)}")
    returned = settings.get("num_return_sequences")
    if returned is not None and (is_bool(returned) or returned != 1):
        raise ValueError(
            f"generation_config.num_return_sequences must be 1, got {shown(returned)}: give the number of texts as "
            "num_samples"
        )
    if settings.get("stop_strings"):  # `generate` looks for them in texts, and needs the tokenizer for that
        cure = "give eos_token_id, or cut the texts in a generate_fn"
        raise ValueError(
            f"generation_config.stop_strings must be left out, got {shown(settings['stop_strings'])}: {cure}"
        )
    for name, check in _CHECKS.items():
        value = settings.get(name)
        if name == "temperature" and value == 0:  # as some harnesses ask for greedy decoding
            if settings.get("do_sample"):
                raise ValueError(
                    "generation_config.temperature must be above 0, got 0: do_sample=False decodes greedily"
                )
        elif value is not None:
            check(f"generation_config.{name}", value)
    ends = settings.get("eos_token_id")
    for value in ends if isinstance(ends, (list, tuple)) else [] if ends is None else [ends]:
        check_count("generation_config.eos_token_id", value, low=-1)


def check_search(name: str, settings: Mapping[str, object]) -> None:
    """Refuse settings of diverse beams and of contrastive search that others make useless or impossible.

    Raises:
        ValueError: with the names of both, after `name`.
    """
    changed = {key: value for key, value in settings.items() if value is not None and value != NEUTRAL.get(key)}
    groups, beams, width = changed.get("num_beam_groups", 1), changed.get("num_beams", 1), changed.get("top_k", 0)
    sampled, penalty, alpha = settings.get("do_sample"), changed.get("diversity_penalty"), changed.get("penalty_alpha")
    needs = {
        "num_beams that num_beam_groups divides": beams % groups != 0,  # type: ignore[operator]  # checked: integers
        "no sampling with num_beam_groups": groups != 1 and sampled,
        "a diversity_penalty above 0 with num_beam_groups": groups != 1 and not penalty,
        "num_beam_groups with diversity_penalty": groups == 1 and penalty,
        "top_k of at least 2 with penalty_alpha": alpha and width < 2,  # type: ignore[operator]
        "no sampling with penalty_alpha": alpha and sampled,
        "one beam with penalty_alpha": alpha and beams != 1,
    }
    needs |= {f"no {key} with penalty_alpha": alpha and key in changed for key in _NOT_CONTRASTIVE}
    missing = next((need for need, is_missing in needs.items() if is_missing), None)
    if missing is not None:
        values = {key: value for key, value in changed.items() if key in (*_SEARCH, "do_sample", "top_k")}
        raise ValueError(f"{name} must have {missing}, got {', '.join(f'{key}={values[key]}' for key in values)}")


def decoder_settings(decoder: str) -> dict[str, object]:
    """Read a decoder in words as settings of generation, complete enough that the model's own defaults have no effect.

    Args:
        decoder: "greedy", "sampling", "beam" (four), or settings with commas between: temperature (0 is greedy), top_k,
            top_p, min_p, typical_p, epsilon_cutoff, eta_cutoff, num_beams, no_repeat_ngram_size, repetition_penalty;
            num_beam_groups and diversity_penalty beside num_beams (diverse beams); penalty_alpha with top_k
            (contrastive search).

    Raises:
        TypeError, ValueError: an unknown setting, one out of range, or two that exclude each other.

    >>> decoder_settings("temperature=0.7,top_p=0.95")["top_p"], decoder_settings("beam")["do_sample"]
    (0.95, False)
    """
    if not isinstance(decoder, str) or not decoder.strip():
        raise TypeError(f"decoder must be a text such as 'greedy' or 'top_p=0.95', got {shown(decoder)}")
    settings: dict[str, object] = dict(NEUTRAL)
    sampler: list[str] = []
    parts = [part.strip() for part in decoder.split(",")]
    if any(re.fullmatch(r"temperature\s*=\s*0*\.?0*", part) for part in parts):  # as some harnesses ask for it
        parse_decoder(",".join(part for part in parts if part.partition("=")[0].strip() in SAMPLER_SETTINGS))
        parts = ["greedy", *(part for part in parts if part.partition("=")[0].strip() not in SAMPLER_SETTINGS)]
    for part in parts:
        name, _, number = (piece.strip() for piece in part.partition("="))
        if part in _NAMED:
            settings |= _NAMED[part]
        elif name in SAMPLER_SETTINGS:
            sampler.append(part)
        elif name in _SEARCH:
            settings[name] = _SEARCH[name](name, _number(number))
        else:
            names = (*_NAMED, *SAMPLER_SETTINGS, *_SEARCH)
            near = did_you_mean(name, names)
            raise ValueError(f"decoder must be made of {', '.join(names)}, got {shown(part)}{near}")
    if "greedy" in parts and settings.get("num_beams", 1) != 1:
        raise ValueError(f"decoder must have one beam to be greedy, got {shown(decoder)}: leave one out")
    if "greedy" in parts and settings.get("penalty_alpha"):
        raise ValueError(f"decoder must be without penalty_alpha to be greedy, got {shown(decoder)}: leave one out")
    if settings.get("penalty_alpha"):
        settings["do_sample"] = False
    elif sampler and not settings["do_sample"]:
        raise ValueError(f"decoder must sample for {sampler[0]}, got {shown(decoder)}: leave greedy or beam out")
    if "num_beams" in settings and not sampler:
        settings["do_sample"] = False
    settings |= parse_decoder(",".join(sampler))
    check_search("decoder", settings)
    return settings


def _number(text: str) -> object:
    """A number in words, as an integer where it is one; the text itself where it is none."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def describe_settings(config: GenerationConfig, model: LanguageModel) -> str:
    """Describe in one line the effective decoding settings, with the model's and the library's defaults filled in.

    A setting that `config` leaves open is taken from the model's `generation_config`, then from the library (where
    top_k is 50), as `generate` does.
    """
    of_library = getattr(type(config), "_get_default_generation_params", None)
    defaults = {"top_k": 50, "top_p": 1.0, "temperature": 1.0} if of_library is None else dict(of_library())
    neutral = {"top_k": 0, **defaults, "do_sample": None, "num_beams": 1}
    of_model = getattr(model, "generation_config", None)
    settings: dict[str, object] = defaults
    for source in (of_model, config):
        values = {} if source is None else source.to_dict()
        settings |= {name: value for name, value in values.items() if value is not None}
    sampling = ("temperature", "top_k", "top_p")
    shown: dict[str, object] = {"do_sample": bool(settings.get("do_sample"))}
    if shown["do_sample"]:
        shown |= {name: settings[name] for name in sampling if name in settings}
    for name, value in sorted(settings.items()):
        hidden = name in shown or name in sampling or name.startswith(_SILENT) or name.endswith("_token_id")
        if not hidden and value != neutral.get(name):
            shown[name] = value
    return ",".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in shown.items()
    )


def known_ids(model: LanguageModel, *places: tuple[object, str]) -> list[int]:
    """The token ids that the model knows in the first attribute of an owner that has any; empty without one."""
    embeddings: Any = model.get_input_embeddings()
    size = getattr(embeddings, "num_embeddings", None)  # of sharded weights, a process sees a part or nothing
    size = int(embeddings.weight.shape[0] if size is None else size)
    for owner, name in places:
        value = getattr(owner, name, None)
        listed = value if isinstance(value, (list, tuple)) else [value]
        ids = [int(token) for token in listed if token is not None and 0 <= token < size]
        if ids:
            return ids
    return []


# --- prompts, texts and their tokens ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prompt:
    """One text to write: the token ids to start from, the most tokens to add, and the prompt as text.

    messages: the conversation, if the prompt is one: then the answer alone is the text. ends: tokens that end the
    answer, beside those that end any text. opening: what the template has already written of the answer.
    """

    ids: tuple[int, ...]
    new_tokens: int
    text: str
    messages: Conversation | None = None
    ends: tuple[int, ...] = ()
    opening: str = ""


@dataclass(frozen=True)
class Generation:
    """One text written: the continuation alone, with its prompt, and as new token ids if they are known."""

    continuation: str
    text: str
    ids: tuple[int, ...] | None = None

    def written(self, prompt: Prompt, inside: bool) -> WrittenText:
        """The text as results and files hold it, with its prompt if that is `inside`."""
        tokens = None if self.ids is None else len(self.ids)
        return WrittenText(prompt.text, self.continuation, self.text if inside else self.continuation, tokens)


def token_ids(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], *, special: bool = True, ended: bool = False
) -> list[list[int]]:
    """Token ids of texts.

    The tokenizer's settings for padding and truncation are not touched.

    Args:
        tokenizer: of transformers.
        texts: what to cut into tokens.
        special: with the special tokens that the tokenizer adds.
        ended: also with the EOS token that some end a text with.
    """
    if not texts:
        return []
    with settings_kept(tokenizer):
        rows = tokenizer(
            list(texts),
            add_special_tokens=special,
            padding=False,
            truncation=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )["input_ids"]
    end = getattr(tokenizer, "eos_token_id", None)
    return [list(row[:-1]) if not ended and len(row) > 1 and row[-1] == end else list(row) for row in rows]


def decode(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int], *, special: bool = False) -> str:
    """The text of token ids, without special tokens unless asked for, and with every space unchanged."""
    return str(tokenizer.decode(list(ids), skip_special_tokens=not special, clean_up_tokenization_spaces=False))


def start_ids(model: LanguageModel, tokenizer: PreTrainedTokenizerBase) -> tuple[int, ...]:
    """First tokens of a text without a prompt: the BOS token, or the token between texts.

    Raises:
        ValueError: neither is known.
    """
    owners = (getattr(model, "generation_config", None), model.config)
    places = [(tokenizer, "bos_token_id"), (tokenizer, "eos_token_id"), *((owner, "bos_token_id") for owner in owners)]
    ids = known_ids(model, *places)
    if not ids:
        raise ValueError(
            "generating without prompts needs a tokenizer with a BOS or an EOS token, and this one has none"
        )
    return (ids[0],)
