"""The command line: what goes to stdout, exit statuses, flags."""

from __future__ import annotations

import io
import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import Programs
from samples import HUMAN, MODEL, ROOT, write_jsonl
from tools import harness_file, harness_rows

from mauve_metric import __version__, compare, compute_mauve
from mauve_metric.config import knobs
from mauve_metric.features.reference import Reference
from mauve_metric.hosts.cli import COMMANDS, main
from mauve_metric.hosts.cli_arguments import parsed
from mauve_metric.results.scores import SCORES


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "human.npy", rng.normal(size=(60, 5)))
    np.savez(tmp_path / "model.npz", features=rng.normal(size=(50, 5)) + 0.5)
    return str(tmp_path / "human.npy"), str(tmp_path / "model.npz")


def direct(files: tuple[str, str], **options: Any) -> Any:
    return compute_mauve(p=Reference.load(files[0]), q=Reference.load(files[1]), **options)


def usage_error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The message of a wrong usage: status 2, nothing on stdout."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    out, err = capsys.readouterr()
    assert caught.value.code == 2 and out == ""
    return err


def input_error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The message of an input error: status 1, one line, nothing on stdout."""
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and err.startswith("mauve-metric: error: ")
    assert "Traceback" not in err
    return err


# --- results ------------------------------------------------------------------------------------------------------


def test_json_is_one_object_and_nothing_else(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", *files, "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert out.count("\n") == 1 and err == ""
    expected = json.loads(json.dumps(direct(files).to_dict(), allow_nan=False))
    assert found["signature"] == expected["signature"]
    assert {key: found[key] for key in expected} == expected


def test_table_shows_the_lead_then_warnings_then_scores_then_the_signature(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", *files, "--num-buckets", "55"]) == 0
    out, err = capsys.readouterr()
    result = direct(files, num_buckets=55)
    assert err == ""
    assert (
        out.index("of what two human sets reach") < out.index("num_buckets_large") < out.index(SCORES["mauve"].meaning)
    )
    for name, score in SCORES.items():
        lines = [line for line in out.splitlines() if line.strip().startswith(score.title + "  ")]
        if getattr(result, name) is None:
            assert lines == []
        else:
            assert len(lines) == 1 and f"{getattr(result, name):.4f}" in lines[0]
    assert out.rstrip().splitlines()[-1] == f"signature: {result.signature}"
    assert "60" in out and "50" in out and "55" in out


def test_text_files(tmp_path: Path, tiny_gpt2: str, capsys: pytest.CaptureFixture[str]) -> None:
    human, model = [f"Ship {i} left." for i in range(12)], [f"A list of {i}." for i in range(15)]
    (tmp_path / "human.txt").write_text("\n".join(human))
    (tmp_path / "model.jsonl").write_text("\n".join(json.dumps({"id": 1, "story": text}) for text in model))
    arguments = ["score", str(tmp_path / "human.txt"), str(tmp_path / "model.jsonl"), "--json"]
    arguments += ["--text-field", "story", "--featurize-model-name", tiny_gpt2, "--batch-size", "2", "--quiet"]
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert err == ""
    expected = compute_mauve(p_text=human, q_text=model, featurize_model_name=tiny_gpt2)
    assert json.loads(out)["mauve"] == expected.mauve
    assert json.loads(out)["signature"] == expected.signature


def test_standard_input_is_one_side(
    tmp_path: Path, tiny_gpt2: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "human.txt").write_text("ships\nrain\nlists\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\ntwo\n")))
    arguments = ["score", str(tmp_path / "human.txt"), "-", "--featurize-model-name", tiny_gpt2, "--json", "--quiet"]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_p"], found["n_q"]) == (3, 2)
    assert "both" in input_error(["score", "-", "-"], capsys)


def test_verbose_speaks_on_stderr_only(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", *files, "--json", "--verbose"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["mauve"] == direct(files).mauve
    assert "PCA" in err


# --- options ------------------------------------------------------------------------------------------------------

FLAGS: dict[str, tuple[str, Any]] = {
    "num_buckets": ("7", 7),
    "row_order": ("pq", "pq"),
    "quantizer": ("drmm", "drmm"),
    "drmm_layers": ("2", 2),
    "drmm_components": ("4", 4),
    "drmm_steps": ("30", 30),
    "lattice_squared_radius": ("5", 5),
    "lattice_epochs": ("2", 2),
    "lattice_hidden": ("4", 4),
    "lattice_spread": ("0.05", 0.05),
    "pca_max_data": ("20", 20),
    "kmeans_explained_var": ("0.5", 0.5),
    "kmeans_num_redo": ("2", 2),
    "kmeans_max_iter": ("7", 7),
    "seed": ("1", 1),
    "divergence_curve_discretization_size": ("50", 50),
    "mauve_scaling_factor": ("2.5", 2.5),
    "featurize_model_name": ("minilm", "minilm"),
    "max_text_length": ("9", 9),
    "pooling": ("mean", "mean"),
    "text_prefix": ("7", "7"),
    "dtype": ("float64", "float64"),
    "empty_texts": ("drop", "drop"),
    "match_lengths": ("truncate", "truncate"),
    "strip": ("whitespace,reasoning", "reasoning,whitespace"),
    "num_runs": ("3", 3),
    "confidence_level": ("0.8", 0.8),
    "permutations": ("50", 50),
    "knn": ("false", False),
    "knn_k": ("3", 3),
}


@pytest.mark.parametrize("name", knobs())
def test_every_field_of_the_config_is_a_flag(
    name: str, files: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flag = f"--{name.replace('_', '-')}"
    own = knobs()[name].metadata["of"]
    with_it = (
        {}
        if own in (None, "kmeans") and name != "quantizer"
        else {"quantizer": own, "drmm_steps": 20, "lattice_epochs": 1}
    )
    with_it = {key: value for key, value in with_it.items() if key != name}
    arguments, value = (
        ([flag], True) if isinstance(knobs()[name].default, bool) else ([flag, FLAGS[name][0]], FLAGS[name][1])
    )
    seen: dict[str, Any] = {}

    def spy(**options: Any) -> Any:
        seen.update(options)
        texts_only = knobs()[name].metadata["stage"] == "featurize"  # features ignore or refuse these
        return compute_mauve(**{key: value for key, value in options.items() if key != name or not texts_only})

    monkeypatch.setattr("mauve_metric.compute.compute_mauve", spy)
    for key, other in with_it.items():
        arguments += [f"--{key.replace('_', '-')}", str(other)]
    assert main(["score", *files, *arguments, "--json"]) == 0
    assert seen[name] == value and type(seen[name]) is type(value)
    signature = json.loads(capsys.readouterr().out)["signature"]
    if knobs()[name].metadata["stage"] != "featurize":
        assert f"|{name}:{value}|" in f"|{signature}|"
        assert signature == direct(files, **with_it, **{name: value}).signature


def test_values_of_flags_are_checked_as_usage(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    for flag, value, message in (
        ("--num-buckets", "0", "num_buckets must be an integer from 1"),
        ("--num-buckets", "ten", "num_buckets must be an integer from 1 .* or 'auto', got 'ten'"),
        ("--num-buckets", "2.5", "num_buckets must be"),
        ("--mauve-scaling-factor", "nan", "mauve_scaling_factor must be a number"),
        ("--row-order", "qq", "row_order must be one of 'qp', 'pq'"),
        ("--pooling", "max", "pooling must be one of"),
        ("--batch-size", "many", "invalid int value"),
    ):
        import re

        assert re.search(message, usage_error(["score", *files, flag, value], capsys)), (flag, value)


def test_help_names_every_flag_and_its_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["score", "--help"])
    assert caught.value.code == 0
    words = " ".join(capsys.readouterr().out.split())
    for name, knob in knobs().items():
        assert f"--{name.replace('_', '-')}" in words
        assert knob.default is None or knob.default is False or f"(default: {knob.default})" in words, name


def test_the_featurizer_has_a_short_flag_everywhere(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["explain", *files], ["calibrate", files[0]], ["demo"]):
        assert parsed([*command, "--featurizer", "ngrams"]).featurize_model_name == "ngrams"
        twice = usage_error([*command, "--featurizer", "minilm", "--featurizer", "ngrams"], capsys)
        assert "argument --featurizer: this command takes one, got minilm and ngrams" in twice


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0 and capsys.readouterr().out.strip().endswith(__version__)


# --- errors -------------------------------------------------------------------------------------------------------


def test_wrong_usage(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "usage" in usage_error([], capsys)
    assert "invalid choice" in usage_error(["skore", *files], capsys)
    assert "MODEL" in usage_error(["score", files[0]], capsys)
    assert "--num-bucket-count" in usage_error(["score", *files, "--num-bucket-count", "3"], capsys)


def test_input_errors_are_one_line(files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no file 'nowhere.txt'" in input_error(["score", "nowhere.txt", files[1]], capsys)
    assert "there is no file 'nowhere.npy'" in input_error(["score", files[0], "nowhere.npy"], capsys)
    (tmp_path / "broken.jsonl").write_text('{"text": "a"}\n{"text"\n')
    assert "broken.jsonl, line 2: not JSON" in input_error(["score", str(tmp_path / "broken.jsonl"), files[1]], capsys)
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04no")
    assert "broken.npz is not a numpy file" in input_error(["score", files[0], str(tmp_path / "broken.npz")], capsys)
    np.save(tmp_path / "nan.npy", np.full((3, 5), np.nan))
    assert "must be finite: 3 rows hold NaN or infinity, the first is row 0" in input_error(
        ["score", str(tmp_path / "nan.npy"), files[1]], capsys
    )
    assert "num_buckets must be at most" in input_error(["score", *files, "--num-buckets", "111"], capsys)


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(FileNotFoundError):
        main(["score", "nowhere.txt", "nowhere.txt", "--debug"])


# --- as a program -------------------------------------------------------------------------------------------------


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mauve_metric", *arguments], capture_output=True, text=True, check=False
    )


def test_module_is_the_program(files: tuple[str, str]) -> None:
    run = program("score", *files, "--json")
    assert run.returncode == 0
    assert run.stdout.count("\n") == 1 and json.loads(run.stdout)["mauve"] == direct(files).mauve


def test_program_fails_with_one_line() -> None:
    run = program("score", "nowhere.txt", "nowhere.txt")
    assert run.returncode == 1 and run.stdout == ""
    assert run.stderr == "mauve-metric: error: there is no file 'nowhere.txt'  [no_file]\n"


def test_a_reader_that_stops_is_no_error(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name in ("p", "q"):
        np.save(tmp_path / f"{name}.npy", rng.normal(size=(60, 4)))
    command = f"{sys.executable} -m mauve_metric score {tmp_path}/p.npy {tmp_path}/q.npy -q"
    script = f"{command} | true; exit ${{PIPESTATUS[0]}}"
    run = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (141, "")


@pytest.mark.parametrize("arguments", [["--help"], ["score", "--help"], ["score", "one"], ["scores"]])
def test_help_and_wrong_usage_load_nothing_heavy(arguments: list[str]) -> None:
    program = f"""if True:
        import sys
        from mauve_metric.hosts.cli import main
        try:
            main({arguments})
        except SystemExit:
            heavy = {{"numpy", "scipy", "torch", "faiss", "jinja2", "tabulate", "altair"}} & set(sys.modules)
            print("heavy:", *heavy)
    """
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "heavy:"


# --- where results go ---------------------------------------------------------------------------------------------

OUTPUTS = {"report": "compare", "plot": "score", "output": "featurize"}


def command_for(flag: str, target: Path, files: tuple[str, str], tmp_path: Path, model: str) -> list[str]:
    """A command that writes to the target."""
    if flag != "output":
        return [OUTPUTS[flag], *files, "--num-buckets", "5", f"--{flag}", str(target)]
    (tmp_path / "texts.txt").write_text("ships\nrain\nlists\n")
    return ["featurize", str(tmp_path / "texts.txt"), "--featurize-model-name", model, "-o", str(target)]


def target_of(flag: str, folder: Path) -> Path:
    return folder / {"report": "r.html", "plot": "curve.svg", "output": "features.npz"}[flag]


@pytest.mark.parametrize("flag", OUTPUTS)
def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    flag: str, files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(Reference, "load", None)  # nothing is read
    target = target_of(flag, tmp_path / "nowhere")
    message = input_error(command_for(flag, target, files, tmp_path, "no-such-model"), capsys)
    assert f"'{target}' cannot be written: there is no folder" in message
    target = target_of(flag, tmp_path)
    target.mkdir()
    message = input_error(command_for(flag, target, files, tmp_path, "no-such-model"), capsys)
    assert f"'{target}' cannot be written: it is a folder" in message


def test_unknown_endings_are_wrong_usage(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "written to .npy, .npz or .parquet, got 'x.csv'" in usage_error(["featurize", "x", "-o", "x.csv"], capsys)
    assert "expected a name that ends in" in usage_error(["compare", *files, "--report", "x.pdf"], capsys)
    assert "expected a name that ends in" in usage_error(["score", *files, "--plot", "x.txt"], capsys)


def test_an_output_never_replaces_an_input_or_another_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, twin = tmp_path / "texts.json", tmp_path / "twin.html"
    texts.write_text('["one", "two"]')
    message = input_error(["score", str(texts), str(texts), "--plot", str(texts)], capsys)
    assert "would replace" in message and texts.read_text() == '["one", "two"]'
    message = input_error(["compare", str(texts), str(texts), "--plot", str(twin), "--report", str(twin)], capsys)
    assert "would replace" in message and not twin.exists()


LIMITED = """
import sys
from mauve_metric.features.encoder import load_encoder
import torch.utils.data  # looks for a place of temporary files
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))
from mauve_metric.hosts.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("flag", OUTPUTS)
def test_a_full_disk_leaves_what_was_there(
    flag: str, files: tuple[str, str], tmp_path: Path, tiny_gpt2: str, programs: Programs
) -> None:
    pytest.importorskip("resource")
    target = target_of(flag, tmp_path / "out")
    target.parent.mkdir()
    target.write_text("what was there before")
    arguments = command_for(flag, target, files, tmp_path, tiny_gpt2)
    arguments += ["--no-cache"] if flag == "output" else []
    done = programs.run(LIMITED, *arguments)
    assert done.returncode == 1, done.stderr
    error = [line for line in done.stderr.splitlines() if line.startswith("mauve-metric: error: ")]
    assert error == [f"mauve-metric: error: '{target}' cannot be written: File too large  [not_written]"]
    assert "Traceback" not in done.stderr
    assert target.read_text() == "what was there before" and len(list(target.parent.iterdir())) == 1


KILLED = """
import os, pathlib, signal, sys
def killed(path, text, **options):
    with open(path, "w") as file:
        file.write(text[:1000])
    os.kill(os.getpid(), signal.SIGKILL)
from mauve_metric.hosts.cli import main
pathlib.Path.write_text = killed
sys.exit(main(sys.argv[1:]))
"""


def test_a_run_killed_while_it_writes_leaves_the_old_report_whole(files: tuple[str, str], tmp_path: Path) -> None:
    target = tmp_path / "r.html"
    target.write_text("what was there before")
    arguments = command_for("report", target, files, tmp_path, "")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *arguments], cwd=ROOT, capture_output=True, timeout=300, check=False
    )
    assert done.returncode == -9 and target.read_text() == "what was there before"


# --- where the output goes, and when it ends ------------------------------------------------------------------------


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


def test_closed_stderr_sends_no_message_to_stdout(files: tuple[str, str]) -> None:
    found = shell(("nowhere.npy", files[1]), "2>&-")
    assert (found.returncode, found.stdout, found.stderr) == (1, "", "")


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


@pytest.mark.parametrize("when", ["mauve_metric.hosts.cli", "argparse", "numpy", "faiss", "mauve_metric.compute"])
def test_ctrl_c_while_modules_are_imported(when: str, files: tuple[str, str]) -> None:
    # a shell starts what goes to the background, as these tests may, without an ear for the interrupt
    script = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    script += INTERRUPT_WHEN_IMPORTED.format(when=when).lstrip()
    found = subprocess.run(
        [sys.executable, "-c", script, "-", *files], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert (found.returncode, found.stdout, found.stderr) == (130, "", "mauve-metric: interrupted\n")


def test_ctrl_c_while_a_command_works(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(COMMANDS, "demo", interrupted)
    assert main(["demo"]) == 130
    assert capsys.readouterr() == ("", "mauve-metric: interrupted\n")


def test_an_ignored_interrupt_stays_ignored(files: tuple[str, str]) -> None:
    script = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    script += INTERRUPT_WHEN_IMPORTED.format(when="mauve_metric.compute").replace("import os, signal, sys", "import os")
    found = subprocess.run(
        [sys.executable, "-c", script, "-", *files], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert found.returncode == 0 and found.stderr == "" and "MAUVE" in found.stdout


# --- files that hold both sides ------------------------------------------------------------------------------------


def harness(tmp_path: Path, model: str, shift: int = 0, **options: Any) -> str:
    """Samples of a task in a model's folder; the model's texts are those of another one, moved on by `shift`."""
    made = MODEL[shift:] + MODEL[:shift]
    return str(harness_file(tmp_path / "results", model, harness_rows(HUMAN[: len(made)], made), **options))


@pytest.fixture
def featurized(tiny_gpt2: str) -> list[str]:
    return ["--featurize-model-name", tiny_gpt2, "--num-buckets", "4", "--json"]


def test_one_file_holds_both_sides(tmp_path: Path, featurized: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    path = harness(tmp_path, "gpt2")
    assert main(["score", path, *featurized]) == 0
    out, err = capsys.readouterr()
    found, human = json.loads(out), HUMAN[: len(MODEL)]
    expected = compute_mauve(
        p_text=human, q_text=MODEL, featurize_model_name=featurized[1], num_buckets=4, aligned=True
    )
    assert found["mauve"] == expected.mauve and found["mauve_ci"] == list(expected.mauve_ci or ())
    told = "p_texts:lm_eval/target|q_texts:lm_eval/filtered_resps/none|"
    assert found["signature"] == told + expected.signature
    assert err.count("\n") == 2 and f"{path}: samples of lm-evaluation-harness (filter 'none')" in err
    assert main(["score", path, *featurized, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    fields = ["--reference-field", "doc.story", "--prediction-field", "resps.0.0"]
    assert main(["explain", str(Path(path).parent), *featurized, *fields]) == 0
    signature = json.loads(capsys.readouterr().out)["result"]["signature"]
    assert signature.startswith("p_texts:lm_eval/doc.story|q_texts:lm_eval/resps.0.0/none|")
    assert compute_mauve(
        q_text=path, featurize_model_name=featurized[1], num_buckets=4
    ).signature == told + expected.signature  # fmt: skip


def test_human_texts_of_their_own_beside_a_tool_s_file(
    tmp_path: Path, featurized: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    human = tmp_path / "human.txt"
    human.write_text("\n".join(HUMAN))
    assert main(["score", str(human), harness(tmp_path, "gpt2"), *featurized]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["n_p"], found["n_q"]) == (len(HUMAN), len(MODEL)) and "'target'" not in err
    assert found["signature"].startswith("q_texts:lm_eval/filtered_resps/none|feat")


def test_models_are_compared_without_a_human_file(
    tmp_path: Path, featurized: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [harness(tmp_path, "org__a", day=1), harness(tmp_path, "org__b", 1, day=2)]
    assert main(["compare", *paths, *featurized]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert set(found["models"]) == {"org__a", "org__b"} and found["design"] == "aligned"
    assert err.count("\n") == 3 and "answer the same 24 prompts: scored as aligned" in err
    assert "p_texts:lm_eval/target|q_texts:lm_eval/filtered_resps/none|" in found["signature"]
    assert "design:aligned" in found["signature"]
    options = {"featurize_model_name": featurized[1], "num_buckets": 4}
    direct = compare(models={"org__a": paths[0], "org__b": paths[1]}, **options)
    lists = compare(
        p_text=HUMAN[: len(MODEL)], models={"a": MODEL, "b": MODEL[1:] + MODEL[:1]}, aligned=True, **options
    )
    assert direct.signature == found["signature"]
    assert direct.differences[0].ci == lists.differences[0].ci
    folders = [str(Path(path).parent) for path in paths]
    assert main(["compare", *folders, *featurized]) == 0
    assert json.loads(capsys.readouterr().out)["signature"] == found["signature"]


def test_rows_that_only_some_models_have(
    tmp_path: Path, featurized: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    a = harness(tmp_path, "a")
    b = str(harness_file(tmp_path / "results", "b", harness_rows(HUMAN[:20], MODEL[:20]), day=2))
    assert "model b lacks 4 (20, 21, 22, …); pass common_rows=True (--common-rows)" in last_error(
        ["compare", a, b], capsys
    )
    assert main(["compare", a, b, *featurized, "--common-rows"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert "rows that not all models have are left out: model a 4, model b 0" in err
    assert "q_texts:lm_eval/filtered_resps/none/common_rows|" in found["signature"]
    assert found["models"]["a"]["n_q"] == found["models"]["b"]["n_p"] == 20


def last_error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 1
    return capsys.readouterr().err.splitlines()[-1]


def test_files_that_cannot_be_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, twin = harness(tmp_path, "a"), harness(tmp_path, "a", day=2)
    (tmp_path / "plain.txt").write_text("\n".join(HUMAN))
    plain = str(tmp_path / "plain.txt")
    assert "are two files of one model, 'a': give one of them" in last_error(["compare", a, twin], capsys)
    assert "is given twice" in last_error(["compare", plain, a, a], capsys)
    assert f"write it as NAME={a} to compare its model too" in last_error(["compare", a, plain], capsys)
    assert f"'{tmp_path / 'results' / 'a'}' holds" not in last_error(["score", str(tmp_path / "results")], capsys)
    assert "expected one of them" in last_error(["score", str(tmp_path / "results" / "a")], capsys)
    assert "'target' and the model's texts in 'filtered_resps': say which" in last_error(
        ["featurize", a, "-o", str(tmp_path / "x.npz")], capsys
    )
    one = write_jsonl(tmp_path / "one.jsonl", MODEL)
    assert "does not hold human texts and a model's beside each other: give MODEL" in last_error(["score", one], capsys)
    assert "is the only file: expected MODEL after HUMAN" in last_error(["compare", one], capsys)
    assert "expected MODEL after HUMAN" in usage_error(["score", plain], capsys)


def test_an_empty_completion_is_an_error_unless_it_is_dropped(
    tmp_path: Path, featurized: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = harness_rows(HUMAN[:24], [*MODEL[:22], " ", ""])
    a = str(harness_file(tmp_path, "a", rows))
    b = str(harness_file(tmp_path, "b", harness_rows(HUMAN[:24], MODEL[:24]), day=2))
    message = last_error(["score", a], capsys)
    assert f"{a}, line 23: the text in 'filtered_resps' is empty, as are 2 of 24 in all" in message
    assert main(["score", a, *featurized, "--empty-texts", "drop"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_p"], found["n_q"], found["q_dropped"]) == (24, 22, 2)
    assert main(["compare", a, b, *featurized, "--empty-texts", "drop"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["design"] == "prompts" and "the same 24 prompts" in err


def test_texts_in_standard_input_that_hold_both_sides(
    tmp_path: Path, featurized: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content = Path(harness(tmp_path, "a")).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert main(["score", "-", *featurized]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["n_p"] == len(MODEL) and "standard input: samples of lm-evaluation-harness" in err


def test_describe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    human, model = write_jsonl(tmp_path / "human.jsonl", HUMAN), write_jsonl(tmp_path / "model.jsonl", MODEL)
    rows = [json.dumps({"text": text, "prompt": number % 5}) for number, text in enumerate(MODEL)]
    (tmp_path / "prompted.jsonl").write_text("\n".join(rows), encoding="utf-8")
    arguments = ["describe", human, f"a={model}", "-q", "--measures", "lexical"]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["models"]) == {"a"} and found["human"] and found["signature"]
    for form, start in (("--markdown", "| measure |"), ("--csv", "measure,model"), ("--latex", r"\begin{tabular}")):
        assert main([*arguments, form]) == 0
        assert capsys.readouterr().out.startswith(start)
    assert main([*arguments, "--json", "--csv"]) == 1
    assert "--json prints JSON alone" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*arguments, "--measures", "lexicl"])
    assert "did you mean 'lexical'" in capsys.readouterr().err
