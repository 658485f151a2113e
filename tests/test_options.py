"""Options that change only the speed of a run are checked as well: a wrong value is an error and no other run."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from changed_options import CHANGES
from samples import HUMAN, MODEL, ngrams, texts_of

import mauve_metric
from mauve_metric import (
    compare,
    compute_mauve,
    describe,
    explain,
    featurize,
    human_baseline,
    options,
    robustness,
    score_sharded,
    stress_test,
)
from mauve_metric.apps.generation.writing_options import WritingOptions
from mauve_metric.apps.sharding.shards import Shard, shard_tasks
from mauve_metric.features.cache import source_of
from mauve_metric.features.encoder import load_encoder
from mauve_metric.features.feature_set import FeatureSet, FeaturizeJob
from mauve_metric.features.model_hashes import identity_digest
from mauve_metric.features.sides import check_same_encoder
from mauve_metric.options import MauveConfig, RunOptions, config_fields, encoder_options, option, run_fields
from mauve_metric.results.signature import signature_entries
from mauve_metric.runtime.checks import integer_check


@pytest.mark.parametrize("name", ["verbose", "compile", "distributed"])
@pytest.mark.parametrize("value", ["False", "", 0, 1, None, [], np.array([True])])
def test_only_truth_values_switch(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"{name} must be True or False, got "):
        compute_mauve(p_features=np.eye(3), q_features=np.eye(3), **{name: value})


@pytest.mark.parametrize("strip", ["line-breaks, HTML", ["line_breaks", "html", "html"], "html,line_breaks"])
def test_what_is_stripped_has_one_spelling_whatever_its_order(strip: Any) -> None:
    """The order of `STRIP`, in which it is done: equal work has equal signatures and cache keys."""
    assert MauveConfig(strip=strip).strip == "html,line_breaks"


def test_truth_values_of_numpy_are_truth_values() -> None:
    options: dict[str, Any] = {"verbose": np.True_, "compile": np.False_, "cache": np.False_}
    found = RunOptions(**options)
    assert found.verbose is True and found.compile is False and found.cache is False


@pytest.mark.parametrize("name", ["cache", "checkpoint"])
@pytest.mark.parametrize("value", ["", "  ", "a\0b", "\ud800", "~no-such-user-here/x", 3, b"folder", ["folder"], 1.5])
def test_what_names_no_folder_is_refused_at_once(
    name: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((TypeError, ValueError), match=f"{name} must be .*a folder, got "):
        compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams, **{name: value})
    assert list(tmp_path.iterdir()) == []


def test_a_home_is_found_for_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    np.save(tmp_path / "rows.npy", rows)
    compute_mauve(p_features=tmp_path / "rows.npy", q_features=rows, num_buckets=3, checkpoint="~/kept")
    assert (tmp_path / "home" / "kept" / "clustering.npz").is_file() and not (tmp_path / "~").exists()


@pytest.mark.parametrize(
    "value", [np.array([1, 2]), 10**6000, -(10**6000), "x" * 5000], ids=str.split("array huge low long")
)
@pytest.mark.parametrize("name", ["batch_size", "device_id", "text_field"])
def test_messages_stay_short_and_name_the_option(name: str, value: Any) -> None:
    try:
        RunOptions(**{name: value})
    except (TypeError, ValueError) as error:
        assert str(error).startswith(f"{name} must be ") and len(str(error)) < 300


P, Q, R = texts_of(44), texts_of(40, 1), texts_of(40, 2, longest=9)
VERBS: dict[str, Callable[..., object]] = {
    "compute_mauve": lambda **options: compute_mauve(p_text=P, q_text=Q, **options),
    "compare": lambda **options: compare(P, {"a": Q, "b": R}, **options),
    "describe": lambda **options: describe(P, {"a": Q}, measures="score", **options),
    "explain": lambda **options: explain(p_text=P, q_text=Q, **options),
    "featurize": lambda **options: featurize(P, **options),
    "human_baseline": lambda **options: human_baseline(P, splits=2, **options),
    "robustness": lambda **options: robustness(P, {"a": Q, "b": R}, vary="seed", design=False, **options),
    "stress_test": lambda **options: stress_test(P, perturbations="truncated", strengths=[1], **options),
}
NOT_THE_WORK = ("signature.py", "dataclasses.py", "options.py")  # these read every field


@pytest.mark.more
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_reads_every_option_that_it_offers(verb: str, tiny_gpt2: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the one quantizer alone that makes the buckets; a checkpoint is for features that are read in blocks."""
    read: set[str] = set()

    def note(self: object, name: str) -> object:
        code = sys._getframe(1).f_code
        keywords = code.co_qualname.startswith(("options_of_quantizer", "encoder_options"))  # of whom they are given to
        if keywords or not code.co_filename.endswith(NOT_THE_WORK):
            read.add(name)
        return object.__getattribute__(self, name)

    for kind in (MauveConfig, RunOptions):
        monkeypatch.setattr(kind, "__getattribute__", note)
    VERBS[verb](featurize_model_name=tiny_gpt2, strip="prompts", prompts=["a prompt"])
    offered = config_fields(verb) | run_fields(verb)
    offered = {name for name, item in offered.items() if item.metadata["of"] in (None, "kmeans")} - {"checkpoint"}
    assert offered - read == set()


@pytest.mark.parametrize("verb", [*VERBS, "score_sharded"])
def test_an_option_that_a_verb_ignores_is_refused(verb: str, tmp_path: Path) -> None:
    calls = {**VERBS, "score_sharded": lambda **options: score_sharded(p_text="p", q_text="q", folder="f", **options)}
    defaults = {name: item.default for name, item in (config_fields() | run_fields()).items()}
    ignored = {*defaults} - {*config_fields(verb), *run_fields(verb)}
    assert bool(ignored) == (verb not in ("compute_mauve", "compare"))
    for name in ignored:
        with pytest.raises(TypeError, match=f"{name} is of no use to {verb}: leave it out"):
            calls[verb](**{name: defaults[name]})


def test_every_option_of_a_score_has_another_value_to_test_it_with() -> None:
    assert set(CHANGES) == set(config_fields())
    assert [name for name, value in CHANGES.items() if value == config_fields()[name].default] == []


@pytest.mark.parametrize("name", encoder_options(MauveConfig()))
def test_each_option_of_an_encoder_is_of_its_identity_and_keys(name: str, tiny_gpt2: str) -> None:
    usual = MauveConfig(featurize_model_name=str(tiny_gpt2))
    changed = replace(usual, **{name: CHANGES[name]})
    assert source_of(usual) != source_of(changed)
    one, two = (load_encoder(str(tiny_gpt2), **encoder_options(config)).identity for config in (usual, changed))
    assert two[name] == str(CHANGES[name])
    with pytest.raises(ValueError, match=f" {name} "):
        check_same_encoder(one, two)
    job = FeaturizeJob(usual, RunOptions())
    job.follow(FeatureSet(np.eye(2), two))
    assert getattr(job.config, name) == CHANGES[name]


@dataclass(frozen=True, kw_only=True)
class MoreOptions(MauveConfig):
    """The options with one more of each stage."""

    layer: int = option(0, integer_check(0), "of the encoder", stage="featurize", encodes=True)
    lower: int = option(0, integer_check(0), "of the texts", stage="featurize")
    rounds: int = option(0, integer_check(0), "of the clustering", stage="quantize")
    weight: int = option(0, integer_check(0), "of the score", stage="score")


@pytest.mark.parametrize("name", ["layer", "lower", "rounds", "weight"])
def test_a_new_option_is_in_signature_and_keys(
    name: str, tiny_gpt2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "MauveConfig", MoreOptions)
    usual = MoreOptions(featurize_model_name=str(tiny_gpt2))
    change: dict[str, Any] = {name: 3}
    changed = replace(usual, **change)
    identity = {"model": str(tiny_gpt2), "layer": "3"} if name == "layer" else {"model": str(tiny_gpt2)}
    side = FeatureSet(np.eye(2), identity)
    assert str(signature_entries(side, side, changed)[name]) == "3"
    file = Shard("texts.jsonl", 1, "")
    tasks = [shard_tasks([file], "reference", tmp_path, config, RunOptions()) for config in (usual, changed)]
    assert (tasks[0] != tasks[1]) == (name in ("layer", "lower"))
    assert (source_of(usual) != source_of(changed)) == (name == "layer")
    assert identity_digest(identity | {name: "3"}) != identity_digest(identity | {name: "4"})


@pytest.mark.parametrize("name", ["compute_mauve", "compare", "robustness", "featurize", "score_sharded"])
def test_help_of_a_function_says_what_each_option_means(name: str) -> None:
    function = getattr(mauve_metric, name)
    used = {**config_fields(name), **run_fields(name)}
    shown = set(inspect.signature(function).parameters)
    assert shown >= set(used) and not (set(config_fields()) - set(used)) & shown
    assert all(f"    {option}: {item.metadata['help']}." in str(function.__doc__) for option, item in used.items())


@pytest.mark.parametrize("kind", [MauveConfig, RunOptions, WritingOptions])
def test_every_default_passes_its_own_check(kind: type) -> None:
    """Each is named, also where several fail, at which the first default config would end."""
    failed = {}
    for item in fields(kind):
        try:
            item.metadata["check"](item.name, item.default)
        except (TypeError, ValueError) as error:
            failed[item.name] = str(error)
    assert failed == {}
