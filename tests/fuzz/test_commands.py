"""Every flag of every command with a bad value: one sentence that names it, nothing on stdout, no input changed."""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import pytest
from samples import texts_of, write_jsonl

from mauve_metric.hosts.cli import main as whole_cli
from mauve_metric.hosts.cli.flags import count
from mauve_metric.hosts.cli.main import COMMANDS, main

WHOLE = whole_cli.parser()
TEXTS, LANGUAGE = ["HUMAN", "MODEL"], ["--featurizer", "ngrams"]
# What a command is given beside the flag: files by their names in the fixture, and what it cannot do without.
GIVEN: dict[str, list[str]] = {
    "score": [*TEXTS, *LANGUAGE],
    "compare": [*TEXTS, *LANGUAGE],
    "describe": [*TEXTS, *LANGUAGE],
    "robustness": [*TEXTS, "OTHER", *LANGUAGE],
    "baseline": ["HUMAN", *LANGUAGE],
    "stress-test": ["HUMAN", *LANGUAGE],
    "explain": [*TEXTS, *LANGUAGE],
    "reproduce": ["featurize_model_name:ngrams|num_buckets:4", *TEXTS],
    "demo": [],
    "featurize": ["HUMAN", "-o", "features.npz", *LANGUAGE],
    "generate": ["HUMAN", "-o", "written.jsonl", "--model", "no/model"],
    "lm-eval-task": ["HUMAN", "-o", "task", "--prompt-words", "1"],
    "deduplicate": ["HUMAN"],
    "memorised": ["MODEL", "HUMAN", "--length", "2"],
    "preferences": ["PREFERENCES"],
    "boundaries": ["GUESSES"],
    "cache": ["info"],
    "serve": [],
    "warnings": [],
    "errors": [],
}
# Bad values of flags that take a text; flags of numbers and choices are given "no!", and switches a value.
BAD = {
    "--text-field": "nowhere",
    "--reference-field": "nowhere",
    "--prediction-field": "nowhere",
    "--prompts": "nowhere.txt",
    "--device": "cpu:x",
    "--score-device": "cpu:x",
    "--cache": " ",
    "--checkpoint": " ",
    "--ray": " ",
    "--featurizer": " ",
    "--featurize-model-name": " ",
    "--text-prefix": "x" * 1001,
    "--language-model": " ",
    "--model": " ",
    "--server": "nowhere",
    "--tokenizer": " ",
    "--training": "nowhere.txt",
    "--prompt-field": "nowhere",
    "--reference-name": "two\nlines",
    "--perturbations": "nowhere",
    "--against": "nowhere.jsonl",
    "--with": "nowhere.json",
    "--answer": "nowhere",
    "--name": "no name!",
    "--host": " ",
}
BAD_OUTPUT = "HUMAN/inside"  # a file is no folder
# A name that no model has, with which none is left out; a file that is read when the task is scored.
ANY_TEXT = {"preferences --human", "lm-eval-task --prompts"}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    monkeypatch.setattr(whole_cli, "parser", lambda everything=False, commands=(): WHOLE)  # built once
    monkeypatch.chdir(tmp_path)
    (tmp_path / "preferences.csv").write_text("winner,loser\na,b\nb,a\n", encoding="utf-8")
    (tmp_path / "guesses.csv").write_text("boundary,guess\n4,5\n3,2\n", encoding="utf-8")
    for number, name in enumerate(("human", "model", "other")):
        write_jsonl(tmp_path / f"{name}.jsonl", texts_of(20, seed=number))
    return {path.stem.upper(): path for path in tmp_path.iterdir()}


def flags_of(command: str) -> list[argparse.Action]:
    """The flags of a command, but for help."""
    (choices,) = (item for item in WHOLE._actions if isinstance(item, argparse._SubParsersAction))
    own = choices.choices[command]._actions
    return [item for item in own if item.option_strings and not isinstance(item, argparse._HelpAction)]


def bad_arguments(action: argparse.Action) -> list[str]:
    """A flag with a bad value; with one that is too large too, where the flag counts something."""
    flag = action.option_strings[0]
    if action.nargs == 0:
        return [f"{flag}=yes"]
    if flag == "-o":
        return [f"--output={BAD_OUTPUT}"]
    too_large = [f"{flag}={'9' * 30}"] if action.type is count else []
    return [f"{flag}={BAD.get(flag, 'no!')}", *too_large]


def hashes(files: dict[str, Path]) -> dict[str, str]:
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


def test_every_command_is_in_the_table() -> None:
    assert set(GIVEN) == set(COMMANDS)


@pytest.mark.parametrize("command", GIVEN)
def test_each_flag_once_with_a_bad_value(
    command: str, files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, wrong = hashes(files), []
    for action, given in [(flag, given) for flag in flags_of(command) for given in bad_arguments(flag)]:
        flag, _, value = given.partition("=")
        if f"{command} {flag}" in ANY_TEXT:
            continue
        rest = GIVEN[command]
        if flag == "--output" and "-o" in rest:
            rest = [part for part in rest if part not in ("-o", "task", "features.npz", "written.jsonl")]
        arguments = [command, *(str(files.get(part, part)) for part in rest)]
        arguments.append(given.replace("HUMAN", str(files["HUMAN"])))
        try:
            status: object = main(arguments)
        except SystemExit as caught:
            status = caught.code
        out, err = capsys.readouterr()
        last = err.rstrip("\n").split("\n")[-1]
        names = ("human.jsonl/inside", flag, action.dest, flag.lstrip("-").replace("-", "_"), value.strip() or flag)
        named = any(name in last for name in (*names, *action.option_strings))
        if status not in (1, 2) or out or "Traceback" in err or not named or len(last) > 900:
            wrong.append((given, status, out[:80], last[:300]))
    assert not wrong, json.dumps(wrong, indent=1, default=str)
    assert hashes(files) == before
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in files.values()}


@pytest.mark.parametrize("command", [name for name, given in GIVEN.items() if any(part.isupper() for part in given)])
@pytest.mark.parametrize("stem", ["nowhere", "n" * 5000])  # the second is longer than a file system takes
def test_each_file_once_missing(
    command: str, stem: str, files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for place, part in enumerate(GIVEN[command]):
        if part not in files:
            continue
        missing = files[part].with_name(f"{stem}{files[part].suffix}")
        given = [str(files.get(other, other)) for other in GIVEN[command]]
        given[place] = str(missing)
        assert main([command, *given]) == 1, given
        out, err = capsys.readouterr()
        last = err.rstrip("\n").split("\n")[-1]
        assert out == "" and missing.name[:30] in last and len(last) < 600
        assert ("there is no file" in last and "[no_file]" in last) or "File name too long" in last
