"""The program in a process of its own: exit statuses, pipes, interrupts."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from commands import command_for, direct
from samples import ROOT

from mauve_metric.hosts.cli.commands import demo
from mauve_metric.hosts.cli.main import main


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mauve_metric", *arguments], capture_output=True, text=True, check=False
    )


def test_module_is_the_program(files: tuple[str, str]) -> None:
    run = program("score", *files, "--json")
    assert run.returncode == 0
    assert run.stdout.count("\n") == 1 and json.loads(run.stdout)["mauve"] == direct(files).mauve


@pytest.mark.more
def test_output_that_is_not_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    run = program("warnings", "few_texts")
    assert run.returncode == 0 and run.stdout.startswith("few_texts\n") and "\n  \\u2192 " in run.stdout
    run = program("score", "--help")
    assert run.returncode == 0 and "mps, \\u2026" in run.stdout


@pytest.mark.more
def test_program_fails_with_one_line() -> None:
    run = program("score", "nowhere.txt", "nowhere.txt")
    assert run.returncode == 1 and run.stdout == ""
    assert run.stderr == "mauve-metric: error: there is no file 'nowhere.txt'  [no_file]\n"


def test_help_and_wrong_usage_load_nothing_heavy() -> None:
    program = """if True:
        import sys
        from mauve_metric.hosts.cli.main import main
        for arguments in (["--help"], ["score", "--help"], ["score", "one"], ["scores"]):
            try:
                main(arguments)
            except SystemExit:
                heavy = {"numpy", "scipy", "torch", "faiss", "jinja2", "tabulate", "altair"} & set(sys.modules)
                print("heavy:", *heavy)
    """
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert [line for line in found.stdout.splitlines() if line.startswith("heavy:")] == ["heavy:"] * 4


KILLED = """
import os, pathlib, signal, sys
def killed(path, text, **options):
    with open(path, "w") as file:
        file.write(text[:1000])
    os.kill(os.getpid(), signal.SIGKILL)
from mauve_metric.hosts.cli.main import main
from mauve_metric.report import html_and_images
pathlib.Path.write_text = killed
html_and_images.chart_svg = lambda chart: "<svg></svg>"
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_a_run_killed_while_it_writes_leaves_the_old_report_whole(files: tuple[str, str], tmp_path: Path) -> None:
    target = tmp_path / "r.html"
    target.write_text("what was there before")
    arguments = command_for("report", target, files, tmp_path, "")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *arguments], cwd=ROOT, capture_output=True, timeout=300, check=False
    )
    assert done.returncode == -9 and target.read_text() == "what was there before"


def shell(files: tuple[str, str], redirection: str = "", *more: str) -> subprocess.CompletedProcess[str]:
    """The program in a shell, its output sent somewhere."""
    command = [sys.executable, "-m", "mauve_metric", "score", *files, "--num-buckets", "3", *more]
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{shlex.join(command)} {redirection}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirection", "message"),
    [(">&-", "standard output is closed"), (">/dev/full", "standard output cannot be written: No space left")],
)
def test_output_that_goes_nowhere_is_said(redirection: str, message: str, files: tuple[str, str]) -> None:
    if redirection.endswith("/dev/full") and not Path("/dev/full").exists():
        pytest.skip("this system has no full device")
    found = shell(files, redirection)
    assert found.returncode == 1 and found.stdout == ""
    assert found.stderr.count("\n") == 1 and f"mauve-metric: error: {message}" in found.stderr


@pytest.mark.more
def test_closed_stderr_sends_no_message_to_stdout(files: tuple[str, str]) -> None:
    found = shell(("nowhere.npy", files[1]), "2>&-")
    assert (found.returncode, found.stdout, found.stderr) == (1, "", "")


@pytest.mark.slow
def test_a_closed_pipe_ends_quietly_and_loses_no_figure(files: tuple[str, str], tmp_path: Path) -> None:
    found = shell(files, "| true", "--plot", str(tmp_path / "figure.json"))
    assert found.returncode == 128 + signal.SIGPIPE and found.stderr == ""
    assert "vconcat" in json.loads((tmp_path / "figure.json").read_text())


INTERRUPT_WHEN_IMPORTED = """
import os, signal, sys
sys.argv = ["mauve-metric", "score", *sys.argv[2:], "--num-buckets", "3"]
when = {when!r}

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == when:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
from mauve_metric.__main__ import main
sys.exit(main())
"""


@pytest.mark.more
@pytest.mark.parametrize(
    "when", ["mauve_metric.hosts.cli.main", "argparse", "numpy", "faiss", "mauve_metric.scoring.compute"]
)
def test_ctrl_c_while_modules_are_imported(when: str, files: tuple[str, str]) -> None:
    # a shell starts what goes to the background, as these tests may, without an ear for the interrupt
    script = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    script += INTERRUPT_WHEN_IMPORTED.format(when=when).lstrip()
    found = subprocess.run(
        [sys.executable, "-c", script, "-", *files], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert (found.returncode, found.stdout, found.stderr) == (130, "", "mauve-metric: interrupted\n")


def test_ctrl_c_while_a_module_is_imported_for_an_output_leaves_no_temporary_file(tmp_path: Path) -> None:
    script = """import os, signal, sys
from mauve_metric import __main__
from mauve_metric.runtime.outputs import written_whole
class Finder:
    def find_spec(self, name, path=None, target=None):
        os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, __main__._interrupted)
with written_whole(sys.argv[1]):
    sys.meta_path.insert(0, Finder())
    import no_such_module
"""
    command = [sys.executable, "-c", script, str(tmp_path / "page.html")]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (found.returncode, found.stderr) == (130, "mauve-metric: interrupted\n") and not list(tmp_path.iterdir())


def test_ctrl_c_while_a_command_works(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupted)
    assert main(["demo"]) == 130
    assert capsys.readouterr() == ("", "mauve-metric: interrupted\n")


@pytest.mark.slow
def test_an_ignored_interrupt_stays_ignored(files: tuple[str, str]) -> None:
    script = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    script += INTERRUPT_WHEN_IMPORTED.format(when="mauve_metric.scoring.compute").replace(
        "import os, signal, sys", "import os"
    )
    found = subprocess.run(
        [sys.executable, "-c", script, "-", *files], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert found.returncode == 0 and found.stderr == "" and "MAUVE" in found.stdout
