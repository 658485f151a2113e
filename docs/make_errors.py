"""Writes docs/errors.md from the codes of the package and from what bad calls really say: python docs/make_errors.py"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from mauve_metric import compare, compute_mauve
from mauve_metric.hosts.cli.main import main
from mauve_metric.hosts.cli.warning_guide import ADVICE
from mauve_metric.runtime.errors import KINDS, CodedError, code_of
from mauve_metric.uncertainty.score_warnings import SEVERE

HEAD = """---
search:
  boost: 2
---
# Errors and warnings

Search this page for the word in brackets, or run `mauve-metric warnings few_texts` and `mauve-metric errors no_file`.
After **an error** there is no number; **a warning** is about a number that there is.

An error's message names the argument, what was expected and what came. In the shell it is one line on stderr, and the
exit status is 1 (2 for a wrong command line); `--debug` shows the traceback. In Python `error.code` is its code, and
`error.argument` its argument, None for several or none.

Warnings are in `result.warnings` (each with `code`, `message`, `severe` and `numbers`), in the log of `mauve_metric`,
in the report, and behind a `!` in the shell.

<!-- Written by docs/make_errors.py from the code. -->
"""

WARNINGS_HEAD = """## Warnings

After a **severe** one the score may not mean what it seems to: mend the input before you use the number.
"""

ERRORS_HEAD = """## Errors

Cause and cure of each code, with which the shell's messages end. Of messages that Python users see, an example. Rare
errors have no code; their message is complete.
"""

EXCEPTIONS = {
    "ValueError": "a value is not allowed: an empty set, a number out of range, NaN, unlike sizes",
    "TypeError": "a type is wrong: one string in place of a list, an unknown keyword",
    "ImportError": "a package is not installed; the message has the `pip install` line",
    "OSError": "a file, server or cluster cannot be reached, read or written",
    "RuntimeError": "a model or another process failed; the message has the cause",
    "AttributeError": "the package or a result has no such name",
}

EXAMPLES = {
    "not_written": "mauve-metric compare human.jsonl model.jsonl --report nowhere/report.html",
    "no_file": "mauve-metric score human.jsonl nowhere.jsonl",
    "unknown_ending": "mauve-metric score human.jsonl model.docx",
    "no_such_field": "mauve-metric score human.jsonl model.jsonl --text-field story",
    "several_texts": "mauve-metric score answers.jsonl",
    "not_one_set": "mauve-metric compare human.jsonl",
    "damaged_file": "mauve-metric score human.jsonl broken.jsonl",
    "empty_texts": "mauve-metric score human.jsonl silent.jsonl --featurizer ngrams",
    "not_texts": 'compute_mauve(p_text="one text", q_text=texts)',
    "unlike_features": "compute_mauve(p_features=p, q_features=q[:, :3])",
    "not_finite": "compute_mauve(p_features=with_nan, q_features=q)",
    "not_features": "compute_mauve(p_features=p[0], q_features=q)",
    "too_many_buckets": "compute_mauve(p, q, num_buckets=71)",
    "unknown_option": "compute_mauve(p, q, num_bucket=50)",
    "rows_differ": "compute_mauve(p, q, aligned=True)",
    "wrong_option": "compute_mauve(p, q, mauve_scaling_factor=0)",
    "no_model": "mauve-metric score human.jsonl model.jsonl --featurizer owner/missing",
    "no_package": None,
    "no_memory": None,
}


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, _warnings(), _errors(), _exceptions()])


def _warnings() -> str:
    """One heading a code, so that each can be linked."""
    parts = [WARNINGS_HEAD]
    for code, advice in ADVICE.items():
        severe = "**Severe.** " if code in SEVERE else ""
        parts.append(f"### {code}\n\n{severe}{advice.cause}\n\n→ {advice.cure}\n")
    return "\n".join(parts)


def _errors() -> str:
    """Likewise, with the message of a call that fails."""
    parts = [ERRORS_HEAD]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_files()
        for code, kind in KINDS.items():
            cause, cure = kind.advice()
            parts.append(f"### {code}\n\n{cause}\n\n→ {cure}\n")
            message = None if (call := EXAMPLES[code]) is None else said(call, code)
            if message is not None and not message.endswith("]"):  # the shell's messages end with their code
                parts.append(f"> {_cell(message)}\n")
    return "\n".join(parts)


def _exceptions() -> str:
    rows = [f"| `{name}` | {meaning} |" for name, meaning in EXCEPTIONS.items()]
    return "\n".join(["## Kinds of exceptions\n", "| exception | means |", "|---|---|", *rows]) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def write_files() -> None:
    """The files of the examples, in the working directory."""
    for name in ("human", "model"):
        lines = [json.dumps({"text": f"The {name} counts {number} ships."}) for number in range(20)]
        Path(f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    Path("broken.jsonl").write_text('{"text": "The ships', encoding="utf-8")
    Path("silent.jsonl").write_text('{"text": "The ships."}\n{"text": ""}\n', encoding="utf-8")
    Path("model.docx").write_text("The ships", encoding="utf-8")
    answers = {"doc_id": 0, "doc": {}, "target": "One.", "filter": "none", "filtered_resps": [["Two.", "Three."]]}
    Path("answers.jsonl").write_text(json.dumps(answers | {"resps": answers["filtered_resps"]}), encoding="utf-8")


def said(call: str, code: str = "") -> str:
    """The error of a call: kind and message of an exception, or what the shell shows.

    Raises:
        AssertionError: the call raises none, or one of another code.
    """
    message, known = _said_in_shell(call) if call.startswith("mauve-metric ") else _said_in_python(call)
    if known != code:
        raise AssertionError(f"{call} must be of the code {code!r}, is of {known!r}: {message}")
    return message


def _said_in_shell(line: str) -> tuple[str, str]:
    err, offline = io.StringIO(), mock.patch("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()), offline:
        try:
            status = main(shlex.split(line)[1:])
        except SystemExit as error:  # wrong usage
            status = error.code
    if status == 0:
        raise AssertionError(f"{line} raises no error")
    message = err.getvalue().splitlines()[-1].removeprefix("mauve-metric: ").replace(f"{Path.cwd()}/", "/home/me/")
    code = re.search(r"\[(\w+)\]$", message)
    return message, code[1] if code else ""


def _said_in_python(call: str) -> tuple[str, str]:
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(40, 6)), rng.normal(size=(30, 6))
    with_nan = p.copy()
    with_nan[3] = np.nan
    names: dict[str, Any] = {"p": p, "q": q, "with_nan": with_nan, "texts": [f"text {i}" for i in range(20)]}
    names |= {"compute_mauve": compute_mauve, "compare": compare}
    try:
        eval(call, names)
    except (ValueError, TypeError, OSError) as error:
        kind = next(kind for kind in type(error).__mro__ if not issubclass(kind, CodedError))
        return f"{kind.__name__}: {error}", code_of(error) or ""
    raise AssertionError(f"{call} raises no error")


if __name__ == "__main__":
    (Path(__file__).parent / "errors.md").write_text(page(), encoding="utf-8")
