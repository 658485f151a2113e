"""The example that is on the page when it opens: its features are in the package, so that no model runs for it."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from dataclasses import replace

from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.hosts.space.controls import panel_names, panel_options, play_options
from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.markup import escape
from mauve_metric.hosts.space.scoring import Embedded, Encoders, Scored, feature_key, score
from mauve_metric.hosts.space.session import Shown, title_of
from mauve_metric.hosts.space.text_handlers import HUMAN, example_files
from mauve_metric.hosts.space.uploads import TextSet, read_upload
from mauve_metric.results.explanation import Explanation
from mauve_metric.results.result import MauveResult
from mauve_metric.texts.fingerprints import TextHashes

logger = logging.getLogger(__name__)

FEATURIZER = "minilm"
LABEL = "nucleus sampling"  # among `example_files`
PAPERS = ("https://arxiv.org/abs/2102.01454", "https://arxiv.org/abs/2212.14578")
_ENDING = ".npz"  # of the features, beside the texts; `examples/make_features.py` writes them


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
        self._lock = threading.Lock()
        self._embedded: Embedded | None = None
        self._sets: tuple[TextSet, TextSet] | None = None
        self._scored: Scored | None = None
        self._tried = False

    @property
    def options(self) -> dict[str, object]:
        """Of the example: the defaults."""
        given = play_options([None] * 4) | panel_options([None] * len(panel_names()))
        return {"featurize_model_name": FEATURIZER} | given

    @property
    def embedded(self) -> Embedded | None:
        """The features; None where they are not there, or not those of the texts."""
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
        files = example_files().get(LABEL)
        if files is None:
            return
        ((name, path),) = files.items()
        human = path.with_name("human.jsonl")
        sets = (
            read_upload(HUMAN, human, "text", self._limits, "example"),
            read_upload(title_of(name), path, "text", self._limits, "example"),
        )
        sides = []
        for side, file in zip(sets, (human, path), strict=True):
            stored = replace(FeatureSet.load(file.with_suffix(_ENDING)), from_file=False)
            hashes = TextHashes()
            list(hashes.watch(side.texts))
            if stored.text_hashes is None or stored.text_hashes.tolist() != hashes.fields()["text_hashes"].tolist():
                raise ValueError(f"{file.with_suffix(_ENDING).name} holds the features of other texts than {file.name}")
            sides.append(stored)
        config = self._encoders.config(self.options)
        self._sets = sets
        self._embedded = Embedded(feature_key(config), tuple(sides), tuple(side.texts for side in sets))

    def shown(self) -> Shown | None:
        """The example's result for one visitor; None where there is none."""
        embedded = self.embedded
        if embedded is None or self._sets is None:
            return None
        human, model = self._sets
        with self._lock:
            if self._scored is None:
                self._scored = score(embedded, {LABEL: title_of(LABEL)}, self._encoders.config(self.options))
                self._scored.explain(LABEL, 1)  # which reads the words of all texts
        return Shown(human, {LABEL: model}, self.options, self._scored, LABEL, example=True)


def about(shown: Shown, environment: Mapping[str, str] = os.environ) -> str:
    """What the example is, what it says, and where to read on; every number is the result's."""
    result = shown.scored.results[shown.picked]
    explanation = shown.scored.explain(shown.picked, 1)
    paper, longer = PAPERS
    space = environment.get("SPACE_ID")
    code = f"https://huggingface.co/spaces/{space}/tree/main" if space else "#code"
    said = escape(what_you_get(result, explanation))
    return (
        f"<p class='mm-about'><strong>An example:</strong> {result.n_q} passages that a small model wrote by "
        f"{escape(shown.picked)}, against {result.n_p} of human prose. {said} Your texts take its place. "
        f"<a href='{paper}' target='_blank' rel='noopener'>The paper</a>, "
        f"<a href='{longer}' target='_blank' rel='noopener'>the longer one</a>, "
        f"<a href='{escape(code)}'>the code</a>.</p>"
    )


def what_you_get(result: MauveResult, explanation: Explanation) -> str:
    """The score beside what is possible, and the largest part of what keeps it from there."""
    said = f"MAUVE is {result.mauve:.2f}, where two human sets of this size would reach {result.mauve_ceiling:.2f}"
    if not explanation.buckets or explanation.gap <= 0:
        return f"{said}."
    largest = explanation.buckets[0]
    words = ", ".join(f"“{word}”" for word in largest.words[:3])
    does = "writes too much" if largest.side == "too much" else "misses"
    return f"{said}; the model {does} most of all {f'where texts say {words}' if words else 'in one bucket'}."
