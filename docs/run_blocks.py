"""Run every code block of the documentation: `python docs/run_blocks.py [PAGE …]`.

All `python` blocks of a page run in one namespace, every `sh` block by `bash -e`, in the order of the page, in a
temporary folder that looks like a checkout, without the Hub. A `text` block directly after one must be what the
block wrote to its standard output: white space counts as one space, numbers may differ by 2 % (or by one unit of their
last decimal), and `...` matches anything.

Comments on the lines above a block say what no reader has to see. What must run before it is given there in the block's
language (`docs/stand_ins.py` has a small model and a server for that): it makes files, or supplies what a reader
supplies, names that the prose of the page has in backticks, such as `human_texts`. Its imports do not reach the block.
A block that starts a server names the address that must answer, and is then stopped. One that cannot run is marked:

    <!-- run first: from stand_ins import tiny_model -->
    <!-- runs until an answer from: http://127.0.0.1:$PORT -->
    <!-- not run: needs a GPU -->
    <!-- needs: pandas, wandb -->

The last one names modules: the block is run where they are installed.

The features in `examples/` are in the cache before the first block. Without pages: README.md, CONTRIBUTING.md,
leaderboard/README.md and docs/*.md. Two processes share the pages, or `--processes`. The exit status is 1 if a block
fails, and every failure names the page and the line.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import inspect
import io
import multiprocessing
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
RUN = ("python", "sh")
OTHER_NAMES = {"py": "python", "python3": "python", "pycon": "python", "bash": "sh", "shell": "sh", "console": "sh"}
FENCE = re.compile(r"^( *)(`{3,}|~{3,}) *\{?\.?([\w+-]*)")
ABOVE = re.compile(r"<!-- (not run|needs|run first|runs until an answer from):(?!\s*-->)(.*?)\s*-->", re.DOTALL)
NUMBER = re.compile(r"[-+−]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?")
TOKEN = re.compile(rf"\.\.\.|{NUMBER.pattern}|[^\W\d]+|\S")
TOLERANCE = 0.02
SECONDS = 600  # that a block may take, on a machine that does other work
COPIED, LINKED = ("examples", "leaderboard"), ("app.py", "mauve_metric")  # what a page finds of the repository


@dataclass(frozen=True)
class Block:
    """A fenced block: its first line's number, its language, its lines without the fences' indentation.

    skipped: why it is not run. expected: what it must print; None where the page does not say. first: what runs before
    it. address: of the server that it starts. named: in backticks in the page's prose, which `first` may supply.
    """

    line: int
    language: str
    code: str
    skipped: str | None = None
    expected: str | None = None
    first: str = ""
    address: str | None = None
    named: frozenset[str] = frozenset()


@dataclass
class Ran:
    """The outcome of a page: processor seconds of each block that ran, the reasons of those that did not, failures."""

    page: str
    seconds: dict[int, float] = field(default_factory=dict)
    skipped: dict[int, str] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)


def blocks_of(markdown: str) -> list[Block]:
    """The blocks of a page that are to be run, in order.

    Raises:
        ValueError: a fence without an end, or a language that is written in another way here.
    """
    blocks: list[Block] = []
    lines = markdown.splitlines()
    named = named_in(markdown)
    run_until = 0  # the line after the last block that is run
    for first, language, code, above in fenced_blocks(markdown):
        if language in OTHER_NAMES:
            raise ValueError(f"line {first - 1}: write {OTHER_NAMES[language]} instead of {language}")
        if language in RUN:
            address = above.get("runs until an answer from")
            skipped = above.get("not run") or missing(above.get("needs", ""))
            blocks.append(Block(first, language, code, skipped, None, above.get("run first", ""), address, named))
            run_until = first + code.count("\n")
        elif language == "text" and run_until and not above and not "".join(lines[run_until : first - 2]).strip():
            blocks.append(replace(blocks.pop(), expected=code))
            run_until = 0
        else:
            run_until = 0
    return blocks


def named_in(markdown: str) -> frozenset[str]:
    """The names in backticks in the visible prose of a page.

    >>> sorted(named_in("`model` and `a, b`\\n<!-- `hidden` -->\\n```python\\n`code`\\n```\\n"))
    ['a', 'b', 'model']
    """
    prose = re.sub(r"<!--.*?-->", "", markdown, flags=re.DOTALL)
    prose = re.sub(r"^( *)(```+|~~~+).*?^\1\2 *$", "", prose, flags=re.DOTALL | re.MULTILINE)
    return frozenset(name for code in re.findall(r"`([^`\n]+)`", prose) for name in re.findall(r"\w+", code))


def fenced_blocks(markdown: str) -> Iterator[tuple[int, str, str, dict[str, str]]]:
    """Each fenced block: its first line's number, language, code without indentation, and the comments above it.

    Raises:
        ValueError: a fence without an end.
    """
    lines = markdown.splitlines()
    at = 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if fence is None:
            at += 1
            continue
        indent, marks, language = fence[1], fence[2], fence[3]
        end = next((n for n in range(at + 1, len(lines)) if lines[n].strip() == marks), None)
        if end is None:
            raise ValueError(f"line {at + 1}: the block has no end")
        code = "".join(line[min(len(indent), len(line) - len(line.lstrip())) :] + "\n" for line in lines[at + 1 : end])
        yield at + 2, language, code, _above(lines[:at])
        at = end + 1


def _above(lines: Sequence[str]) -> dict[str, str]:
    """The comments directly above a block: what each says."""
    text, said = "\n".join(lines), {}
    while (comment := ABOVE.fullmatch(text, max(text.rfind("<!--"), 0))) is not None:
        said[comment[1]] = inspect.cleandoc(comment[2])
        text = text[: comment.start()].rstrip(" ").removesuffix("\n")
    return said


def missing(modules: str) -> str | None:
    """Reason not to run a block that needs some modules: those that are not installed."""
    absent = [name for name in re.findall(r"\w+", modules) if importlib.util.find_spec(name) is None]
    return f"not installed: {', '.join(absent)}" if absent else None


def differs(expected: str, printed: str) -> str | None:
    """The first difference between a page and its block's output; None if there is none."""
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
    """Return whether two words are equal, or two numbers nearly so."""
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
        for name in filter(lambda name: (ROOT / name).exists(), COPIED):
            shutil.copytree(ROOT / name, Path(folder, name), ignore=shutil.ignore_patterns("__pycache__"))
        for name in LINKED:
            Path(folder, name).symlink_to(ROOT / name)
        os.chdir(folder)
        sys.path[:0] = [folder, str(DOCS)]
        for block in todo:
            start = processor_seconds()
            failure = _failure(block, page, names)
            ran.seconds[block.line] = processor_seconds() - start
            if failure is not None:
                ran.failures[block.line] = failure
                break
        os.chdir(ROOT)
    return ran


def processor_seconds() -> float:
    """The processor time of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def _failure(block: Block, page: str, names: dict[str, Any]) -> str | None:
    """Run a block: None, or what went wrong."""
    try:
        if block.address is not None:
            return run_server(block, block.address)
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
        first = compile(block.first, f"{page}, before line {block.line}", "exec")
        code = compile("\n" * (block.line - 1) + block.code, page, "exec")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), time_limit(SECONDS):
            names |= supplied_by(block.first, first, names, block.named)
            out.truncate(out.seek(0))
            exec(code, names)
    except BaseException as error:
        raise RuntimeError(f"{traceback.format_exc()}\n{err.getvalue()[-2000:]}") from error
    return out.getvalue()


def supplied_by(code: str, compiled: Any, names: dict[str, Any], named: frozenset[str]) -> dict[str, Any]:
    """Run hidden code; what it supplies by name, without its imports.

    Raises:
        NameError: it supplies a name that the page does not say a reader supplies.
    """
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(ast.parse(code))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    hidden = dict(names)
    exec(compiled, hidden)
    supplied = {name: value for name, value in hidden.items() if name not in names or names[name] is not value}
    supplied = {name: value for name, value in supplied.items() if name not in imported and name != "__builtins__"}
    if unsaid := sorted({*supplied} - named):
        raise NameError(f"hidden code supplies {', '.join(unsaid)}: say in the page's prose that a reader supplies it")
    return supplied


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
    done = subprocess.run(_command(block), capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def _command(block: Block) -> list[str]:
    """A block in a shell; what runs first is silent."""
    return ["bash", "-e", "-c", f"{{ {block.first or ':'}\n}} >/dev/null\n{block.code}"]


def run_server(block: Block, address: str) -> str | None:
    """Start a server at a free port, `$PORT` in the block and in its address, and stop it once it has answered.

    Returns:
        None, or what it said when it ended without an answer.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with tempfile.TemporaryFile("w+") as said:
        server = subprocess.Popen(
            _command(block), env=os.environ | {"PORT": port}, stdout=said, stderr=said, start_new_session=True
        )
        try:
            end = time.monotonic() + SECONDS
            while server.poll() is None and time.monotonic() < end:
                with contextlib.suppress(OSError), urllib.request.urlopen(address.replace("$PORT", port), timeout=10):
                    return None
                time.sleep(0.2)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGTERM)
            server.wait()
        said.seek(0)
        return f"nothing answers at {address}\n{said.read()[-4000:]}"


def fill_cache(examples: Path) -> None:
    """Put the features of the examples that are in `.npz` files into the cache, as if the texts had been read before.

    Raises:
        ValueError: they are not those of the packaged featurizer that is installed.
    """
    import numpy as np

    from mauve_metric import FeatureSet, MauveConfig, read_texts
    from mauve_metric.features.cache import FeatureCache, KnownTexts, source_of, token_key
    from mauve_metric.features.encoder import load_encoder
    from mauve_metric.features.featurize import tokenize, unseen_formats, unseen_shares
    from mauve_metric.features.model_hashes import identity_digest

    source = source_of(MauveConfig(featurize_model_name="minilm"))
    encoder = load_encoder("minilm")
    formats = unseen_formats(encoder)
    with FeatureCache() as cache:
        notes = KnownTexts(cache, str(source), "minilm")
        for path in sorted(examples.glob("*.npz")):
            stored, texts = FeatureSet.load(path), read_texts(path.with_suffix(".jsonl"))
            if stored.identity != encoder.identity:
                raise ValueError(f"{path} is of {stored.identity}, not of {encoder.identity}: run make_features.py")
            ids, cut = tokenize(encoder, texts)
            digest = identity_digest(encoder.identity)
            cache.put([token_key(digest, row) for row in ids], np.asarray(stored.features))
            notes.remember(encoder.identity, formats, texts, ids, cut, unseen_shares(encoder, texts, ids))


def environment_of(cache: str) -> dict[str, str]:
    """The environment of the blocks: this environment's commands and package, no Hub, a cache of its own."""
    paths = [os.path.dirname(sys.executable), os.environ.get("PATH", "")]
    return {
        "PATH": os.pathsep.join(paths),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), str(DOCS), os.environ.get("PYTHONPATH", "")])),
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "MAUVE_METRIC_CACHE": cache,
        "OMP_WAIT_POLICY": "passive",
        "COLUMNS": "120",
    }


def run_pages(pages: Sequence[str], at_once: int) -> list[Ran]:
    """Run pages beside each other, each in a process of its own that has the heavy imports already."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["mauve_metric.scoring.compute", "torch", "transformers", "scipy.stats", "faiss"])
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(at_once) as threads:
        environment = environment_of(cache)
        os.environ.update(environment)  # before the first import in the server
        fill_cache(ROOT / "examples")
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
    found = [root / "README.md", root / "CONTRIBUTING.md", root / "leaderboard" / "README.md"]
    found += sorted((root / "docs").rglob("*.md"))
    return [path.relative_to(root).as_posix() for path in found if path.exists()]


def report(ran: Sequence[Ran]) -> str:
    """A summary: blocks that ran, that did not and why, that failed, and the slowest."""
    lines = [f"{page.page}:{line} not run: {why}" for page in ran for line, why in page.skipped.items()]
    times = sorted(((took, page.page, line) for page in ran for line, took in page.seconds.items()), reverse=True)
    lines += [f"{name}:{line} took {took:.1f} s" for took, name, line in times[:5]]
    lines += [f"{page.page}:{line} FAILED: {why}" for page in ran for line, why in page.failures.items()]
    failed = sum(len(page.failures) for page in ran)
    skipped = sum(len(page.skipped) for page in ran)
    total = sum(took for took, _, _ in times)
    lines += [f"{len(times)} blocks ran in {total:.0f} s of processor time, {skipped} not run, {failed} failed"]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="documents, from the root of the repository")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="that share the pages (default: 2)")
    given = parser.parse_args(argv)
    pages = [Path(page).resolve().relative_to(ROOT).as_posix() for page in given.pages] or pages_of(ROOT)
    ran = run_pages(pages, given.processes)
    print(report(ran))
    return int(any(page.failures for page in ran))


if __name__ == "__main__":
    sys.exit(main())
