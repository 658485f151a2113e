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
from mauve_metric.runtime.errors import KINDS, CodedError, code_of
from mauve_metric.uncertainty.score_warnings import SEVERE
from mauve_metric.uncertainty.warning_guide import ADVICE

HEAD = """---
search:
  boost: 2
---
# Errors and warnings

**An error** means that there is no number. Its message names the argument, what was expected and what came. In the
shell it is one line on stderr and the exit status is 1 (2 for a wrong command line); `--debug` shows where it arose.
Errors that people often meet have [a code, a cause and a cure](#errors); in Python `error.code` is the code, and
`error.argument` the argument that it is about.

**A warning** is what a careful reviewer would say about a number. Each has a code, a sentence and the numbers that it
rests on. They are in `result.warnings`, in the log of `mauve_metric`, in the report, and behind a `!` in the shell:

```python
import numpy as np

from mauve_metric import compute_mauve

rng = np.random.default_rng(0)
out = compute_mauve(p_features=rng.normal(size=(60, 8)), q_features=rng.normal(size=(200, 8)))
for warning in out.warnings:
    print(warning.code, warning.severe, warning.numbers)
```

```text
few_texts False {'n_p': 60, 'n_q': 200, 'threshold': 500}
unequal_sizes False {'n_p': 60, 'n_q': 200, 'threshold': 2.0}
```

In the shell `mauve-metric warnings few_texts` and `mauve-metric errors no_file` print the entries of this page.

<!-- Written by docs/make_errors.py from the code. -->
"""

WARNINGS_HEAD = """## Warnings

After those marked **severe** the score may not mean what it seems to mean: mend the input before you use the number.
"""

ERRORS_HEAD = """## Errors

In the shell the code is in brackets behind the message, and options have the names of their flags. In Python the same
message comes as a `CodedError` (of `mauve_metric.runtime.errors`) with the attributes `code` and `argument`: the name
with which the message begins, None where it is about no argument or several. In the examples `p` has shape (40, 6),
`q` (30, 6), and `texts` is a list of 20 strings.
"""

EXCEPTIONS = {
    "ValueError": "an argument or a text has a value that it cannot have: an empty set, a number out of range, NaN, "
    "sizes that do not fit",
    "TypeError": "an argument is of the wrong kind: one string in place of a list, a keyword that does not exist, "
    "features that are no numbers",
    "ImportError": "a package that this needs is not installed; the message has the `pip install` line",
    "OSError": "a file, a server or a cluster cannot be reached, read or written (with its kinds, `FileNotFoundError`, "
    "`IsADirectoryError`, `PermissionError`, `ConnectionError`)",
    "RuntimeError": "a model failed while it wrote or featurized, or another process did; the message has the cause",
    "AttributeError": "the package or a result has no such name",
    "NotImplementedError": "a host's method that makes no sense for a metric of sets",
    "KeyboardInterrupt": "you stopped the run; what was featurized stays in the cache",
}

EXAMPLES = {
    "not_written": ("mauve-metric compare human.jsonl model.jsonl --report nowhere/report.html",),
    "no_file": (
        "mauve-metric score human.jsonl nowhere.jsonl",
        'compute_mauve(p_features="nowhere.npy", q_features=q)',
    ),
    "unknown_ending": ("mauve-metric score human.jsonl model.docx",),
    "no_such_field": ("mauve-metric score human.jsonl model.jsonl --text-field story",),
    "several_texts": ("mauve-metric score answers.jsonl",),
    "not_one_set": ("mauve-metric compare human.jsonl",),
    "damaged_file": (
        "mauve-metric score human.jsonl broken.jsonl",
        'compute_mauve(p_features="broken.npy", q_features=q)',
    ),
    "empty_texts": (
        "mauve-metric score human.jsonl silent.jsonl --featurize-model-name ngrams",
        "compute_mauve(p_text=texts, q_text=[], featurize_model_name=lengths)",
        'compute_mauve(p_text=texts, q_text=["a", ""], featurize_model_name=lengths)',
    ),
    "not_texts": (
        'compute_mauve(p_text="one text", q_text=texts)',
        'compute_mauve(p_text=texts, q_text=["a", None], featurize_model_name=lengths)',
    ),
    "unlike_features": (
        "compute_mauve(p_features=p, q_features=q[:, :3])",
        'compare(p_features=p, models={"a": q, "b": q[:, :3]})',
    ),
    "not_finite": ("compute_mauve(p_features=with_nan, q_features=q)",),
    "not_features": (
        "compute_mauve(p_features=p[0], q_features=q)",
        "compute_mauve(p_features=p, q_features=q.astype(str))",
    ),
    "too_many_buckets": ("compute_mauve(p, q, num_buckets=71)",),
    "unknown_option": ("compute_mauve(p, q, num_bucket=50)",),
    "rows_differ": (
        "compute_mauve(p, q, aligned=True)",
        'compare(p_features=p, models={"a": q, "b": q[:9]}, aligned=True)',
    ),
    "wrong_option": (
        "compute_mauve(p, q, mauve_scaling_factor=0)",
        'compute_mauve(p, q, pooling="meen")',
        'compute_mauve(p, q, use_float64=True, dtype="float32")',
    ),
    "no_model": ("mauve-metric score human.jsonl model.jsonl --featurize-model-name nobody/nothing",),
    "no_package": (),
    "no_memory": (),
    "": ("compute_mauve(p_features=p)", "compare(p_features=p, models={})"),
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
    """Likewise, with a call that fails."""
    parts = [ERRORS_HEAD]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_files()
        for code, kind in KINDS.items():
            parts.append(f"### {code}\n\n{kind.cause()}\n\n→ {kind.cure}\n")
            parts += _example(code)
        parts += ["### Without a code\n\nRare errors have no code; the message is complete.\n", *_example("")]
    return "\n".join(parts)


def _example(code: str) -> list[str]:
    """A call that fails with an error of this code, and its message."""
    return [f"*Example:* `{call}` gives\n\n> {_cell(said(call, code))}\n" for call in EXAMPLES[code][:1]]


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
    Path("broken.npy").write_text("The ships", encoding="utf-8")
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
    names["lengths"] = lambda texts: np.array([[len(text), 1.0] for text in texts])
    names |= {"compute_mauve": compute_mauve, "compare": compare}
    try:
        eval(call, names)
    except (ValueError, TypeError, OSError) as error:
        kind = next(kind for kind in type(error).__mro__ if not issubclass(kind, CodedError))
        return f"{kind.__name__}: {error}", code_of(error) or ""
    raise AssertionError(f"{call} raises no error")


if __name__ == "__main__":
    (Path(__file__).parent / "errors.md").write_text(page(), encoding="utf-8")
