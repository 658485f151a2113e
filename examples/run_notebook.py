"""Run the notebook's cells and store what they show: `python examples/run_notebook.py`.

No Jupyter is needed: the cells run one after the other in one namespace, in this folder. A cell shows what it prints
and its last expression; a chart becomes a small picture.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import logging
import os
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parent / "notebook.ipynb"
COLOURS = 64  # of a picture, an eighth of its bytes with all of them


def run_cells(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The outputs of each code cell, in the form that a notebook holds. Cells run in the working directory."""
    names: dict[str, Any] = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [_outputs("".join(cell["source"]), names, number) for number, cell in enumerate(cells, start=1)]


def _outputs(code: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """The output of one cell, and the value of its last expression unless it is None."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        found.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        data = _shown(value)
        found.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return found


def _shown(value: Any) -> dict[str, Any]:
    """A value as a notebook keeps it: a chart as a picture, all else as text."""
    if not hasattr(value, "to_dict") or not type(value).__module__.startswith("altair"):
        return {"text/plain": repr(value).splitlines(keepends=True)}
    import vl_convert
    from PIL import Image

    picture = Image.open(io.BytesIO(vl_convert.vegalite_to_png(value.to_dict(), scale=1))).convert("RGB")
    small = io.BytesIO()
    picture.quantize(COLOURS).save(small, "png", optimize=True)
    return {"image/png": base64.b64encode(small.getvalue()).decode("ascii"), "text/plain": ["<chart>"]}


def main() -> None:
    """Run all cells and write the notebook."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    logging.getLogger("mauve_metric").setLevel(logging.ERROR)
    os.chdir(NOTEBOOK.parent)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, outputs) in enumerate(zip(cells, run_cells(notebook), strict=True), start=1):
        cell |= {"execution_count": number, "outputs": outputs}
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
