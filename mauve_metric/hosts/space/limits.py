"""The limits on requests of a visitor, and their checks."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from mauve_metric.options import config_fields
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import WrongOption

MOST_NAME_CHARACTERS = 200  # of a model or a featurizer
MODELS = "minilm,ngrams,use"  # what a visitor may choose, with commas between; the first is preset


@dataclass(frozen=True)
class Limits:
    """The limits on requests of one visitor.

    texts: in one set. characters: in one text. megabytes: in one file, and of its texts once unpacked. model_sets:
    beside the human texts. total_texts, total_megabytes: in all sets together. buckets: of the histograms. points:
    drawn in the map of texts. waiting: runs in the queue. sessions: visitors whose texts and features are kept at a
    time. waiting_each: of `waiting`, runs of one client, the one at work included. seconds: that a run may take.
    tokens: that a model may read in one run. folder_megabytes: of all uploads and files to take away.
    judged_megabytes: of the texts that people judge at a time. client_megabytes: of the uploads of one client, and of
    the texts that it judges.
    """

    texts: int = 5000
    characters: int = 20_000
    megabytes: int = 20
    model_sets: int = 8
    total_texts: int = 20_000
    total_megabytes: int = 30
    buckets: int = 1000
    points: int = 3000
    waiting: int = 20
    sessions: int = 40
    waiting_each: int = 3
    seconds: int = 300
    tokens: int = 2_000_000
    folder_megabytes: int = 2000
    client_megabytes: int = 400
    judged_megabytes: int = 500

    @property
    def bytes(self) -> int:
        """`megabytes` in bytes."""
        return self.megabytes * 2**20

    @property
    def total_bytes(self) -> int:
        """`total_megabytes` in bytes."""
        return self.total_megabytes * 2**20


def read_limits(environment: Mapping[str, str]) -> Limits:
    """The limits, each overridden by a variable such as `MAUVE_METRIC_MAX_TEXTS`.

    Raises:
        ValueError: a variable that is not a positive integer.

    >>> read_limits({"MAUVE_METRIC_MAX_TEXTS": "100"}).texts
    100
    """
    values = {}
    for limit in fields(Limits):
        variable = f"MAUVE_METRIC_MAX_{limit.name.upper()}"
        text = environment.get(variable, str(limit.default))
        if not (text.isascii() and text.isdecimal() and len(text) < 20) or int(text) < 1:
            raise ValueError(f"{variable} must be a positive integer, got {shown(text)}")
        values[limit.name] = int(text)
    return Limits(**values)


def client_of(address: Sequence[object] | None) -> str:
    """The client at the address (host and port) of a request, None if it has none: the host.

    Of IPv6 it is the host's network, of which one client has every address.

    >>> client_of(("192.0.2.1", 80)), client_of(("2001:db8::1", 80)), client_of(None)
    ('192.0.2.1', '2001:db8::/64', '')
    """
    host = str(address[0]) if address else ""
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).version == 6:
            return str(ipaddress.ip_network((host, 64), strict=False))
    return host


def read_models(environment: Mapping[str, str]) -> list[str]:
    """The featurizers that a visitor may choose: those in `MAUVE_METRIC_MODELS`, with commas between them.

    It is a list because a name that a visitor writes would let strangers download and run anything.

    Raises:
        ValueError: an empty list.
    """
    names = [name.strip() for name in environment.get("MAUVE_METRIC_MODELS", MODELS).split(",")]
    if not any(names):
        raise ValueError("MAUVE_METRIC_MODELS must name at least one featurizer, got none")
    return [name for name in names if name]


def check_texts(name: str, texts: object, limits: Limits) -> list[str]:
    """Return the texts if they are a list within the limits; the library checks the items.

    Raises:
        TypeError: not a list. ValueError: too many, too long, or too much in all.
    """
    if not isinstance(texts, list):
        raise TypeError(f"{name} must be a list of texts, got {type(texts).__name__}")
    if len(texts) > limits.texts:
        raise ValueError(f"{name}: at most {limits.texts} texts are taken here, got {len(texts)}")
    lengths = [len(text) if isinstance(text, str) else 0 for text in texts]
    for index, length in enumerate(lengths):
        if length > limits.characters:
            most = f"a text may have at most {limits.characters} characters here"
            raise ValueError(f"{name}: {most}, got {length} at position {index}")
    if sum(lengths) > limits.bytes:
        most = f"the texts may have at most {limits.bytes} characters together here"
        raise ValueError(f"{name}: {most}, got {sum(lengths)}")
    return texts


def check_name(kind: str, name: str) -> str:
    """Check the name of a model or a featurizer, which answers repeat many times.

    Raises:
        ValueError: an empty name, one of more than 200 characters, or half of a character in it.

    >>> check_name("models", "gpt2")
    'gpt2'
    """
    if not name.strip():
        raise ValueError(f"{kind}: names must be non-empty strings, got {shown(name)}")
    if len(name) > MOST_NAME_CHARACTERS:
        raise ValueError(f"{kind}: names may have at most {MOST_NAME_CHARACTERS} characters here, got {len(name)}")
    if any("\ud800" <= mark <= "\udfff" for mark in name):
        raise ValueError(f"{kind}: names must be Unicode text, got half of a character in {name!r:.60}")
    return name


def check_together(sets: Iterable[Sequence[object]], limits: Limits) -> None:
    """Raise `ValueError` for sets that exceed the limits only together."""
    sets = list(sets)
    texts = sum(map(len, sets))
    if texts > limits.total_texts:
        raise ValueError(f"all sets together may hold at most {limits.total_texts} texts here, got {texts}")
    characters = sum(len(text) for part in sets for text in part if isinstance(text, str))
    if characters > limits.total_bytes:
        most = f"at most {limits.total_bytes} characters here"
        raise ValueError(f"all sets together may hold {most}, got {characters}")


def other_featurizers(options: Mapping[str, object]) -> tuple[str, ...]:
    """The featurizers that a visitor's options name after the first."""
    featurizers = options.get("featurizers", ())
    return tuple(map(str, featurizers)) if isinstance(featurizers, (list, tuple)) else ()


def check_options(options: Mapping[str, object], models: Sequence[str], limits: Limits) -> None:
    """Raise `ValueError` for a featurizer that is not offered and for a value that costs the server too much."""
    for model in (options.get("featurize_model_name"), *other_featurizers(options)):
        if model not in models:
            raise ValueError(f"featurize_model_name must be one of {', '.join(models)} here, got {str(model)[:60]!r}")
    for name, knob in config_fields().items():
        most = limits.buckets if name == "num_buckets" else knob.metadata["most"]
        value = options.get(name, knob.default)
        if most is not None and isinstance(value, (int, float)) and value > most:
            raise WrongOption.of(name, f"may be at most {most} here, got {value}")
