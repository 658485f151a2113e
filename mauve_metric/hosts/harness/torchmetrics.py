"""MAUVE as a torchmetrics `Metric`: update with texts or features batch by batch, compute a dictionary of scalars."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mauve_metric.runtime.errors import NoPackage, UnlikeFeatures

try:
    import torch
    from torchmetrics import Metric
    from torchmetrics.utilities import distributed
except ImportError as error:
    raise NoPackage(
        "mauve_metric.hosts.harness.torchmetrics needs torchmetrics: pip install 'mauve_metric[torchmetrics]'"
    ) from error

from mauve_metric.arrays import Array, Integers
from mauve_metric.clustering.quantizers import scoring_options
from mauve_metric.features.encoder import Encoder
from mauve_metric.features.feature_set import FeatureSet, FeaturizeJob, InputSide
from mauve_metric.features.sides import check_same_encoder, not_independent
from mauve_metric.features.text_functions import check_one_featurizer
from mauve_metric.hosts.harness.pair_scores import SCORES, scalar_scores
from mauve_metric.inputs.fingerprints import MARKS, TRAITS, Marks
from mauve_metric.inputs.sources import NoTextsError
from mauve_metric.options import STRIP
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.checks import check_bool, check_known, shown, wrong
from mauve_metric.runtime.tensors import as_array, in_memory, is_tensor
from mauve_metric.scoring.compute import compute_mauve

Tensor = torch.Tensor

_SIDES = {True: "real", False: "fake"}
_NAMES = {"real": "human texts", "fake": "texts of the model"}
_KINDS = (torch.float32, torch.float64, torch.int64)  # of states, the wider ones later
_FACTS = ("text_hashes", "opening_hashes", "lengths")
_KNOWN = (*_FACTS, "format_numbers", "unseen")
_HOST_OPTIONS = (
    "compute_on_cpu",
    "dist_sync_on_step",
    "process_group",
    "dist_sync_fn",
    "distributed_available_fn",
    "sync_on_compute",
    "compute_with_cache",
)


class MauveScore(Metric):  # type: ignore[misc]
    """MAUVE of the texts of all batches and all processes, after the pattern of `KernelInceptionDistance`.

    The features of every text stay in memory, in the order in which they came, those of several processes one process
    after the other. Closeness, its interval and the verdict do not depend on that order: several processes give what
    one gives that has all the texts. The published `mauve` depends on it, as in the literature.

    `update(preds, target)` takes both sides at once, as metrics of texts do, so that it can be in a `MetricCollection`
    with them; `update(texts, real=True)` takes one side, as metrics of two sets do.

    Args:
        reset_real_features: whether `reset` also forgets the human side; False keeps it from epoch to epoch.
        aligned: the texts of both sides come in the same order, and text i of both answers prompt i.
        **options: those of `compute_mauve`, and those of `torchmetrics.Metric` (`process_group`, `dist_sync_fn`, …).

    Attributes:
        result: the whole `MauveResult` of the last `compute`, with its signature and warnings; None before.

    Raises:
        TypeError, ValueError: a wrong option, or an argument of the wrong type.

    >>> metric = MauveScore(num_buckets=5)
    >>> rng = np.random.default_rng(0)
    >>> metric.update(rng.normal(size=(60, 8)), real=True)
    >>> metric.update(rng.normal(size=(50, 8)) + 1, real=False)
    >>> sorted(metric.compute())  # doctest: +NORMALIZE_WHITESPACE
    ['auc', 'closeness', 'closeness_ci_high', 'closeness_ci_low', 'mauve', 'mauve_classifier', 'mauve_debiased',
     'precision', 'recall', 'verdict']
    """

    higher_is_better: bool = True
    is_differentiable: bool = False
    full_state_update: bool = False
    plot_lower_bound: float = 0.0
    plot_upper_bound: float = 1.0

    def __init__(self, reset_real_features: bool = True, aligned: bool = False, **options: Any) -> None:
        super().__init__(**{name: options.pop(name) for name in _HOST_OPTIONS if name in options})
        config, run = scoring_options(options)
        check_one_featurizer(config.featurize_model_name)
        for name, value, usual in (
            ("match_lengths", config.match_lengths, "no"),
            ("distributed", run.distributed, False),
        ):
            if value != usual:
                expected = f"{usual!r} here, since MauveScore featurizes each batch where it is"
                raise wrong(name, expected, value)
        self.reset_real_features = check_bool("reset_real_features", reset_real_features)
        self.aligned = check_bool("aligned", aligned)
        if self.aligned and config.independent:
            raise not_independent("aligned")
        self.result: MauveResult | None = None
        self._options = options
        self._encoder: Encoder | None = None
        self._identities: dict[str, Mapping[str, str] | None] = {}
        self._unseen_formats: frozenset[str] | None = None
        counts = torch.zeros(3 + len(MARKS) + len(STRIP), dtype=torch.int64)
        for side in _SIDES.values():
            self.add_state(f"{side}_features", [], dist_reduce_fx=None)
            self.add_state(f"{side}_facts", [], dist_reduce_fx=None)
            self.add_state(f"{side}_counts", counts.clone(), dist_reduce_fx="sum")

    def update(self, preds: object, target: object = None, *, real: bool | None = None) -> None:
        """Add texts of the model with human ones, or to one side alone.

        Args:
            preds: a list of texts, features (n, d) as an array or a tensor, or a `FeatureSet`: the model's, or with
                `real` those of that side.
            target: the human ones likewise; their number may differ.
            real: without a target, the side of `preds`: True for human, False for the model's.

        Raises:
            TypeError: not exactly one of target and real is given, or an argument is of another type.
        """
        if target is not None and real is not None:
            raise TypeError(f"update takes target or real={shown(real)}, got both")
        if target is None and not isinstance(real, bool):
            raise TypeError(f"without target, real must be True (human) or False (the model's), got {shown(real)}")
        if isinstance(target, bool):
            raise TypeError(f"target must be human texts, got {target}: the side of one set is real={target}")
        sides = {"preds": self._featurize("preds", preds)}
        if target is not None:
            sides["target"] = self._featurize("target", target)
        names = {argument: _SIDES[real or argument == "target"] for argument in sides}
        rows = {
            argument: self._checked(names[argument], argument, side)
            for argument, side in sides.items()
            if isinstance(side, FeatureSet)
        }
        for argument, side in sides.items():  # all of them are added, or none
            if isinstance(side, FeatureSet):
                self._add(names[argument], side, rows[argument])
            else:
                self._count(names[argument], [0, side.dropped, 0], {}, side.stripped)

    def _checked(self, name: str, argument: str, side: FeatureSet) -> Array:
        """The rows of an argument, which fit those of a side so far."""
        check_same_encoder(self._identities.get(name, side.identity), side.identity)
        features = in_memory(side.features)
        if features is None:
            raise ValueError(f"{argument} must be features in memory, got features that are read in blocks")
        before: Tensor | None = next(itertools.chain(self.real_features, self.fake_features), None)
        if before is not None and before.shape[1] != features.shape[1]:
            raise ValueError(f"{argument} must have {before.shape[1]} columns as before, got {features.shape[1]}")
        return features

    def _add(self, name: str, side: FeatureSet, features: Array) -> None:
        """Add rows to the states of a side."""
        self._identities.setdefault(name, side.identity)
        for state, rows in (("features", features), ("facts", _facts(side, features))):
            tensor = torch.tensor(rows, device=self.device)  # a copy: the caller may use its array again
            getattr(self, f"{name}_{state}").append(tensor if tensor.dtype in _KINDS else tensor.float())
        marks = side.marks or Marks({}, None, 0)
        self._count(name, [side.truncated, side.dropped, marks.texts], marks.wrapped, side.stripped)
        self._unseen_formats = self._unseen_formats if side.unseen_formats is None else side.unseen_formats

    def _count(self, name: str, counts: list[int], wrapped: Mapping[str, int], stripped: Mapping[str, int]) -> None:
        """Add numbers of a side's texts: those cut, dropped and examined, those in each wrapping, and stripped ones."""
        each = [*counts, *(wrapped.get(kind, 0) for kind in MARKS), *(stripped.get(rule, 0) for rule in STRIP)]
        setattr(self, f"{name}_counts", getattr(self, f"{name}_counts") + torch.tensor(each, device=self.device))

    def forward(self, preds: object, target: object = None, *, real: bool | None = None) -> None:
        """Add texts, as `update` does: a batch alone is too small for a score of its own."""
        self.update(preds, target, real=real)

    def merge_state(self, incoming_state: dict[str, Any] | Metric) -> None:
        """Add the texts of another `MauveScore` of the same featurizer before those that are here.

        Raises:
            ValueError: its features are others, or it is no such metric.
        """
        if isinstance(incoming_state, MauveScore):
            for name, identity in incoming_state._identities.items():
                check_same_encoder(self._identities.get(name, identity), identity)
            widths = {rows.shape[1] for it in (self, incoming_state) for rows in (*it.real_features, *it.fake_features)}
            if len(widths) > 1:
                raise UnlikeFeatures.of("incoming_state", f"must have as many columns as the metric, got {widths}")
        super().merge_state(incoming_state)
        if isinstance(incoming_state, MauveScore):
            self._identities = {**incoming_state._identities, **self._identities}
            unseen = self._unseen_formats
            self._unseen_formats = incoming_state._unseen_formats if unseen is None else unseen

    def compute(self) -> dict[str, Tensor]:
        """The numbers of `pair_scores.SCORES` by name; NaN for a missing one."""
        self.result = compute_mauve(p=self._side("real"), q=self._side("fake"), aligned=self.aligned, **self._options)
        return {name: torch.tensor(value, device=self.device) for name, value in scalar_scores(self.result).items()}

    def __getitem__(self, name: object) -> Any:
        """One of the numbers of `compute` as a metric, such as `MauveScore()["mauve"]`."""
        check_known("the number of a MauveScore", name, SCORES)
        return super().__getitem__(name)

    def reset(self) -> None:
        """Forget the texts; the human ones only with `reset_real_features`."""
        kept = () if self.reset_real_features else ("real_features", "real_facts", "real_counts")
        defaults = {name: self._defaults.pop(name) for name in kept}
        super().reset()
        self._defaults.update(defaults)
        self._identities = {name: value for name, value in self._identities.items() if f"{name}_facts" in kept}

    def set_dtype(self, dst_type: object) -> MauveScore:
        """Change nothing: features have the type in which they came, and all other states are whole numbers."""
        return self

    def plot(self, val: object = None, ax: object = None) -> Any:
        """Figure and axes of the scores, or of `val`: what `compute` gave, once or several times."""
        return self._plot(self.compute() if val is None else val, ax)

    def _featurize(self, argument: str, texts: object) -> FeatureSet | NoTextsError:
        """The features of texts; of empty texts alone, which are dropped, their numbers."""
        if isinstance(texts, FeatureSet):
            return texts
        config, run = scoring_options(self._options)
        with FeaturizeJob(config, run, frozenset(self._options), encoder=self._encoder) as job:
            if is_tensor(texts) or (isinstance(texts, np.ndarray) and texts.dtype.kind in "fiub"):
                return job.side(InputSide("features", argument, as_array(texts) if is_tensor(texts) else texts))
            try:
                side = job.of_texts(argument, texts)
            except NoTextsError as error:
                if not error.dropped:
                    raise
                return error
            self._encoder = job.encoder
        return side

    def _side(self, name: str) -> FeatureSet:
        """All rows added to a side, in order of arrival, process after process."""
        parts = [as_array(rows) for rows in getattr(self, f"{name}_features")]
        if not sum(map(len, parts)):
            call = f"update(preds, target) or update(texts, real={name == 'real'})"
            raise ValueError(f"MauveScore has no {_NAMES[name]}: call {call} first")
        facts = np.concatenate([as_array(rows) for rows in getattr(self, f"{name}_facts")])
        truncated, dropped, marked, *rest = getattr(self, f"{name}_counts").tolist()
        wrapped, of_rules = rest[: len(MARKS)], dict(zip(STRIP, rest[len(MARKS) :], strict=True))
        marks = Marks(dict(zip(MARKS, wrapped, strict=True)), None, marked) if marked == len(facts) else None
        other = self._identities.get(_SIDES[name == "fake"])  # this process may have only those texts
        identity = self._identities.get(name, other)
        side = FeatureSet(np.concatenate(parts), identity, truncated=truncated, dropped=dropped, marks=marks)
        mask = int(np.bitwise_and.reduce(facts[:, -1]))  # of every text
        numbers = np.ascontiguousarray(facts[:, len(_FACTS) : -1]).view(np.float64)
        of_facts: dict[str, Any] = {"format_numbers": numbers[:, :-1], "unseen": numbers[:, -1]}
        of_facts |= {fact: facts[:, column].view(np.uint64) for column, fact in enumerate(_FACTS)}
        of_facts["lengths"] = of_facts["lengths"].view(np.int64)
        fields = {fact: of_facts[fact] for bit, fact in enumerate(_KNOWN) if mask >> bit & 1}
        rules = (identity or {}).get("strip", "").split(",")
        fields["stripped"] = {rule: number for rule, number in of_rules.items() if rule in rules}
        return replace(side, **fields, unseen_formats=self._unseen_formats)

    def _sync_dist(self, dist_sync_fn: Callable[..., Any] | None = None, process_group: Any = None) -> None:
        """Gather the rows of all processes; each may have any number, zero included."""
        gather, group = dist_sync_fn or distributed.gather_all_tensors, process_group or self.process_group
        for name in (f"{side}_{state}" for side in _SIDES.values() for state in ("features", "facts")):
            rows: list[Tensor] = getattr(self, name)
            here = torch.cat(rows) if rows else torch.empty((0, 0), device=self.device)
            kind = torch.tensor([here.shape[1], _KINDS.index(here.dtype)], device=self.device)
            width, number = torch.stack(gather(kind, group=group)).amax(dim=0).tolist()
            setattr(self, name, [(here if rows else here.new_empty((0, width))).to(_KINDS[number])])
        super()._sync_dist(gather, process_group)


def _facts(side: FeatureSet, features: Array) -> Integers:
    """Facts of each text besides its features, (n, 3 + f + 2).

    `_FACTS`, f format numbers and the share of unseen characters as bits, and a mask of what is known.
    """
    columns: list[Integers] = []
    for name in _FACTS:
        values = getattr(side, name)
        columns.append(np.zeros(len(features), np.int64) if values is None else values.astype(np.uint64).view(np.int64))
    numbers = np.zeros((len(features), len(TRAITS) + 1))
    if side.format_numbers is not None:
        numbers[:, :-1] = side.format_numbers
    if side.unseen is not None:
        numbers[:, -1] = side.unseen
    mask = sum(1 << bit for bit, name in enumerate(_KNOWN) if getattr(side, name) is not None)
    return np.column_stack([*columns, numbers.view(np.int64), np.full(len(features), mask)])
