"""The runner of the pages' code: which blocks it finds, what it holds them to, and that a page that lies fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from samples import ROOT, script

runner = script("docs/run_blocks")

PAGE = """# A page

```python
x = 1
```

```text
shown
```

Words.

```text
a drawing
```

=== "Shell"

    ```sh
    echo a \\
      b
    ```

    ```text
    a b
    ```

<!-- run first:
  if True:
      x = 1 -->
<!-- not run: no GPU -->
```python title="other.py"
fails(
```

````yaml
```python
inside
```
````
"""


def test_blocks_of_a_page() -> None:
    first, tab, skipped = runner.blocks_of(PAGE)
    assert (first.line, first.language, first.code, first.expected) == (4, "python", "x = 1\n", "shown\n")
    assert (tab.language, tab.code, tab.expected, tab.skipped) == ("sh", "echo a \\\n  b\n", "a b\n", None)
    assert (skipped.language, skipped.skipped, skipped.expected) == ("python", "no GPU", None)
    assert (skipped.first, tab.first, skipped.address) == ("if True:\n    x = 1", "", None)


@pytest.mark.parametrize(
    ("page", "message"),
    [("```python\nx\n", "line 1: the block has no end"), ("\n```bash\nx\n```\n", "line 2: write sh instead of bash")],
)
def test_pages_that_cannot_be_read(page: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        runner.blocks_of(page)


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        ("score 0.833\n", "score  0.8331"),
        ("100 texts", "101 texts"),
        ("1,700 and −.5", "1690 and -0.505"),
        ("0.00", "0.01"),
        ("a ... z", "a b c z"),
        ("... b ... d ...", "a b c d e"),
        ("a ...", "a"),
        ("...", ""),
        ("a\n  b", "a b"),
        ("1e-7", "1.01e-7"),
    ],
)
def test_what_may_differ(expected: str, printed: str) -> None:
    assert runner.differs(expected, printed) is None


@pytest.mark.parametrize(
    ("expected", "printed", "gone"),
    [
        ("score 0.80", "score 0.83", "score 0.80"),
        ("100", "103", "100"),
        ("0", "1", "0"),
        ("a ... z", "a b c", "z"),
        ("a ... a", "a", "a"),
        ("... d ... b ...", "a b c d e", "b"),
        ("a", "a b", "a"),
        ("a ...", "b a", "a"),
        ("", "said", ""),
        ("gpt2", "gpt3", "gpt 2"),
    ],
)
def test_what_may_not(expected: str, printed: str, gone: str) -> None:
    assert runner.differs(expected, printed) == gone


def run(tmp_path: Path, page: str) -> object:
    """A page by itself, as a process of the pool runs it."""
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    (tmp_path / "examples").mkdir(exist_ok=True)
    (tmp_path / "examples" / "human.txt").write_text("a text\n", encoding="utf-8")
    code = (
        "import pathlib, runpy, sys; runner = runpy.run_path(sys.argv[1]); folder = pathlib.Path(sys.argv[2])\n"
        "runner['run_page'].__globals__['ROOT'] = folder\n"
        "ran = runner['run_page']('page.md', runner['environment_of'](str(folder)))\n"
        "print(runner['report']([ran])); sys.exit(bool(ran.failures))"
    )
    command = [sys.executable, "-c", code, str(ROOT / "docs" / "run_blocks.py"), str(tmp_path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_block_is_run_where_the_modules_that_it_needs_are_installed() -> None:
    page = "<!-- needs: {} -->\n<!-- run first: y = 2 -->\n```python\nx = 1\n```\n"
    (block,) = runner.blocks_of(page.format("numpy, no_such_module"))
    assert (block.skipped, block.first) == ("not installed: no_such_module", "y = 2")
    assert runner.blocks_of(page.format("numpy, json"))[0].skipped is None


@pytest.mark.slow
def test_blocks_share_names_and_a_folder_with_the_examples(tmp_path: Path) -> None:
    page = (
        "```python\nx = open('examples/human.txt').read()\nopen('mine.txt', 'w').write(x)\nprint(x, 0.5)\n```\n\n"
        "```text\na text 0.505\n```\n\n```sh\ncat mine.txt; echo $HF_HUB_OFFLINE >&2\n```\n\n```text\na text\n```\n\n"
        "<!-- not run: no such thing -->\n```sh\nfalse\n```\n\n```python\nassert x\n```\n\n"
        "`y` is yours.\n\n<!-- run first: import json; print(y := 3) -->\n```python\nprint(y)\n"
        "assert 'json' not in globals()\n```\n\n```text\n3\n```\n\n"
        "<!-- run first: echo 4; z=5 -->\n```sh\necho $z\n```\n\n```text\n5\n```\n\n"
        "<!-- runs until an answer from: http://127.0.0.1:$PORT/page.md -->\n"
        "```sh\ntouch page.md\npython -m http.server $PORT --bind 127.0.0.1\n```\n"
    )
    done = run(tmp_path, page)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "page.md:21 not run: no such thing" in done.stdout
    assert "6 blocks ran" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["examples", "page.md"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("```python\nx = 1\nraise KeyError('this')\n```\n", ["page.md:2 FAILED", 'File "page.md", line 3', "KeyError"]),
        ("```sh\nfalse\ntrue\n```\n", ["page.md:2 FAILED: exit status 1"]),
        ("```sh\necho 7\n```\n\n```text\n8\n```\n", ["page.md:2 FAILED: it printed", "not what the page says"]),
        ("```python\nexit()\n```\n", ["page.md:2 FAILED", "SystemExit"]),
        (
            "<!-- run first: y = 2 -->\n```python\ny\n```\n",
            ["page.md:3 FAILED", "hidden code supplies y: say in the page"],
        ),
        ("<!-- run first: 1 / 0 -->\n```python\n```\n", ["page.md:3 FAILED", "before line 3", "ZeroDivisionError"]),
        (
            "<!-- runs until an answer from: http://127.0.0.1:$PORT -->\n```sh\necho gone\n```\n",
            ["page.md:3 FAILED: nothing answers at http://127.0.0.1:$PORT", "gone"],
        ),
    ],
    ids=["python", "sh", "output", "exit", "supplied", "first", "server"],
)
def test_a_page_that_fails(tmp_path: Path, page: str, said: list[str]) -> None:
    done = run(tmp_path, page)
    assert done.returncode == 1
    for words in said:
        assert words in done.stdout
