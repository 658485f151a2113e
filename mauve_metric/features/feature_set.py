"""One set of texts as features that can be kept, shipped and compared without the texts."""

from __future__ import annotations

import collections
import contextlib
import functools
import hashlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Number
from pathlib import Path
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from mauve_metric.arrays import Array, Floats, Integers, TextData
from mauve_metric.features.array_files import feature_rows
from mauve_metric.features.cache import FeatureCache, KnownTexts, open_cache, source_of
from mauve_metric.features.encoder import Encoder, load_encoder
from mauve_metric.features.feature_files import (
    EACH_TEXT,
    WHOLE_NUMBERS,
    StoredFeatures,
    check_identity,
    read_features,
    write_features,
)
from mauve_metric.features.featurize import (
    FeaturizeStats,
    check_tokens,
    featurize_texts,
    featurize_tokens,
    tokenize,
    unseen_formats,
)
from mauve_metric.features.packaged import naming_typing_errors
from mauve_metric.features.pretrained import MODEL_FOLDERS
from mauve_metric.features.row_blocks import (
    CheckedRows,
    as_rows,
    check_features,
    content_keys,
    hash_of_rows,
    numbers_of,
)
from mauve_metric.features.text_encoder import TextEncoder, rows_by_text
from mauve_metric.features.text_functions import (
    TEXT_FUNCTIONS,
    TextFunction,
    featurizer_name,
    is_text_function,
    name_of,
    text_function,
)
from mauve_metric.inputs.files import read_texts
from mauve_metric.inputs.fingerprints import TRAITS, Marks, TextHashes
from mauve_metric.inputs.sources import TextSource, text_source
from mauve_metric.inputs.stripping import Stripping
from mauve_metric.measures.groups import Design
from mauve_metric.options import (
    Featurizer,
    MauveConfig,
    Options,
    RunOptions,
    encoder_options,
    name_ignored,
    options_of_stage,
    split_options,
    with_options,
)
from mauve_metric.runtime.checks import check_count, wrong
from mauve_metric.runtime.devices import resolve_device
from mauve_metric.runtime.errors import NotFeatures, NotTexts, WrongOption
from mauve_metric.runtime.plain_text import is_blank
from mauve_metric.runtime.processes import agree, computed_by_first, rank_and_size
from mauve_metric.runtime.progress import progress_bar
from mauve_metric.runtime.tensors import TensorRows, check_kind, is_on_device, is_tensor


class Repetition(NamedTuple):
    """Knowledge about texts of a human set and a model that repeat others of their set, exactly or nearly.

    p_share, q_share: of the texts of either side. excess: p-value of "the model repeats itself no more than the human
    set", where it does; else None. units: codes of texts that are in one fold, of both sides, -1 for those alone.
    groups: the number of the group of each model's text, (n_q,), -1 for those in none. both: each set repeats itself,
    with texts that the other does not have. whole: how often each text of a side is there, where that is one number.
    """

    p_share: float
    q_share: float
    excess: float | None
    units: tuple[Integers, Integers]
    groups: Integers
    both: bool
    whole: tuple[int, int] = (1, 1)


class Dependence(NamedTuple):
    """Knowledge about texts of a set that are not independent.

    design: declared by the caller, "found" or "undeclared". partners: texts that are in a group with a human text.
    in_step: share of the pairs that were found from the features whose texts are of one declared group or, without
    groups, in one row of both sets; None if none were found. human: of the groups of human texts in this pair, where
    there are other models, the code by the code in `FeatureSet.groups` of the human texts. repetition: within the human
    set and this one.
    """

    design: Design
    partners: int = 0
    in_step: float | None = None
    human: Integers | None = None
    repetition: Repetition | None = None


@dataclass(frozen=True, eq=False)
class FeatureSet(StoredFeatures):
    """The features of one set, usually the human one, embedded once and used again and again.

    A set is equal to itself alone; sets of the same features have the same `digest`.

    Attributes:
        features: array (n, d), in the order of the texts; or rows that are read in blocks (`arrays.FeatureRows`).
        identity: the encoder they come from (model, revision, tokenizer, pooling, max_text_length, dtype); None if
            unknown.
        lengths: tokens of each text after truncation, shape (n,); None if unknown.
        truncated: texts that were cut to the encoder's length. dropped: empty texts left out.
        text_hashes: a hash of each text, to find duplicates, shape (n,) of uint64; None if unknown.
        opening_hashes: a hash of each text's first words, to find shared prompts, likewise.
        marks: what the texts are wrapped in and how they open; None if unknown. stripped: how many texts were changed
            by each rule of `strip`.
        origin: the format and field of the file that the texts come from; None for texts without one.
        format_numbers: how each text is formatted, (n, f) as in `fingerprints.format_numbers`; None if unknown. Not in
            files but those of shards.
        unseen: share of the characters of each text that the featurizer's tokenizer does not know, (n,); None where it
            has none. unseen_formats: what of the format it leaves out, names of `TRAITS`; None if unknown.
        from_file: whether the features were loaded from a file, where their origin should be.
        groups: the number of the group of each text, (n,), for one call: texts of one number, on either side, share a
            prompt and are not independent. None: all texts are. What splits texts (the folds of a classifier, halves
            of a set) keeps those of one number together. Not written by `save`.
        by_rows: the groups were declared by `aligned`, row by row, and not by the names of prompts.
        dependence: what `dependence.with_dependence` found when it completed the groups; None: it has not yet.
        content_keys: of the rows, see `row_blocks.content_keys`, (n,); None: before `with_dependence`.
    """

    from_file: bool = False
    groups: Integers | None = None
    by_rows: bool = False
    dependence: Dependence | None = None
    content_keys: Floats | None = None

    def __post_init__(self) -> None:
        """Check what is known of the features, and make arrays of what is known of each text.

        Raises:
            WrongOption, NotFeatures, ValueError: a field is not what it should be; it names the field. Whether the
                features are finite is checked where they are used.
        """
        rows = self.features
        if isinstance(rows, np.ndarray) and rows.dtype != object:
            check_kind("features", rows.shape, rows.dtype, rows.dtype.kind in "fiu")
        elif not hasattr(rows, "blocks"):  # also an array of arrays, as of a column of a table
            object.__setattr__(self, "features", numbers_of("features", rows))
        shape = self.features.shape
        for name in (*EACH_TEXT, "groups", "content_keys"):
            value, is_whole = getattr(self, name), name in (*WHOLE_NUMBERS, "groups")
            if value is not None:
                object.__setattr__(self, name, _one_each(name, value, is_whole, shape[0]))
        for name in ("truncated", "dropped"):
            object.__setattr__(self, name, check_count(name, getattr(self, name), low=0))
        if self.truncated > shape[0]:
            raise wrong("truncated", f"at most the {shape[0]} texts that there are", self.truncated)
        if self.lengths is not None and len(self.lengths) and not self.lengths.min() >= 0:
            raise wrong("lengths", "numbers of at least 0", self.lengths.min())
        stripped = self.stripped
        if not isinstance(stripped, Mapping) or not all(isinstance(rule, str) for rule in stripped):
            raise wrong("stripped", "a dict of numbers by the names of rules", stripped)
        for rule, number in stripped.items():
            check_count(f"stripped[{rule!r}]", number, low=0)
        if self.identity is not None:
            check_identity("the features", self.identity)
        formats = self.unseen_formats
        if not (formats is None or (isinstance(formats, (frozenset, set)) and {*map(type, formats)} <= {str})):
            raise wrong("unseen_formats", "a set of names or None", formats)
        for name, kind in (("origin", str), ("marks", Marks), ("dependence", Dependence)):
            value = getattr(self, name)
            if not isinstance(value, (kind, type(None))):
                raise wrong(name, f"a {kind.__name__} or None", value)

    @classmethod
    def from_texts(cls, texts: TextData, **options: Unpack[Options]) -> FeatureSet:
        """Featurize texts, see `featurize`."""
        return featurize(texts, **options)

    def save(self, path: str | Path) -> Path:
        """Write the features and what is known about them, but no text, to an `.npz`, `.npy` or `.parquet` file.

        `.npy` is a plain float array (n, d), with all else in `FILE.npy.json` beside it.
        """
        return write_features(self, path)

    @classmethod
    def load(cls, path: str | Path) -> FeatureSet:
        """Read what `save` wrote, or any `.npy` or `.npz` file of features (then without an identity)."""
        return cls(**vars(read_features(path)), from_file=True)

    def __len__(self) -> int:
        return int(self.features.shape[0])

    @functools.cached_property
    def row_keys(self) -> Floats:
        """The `content_keys`, computed where they are not kept, (n,)."""
        return content_keys(self.features) if self.content_keys is None else self.content_keys

    @property
    def design(self) -> Design:
        """The relation of the texts to each other, as declared or found; "undeclared" where neither is known."""
        return "undeclared" if self.dependence is None else self.dependence.design

    def of_rows(self, numbers: Integers) -> FeatureSet:
        """The features of the texts with these numbers, in this order; without what is known of the set alone.

        Raises:
            WrongOption: these are no numbers of its texts.
        """
        expected = f"one whole number or more, each from 0 to {len(self) - 1}"
        try:
            numbers = _one_each("numbers", numbers, True, None)
        except WrongOption:
            raise wrong("numbers", expected, numbers) from None
        if not len(numbers) or not 0 <= numbers.min() <= numbers.max() < len(self):
            raise wrong("numbers", expected, numbers.tolist())
        of_each = (*EACH_TEXT, "groups")
        taken: dict[str, Any] = {name: value[numbers] for name in of_each if (value := getattr(self, name)) is not None}
        taken |= {"truncated": 0, "dropped": 0, "marks": None, "stripped": {}, "content_keys": None}
        if self.dependence is not None:
            taken["dependence"] = self.dependence._replace(repetition=None)
        return replace(self, features=as_rows(self.features).take(numbers), **taken)

    @functools.cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits that follow from the texts in their order, and from the features where the
        identity does not fix these: a function's name stays when its code changes.
        """
        texts = b"" if self.text_hashes is None else self.text_hashes.astype("<u8").tobytes()
        fixed = texts and "revision" in (self.identity or {})
        return hashlib.sha256(texts + (b"" if fixed else hash_of_rows(self.features).encode())).hexdigest()[:12]


def _entries_of(identity: Mapping[str, str]) -> dict[str, str]:
    """The options that an identity names, by name, and their values as texts."""
    return {**identity, "featurize_model_name": identity["model"], "text_prefix": identity.get("text_prefix", "")}


def _one_each(name: str, value: object, is_whole: bool, count: int | None) -> Array:
    """An array with an entry for each text, a whole number or any numbers; count: of texts, None for any."""
    expected = f"None, or {'a whole number' if is_whole else 'numbers'} for each of {count or 'the'} texts"
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError):  # ragged, or a tensor on a GPU
        raise wrong(name, expected, value) from None
    shape = (len(TRAITS),) if name == "format_numbers" else ()
    if not array.ndim or array.shape[1:] != shape or array.dtype.kind not in ("iu" if is_whole else "biuf"):
        raise wrong(name, expected, value)
    if np.ma.is_masked(value) or (name.endswith("_hashes") and len(array) and array.min() < 0):
        raise wrong(name, expected, value)
    if count is not None and len(array) != count:
        raise WrongOption.of(name, f"must be {expected}, got {len(array)}")
    return array


@with_options()
def featurize(texts: TextData, featurizer: Featurizer | None = None, **options: Unpack[Options]) -> FeatureSet:
    """Featurize texts once, to use them again and again; the same as `FeatureSet.from_texts`.

    Args:
        texts: as in `compute_mauve`. featurizer: short for `featurize_model_name`.
        **options: those of `compute_mauve` that concern the featurizer and the run.

    Returns:
        A `FeatureSet`: features (n, d) with their origin.

    Raises:
        TypeError, ValueError, OSError, ImportError: as `compute_mauve`.
    """
    if featurizer is not None:
        if "featurize_model_name" in options:
            raise TypeError("featurize got the featurizer twice: by position and as featurize_model_name")
        options["featurize_model_name"] = featurizer
    config, run = split_options(options, "featurize")
    with FeaturizeJob(config, run, frozenset(options)) as job:
        return job.of_texts("texts", texts)


def prompts_of(run: RunOptions) -> tuple[str, ...]:
    """The prompts that the caller gave, or those in the file that was named."""
    prompts = run.prompts or ()
    return tuple(read_texts(prompts, side="prompt") if isinstance(prompts, (str, Path)) else prompts)


def check_featurizer(config: MauveConfig, run: RunOptions) -> None:
    """Refuse what cannot featurize any texts: lengths in tokens of a function, a server or a device that is none.

    Raises:
        ValueError, TypeError, ImportError: as featurizing would.
    """
    if is_text_function(config.featurize_model_name):
        check_match_lengths(config)
        text_function(config.featurize_model_name, run.server)
    elif run.device is not None:
        resolve_device(run.device, run.device_id)


def check_match_lengths(config: MauveConfig) -> None:
    """`WrongOption` for lengths in tokens of a featurizer that has none."""
    if config.match_lengths != "no" and is_text_function(config.featurize_model_name):
        name = featurizer_name(config.featurize_model_name)
        raise WrongOption(
            f"match_lengths='truncate' needs a featurizer with tokens, such as minilm, and {name} has none"
        )


Kind = Literal["set", "features", "tokens", "text"]


class InputSide(NamedTuple):
    """One side of a comparison as the caller gave it, and what its files say of it.

    kind: of the content: a `FeatureSet`, features, tokens or texts. argument: the name of the content in messages.
    content: None where the side is not given. beside: texts that are given beside another kind, to be read.
    groups: of the texts, equal for those that share a prompt; groups_argument: their name in messages. choices: the
    arguments that it can be given as. labels: of the texts, such as topics. origin: for the signature, of texts from a
    file of a known format. echoes: how many texts begin with a prompt; None where no text or no prompt is known.
    """

    kind: Kind
    argument: str
    content: Any
    beside: Any = None
    groups: Any = None
    groups_argument: str = ""
    choices: tuple[str, ...] = ()
    labels: Sequence[Hashable] | None = None
    origin: str | None = None
    echoes: int | None = None

    @property
    def texts(self) -> Any:
        """The texts: the content, or those beside it."""
        return self.content if self.kind == "text" else self.beside

    def with_texts(self, texts: object) -> InputSide:
        """The side with these texts in place of its own."""
        return self._replace(content=texts) if self.kind == "text" else self._replace(beside=texts)


def given_side(name: str, forms: Mapping[Kind, object], groups: object = None) -> InputSide:
    """The side that keywords of a public function make: the first of the forms that is given; texts are the last.

    >>> given_side("p", {"features": None, "text": ["a"]}).argument
    'p_text'

    Raises:
        NotTexts: features or tokens are given in the place of texts.
    """
    kind: Kind = next((kind for kind, data in forms.items() if data is not None), "text")
    names = {kind: name if kind == "set" else f"{name}_{kind}" for kind in forms}
    if _holds_numbers(forms["text"]):
        others = [f"{kind} as {names[kind]}=" for kind in ("features", "tokens") if kind in names]
        raise NotTexts.of(names["text"], f"must hold strings only, got numbers: give {' or '.join(others)}")
    beside = None if kind == "text" else forms["text"]
    is_set = isinstance(forms[kind], FeatureSet)  # in whichever place
    return InputSide(
        "set" if is_set else kind, names[kind], forms[kind], beside, groups, f"{name}_groups", tuple(names.values())
    )


def _holds_numbers(data: Any) -> bool:
    """Return whether data are an array of numbers, or rows of them.

    >>> [_holds_numbers(data) for data in (np.zeros((2, 3)), [[0.5], [1.5]], [(7, 2)], ["a"], [["a"]], [1, 2], [[]])]
    [True, True, True, False, False, False, False]
    """
    row = data[0] if isinstance(data, (list, tuple)) and data else data
    if isinstance(row, (list, tuple)):
        return bool(row) and isinstance(row[0], Number)
    return (isinstance(row, np.ndarray) and row.dtype.kind in "fiu") or is_tensor(row)


_MADE = "features, which are made already"
_TITLES = {"p_text": "featurize human texts", "q_text": "featurize model texts", "texts": "featurize"}


@dataclass
class FeaturizeJob:
    """One job of turning texts and tokens into features: loads the encoder and opens the cache when first needed.

    given: the names of the options that the user gave; the others follow a `FeatureSet` of the other side.
    encoder: where it is loaded already. progress: called with the argument's name, texts done and texts in all.
    """

    config: MauveConfig
    run: RunOptions
    given: frozenset[str] = frozenset()
    encoder: Encoder | None = None
    progress: Callable[[str, int, int | None], None] | None = None
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _unasked: str | None = None  # the model that a file names, without a request for it

    def __enter__(self) -> FeaturizeJob:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def follow(self, reference: FeatureSet, name: str = "the reference") -> None:
        """Featurize as a given `FeatureSet` was, as far as the user did not ask for something else.

        What a file says names no model but the packaged ones, whose weights are checked: a folder or a Hub name
        in it would choose what this machine loads, and whoever made the file would choose with it. For other models,
        `load` asks for the name. A `FeatureSet` that was made in this process follows the name that was given then.

        Raises:
            ValueError: the identity is none (see `check_identity`).
        """
        if reference.identity is None:
            return
        identity = check_identity(name, reference.identity)
        model = identity.get("model")
        asked = "featurize_model_name" in self.given or model == self.config.featurize_model_name
        if reference.from_file and not asked and model is not None and model not in {*MODEL_FOLDERS, *TEXT_FUNCTIONS}:
            self._unasked = model
            return
        followed = {*options_of_stage(self.config, "featurize")} - {"match_lengths", *self.given}  # both sets decide it
        changes: dict[str, Any] = {name: text for name, text in _entries_of(identity).items() if name in followed}
        if "max_text_length" in changes:
            changes["max_text_length"] = int(changes["max_text_length"])
        self.config = replace(self.config, **changes)

    def prepared(self, sides: Mapping[str, InputSide]) -> Mapping[str, InputSide]:
        """All sides, ready for `side`: each is given, `FeatureSet`s are followed, lengths matched if asked.

        Raises:
            ValueError: a side is not given in any form.
        """
        for side in sides.values():
            if side.content is None:
                if len(side.choices) == 1:
                    raise ValueError(f"{side.argument} must hold texts, features or a FeatureSet, got None")
                raise ValueError(f"one of {', '.join(side.choices)} must be given, all are None")
            if isinstance(side.content, FeatureSet):
                self.follow(side.content, side.argument)
        sets = [side.content for side in sides.values() if isinstance(side.content, FeatureSet)]
        if len(sets) == len(sides):
            for features in sets:
                name_ignored(_MADE, self.made_otherwise(features))
        if all(side.kind in ("set", "features") and side.texts is None for side in sides.values()):
            prompts = self.run.prompts
            prompts = f"{len(prompts)} texts" if isinstance(prompts, tuple) else prompts
            of_texts = {"empty_texts": self.config.empty_texts, "prompts": prompts}
            of_texts |= {} if sets else {"strip": self.config.strip}
            name_ignored(_MADE, {name: value for name, value in of_texts.items() if name in self.given})
        return self.matched(sides) if self.config.match_lengths == "truncate" else sides

    def made_otherwise(self, features: FeatureSet) -> dict[str, str | int]:
        """Options of featurizing that were given, where these features were made in another way."""
        if features.identity is None:
            return {}
        rules, marks = self.config.strip, features.marks
        same = {"strip": rules} if marks is not None and marks.free_of(str(rules).split(",")) else {"strip": "no"}
        made = same | _entries_of(features.identity)
        names = ("featurize_model_name", "strip", *encoder_options(self.config))
        asked = {name: getattr(self.config, name) for name in names if name in self.given}
        asked = {name: value for name, value in asked.items() if isinstance(value, (str, int))}
        return {name: value for name, value in asked.items() if str(value) != made.get(name)}

    def check_asked(self) -> None:
        """`ValueError` if features from a file name a model that was not requested (see `follow`)."""
        if self._unasked not in (None, self.config.featurize_model_name):
            raise ValueError(
                f"features from a file name the model {self._unasked!r}, which is loaded only if you ask for it: "
                f"pass featurize_model_name={self._unasked!r}"
            )

    def load(self) -> Encoder:
        """The encoder, loaded once."""
        if self.encoder is None:
            self.check_asked()
            config, model = self.config, self.config.featurize_model_name
            if not isinstance(model, (str, tuple)) or is_text_function(model):
                raise TypeError(f"a function has no encoder to load, got {model!r}")
            with naming_typing_errors(model):
                self.encoder = load_encoder(
                    model,
                    device=resolve_device(self.run.device, self.run.device_id),
                    compile=self.run.compile,
                    **encoder_options(config),
                )
        return self.encoder

    @functools.cached_property
    def store(self) -> FeatureCache | None:
        """The feature cache, opened once; None when it is off or cannot be used (with one warning)."""
        store = open_cache(self.run.cache)
        return store if store is None else self._stack.enter_context(store)

    def side(self, side: InputSide) -> FeatureSet:
        """The features of one side."""
        name, data = side.argument, side.content
        if isinstance(data, FeatureSet):
            identity, marks, rules = data.identity, data.marks, str(self.config.strip).split(",")
            if identity is not None and "strip" not in identity and marks is not None and marks.free_of(rules):
                # as if it had been stripped: its texts are known to hold nothing that would be taken off
                identity, stripped = {**identity, "strip": ",".join(rules)}, dict.fromkeys(rules, 0)
                data = replace(data, identity=identity, stripped=stripped)
            if hasattr(data.features, "blocks"):
                return data
            return replace(data, features=check_features(name, data.features))
        if side.kind == "set":
            others = f"give an array as {name}_features=, texts as {name}_text=, a file of one by FeatureSet.load"
            raise TypeError(f"{name} must be a mauve_metric.FeatureSet, got {type(data).__name__}: {others}")
        if side.kind == "text":
            return self.of_texts(name, data)
        if isinstance(data, (list, tuple)) and any(isinstance(row, str) for row in data[:1]):
            expected = "a list of token id lists" if side.kind == "tokens" else "an array of numbers"
            raise NotFeatures.of(name, f"must be {expected}, got texts: give them as {side.choices[-1]}=")
        if side.kind == "tokens":
            return self._of_tokens(name, data)
        if is_on_device(data):
            return FeatureSet(TensorRows(name, data))
        rows = feature_rows(name, data)
        return FeatureSet(check_features(name, data) if rows is None else CheckedRows(name, rows))

    def source(self, name: str, data: object, empty_texts: str | None = None) -> TextSource:
        """Texts in any form that `text_source` takes, without what the config takes off them."""
        return text_source(
            name,
            data,
            text_field=self.run.text_field,
            empty_texts=empty_texts or self.config.empty_texts,
            stripping=Stripping(str(self.config.strip), prompts_of(self.run)),
        )

    def texts_of(self, side: InputSide) -> list[str]:
        """The texts of a side that is given as texts, as they are featurized."""
        return list(self.source(side.argument, side.content).texts)

    def of_texts(self, name: str, data: object, marks: bool = True) -> FeatureSet:
        """The features of texts in any form that `text_source` takes, or of a source.

        marks: with hashes of the texts, their marks, and numbers of their format.
        """
        source = data if isinstance(data, TextSource) else self.source(name, data)
        hashes = TextHashes()
        texts = hashes.watch(source.texts) if marks else source.texts
        self.check_asked()
        function = text_function(self.config.featurize_model_name, self.run.server)
        if function is not None:
            of_encoder, chosen = encoder_options(self.config), self.given - {"text_prefix"}
            ignored = {name: value for name, value in of_encoder.items() if name in chosen}
            name_ignored(f"featurizer {featurizer_name(self.config.featurize_model_name)}", ignored)
        if function is not None and isinstance(function.function, TextEncoder):
            stored = self._by_encoder(function, function.function, name, list(texts))
        elif function is not None:
            stored = self._by_function(function, name, list(texts))
        else:
            stored = self._by_model(name, texts, source.texts if isinstance(source.texts, list) else None)
        rows = check_features(f"the features of {name}", stored.features)
        fields: dict[str, Any] = {"unseen": stored.unseen, "unseen_formats": stored.unseen_formats}
        fields |= hashes.fields() if marks else {}
        identity = stored.identity
        if source.stripping is not None:
            identity = {**(identity or {}), **source.stripping.identity()}
            fields["stripped"] = dict(source.stripping.changed)
        return FeatureSet(rows, identity, stored.lengths, stored.truncated, source.dropped, **fields)

    def _by_function(self, function: TextFunction, name: str, texts: list[str]) -> StoredFeatures:
        prefix, identity = function.with_prefix(self.config.text_prefix)
        featurizer = f"the featurizer {name_of(function.function)}"
        rows = function.function([prefix + text for text in texts] if prefix else texts)
        features = check_features(f"the features that {featurizer} gives for {name}", rows)
        if len(features) != len(texts):
            raise ValueError(f"{featurizer} must give one row a text, got {len(features)} for {len(texts)}")
        seen = frozenset[str]() if function in TEXT_FUNCTIONS.values() else None  # a user's function is not tried
        return StoredFeatures(features, identity, unseen_formats=seen)

    def _by_encoder(self, function: TextFunction, encoder: TextEncoder, name: str, texts: list[str]) -> StoredFeatures:
        """The features of texts by a featurizer whose rows are kept by text."""
        prefix, identity = function.with_prefix(self.config.text_prefix)
        prefixed, truncated = [prefix + text for text in texts], 0

        def compute() -> Array:
            nonlocal truncated
            with progress_bar(_TITLES.get(name, name), self.run.verbose) as bar:
                progress = bar if self.progress is None else partial(self.progress, name)
                features, truncated = rows_by_text(encoder, prefixed, self.store, progress)
            return features

        if self.run.distributed and rank_and_size()[1] > 1:  # the first process works for all
            features, truncated = computed_by_first(compute), agree(truncated)
        else:
            features = compute()
        unseen, formats = encoder.unseen(texts), encoder.unseen_formats()
        return StoredFeatures(features, identity, truncated=truncated, unseen=unseen, unseen_formats=formats)

    def _by_model(self, name: str, texts: Iterable[str], listed: list[str] | None) -> StoredFeatures:
        """The features of texts by a model, or by the notes on them. listed: the same texts, where they are a list."""
        notes = self._notes
        noted = None if notes is None or listed is None else notes.find(listed)
        if noted is not None:
            collections.deque(texts, maxlen=0)  # reads them for their hashes
            return noted
        encoder = self.load()
        reduced = self.config.max_text_length not in (None, encoder.max_text_length)  # which is said anew each time
        formats = unseen_formats(encoder)
        remember = None if notes is None or reduced else partial(notes.remember, dict(encoder.identity), formats)
        total = None if listed is None else len(listed)
        with progress_bar(_TITLES.get(name, name), self.run.verbose) as bar:
            progress = bar if self.progress is None else partial(self.progress, name)
            features, stats = featurize_texts(
                encoder, texts, self.run, total=total, store=self.store, progress=progress, read=remember
            )
        lengths, unseen = np.concatenate(stats.lengths), np.concatenate(stats.unseen)
        read = lengths, stats.truncated
        return StoredFeatures(features, encoder.identity, *read, unseen=unseen, unseen_formats=formats)

    @functools.cached_property
    def _notes(self) -> KnownTexts | None:
        """Notes of the cache on texts, so that their model need not be loaded."""
        elsewhere = self.run.device not in (None, "auto") or self.run.device_id is not None or self.run.distributed
        if self.encoder is not None or elsewhere or self.run.compile:
            return None
        self.check_asked()
        store = self.store
        source = None if store is None else source_of(self.config)
        if store is None or source is None:
            return None
        return KnownTexts(store, source, str(self.config.featurize_model_name))

    def _of_tokens(self, name: str, data: object) -> FeatureSet:
        if is_text_function(self.config.featurize_model_name):
            featurizer = featurizer_name(self.config.featurize_model_name)
            raise ValueError(f"{name} cannot be given with the featurizer {featurizer}, which takes texts")
        encoder = self.load()
        if encoder.text_prefix:
            raise ValueError(
                f"{name} are used as they are, and {encoder.name} puts {encoder.text_prefix!r} before each text: give "
                "texts, or tokens with it and text_prefix=''"
            )
        ids = check_tokens(name, data, encoder)
        stats = FeaturizeStats()
        features = featurize_tokens(encoder, ids, self.run, stats, store=self.store)
        lengths = np.concatenate(stats.lengths)
        return FeatureSet(check_features(f"the features of {name}", features), encoder.identity, lengths=lengths)

    def matched(self, sides: Mapping[str, InputSide]) -> dict[str, InputSide]:
        """Both sides' texts as lists, and the encoder's length set to the shorter side's median length in tokens."""
        check_match_lengths(self.config)
        matched: dict[str, InputSide] = {}
        for name, side in sides.items():
            if side.kind != "text":
                got = f"{'tokens' if side.kind == 'tokens' else 'features'} as {side.argument}"
                raise WrongOption(f"match_lengths='truncate' needs texts on both sides, got {got}")
            missing, text_field = self.config.empty_texts == "drop", self.run.text_field
            read = text_source(side.argument, side.content, text_field=text_field, empty_texts="keep", missing=missing)
            matched[name] = side.with_texts(list(read.texts))
        encoder = self.load()
        medians = []
        for side in matched.values():
            texts = self.source(side.argument, side.content, "keep").texts
            ids, _ = tokenize(encoder, [text for text in texts if not is_blank(text)])
            medians.append(float(np.median([len(row) for row in ids])) if ids else 1.0)
        length = max(1, int(min(medians)))
        identity = {**encoder.identity, "max_text_length": str(length), "match_lengths": "truncate"}
        self.encoder = replace(encoder, max_text_length=length, identity=identity)
        return matched
