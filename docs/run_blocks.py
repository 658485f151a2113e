"""Run every code block of the documentation: `python docs/run_blocks.py [PAGE …]`.

All `python` blocks of a page run in one namespace, every `sh` block by `bash -e`, in the order of the page, in a
temporary folder that holds a copy of `examples/`, without the Hub. A `text` block directly after one must be what the
block wrote to its standard output: white space counts as one space, numbers may differ by 2 % (or by one unit of their
last decimal), and `...` stands for anything. A block that cannot run here says so on the line above:

    <!-- not run: needs a GPU -->

Without pages: README.md, CONTRIBUTING.md and docs/*.md. Two processes share the pages. The exit status is 1 if a block
fails, and every failure names the page and the line.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RUN = ("python", "sh")
OTHER_NAMES = {"py": "python", "python3": "python", "pycon": "python", "bash": "sh", "shell": "sh", "console": "sh"}
FENCE = re.compile(r"^( *)(`{3,}|~{3,}) *\{?\.?([\w+-]*)")
NOT_RUN = re.compile(r"^ *<!-- not run: (\S.*?) *-->$")
NUMBER = re.compile(r"[-+−]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?")
TOKEN = re.compile(rf"\.\.\.|{NUMBER.pattern}|[^\W\d]+|\S")
TOLERANCE = 0.02
SECONDS = 300  # that a block may take


@dataclass(frozen=True)
class Block:
    """A fenced block: its first line's number, its language, its lines without the fences' indentation.

    skipped: why it is not run. expected: what it must print; None where the page does not say.
    """

    line: int
    language: str
    code: str
    skipped: str | None = None
    expected: str | None = None


@dataclass
class Ran:
    """What became of a page: the seconds of each block that ran, the reasons of those that did not, the failures."""

    page: str
    seconds: dict[int, float] = field(default_factory=dict)
    skipped: dict[int, str] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)


def blocks_of(markdown: str) -> list[Block]:
    """The blocks of a page that are to be run, in order.

    Raises:
        ValueError: a fence without an end, or a language that is written in another way here.
    """
    found: list[Block] = []
    lines = markdown.splitlines()
    at, after_run = 0, False  # whether nothing but blank lines came since the last block that is run
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if fence is None:
            after_run = after_run and not lines[at].strip()
            at += 1
            continue
        indent, marks, language = fence[1], fence[2], fence[3]
        end = next((n for n in range(at + 1, len(lines)) if lines[n].strip() == marks), None)
        if end is None:
            raise ValueError(f"line {at + 1}: the block has no end")
        if language in OTHER_NAMES:
            raise ValueError(f"line {at + 1}: write {OTHER_NAMES[language]} instead of {language}")
        code = "".join(line[min(len(indent), len(line) - len(line.lstrip())) :] + "\n" for line in lines[at + 1 : end])
        reason = NOT_RUN.match(lines[at - 1]) if at else None
        if language in RUN:
            found.append(Block(at + 2, language, code, skipped=reason[1] if reason else None))
        elif language == "text" and after_run and reason is None:
            last = found.pop()
            found.append(Block(last.line, last.language, last.code, last.skipped, code))
        at, after_run = end + 1, language in RUN
    return found


def differs(expected: str, printed: str) -> str | None:
    """What a page shows and its block did not print there; None if all is as the page says."""
    got = TOKEN.findall(printed)
    parts: list[list[str]] = [[]]
    for token in TOKEN.findall(expected):
        if token == "...":
            parts.append([])
        else:
            parts[-1].append(token)
    first, *others = parts
    if not _same(first, got[: len(first)] if others else got):
        return " ".join(first)
    at = len(first)
    for part in others[:-1]:
        places = range(at, len(got) - len(part) + 1)
        start = next((place for place in places if _same(part, got[place : place + len(part)])), None)
        if start is None:
            return " ".join(part)
        at = start + len(part)
    if others and not _same(others[-1], got[max(at, len(got) - len(others[-1])) :]):
        return " ".join(others[-1])
    return None


def _same(want: Sequence[str], got: Sequence[str]) -> bool:
    return len(want) == len(got) and all(map(_alike, want, got))


def _alike(want: str, got: str) -> bool:
    """Whether two words are equal, or two numbers nearly so."""
    if want == got:
        return True
    if not (NUMBER.fullmatch(want) and NUMBER.fullmatch(got)):
        return False
    a, b = (float(number.replace(",", "").replace("−", "-")) for number in (want, got))
    decimals = len(want.split(".")[1].lower().split("e")[0]) if "." in want and "e" not in want.lower() else None
    unit = 0 if decimals is None else 10**-decimals
    return abs(a - b) <= max(TOLERANCE * abs(a), unit * 1.001)


def run_page(page: str, environment: dict[str, str]) -> Ran:
    """Run a page's blocks in this process, in a temporary folder; nothing after the first that fails."""
    ran = Ran(page)
    try:
        blocks = blocks_of((ROOT / page).read_text(encoding="utf-8"))
    except ValueError as error:
        ran.failures[0] = str(error)
        return ran
    ran.skipped = {block.line: block.skipped for block in blocks if block.skipped is not None}
    todo = [block for block in blocks if block.skipped is None]
    if not todo:
        return ran
    os.environ.update(environment)
    names: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        os.chdir(folder)
        sys.path.insert(0, folder)
        for block in todo:
            start = time.monotonic()
            failure = _failure(block, page, names)
            ran.seconds[block.line] = time.monotonic() - start
            if failure is not None:
                ran.failures[block.line] = failure
                break
        os.chdir(ROOT)
    return ran


def _failure(block: Block, page: str, names: dict[str, Any]) -> str | None:
    """Run a block: None, or what went wrong."""
    try:
        printed = run_python(block, page, names) if block.language == "python" else run_sh(block)
    except (Exception, SystemExit) as error:
        return str(error)
    if block.expected is None:
        return None
    gone = differs(block.expected, printed)
    return None if gone is None else f"it printed\n{printed}\nand not what the page says, from: {gone}"


def run_python(block: Block, page: str, names: dict[str, Any]) -> str:
    """Run Python in a namespace; what it printed.

    Raises:
        RuntimeError: with the traceback, whose lines are those of the page.
    """
    out, err = io.StringIO(), io.StringIO()
    try:
        code = compile("\n" * (block.line - 1) + block.code, page, "exec")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), time_limit(SECONDS):
            exec(code, names)
    except BaseException as error:
        raise RuntimeError(f"{traceback.format_exc()}\n{err.getvalue()[-2000:]}") from error
    return out.getvalue()


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise `TimeoutError` in what takes longer."""

    def ring(signum: int, frame: Any) -> None:
        raise TimeoutError(f"took more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run_sh(block: Block) -> str:
    """Run shell commands; what they wrote to standard output.

    Raises:
        RuntimeError: one of them failed, with what it said.
    """
    done = subprocess.run(
        ["bash", "-e", "-c", block.code], capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def environment_of(cache: str) -> dict[str, str]:
    """What the blocks run with: this environment's commands and package, no Hub, a cache of its own."""
    paths = [os.path.dirname(sys.executable), os.environ.get("PATH", "")]
    return {
        "PATH": os.pathsep.join(paths),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")])),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "MAUVE_METRIC_CACHE": cache,
        "OMP_WAIT_POLICY": "passive",
        "COLUMNS": "120",
    }


def run_pages(pages: Sequence[str], at_once: int = 2) -> list[Ran]:
    """Run pages beside each other, each in a process of its own that has the heavy imports already."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["mauve_metric.compute", "torch", "transformers", "scipy.stats", "faiss"])
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(at_once) as threads:
        environment = environment_of(cache)
        os.environ.update(environment)  # before the first import in the server
        return list(threads.map(lambda page: _in_a_process(processes, page, environment), pages))


def _in_a_process(processes: Any, page: str, environment: dict[str, str]) -> Ran:
    """Run a page in a new process; a block that ends it is a failure like others."""
    receiver, sender = processes.Pipe(duplex=False)
    process = processes.Process(target=_send_page, args=(sender, page, environment))
    process.start()
    sender.close()
    try:
        ran: Ran = receiver.recv()
    except EOFError:
        ran = Ran(page, failures={0: "a block ended the process"})
    process.join()
    return ran


def _send_page(sender: Any, page: str, environment: dict[str, str]) -> None:
    sender.send(run_page(page, environment))


def pages_of(root: Path) -> list[str]:
    """The documents whose blocks are run, from the root of the repository."""
    found = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
    return [path.relative_to(root).as_posix() for path in found if path.exists()]


def report(ran: Sequence[Ran]) -> str:
    """What ran, what did not and why, what failed, and the slowest blocks."""
    lines = [f"{page.page}:{line} not run: {why}" for page in ran for line, why in page.skipped.items()]
    times = sorted(((took, page.page, line) for page in ran for line, took in page.seconds.items()), reverse=True)
    lines += [f"{name}:{line} took {took:.1f} s" for took, name, line in times[:5]]
    lines += [f"{page.page}:{line} FAILED: {why}" for page in ran for line, why in page.failures.items()]
    failed = sum(len(page.failures) for page in ran)
    skipped = sum(len(page.skipped) for page in ran)
    total = sum(took for took, _, _ in times)
    return "\n".join([*lines, f"{len(times)} blocks ran in {total:.0f} s, {skipped} not run, {failed} failed"])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="documents, from the root of the repository")
    given = parser.parse_args(argv)
    pages = [Path(page).resolve().relative_to(ROOT).as_posix() for page in given.pages] or pages_of(ROOT)
    ran = run_pages(pages)
    print(report(ran))
    return int(any(page.failures for page in ran))


if __name__ == "__main__":
    sys.exit(main())
