"""Flags: one for each option, checked before any work, and places that cannot be written."""

from __future__ import annotations

import argparse
import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from changed_options import CHANGES
from commands import OUTPUTS, command_for, input_error, target_of, usage_error
from samples import HUMAN, MODEL, write_jsonl

from mauve_metric import __version__, compute_mauve
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.hosts.cli.flags import Featurizers, Switch
from mauve_metric.hosts.cli.main import COMMANDS, main, parse, parser
from mauve_metric.options import config_fields


@pytest.mark.more
@pytest.mark.parametrize("name", config_fields())
def test_every_field_of_the_config_is_a_flag(
    name: str, files: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flag = f"--{name.replace('_', '-')}"
    own = config_fields()[name].metadata["of"]
    with_it = (
        {}
        if own in (None, "kmeans") and name != "quantizer"
        else {"quantizer": own, "drmm_steps": 20, "lattice_epochs": 1}
    )
    with_it = {key: value for key, value in with_it.items() if key != name}
    value = CHANGES[name]
    arguments = [flag] if value is True else [flag, str(value)]
    seen: dict[str, Any] = {}
    made: list[Any] = []

    @functools.wraps(compute_mauve)
    def spy(**options: Any) -> Any:
        seen.update(options)
        texts_only = config_fields()[name].metadata["stage"] == "featurize"  # features ignore or refuse these
        made.append(compute_mauve(**{key: value for key, value in options.items() if key != name or not texts_only}))
        return made[-1]

    monkeypatch.setattr("mauve_metric.scoring.compute.compute_mauve", spy)
    for key, other in with_it.items():
        arguments += [f"--{key.replace('_', '-')}", str(other)]
    assert main(["score", *files, *arguments, "--json"]) == 0
    assert seen[name] == value and type(seen[name]) is type(value)
    assert {key: seen[key] for key in with_it} == with_it
    signature = json.loads(capsys.readouterr().out)["signature"]
    assert signature == made[0].signature
    if config_fields()[name].metadata["stage"] != "featurize":
        assert f"|{name}:{value}|" in f"|{signature}|"


def test_values_of_flags_are_checked_as_usage(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    for flag, value, message in (
        ("--num-buckets", "0", "argument --num-buckets: must be an integer from 1"),
        ("--num-buckets", "ten", "must be an integer from 1 .* or 'auto', got 'ten'"),
        ("--num-buckets", "2.5", "--num-buckets: must be"),
        ("--mauve-scaling-factor", "nan", "--mauve-scaling-factor: must be a number"),
        ("--row-order", "qq", "--row-order: must be one of 'qp', 'pq'"),
        ("--pooling", "max", "--pooling: must be one of"),
        ("--batch-size", "many", "invalid int value"),
    ):
        assert re.search(message, usage_error(["score", *files, flag, value], capsys)), (flag, value)


def test_help_names_every_flag_and_its_default(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {}
    for flag in ("--help", "--help-all"):
        with pytest.raises(SystemExit) as caught:
            main(["score", flag])
        assert caught.value.code == 0
        shown[flag] = " ".join(capsys.readouterr().out.split())
    common = {name for name, item in config_fields().items() if item.metadata["common"]}
    assert 5 < len(common) < 10
    assert {name for name in config_fields() if f"--{name.replace('_', '-')}" in shown["--help"]} == common
    words = shown["--help-all"]
    assert "for --strip prompts: a file" in words
    for name, knob in config_fields().items():
        assert f"--{name.replace('_', '-')}" in words
        assert knob.default is None or knob.default is False or f"(default: {knob.default})" in words, name


def test_the_featurizer_has_a_short_flag_everywhere(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["explain", *files], ["baseline", files[0]], ["demo"]):
        assert parse([*command, "--featurizer", "ngrams"]).featurize_model_name == "ngrams"
        twice = usage_error([*command, "--featurizer", "minilm", "--featurizer", "ngrams"], capsys)
        assert "argument --featurizer: this command takes one, got minilm and ngrams" in twice


def test_flags_that_contradict_each_other_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--no-cache", "--cache", "one"], ["--drop-missing", "--empty-texts", "error"]):
        for order in (words, [*words[1:], words[0]]):
            assert "this command takes one, got" in usage_error(["score", "a.txt", "b.txt", *order], capsys)
    assert parse(["score", "a.txt", "b.txt", "--no-cache", "--no-cache", "--drop-missing"]).cache is False


@pytest.mark.more
@pytest.mark.parametrize("command", COMMANDS)
def test_a_flag_with_two_values_is_wrong_usage(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One would be lost. Flags for several values have lists."""
    of_command = parser(commands=[command])

    def is_accepted(words: list[str]) -> bool:
        try:
            of_command.parse_args(words)
        except SystemExit:
            return False
        return True

    refused, complete = 0, [command, *_COMPLETE.get(command, ["a", "b"])]
    for action in of_command.parse_args(complete).parser._actions:
        complete = [command, *_COMPLETE.get(command, ["a", "b"])]
        if action.required and action.option_strings:
            at = complete.index(action.option_strings[0])
            del complete[at : at + 2]
        if isinstance(action, Switch):
            values = [action.option_strings[0], action.option_strings[-1]]
        elif action.option_strings and action.nargs != 0:
            of_help = re.findall(r"[\w-]+", f"{action.choices} {action.metavar} {action.help}")
            tried = [f"{action.option_strings[0]}={value}" for value in dict.fromkeys((*_VALUES, *of_help))]
            values = [words for words in tried if is_accepted([*complete, words])]
        else:
            continue
        assert len(values) > 1, action
        is_list = isinstance(action, argparse._AppendAction | Featurizers)
        assert is_accepted([*complete, *values[:2]]) == is_list, action
        assert is_accepted([*complete, values[0], values[0]]), action
        refused += not is_list
    assert capsys.readouterr().err.count("this command takes one, got") == refused


_COMPLETE: dict[str, list[str]] = {
    **{name: [] for name in ("demo", "serve", "warnings", "errors")},
    **{name: ["a"] for name in ("baseline", "stress-test", "deduplicate", "preferences", "boundaries")},
    "featurize": ["a", "-o", "b.npz"],
    "generate": ["a", "--model", "m", "-o", "b.jsonl"],
    "lm-eval-task": ["a", "-o", "b.yaml"],
    "cache": ["info"],
}
_VALUES = (
    *(
        "1",
        "2",
        "3",
        "0.5",
        "0.6",
        "auto",
        "mauve=higher",
        "mauve=lower",
        "seed",
        "n",
        "greedy",
        "sampling",
        "ray://a:1",
    ),
    *(f"{name}.{ending}" for name in "ab" for ending in ("json", "html", "png", "npz", "jsonl", "yaml")),
)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0 and capsys.readouterr().out.strip().endswith(__version__)


def test_wrong_usage(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as listed:
        main([])
    assert listed.value.code == 0 and {*COMMANDS} <= {*capsys.readouterr().out.split()}
    assert "there is no command 'skore' (did you mean 'score'?)" in usage_error(["skore", *files], capsys)
    assert "a command comes first, such as `mauve-metric score HUMAN MODEL`" in usage_error([*files], capsys)
    assert "(did you mean '--featurizer'?)" in usage_error(["score", *files, "--featurzer", "minilm"], capsys)
    assert "(--json prints to standard output: write --json > a.json)" in usage_error(
        ["score", *files, "--json", "a.json"], capsys
    )
    assert "did you mean" not in usage_error(["deduplicate", files[0], "--rows", "3"], capsys)
    assert usage_error(["score", *files, "--seed", "x"], capsys).count("\n") == 2
    assert "MODEL" in usage_error(["score", files[0]], capsys)
    assert "--num-bucket-count" in usage_error(["score", *files, "--num-bucket-count", "3"], capsys)


def test_the_advice_on_warnings_names_flags(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warnings", "rows_look_aligned"]) == 0
    out = capsys.readouterr().out
    assert "--aligned" in out and "aligned=True" not in out


@pytest.mark.parametrize("flag", OUTPUTS)
def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    flag: str, files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(FeatureSet, "load", None)  # nothing is read
    target = target_of(flag, tmp_path / "nowhere")
    message = input_error(command_for(flag, target, files, tmp_path, "no-such-model"), capsys)
    assert f"'{target}' cannot be written: there is no folder" in message
    target = target_of(flag, tmp_path)
    target.mkdir()
    message = input_error(command_for(flag, target, files, tmp_path, "no-such-model"), capsys)
    assert f"'{target}' cannot be written: it is a folder" in message


@pytest.mark.parametrize("command", ["score", "compare", "explain"])
def test_an_error_about_the_featurizer_has_the_flag_of_the_help(
    command: str, files: tuple[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    human, model = write_jsonl(tmp_path / "a.jsonl", HUMAN), write_jsonl(tmp_path / "b.jsonl", MODEL)
    empty = tmp_path / "model\udcff"
    empty.mkdir()  # a name that is no UTF-8
    message = input_error([command, human, model, "--featurizer", str(empty), "-q"], capsys)
    assert "--featurizer: the folder" in message and "--featurize-model-name" not in message


def test_a_null_character_is_in_no_name_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = write_jsonl(tmp_path / "a.jsonl", HUMAN)
    assert "--output must be the name of a file, got 'a\\x00b'" in input_error(
        ["lm-eval-task", texts, "-o", "a\0b"], capsys
    )


def test_two_dashes_are_a_value_like_any_other(capsys: pytest.CaptureFixture[str]) -> None:
    options = parse(["score", "human.npz", "model.npz", "--cache=--", "--featurizer=--"])
    assert (options.cache, options.featurizers) == ("--", ["--"])
    assert parse(["deduplicate", "texts.jsonl", "--against=--"]).against == ["--"]
    for flag in ("--fail-under", "--plot", "--num-buckets", "--quantizer"):
        with pytest.raises(SystemExit):
            parse(["score", "human.npz", "model.npz", f"{flag}=--"])
        last = capsys.readouterr().err.splitlines()[-1]
        assert flag in last and "'--'" in last


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


def test_errors_in_the_shell_name_flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, texts in {"human": ["a", ""], "model": ["b", "c", "d"]}.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts))
    human, model = str(tmp_path / "human.jsonl"), str(tmp_path / "model.jsonl")
    for given, expected in {
        (model, human): "pass --drop-missing",
        (model, human, "--aligned", "--drop-missing"): "--aligned needs sets of equal size",
        (model, model, "--num-buckets", "7", "--quantizer", "drmm"): "left out with --quantizer drmm",
    }.items():
        assert main(["score", *given, "--featurizer", "ngrams"]) == 1
        said = capsys.readouterr().err
        assert expected in said and "=" not in said.replace(str(tmp_path), ""), said
    with pytest.raises(SystemExit):
        main(["score", "--model", model])
    assert "files have no flag: write HUMAN MODEL" in capsys.readouterr().err
