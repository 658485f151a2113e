"""No command changes what it reads: every input has the bytes of before, whatever the outputs are called.

The arguments that are read and written are taken from the parsers, so that a new one is tried as well.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from samples import texts_of, write_jsonl

from mauve_metric import FeatureSet
from mauve_metric.hosts.cli.flags import CommandParser
from mauve_metric.hosts.cli.main import main, parser

TEXTS = {"human": texts_of(40, seed=0), "model": texts_of(40, seed=1, longest=20)}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inputs of every kind, made once."""
    folder = tmp_path_factory.mktemp("sources")
    rng = np.random.default_rng(0)
    for number, (name, texts) in enumerate(TEXTS.items()):
        write_jsonl(folder / f"{name}.jsonl", texts)
        (folder / f"{name}.json").write_text(json.dumps(texts))
        (folder / f"{name}_texts").mkdir()
        (folder / f"{name}_shards").mkdir()
        write_jsonl(folder / f"{name}_shards" / "0.jsonl", texts)
        for index, text in enumerate(texts[:8]):
            (folder / f"{name}_texts" / f"{index}.txt").write_text(text)
        FeatureSet(rng.normal(size=(40, 3)) + number).save(folder / f"{name}.npy")
        FeatureSet(rng.normal(size=(40, 3)) + number).save(folder / f"{name}.npz")
    np.savez(folder / "clustering.npz", features=rng.normal(size=(40, 3)))
    shutil.copy(folder / "human.jsonl", folder / "x_documents.jsonl")
    (folder / "t.npy.json").write_text(json.dumps(TEXTS["human"]))
    (folder / "other.npy.json").write_text("{}")
    (folder / "preferences.csv").write_text("winner,loser\na,b\nb,a\na,b\n")
    (folder / "guesses.csv").write_text("boundary,guess\n3,3\n4,5\n")
    (folder / "link.jsonl").symlink_to("human.jsonl")
    return folder


@pytest.fixture(scope="module")
def before(sources: Path) -> dict[str, str]:
    """The hashes of the inputs of each test."""
    found = hashes(sources)
    return found | {"hard.jsonl": found["human.jsonl"]}


@pytest.fixture
def inputs(sources: Path, before: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the inputs, the current folder of the test; it is compared with what it was afterwards."""
    folder = tmp_path / "work"
    shutil.copytree(sources, folder, symlinks=True, copy_function=shutil.copyfile)
    (folder / "hard.jsonl").hardlink_to(folder / "human.jsonl")
    monkeypatch.chdir(folder)
    yield folder
    after = hashes(folder)
    assert {name: after.get(name) for name in before} == before


def hashes(folder: Path) -> dict[str, str]:
    """A hash of each file below a folder."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                found[path.removeprefix(f"{folder}{os.sep}")] = hashlib.sha256(file.read()).hexdigest()
    return found


SCORE = "score human.npz model.npz --num-buckets 4 -q"
BY_NGRAMS = "--featurizer ngrams --num-buckets 4 --no-cache -q"
REFUSED = [
    "score human.json model.json --plot human.json",
    "score human.npy model.npy --plot model.npy.json",
    "score human_texts model.jsonl --plot human_texts/figure.svg",
    "score clustering.npz model.npz --checkpoint .",
    "score human_shards model_shards -o human_shards",
    "score human_shards model_shards -o .. --checkpoint human_shards --featurizer ngrams",
    "compare human.json model.json --plot model.json",
    "compare human.json a=model.json --plot model.json",
    "compare human.jsonl model_texts --report model_texts/report.html",
    "compare human.npz model.npz --plot new.html --report new.html",
    "describe human.json model.json --training human_texts --report human_texts/new.html",
    "robustness human.json model.json --plot human.json",
    "stress-test human.json --plot human.json",
    "explain human.json model.json --plot model.json",
    "featurize human.json -o t.npy",
    "featurize t.npy.json -o t.npy",
    "featurize human.jsonl -o other.npy",
    "featurize human_texts -o human_texts/features.npz",
    "deduplicate human.jsonl -o human.jsonl",
    "deduplicate human.jsonl -o link.jsonl",
    "deduplicate link.jsonl -o human.jsonl",
    "deduplicate human.jsonl -o hard.jsonl",
    "deduplicate model.jsonl --against human.jsonl -o human.jsonl",
    "deduplicate model.jsonl --against model_texts human.jsonl -o ./human_texts/../human.jsonl",
    "deduplicate human_texts -o human_texts/0.txt",
    "deduplicate human_texts -o human_texts/new.txt",
    "lm-eval-task x_documents.jsonl -o . --name x --prompt-words 2",
    "lm-eval-task human.jsonl -o . --name x --prompt-words 2",
    "preferences preferences.csv --with human.json --plot human.json",
    "preferences preferences.csv --with human_texts --report human_texts/report.html",
]


@pytest.mark.parametrize("command", REFUSED)
def test_an_output_that_would_change_an_input_is_refused(
    inputs: Path, before: dict[str, str], command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == 1
    error = capsys.readouterr().err
    assert "is to be written" in error or "would replace" in error
    made = set(hashes(inputs)) - set(before)
    assert not {name for name in made if not name.startswith("features")}


def _parsers() -> dict[str, CommandParser]:
    """The parser of each command."""
    (commands,) = (action for action in parser(True)._actions if isinstance(action, argparse._SubParsersAction))
    return dict(commands.choices)


def _takes_text(action: argparse.Action) -> bool:
    """Return whether an argument passes on any text that it is given."""
    if action.nargs == 0 or action.choices is not None:
        return False
    try:
        return action.type is None or isinstance(action.type("a.html"), str)  # type: ignore[operator]
    except (argparse.ArgumentTypeError, ValueError, TypeError):
        return False


PARSERS = _parsers()
SPELLINGS = ["link", "hard link", "other spelling", "in a folder", "NAME=FILE"]  # of a file that is read and written
OUTPUTS = {"plot": "json", "report": "html", "output": "jsonl"}  # the ending of a file that the argument takes
WORDS = {  # arguments with a free text that name no file
    *("by", "codes", "answers", "decoder", "device", "score_device", "featurize_device_type", "filter", "name"),
    *(
        "measures",
        "perturbations",
        "prediction_field",
        "prompt_field",
        "reference_field",
        "reference_name",
        "text_field",
    ),
    *("ray", "strip", "text_prefix", "cache", "checkpoint", "vary", "server", "host", "encoding"),
}
READ = {
    *("human", "model", "models", "texts", "training", "baseline", "against", "other_pair", "corpus", "prompts"),
    *("featurizers", "featurize_model_name", "language_model", "tokenizer", "measures", "preferences", "guesses"),
    "signature",
}


def test_every_argument_with_a_free_text_is_a_file_or_a_word() -> None:
    read = {(name, action.dest) for name, own in PARSERS.items() for action in own._actions if own._is_read(action)}
    free = {(name, item.dest) for name, own in PARSERS.items() for item in own._actions if _takes_text(item)}
    written = {(name, dest) for name, own in PARSERS.items() for dest in own._outputs}
    assert {dest for _, dest in read & free} == READ, "is the new argument the name of a file? Its metavar says so"
    assert {dest for _, dest in written} == {*OUTPUTS, "folder"}
    words = {dest for _, dest in free - read - written}
    assert words <= WORDS | {"human"}, "a new word? One that names a file must not have such a metavar"
    assert [name for name, dest in free - read if dest == "human"] == ["preferences"]  # where it is a model's name


def _pairs() -> list[tuple[str, str, str]]:
    """Each command with each argument that it reads and each that it writes."""
    return [
        (name, action.dest, output)
        for name, own in PARSERS.items()
        for action in own._actions
        if own._is_read(action) and _takes_text(action)
        for output in own._outputs
        if output in OUTPUTS
    ]


def _words_for(action: argparse.Action, value: str) -> list[str]:
    """An argument with a value, as on the command line."""
    return [action.option_strings[0], value] if action.option_strings else [value]


@pytest.mark.parametrize("spelling", ["plain", *(pytest.param(other, marks=pytest.mark.more) for other in SPELLINGS)])
@pytest.mark.parametrize(("command", "read", "output"), _pairs())
def test_no_argument_that_is_read_is_overwritten(
    inputs: Path, capsys: pytest.CaptureFixture[str], command: str, read: str, output: str, spelling: str
) -> None:
    own, ending = PARSERS[command], OUTPUTS[output]
    ending = "npz" if (command, output) == ("featurize", "output") else ending
    source = inputs / f"source.{ending}"
    source.write_text("to be kept")
    target, value = f"source.{ending}", str(source)
    if spelling in ("link", "hard link"):
        target = f"target.{ending}"
        (inputs / target).symlink_to(source) if spelling == "link" else (inputs / target).hardlink_to(source)
    elif spelling == "other spelling":
        target = f"./human_texts/../source.{ending}"
    elif spelling == "in a folder":
        (inputs / "folder").mkdir()
        (inputs / "folder" / "linked.txt").symlink_to(source)
        value = "folder"
    elif spelling == "NAME=FILE":
        if read not in ("models", "human", "training", "featurizers"):
            return
        value = f"a={source}"
    words = [command]
    for action in own._actions:
        if action.dest == output:
            words += _words_for(action, target)
        elif action.dest == read:
            words += _words_for(action, value)
        elif action.choices is None and (action.required or not action.option_strings):
            words += _words_for(action, "human.jsonl")
    assert main(words) == 1
    assert "would replace" in capsys.readouterr().err
    assert source.read_text() == "to be kept"


WRITTEN = {
    f"{SCORE} --plot figure.json": ["figure.json"],
    "score human_shards model_shards -o out --featurizer ngrams --num-buckets 4 -q": ["out/features"],
    "compare human.npz model.npz --num-buckets 4 -q --plot figure.json": ["figure.json"],
    "describe human.npz model.npz --num-buckets 4 -q --measures score --report report.html": ["report.html"],
    "explain human.npz model.npz --num-buckets 4 -q --plot figure.json": ["figure.json"],
    "featurize human_texts --featurizer ngrams --no-cache -o new.npy -q": ["new.npy", "new.npy.json"],
    "featurize human.json --featurizer ngrams --no-cache -o human.npy -q": ["human.npy"],
    "deduplicate model.jsonl --against human.jsonl human_texts -o kept.jsonl": ["kept.jsonl"],
    "lm-eval-task human.jsonl -o . --name y --prompt-words 2": ["y.yaml", "y_documents.jsonl"],
    "memorised model.jsonl human_texts human.jsonl --length 5": [],
    "preferences preferences.csv": [],
    "boundaries guesses.csv": [],
}


@pytest.mark.more
@pytest.mark.parametrize("command", WRITTEN)
def test_a_command_leaves_its_inputs_as_they_were(
    sources: Path, before: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    folder = tmp_path / "work"
    shutil.copytree(sources, folder, symlinks=True)
    (folder / "hard.jsonl").hardlink_to(folder / "human.jsonl")
    monkeypatch.chdir(folder)
    for _ in range(2 if "featurize" in command or "lm-eval" in command else 1):  # what it wrote itself it may replace
        assert main(command.split()) == 0
    after = hashes(folder)
    named = WRITTEN[command]
    assert all((folder / name).exists() for name in named)
    changed = {name for name in before if after.get(name) != before[name]}
    assert changed <= {*named, *(f"{name}.json" for name in named)}


@pytest.mark.parametrize("command", ["score", "compare", "explain"])
def test_the_signature_follows_the_line_of_quiet(
    command: str, sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [command, str(sources / "human.npz"), str(sources / "model.npz"), "--quiet"]
    assert main(arguments) == 0
    line = capsys.readouterr().out
    assert main([*arguments, "--signature"]) == 0
    shown, signature = capsys.readouterr().out.split("\nsignature: ")
    assert shown.strip() == line.strip() and "num_buckets:" in signature
