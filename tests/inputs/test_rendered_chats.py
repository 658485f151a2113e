"""Conversations that a chat template rendered: the last turn is the text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from samples import HUMAN

from mauve_metric.inputs.files import TextFile
from mauve_metric.inputs.stripping import Stripping
from mauve_metric.inputs.tool_formats import chat_template, last_turn

CHAT = {
    "ChatML": "<|im_start|>system\nBe.<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n{}<|im_end|>",
    "Llama 3": "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n{}<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n{}<|eot_id|>",
    "Gemma": "<bos><start_of_turn>user\n{}<end_of_turn>\n<start_of_turn>model\n{}<end_of_turn>\n",
    "Llama 2": "<s>[INST] <<SYS>>\nBe.\n<</SYS>>\n\n{} [/INST] {} </s>",
    "Phi": "<|user|>\n{}<|end|>\n<|assistant|>\n{}<|end|>",
    "DeepSeek": "<｜begin▁of▁sentence｜><｜User｜>{}<｜Assistant｜>{}<｜end▁of▁sentence｜>",
    "Command R": "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>{}<|END_OF_TURN_TOKEN|>"
    "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>{}",
    "Alpaca": "Below is an instruction that describes a task.\n\n### Instruction:\n{}\n\n### Response:\n{}",
    "HH": "\n\nHuman: Hi.\n\nAssistant: Hi.\n\nHuman: {}\n\nAssistant: {}",
    "Vicuna": "A chat between a user and an assistant. USER: {} ASSISTANT: {}</s>",
}


@pytest.mark.parametrize("template", CHAT)
def test_of_a_rendered_conversation_the_last_turn_is_the_text(template: str, tmp_path: Path) -> None:
    texts = [CHAT[template].format("Write it.", text) for text in HUMAN[:4]]
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts), encoding="utf-8")
    side = TextFile(tmp_path / "a.jsonl").side("prediction")
    assert side.texts == HUMAN[:4] and side.origin == "records/text/last_turn"
    assert side.said.endswith(f"4 texts from `text`, the last turn of each conversation ({template})")
    assert [*Stripping("special_tokens").each(texts)] == HUMAN[:4]


def test_a_model_that_writes_on_is_no_conversation() -> None:
    text = f"{HUMAN[0]}<|im_end|>\n{CHAT['ChatML'].format('And now?', 'No.')}"
    assert last_turn(text) is None and chat_template([text, *HUMAN[:4]]) is None
    assert chat_template([CHAT["Gemma"].format("a", "b"), *HUMAN[:4]]) is None  # one of many texts
