"""The command line: what goes to stdout, exit statuses, flags."""

from __future__ import annotations

import io
import json
import logging
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from commands import OUTPUTS, command_for, direct, input_error, target_of
from programs import Programs
from samples import HUMAN, MODEL, write_jsonl

from mauve_metric import compute_mauve
from mauve_metric.hosts.cli.main import main, parser
from mauve_metric.results.scores import SCORES

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
    assert main(["score", *files, "--num-buckets", "55", "--all"]) == 0
    out, err = capsys.readouterr()
    result = direct(files, num_buckets=55)
    assert err == ""
    assert out.index("\n  closeness  ") < out.index("num_buckets_large") < out.index(SCORES["mauve"].meaning)
    table = out[out.index("\n  score  ") :]
    for name, score in SCORES.items():
        lines = [line for line in table.splitlines() if line.strip().startswith(score.title + "  ")]
        if getattr(result, name) is None:
            assert lines == []
        else:
            assert len(lines) == 1 and f"{getattr(result, name):.4f}" in lines[0]
    assert "signature: " not in out
    assert "60" in out and "50" in out and "55" in out


def test_levels_of_loggers_are_afterwards_what_they_were(files: tuple[str, str]) -> None:
    logger = logging.getLogger("mauve_metric")
    logger.setLevel(logging.ERROR)  # and after the test as before: by `own_log_level`
    assert main(["score", *files, "-q"]) == 0
    assert logger.level == logging.ERROR and logging.getLogger("mauve_metric.features.sides").level == logging.NOTSET


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


def test_verbose_writes_to_stderr_only(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", *files, "--json", "--verbose"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["mauve"] == direct(files).mauve
    assert "PCA" in err


# --- errors -------------------------------------------------------------------------------------------------------


def test_input_errors_are_one_line(files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no file 'nowhere.txt'" in input_error(["score", "nowhere.txt", files[1]], capsys)
    assert "there is no file 'nowhere.npy'" in input_error(["score", files[0], "nowhere.npy"], capsys)
    (tmp_path / "broken.jsonl").write_text('{"text": "a"}\n{"text"\n')
    assert "broken.jsonl, line 2: not JSON" in input_error(["score", str(tmp_path / "broken.jsonl"), files[1]], capsys)
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04no")
    assert "broken.npz is not a numpy file" in input_error(["score", files[0], str(tmp_path / "broken.npz")], capsys)
    np.save(tmp_path / "nan.npy", np.full((3, 5), np.nan))
    bad = str(tmp_path / "nan.npy")
    for inputs, name in (
        ([bad, files[1]], "HUMAN"),
        ([files[0], bad], "MODEL"),
        ([files[0], f"a b={bad}", files[1]], "MODEL a b"),
    ):
        said = input_error(["score" if len(inputs) == 2 else "compare", *inputs], capsys)
        assert f"error: {name} must be finite: 3 rows hold NaN or infinity, the first is row 0" in said
    (tmp_path / "alone.jsonl").write_text('{"text": "a"}\n')
    (tmp_path / "two.jsonl").write_text('{"text": "a"}\n{"text": "b"}\n')
    two = ["memorised", str(tmp_path / "alone.jsonl"), str(tmp_path / "two.jsonl"), "--prompted"]
    assert "error: CORPUS must hold one text for each of 1 continuations, got 2" in input_error(two, capsys)
    for command in ("score", "explain", "compare"):
        assert input_error([command, str(tmp_path / "alone.jsonl")], capsys).endswith("[not_one_set]\n")
    assert "--num-buckets must be at most" in input_error(["score", *files, "--num-buckets", "111"], capsys)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("score A A --encoding hex", "--encoding must be a name such as 'cp1252', got 'hex'"),
        (f"score A A --featurizer ngrams --checkpoint {'y' * 5000}", "--checkpoint: 'yyyyyyy"),
        ("deduplicate A -o /no/folder/a.jsonl", "--output: '/no/folder/a.jsonl' cannot be written"),
        ("deduplicate A --against nowhere.txt", "--against: there is no file 'nowhere.txt'"),
        ("describe A A --decoder greedy --featurizer ngrams", "--decoder is for measures of the group"),
        ("memorised A A --length 0", "--length must be at least 1"),
        ("generate A --model x --tokenizer y -o o.jsonl", "--tokenizer is for a server's model"),
        ("generate A --model= -o o.jsonl", "--model: model must be the name"),
        ("generate A --model m --server nowhere -o o.jsonl", "--server: url must be an address"),
        ("deduplicate nowhere.txt --preset lee", "there is no file 'nowhere.txt'"),  # of no flag
    ],
)
def test_an_error_names_its_argument_as_the_shell_does(
    command: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("A").with_suffix(".txt").write_text("\n".join(HUMAN * 4), encoding="utf-8")
    message = input_error([*("A.txt" if word == "A" else word for word in command.split()), "-q"], capsys)
    assert message.startswith(f"mauve-metric: error: {said}") and len(message) < 400


@pytest.mark.parametrize(
    "name", ["p_text.jsonl", "a  b.jsonl", "num_buckets/human.jsonl", "x/q_text", "p_groups-1.txt"]
)
def test_an_error_repeats_the_name_of_a_file_as_it_was_typed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"there is no file {name!r}" in input_error(["score", name, "model.jsonl"], capsys)


def test_an_empty_name_of_a_file_is_refused(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    error = input_error(["score", *files, "--other-pair", ""], capsys)
    assert "--other-pair: path must be the name of a file, got ''" in error


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(FileNotFoundError):
        main(["score", "nowhere.txt", "nowhere.txt", "--debug"])


# --- where results go ---------------------------------------------------------------------------------------------


LIMITED = """
import json, sys
from mauve_metric.features.encoder import load_encoder
import torch.utils.data  # looks for a place of temporary files
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))
from mauve_metric.hosts.cli.main import main, parser
sys.exit(10 + sum(main(arguments) for arguments in json.loads(sys.argv[1])))
"""


@pytest.mark.slow
def test_a_full_disk_keeps_the_old_file(
    files: tuple[str, str], tmp_path: Path, tiny_gpt2: str, programs: Programs
) -> None:
    pytest.importorskip("resource")
    targets, commands = [], []
    for flag in OUTPUTS:
        target = target_of(flag, tmp_path / flag)
        target.parent.mkdir()
        target.write_text("what was there before")
        arguments = command_for(flag, target, files, tmp_path, tiny_gpt2)
        commands.append([*arguments, "--no-cache"] if flag == "output" else arguments)
        targets.append(target)
    done = programs.run(LIMITED, json.dumps(commands))
    assert done.returncode == 10 + len(commands), done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("mauve-metric: error: ")]
    errors = [re.sub(r"error: [\w-]+: '", "error: '", line) for line in lines]  # of an option, its flag is named
    said = "mauve-metric: error: '{}' cannot be written: File too large  [not_written]"
    assert errors == [said.format(target) for target in targets]
    assert "Traceback" not in done.stderr
    for target in targets:
        assert target.read_text() == "what was there before" and len(list(target.parent.iterdir())) == 1


# --- files that hold both sides ------------------------------------------------------------------------------------


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
    with pytest.raises(SystemExit):
        main([*arguments, "--json", "--csv"])
    assert "--csv: not allowed with argument --json" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*arguments, "--measures", "lexicl"])
    assert "did you mean 'lexical'" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["nowhere", "[1]", "nowhere.jsonl"])
def test_a_training_set_is_a_file_whatever_its_name(
    files: tuple[str, str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"--training: there is no file '{name}'" in input_error(["describe", *files, "--training", name], capsys)


def test_a_file_in_a_folder_is_named_with_the_flag_of_the_folder(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.json").write_text("{}")
    for flag in ("--training", "--prompts"):
        found = input_error(["describe", *files, flag, str(tmp_path / "texts")], capsys)
        assert f"{flag}: {tmp_path / 'texts' / 'a.json'} must hold" in found


def test_completion_knows_commands_and_flags() -> None:
    shtab = pytest.importorskip("shtab")
    script = shtab.complete(parser(), shell="bash")
    for words, expected in ((["rep"], "reproduce"), (["score", "--featurizer"], "--featurizer")):
        asked = f"COMP_WORDS=(mauve-metric {' '.join(words)}); COMP_CWORD={len(words)}; _shtab_mauve_metric"
        command = f'{script}\n{asked}; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        assert done.stdout.split() == [expected]


def test_files_of_one_name_are_runs_of_one_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for seed, name in enumerate(("human", "one", "two")):
        words = random.Random(seed).choices("the ship is old and grey in rain".split(), k=600)
        path = tmp_path / f"{name}.txt"
        path.write_text("\n".join(" ".join(words[i : i + 10]) for i in range(0, 600, 10)), encoding="utf-8")
        paths.append(str(path))
    human, one, two = paths
    assert main(["compare", human, f"m={one}", f"m={two}", "--featurizer", "ngrams", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [*found["models"]] == ["m (run 1)", "m (run 2)"] == found["runs"]["m"]["runs"]
    assert main(["describe", human, f"m={one}", f"m={two}", "--featurizer", "ngrams"]) == 1
    assert "two models are called 'm'" in capsys.readouterr().err
    for unnamed in (f"={one}", f" ={one}"):
        assert main(["compare", human, unnamed]) == 1
        assert "an empty name: expected FILE or NAME=FILE" in capsys.readouterr().err
