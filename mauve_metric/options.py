"""Every option: `MauveConfig` can change a score, `RunOptions` changes only speed or output."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, TypeVar

from mauve_metric.inputs.sources import text_source
from mauve_metric.runtime.checks import (
    Check,
    check_bool,
    check_count,
    check_device_name,
    check_known_options,
    choice_check,
    did_you_mean,
    integer_check,
    is_bool,
    number_check,
    or_none,
    shown,
    wrong,
)
from mauve_metric.runtime.errors import NotTexts, WrongOption
from mauve_metric.runtime.openai_client import base_address

logger = logging.getLogger(__name__)

Function = TypeVar("Function", bound=Callable[..., object])


class Encodes(Hashable, Protocol):
    """An object that turns texts into features, as SentenceTransformer and model2vec's StaticModel do."""

    @property
    def encode(self) -> Callable[..., Any]:
        """From a list of texts to rows, (n, d)."""


Featurizer = str | tuple[object, object] | Callable[[list[str]], object] | Encodes


def _strip(name: str, value: object) -> object:
    """A check for "no" or some of `STRIP`, joined by commas or in a list; they come out in its order."""
    if isinstance(value, str) and value == "no":
        return value
    expected = f"'no' or a comma-joined list of {', '.join(STRIP)}"
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, (list, tuple)) or not all(isinstance(part, str) for part in words):
        raise wrong(name, expected, value)
    wanted = [word.strip().lower().replace("-", "_").replace(" ", "_") for word in words]
    if wanted in (["no"], []):
        return "no"
    for word in wanted:
        if word not in STRIP:
            near = did_you_mean(word[:60], STRIP)
            raise WrongOption.of(name, f"must be {expected}, got {shown(value)}{near}")
    return ",".join(choice for choice in STRIP if choice in wanted)


def _model(name: str, value: object) -> object:
    """A check for what names or is a featurizer."""
    if isinstance(value, str) and value.strip() == "server:":
        raise WrongOption.of(name, "must name the server's model, as in 'server:bge-m3', got 'server:'")
    named = isinstance(value, str) and value.strip()
    is_function = callable(value) or (not isinstance(value, str) and callable(getattr(value, "encode", None)))
    if named or is_function or (isinstance(value, tuple) and len(value) == 2):
        return value
    expected = "a model name or folder, a (model, tokenizer) pair, or a function from a list of texts to an array"
    raise wrong(name, expected, value)


def _prefix(name: str, value: object) -> object:
    """A check for text that can be put before another text."""
    if not isinstance(value, str):
        raise wrong(name, "text that is put before each text", value)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise NotTexts.of(name, f"must be text, got {value!a:.60}, with half of a surrogate pair") from error
    if len(value) > LONGEST_PREFIX:
        most = f"must be at most {LONGEST_PREFIX} characters long"
        raise WrongOption.of(name, f"{most}, got {len(value)}: {shown(value)}")
    return value


def _column(name: str, value: object) -> object:
    """A check for the name of a column."""
    if not isinstance(value, str) or not value:
        raise wrong(name, "the name of a column", value)
    return value


def _label(name: str, value: object) -> object:
    """A check for the name of a set in sentences and tables."""
    if not isinstance(value, str):
        raise wrong(name, "a short name, such as 'release 1.2'", value)
    if not value.strip() or not value.isprintable() or len(value) > LONGEST_LABEL:
        expected = f"a name of 1 to {LONGEST_LABEL} characters on one line, such as 'release 1.2'"
        raise WrongOption.of(name, f"must be {expected}, got {shown(value)}")
    return value.strip()


def _address(name: str, value: object) -> object:
    """A check for the address of a server."""
    return base_address(value, name)


def _prompts(name: str, value: object) -> object:
    """A check for the name of a file of texts, or texts, of which a tuple is made."""
    if isinstance(value, (str, Path)):
        return _folder(name, value, "a list of texts or the name of a file")
    return tuple(text_source(name, value, cure="").texts)


def _folder_or_bool(name: str, value: object) -> object:
    """A check for True, False or a folder."""
    return bool(value) if is_bool(value) else _folder(name, value, "True, False or a folder")


def _folder(name: str, value: object, expected: str = "a folder") -> str | Path:
    """A folder's name as it was given; an empty one would be the working directory."""
    if not isinstance(value, (str, Path)):
        raise wrong(name, expected, value)
    if not str(value).strip():
        raise WrongOption.of(name, f"must be {expected}, got the empty name {value!r}")
    try:
        os.fsencode(Path(value).expanduser())
    except (RuntimeError, UnicodeEncodeError) as error:  # another user's folder, half of a character
        raise WrongOption.of(name, f"must be {expected}, got {shown(value)}, which names none") from error
    if "\0" in str(value):
        raise WrongOption.of(name, f"must be {expected}, got {shown(value)} with a null character")
    return value


def option(
    default: object,
    check: Check | tuple[object, ...],
    help: str,
    *,
    stage: str,
    metavar: str | None = None,
    of: str | None = None,
    encodes: bool = False,
    label: str | None = None,
    most: float | None = None,
    ignored_by: tuple[str, ...] = (),
    common: bool = False,
    published: bool = True,
    usual: object = None,
) -> Any:
    """A field of options: its default, its check or its choices, its meaning, and the stage that reads it.

    metavar: its value in the help of the shell. of: the one quantizer that reads it. encodes: it is a keyword of
    `load_encoder`, and an entry of the identity of features. label: of its control on the page,
    where that is not its name. most: the largest value that the page takes. ignored_by: the public functions that make
    no use of it. common: many people use it, so that the short help of a command has it. published: another value than
    the default makes `mauve` another number than the literature's. usual: what "auto" gives, where that depends on
    nothing.
    """
    choices = check if isinstance(check, tuple) else None
    checked = choice_check(*check) if isinstance(check, tuple) else check
    metadata = {"check": checked, "stage": stage, "help": help, "choices": choices, "metavar": metavar, "of": of}
    metadata |= {"encodes": encodes, "label": label, "most": most, "ignored_by": ignored_by, "common": common}
    metadata |= {"published": published, "usual": default if usual is None else usual}
    return field(default=default, metadata=metadata)


_featurize, _quantize = partial(option, stage="featurize"), partial(option, stage="quantize")
_encode = partial(_featurize, encodes=True)
_kmeans, _drmm = partial(_quantize, of="kmeans"), partial(_quantize, of="drmm")
_lattice = partial(_quantize, of="lattice")
_score = partial(option, stage="score")
_speed, _texts, _host = partial(option, stage="speed"), partial(option, stage="texts"), partial(option, stage="host")
_output = partial(option, stage="output")

# Short names for several featurizers that see different things, where several are allowed.
FEATURIZER_SETS: Mapping[str, tuple[str, ...]] = {"standard": ("minilm", "ngrams")}
# What can be taken off texts, in order.
STRIP = (
    *("undecoded", "reasoning", "special_tokens", "prompts", "next_turn", "unicode"),
    *("html", "markdown", "list_numbers", "outer_quotes", "whitespace", "line_breaks"),
    *("punctuation_blanks", "quotes", "capitals"),
)
_SCORES_APART = ("human_baseline", "robustness", "stress_test")  # which have MAUVE alone
HUMAN = "human"  # the name of the reference texts unless another is given
VERBATIM = (
    "featurize_model_name",
    "text_prefix",
    "reference_name",
)  # whose text is never read as a number, nor stripped
LONGEST_LABEL = 60  # characters of the name of a set, so that a sentence with it stays a line
LONGEST_PREFIX = 1000  # characters; more would leave little room for a text
SMALLEST_SCALING_FACTOR = 1e-6  # below, every score is 1 to six digits, and its errors are 0/0 in the end


class CheckedFields:
    """A dataclass whose fields may have a check in their metadata, which returns the value to keep."""

    def __post_init__(self) -> None:
        for option in fields(self):  # type: ignore[arg-type]
            if check := option.metadata.get("check"):
                object.__setattr__(self, option.name, check(option.name, getattr(self, option.name)))


@dataclass(frozen=True, kw_only=True)
class MauveConfig(CheckedFields):
    """Everything that can change a score and nothing else; names and defaults are those of mauve-text.

    Values are checked on construction.

    Raises:
        TypeError: a value of the wrong type.
        ValueError: a value out of range.

    >>> MauveConfig(num_buckets=100).num_buckets
    100
    >>> MauveConfig(mauve_scaling_factor=-1)
    Traceback (most recent call last):
    mauve_metric.runtime.errors.WrongOption: mauve_scaling_factor must be a number in [1e-06, 10000], got -1.0
    """

    featurize_model_name: Featurizer = _featurize(
        "gpt2-large",
        _model,
        "featurizer: 'standard' (minilm for topics and wording, and ngrams for grammar, spelling and layout), "
        "'minilm', 'use', 'smollm2' or 'ngrams' (packaged, no download), 'server:MODEL', or a name or "
        "folder that transformers' AutoModel loads; in Python also a (model, tokenizer) pair, an object with a method "
        "encode, or a function from texts to an array",
        metavar="MODEL",
        label="Featurizer",
        common=True,
    )
    max_text_length: int | None = _encode(
        None,
        integer_check(1, also=(None,)),
        "tokens kept of each text; unset: 1024, or the most that the model takes if that is less",
        most=4096,
    )
    pooling: Literal["auto", "last", "mean", "cls"] = _encode(
        "auto",
        ("auto", "last", "mean", "cls"),
        "how the token states become one feature: last token, mean over tokens, first token; "
        "auto: as in the literature or the encoder's own folder, else the last token",
    )
    text_prefix: str | None = _encode(
        None,
        or_none(_prefix),
        "text put before each text, such as 'query: '; unset: that of the featurizer's preset (e5), else none",
    )
    dtype: Literal["float32", "float64", "bfloat16", "float16"] = _encode(
        "float32",
        ("float32", "float64", "bfloat16", "float16"),
        "number format in which the model runs",
        label="Number format",
    )
    empty_texts: Literal["error", "drop"] = _featurize(
        "error",
        ("error", "drop"),
        "what to do with empty or whitespace-only texts: stop, or drop and count them",
    )
    strip: str | list[str] | tuple[str, ...] = _featurize(
        "no",
        _strip,
        f"what to take off the texts of both sets, joined by commas: {', '.join(STRIP)} (prompts: a leading copy of "
        "one of them; unicode: NFKC forms of characters, without invisible ones; quotes: curly ones and dashes become "
        "those of a keyboard)",
        common=True,
    )
    match_lengths: Literal["no", "truncate"] = _featurize(
        "no",
        ("no", "truncate"),
        "truncate: cut the texts of both sets to the smaller of their two median lengths, in tokens",
        ignored_by=("featurize", "score_sharded", "stress_test"),
        common=True,
    )
    quantizer: Literal["kmeans", "drmm", "lattice", "classifier"] = _quantize(
        "kmeans",
        ("kmeans", "drmm", "lattice", "classifier"),
        "how features become buckets; drmm: a deep residual mixture model, lattice: points of an integer sphere, both "
        "trained on the features; classifier: scores of a cross-fitted classifier of the two sets",
        common=True,
    )
    num_buckets: int | Literal["auto"] = _quantize(
        "auto",
        integer_check(1, also=("auto",)),
        "number of buckets; auto: a tenth of the smaller set, at least 2 (drmm, lattice: the nearest number that they "
        "make; classifier: a fifteenth, 4 to 50), and where texts share prompts, at most half as many as prompts for "
        "the debiased scores",
        label="Number of buckets",
        common=True,
    )
    row_order: Literal["qp", "pq"] = _quantize(
        "qp",
        ("qp", "pq"),
        "order in which the two sets are stacked before clustering; it moves the k-means start",
        published=False,
    )
    pca_max_data: int = _quantize(
        -1,
        integer_check(2, 2**63 - 1, also=(-1,)),
        "most rows that the PCA is fitted on; -1: all",
        label="Most rows for the PCA",
    )
    kmeans_explained_var: float = _quantize(
        0.9, number_check("(0, 1]"), "share of the variance that the PCA keeps; 1: every component"
    )
    kmeans_num_redo: int | Literal["auto"] = _kmeans(
        "auto",
        integer_check(1, 10_000, also=("auto",)),
        "k-means starts; the best is kept; auto: 5 for `mauve`, as in the literature, 1 for each debiased clustering",
        most=20,
        usual=5,
    )
    kmeans_max_iter: int = _kmeans(500, integer_check(1, 10_000_000), "most iterations of one k-means run", most=2000)
    drmm_layers: int | Literal["auto"] = _drmm(
        "auto",
        integer_check(1, 16, also=("auto",)),
        "drmm: mixtures, each of what the one before left; auto: for about ten texts a bucket (paper: 3)",
        most=3,
    )
    drmm_components: int | Literal["auto"] = _drmm(
        "auto",
        integer_check(2, 1000, also=("auto",)),
        "drmm: Gaussians of a layer; buckets are their number to the power of layers; auto: for about ten texts a "
        "bucket (paper: 10)",
        most=10,
    )
    drmm_steps: int | Literal["auto"] = _drmm(
        "auto",
        integer_check(1, 10_000_000, also=("auto",)),
        "drmm: training steps, 64 rows each; auto: 2000 (paper: 20 a text)",
        most=10_000,
    )
    drmm_preset: Literal["short", "paper"] = _drmm(
        "short",
        ("short", "paper"),
        "drmm: how it is trained; paper: as by the papers' code, where auto layers, components and steps are its own",
    )
    lattice_squared_radius: int | Literal["auto"] = _lattice(
        "auto",
        integer_check(1, 1000, also=("auto",)),
        "lattice: squared radius of the integer sphere; auto: for about ten texts a bucket (paper: 50, 744 buckets)",
        most=50,
    )
    lattice_epochs: int | Literal["auto"] = _lattice(
        "auto",
        integer_check(1, 100_000, also=("auto",)),
        "lattice: training passes over the features; auto: 100,000 rows in all, in 10 to 50 passes (paper: 200)",
        most=50,
    )
    lattice_hidden: int | Literal["auto"] = _lattice(
        "auto",
        integer_check(1, 65_536, also=("auto",)),
        "lattice: width of the network; auto: 256 (paper: 768)",
        most=256,
    )
    lattice_spread: float = _lattice(
        1.0, number_check("(0, 1000]"), "lattice: weight of spreading over the sphere in the loss"
    )
    lattice_preset: Literal["short", "paper"] = _lattice(
        "short",
        ("short", "paper"),
        "lattice: how it is trained; paper: as by the papers' code, where auto radius, epochs and width are its own",
    )
    independent: bool = _quantize(
        False,
        choice_check(True, False),
        "declare that every row is a draw of its own: no pairs, copies or answers to one prompt are looked for",
        label="Every row is a draw of its own",
        ignored_by=("featurize", "score_sharded", "stress_test"),
        common=True,
        published=False,
    )
    seed: int = _quantize(25, integer_check(0), "seed of the clustering", common=True, published=False)
    divergence_curve_discretization_size: int = _score(
        25, integer_check(2, 1_000_000), "number of mixture weights on the divergence curve", most=1000
    )
    mauve_scaling_factor: float = _score(
        5,
        number_check(f"[{SMALLEST_SCALING_FACTOR:g}, 10000]"),
        "scaling constant c in exp(-c·KL); 5 in the literature",
        label="Scaling factor c",
        most=100,
    )

    num_runs: int | Literal["auto"] = _quantize(
        "auto",
        integer_check(1, 10_000, also=("auto",)),
        "clusterings with as many seeds, for the spread over them; auto: 5 below 1000 texts a side, else 1",
        most=10,
        ignored_by=("human_baseline",),
        published=False,
    )
    confidence_level: float = _score(
        0.95,
        number_check("(0, 1)"),
        "level of the intervals of the debiased scores",
        label="Level of the intervals",
        published=False,
    )
    permutations: int = _score(
        0,
        integer_check(0, 10_000_000),
        "random splits of the permutation test; 0: none, and in a stress test as many as it takes",
        most=9999,
        ignored_by=("explain", "human_baseline", "robustness"),
        common=True,
        published=False,
    )
    knn: bool | Literal["auto"] = _score(
        "auto",
        ("auto", True, False),
        "nearest-neighbour precision, recall, density, coverage; auto: up to 10000 texts a side; "
        "true: above 20000 a side on as many random ones",
        label="Nearest-neighbour scores",
        ignored_by=_SCORES_APART,
        published=False,
    )
    knn_k: int = _score(
        4,
        integer_check(1, 1000),
        "the neighbour that sets the radius of a ball",
        label="Neighbour that sets the radius",
        most=100,
        ignored_by=("human_baseline", "stress_test"),
        published=False,
    )
    frechet_distance: bool = _score(
        False,
        choice_check(True, False),
        "also the Fréchet distance of the features",
        ignored_by=_SCORES_APART,
        published=False,
    )


@dataclass(frozen=True, kw_only=True)
class ResolvedConfig(MauveConfig):
    """A `MauveConfig` without "auto" and presets, for sets of known sizes; `evaluation.resolve_config` makes it.

    auto: names of the options that were "auto"; every other value was given, and is kept as it is.

    Raises:
        ValueError: an option of clustering or scoring is "auto".
    """

    auto: frozenset[str] = field(default=frozenset(), compare=False)

    if TYPE_CHECKING:
        num_buckets: int
        num_runs: int
        knn: bool
        kmeans_num_redo: int
        drmm_layers: int
        drmm_components: int
        drmm_steps: int
        lattice_squared_radius: int
        lattice_epochs: int
        lattice_hidden: int

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, option in config_fields().items():
            if option.metadata["stage"] in ("quantize", "score") and getattr(self, name) == "auto":
                raise WrongOption.of(name, "must be resolved, got 'auto'")


def config_fields(verb: str = "") -> MappingProxyType[str, Any]:
    """The fields of `MauveConfig` by name: default, and `metadata` as in `option`.

    verb: the name of a public function: those that it makes no use of are left out.

    >>> "knn" in config_fields("robustness"), "seed" in config_fields("featurize"), "knn" in config_fields()
    (False, False, True)
    """
    return _fields_used(MauveConfig, verb)


def options_of_stage(config: MauveConfig, stage: str) -> dict[str, object]:
    """The values of the options that one stage reads, by name: what its outcome depends on besides its input.

    >>> [*options_of_stage(MauveConfig(), "featurize")][:2]
    ['featurize_model_name', 'max_text_length']
    """
    return {key: getattr(config, key) for key, option in config_fields().items() if option.metadata["stage"] == stage}


def name_ignored(reader: str, options: Mapping[str, object]) -> None:
    """Name options that have no effect, by name with their values, in a warning; those at their default are left out.

    reader: what does not read them, such as "featurizer ngrams".
    """
    changed = [f"{name}={shown(value)}" for name, value in options.items() if value != _default_of(name)]
    if changed:
        _warn_of_ignored(reader, ", ".join(changed))


def _default_of(name: str) -> object:
    """The value of an option that is not given."""
    return getattr(MauveConfig if name in config_fields() else RunOptions, name)


@cache  # once for all sets and jobs
def _warn_of_ignored(reader: str, options: str) -> None:
    logger.warning("no effect with the %s: %s", reader, options)


def encoder_options(config: MauveConfig) -> dict[str, Any]:
    """The values of the options that an encoder is loaded with, by name, as keywords of `load_encoder`.

    >>> encoder_options(MauveConfig(pooling="mean"))
    {'max_text_length': None, 'pooling': 'mean', 'text_prefix': None, 'dtype': 'float32'}
    """
    return {name: getattr(config, name) for name, option in config_fields().items() if option.metadata["encodes"]}


def options_of_quantizer(config: MauveConfig, quantizer: str) -> dict[str, Any]:
    """The values of the options that one quantizer alone reads, by name without the quantizer's, as keywords of it.

    >>> options_of_quantizer(MauveConfig(kmeans_max_iter=7), "kmeans")
    {'num_redo': 'auto', 'max_iter': 7}
    """
    return {
        name.removeprefix(f"{quantizer}_"): getattr(config, name)
        for name, option in config_fields().items()
        if option.metadata["of"] == quantizer
    }


@cache
def _fields_used(options: type[CheckedFields], verb: str) -> MappingProxyType[str, Any]:
    """The fields that a public function uses, by name; `featurize` ends before the later stages."""
    later = ("quantize", "score") if verb == "featurize" else ()
    return MappingProxyType(
        {
            option.name: option
            for option in fields(options)  # type: ignore[arg-type]
            if verb not in option.metadata["ignored_by"] and option.metadata["stage"] not in later
        }
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions(CheckedFields):
    """Options of a run that change its speed or output, never its score.

    The meaning of each is in its field's metadata, as in `MauveConfig`. Those of the stage "speed" are flags of the
    command line.
    """

    device: str | None = _speed(
        None,
        check_device_name,
        "auto (CUDA, else MPS, else CPU) or a torch device: cpu, cuda:0, mps, …",
        metavar="DEVICE",
        common=True,
    )
    device_id: int | None = _host(
        None,
        or_none(partial(check_count, low=-1)),
        "the number of a CUDA device, -1 for the CPU, as in mauve-text; without CUDA any number is the CPU",
    )
    batch_size: int | None = _speed(None, or_none(check_count), "most texts of a batch")
    max_batch_tokens: int | None = _speed(None, or_none(check_count), "tokens of a batch")
    server: str | None = _speed(
        None,
        or_none(_address),
        "address of the featurizer server:MODEL, with the /v1/embeddings protocol, such as http://localhost:8000/v1; "
        "unset: $MAUVE_METRIC_SERVER (the key is in $OPENAI_API_KEY)",
        metavar="URL",
    )
    verbose: bool = _host(False, check_bool, "a progress bar on stderr")
    text_field: str | None = _texts(
        None,
        or_none(_column),
        "field or column of the texts; unset: found by its name and its values",
        metavar="NAME",
        common=True,
    )
    reference_name: str = _output(
        HUMAN,
        _label,
        "name of the reference texts in sentences and tables, such as 'release 1.2'",
        metavar="NAME",
        ignored_by=("describe", "featurize", "score_sharded", *_SCORES_APART),
    )
    prompts: Iterable[str] | str | Path | None = _texts(
        None,
        or_none(_prompts),
        "what the texts were written from, for strip='prompts': a file of texts; in Python also a list",
        metavar="FILE",
    )
    cache: bool | str | Path = _speed(
        True,
        _folder_or_bool,
        "keep features in this folder; in Python also True (the usual place) or False (keep none)",
        metavar="FOLDER",
        ignored_by=("score_sharded",),
        common=True,
    )
    checkpoint: str | Path | None = _speed(
        None,
        or_none(_folder),
        "keep the clustering of features read in blocks in this folder, for a run that is taken up again",
        metavar="FOLDER",
        ignored_by=("featurize",),
    )
    score_device: str | None = _speed(
        None,
        check_device_name,
        "project, cluster and find neighbours on this torch device, such as cuda:0 (scores agree to 1e-3); unset: the "
        "CPU, or the GPU of features that are CUDA tensors",
        metavar="DEVICE",
        ignored_by=("featurize",),
    )
    compile: bool = _speed(False, check_bool, "run the model through torch.compile")
    distributed: bool = _host(
        False,
        check_bool,
        "every process of the torch process group calls with the same texts; each featurizes its share",
        ignored_by=("score_sharded", "stress_test"),
    )


class OptionsOfOneProcess(TypedDict, total=False):
    """Every option as a keyword, for editors and type checkers, but for `distributed` and `prompts`."""

    featurize_model_name: Featurizer
    max_text_length: int | None
    pooling: Literal["auto", "last", "mean", "cls"]
    text_prefix: str | None
    dtype: Literal["float32", "float64", "bfloat16", "float16"]
    empty_texts: Literal["error", "drop"]
    strip: str | list[str] | tuple[str, ...]
    match_lengths: Literal["no", "truncate"]
    quantizer: Literal["kmeans", "drmm", "lattice", "classifier"]
    num_buckets: int | Literal["auto"]
    row_order: Literal["qp", "pq"]
    pca_max_data: int
    kmeans_explained_var: float
    kmeans_num_redo: int | Literal["auto"]
    kmeans_max_iter: int
    drmm_layers: int | Literal["auto"]
    drmm_components: int | Literal["auto"]
    drmm_steps: int | Literal["auto"]
    drmm_preset: Literal["short", "paper"]
    lattice_squared_radius: int | Literal["auto"]
    lattice_epochs: int | Literal["auto"]
    lattice_hidden: int | Literal["auto"]
    lattice_spread: float
    lattice_preset: Literal["short", "paper"]
    independent: bool
    seed: int
    divergence_curve_discretization_size: int
    mauve_scaling_factor: float
    num_runs: int | Literal["auto"]
    confidence_level: float
    permutations: int
    knn: bool | Literal["auto"]
    knn_k: int
    frechet_distance: bool
    use_float64: bool
    device: str | None
    device_id: int | None
    batch_size: int | None
    max_batch_tokens: int | None
    server: str | None
    verbose: bool
    text_field: str | None
    reference_name: str
    cache: bool | str | Path
    checkpoint: str | Path | None
    score_device: str | None
    compile: bool


class Options(OptionsOfOneProcess, total=False):
    """The options of `compute_mauve`: the fields of `MauveConfig` and of `RunOptions`, and `use_float64`."""

    distributed: bool
    prompts: Iterable[str] | str | Path | None


def run_fields(verb: str = "") -> MappingProxyType[str, Any]:
    """The fields of `RunOptions` by name, likewise."""
    return _fields_used(RunOptions, verb)


def page_fields() -> dict[str, Any]:
    """The options that the page has a control for: of `MauveConfig`, and of a run those of its sentences and tables.

    >>> "reference_name" in page_fields(), "batch_size" in page_fields()
    (True, False)
    """
    of_output = {name: option for name, option in run_fields().items() if option.metadata["stage"] == "output"}
    return config_fields() | of_output


_PARAMETERS: dict[str, list[str]] = {}  # of each public function, without its options


def split_options(keywords: Mapping[str, object], verb: str = "") -> tuple[MauveConfig, RunOptions]:
    """Keywords → the config and the run options.

    Raises:
        TypeError: an unknown one, with the nearest known name; one that the public function `verb` makes no use of.
        ValueError: a value out of range.
    """
    options: dict[str, Any] = dict(keywords)
    use_float64 = check_bool("use_float64", options.pop("use_float64", False))
    if use_float64 and options.setdefault("dtype", "float64") != "float64":
        raise WrongOption(f"use_float64=True and dtype={options['dtype']!r} contradict each other: give one of them")
    check_known_options(options, [*_PARAMETERS.get(verb, ()), *option_names()])
    of_config, of_run = dict[str, Any](), dict[str, Any]()
    for name, value in options.items():
        if name not in config_fields(verb) and name not in run_fields(verb):
            raise TypeError(f"{name} is of no use to {verb}: leave it out")
        (of_config if name in config_fields() else of_run)[name] = value
    return MauveConfig(**of_config), RunOptions(**of_run)


def option_names() -> list[str]:
    """The name of every keyword that a score takes."""
    return [*config_fields(), *run_fields(), "use_float64"]


def with_options(*left_out: str, first: Iterable[Field[Any]] = ()) -> Callable[[Function], Function]:
    """A decorator that shows every option that a function uses in the place of its `**options`, and its meaning.

    Editors and type checkers see the options through `Unpack[Options]`; `help`, IPython and `inspect` do not look into
    that, and a `TypedDict` knows no defaults: for them signature and docstring are written out.

    Args:
        *left_out: options that the function does not take. first: options of its own, before those of a score.
    """

    def write_out(function: Function) -> Function:
        verb, signature = function.__name__, inspect.signature(function)
        parameters = [entry for entry in signature.parameters.values() if entry.kind is not entry.VAR_KEYWORD]
        _PARAMETERS[verb] = [entry.name for entry in parameters]
        used: dict[str, Field[Any]] = {}
        for option in (*first, *config_fields(verb).values(), *run_fields(verb).values()):
            if option.name not in (*signature.parameters, *left_out):
                used.setdefault(option.name, option)
        kind = inspect.Parameter.KEYWORD_ONLY
        shown = [
            inspect.Parameter(key, kind, default=option.default, annotation=option.type) for key, option in used.items()
        ]
        shown.append(inspect.Parameter("use_float64", kind, default=False, annotation="bool"))
        vars(function)["__signature__"] = signature.replace(parameters=[*parameters, *shown])
        if function.__doc__:
            meanings = [f"    {name}: {option.metadata['help']}." for name, option in used.items()]
            function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__), "", "Options:", *meanings])
        return function

    return write_out


def check_option_names(options: Mapping[str, object], function: Callable[..., object]) -> None:
    """`TypeError` for keywords that are neither options of a score nor of the function, with the nearest name."""
    parameters = [name for name in inspect.signature(function).parameters if name != "self"]
    check_known_options(options, [*parameters, *option_names()])
