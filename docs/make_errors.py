"""Writes docs/errors.md from the codes of the package and from what bad calls really say: python docs/make_errors.py"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mauve_metric import compare, compute_mauve
from mauve_metric.texts.files import read_texts
from mauve_metric.uncertainty.score_warnings import SEVERE
from mauve_metric.uncertainty.warning_guide import ADVICE

HEAD = """# Errors and warnings

**An error** means that there is no number. Its message names the argument, what was expected and what came. In the
shell it is one line on stderr and the exit status is 1 (2 for a wrong command line); `--debug` shows where it arose.

**A warning** means that there is a number, and what a careful reviewer would say about it. Each has a code, a sentence
and the numbers that it rests on. They are in `result.warnings`, in the log of `mauve_metric`, in the report, and behind
a `!` in the shell:

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

`mauve-metric warnings few_texts` says in the shell what stands here.

This page is written by `docs/make_errors.py` from the code.
"""

WARNINGS_HEAD = """## Warnings

After those marked **severe** the score may not mean what it seems to mean: mend the input before you use the number.
"""

BAD_INPUT_HEAD = """## Bad input, and what it says

Here `p` has shape (40, 6) and `q` (30, 6), `with_nan` is `p` with NaN in row 3, and `texts` is a list of 20 strings.
`lengths` is a featurizer, a function from texts to an array.
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

BAD_INPUT = {
    "Features": (
        "compute_mauve(p_features=p)",
        "compute_mauve(p_features=p, q_features=q[:, :3])",
        "compute_mauve(p_features=p[0], q_features=q)",
        "compute_mauve(p_features=with_nan, q_features=q)",
        "compute_mauve(p_features=p, q_features=q.astype(str))",
    ),
    "Texts": (
        'compute_mauve(p_text="one text", q_text=texts)',
        "compute_mauve(p_text=texts, q_text=[], featurize_model_name=lengths)",
        'compute_mauve(p_text=texts, q_text=["a", None], featurize_model_name=lengths)',
        'compute_mauve(p_text=texts, q_text=["a", ""], featurize_model_name=lengths)',
    ),
    "Options": (
        "compute_mauve(p, q, num_bucket=50)",
        "compute_mauve(p, q, num_buckets=71)",
        "compute_mauve(p, q, mauve_scaling_factor=0)",
        'compute_mauve(p, q, pooling="meen")',
        'compute_mauve(p, q, use_float64=True, dtype="float32")',
        "compute_mauve(p, q, paired=True, permutations=99)",
    ),
    "Files": (
        'read_texts("nowhere.jsonl")',
        'compute_mauve(p_features="nowhere.npy", q_features=q)',
    ),
    "Several models": (
        "compare(p_features=p, models={})",
        'compare(p_features=p, models={"a": q, "b": q[:, :3]})',
        'compare(p_features=p, models={"a": q, "b": q[:9]}, aligned=True)',
    ),
}


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, _warnings(), _exceptions(), _bad_input()])


def _warnings() -> str:
    """One heading a code, so that each can be linked."""
    parts = [WARNINGS_HEAD]
    for code, advice in ADVICE.items():
        severe = "**Severe.** " if code in SEVERE else ""
        parts.append(f"### {code}\n\n{severe}{advice.cause}\n\n*What to do:* {advice.cure}\n")
    return "\n".join(parts)


def _exceptions() -> str:
    rows = [f"| `{name}` | {meaning} |" for name, meaning in EXCEPTIONS.items()]
    return "\n".join(["## Kinds of errors\n", "| exception | means |", "|---|---|", *rows]) + "\n"


def _bad_input() -> str:
    """Calls that fail, and what each says."""
    parts = [BAD_INPUT_HEAD]
    for kind, calls in BAD_INPUT.items():
        rows = [f"| `{call}` | {_cell(said(call))} |" for call in calls]
        parts.append("\n".join([f"### {kind}\n", "| call | error |", "|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def said(call: str) -> str:
    """The kind and message of the error that a call raises; `AssertionError` if it raises none."""
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(40, 6)), rng.normal(size=(30, 6))
    with_nan = p.copy()
    with_nan[3] = np.nan
    names: dict[str, Any] = {"p": p, "q": q, "with_nan": with_nan, "texts": [f"text {i}" for i in range(20)]}
    names["lengths"] = lambda texts: np.array([[len(text), 1.0] for text in texts])
    names |= {"compute_mauve": compute_mauve, "compare": compare, "read_texts": read_texts}
    try:
        eval(call, names)
    except (ValueError, TypeError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError(f"{call} raises no error")


if __name__ == "__main__":
    (Path(__file__).parent / "errors.md").write_text(page(), encoding="utf-8")
