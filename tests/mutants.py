"""Plugin of pytest that puts small bugs into the package and runs the tests of their lines: see `.ci/mutate`.

The process that has collected the tests is forked for each bug; the fork changes the code of functions and runs tests.
A bug outside of functions is written into the file, for a process of its own.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import gc
import importlib
import json
import os
import random
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import pytest
from _pytest.runner import runtestprotocol

SECONDS = float(os.environ.get("MUTATE_SECONDS", 6))  # of tests for one bug, the quickest first
MOST_MEMORY = 12 * 2**30
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div},
    **{ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd},
}


class Mutant(NamedTuple):
    """A small bug: its file, its number there, its line, the lines of its statement, the change in words."""

    path: str
    number: int
    line: int
    lines: range
    change: str


def changes_of(node: Any) -> Iterator[ast.AST]:
    """Yield what may replace a node: each is one small bug."""
    operators = getattr(node, "ops", [getattr(node, "op", None)])
    for index, operator in enumerate(operators):
        if type(operator) in SWAPS:
            other, swapped = copy.copy(node), SWAPS[type(operator)]()
            if hasattr(node, "ops"):
                other.ops = [*operators[:index], swapped, *operators[index + 1 :]]
            else:
                other.op = swapped
            yield other
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield from (ast.Constant(node.value + step) for step in (1, -1) if node.value + step != node.value)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.Call):
        for index in range(len(node.keywords)):
            yield ast.Call(node.func, node.args, node.keywords[:index] + node.keywords[index + 1 :])
    elif isinstance(node, ast.Return) and node.value is not None:
        yield ast.Return(ast.Constant(None))


def mutated_trees(path: str) -> Iterator[tuple[Mutant, ast.Module]]:
    """Yield the bugs of a file, each with the tree that has it until the next."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    number = 0
    waiting: list[tuple[Any, Any]] = [(tree, None)]
    while waiting:
        parent, statement = waiting.pop()
        for field, value in ast.iter_fields(parent):
            is_type = field in ("annotation", "returns")
            is_type |= isinstance(parent, ast.If) and ast.unparse(parent.test) == "TYPE_CHECKING"
            for index, node in enumerate(value if isinstance(value, list) else [value]):
                if is_type or not isinstance(node, ast.AST):
                    continue
                inner = node if isinstance(node, ast.stmt) else statement
                waiting.append((node, inner))
                for changed in changes_of(node):
                    ast.fix_missing_locations(ast.copy_location(changed, node))
                    body = getattr(inner, "body", None)
                    lines = range(inner.lineno, body[0].lineno if isinstance(body, list) else inner.end_lineno + 1)
                    change = f"{path}:{node.lineno}: {ast.unparse(node)} -> {ast.unparse(changed)}"
                    setattr(
                        parent, field, [*value[:index], changed, *value[index + 1 :]] if value is not node else changed
                    )
                    yield Mutant(path, number, node.lineno, lines, change), tree
                    setattr(parent, field, value)
                    number += 1


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those within."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def changed_functions(before: CodeType, after: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """Return the functions whose code differs; None where code outside of functions does."""
    pairs = [pair for pair in zip(codes_in(before), codes_in(after), strict=True) if pair[0] != pair[1]]
    for old, new in pairs:
        constants = [[part for part in code.co_consts if not isinstance(part, CodeType)] for code in (old, new)]
        if not old.co_flags & 1 and (old.co_code != new.co_code or constants[0] != constants[1]):
            return None
    return [pair for pair in pairs if pair[0].co_flags & 1]


def forked(work: Callable[[], Any], seconds: float) -> Any:
    """Return what a fork of this process computes; "too long" beyond these seconds, "crash" where there is nothing."""
    receiver, sender = os.pipe()
    if not (process := os.fork()):
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1,) * 2)
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
        try:
            answer = json.dumps(work())
        except BaseException as error:
            answer = json.dumps(f"crash: {error!r}")
        with open(sender, "w") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(sender)
    answer, end = b"", time.monotonic() + 6 * seconds  # the machine may be busy
    while select.select([receiver], [], [], max(0, end - time.monotonic()))[0] and (part := os.read(receiver, 2**16)):
        answer += part
    os.close(receiver)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    status = os.waitpid(process, 0)[1]
    return json.loads(answer) if answer else ("too long" if os.WIFSIGNALED(status) else "crash")


def passes(items: list[pytest.Item]) -> Iterator[bool]:
    """Run tests, and yield whether each passes."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        yield not any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


def traced(items: list[pytest.Item], paths: set[str]) -> dict[str, Any]:
    """Return of each test that passes its seconds and, by file, the lines that it runs."""
    tests: dict[str, Any] = {}
    unseen: dict[CodeType, set[int]] = {}
    seen: dict[str, set[int]] = defaultdict(set)

    def on_call(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in paths:
            return None
        if code not in unseen:
            unseen[code] = {line for *_, line in code.co_lines() if line}
        return on_line if unseen[code] else None

    def on_line(frame: FrameType, event: str, _: Any) -> Any:
        seen[frame.f_code.co_filename].add(frame.f_lineno)
        unseen[frame.f_code].discard(frame.f_lineno)
        return on_line

    threading.settrace(on_call)
    sys.settrace(on_call)
    start, runs = time.process_time(), passes(items)
    for item in items:
        is_passed = next(runs)
        if is_passed:
            tests[item.nodeid] = (time.process_time() - start, {path: sorted(lines) for path, lines in seen.items()})
        unseen.clear()
        seen.clear()
        start = time.process_time()
    return tests


def tests_of(mutant: Mutant, items: list[pytest.Item], tests: dict[str, Any], is_inside: bool) -> list[pytest.Item]:
    """Return the tests of the line, or of the file where the bug is outside of functions, the quickest first."""
    lines = set(mutant.lines)
    touching = [item for item in items if _touches(tests.get(item.nodeid), mutant.path, lines if is_inside else None)]
    touching.sort(key=lambda item: tests[item.nodeid][0])
    seconds, chosen = 0.0, []
    for item in touching:
        seconds += tests[item.nodeid][0]
        if seconds < SECONDS or not chosen:
            chosen.append(item)
    return chosen


def _touches(test: Any, path: str, lines: set[int] | None) -> bool:
    own = test[1].get(os.path.abspath(path), ()) if test else ()
    return bool(lines & set(own)) if lines is not None else bool(own)


@functools.cache
def functions_by_code() -> dict[CodeType, list[FunctionType]]:
    """Return the functions of the package by their code."""
    gc.unfreeze()
    functions = defaultdict(list)
    for function in gc.get_objects():
        if type(function) is FunctionType and "mauve_metric" in function.__code__.co_filename:
            functions[function.__code__].append(function)
    return functions


def run_mutant(mutant: Mutant, items: list[pytest.Item], tests: dict[str, Any]) -> str:
    """Return "found", "too long", "not found" or "no test"."""
    source = Path(mutant.path).read_text(encoding="utf-8")
    _, tree = next(islice(mutated_trees(mutant.path), mutant.number, None))
    file = os.path.abspath(mutant.path)
    try:
        changed = changed_functions(compile(source, file, "exec"), compile(tree, file, "exec"))
    except (SyntaxError, ValueError):
        return "found"
    if changed == []:
        return "same code"
    chosen = tests_of(mutant, items, tests, changed is not None)
    if not chosen:
        return "no test"
    limit = 3 + 3 * sum(tests[item.nodeid][0] for item in chosen)

    def work() -> bool:
        for old, new in changed or ():
            for function in functions_by_code().get(old, ()):
                function.__code__ = new
        return all(passes(chosen))

    if changed is not None:
        outcome = forked(work, limit)
        return {True: "not found", False: "found"}.get(outcome, outcome)
    try:
        Path(mutant.path).write_text(ast.unparse(tree), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-n0", *(item.nodeid for item in chosen)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=6 * limit)
        if "pytest: error: " in run.stderr:
            return f"crash: {run.stderr}"
        return "found" if run.returncode else "not found"
    except subprocess.TimeoutExpired:
        return "too long"
    finally:
        Path(mutant.path).write_text(source, encoding="utf-8")


def drawn_mutants() -> list[Mutant]:
    """Return the bugs of the parts of MUTATE: all, or MUTATE_NUMBER of each part, in random order."""
    mutants = []
    for part in os.environ["MUTATE"].split():
        name, _, line = part.partition(":")
        whole = Path("mauve_metric", name)
        files = [whole] if whole.is_file() else sorted(whole.rglob("*.py"))
        of_part = [mutant for path in files for mutant, _ in mutated_trees(str(path)) if line in ("", str(mutant.line))]
        number = min(len(of_part), int(os.environ.get("MUTATE_NUMBER", len(of_part))))
        mutants += random.Random(0).sample(of_part, number)
    random.Random(0).shuffle(mutants)
    return mutants


def pytest_configure(config: pytest.Config) -> None:
    """Collect the tests and doctests of the parts of MUTATE, and the recorded results, which need every folder."""
    paths = ["tests/scoring/test_recorded_results.py"]
    for part in os.environ["MUTATE"].split():
        path = Path(part.partition(":")[0])
        file = Path("tests", path.parent, f"test_{path.name}")
        folder = Path("tests", path.parent if path.suffix else path)
        paths += [f"mauve_metric/{path}", str(file if file.is_file() else folder)]
    config.args = list(dict.fromkeys(paths))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try the bugs instead of running the tests once."""
    terminal: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    mutants = drawn_mutants()
    for path in {mutant.path for mutant in mutants}:
        importlib.import_module(path.removesuffix(".py").replace("/", "."))
    functions_by_code()
    tests = forked(lambda: traced(session.items, {os.path.abspath(mutant.path) for mutant in mutants}), 3600)
    if isinstance(tests, str):
        raise pytest.UsageError(f"the tests without a bug: {tests}")
    try:
        for mutant in mutants:
            outcome = run_mutant(mutant, session.items, tests)
            outcomes[mutant.path.split("/")[1]][outcome.split(":")[0]] += 1
            terminal.write(f"{outcome}: {mutant.change}\n", flush=True)
    finally:
        terminal.write_line("".join(f"{folder}: {dict(counts)}\n" for folder, counts in outcomes.items()))
    return True
