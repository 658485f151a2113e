"""Settings of a decoder: the distribution that generation samples from, after temperature and truncation."""

from __future__ import annotations

from typing import TypedDict, cast

from mauve_metric.runtime.checks import Check, check_count, did_you_mean, number_check

SAMPLER_SETTINGS: dict[str, tuple[str, Check]] = {  # the class in transformers; in the order of `generate`
    "temperature": ("TemperatureLogitsWarper", number_check("(0, 1e+06]")),
    "top_k": ("TopKLogitsWarper", check_count),
    "top_p": ("TopPLogitsWarper", number_check("(0, 1]")),
    "min_p": ("MinPLogitsWarper", number_check("(0, 1]")),
    "typical_p": ("TypicalLogitsWarper", number_check("(0, 1]")),
    "epsilon_cutoff": ("EpsilonLogitsWarper", number_check("(0, 1)")),
    "eta_cutoff": ("EtaLogitsWarper", number_check("(0, 1)")),
}
_NAMED = {"greedy": "top_k=1", "sampling": ""}


class Decoder(TypedDict, total=False):
    """Settings of generation that change the distribution of a token; one that is missing changes nothing.

    temperature: above 0, divides the logits. top_k: tokens that stay, ties of the last one too. top_p: the smallest
    set of the most likely tokens with at least this probability stays. min_p: tokens of at least this share of the
    largest probability stay. typical_p: mass of the tokens nearest to the entropy that stay. epsilon_cutoff: tokens of
    at least this probability stay. eta_cutoff: likewise, of less where the entropy is high (Hewitt et al. 2022).
    """

    temperature: float
    top_k: int
    top_p: float
    min_p: float
    typical_p: float
    epsilon_cutoff: float
    eta_cutoff: float


def parse_decoder(text: str) -> Decoder:
    """Read a decoder in words: "greedy", "sampling", or settings such as "temperature=0.7,top_p=0.95".

    Temperature 0 is greedy decoding, whatever is truncated beside it.

    Raises:
        ValueError: another name, or no number.

    >>> parse_decoder("temperature=0.7,top_k=40"), parse_decoder("greedy"), parse_decoder("temperature=0")
    ({'temperature': 0.7, 'top_k': 40}, {'top_k': 1}, {'top_k': 1})
    """
    settings: dict[str, float] = {}
    for part in filter(None, _NAMED.get(text.strip(), text).split(",")):
        name, _, number = (piece.strip() for piece in part.partition("="))
        try:
            settings[name] = int(number) if name == "top_k" else float(number)
        except ValueError as error:
            raise ValueError(
                f"a decoder must be greedy, sampling or settings such as temperature=0.7,top_p=0.95, got {part!r}"
            ) from error
    is_greedy = settings.get("temperature") == 0
    applied = applied_settings(cast("Decoder", settings | ({"temperature": 1.0} if is_greedy else {})))
    return {"top_k": 1} if is_greedy else applied


def applied_settings(decoder: Decoder) -> Decoder:
    """The settings that change the distribution, checked, in the order in which generation applies them.

    Raises:
        TypeError, ValueError: an unknown setting, or one out of range.

    >>> applied_settings({"top_p": 0.9, "temperature": 0.7, "typical_p": 1.0})
    {'temperature': 0.7, 'top_p': 0.9}
    """
    for name in decoder:
        if name not in SAMPLER_SETTINGS:
            near = did_you_mean(name, SAMPLER_SETTINGS)
            raise ValueError(f"a decoder has the settings {', '.join(SAMPLER_SETTINGS)}, got {name!r}{near}")
    settings = {name: SAMPLER_SETTINGS[name][1](name, value) for name, value in decoder.items()}
    no_change = [name for name in ("temperature", "top_p", "typical_p") if settings.get(name) == 1]
    return cast("Decoder", {name: settings[name] for name in SAMPLER_SETTINGS if name in settings.keys() - no_change})


def describe_decoder(decoder: Decoder) -> str:
    """The settings as `parse_decoder` reads them; empty for the model's own distribution.

    >>> describe_decoder({"temperature": 0.7, "top_p": 0.95})
    'temperature=0.7,top_p=0.95'
    """
    return ",".join(f"{name}={value:g}" for name, value in decoder.items())
