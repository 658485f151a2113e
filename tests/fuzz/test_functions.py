"""Every public function with any value in the place of one argument: a refusal that names it, or a sound result."""

from __future__ import annotations

import copy
import inspect
import json
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import ngrams, texts_of, write_jsonl
from strategies import DOCUMENTED, VALUES, check_message, content

import mauve_metric
from mauve_metric.options import config_fields, run_fields

HUMAN, MODEL = texts_of(20, seed=0), texts_of(20, seed=1)
SMALL: dict[str, Any] = {"featurize_model_name": ngrams, "num_buckets": 2, "num_runs": 1, "knn": False}
PREFERENCES = [{"winner": "a", "loser": "b"}, {"winner": "b", "loser": "a"}, {"winner": "a", "loser": "b"}]
GUESSES = [{"boundary": 4, "guess": guess, "annotator": f"w{guess % 3}"} for guess in (2, 4, 5, 9)]
# What costs time in proportion to its value, or with None takes everything there is.
COSTLY = {"splits", "vary", "perturbations", "prompt_tokens", "num_samples", "max_new_tokens", "workers", "strengths"}


def _write(prompts: list[str]) -> list[str]:
    return [f" and text {len(prompt)}" for prompt in prompts]


def stored_pair(name: str) -> dict[str, Any]:
    """The entries of a result that `compare_pairs` reads."""
    signature = f"confidence_level:0.95|num_buckets:4|n_p:40|n_q:40|p_digest:{name}p|q_digest:{name}q"
    return {"closeness": 0.5, "closeness_ci": (0.4, 0.6), "n_p": 40, "n_q": 40, "signature": signature}


# The arguments of one good call of each, beside those of `SMALL`; a path in braces is one of the fixture's files.
CALLS: dict[str, dict[str, Any]] = {
    "compute_mauve": {"p_text": HUMAN, "q_text": MODEL},
    "compare": {"p_text": HUMAN, "models": {"a": MODEL, "b": HUMAN[::-1]}},
    "describe": {"p_text": HUMAN, "models": {"a": MODEL}, "measures": "distinct_2"},
    "explain": {"p_text": HUMAN, "q_text": MODEL},
    "featurize": {"texts": HUMAN},
    "human_baseline": {"p_text": texts_of(40), "splits": 2},
    "robustness": {
        "p_text": HUMAN,
        "models": {"a": MODEL, "b": texts_of(20, seed=2)},
        "vary": ["seed"],
        "design": False,
    },
    "stress_test": {"p_text": texts_of(40), "perturbations": ["words_shuffled"], "strengths": (1.0,)},
    "evaluate_model": {
        "model": None,
        "tokenizer": None,
        "prompts": HUMAN,
        "references": HUMAN,
        "generate_fn": _write,
    },
    "rank_by_preferences": {"preferences": PREFERENCES},
    "score_boundary_guesses": {"guesses": GUESSES},
    "protocol": {"name": "contrastive-decoding"},
    "compare_pairs": {"pair": stored_pair("a"), "other_pair": stored_pair("b")},
    "read_texts": {"path": "{human}"},
    "score_sharded": {"p_text": "{human}", "q_text": "{model}", "folder": "{folder}"},
    "shard_pass": {"p_text": "{human}", "q_text": "{model}", "folder": "{folder}"},
}
SLOW = {"human_baseline", "robustness"}
WITHOUT_OPTIONS = {"compare_pairs", "rank_by_preferences", "score_boundary_guesses", "protocol", "read_texts"}
# What a message may say in the place of an argument's name.
ALSO: dict[str, tuple[str, ...]] = {
    "models": ("model ",),
    "p_text": ("human set", "file", "folder"),
    "q_text": ("file", "folder"),
    "p_features": ("human set", "of features", "only features were given"),
    "p": ("p_features", "FeatureSet", "human set"),
    "q_features": ("of features",),
    "q": ("q_features", "FeatureSet"),
    "featurizers": ("featurizer", "featurize_model_name"),
    "vary": ("MauveConfig",),
    "prompts": ("prompt",),
    "training": ("folder",),
    "references": ("a file must have a name", "folder"),
    "prompt_field": ("field",),
    "model": ("generate_fn", "folder"),
    "tokenizer": ("generate_fn",),
    "generate_fn": ("model",),
    "name": ("protocol",),
    "path": ("file", "folder", "ending"),
    "preferences": ("judgement", "a table", "winner"),
    "guesses": ("a table",),
    "sentences": ("a sentence from",),
    "featurizer": ("featurize_model_name",),
    "save_texts": ("a file of texts", "cannot be written"),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("functions")
    return {
        "{human}": write_jsonl(folder / "human.jsonl", HUMAN),
        "{model}": write_jsonl(folder / "model.jsonl", MODEL),
        "{folder}": str(folder / "out"),
    }


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files named "nowhere" are looked for here, and nothing is loaded from the network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def own_parameters(name: str) -> list[str]:
    """The parameters of a function that are no options of every score, which have doors of their own."""
    others = {*config_fields(), *run_fields(), "options", "ray"}
    return [own for own in inspect.signature(getattr(mauve_metric, name)).parameters if own not in others]


def called(name: str, arguments: dict[str, Any]) -> Any:
    function: Callable[..., Any] = getattr(mauve_metric, name)
    positional = [
        arguments.pop(own)
        for own, item in inspect.signature(function).parameters.items()
        if item.default is item.empty and item.kind is item.POSITIONAL_OR_KEYWORD and own in arguments
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # a number that is not right
        return function(*positional, **arguments)


def numbers_in(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers_in(item)]
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in numbers_in(item)]
    return [float(value)] if isinstance(value, (int, float)) else []


def check_result(found: Any) -> dict[str, Any] | None:
    """A result is fit for JSON, and has a text, and a signature."""
    if not hasattr(found, "to_dict"):
        return None
    said: dict[str, Any] = found.to_dict()
    assert all(map(math.isfinite, numbers_in(json.loads(json.dumps(said, allow_nan=False)))))
    assert str(found)
    return said


def test_every_public_function_has_a_door() -> None:
    functions = {
        name: value for name in mauve_metric.__all__ if inspect.isfunction(value := getattr(mauve_metric, name))
    }
    assert {name for name, function in functions.items() if inspect.signature(function).parameters} == set(CALLS)


def good_arguments(name: str, files: dict[str, str]) -> dict[str, Any]:
    """The arguments of a good call."""
    known = inspect.signature(getattr(mauve_metric, name)).parameters
    small = {own: value for own, value in (SMALL | {"cache": False}).items() if own in known or "options" in known}
    good = CALLS[name] | ({} if name in WITHOUT_OPTIONS else small)
    good = {own: files.get(value, value) if isinstance(value, str) else value for own, value in good.items()}
    if name == "shard_pass":
        del good["cache"]
    return good


@pytest.mark.more
@pytest.mark.parametrize("name", CALLS)
def test_the_good_call_is_one(name: str, files: dict[str, str]) -> None:
    check_result(called(name, good_arguments(name, files)))


@pytest.mark.more
@pytest.mark.parametrize("name", CALLS)
@given(data=st.data())
def test_any_value_of_an_argument(name: str, data: st.DataObject, files: dict[str, str]) -> None:
    if name in SLOW and data.draw(st.integers(0, 4)):
        return  # four of five
    good = good_arguments(name, files)
    changed = data.draw(st.sampled_from(own_parameters(name)))
    value = data.draw(VALUES, label=changed)
    if changed in COSTLY and (value is None or (isinstance(value, int) and value > 4)):
        return
    before = content(value)
    arguments = copy.copy(good) | {changed: value}
    try:
        found = called(name, arguments)
    except DOCUMENTED as error:
        check_message(error, changed, *ALSO.get(changed, ()))
        return
    assert content(value) == before or hasattr(value, "__next__")
    said = check_result(found)
    if said is not None and "signature" in said and not isinstance(value, (list, tuple, dict, np.ndarray)):
        expected = check_result(called(name, dict(good)))
        if expected is not None and expected["signature"] == said["signature"]:
            for score in ("mauve", "mauve_debiased"):
                assert said.get(score) == expected.get(score)
