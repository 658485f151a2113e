"""The name of the reference texts in every view of a result."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from samples import ngrams, texts_of

from mauve_metric import compare, compute_mauve, explain
from mauve_metric.report.wording.words import with_reference

NAME = "release 1.2"
# Keys of figures' data and names of style classes, and what the measures of a description are of.
FIELDS = re.compile(r"\"human\":|\"field\": ?\"human(:Q)?\"|class=\"human\"|[a-z]+[.]human\b|base64,[\w+/=]*")


def _sets(count: int = 60) -> tuple[list[str], list[str]]:
    """Texts with several warnings: copies, loops, quotes, unlike sizes and lengths."""
    p, q = texts_of(count, 1), texts_of(count - 20, 2)
    q = [f"“{text}”\n\n{text} {text}" for text in q]
    return p, [*q, *p[:6], "again and " * 60]


def _views(result: Any, folder: Path) -> dict[str, str]:
    """The text of every view by its name."""
    views = {"shell": str(result), "Markdown": result.to_markdown(), "LaTeX": result.to_latex()}
    views |= {f"CSV {name}": result.to_csv(name) for name in result.document().tables}
    views["figure"] = result.plot().to_json()
    views["report"] = result.save_report(folder / "report.html").read_text(encoding="utf-8")
    return views


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["score", "compare", "explain"])
def test_no_view_calls_a_named_reference_human(verb: str, tmp_path: Path) -> None:
    p, q = _sets()
    run: dict[str, Any] = {"featurize_model_name": ngrams, "num_runs": 1, "reference_name": NAME}
    if verb == "score":
        result: Any = compute_mauve(p_text=p, q_text=q, **run)
        assert len(result.warnings) > 3
    elif verb == "compare":
        by = {"human": ["x", "y"] * (len(p) // 2), "a": ["x"] * len(q), "b": ["x", "y"] * 30}
        result = compare(p, {"a": q, "b": texts_of(60, 3)}, by=by, buckets=2, **run)
    else:
        result = explain(p_text=p, q_text=q, **run | {"featurize_model_name": "ngrams"})
    for name, text in _views(result, tmp_path).items():
        said = FIELDS.sub("", text)
        assert not re.search(r"\b(human|people)\b", said, re.IGNORECASE), (name, re.findall(".*human.*", said)[:3])
        assert NAME in said or name.startswith("CSV"), name


def test_words_of_others_and_names_of_files_stay() -> None:
    said = "both human sets: “a human text” in human.jsonl, human_halves, --human"
    assert with_reference(said, NAME) == said.replace("both human", f"both {NAME}")
    assert with_reference(said, "human") == said


@pytest.mark.slow
def test_a_name_is_no_markup_in_a_figure() -> None:
    p, q = _sets()
    result = compute_mauve(p_text=p, q_text=q, featurize_model_name=ngrams, num_runs=1, reference_name="</script>")
    assert "</script>" not in json.dumps(result.plot().to_dict())
