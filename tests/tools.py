"""Files as other tools write them, in the words of their own loggers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

DATE = "2026-01-{day:02}T10-11-12.131415"


def jsonl(path: Path, rows: Iterable[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def harness_row(number: int, gold: str, text: str, *, filter: str = "none", **other: Any) -> dict[str, Any]:
    """A line of `--log_samples`, as lm-evaluation-harness 0.4.13 writes one of a task that generates."""
    return {
        "doc_id": number,
        "doc": {"story": gold, "query": gold[:5]},
        "target": gold,
        "arguments": {"gen_args_0": {"arg_0": gold[:5], "arg_1": {"until": ["\n\n"], "max_gen_toks": 64}}},
        "resps": [[text]],
        "filtered_resps": [text],
        "filter": filter,
        "metrics": ["bypass"],
        "doc_hash": f"doc-{gold}",
        "prompt_hash": f"prompt-{number}",
        "target_hash": f"target-{number}",
        "bypass": 999,
        **other,
    }


def harness_rows(golds: Sequence[str], texts: Sequence[str], **other: Any) -> list[dict[str, Any]]:
    return [harness_row(number, *pair, **other) for number, pair in enumerate(zip(golds, texts, strict=True))]


def harness_file(
    folder: Path, model: str, rows: Sequence[dict[str, Any]], *, task: str = "story", day: int = 1
) -> Path:
    """Path where the harness puts the samples of a task: a folder for each model, the date in the name."""
    return jsonl(folder / model / f"samples_{task}_{DATE.format(day=day)}.jsonl", rows)
