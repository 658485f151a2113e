"""The example that is on the page when it opens: its features are in the package, so that no model runs for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.session.run import Run
from mauve_metric.hosts.space.session.scoring import Embedded, Encoders, Scored, embed, feature_key, score, with_all
from mauve_metric.hosts.space.session.sessions import Shown, title_of
from mauve_metric.hosts.space.session.uploads import TextSet, read_upload
from mauve_metric.options import MauveConfig, config_fields
from mauve_metric.texts.examples import examples_folder
from mauve_metric.texts.fingerprints import TextHashes

logger = logging.getLogger(__name__)

FEATURIZER = "minilm"
SECOND = "ngrams"  # takes seconds, and sees what the first does not
LABEL = "nucleus sampling"  # among `example_files`
HUMAN = "the human set"
EXAMPLES = {
    "nucleus sampling": ("nucleus",),
    "top-k sampling": ("top_k",),
    "temperature 0.7": ("temperature",),
    "pure sampling": ("sampling",),
    "greedy decoding": ("greedy",),
    "other human texts": ("human_other",),
    "three models at once": ("nucleus", "sampling", "greedy"),
}
_EXAMPLE_NAMES = {files[0]: label for label, files in EXAMPLES.items() if len(files) == 1}
_WARM_TEXTS = 16  # of each set
_ENDING = ".npz"  # of the features, beside the texts; `examples/make_features.py` writes them


def example_files() -> dict[str, dict[str, Path]]:
    """The examples whose files are all there: for the words on each button the models' files by their names."""
    try:
        folder = examples_folder()
    except FileNotFoundError:
        return {}
    found = {}
    for label, files in EXAMPLES.items():
        paths = {_EXAMPLE_NAMES[name]: folder / f"{name}.jsonl" for name in files}
        if all(path.is_file() for path in paths.values()):
            found[label] = paths
    return found


def example_sets(label: str, limits: Limits) -> tuple[TextSet, dict[str, TextSet]]:
    """The human texts of an example, and those of its models by name.

    Raises:
        ValueError: its files are not there, or hold more than the limits allow.
    """
    files = example_files().get(label)
    if files is None:
        raise ValueError(f"the example “{label}” is not there")
    human = next(iter(files.values())).with_name("human.jsonl")
    models = {name: read_upload(title_of(name), path, "text", limits, "example") for name, path in files.items()}
    return read_upload(HUMAN, human, "text", limits, "example"), models


def stored_features(sets: Sequence[TextSet], config: MauveConfig) -> Embedded | None:
    """The features of those sets that are examples, from the files beside their texts; None for another config.

    Raises:
        ValueError: they are of other texts.
    """
    if feature_key(config) != feature_key(MauveConfig(featurize_model_name=FEATURIZER)):
        return None
    found = []
    for side in sets:
        if side.kind != "example" or side.every > 1 or side.path is None:
            continue
        if not (file := side.path.with_suffix(_ENDING)).is_file():
            continue
        stored, hashes = replace(FeatureSet.load(file), from_file=False), TextHashes()
        list(hashes.watch(side.texts))
        if stored.text_hashes is None or stored.text_hashes.tolist() != hashes.fields()["text_hashes"].tolist():
            raise ValueError(f"{file.name} holds the features of other texts than {side.path.name}")
        found.append((stored, side.texts))
    return Embedded(feature_key(config), *map(tuple, zip(*found, strict=True))) if found else None


def others_by_default(featurizers: Sequence[str]) -> tuple[str, ...]:
    """The featurizers that score beside the preset one unless a visitor says otherwise.

    >>> others_by_default(["minilm", "ngrams"]), others_by_default(["ngrams"])
    (('ngrams',), ())
    """
    return tuple(name for name in featurizers[1:] if name == SECOND)


class Example:
    """One example with its features, scored once for all visitors.

    Args:
        limits: of the server; an example that a visitor could not run here is not shown.
        featurizers: that are offered.
        encoders: make the config.
    """

    def __init__(self, limits: Limits, featurizers: list[str], encoders: Encoders) -> None:
        self._limits, self._encoders = limits, encoders
        self._offered = FEATURIZER in featurizers and FEATURIZER not in encoders.functions
        self._others = others_by_default(featurizers) if featurizers[:1] == [FEATURIZER] else ()
        self._lock = threading.Lock()
        self._embedded: Embedded | None = None
        self._sets: tuple[TextSet, TextSet] | None = None
        self._scored: Scored | None = None
        self._tried = False

    @property
    def options(self) -> dict[str, object]:
        """The options of the example: the defaults."""
        own: dict[str, object] = {name: option.default for name, option in config_fields().items()}
        others = {"featurizers": self._others} if self._others else {}
        return {**own, "featurize_model_name": FEATURIZER, **others}

    @property
    def embedded(self) -> Embedded | None:
        """The features; None if they are missing or belong to other texts."""
        with self._lock:
            if not self._tried and self._offered:
                self._tried = True
                try:
                    self._load()
                except (OSError, ValueError) as error:
                    logger.warning("the example cannot be shown: %s", error)
            return self._embedded

    def _load(self) -> None:
        """Read texts and features."""
        if LABEL not in example_files():
            return
        human, models = example_sets(LABEL, self._limits)
        sets = human, models[LABEL]
        embedded = stored_features(sets, self._encoders.config(self.options))
        if embedded is not None and len(embedded.sets) == len(sets):
            self._sets, self._embedded = sets, embedded

    def shown(self) -> Shown | None:
        """The example's result for one visitor; None if there is no example."""
        embedded = self.embedded
        if embedded is None or self._sets is None:
            return None
        human, model = self._sets
        with self._lock:
            if self._scored is None:
                self._scored = self._score(embedded, human, model)
                self._scored.explain(LABEL, 1)  # counts the words of all texts once
        return Shown(human, {LABEL: model}, self.options, self._scored, LABEL, example=True)

    def warm_up(self) -> None:
        """Load the preset featurizer, and measure its speed on a few texts."""
        if self._sets is not None:
            texts = {side.title: side.texts[:_WARM_TEXTS] for side in self._sets}
            embed(texts, self._encoders.config(self.options), self._encoders, Run())

    def _score(self, embedded: Embedded, human: TextSet, model: TextSet) -> Scored:
        """The scores of the example by every featurizer."""
        titles = {LABEL: title_of(LABEL)}
        found: dict[str, Scored] = {}
        for name in (FEATURIZER, *self._others):
            config = self._encoders.config(self.options | {"featurize_model_name": name})
            if name != FEATURIZER:
                embedded = embed({HUMAN: human.texts, titles[LABEL]: model.texts}, config, self._encoders, Run())
            with self._encoders.speeds.scoring(sum(map(len, embedded.texts))):
                found[name] = score(embedded, titles, config)
        return with_all(found)
