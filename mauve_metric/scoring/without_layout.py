"""The learned score without the layout or the prompts that one set has, and the cure that moves the score."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mauve_metric.features.dependence import PairGroups
from mauve_metric.features.feature_set import FeaturizeJob
from mauve_metric.features.text_functions import TEXT_FUNCTIONS, is_text_function
from mauve_metric.inputs.fingerprints import TRAITS, format_numbers
from mauve_metric.inputs.sources import TextSource
from mauve_metric.inputs.stripping import WRAPPING, PromptEcho
from mauve_metric.options import STRIP, MauveConfig, RunOptions
from mauve_metric.results.result import LearnedScore, MauveResult
from mauve_metric.runtime.errors import short_message
from mauve_metric.runtime.plain_text import is_blank
from mauve_metric.scoring.score import side_by_side_of
from mauve_metric.uncertainty.closeness import Bound
from mauve_metric.uncertainty.format_check import check_format, format_warning
from mauve_metric.uncertainty.learned_score import Learned, learned_score
from mauve_metric.uncertainty.score_warnings import ScoreWarning

MOST_AGAIN = 1000  # of both sides, which a model or a user's function featurizes a second time
SAMPLE = 64  # texts of a side on which such a featurizer tries first whether layout matters
MOVED, SAMPLE_MOVED = 0.02, 0.05  # of a score or an AUC: less is noise of the classifier, on all texts or on a sample
TWICE = f"the featurizer would have to read all texts a second time, which is done for at most {MOST_AGAIN} texts"


_TRIED = ("format_differs", "echoed_prompts")  # warnings that depend on what the featurizer sees


def needs_trial(result: MauveResult) -> bool:
    """Return whether a result has a warning that depends on what the featurizer sees."""
    return any(warning.code in _TRIED for warning in result.warnings)


def warning_of(result: MauveResult, code: str) -> ScoreWarning | None:
    """The warning of a result with a code; None without one."""
    return next((warning for warning in result.warnings if warning.code == code), None)


def without_layout(
    result: MauveResult,
    texts: Sequence[Sequence[str] | None],
    groups: PairGroups,
    config: MauveConfig,
    job: FeaturizeJob | None = None,
    prompts: Sequence[str] = (),
) -> MauveResult:
    """Try what the layout that separates two sets, or the prompts that one begins with, does to their learned score.

    A result without the warnings `format_differs` and `echoed_prompts` stays as it is, as does one whose texts are not
    known. If the score is the same without the layout, the warning goes. Else it says how far the score moves, and
    names the options that move it; `normalised` is the score without the layout. A model or a function of the user's
    tries a sample first, and makes `normalised` for at most `MOST_AGAIN` texts, since these cost as much as the first
    time. The warning about prompts goes too if the sets are as easy to tell apart without them: whole passages of both
    sets are compared then.

    Args:
        texts: of P and of Q, as they were scored; None: not known.
        groups: codes of texts that are not independent; None: each is alone. config: of the result.
        job: makes features as those of the result were made; None: only functions of texts can.
        prompts: that texts may begin with.
    """
    p, q = texts
    model = result.signature_entries.get("featurize_model_name")
    if model in TEXT_FUNCTIONS:
        config = replace(config, featurize_model_name=str(model))
    is_function = is_text_function(config.featurize_model_name)
    if job is None and is_function:
        job = FeaturizeJob(config, RunOptions(cache=False))
    if job is None or p is None or q is None:
        return result
    trial = _Trial([p, q], groups, config, job, prompts)
    try:
        if prompts and (warning := warning_of(result, "echoed_prompts")) is not None and not trial.moves(result):
            result = replace(result, warnings=tuple(other for other in result.warnings if other is not warning))
        warning = warning_of(result, "format_differs")
        return result if warning is None else trial.with_effect(result, warning)
    except Exception as error:  # whatever a user's function raises on texts that are not those it was given
        if not is_function or model in TEXT_FUNCTIONS:
            raise
        return replace(result, normalised_missing=f"the featurizer failed on other texts: {short_message(error)}")


def with_effect_of(tried: MauveResult, result: MauveResult) -> MauveResult:
    """The result with the effect of layout in another one, of the same features and classifier in other buckets."""
    effects = [warning for warning in tried.warnings if warning.code in _TRIED]
    others = [warning for warning in result.warnings if warning.code not in _TRIED]
    fields = {name: getattr(tried, name) for name in ("normalised", "normalised_missing", "bounds_without_layout")}
    return replace(result, warnings=(*effects, *others), **fields)


class _Trial(NamedTuple):
    """Scores of two sets with some of their layout, or their prompts, removed."""

    texts: Sequence[Sequence[str]]
    groups: PairGroups
    config: MauveConfig
    job: FeaturizeJob
    prompts: Sequence[str]

    @property
    def is_quick(self) -> bool:
        """Return whether all texts can be featurized again."""
        return self.config.featurize_model_name == "ngrams"

    def moves(self, result: MauveResult) -> bool:
        """Return whether the sets are harder to tell apart without their prompts, or cannot be compared without."""
        _, least, before, after, _ = self._tried(result, ["prompts"])
        return before is None or after is None or _has_moved(before, after, least)

    def _tried(
        self, result: MauveResult, names: Sequence[str]
    ) -> tuple[_Trial, float, Learned | None, Learned | None, tuple[str, ...]]:
        """The trial on all texts or on a sample, the least change that counts, and the scores with and without.

        Last, the layout that was left out: what still tells the sets apart without `names` is left out too.
        """
        trial, least = (self, MOVED) if self.is_quick else (self._sample(), SAMPLE_MOVED)
        before = result.learned if trial is self else trial._score([])[0]
        after, further = trial._score(names)
        while further and names != ["prompts"] and not {*further} <= {*names}:
            names = [*names, *(name for name in further if name not in names)]
            after, further = trial._score(names)
        return trial, least, before, after, tuple(names)

    def with_effect(self, result: MauveResult, warning: ScoreWarning) -> MauveResult:
        """The result with the effect of its layout."""
        wrapped = [other.numbers["kind"] for other in result.warnings if other.code == "wrapping_in_one_set"]
        layout = [*dict.fromkeys([*warning.numbers["layout"], *wrapped])]
        trial, least, before, after, names = self._tried(result, layout)
        if before is None or after is None:
            return replace(result, normalised_missing="without layout too few different texts are left")
        others = tuple(other for other in result.warnings if other is not warning)
        if not _has_moved(before, after, least):
            return replace(result, warnings=others, normalised_missing=None)
        curable = tuple(name for name in names if _rule_of(name) not in (None, *self._stripped))
        cured = after if curable == names else trial._score(curable)[0] if curable else None
        cure = self._option(curable) if cured is not None and _has_moved(before, cured, least) else ""
        is_full = self.is_quick or result.n_p + result.n_q <= MOST_AGAIN
        if is_full and trial is not self:
            before, after = result.learned or before, self._score(names)[0] or after
            if not _has_moved(before, after, MOVED):
                return replace(result, warnings=others, normalised_missing=None)
        scores, aucs = (before.mauve, after.mauve), (before.auc, after.auc)
        if is_full:
            effect = f"without them, the classifier's score is {scores[1]:.3f} in place of {scores[0]:.3f}"
            numbers, weight = {"score": scores[0], "score_without": scores[1]}, abs(scores[1] - scores[0])
        else:
            auc = f"a classifier's AUC on {2 * SAMPLE} texts"
            effect = f"without them, {auc} is {aucs[1]:.2f} in place of {aucs[0]:.2f}"
            numbers, weight = {"auc_before": aucs[0], "auc_without": aucs[1]}, min(2 * (aucs[0] - aucs[1]), 1.0)
        who = result.signature_entries.get("featurize_model_name")
        layout_aucs = {f"auc_{name}": auc for name, auc in (result.format_aucs or {}).items() if name in names}
        said = warning.numbers | numbers | layout_aucs | {"layout": [name for name in names if name in TRAITS]}
        told = format_warning(said, None if who is None else str(who), effect, cure, weight)
        told_all = tuple(told if other is warning else other for other in result.warnings)
        if not is_full:
            return replace(result, warnings=told_all, normalised_missing=TWICE)
        return replace(
            result,
            warnings=told_all,
            normalised=LearnedScore.of(after),
            normalised_missing=None,
            bounds_without_layout=(Bound.of_learned(after, result.bounds[-1].codes),),
        )

    def _sample(self) -> _Trial:
        """A trial with a few texts of each side, which do not depend on the order of the texts."""
        digests = [[hashlib.blake2b(text.encode()).digest() for text in side] for side in self.texts]
        rows = [sorted(range(len(side)), key=side.__getitem__)[:SAMPLE] for side in digests]
        texts = [[side[row] for row in chosen] for side, chosen in zip(self.texts, rows, strict=True)]
        groups = None if self.groups is None else (self.groups[0][rows[0]], self.groups[1][rows[1]])
        return self._replace(texts=texts, groups=groups)

    @property
    def _stripped(self) -> set[str]:
        """The rules of what is stripped already."""
        return {*str(self.config.strip).split(",")} - {"no"}

    def _option(self, names: Sequence[str]) -> str:
        """The option that removes parts of the layout, and all that is stripped already."""
        rules = self._stripped | {_rule_of(name) for name in names}
        return f"strip='{','.join(rule for rule in STRIP if rule in rules)}'"

    def _score(self, names: Sequence[str]) -> tuple[Learned | None, tuple[str, ...]]:
        """The learned score without some of the layout, None for too few different texts; the layout that still tells.

        names: of `TRAITS`, rules of `strip`, or "prompts".
        """
        sides = [list(side) for side in self.texts]
        for name in sorted(names, key=_turn_of):
            trait = TRAITS.get(name)
            remove = PromptEcho(self.prompts) if name == "prompts" else trait.without if trait else WRAPPING[name]
            if remove is not None:
                sides = [[*map(remove, side)] for side in sides]
        plain = [
            [text if is_blank(new) else new for new, text in zip(side, originals, strict=True)]
            for side, originals in zip(sides, self.texts, strict=True)
        ]
        p, q = (self.job.of_texts("texts", TextSource(side), marks=False) for side in plain)
        with side_by_side_of((p, q)) as run:
            learned = learned_score(p.features, q.features, self.groups, self.config, run=run)
        p_formats, q_formats = (np.array([*map(format_numbers, side)]) for side in plain)
        unseen = p.unseen_formats or ()
        return learned, check_format(p_formats, q_formats, self.groups, self.config.seed, unseen)[2]


def _rule_of(name: str) -> str | None:
    """The rule of `strip` that removes a part of the layout."""
    return TRAITS[name].strip if name in TRAITS else name


def _turn_of(name: str) -> int:
    """The turn of a part of the layout to be removed: rules of `strip` in their order, then what has no rule."""
    return STRIP.index(rule) if (rule := _rule_of(name)) in STRIP else len(STRIP)


def _has_moved(before: Learned, after: Learned, least: float) -> bool:
    """Return whether two sets are harder to tell apart than before."""
    gained = after.mauve - before.mauve if least == MOVED else 0.0
    return max(before.auc - after.auc, gained) >= least
