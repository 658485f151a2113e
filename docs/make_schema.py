"""Writes the JSON schemas of `score --json` and `compare --json`, docs/score.schema.json: python docs/make_schema.py"""

from __future__ import annotations

import json
from pathlib import Path

from mauve_metric.hosts.space.server.endpoints import answer_schema

COMMANDS = ("score", "compare")


def text(command: str) -> str:
    """The schema of what a command prints with `--json`."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"mauve-metric {command} --json"}
    return json.dumps(head | answer_schema(command), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in COMMANDS:
        (Path(__file__).parent / f"{name}.schema.json").write_text(text(name), encoding="utf-8")
