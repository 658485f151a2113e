"""The notebook runs offline, and holds what its cells show."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from samples import ROOT, script

EXAMPLES = ROOT / "examples"
NUMBER = re.compile(r"[-+]?\d+\.\d+")


def said(outputs: list[dict[str, Any]]) -> str:
    """The text of a cell's outputs, but for versions, which a signature names."""
    parts = ["".join(item.get("text") or item["data"]["text/plain"]) for item in outputs]
    return re.sub(r"^[\w-]+:\d+\.\d.*$", "", "\n".join(parts), flags=re.MULTILINE)


@pytest.mark.slow
def test_cells_show_what_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = json.loads((EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8"))
    stored = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    monkeypatch.chdir(EXAMPLES)
    again = script("examples/run_notebook").run_cells(notebook)
    assert len(again) == len(stored) == 8 and all(stored)
    for before, now in zip(map(said, stored), map(said, again), strict=True):
        assert NUMBER.sub("#", before) == NUMBER.sub("#", now)
        numbers = [[float(number) for number in NUMBER.findall(text)] for text in (before, now)]
        assert numbers[1] == pytest.approx(numbers[0], rel=0.02, abs=0.01)
    pictures = [item["data"] for item in again[2] if "data" in item]
    assert len(pictures) == 1 and pictures[0]["image/png"].startswith("iVBOR")
