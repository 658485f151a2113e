"""lm-evaluation-harness: what its tasks name, the task that is written for it, and a run from end to end."""

from __future__ import annotations

import json
import logging
import math
import random
from pathlib import Path
from typing import Any

import pytest
from samples import HUMAN, MODEL, ngrams, texts_of

from mauve_metric import compute_mauve, read_texts
from mauve_metric.hosts.cli.main import main
from mauve_metric.hosts.harness import lm_eval as host
from mauve_metric.hosts.harness.lm_eval_task import write_task
from mauve_metric.hosts.harness.pair_scores import SCORES
from mauve_metric.runtime.errors import WrongOption

OPTIONS: dict[str, Any] = {"featurize_model_name": ngrams, "num_buckets": 4, "num_runs": 1}
PAIRS = list(zip(HUMAN[:24], MODEL, strict=True))


def documents(functions: host.TaskFunctions, pairs: list[tuple[str, str]] = PAIRS) -> list[dict[str, host.Pair]]:
    return [functions.process_results({"target": human}, [model]) for human, model in pairs]


# --- the functions ------------------------------------------------------------------------------------------------


@pytest.mark.more
def test_every_number_is_that_of_the_pairs_in_their_order() -> None:
    functions = host.task_functions(**OPTIONS)
    pairs = [(human, f"Rain fell on {row} of all {row * 7 % 11} ships, and on us.") for row, human in enumerate(HUMAN)]
    found = documents(functions, pairs)
    expected = compute_mauve(
        p_text=[pair[0] for pair in pairs], q_text=[pair[1] for pair in pairs], aligned=True, **OPTIONS
    )
    assert all(list(row) == list(SCORES) for row in found)
    numbers = {name: getattr(functions, name)([row[name] for row in found]) for name in SCORES}
    assert expected.closeness_ci is not None and expected.closeness is not None
    assert expected.closeness_ci[0] <= expected.closeness <= expected.closeness_ci[1]
    assert expected.verdict == "different"
    assert numbers == {
        "verdict": -1,
        "mauve": expected.mauve,
        "closeness": expected.closeness,
        "mauve_debiased": expected.mauve_debiased,
        "closeness_ci_low": expected.closeness_ci[0],
        "closeness_ci_high": expected.closeness_ci[1],
        "mauve_classifier": expected.mauve_classifier,
        "auc": expected.auc,
        "precision": expected.precision,
        "recall": expected.recall,
    }


@pytest.mark.more
def test_the_order_of_several_processes_does_not_move_the_debiased_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mauve_metric.scoring.without_layout.MOST_AGAIN", 0)  # texts are read once
    calls = []

    def counted(texts: list[str]) -> Any:
        calls.append(len(texts))
        return ngrams(texts)

    functions = host.task_functions(**{**OPTIONS, "featurize_model_name": counted})
    items = [row["mauve"] for row in documents(functions)]
    one = functions.mauve_debiased(items)
    once = len(calls)  # the two sides, and where format differs both without it
    assert functions.recall(items) >= 0 and len(calls) == once <= 4
    chained = items[::3] + items[1::3] + items[2::3]  # of three processes
    shuffled = random.Random(0).sample(items, len(items))
    assert functions.mauve_debiased(chained) == functions.mauve_debiased(shuffled) == one
    functions.mauve(items[:-1])
    assert len(calls) == 4 * once


@pytest.mark.parametrize("name", SCORES)
def test_scoring_a_single_document_is_refused_with_the_right_setting(name: str) -> None:
    # as lm_eval/api/task.py calls the function of a metric
    with pytest.raises(ValueError, match=f"aggregation: !function mauve_metric.hosts.harness.lm_eval.{name}") as caught:
        getattr(host, name)(references=["a"], predictions=["b"])
    assert "process_results: !function mauve_metric.hosts.harness.lm_eval.process_results" in str(caught.value)
    with pytest.raises(ValueError, match="cannot score one document by itself"):
        getattr(host, name)(["a", "b"])


def test_a_document_without_its_text_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="no field 'target', only 'story', 'id'"):
        host.process_results({"story": "x", "id": 1}, ["y"])
    assert host.task_functions("story").process_results({"story": "x"}, ["y"])["mauve"] == ("x", "y")
    with pytest.raises(TypeError, match="the field 'target' must be one text, got list"):
        host.process_results({"target": ["x"]}, ["y"])
    with pytest.raises(ValueError, match=r"one text a document .* got 2 results"):
        host.process_results({"target": "x"}, ["y", "z"])
    assert host.process_results({"target": "x"}, [["y"]])["recall"] == ("x", "y")


def test_a_failed_score_is_nan_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    functions = host.task_functions(**OPTIONS)
    with caplog.at_level(logging.ERROR, logger="mauve_metric"):
        assert math.isnan(functions.mauve([*PAIRS, ("human", " "), ("another", "")]))
        unknown = host.task_functions(featurize_model_name=lambda texts: [{}[text] for text in texts])
        assert math.isnan(unknown.mauve(PAIRS))  # an error of a user's own function does not end the run either
    assert "2 of 26 texts of the model are empty" in caplog.text and "MAUVE is NaN: KeyError: " in caplog.text
    dropping = host.task_functions(**OPTIONS, empty_texts="drop")
    assert dropping.mauve([*PAIRS, ("human", " ")]) > 0


def test_a_wrong_option_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="num_bucket"):
        host.task_functions(num_bucket=3)  # type: ignore[call-arg]
    with pytest.raises(WrongOption, match="independent must be left out: the two texts of a document depend on each"):
        host.task_functions(independent=True)
    with pytest.raises(WrongOption, match="strip='prompts' needs the prompts"):
        host.task_functions(strip="prompts")
    with pytest.raises(WrongOption, match="match_lengths='truncate' needs a featurizer with tokens"):
        host.task_functions(match_lengths="truncate", featurize_model_name="ngrams")
    with pytest.raises(WrongOption, match=r"server must be the address of the server for .*'server:one', got none"):
        host.task_functions(featurize_model_name="server:one")
    with pytest.raises(WrongOption, match="score_device must be a device that torch has here"):
        host.task_functions(score_device="cuda:4096")
    with pytest.raises(ValueError, match="device 'cuda:4096' does not exist"):
        host.task_functions(device="cuda:4096")


# --- the task -----------------------------------------------------------------------------------------------------


def test_the_command_writes_a_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "my stories.txt"
    source.write_text("one two  three four\nshort\nfive six seven\n", encoding="utf-8")
    folder = tmp_path / "tasks"
    command = ["lm-eval-task", str(source), "-o", str(folder), "--prompt-words", "2", "--num-buckets", "7"]
    assert main([*command, "--new-tokens", "9"]) == 0
    out, err = capsys.readouterr()
    assert out == (
        f"lm_eval --model hf --model_args pretrained=MODEL --include_path {folder} --tasks my_stories "
        "--log_samples --output_path results\n"
    )
    assert "2 documents" in err and "1 text is left out" in err
    rows = [json.loads(line) for line in (folder / "my_stories_documents.jsonl").read_text("utf-8").splitlines()]
    assert rows == [{"prompt": "one two", "target": "three four"}, {"prompt": "five six", "target": "seven"}]
    task = (folder / "my_stories.yaml").read_text("utf-8")
    assert "max_gen_toks: 9" in task and "!function my_stories_mauve.closeness_ci_low" in task
    assert str(tmp_path) not in task
    space: dict[str, Any] = {}
    exec((folder / "my_stories_mauve.py").read_text("utf-8"), space)
    assert space["OPTIONS"] == {"num_buckets": 7}
    assert space["process_results"]({"target": "x"}, ["y"])["mauve"] == ("x", "y")


def test_wrong_input_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "texts.txt"
    source.write_text("one two\nthree\n", encoding="utf-8")
    assert main(["lm-eval-task", str(source), "-o", str(tmp_path), "--prompt-words", "5"]) == 1
    assert "none of 2 texts has more than --prompt-words 5 words" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["lm-eval-task", str(source), "-o", str(tmp_path), "--name", "a b"])
    assert "name must be letters, digits, _ and -" in capsys.readouterr().err
    assert (
        main(["lm-eval-task", str(source), "-o", str(tmp_path / "task"), "--prompt-words", "1", "--independent"]) == 1
    )
    assert "--independent must be left out" in capsys.readouterr().err and not (tmp_path / "task").exists()
    assert main(["lm-eval-task", str(source), "-o", str(source), "--prompt-words", "1"]) == 1
    assert str(source) in capsys.readouterr().err
    assert read_texts(source) == ["one two", "three"]
    elsewhere = ["--prompt-words", "1", "--device", "cuda:4096"]  # a device of the machine that runs the task
    assert main(["lm-eval-task", str(source), "-o", str(tmp_path / "task"), *elsewhere]) == 0


# --- the harness itself -------------------------------------------------------------------------------------------


@pytest.fixture
def evaluated(tmp_path: Path, tiny_gpt2: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a task of a folder with a tiny model, offline."""
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "datasets"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    harness = pytest.importorskip("lm_eval", reason="needs lm-evaluation-harness: pip install 'lm_eval==0.4.13'")
    from lm_eval.tasks import TaskManager

    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    folder = tmp_path / "model"
    transformers.AutoTokenizer.from_pretrained(tiny_gpt2).save_pretrained(folder)
    config = transformers.AutoConfig.from_pretrained(tiny_gpt2, bos_token_id=0, eos_token_id=0)
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)

    def run(tasks: Path, name: str) -> Any:
        return harness.simple_evaluate(
            model="hf",
            model_args={"pretrained": str(folder), "device": "cpu"},
            tasks=[name],
            batch_size=16,
            task_manager=TaskManager(include_path=str(tasks), include_defaults=False),
            bootstrap_iters=10,
        )

    return run


@pytest.mark.slow
def test_the_harness_runs_the_task_and_its_samples_give_the_same_numbers(
    tmp_path: Path, evaluated: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "human.txt"
    source.write_text("\n".join(texts_of(24, shortest=8)), encoding="utf-8")
    options = ["--featurize-model-name", str(tmp_path / "model"), "--num-buckets", "4", "--empty-texts", "drop"]
    command = ["lm-eval-task", str(source), "-o", str(tmp_path / "tasks"), "--prompt-words", "4", "--new-tokens", "8"]
    assert main([*command, "--name", "my-story", *options]) == 0
    (tmp_path / "tasks").rename(tmp_path / "moved")
    found = evaluated(tmp_path / "moved", "my-story")
    numbers = found["results"]["my-story"]
    samples = found["samples"]["my-story"]
    assert len(samples) == 24
    pairs = [(sample["target"], sample["filtered_resps"][0]) for sample in samples]
    expected = compute_mauve(
        p_text=[pair[0] for pair in pairs],
        q_text=[pair[1] for pair in pairs],
        featurize_model_name=str(tmp_path / "model"),
        num_buckets=4,
        empty_texts="drop",
        aligned=True,
    )
    assert expected.closeness_ci is not None and 0 < expected.mauve < 1
    assert numbers["mauve,stripped"] == expected.mauve
    assert numbers["closeness_ci_low,stripped"] == expected.closeness_ci[0]
    assert numbers["precision,stripped"] == expected.precision
    assert numbers["mauve_debiased_stderr,stripped"] == "N/A"
    notes = found["configs"]["my-story"]["metadata"]["mauve"]
    assert notes["signature"] == expected.signature
    assert [note.split(":")[0] for note in notes["warnings"]] == [warning.code for warning in expected.warnings]
    assert found["higher_is_better"]["my-story"] == {**dict.fromkeys(SCORES, True), "auc": False}


def test_a_task_includes_the_packaged_file_and_a_wrong_one_is_reported(tmp_path: Path, evaluated: Any) -> None:
    folder = tmp_path / "tasks"
    assert write_task(texts_of(4, shortest=8), folder, "given", prompt_words=4, new_tokens=4) == 4
    head = (folder / "given.yaml").read_text("utf-8").split("output_type:")[0]
    wrong = head + (
        "output_type: generate_until\nmetric_list:\n  - metric: !function mauve_metric.hosts.harness.lm_eval.mauve\n"
        "    aggregation: !function mauve_metric.hosts.harness.lm_eval.mauve\n    higher_is_better: true\n"
    )
    (folder / "wrong.yaml").write_text(wrong.replace('task: "given"', 'task: "wrong"'), encoding="utf-8")
    with pytest.raises(ValueError, match="cannot score one document by itself"):
        evaluated(folder, "wrong")
    from lm_eval.tasks._yaml_loader import load_yaml

    own = head.replace('task: "given"', 'task: "own"') + f"include: {host.INCLUDE}\n"
    (folder / "own.yaml").write_text(own, encoding="utf-8")
    loaded = load_yaml(folder / "own.yaml")
    assert loaded["process_results"] is host.process_results
    assert [entry["aggregation"] for entry in loaded["metric_list"]] == [getattr(host, name) for name in SCORES]


@pytest.mark.parametrize("name", ["null", "true", "No", "y", "on", "_", "nan", "Null", "e5", "my-story"])
def test_a_name_that_yaml_has_a_meaning_for_stays_a_name(tmp_path: Path, name: str) -> None:
    import yaml

    write_task(texts_of(4, shortest=8), tmp_path, name, prompt_words=4, new_tokens=4)
    events = yaml.parse((tmp_path / f"{name}.yaml").read_text("utf-8"))
    scalars = [(event.value, event.implicit) for event in events if isinstance(event, yaml.ScalarEvent)]
    assert scalars[1] == (name, (False, True))  # in quotes: text, whatever it looks like
    lines = (tmp_path / f"{name}.yaml").read_text("utf-8").splitlines()
    assert yaml.safe_load(next(line for line in lines if line.startswith("task:"))) == {"task": name}
