"""What a user gives → two sets of features: options, forms, encoder, cache."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mauve_metric.config import MauveConfig, knobs, unknown_options
from mauve_metric.encoder import Encoder, load_encoder, resolve_device
from mauve_metric.feature_cache import FeatureCache
from mauve_metric.feature_rows import CheckedRows, feature_rows
from mauve_metric.featurize import FeaturizeStats, check_features, featurize_texts, featurize_tokens, tokenize
from mauve_metric.on_device import TensorRows, is_on_device
from mauve_metric.progress import progress_bar
from mauve_metric.reference import Reference
from mauve_metric.texts import text_source

logger = logging.getLogger(__name__)

_TITLES = {"p_text": "featurize human texts", "q_text": "featurize model texts", "texts": "featurize"}
OPENING_WORDS = 8  # texts with so many first words in common were written from one prompt


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What changes the speed of a run or what it prints, and never its score.

    device: "auto" (CUDA, else MPS, else CPU) or a torch device. device_id: as in mauve-text, -1 is the CPU.
    batch_size: most texts of a batch. max_batch_tokens: tokens of a batch. verbose: a progress bar on stderr.
    text_field: the column of a `datasets.Dataset` that holds the texts. cache: True for the feature cache at its usual
    place, a folder for one elsewhere, False for none. compile: run the model through `torch.compile`.
    distributed: every process of the torch process group calls with the same texts; each featurizes its share.
    checkpoint: a folder that keeps the clustering of features read in blocks, for a run that is taken up again.
    score_device: the torch device that projects, clusters and finds neighbours, such as "cuda:0"; None: features that
    are CUDA tensors stay on their GPU, all others are scored on the CPU. Scores agree to 1e-3 between devices.
    """

    device: str | None = None
    device_id: int | None = None
    batch_size: int | None = None
    max_batch_tokens: int | None = None
    verbose: bool = False
    text_field: str | None = None
    cache: bool | str | Path = True
    compile: bool = False
    distributed: bool = False
    checkpoint: str | Path | None = None
    score_device: str | None = None

    def __post_init__(self) -> None:
        for name in ("batch_size", "max_batch_tokens"):
            value = getattr(self, name)
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, (int, np.integer)) or int(value) < 1
            ):
                raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
        number = self.device_id
        if number is not None and (
            isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < -1
        ):
            raise ValueError(f"device_id must be -1 (CPU) or the number of a CUDA device, got {number!r}")
        if self.text_field is not None and not isinstance(self.text_field, str):
            raise TypeError(f"text_field must be the name of a column, got {self.text_field!r}")
        if not isinstance(self.cache, (bool, str, Path)):
            raise TypeError(f"cache must be True, False or a folder, got {self.cache!r}")


def split_options(options: Mapping[str, Any]) -> tuple[MauveConfig, RunOptions]:
    """Keywords → the config and the run options; `TypeError` for an unknown one, with the nearest known name."""
    options = dict(options)
    use_float64 = options.pop("use_float64", False)
    if not isinstance(use_float64, (bool, np.bool_)):
        raise TypeError(f"use_float64 must be True or False, got {use_float64!r}")
    if use_float64 and options.setdefault("dtype", "float64") != "float64":
        raise ValueError(f"use_float64=True and dtype={options['dtype']!r} contradict each other: give one of them")
    config_names, run_names = set(knobs()), {item.name for item in fields(RunOptions)}
    problem = unknown_options(options, [*config_names, *run_names, "use_float64"])
    if problem:
        raise TypeError(problem)
    config = MauveConfig(**{key: value for key, value in options.items() if key in config_names})
    return config, RunOptions(**{key: value for key, value in options.items() if key in run_names})


def option_parameters() -> list[inspect.Parameter]:
    """Every option as a keyword parameter with its default, for a signature that `help` shows."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    options = [
        inspect.Parameter(item.name, keyword, default=item.default, annotation=item.type)
        for source in (MauveConfig, RunOptions)
        for item in fields(source)
    ]
    return [*options, inspect.Parameter("use_float64", keyword, default=False, annotation="bool")]


def with_options(function: Callable[..., Any], returns: str, *left_out: str) -> inspect.Signature:
    """The signature of a function with every option in the place of its `**options`, but for those left out."""
    own = [item for item in inspect.signature(function).parameters.values() if item.kind is not item.VAR_KEYWORD]
    options = [item for item in option_parameters() if item.name not in left_out]
    return inspect.Signature([*own, *options], return_annotation=returns)


def check_option_names(options: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """`TypeError` for keywords that are neither options of a score nor of the function, with the nearest name."""
    own = [name for name in inspect.signature(function).parameters if name != "self"]
    problem = unknown_options(options, [*own, *(item.name for item in option_parameters())])
    if problem:
        raise TypeError(problem)


@dataclass
class Featurizing:
    """One job of turning texts and tokens into features: loads the encoder and opens the cache when first needed.

    given: the names of the options that the user gave; the others follow a `Reference` of the other side.
    encoder: where it is loaded already. progress: called with the argument's name, texts done and texts in all.
    tensors_stay: features that are CUDA tensors are not copied to the CPU.
    """

    config: MauveConfig
    run: RunOptions
    given: frozenset[str] = frozenset()
    encoder: Encoder | None = None
    progress: Callable[[str, int, int | None], None] | None = None
    tensors_stay: bool = False
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _store: FeatureCache | None = None

    def __enter__(self) -> Featurizing:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def follow(self, identity: Mapping[str, str] | None) -> None:
        """Featurize as a given `Reference` was, as far as the user did not ask for something else."""
        if identity is None:
            return
        wanted: dict[str, Any] = {
            "featurize_model_name": identity.get("model"),
            "pooling": identity.get("pooling"),
            "dtype": identity.get("dtype"),
            "max_text_length": int(identity["max_text_length"]) if "max_text_length" in identity else None,
        }
        changes = {name: value for name, value in wanted.items() if value is not None and name not in self.given}
        self.config = replace(self.config, **changes)

    def prepared(self, sides: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
        """The forms of all sides, ready for `side`: each has one, References are followed, lengths matched if asked.

        Raises:
            ValueError: a side is not given in any form.
        """
        for forms in sides.values():
            if all(value is None for value in forms.values()):
                raise ValueError(f"one of {', '.join(forms)} must be given, all are None")
        for forms in sides.values():
            for value in forms.values():
                self.follow(value.identity if isinstance(value, Reference) else None)
        return self.matched(sides) if self.config.match_lengths == "truncate" else sides

    def load(self) -> Encoder:
        """The encoder, loaded once."""
        if self.encoder is None:
            config = self.config
            self.encoder = load_encoder(
                config.featurize_model_name,
                pooling=config.pooling,
                max_text_length=config.max_text_length,
                dtype=config.dtype,
                device=resolve_device(self.run.device, self.run.device_id),
                compile=self.run.compile,
            )
        return self.encoder

    def store(self) -> FeatureCache | None:
        """The feature cache, opened once; None when it is off or cannot be used (with a warning)."""
        if self._store is None and self.run.cache is not False:
            folder = None if self.run.cache is True else self.run.cache
            try:
                self._store = self._stack.enter_context(FeatureCache(folder))
            except OSError as error:
                logger.warning("the feature cache cannot be used, features are not kept: %s", error)
        return self._store

    def side(self, forms: Mapping[str, Any]) -> Reference:
        """The features of one side from the first form that is given: a Reference, features, tokens, texts."""
        name, data = next((name, value) for name, value in forms.items() if value is not None)
        if isinstance(data, Reference):
            if not isinstance(data.features, np.ndarray) and hasattr(data.features, "blocks"):
                return data
            return replace(data, features=check_features(f"{name}_features", data.features))
        if name in ("p", "q"):
            raise TypeError(f"{name} must be a mauve_metric.Reference, got {type(data).__name__}")
        if name.endswith("features") and self.tensors_stay and is_on_device(data):
            return Reference(TensorRows(name, data))
        if name.endswith("features"):
            rows = feature_rows(name, data)
            return Reference(check_features(name, data) if rows is None else CheckedRows(name, rows))
        if name.endswith("tokens"):
            return self._of_tokens(name, data)
        return self.of_texts(name, data)

    def of_texts(self, name: str, data: Any) -> Reference:
        """The features of texts in any form that `text_source` takes."""
        source = text_source(name, data, text_field=self.run.text_field, empty_texts=self.config.empty_texts)
        hashes = TextHashes()
        texts = hashes.watch(source.texts)
        model = self.config.featurize_model_name
        if callable(model) and not isinstance(model, tuple):
            features, identity = self._of_function(model, name, list(texts)), {"model": name_of(model)}
            return Reference(features, identity, dropped=source.dropped, **hashes.arrays())
        encoder = self.load()
        with progress_bar(_TITLES.get(name, name), self.run.verbose) as bar:
            features, stats = featurize_texts(
                encoder,
                texts,
                total=len(source.texts) if isinstance(source.texts, list) else None,
                batch_size=self.run.batch_size,
                max_batch_tokens=self.run.max_batch_tokens,
                store=self.store(),
                progress=bar if self.progress is None else partial(self.progress, name),
                distributed=self.run.distributed,
            )
        return Reference(
            check_features(f"the features of {name}", features),
            encoder.identity,
            lengths=np.concatenate(stats.lengths),
            truncated=stats.truncated,
            dropped=source.dropped,
            **hashes.arrays(),
        )

    def _of_function(self, function: Callable[[list[str]], Any], name: str, texts: list[str]) -> NDArray[Any]:
        features = check_features(f"the features that {name_of(function)} gives for {name}", function(texts))
        if len(features) != len(texts):
            raise ValueError(f"{name_of(function)} must give one row a text, got {len(features)} for {len(texts)}")
        return features

    def _of_tokens(self, name: str, data: Any) -> Reference:
        model = self.config.featurize_model_name
        if callable(model) and not isinstance(model, tuple):
            raise ValueError(f"{name} cannot be given with a function as featurizer: it takes texts")
        encoder = self.load()
        ids = check_tokens(name, data, encoder)
        stats = FeaturizeStats(batch_tokens=self.run.max_batch_tokens)
        features = featurize_tokens(
            encoder,
            ids,
            batch_size=self.run.batch_size,
            store=self.store(),
            stats=stats,
            distributed=self.run.distributed,
        )
        lengths = np.concatenate(stats.lengths)
        return Reference(check_features(f"the features of {name}", features), encoder.identity, lengths=lengths)

    def matched(self, sides: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        """Both sides' texts as lists, and the encoder's length set to the shorter side's median length in tokens."""
        model = self.config.featurize_model_name
        if callable(model) and not isinstance(model, tuple):
            raise ValueError("match_lengths='truncate' needs a language model: a function has no tokens to count")
        texts: dict[str, dict[str, Any]] = {}
        for side, forms in sides.items():
            name, data = next((name, value) for name, value in forms.items() if value is not None)
            if not name.endswith("text"):
                raise ValueError(f"match_lengths='truncate' needs texts on both sides, got {name}")
            source = text_source(name, data, text_field=self.run.text_field, empty_texts="keep")
            texts[side] = {name: list(source.texts)}
        encoder = self.load()
        medians = []
        for forms in texts.values():
            ids, _ = tokenize(encoder, [text for text in next(iter(forms.values())) if text.strip()])
            medians.append(float(np.median([len(row) for row in ids])) if ids else 1.0)
        length = max(1, int(min(medians)))
        identity = {**encoder.identity, "max_text_length": str(length), "match_lengths": "truncate"}
        self.encoder = replace(encoder, max_text_length=length, identity=identity)
        return texts


class TextHashes:
    """Hashes of texts as they pass by, and of their first words: enough to find duplicates and shared prompts."""

    def __init__(self) -> None:
        self.texts: list[int] = []
        self.openings: list[int] = []

    def watch(self, texts: Iterable[str]) -> Iterator[str]:
        """The same texts, each noted."""
        for text in texts:
            self.texts.append(_hash(text))
            self.openings.append(_hash(" ".join(text.split(maxsplit=OPENING_WORDS)[:OPENING_WORDS])))
            yield text

    def arrays(self) -> dict[str, Any]:
        """The two fields of `Reference`."""
        return {
            "text_hashes": np.array(self.texts, dtype=np.uint64),
            "opening_hashes": np.array(self.openings, dtype=np.uint64),
        }


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def check_tokens(name: str, data: Any, encoder: Encoder) -> list[list[int]]:
    """Token ids as lists; rows may be lists, vectors, or (1, t) arrays as tokenizers return them."""
    if isinstance(data, (str, bytes)) or not hasattr(data, "__iter__"):
        raise TypeError(f"{name} must be a list of token id lists, got {type(data).__name__}")
    vocabulary = encoder.model.get_input_embeddings().num_embeddings
    rows = []
    for index, row in enumerate(data):
        ids = np.asarray(row)
        ids = ids[0] if ids.ndim == 2 and len(ids) == 1 else ids
        if ids.ndim != 1 or ids.size == 0 or ids.dtype.kind not in "iu":
            raise ValueError(f"{name}, row {index}: expected a non-empty list of token ids, got {row!r:.60}")
        if ids.min() < 0 or ids.max() >= vocabulary:
            raise ValueError(
                f"{name}, row {index}: token ids must be in [0, {vocabulary}), got {ids.min()}…{ids.max()}"
            )
        if encoder.max_positions is not None and len(ids) > encoder.max_positions:
            raise ValueError(
                f"{name}, row {index}: {len(ids)} tokens are more than the {encoder.max_positions} that "
                f"{encoder.name} takes"
            )
        rows.append(ids.tolist())
    if not rows:
        raise ValueError(f"{name} must hold at least one list of token ids, got none")
    return rows


def name_of(function: Any) -> str:
    """The full name of a function, or of the class of a callable object."""
    module = getattr(function, "__module__", type(function).__module__)
    return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"
