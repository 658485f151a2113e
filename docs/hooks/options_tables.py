"""Tables of options, made of the fields' own help when the site is built: `<!-- options: options.MauveConfig -->`."""

from __future__ import annotations

import importlib
import re
from dataclasses import MISSING, fields
from typing import Any

MARK = re.compile(r"^<!-- options: (\w+(?:\.\w+)*)\.(\w+) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """A page with its tables."""
    return MARK.sub(lambda found: table(found[1], found[2]), markdown)


def table(module: str, name: str) -> str:
    """The fields of a class of options: name, default, help."""
    options = getattr(importlib.import_module(f"mauve_metric.{module}"), name)
    lines = ["| option | default | what it is |", "|---|---|---|"]
    for option in fields(options):
        default = option.default if option.default is not MISSING else "…"
        about = str(option.metadata["help"]).replace("|", "\\|").replace("<", "&lt;")
        lines.append(f"| `{option.name}` | `{default!r}` | {about} |")
    return "\n".join(lines)
