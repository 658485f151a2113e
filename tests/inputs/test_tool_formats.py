"""Formats of other tools, each as its own code writes it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from tools import harness_file, harness_row, harness_rows, jsonl

from mauve_metric.inputs.files import TextFile, read_texts

GOLD = ["Once there was a king.", "The sea was calm that day."]
MADE = ["Once there was a queen.", "The sea is made of glass."]


def both(path: Path, **options: Any) -> tuple[list[str], list[str]]:
    file = TextFile(path, **options)
    assert file.holds_both
    return file.side("reference").texts, file.side("prediction").texts


def test_samples_of_the_harness(tmp_path: Path) -> None:
    path = harness_file(tmp_path, "gpt2", harness_rows(GOLD, MADE))
    assert both(path) == (GOLD, MADE)
    assert both(path, reference_field="doc.story", prediction_field="resps.0.0") == (GOLD, MADE)
    file = TextFile(path)
    assert file.side("reference").origin == "lm_eval/target"
    assert file.side("prediction").origin == "lm_eval/filtered_resps/none"
    said = "2 texts from `target` (samples of lm-evaluation-harness (filter 'none'))"
    assert file.side("reference").said == f"{path}: {said}"
    assert both(path.parent) == (GOLD, MADE)  # a folder that holds one


def test_samples_that_the_harness_itself_wrote(tmp_path: Path) -> None:
    tracker = pytest.importorskip("lm_eval.loggers.evaluation_tracker").EvaluationTracker(output_path=str(tmp_path))
    tracker.general_config_tracker.log_experiment_args("hf", "pretrained=org/model", None, None, False)
    rows = [row | {"arguments": [(row["doc"]["query"], {"until": []})]} for row in harness_rows(GOLD, MADE)]
    tracker.save_results_aggregated({"results": {}, "configs": {}}, {"story": rows})
    tracker.save_results_samples("story", rows)
    assert both(tmp_path / "org__model") == (GOLD, MADE)


def test_a_filter_that_keeps_a_list_of_each_request(tmp_path: Path) -> None:
    one = harness_rows(GOLD, MADE)
    path = jsonl(tmp_path / "a.jsonl", [row | {"filtered_resps": [row["filtered_resps"]]} for row in one])
    assert both(path) == (GOLD, MADE)
    path = jsonl(tmp_path / "b.jsonl", [row | {"filtered_resps": [["One.", "Two."]]} for row in one])
    with pytest.raises(ValueError, match=r"b.jsonl, line 1: 'filtered_resps.0' holds 2 answers.*filtered_resps.0.0$"):
        both(path)
    assert both(path, prediction_field="filtered_resps.0.1")[1] == ["Two.", "Two."]


def test_several_filters_are_an_error_that_lists_them(tmp_path: Path) -> None:
    rows = harness_rows(GOLD, MADE) + harness_rows(GOLD, ["x", "y"], filter="strip")
    path = harness_file(tmp_path, "gpt2", rows)
    with pytest.raises(ValueError, match=r"by 'filter': 'none' .2., 'strip' .2.; choose one, .*\[filter=none\]"):
        both(path)
    assert both(f"{path}[filter=strip]") == (GOLD, ["x", "y"])
    assert TextFile(f"{path}[filter=strip]").side("prediction").origin == "lm_eval/filtered_resps/strip"
    with pytest.raises(ValueError, match="no row of filter 'strap'; it has 'none', 'strip'"):
        both(f"{path}[filter=strap]")


def test_multiple_choice_is_no_text(tmp_path: Path) -> None:
    for choices in ([["-1.5", "False"], ["-2.5", "True"]], [["-1.5", "False"]]):
        path = jsonl(tmp_path / "mc.jsonl", [harness_row(0, "1", "x", filtered_resps=choices)])
        with pytest.raises(ValueError, match=r"mc.jsonl, line 1: 'filtered_resps' holds likelihoods of choices"):
            both(path)


def test_targets_that_were_lists(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [harness_row(0, "", MADE[0], target=str([GOLD[0]]))])
    assert both(path)[0] == [GOLD[0]]
    path = jsonl(tmp_path / "a.jsonl", [harness_row(0, "", MADE[0], target="[Enter the king.]")])
    assert both(path)[0] == ["[Enter the king.]"]
    path = jsonl(tmp_path / "a.jsonl", [harness_row(0, "", MADE[0], target=str(GOLD))])
    with pytest.raises(ValueError, match=r"line 1: 'target' holds 2 gold texts: name .* by reference_field"):
        both(path)


def test_a_document_twice_is_an_error(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [*harness_rows(GOLD, MADE), harness_row(1, *GOLD)])
    with pytest.raises(ValueError, match=r"a.jsonl, line 3: 'doc_id' 1 occurs already at .*a.jsonl, line 2"):
        both(path)


def test_scores_in_the_place_of_samples(tmp_path: Path) -> None:
    path = tmp_path / "results_2026-01-01T10-11-12.json"
    path.write_text(json.dumps({"results": {}, "configs": {}}))
    with pytest.raises(ValueError, match="run it with --log_samples"):
        TextFile(path)


def test_predictions_of_llamafactory(tmp_path: Path) -> None:
    rows = [{"prompt": "p", "predict": made, "label": gold} for gold, made in zip(GOLD, MADE, strict=True)]
    path = jsonl(tmp_path / "generated_predictions.jsonl", rows)
    assert both(path) == (GOLD, MADE)
    assert TextFile(path).side("prediction").origin == "llamafactory/predict"
    with pytest.raises(ValueError, match="human texts in 'label' and the model's texts in 'predict': say which"):
        read_texts(path)
    assert read_texts(path, "predict") == read_texts(path, side="prediction") == MADE
    assert read_texts(path, "label") == read_texts(path, side="reference") == GOLD


def turns(text: object) -> list[dict[str, object]]:
    return [
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": "How?"},
        {"role": "user", "content": "As you like."},
        {"role": "assistant", "content": text},
    ]


def answer(text: str | None) -> dict[str, object]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("chat", lambda text: {"messages": turns(text)}),
        ("chat", lambda text: {"messages": turns([{"type": "text", "text": text}])}),
        ("prompt_completion", lambda text: {"prompt": turns("x")[:1], "completion": turns(text)[-1:]}),
        ("prompt_completion", lambda text: {"prompt": "Go on.", "completion": text}),
        ("openai", answer),
        ("openai", lambda text: {"choices": [{"index": 0, "text": text}]}),
        ("openai_batch", lambda text: {"custom_id": text, "response": {"body": answer(text)}, "error": None}),
    ],
)
def test_chat_records(name: str, row: Any, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", map(row, MADE))
    file = TextFile(path)
    assert file.format is not None and file.format.name == name and not file.holds_both
    assert read_texts(path) == file.side("reference").texts == MADE


def test_chat_records_without_an_answer(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [{"messages": turns("x")}, {"messages": turns("x")[:1]}])
    assert read_texts(path) == ["x", ""]
    with pytest.raises(ValueError, match=r"a.jsonl, line 2: the text in 'messages' has no message with the role 'ass"):
        TextFile(path).side("prediction").check_filled()
    failed = {"custom_id": "b", "response": None, "error": {"code": "expired"}}
    path = jsonl(tmp_path / "a.jsonl", [{"custom_id": "a", "response": {"body": answer("x")}}, failed])
    with pytest.raises(ValueError, match=r"a.jsonl, line 2: the text in .* is missing: the request failed: .*expired"):
        TextFile(path).side("prediction").check_filled()
    path = jsonl(tmp_path / "a.jsonl", [{"choices": [{"text": "x"}, {"text": "y"}]}])
    with pytest.raises(ValueError, match=r"line 1: 'choices' holds 2 answers.*prediction_field, such as choices.0"):
        read_texts(path)
    path = jsonl(tmp_path / "a.jsonl", [answer(None)])
    with pytest.raises(ValueError, match=r"a.jsonl, line 1: the text in 'choices' is empty .1 of 1 in all.; .*'drop'"):
        TextFile(path).side("prediction").check_filled()


def test_empty_texts_that_are_no_silence_are_named(tmp_path: Path) -> None:
    call = [{"role": "user", "content": "q"}, {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}]
    path = jsonl(tmp_path / "a.jsonl", [{"messages": turns("One.")}, {"messages": call}])
    with pytest.raises(
        ValueError, match=r"line 2: the text in 'messages' calls a tool and says nothing .1 of 2 in all."
    ):
        TextFile(path).side("prediction").check_filled()
    (tmp_path / "a.csv").write_text("id,output\n1,A long text here.\n2,nan\n3,Another text.\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.csv, line 3: the text in 'output' is 'nan', a missing value"):
        TextFile(tmp_path / "a.csv").side("prediction").check_filled()
    assert read_texts(tmp_path / "a.csv") == ["A long text here.", "", "Another text."]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"response": {"status_code": 500, "body": {"error": {"message": "overload"}}}, "error": None},
            "status 500: .*overload",
        ),
        ({"result": {"type": "errored", "error": {"type": "overloaded"}}}, ".*overloaded"),
        ({"result": {"type": "expired"}}, "expired"),
        ({"response": {"candidates": [{"finishReason": "SAFETY"}]}}, "SAFETY"),
        ({"response": {"promptFeedback": {"blockReason": "OTHER"}, "candidates": []}}, "OTHER"),
    ],
)
def test_a_failed_request_of_a_batch_is_said(row: Any, message: str, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [{"custom_id": "b", **row}])
    with pytest.raises(ValueError, match=f"a.jsonl, line 1: .* is missing: the request failed: {message}"):
        TextFile(path).side("prediction").check_filled()


def test_models_in_one_column_are_told_apart(tmp_path: Path) -> None:
    rows = [{"source_id": "1", "model": m, "attack": "none", "generation": f"{m} says so."} for m in ("human", "gpt2")]
    path = jsonl(tmp_path / "a.jsonl", rows)
    with pytest.raises(
        ValueError, match=r"by 'model': 'human' .1., 'gpt2' .1.; choose one, such as '.*\[model=human\]'"
    ):
        read_texts(path)
    assert read_texts(f"{path}:generation[model=gpt2]") == ["gpt2 says so."]


def test_a_record_of_two_formats_is_of_the_more_special_one(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [{"label": "a", "predict": "b", "messages": turns("c")}])
    assert both(path) == (["a"], ["b"])
    assert read_texts(path, "predict") == ["b"]
    assert both(path, reference_field="label", prediction_field="predict") == (["a"], ["b"])
    path = jsonl(tmp_path / "b.jsonl", [{"text": "a", "messages": turns("c")}])
    assert read_texts(path) == ["a"]  # the rule for plain records: "text", else the only field


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"doc_id": 1, "filtered_resps": ["x"]}, "line 2 has no field 'target'; it has 'doc_id' "),
        (harness_row(1, "a", "b", target=["a", "b"]), "line 2: 'target' holds 2 answers: .*target.0"),
        (harness_row(1, "a", "b", filtered_resps=[]), "line 2: 'filtered_resps' is empty"),
        (harness_row(1, "a", "b", filtered_resps=[7]), "line 2: expected a text in 'filtered_resps.0', got int: 7"),
        ("text", "line 2 has no field 'target'; it is a text"),
    ],
)
def test_a_record_unlike_the_first(row: object, message: str, tmp_path: Path) -> None:
    first = harness_row(0, *GOLD)
    if isinstance(row, dict) and "filter" not in row:
        first.pop("filter")
    path = jsonl(tmp_path / "a.jsonl", [first, row])
    with pytest.raises(ValueError, match=f"a.jsonl, {message}"):
        both(path)


def test_logs_of_inspect(tmp_path: Path) -> None:
    log, model = pytest.importorskip("inspect_ai.log"), pytest.importorskip("inspect_ai.model")
    spec = log.EvalSpec(
        created="2026-01-01T00:00:00+00:00", task="story", dataset=log.EvalDataset(), model="m", config=log.EvalConfig()
    )
    for epochs, name in ((1, "one.eval"), (1, "one.json"), (2, "two.eval")):
        samples = [
            log.EvalSample(
                id=n, epoch=e, input="x", target=GOLD[n], output=model.ModelOutput.from_content("m", MADE[n])
            )
            for e in range(1, epochs + 1)
            for n in range(2)
        ]
        log.write_eval_log(log.EvalLog(status="success", eval=spec, samples=samples), str(tmp_path / name))
    assert both(tmp_path / "one.eval") == both(tmp_path / "one.json") == (GOLD, MADE)
    with pytest.raises(ValueError, match=r"by 'epoch': '1' .2., '2' .2.; choose one"):
        both(tmp_path / "two.eval")
    field = "output.choices.0.message.content"
    assert both(f"{tmp_path}/two.eval[epoch=2]", prediction_field=field) == (GOLD, MADE)
    log.write_eval_log(log.EvalLog(status="cancelled", eval=spec, samples=samples), str(tmp_path / "c.eval"))
    with pytest.raises(ValueError, match="did not succeed"):
        TextFile(tmp_path / "c.eval")


def test_a_log_of_inspect_without_its_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai", None)
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai.log", None)
    (tmp_path / "a.eval").write_bytes(b"PK")
    with pytest.raises(ImportError, match="pip install inspect_ai"):
        TextFile(tmp_path / "a.eval")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([*range(40)], "line 1: 'text' holds 40 numbers, as token ids are: decode them to texts"),
        (["one", "two"] * 20, "line 1: 'text' holds 40 single words: join them to one text a row"),
        (None, "line 1: the text in 'text' is null, a missing value .1 of 1 in all"),
        (math.nan, "line 1: the text in 'text' is nan, a missing value .1 of 1 in all"),
        ("\u200b", r"line 1: the text in 'text' is '\\u200b', invisible characters .1 of 1 in all"),
    ],
)
def test_what_is_no_text_yet_is_named(value: object, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": value}) + "\n")
    with pytest.raises(ValueError, match=message):
        TextFile(path).side("prediction").check_filled()


def test_lines_between_texts_of_several_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("One.\nTwo.\n\nThree.\n")
    with pytest.raises(ValueError, match=r"line 3 is empty \(1 of 4 in all\): a .txt file holds one text a line"):
        TextFile(path).side("prediction").check_filled()


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_a_file_that_is_cut_off_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text('{"text": "One."}\n{"text": "Tw' if name == "a.jsonl" else '[{"text": "One."}, {"text": "Tw')
    with pytest.raises(ValueError, match=r"not JSON: Unterminated string starting at column \d+; the file seems to be"):
        TextFile(path)


@pytest.mark.parametrize(
    "output",
    [
        {"generation": MADE[0], "stop_reason": "stop"},
        {"inputTextTokenCount": 3, "results": [{"tokenCount": 4, "outputText": MADE[0]}]},
        {"outputs": [{"text": MADE[0], "stop_reason": "stop"}]},
        {"output": {"message": {"role": "assistant", "content": [{"text": MADE[0]}]}}, "stopReason": "end_turn"},
    ],
)
def test_models_of_bedrock(output: dict[str, Any], tmp_path: Path) -> None:
    failed = {"recordId": "b", "modelInput": {}, "error": {"errorCode": 400, "errorMessage": "bad"}}
    path = jsonl(tmp_path / "a.jsonl", [failed, {"recordId": "a", "modelInput": {}, "modelOutput": output}])
    side = TextFile(path).side("prediction")
    assert side.texts == ["", MADE[0]] and "request failed: {'errorCode': 400" in str(side.empty)


def test_lists_beside_the_one_with_texts(tmp_path: Path) -> None:
    cases = [
        {"input": "Why?", "actualOutput": made, "expectedOutput": gold} for made, gold in zip(MADE, GOLD, strict=True)
    ]
    shapes = {
        "deepeval": {"testCases": cases, "metricsScores": [{"metric": "x", "scores": [1]}]},
        "pandas": {
            "schema": {"fields": [{"name": "text", "type": "string"}]},
            "data": [{"text": made} for made in MADE],
        },
        "coco": {
            "images": [{"id": 1, "file_name": "1.jpg"}],
            "annotations": [{"id": 1, "caption": made} for made in MADE],
        },
    }
    for name, value in shapes.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
        assert TextFile(tmp_path / f"{name}.json").side("prediction").texts == MADE


def test_dialogues_of_ultrachat_and_fragments_of_ollama(tmp_path: Path) -> None:
    rows = [{"id": str(row), "data": ["Why is it so?", made, "And now?", "Then."]} for row, made in enumerate(MADE)]
    assert read_texts(jsonl(tmp_path / "a.jsonl", rows)) == MADE
    fragments = [{"model": "l", "created_at": "1", "response": " It", "done": done} for done in (False, False, True)]
    with pytest.raises(ValueError, match="holds the fragments of a streamed answer"):
        read_texts(jsonl(tmp_path / "b.jsonl", fragments))
