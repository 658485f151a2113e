"""Every knob that can change a score, with its default, its meaning and its check, each written once."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any, Literal, SupportsFloat, SupportsIndex, TypeVar

Value = TypeVar("Value")
Check = Callable[[str, object], object]
Featurizer = str | tuple[object, object] | Callable[[list[str]], object]


def is_bool(value: object) -> bool:
    """Whether a value is True or False, Python's or numpy's."""
    return type(value).__name__ in ("bool", "bool_")


def shown(value: object, most: int = 60) -> str:
    """A value as a message repeats it: on one line and at most so many characters long.

    >>> shown("a name"), shown(10**400, most=12)
    ("'a name'", '10000000000…')
    """
    try:
        text = repr(value)
    except Exception:  # a repr is anybody's code, and integers of 5000 digits have none
        text = f"a value of type {type(value).__name__} that cannot be shown"
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _integer(low: int, high: int = 2**31 - 16, *, also: tuple[object, ...] = ()) -> Check:
    """A check for an integer (numpy's count, booleans do not) in [low, high] or one of the values `also`."""
    alternatives = "".join(f" or {value!r}" for value in also)

    def check(name: str, value: object) -> object:
        if any(type(value) is type(other) and value == other for other in also):
            return value
        expected = f"{name} must be an integer from {low} to {high}{alternatives}"
        if is_bool(value) or not isinstance(value, SupportsIndex):
            raise TypeError(f"{expected}, got {shown(value)}")
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"{expected}, got {shown(value)}") from None
        if number in also:
            return number
        if not low <= number <= high:
            raise ValueError(f"{expected}, got {shown(number)}")
        return number

    return check


def _number(low: float, high: float, *, low_included: bool = False, high_included: bool = True) -> Check:
    """A check for a finite real number between low and high."""
    interval = f"{'[' if low_included else '('}{low:g}, {high:g}{']' if high_included else ')'}"

    def check(name: str, value: object) -> float:
        expected = f"{name} must be a number in {interval}"
        if is_bool(value) or not isinstance(value, (SupportsFloat, SupportsIndex)):
            raise TypeError(f"{expected}, got {shown(value)}")
        try:
            number = float(value)
        except OverflowError:
            raise ValueError(f"{expected}, got {shown(value)}") from None
        except (TypeError, ValueError):
            raise TypeError(f"{expected}, got {shown(value)}") from None
        above = number >= low if low_included else number > low
        below = number <= high if high_included else number < high
        if not (above and below) or math.isinf(number):
            raise ValueError(f"{expected}, got {shown(number)}")
        return number

    return check


def _choice(*choices: object) -> Check:
    """A check for one of a few values."""

    def check(name: str, value: object) -> object:
        value = bool(value) if is_bool(value) else value  # numpy's
        for choice in choices:
            if type(value) is type(choice) and value == choice:
                return value
        names = ", ".join(repr(choice) for choice in choices)
        written = value[:60] if isinstance(value, str) else shown(value)
        near = difflib.get_close_matches(written, [str(choice) for choice in choices], n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(f"{name} must be one of {names}, got {shown(value)}{hint}")

    return check


def _several(*choices: str) -> Check:
    """A check for "no" or some of a few words, joined by commas or in a list; they come out in the choices' order."""

    def check(name: str, value: object) -> object:
        expected = f"{name} must be 'no' or a comma-joined list of {', '.join(map(repr, choices))}"
        if not isinstance(value, (str, list, tuple)) or not all(isinstance(part, str) for part in value):
            raise TypeError(f"{expected}, got {shown(value)}")
        words = value.split(",") if isinstance(value, str) else value
        wanted = [word.strip().lower().replace("-", "_").replace(" ", "_") for word in words]
        if wanted in (["no"], []):
            return "no"
        for word in wanted:
            if word not in choices:
                near = difflib.get_close_matches(word[:60], choices, n=1)
                hint = f" (did you mean {near[0]!r}?)" if near else ""
                raise ValueError(f"{expected}, got {shown(value)}{hint}")
        return ",".join(choice for choice in choices if choice in wanted)

    return check


def _model(name: str, value: object) -> object:
    """A check for what names or is a featurizer."""
    if isinstance(value, str) and value.strip():
        return value
    if callable(value) or (isinstance(value, tuple) and len(value) == 2):
        return value
    raise TypeError(
        f"{name} must be a model name or folder, a (model, tokenizer) pair, or a function from a list of texts "
        f"to an array, got {shown(value)}"
    )


def _prefix(name: str, value: object) -> object:
    """A check for None or text that can stand before another text."""
    if value is None:
        return value
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text that is put before each text, got {shown(value)}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} must be text, got {value!a:.60}, with half of a surrogate pair") from error
    if len(value) > LONGEST_PREFIX:
        raise ValueError(f"{name} must be at most {LONGEST_PREFIX} characters long, got {len(value)}: {shown(value)}")
    return value


def knob(
    default: Value,
    check: Check,
    stage: str,
    help: str,
    choices: tuple[object, ...] | None = None,
    metavar: str | None = None,
    of: str | None = None,
) -> Value:
    """A field of options: its default, its check, the stage that reads it, its meaning, and what the shell calls it.

    of: the one quantizer that reads it.
    """
    metadata = {"check": check, "stage": stage, "help": help, "choices": choices, "metavar": metavar, "of": of}
    return field(default=default, metadata=metadata)


POOLINGS = ("auto", "last", "mean", "cls")
DTYPES = ("float32", "float64", "bfloat16", "float16")
ROW_ORDERS = ("qp", "pq")
EMPTY_TEXTS = ("error", "drop")
# What can be taken off texts, in order.
STRIP = ("reasoning", "special_tokens", "prompts", "markdown", "whitespace", "line_breaks")
MATCH_LENGTHS = ("no", "truncate")
QUANTIZERS = ("kmeans", "drmm", "lattice", "classifier")
KNN = ("auto", True, False)
VERBATIM = ("featurize_model_name", "text_prefix")  # whose text is never read as a number, nor stripped
LONGEST_PREFIX = 1000  # characters; more would leave little room for a text
RENAMED = {"paired": "aligned", "prompts_of": "q_groups"}  # of earlier versions, for messages
SMALLEST_SCALING_FACTOR = 1e-6  # below, every score is 1 to six digits, and its errors are 0/0 in the end


@dataclass(frozen=True, kw_only=True)
class MauveConfig:
    """Everything that can change a score and nothing else; names and defaults are those of mauve-text.

    Values are checked on construction.

    Raises:
        TypeError: a value of the wrong type.
        ValueError: a value out of range.

    >>> MauveConfig(num_buckets=100).num_buckets
    100
    >>> MauveConfig(mauve_scaling_factor=-1)
    Traceback (most recent call last):
    ValueError: mauve_scaling_factor must be a number in [1e-06, 10000], got -1.0
    """

    featurize_model_name: Featurizer = knob(
        "gpt2-large",
        _model,
        "featurize",
        "featurizer: 'minilm' or 'ngrams' (packaged, no download), or any name or local folder that transformers' "
        "AutoModel loads; "
        "in Python also a (model, tokenizer) pair or a function from texts to an array",
    )
    max_text_length: int | None = knob(
        None,
        _integer(1, also=(None,)),
        "featurize",
        "tokens kept of each text; unset: 1024, or the most that the model takes if that is less",
    )
    pooling: Literal["auto", "last", "mean", "cls"] = knob(
        "auto",
        _choice(*POOLINGS),
        "featurize",
        "how the token states become one feature: last token, mean over tokens, first token; "
        "auto: what the literature or a sentence encoder's own folder says, the last token otherwise",
        POOLINGS,
    )
    text_prefix: str | None = knob(
        None,
        _prefix,
        "featurize",
        "text put before each text of both sets, such as 'query: '; unset: what the featurizer was trained with, for "
        "those with a preset (e5), else none",
    )
    dtype: Literal["float32", "float64", "bfloat16", "float16"] = knob(
        "float32", _choice(*DTYPES), "featurize", "number format in which the model runs", DTYPES
    )
    empty_texts: Literal["error", "drop"] = knob(
        "error",
        _choice(*EMPTY_TEXTS),
        "featurize",
        "what to do with empty or whitespace-only texts: stop, or drop and count them",
        EMPTY_TEXTS,
    )
    strip: str | list[str] | tuple[str, ...] = knob(
        "no",
        _several(*STRIP),
        "featurize",
        f"what to take off the texts of both sets, joined by commas: {', '.join(STRIP)} (prompts: a leading copy of "
        "one of them)",
    )
    match_lengths: Literal["no", "truncate"] = knob(
        "no",
        _choice(*MATCH_LENGTHS),
        "featurize",
        "truncate: cut the texts of both sets to the smaller of their two median lengths, in tokens",
        MATCH_LENGTHS,
    )
    quantizer: Literal["kmeans", "drmm", "lattice", "classifier"] = knob(
        "kmeans",
        _choice(*QUANTIZERS),
        "quantize",
        "how features become buckets; drmm: a deep residual mixture model, lattice: points of an integer sphere that "
        "a network spreads them over, both trained on them; classifier: scores of a cross-fitted classifier of the two "
        "sets",
        QUANTIZERS,
    )
    num_buckets: int | Literal["auto"] = knob(
        "auto",
        _integer(1, also=("auto",)),
        "quantize",
        "number of k-means buckets; auto: a tenth of the smaller set, at least 2 (classifier: a fifteenth, 4 to 50)",
    )
    row_order: Literal["qp", "pq"] = knob(
        "qp",
        _choice(*ROW_ORDERS),
        "quantize",
        "order in which the two sets are stacked before clustering; it moves the k-means start",
        ROW_ORDERS,
    )
    pca_max_data: int = knob(
        -1, _integer(2, 2**63 - 1, also=(-1,)), "quantize", "most rows that the PCA is fitted on; -1: all"
    )
    kmeans_explained_var: float = knob(
        0.9, _number(0, 1), "quantize", "share of the variance that the PCA keeps; 1: every component"
    )
    kmeans_num_redo: int = knob(5, _integer(1, 10_000), "quantize", "k-means restarts; the best is kept", of="kmeans")
    kmeans_max_iter: int = knob(
        500, _integer(1, 10_000_000), "quantize", "most iterations of one k-means run", of="kmeans"
    )
    drmm_layers: int = knob(
        3, _integer(1, 16), "quantize", "drmm: mixtures, each of what the one before left", of="drmm"
    )
    drmm_components: int = knob(
        10,
        _integer(2, 1000),
        "quantize",
        "drmm: Gaussians of a layer; buckets are their number to the power of layers",
        of="drmm",
    )
    drmm_steps: int = knob(10_000, _integer(1, 10_000_000), "quantize", "drmm: training steps, 64 rows each", of="drmm")
    lattice_squared_radius: int = knob(
        50,
        _integer(1, 1000),
        "quantize",
        "lattice: of the integer sphere; 50: 744 buckets",
        of="lattice",
    )
    lattice_epochs: int = knob(
        50, _integer(1, 100_000), "quantize", "lattice: training passes over the features", of="lattice"
    )
    lattice_hidden: int = knob(256, _integer(1, 65_536), "quantize", "lattice: width of the network", of="lattice")
    lattice_spread: float = knob(
        1.0, _number(0, 1000), "quantize", "lattice: weight of spreading over the sphere in the loss", of="lattice"
    )
    seed: int = knob(25, _integer(0), "quantize", "seed of the clustering")
    divergence_curve_discretization_size: int = knob(
        25, _integer(2, 1_000_000), "score", "number of mixture weights on the divergence curve"
    )
    mauve_scaling_factor: float = knob(
        5,
        _number(SMALLEST_SCALING_FACTOR, 10_000, low_included=True),
        "score",
        "c, the constant that scales the divergences; the literature uses 5",
    )

    num_runs: int | Literal["auto"] = knob(
        "auto",
        _integer(1, 10_000, also=("auto",)),
        "score",
        "clusterings with as many seeds, for the spread over them; auto: 5 below 1000 texts a side, else 1",
    )
    confidence_level: float = knob(
        0.95, _number(0, 1, high_included=False), "score", "level of the intervals of the debiased scores"
    )
    permutations: int = knob(
        0, _integer(0, 10_000_000), "score", "random splits of the permutation test; 0: no test, no p-value"
    )
    knn: bool | Literal["auto"] = knob(
        "auto",
        _choice(*KNN),
        "score",
        "nearest-neighbour precision, recall, density, coverage; auto: up to 10000 texts a side; "
        "true: above 20000 a side on as many random ones",
        KNN,
    )
    knn_k: int = knob(4, _integer(1, 1000), "score", "the neighbour that sets the radius of a ball")
    frechet_distance: bool = knob(False, _choice(True, False), "score", "also the Fréchet distance of the features")

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, item.metadata["check"](item.name, getattr(self, item.name)))


def knobs() -> dict[str, Any]:
    """The fields of `MauveConfig` by name: default, and `metadata` with check, stage, help and choices."""
    return {item.name: item for item in fields(MauveConfig)}


def unknown_options(names: Iterable[str], known: Iterable[str]) -> str:
    """One sentence that names unknown options and, for each, the nearest known one; empty if all are known.

    >>> unknown_options(["num_bucket"], ["num_buckets", "seed"])
    "unknown option 'num_bucket' (did you mean 'num_buckets'?)"
    """
    known = list(known)
    parts = []
    for name in names:
        if name not in known:
            near = RENAMED.get(name) or next(iter(difflib.get_close_matches(name, known, n=1, cutoff=0.5)), None)
            parts.append(f"unknown option {shown(name)}" + (f" (did you mean {near!r}?)" if near else ""))
    return "; ".join(parts)


def check_bool(name: str, value: object) -> bool:
    """Return True or False, numpy's too; otherwise `TypeError`."""
    if not is_bool(value):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def check_count(name: str, value: object, low: int = 1) -> int:
    """A number as it was given, an integer of at least `low`; otherwise `TypeError` or `ValueError`."""
    expected = f"{name} must be an integer of at least {low}"
    if is_bool(value) or not isinstance(value, SupportsIndex):
        raise TypeError(f"{expected}, got {shown(value)}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{expected}, got {shown(value)}") from None
    if number < low:
        raise ValueError(f"{expected}, got {shown(number)}")
    return number


def check_number(name: str, value: object, low: float, high: float, *, low_included: bool = False) -> float:
    """Return a finite real number above `low` (or at it, with `low_included`) and below `high`.

    Raises:
        TypeError: no number. ValueError: out of range.

    >>> check_number("level", 0.95, 0, 1)
    0.95
    """
    return float(_number(low, high, low_included=low_included, high_included=False)(name, value))  # type: ignore[arg-type]
