"""Sets that are scored for the page, and the examples, whose features are in the package: no model runs for them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.features.text_functions import is_text_function
from mauve_metric.hosts.space.limits import Limits, other_featurizers
from mauve_metric.hosts.space.session.run import Run
from mauve_metric.hosts.space.session.scoring import (
    Encoders,
    Kept,
    PageJob,
    Scored,
    feature_key,
    job_of,
    read,
    score,
    stored_key,
    with_all,
)
from mauve_metric.hosts.space.session.sessions import Shown, title_of
from mauve_metric.hosts.space.session.uploads import TextSet, read_upload, shared_prompts_of
from mauve_metric.inputs.files import examples_folder
from mauve_metric.inputs.fingerprints import TextHashes
from mauve_metric.options import MauveConfig, page_fields

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
_ENDING = ".npz"  # of the features, beside the texts; `examples/make_features.py` writes them


def example_files() -> dict[str, dict[str, Path]]:
    """The examples whose files are all there: for the words on each button the models' files by their names."""
    try:
        folder = examples_folder()
    except FileNotFoundError:
        return {}
    examples = {}
    for label, files in EXAMPLES.items():
        paths = {_EXAMPLE_NAMES[name]: folder / f"{name}.jsonl" for name in files}
        if all(path.is_file() for path in paths.values()):
            examples[label] = paths
    return examples


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


def stored_features(sets: Sequence[TextSet], config: MauveConfig) -> Kept:
    """The features of those sets that are examples, from the files beside their texts; none for another config.

    Raises:
        ValueError: they are of other texts.
    """
    if feature_key(config) != feature_key(MauveConfig(featurize_model_name=FEATURIZER)):
        return {}
    kept: Kept = {}
    for side in sets:
        file = None if side.path is None else side.path.with_suffix(_ENDING)
        if side.kind != "example" or side.every > 1 or file is None or not file.is_file():
            continue
        stored, hashes = replace(FeatureSet.load(file), from_file=False), TextHashes()
        list(hashes.watch(side.texts))
        if stored.text_hashes is None or stored.text_hashes.tolist() != hashes.fields()["text_hashes"].tolist():
            raise ValueError(f"{file.name} holds the features of other texts than {side.name}")
        kept[stored_key(config, side.texts)] = stored
    return kept


def others_by_default(featurizers: Sequence[str]) -> tuple[str, ...]:
    """The featurizers that score beside the preset one unless a visitor says otherwise.

    >>> others_by_default(["minilm", "ngrams"]), others_by_default(["ngrams"])
    (('ngrams',), ())
    """
    return tuple(name for name in featurizers[1:] if name == SECOND)


def compare_sets(
    human: TextSet,
    models: dict[str, TextSet],
    options: dict[str, object],
    encoders: Encoders,
    run: Run,
    aligned: bool = False,
    last: Shown | None = None,
) -> Shown:
    """Score the models' sets against the human one by every featurizer of the options.

    Args:
        options: checked. aligned: see `compare`. last: a result whose features and clusterings are used again.

    Raises:
        Cancelled: stopped. ValueError, TypeError, OSError, ImportError: as `compute_mauve`.
    """
    titles = {name: title_of(name) for name in models}
    sets = {HUMAN: human.texts} | {titles[name]: side.texts for name, side in models.items()}
    each: dict[str, Scored] = {}
    groups = shared_prompts_of({HUMAN: human, **models})
    prompts = tuple(groups.get(name) for name in (HUMAN, *models)) if groups and not aligned else ()
    plan = [*planned([human, *models.values()], options, encoders, last)]
    # those that take seconds first: their verdict is there while a model reads
    quick_first = sorted(plan, key=lambda entry: not is_text_function(entry[1].config.featurize_model_name))
    for number, (name, job, past) in enumerate(quick_first):
        run.part(number, len(plan), f"{name}: " if len(plan) > 1 else "")
        evaluation = read(sets, [*models], job, run, aligned=aligned, prompts=prompts, last=past)
        with encoders.speeds.scoring(sum(map(len, sets.values()))):
            each[name] = score(evaluation, run)
        run.so_far(name, each[name].results)
    scored = with_all({name: each[name] for name, *_ in plan})
    picked = last.picked if last is not None and last.picked in models else scored.best_first[0]
    run.stage(0.98, "looking for words")
    scored.explain(picked)  # counts the words of all texts once
    run.check()
    return Shown(human, models, options, scored, picked)


def planned(
    sets: Sequence[TextSet], options: Mapping[str, object], encoders: Encoders, shown: Shown | None
) -> Iterator[tuple[str, PageJob, Scored | None]]:
    """For each featurizer of the options its name, its job with the features that are known, and its shown result.

    The result is `None` where one from a file is shown.
    """
    for featurizer in (str(options["featurize_model_name"]), *other_featurizers(options)):
        config = encoders.config({**options, "featurize_model_name": featurizer})
        past = shown.scored.with_features_of(config) if shown is not None and isinstance(shown.scored, Scored) else None
        job = job_of(config, encoders, None if past is None else past.kept, options)
        if job.unread([side.texts for side in sets]):
            job.kept |= stored_features(sets, config)
        yield featurizer, job, past


class Example:
    """One example with its features, scored once for all visitors; `offered`: whether there is one.

    Args:
        limits: of the server; an example that a visitor could not run here is not shown.
        featurizers: that are offered.
        encoders: make the config.
    """

    def __init__(self, limits: Limits, featurizers: list[str], encoders: Encoders) -> None:
        self._limits, self._encoders = limits, encoders
        can_be_read = FEATURIZER in featurizers and FEATURIZER not in encoders.functions
        self.offered = self._untried = can_be_read and LABEL in example_files()
        self._others = others_by_default(featurizers) if featurizers[:1] == [FEATURIZER] else ()
        self._lock = threading.Lock()
        self._shown: Shown | None = None

    @property
    def options(self) -> dict[str, object]:
        """The options of the example: the defaults."""
        defaults: dict[str, object] = {name: option.default for name, option in page_fields().items()}
        others = {"featurizers": self._others} if self._others else {}
        return {**defaults, "featurize_model_name": FEATURIZER, **others}

    def shown(self, run: Run | None = None) -> Shown | None:
        """The example's result for one visitor; None if its texts or their features are missing.

        run: that scores it if it is not scored yet.
        """
        with self._lock:
            if self._untried:
                self._untried = False
                try:
                    human, models = example_sets(LABEL, self._limits)
                    stored = stored_features([human, *models.values()], self._encoders.config(self.options))
                    if len(stored) > len(models):
                        shown = compare_sets(human, models, self.options, self._encoders, run or Run())
                        self._shown = replace(shown, example=True)
                except (OSError, ValueError) as error:
                    logger.warning("the example cannot be shown: %s", error)
            return None if self._shown is None else replace(self._shown)
