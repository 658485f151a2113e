"""Chat models: prompts that are conversations, the tokenizer's template around plain ones, and the answer alone."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

from mauve_metric import MauveResult, evaluate_model
from mauve_metric.apps.generation.conversations import conversations_in, is_conversational, opened_reasoning, turn_ends
from mauve_metric.apps.generation.evaluator import ModelEvaluator

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

HUMAN = [f"Ship {i} left the harbour with {i * 7 % 11} sailors, and she counts." for i in range(12)]
PROMPTS = ["Raise it", "She walks to the harbour", "A list"]
CHATS = [[{"role": "user", "content": text}] for text in PROMPTS]
LONGER = [{"role": "system", "content": "Be short."}, *CHATS[0], {"role": "assistant", "content": "No."}, *CHATS[1]]


def features(texts: list[str]) -> Any:
    return np.array([[text.count(letter) for letter in "aeinorst "] for text in texts], dtype=float)


@pytest.fixture
def model(tiny_chat: str) -> Any:
    return transformers.GPT2LMHeadModel.from_pretrained(tiny_chat).eval()


@pytest.fixture
def tokenizer(tiny_chat: str) -> Any:
    return transformers.AutoTokenizer.from_pretrained(tiny_chat)


def evaluator(prompts: Any, **options: Any) -> ModelEvaluator:
    given = {"max_new_tokens": 6, "num_runs": 1, "generation_config": {"do_sample": False}, **options}
    return ModelEvaluator(prompts, HUMAN, featurize_model_name=features, **given)


def score(model: Any, tokenizer: Any, prompts: Any, **options: Any) -> MauveResult:
    given = {"max_new_tokens": 6, "num_runs": 1, **options}
    return evaluate_model(model, tokenizer, prompts, HUMAN, featurize_model_name=features, **given)


def test_a_conversation_is_answered_as_the_tokenizer_writes_it(model: Any, tokenizer: Any) -> None:
    found = evaluator([*CHATS, LONGER]).evaluate(model, tokenizer)
    ends = [*turn_ends(tokenizer), tokenizer.eos_token_id]
    options = {"max_new_tokens": 6, "do_sample": False, "pad_token_id": tokenizer.pad_token_id, "eos_token_id": ends}
    for chat, (question, answer) in zip([*CHATS, LONGER], found.texts, strict=True):
        ids = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_tensors="pt", return_dict=True)
        whole = model.generate(**ids, **options)
        assert answer == tokenizer.decode(whole[0, ids["input_ids"].shape[1] :], skip_special_tokens=True)
        assert question == chat[-1]["content"]
    scored = score(model, tokenizer, [*CHATS, LONGER], generation_config={"do_sample": False})
    answers = [answer for _, answer in found.texts]
    assert (
        scored.q_hist.tolist()
        == evaluator(None, generate_fn=lambda _: answers, num_samples=4).evaluate(None, None).result.q_hist.tolist()
    )  # type: ignore[union-attr]
    assert "|include_prompt:False|prompts:conversations|chat_template:" in scored.signature


def test_plain_prompts_are_wrapped_on_request(model: Any, tokenizer: Any) -> None:
    asked = evaluator(PROMPTS, chat_template=True).evaluate(model, tokenizer)
    chats = evaluator(CHATS).evaluate(model, tokenizer)
    plain = evaluator(PROMPTS).evaluate(model, tokenizer)  # "auto" outside of a training
    assert asked.texts == chats.texts != plain.texts
    assert plain.texts == evaluator(PROMPTS, chat_template=False).evaluate(model, tokenizer).texts
    assert asked.result is not None and plain.result is not None
    assert "prompts:given|generation" in plain.result.signature


def test_the_end_of_the_turn_ends_the_text(model: Any, tokenizer: Any) -> None:
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert turn_ends(tokenizer) == (end,)
    assert end not in (model.generation_config.eos_token_id, tokenizer.eos_token_id)
    steps: list[int] = []

    def third(input_ids: Any, scores: Any) -> Any:
        steps.append(input_ids.shape[1])
        scores[:] = float("-inf")
        scores[:, end if len(steps) == 3 else 7] = 0
        return scores

    whole = model.generate
    model.generate = lambda **options: whole(logits_processor=[third], **options)
    found = evaluator(CHATS[:1]).evaluate(model, tokenizer)
    assert found.texts[0][1] == tokenizer.decode([7, 7])
    assert len(steps) == 3  # nothing is written behind the end


def test_a_function_is_asked_what_was_given() -> None:
    asked: list[Any] = []

    def server(prompts: list[Any]) -> list[str]:
        asked.extend(prompts)
        return [f"answer {index}" for index in range(len(prompts))]

    assert "prompts:conversations" in score(None, None, CHATS, generate_fn=server).signature
    assert score(None, None, PROMPTS, generate_fn=server, chat_template=True).n_q == 3
    score(None, None, PROMPTS, generate_fn=server)
    assert asked == [*CHATS, *CHATS, *PROMPTS]


def test_conversations_come_in_a_columns_form() -> None:
    datasets = pytest.importorskip("datasets")
    pandas = pytest.importorskip("pandas")
    rows = datasets.Dataset.from_dict({"prompt": [*CHATS, LONGER], "answer": ["x"] * 4})
    column = pandas.Series([*CHATS, LONGER])
    for data in (rows, rows["prompt"], column, (*CHATS, LONGER)):
        assert conversations_in("prompts", data) == [*CHATS, LONGER]
    assert conversations_in("prompts", rows, "answer") is None
    parts = [[{"role": "user", "content": [{"type": "text", "text": "Raise it"}]}]]
    asked: list[Any] = []
    score(None, None, iter(parts), generate_fn=lambda prompts: [asked.extend(prompts) or "yes"])
    assert asked == parts


def test_a_template_that_lets_the_model_think_first(model: Any, tokenizer: Any) -> None:
    tokenizer.chat_template = tokenizer.chat_template.replace("assistant\n", "assistant\n<think>\n")
    assert opened_reasoning(tokenizer.apply_chat_template(CHATS[0], tokenize=False, add_generation_prompt=True))
    found = evaluator(CHATS).evaluate(model, tokenizer)
    assert all(answer.startswith("<think>\n") for _, answer in found.texts)  # it is the model's turn already


def test_training_data_that_are_conversations(tokenizer: Any) -> None:
    chat = [*CHATS[0], {"role": "assistant", "content": "No."}]
    ids = tokenizer.apply_chat_template(chat, return_dict=False)
    assert is_conversational({"messages": chat}, tokenizer)
    assert is_conversational({"conversations": [{"from": "human", "value": "a"}]}, tokenizer)
    assert is_conversational({"input_ids": ids}, tokenizer) and is_conversational(
        {"input_ids": np.array(ids)}, tokenizer
    )
    for row in ({"text": "a"}, {"input_ids": tokenizer("Raise it")["input_ids"]}, {"prompt": ["a"]}, "a", None):
        assert not is_conversational(row, tokenizer)


@pytest.mark.parametrize(
    ("prompts", "options", "error", "message"),
    [
        (CHATS[0], {}, TypeError, "a list of conversations, got the messages of one: put it into a list"),
        ([CHATS[0], "plain"], {}, TypeError, "position 1: expected a conversation, as the others are, got str"),
        ([[]], {}, ValueError, "position 0: a conversation must have at least one message"),
        ([CHATS[0], ["Hello"]], {}, TypeError, "position 1, message 0: expected a dict with role and content"),
        ([[{"role": "human", "content": "a"}]], {}, ValueError, "message 0: role must be one of .*user.*, got 'human'"),
        ([[{"role": "user", "content": 3}]], {}, TypeError, "message 0: content must be a text, got 3"),
        ([[{"role": "user"}]], {}, TypeError, "content must be a text, got None"),
        ([LONGER[:3]], {}, ValueError, "last message must be from the user .*got one from the assistant"),
        (CHATS, {"chat_template": False}, ValueError, "chat_template=False leaves no way to write conversations"),
        (None, {"chat_template": True}, ValueError, "chat_template=True needs prompts"),
        (CHATS, {"chat_template": "yes"}, ValueError, "chat_template must be one of 'auto', True, False, got 'yes'"),
        ([[*CHATS[0], {"role": "tool", "content": "3"}]], {}, ValueError, ".*: Tools are not for this model"),
    ],
)  # fmt: skip
def test_what_is_no_conversation_to_answer(
    model: Any, tokenizer: Any, prompts: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        score(model, tokenizer, prompts, **options)


def test_a_tokenizer_without_a_template_is_named(model: Any, tokenizer: Any) -> None:
    tokenizer.chat_template = None
    with pytest.raises(ValueError, match="position 0 must be texts for a tokenizer without a chat template"):
        score(model, tokenizer, CHATS)
    with pytest.raises(ValueError, match="chat_template is True, and the tokenizer has no template: set"):
        score(model, tokenizer, PROMPTS, chat_template=True)


def test_empty_answers_are_counted_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        found = evaluator(CHATS, generate_fn=lambda prompts: ["", "Yes.", " "]).evaluate(None, None)
    assert found.empty == 2 and found.result is not None and found.result.q_dropped == 2
    assert "2 of 3 completions are empty and not scored" in caplog.text
    with pytest.raises(RuntimeError, match="none of 3 texts can be scored: every text is empty"):
        score(None, None, CHATS, generate_fn=lambda prompts: [""] * 3)
