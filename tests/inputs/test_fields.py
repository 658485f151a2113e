"""The choice of the field that holds the texts: the files of many tools, and files of none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mauve_metric.inputs.fields import Field, Role, choose, text_fields
from mauve_metric.inputs.files import TextFile, read_texts
from mauve_metric.inputs.records import Record

MADE = ["It is a thing that people use every day.", "There was once a king who lived far away."]
GOLD = ["A thing is an object, more or less, they say.", "Long ago a king ruled over all the hills."]
ASKED = ["What is a thing?", "Tell me a story about a king."]


def turns(asked: str, answer: object, role: str = "role", text: str = "content") -> list[dict[str, object]]:
    whose = ("user", "assistant") if role == "role" else ("human", "gpt")
    return [{role: whose[0], text: asked}, {role: whose[1], text: answer}]


def row(layout: str, number: int) -> Any:
    """A row as the tool writes it."""
    q, a, h = ASKED[number], MADE[number], GOLD[number]
    message = {"role": "assistant", "content": a}
    parts = [{"type": "text", "text": a}]
    layouts: dict[str, Any] = {
        "AlpacaEval": {"dataset": "koala", "instruction": q, "output": a, "generator": "gpt4_turbo"},
        "Alpaca": {"instruction": q, "input": "", "output": a, "text": f"Below is an instruction. {q} {a}"},
        "MT-bench": {"question_id": 81 + number, "model_id": "m-7b", "choices": [{"index": 0, "turns": [a, "More."]}]},
        "ShareGPT": {"id": f"identity_{number}", "conversations": turns(q, a, "from", "value")},
        "Anthropic batch": {"custom_id": f"r{number}", "result": {"type": "succeeded", "message": {"content": parts}}},
        "OpenAI batch": {
            "custom_id": f"r{number}",
            "response": {"status_code": 200, "body": {"id": "chatcmpl-1", "choices": [{"message": message}]}},
            "error": None,
        },
        "OpenAI batch of responses": {
            "custom_id": f"r{number}",
            "response": {
                "status_code": 200,
                "body": {
                    "output": [
                        {"type": "reasoning", "summary": []},
                        {
                            "type": "message",
                            "role": "assistant",
                            "content": [{"type": "output_text", "text": a}],
                        },
                    ]
                },
            },
        },
        "Gemini batch": {"key": f"r{number}", "response": {"candidates": [{"content": {"parts": [{"text": a}]}}]}},
        "Bedrock batch": {"recordId": f"r{number}", "modelInput": {"prompt": q}, "modelOutput": {"content": parts}},
        "vLLM": {"request_id": str(number), "prompt": q, "outputs": [{"index": 0, "text": a}], "finished": True},
        "vLLM benchmark": {"prompt": q, "generated_text": a},
        "UltraChat": {"prompt": q, "prompt_id": f"f0e37e9f78{number}", "messages": turns(q, a)},
        "ContrastiveDecoding": {"ended": False, "prompt": q, "gen_text": a, "tokens": [1, 2]},
        "RAID": {
            "id": f"e5e058ce-be2b-459d-af36-{number}",
            "source_id": "e5e05-1",
            "model": "gpt2",
            "attack": "none",
            "title": "A guide to trustworthy things",
            "prompt": q,
            "generation": a,
        },
        "Hugging Face pipeline": [{"generated_text": a}],
        "Ollama": {"model": "llama3", "created_at": "2023-08-04T19:22:45Z", "response": a, "done": True},
        "Ollama chat": {"model": "llama3", "message": message, "done": True},
        "Anthropic message": {"id": "msg_1", "type": "message", "role": "assistant", "content": parts},
        "GPT-2 output dataset": {"id": 255000 + number, "ended": True, "length": 134, "text": a},
        "Dolly": {"instruction": q, "context": "", "response": a, "category": "open_qa"},
        "LMSYS": {"conversation_id": f"x{number}", "model": "vicuna", "conversation": turns(q, a), "turn": 1},
        "WildBench": {"session_id": f"s{number}", "chat_history": [q], "model_input": q, "output": [a]},
        "Arena-Hard": {"uid": f"u{number}", "model": "m", "messages": turns(q, {"answer": a})},
        "HumanEval": {"task_id": f"HumanEval/{number}", "completion": a},
        "of no tool, German": {"id": number, "Frage": q, "Antwort": a},
        "of no tool, unknown names": {
            "nr": number,
            "verweis": f"https://x.org/{number}",
            "datei": f"a{number}.txt",
            "bericht": a,
        },
        "a question in text": {"text": f"{q.rstrip('.?')}?", "output": a},
        "a class beside": {"text": a, "label": "pos"},
        "a judgement beside": {"text": a, "prediction": "positive"},
        "a name and a date beside": {"author": "John Smith", "date": "2024-01-02 10:00", "post": a},
        # both sides
        "HC3": {"question": q, "human_answers": [h], "chatgpt_answers": [a], "index": None, "source": "reddit_eli5"},
        "SimCTG": {"prefix_text": q, "reference_text": h, "generated_result": {"0": a}},
        "M4": {"prompt": q, "human_text": h, "machine_text": a, "model": "chatGPT", "source": "reddit"},
        "LlamaFactory": {"prompt": q, "predict": a, "label": h},
        "DeepEval": {"input": q, "actual_output": a, "expected_output": h, "retrieval_context": ["one", "two"]},
        "Ragas": {"user_input": q, "response": a, "reference": h, "retrieved_contexts": ["one two", "three"]},
        "LangSmith": {"inputs": {"question": q}, "outputs": {"output": a}, "reference_outputs": {"answer": h}},
        "an answer beside an output": {
            "question": q,
            "answer": h,
            "output": a,
            "docs": [{"title": "T"}, {"title": "U"}],
        },
    }
    return layouts[layout]


ONE_SIDE = (
    "AlpacaEval,Alpaca,MT-bench,ShareGPT,Anthropic batch,OpenAI batch,OpenAI batch of responses,Gemini batch,"
    "Bedrock batch,vLLM,vLLM benchmark,UltraChat,ContrastiveDecoding,RAID,Hugging Face pipeline,Ollama,Ollama chat,"
    "Anthropic message,GPT-2 output dataset,Dolly,LMSYS,WildBench,Arena-Hard,HumanEval,"
    "of no tool; German,of no tool; unknown names,"
    "a question in text,a class beside,a judgement beside,a name and a date beside"
).split(",")
BOTH = "HC3,SimCTG,M4,LlamaFactory,DeepEval,Ragas,LangSmith,an answer beside an output".split(",")


def jsonl(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("layout", ONE_SIDE)
def test_the_answer_of_each_tool_is_read(layout: str, tmp_path: Path) -> None:
    layout = layout.replace(";", ",")
    file = TextFile(jsonl(tmp_path / "a.jsonl", [row(layout, 0), row(layout, 1)]))
    assert file.side("prediction").texts == MADE and not file.holds_both
    assert f"2 texts from `{file.field('prediction')}`" in file.side("prediction").said
    if layout not in ("Alpaca", "a judgement beside"):  # whose text may be the human one, too
        assert file.side("reference").texts == MADE


@pytest.mark.parametrize("layout", BOTH)
def test_both_sides_of_each_tool_are_read(layout: str, tmp_path: Path) -> None:
    file = TextFile(jsonl(tmp_path / "a.jsonl", [row(layout, 0), row(layout, 1)]))
    assert file.holds_both
    assert (file.side("reference").texts, file.side("prediction").texts) == (GOLD, MADE)


@pytest.mark.parametrize("side", ["reference", "prediction"])
@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"prompt": ASKED[0], "chosen": MADE[0], "rejected": GOLD[0]}, "'chosen' .*'rejected' .*a.jsonl:chosen"),
        ({"chosen": turns(ASKED[0], MADE[0]), "rejected": turns(ASKED[0], GOLD[0])}, "'chosen' .*'rejected' "),
        ({"question": ASKED[0], "gpt4_answer": MADE[0], "llama_answer": GOLD[0]}, "'gpt4_answer' .*'llama_answer' "),
        ({"foo": MADE[0], "bar": GOLD[0]}, "several fields that may be the text: 'foo' .*'bar' "),
        (
            {"prompt": ASKED[0]},
            "no field that is surely the text, only 'prompt' .*: name it, such as .*a.jsonl:prompt",
        ),
        ({"id": "a0", "url": "https://a.b/0"}, "may be the text: 'id' .*'url' "),
        ({"it's": MADE[0], "bar": GOLD[0]}, "a.jsonl:it's$"),
        ({"id": 5}, "has no field of texts$"),
        ({"id": 5, "score": 0.5}, r"has no field of texts, only 'id' \(5\), 'score' \(0.5\)$"),
        (
            {"custom_id": "a", "method": "POST", "url": "/v1/x", "body": {"messages": []}},
            "requests of a batch, without",
        ),
        ({"custom_id": "a", "params": {"messages": []}}, "requests of a batch, without"),
    ],
)
def test_a_doubtful_file_is_refused_with_what_to_say(record: Any, message: str, side: Role, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [record, record])
    with pytest.raises(ValueError, match=message):
        read_texts(path, side=side)


def test_a_text_beside_an_answer_may_be_a_prompt_or_the_human_text(tmp_path: Path) -> None:
    rows = [{"text": gold, "output": made} for gold, made in zip(GOLD, MADE, strict=True)]
    path = jsonl(tmp_path / "a.jsonl", rows)
    assert read_texts(path, side="prediction") == MADE
    with pytest.raises(ValueError, match=r"several fields that may be the text: 'text' .*'output' "):
        read_texts(path, side="reference")
    assert read_texts(f"{path}:text") == read_texts(path, "text") == GOLD


def test_prompts_are_read_where_prompts_are_meant(tmp_path: Path) -> None:
    for name in ("prompt", "instruction", "question"):
        path = jsonl(tmp_path / "a.jsonl", [{"id": 1, name: asked, "output": "Yes."} for asked in ASKED])
        assert read_texts(path, side="prompt") == ASKED


def test_the_human_prompts_of_realtoxicityprompts_are_no_texts(tmp_path: Path) -> None:
    record = {
        "filename": "0766186-bc7f.txt",
        "begin": 340,
        "prompt": {"text": ASKED[0]},
        "continuation": {"text": GOLD[0]},
    }
    assert read_texts(jsonl(tmp_path / "a.jsonl", [record]), side="reference") == [GOLD[0]]


def test_a_missing_field_lists_those_there_with_examples(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("nr,Antwort\n1,A human answer.\n", encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"has no field 'Anwort' \(did you mean 'Antwort'\?\); it has 'nr' \('1'\), 'Antwort' "
    ):
        read_texts(tmp_path / "a.csv", "Anwort")


def test_a_field_of_texts_is_in_half_of_the_records_and_varies() -> None:
    values = [{"all": "So it is.", "half": "It was."}, {"all": "", "half": "Here."}, {"all": "", "rare": "a"}, {}]
    fields = text_fields([Record(value, "") for value in values])
    assert [(field.path, field.values) for field in fields] == [("all", ["So it is."]), ("half", ["It was.", "Here."])]
    for texts, varies in (("good bad good bad", False), ("good bad good bad so", True), ("same same same", False)):
        assert Field.of("mark", texts.split()).varies is varies
    assert Field.of("text", ["It was so.", "It was not."] * 5).varies  # more than a word or two


def test_a_copy_of_a_field_leaves_no_doubt() -> None:
    rows = [Record({"reply": text, "response": text}, "") for text in MADE]
    assert (choose(rows).path, choose(rows).doubt) == ("reply", "")
    assert "several fields" in choose([*rows, Record({"reply": MADE[0], "response": GOLD[0]}, "")]).doubt


def test_other_names_on_each_side(tmp_path: Path) -> None:
    from mauve_metric import compute_mauve

    (tmp_path / "h.csv").write_text("nr;Text A;Text B\n" + "1;a b c;d e f\n" * 12, encoding="utf-8")
    (tmp_path / "m.csv").write_text("Reply,Other\n" + "a b c,x y z\n" * 12, encoding="utf-8")
    options: Any = {"featurize_model_name": "ngrams", "num_buckets": 2}
    named = compute_mauve(p_text=f"{tmp_path}/h.csv:Text A", q_text=f"{tmp_path}/m.csv:Reply", **options)
    assert named.mauve == 1 and (named.n_p, named.n_q) == (12, 12)


LONG = "It was a long day in the town by the river, and nobody came to the old house."


@pytest.mark.parametrize(
    ("value", "first"),
    [
        (
            {
                "instruction": "Do.",
                "completions": [{"response": LONG}, {"response": LONG}],
                "correct_answers": ["None"],
            },
            "completions.0.response",
        ),
        ({"info": {"post": LONG}, "summaries": [{"text": "A day in town."}, {"text": "It."}]}, "summaries.0.text"),
        ({"text": f"{LONG[:60]}…", "extended_tweet": {"full_text": LONG}}, "extended_tweet.full_text"),
        ({"reviewText": f"{LONG} {LONG}", "summary": "Good one."}, "reviewText"),
    ],
)
def test_a_choice_beside_a_longer_text_or_a_list_of_answers_is_unsure(value: dict[str, Any], first: str) -> None:
    choice = choose([Record(value, "")])
    assert choice.doubt.startswith(f"has several fields that may be the text: '{first}'") and choice.proposed == first


def test_answers_in_a_list_beside_a_prompt_alone_are_proposed() -> None:
    value = {"prompt": "Write it.", "answers": [{"answer": LONG, "rank": 1}, {"answer": LONG, "rank": 2}]}
    assert choose([Record(value, "")]).proposed == "answers.0.answer"


def test_a_list_of_notes_beside_an_answer_changes_nothing() -> None:
    value = {"output": LONG, "text": LONG, "logprobs": [{"token": "It"}, {"token": "was"}], "prompt": LONG[:20]}
    assert (choose([Record(value, "")]).path, choose([Record(value, "")]).doubt) == ("output", "")


def test_a_first_record_without_the_field_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 0}\n{"id": 1, "text": "One."}\n{"id": 2, "text": "Two."}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="line 1 has no field 'text', which others have: take it out, or write null"):
        read_texts(path, "text")
