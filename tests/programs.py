"""Python programs in processes of their own, without the seconds that importing torch and transformers takes in each.

One process imports what programs say that they need, each module once, and does nothing else; a program is a fork of
it, with the arguments, environment and folder of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from samples import ROOT

TORCH = ("torch", "transformers.models.auto.modeling_auto", "transformers.models.gpt2.modeling_gpt2")

# A program ends without taking apart what was imported, which takes seconds.
FORGE = """
import atexit, gc, importlib, json, os, sys, threading, traceback
for line in sys.stdin:
    task = json.loads(line)
    if "wait" in task:
        pid, status = os.waitpid(task["wait"], os.WNOHANG)
        print(os.waitstatus_to_exitcode(status) if pid else "", flush=True)
        continue
    for name in task["imports"]:
        importlib.import_module(name)
    gc.freeze()
    child = os.fork()
    if child == 0:
        os.setsid()  # ended with all that it starts
        break
    print(child, flush=True)
else:
    sys.exit()
for number, name in enumerate(("in", "out", "err")):
    os.dup2(os.open(os.path.join(task["folder"], name), os.O_WRONLY if number else os.O_RDONLY), number)
os.chdir(task["cwd"])
os.environ.clear()
os.environ.update(task["environment"])
sys.path[:0] = os.environ.get("PYTHONPATH", "").split(os.pathsep)
sys.argv[1:] = task["arguments"]
status = 0
try:
    exec(compile(task["script"], "<program>", "exec"))
except SystemExit as end:
    status = end.code if isinstance(end.code, int) else int(end.code is not None)
except BaseException:
    traceback.print_exc()
    status = 1
threading._shutdown()
atexit._run_exitfuncs()
sys.stdout.flush()
sys.stderr.flush()
os._exit(status)
"""

# Two processes of a script, as torchrun starts them; the script and its arguments follow.
TWO_PROCESSES = """
import runpy, sys
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

def begin(*arguments):
    sys.argv[:] = arguments
    runpy.run_path(arguments[0], run_name="__main__")

config = LaunchConfig(
    min_nodes=1, max_nodes=1, nproc_per_node=2, max_restarts=0, run_id="tests", rdzv_backend="c10d",
    rdzv_endpoint="localhost:0", start_method="fork",
)
elastic_launch(config, begin)(*sys.argv[1:])
"""


class Program:
    """A program that runs, or has run."""

    def __init__(self, programs: Programs, folder: Path, task: Mapping[str, object]) -> None:
        for name in ("out", "err"):  # pipes and no files: a limit to the size of files may be what is tested
            os.mkfifo(folder / name)
        self.pipes = [os.open(folder / name, os.O_RDONLY | os.O_NONBLOCK) for name in ("out", "err")]
        self.said = [b"", b""]
        self.programs, self.pid = programs, int(programs.ask({**task, "folder": str(folder)}))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit status, as subprocess has it, or None while it runs."""
        if self.returncode is None:
            answer = self.programs.ask({"wait": self.pid})
            self.listen()
            if answer:
                self.returncode = int(answer)
                for pipe in self.pipes:
                    os.close(pipe)
        return self.returncode

    def listen(self) -> None:
        """Take what it has said since the last time, so that the pipes never fill."""
        for number, pipe in enumerate(self.pipes):
            with contextlib.suppress(BlockingIOError):
                while part := os.read(pipe, 2**16):
                    self.said[number] += part

    def wait(self, seconds: float = 300) -> int:
        """Its exit status when it has ended; what takes too long is killed."""
        end = time.monotonic() + seconds
        while self.poll() is None:
            if time.monotonic() > end:
                self.kill()
                raise TimeoutError(f"it has not ended: {self.stderr}")
            time.sleep(0.02)
        assert self.returncode is not None
        return self.returncode

    def kill(self) -> None:
        if self.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)

    @property
    def stdout(self) -> str:
        return self.said[0].decode()

    @property
    def stderr(self) -> str:
        return self.said[1].decode()


class Programs:
    """Starts programs; what they say goes to folders of their own below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.started = folder, 0
        self.forge = subprocess.Popen(
            [sys.executable, "-B", "-c", FORGE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )

    def ask(self, task: Mapping[str, object]) -> str:
        assert self.forge.stdin is not None and self.forge.stdout is not None
        print(json.dumps(task), file=self.forge.stdin, flush=True)
        answer = self.forge.stdout.readline()
        assert answer, "the process that starts programs has ended"
        return answer.strip()

    def start(
        self,
        script: str,
        *arguments: object,
        imports: tuple[str, ...] = TORCH,
        cwd: Path = ROOT,
        stdin: str = "",
        **environment: str,
    ) -> Program:
        """A process that runs the script; modules of this repository and of its tests are found.

        imports: modules that take long and that the script imports.
        """
        self.started += 1
        folder = self.folder / str(self.started)
        folder.mkdir()
        (folder / "in").write_text(stdin)
        own = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]), "OMP_NUM_THREADS": "1"}
        task = {
            "script": script,
            "arguments": [str(argument) for argument in arguments],
            "imports": imports,
            "cwd": str(cwd),
            "environment": os.environ | own | environment,
        }
        return Program(self, folder, task)

    def run(
        self,
        script: str,
        *arguments: object,
        imports: tuple[str, ...] = TORCH,
        cwd: Path = ROOT,
        stdin: str = "",
        seconds: float = 300,
        **environment: str,
    ) -> Program:
        """Result of a program that has ended."""
        program = self.start(script, *arguments, imports=imports, cwd=cwd, stdin=stdin, **environment)
        program.wait(seconds)
        return program

    def close(self) -> None:
        """End the process that starts programs."""
        with self.forge:
            self.forge.kill()  # it has nothing to put away
