"""Texts that are code elsewhere: every form in which results quote them shows them as texts."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import CODE

from mauve_metric import compare, compute_mauve, describe, explain

WORDS = "ship harbour river garden letter road winter evening".split()
DRAWS = np.random.default_rng(0)
HUMAN = [" ".join(DRAWS.choice(WORDS, 8)) for _ in range(33)]
MODEL = [f"{text} {number}" for number, text in enumerate(CODE * 3)]
OPTIONS: dict[str, Any] = {"featurize_model_name": "ngrams", "knn": False, "num_runs": 1}
OTHER_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    models = {CODE[0]: MODEL, CODE[6]: HUMAN[::-1], CODE[1]: MODEL[::-1]}
    return {
        "score": compute_mauve(p_text=HUMAN, q_text=MODEL, **OPTIONS),
        "comparison": compare(p_text=HUMAN, models=models, **OPTIONS),
        "explanation": explain(p_text=HUMAN, q_text=MODEL, **OPTIONS),
        "description": describe(p_text=HUMAN, models=models, measures="distinct_2", featurize_model_name="ngrams"),
    }


@pytest.mark.more
@pytest.mark.parametrize("kind", ["score", "comparison", "explanation", "description"])
def test_results_quote_texts_as_texts(results: dict[str, Any], kind: str, tmp_path: Path) -> None:
    result = results[kind]
    forms = {name: getattr(result, name)() for name in ("__str__", "to_markdown", "to_csv", "to_latex", "_repr_html_")}
    if hasattr(result, "save_report"):
        forms["report"] = Path(result.save_report(tmp_path / "r.html")).read_text(encoding="utf-8")
    for name, text in forms.items():
        assert not OTHER_CONTROLS.search(text), name
        assert "x" * 1000 not in text, name  # long lines are cut
    for name in forms.keys() & {"_repr_html_", "report"}:
        assert not re.search(r"<script>alert|<img src=x|</style> 0", forms[name])
    prose = [line for line in forms["to_markdown"].split("\n") if not line.startswith(("    ", "`"))]
    assert not re.search(r"(?<!\\)<(script|img)|(?<!\\)\[click|://evil", "\n".join(prose))
    for row in csv.reader(io.StringIO(forms["to_csv"])):
        assert not [cell for cell in row if re.match(r"[=+@\t]|-[^\d]", cell)]
    assert not re.search(r"\\(input|write)|(?<!\\)\$x|\^\^41", forms["to_latex"])


@pytest.mark.slow
def test_a_line_of_a_megabyte_is_cut(tmp_path: Path) -> None:
    found = explain(p_text=HUMAN, q_text=["x" * 1_000_000, *MODEL], **OPTIONS)
    assert len(Path(found.save_report(tmp_path / "r.html")).read_text(encoding="utf-8")) < 1_000_000 > len(str(found))


def test_half_a_character_is_refused_with_its_place() -> None:
    with pytest.raises(ValueError, match=r"^q_text holds half of a surrogate pair.* at position 1: '\\ud800 alone'"):
        compute_mauve(p_text=HUMAN, q_text=["one", "\ud800 alone"], **OPTIONS)
