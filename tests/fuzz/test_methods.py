"""Methods of results and of sets of features: any value of an argument gives a result or an error that names it."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import ngrams, texts_of

from mauve_metric import FeatureSet, Histograms, compare, compute_mauve, describe, explain, score_boundary_guesses

HUMAN, MODEL = texts_of(40, seed=0), texts_of(40, seed=1)
RNG = np.random.default_rng(0)
P, Q = RNG.normal(size=(40, 3)), RNG.normal(size=(40, 3))
BAD: list[Any] = [
    3,
    -4,
    2.5,
    float("nan"),
    10**400,
    "",
    "nope",
    "a\0b",
    b"x",
    None,
    [],
    {},
    [3],
    np.ones(2),
    True,
    object(),
]
ALSO = {"path": ("file", "written to"), "runs": ("names",)}  # what a message may say in the place of the name


def objects() -> dict[str, Any]:
    guesses = [{"boundary": 4, "guess": guess, "annotator": f"w{guess % 3}"} for guess in (2, 4, 5, 9)]
    return {
        "result": compute_mauve(p_features=P, q_features=Q),
        "comparison": compare(p_features=P, models={"a": Q, "b": Q[::-1]}),
        "description": describe(p_text=HUMAN, models={"a": MODEL}, measures="distinct_2"),
        "explanation": explain(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams),
        "guesses": score_boundary_guesses(guesses),
        "features": FeatureSet(P),
        "histograms": Histograms(np.array([3, 4]), np.array([4, 4])),
    }


@pytest.mark.more
def test_any_value_of_an_argument_of_a_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tried = 0
    for kind, made in objects().items():
        for name in [name for name in dir(made) if not name.startswith("_")]:
            if not inspect.ismethod(method := getattr(made, name)):
                continue
            parameters = [
                each for each in inspect.signature(method).parameters.values() if each.kind != each.VAR_KEYWORD
            ]
            good = {each.name: each.default for each in parameters if each.default is not each.empty}
            good |= {"path": "page.html"} if "path" in inspect.signature(method).parameters else {}
            for own in parameters:
                for value in BAD:
                    tried += 1
                    try:
                        method(**{**good, own.name: value})
                    except (TypeError, ValueError, OSError) as error:
                        said = any(word in str(error) for word in (own.name, *ALSO.get(own.name, ())))
                        assert said, (kind, name, own.name, value, error)
    assert tried > 400
