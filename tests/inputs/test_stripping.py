"""Wrappings of models are removed from texts, and nothing else."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from samples import HUMAN, MODEL, ngrams

from mauve_metric import FeatureSet, MauveConfig, compare, compute_mauve, explain, featurize
from mauve_metric.hosts.cli.main import main
from mauve_metric.inputs.stripping import SHOWN, WRAPPING, Stripping
from mauve_metric.options import STRIP

HARMONY = (
    "<|channel|>analysis<|message|>The user wants a story.<|end|><|start|>assistant<|channel|>commentary to=f "
    '<|constrain|>json<|message|>{"a": 1}<|call|><|start|>assistant<|channel|>final<|message|>Once upon.<|return|>'
)

CASES: list[tuple[str, str, str]] = [
    ("reasoning", "<think>\nHm. <b>\n</think>\n\nOnce upon a time.", "Once upon a time."),
    ("reasoning", "Hm, a story.\n</think>\n\nOnce upon a time.", "Once upon a time."),
    ("reasoning", "<think>I never come to an end", ""),
    ("reasoning", "Prompt <think>I never come to an end", "Prompt"),
    ("reasoning", "<THINK>a</Think>b", "b"),
    ("reasoning", "[THINK]a[/THINK]b", "b"),
    ("reasoning", "a[/THINK]b", "b"),
    ("reasoning", "<reasoning>I say </think> here</reasoning>b", "b"),
    ("reasoning", "<think>I say </reasoning> and never come to an end", ""),
    ("reasoning", "◁think▷a◁/think▷b", "b"),
    ("reasoning", "<|begin_of_thought|>a<|end_of_thought|> b", "b"),
    ("reasoning", "<think>a <think> b</think> c</think> d", "d"),
    ("reasoning", "<think>a</think>b <think>c</think>d", "b d"),
    ("reasoning", HARMONY, "Once upon."),
    ("reasoning", HARMONY.split("<|start|>")[0], ""),
    ("reasoning", f"<|start|>assistant{HARMONY}", "Once upon."),
    ("reasoning", "analysisWe need a story.assistantfinalOnce upon.", "Once upon."),
    (
        "reasoning",
        "I <thinks> a < b, analysis of [THINKING] </thin>",
        "I <thinks> a < b, analysis of [THINKING] </thin>",
    ),
    ("special_tokens", "<|im_start|>assistant\nOnce.<|im_end|>\n", "Once."),
    ("special_tokens", "<s>[INST] Hello [/INST] Once. </s>", "Once."),
    ("special_tokens", "<|begin_of_text|><|start_header_id|>assistant<|end_header_id|>\n\nOnce.<|eot_id|>", "Once."),
    ("special_tokens", "<bos><start_of_turn>model\nOnce.<end_of_turn>\n<eos><pad><pad>", "Once."),
    ("special_tokens", "<｜begin▁of▁sentence｜>Once.<｜end▁of▁sentence｜>", "Once."),
    ("special_tokens", "<<SYS>>a<</SYS>>Once.<|endoftext|>", "aOnce."),
    ("special_tokens", "a <b> and |c| or [SIC] x <| y |> <strong>", "a <b> and |c| or [SIC] x <| y |> <strong>"),
    (
        "markdown",
        "# One\n\nTwo **three** and *four* __five__ _six_ ***seven***.",
        "One\n\nTwo three and four five six seven.",
    ),
    ("markdown", 'See [the page](https://x.org/a_(b) "t") and ![img](i.png).', "See the page and img."),
    ("markdown", "Run:\n```python\nx = a ** b ** c\n```\nwith `x`.", "Run:\nx = a ** b ** c\nwith x."),
    ("markdown", "**a *b* c**", "a b c"),
    (
        "markdown",
        "**Note:**This is 2**3**4 or f(**a, g(**b)).",
        "Note:This is 2**3**4 or f(**a, g(**b)).",
    ),
    ("markdown", "It is very**cold**.", "It is verycold."),
    ("markdown", "**标题：**这是**重点**内容，*重*点", "标题：这是重点内容，重点"),
    (
        "markdown",
        "2 * 3 * 4, snake_case_name, #1 [a] (b) f(*args, **kw)",
        "2 * 3 * 4, snake_case_name, #1 [a] (b) f(*args, **kw)",
    ),
    ("whitespace", " \n Once \t\nupon  a time. \n\n", "Once\nupon  a time."),
    ("whitespace", "Once\n\nupon", "Once\n\nupon"),
]


@pytest.mark.parametrize(("rule", "text", "expected"), CASES)
def test_each_rule_takes_off_its_wrapping_and_nothing_else(rule: str, text: str, expected: str) -> None:
    stripping = Stripping(rule)
    assert stripping.strip(text) == expected
    assert stripping.changed == {rule: int(text != expected)}


def test_prompts_are_taken_off_by_the_longest_that_is_there() -> None:
    stripping = Stripping("prompts", ["The cat", " The cat sat on the mat\n", "Why?", " "])
    texts = [
        "The cat sat on the mat and slept.",
        " The cat slept.",
        "A cat slept.",
        "Why? So.",
        "The cat sat on the mat",
    ]
    assert [stripping.strip(text) for text in texts] == ["and slept.", "slept.", "A cat slept.", "So.", ""]
    assert stripping.changed == {"prompts": 4}
    for nothing in (None, ()):
        with pytest.raises(ValueError, match=r"strip='prompts' needs the prompts \(--prompts\): texts"):
            Stripping("prompts", nothing)


def test_rules_work_one_after_the_other() -> None:
    text = "<|im_start|>assistant\n<think>Hm.</think>Tell **me** a story. # Once <|im_end|>\n"
    stripping = Stripping(",".join(STRIP), ["Tell **me** a story."])
    assert [*stripping.each([text, "Once"])] == ["once", "once"]
    assert {name for name, times in stripping.changed.items() if times} >= {"reasoning", "prompts", "markdown"}
    assert [*Stripping().each([text])] == [text] and Stripping().identity() == {}


def test_the_names_of_the_rules_are_those_of_the_option() -> None:
    assert tuple(Stripping(",".join(STRIP), ["a"]).changed) == STRIP
    assert {*WRAPPING, "prompts"} == {*STRIP} and {*SHOWN} <= {*WRAPPING}
    assert Stripping(",".join(STRIP), ["a"]).identity()["strip"] == MauveConfig(strip=[*reversed(STRIP)]).strip


@pytest.mark.more
@pytest.mark.parametrize(
    "mark", ["<think>", "</think>", "<", "[", "[a](", "**a ", "*a _b ", "`", "```", "#", "\n", " "]
)
def test_any_marks_are_read_in_the_time_of_their_length(mark: str) -> None:
    # 200 000 characters: what grows with the square takes minutes
    for text in (mark * (200_000 // len(mark)), f"<|channel|>{mark * 1000}", "a" * 100_000 + mark * 50_000):
        for name, rule in WRAPPING.items():
            rule(text)
            SHOWN.get(name, rule)(text)


def test_random_text_of_marks_is_read_whatever_it_is() -> None:
    rng = random.Random(1)
    pieces = [
        "<think>",
        "</think>",
        "[THINK]",
        "<|channel|>",
        "final",
        "<|message|>",
        "<|end|>",
        "*",
        "_",
        "a b",
        "\n",
        "```",
    ]
    for _ in range(300):
        text = "".join(rng.choices(pieces, k=12))
        for name, rule in WRAPPING.items():
            found = rule(text)
            assert found == text or name in ("markdown", "line_breaks", "capitals") or len(found) < len(text)


# --- the option ---------------------------------------------------------------------------------------------------

SMALL: dict[str, Any] = {"featurize_model_name": ngrams, "num_buckets": 3, "num_runs": 1}
THOUGHT = [
    f"<think>I want to write a text of the kind {number % 3}.</think>\n\n{text}" for number, text in enumerate(MODEL)
]


@pytest.mark.more
def test_a_model_that_thinks_scores_as_if_it_did_not() -> None:
    plain = compute_mauve(p_text=HUMAN, q_text=MODEL, **SMALL)
    wrapped = compute_mauve(p_text=HUMAN, q_text=THOUGHT, **SMALL)
    stripped = compute_mauve(p_text=HUMAN, q_text=iter(THOUGHT), strip="reasoning", **SMALL)
    assert stripped.mauve == plain.mauve != wrapped.mauve
    assert [tuple(item) for item in stripped.q_stripped] == [("reasoning", len(MODEL))]
    assert [tuple(item) for item in stripped.p_stripped] == [("reasoning", 0)] and plain.p_stripped == ()
    assert "|strip:reasoning|" in stripped.signature and "|strip:no|" in plain.signature
    said = {warning.code: warning for warning in wrapped.warnings}
    assert "strip='reasoning'" in said["wrapping_in_one_set"].message and said["wrapping_in_one_set"].severe
    said = {warning.code: warning for warning in stripped.warnings}
    assert "wrapping_in_one_set" not in said
    assert said["stripped_texts"].numbers == {"set": "model", "texts": len(MODEL), "reasoning": len(MODEL)}
    assert json.loads(json.dumps(stripped.to_dict()))["q_stripped"] == [{"rule": "reasoning", "texts": len(MODEL)}]


def test_a_text_that_never_came_is_an_empty_one() -> None:
    texts = [*MODEL, "<think>I never come to an end"]
    message = rf"q_text holds 1 empty or .* of {len(texts)} once reasoning is taken off, at position {len(MODEL)}: "
    with pytest.raises(ValueError, match=message):
        compute_mauve(p_text=HUMAN, q_text=texts, strip="reasoning", **SMALL)
    with pytest.raises(ValueError, match=rf"text once reasoning is taken off at position {len(MODEL)}: "):
        compute_mauve(p_text=HUMAN, q_text=iter(texts), strip="reasoning", **SMALL)
    found = compute_mauve(p_text=HUMAN, q_text=texts, strip="reasoning", empty_texts="drop", **SMALL)
    assert (found.n_q, found.q_dropped, found.q_stripped[0].texts) == (len(MODEL), 1, 1)


def test_explain_and_compare_read_the_texts_without_their_wrapping() -> None:
    texts = [*THOUGHT, "<think>"]
    found = explain(p_text=HUMAN, q_text=texts, strip="reasoning", empty_texts="drop", **SMALL)
    assert (found.result.q_stripped[0].texts, found.result.q_dropped) == (len(texts), 1)
    assert all(near.text in MODEL for bucket in found.buckets for near in bucket.q_texts)
    compared = compare(HUMAN, {"a": THOUGHT, "b": MODEL}, strip="reasoning", **SMALL)
    assert compared.models["a"].mauve == compared.models["b"].mauve and "strip:reasoning" in compared.signature


def test_both_sets_are_stripped_alike(tmp_path: Path) -> None:
    made = featurize(THOUGHT, strip=["whitespace", "reasoning"], featurize_model_name=ngrams)
    loaded = FeatureSet.load(made.save(tmp_path / "made.npz"))
    assert loaded.identity == made.identity and loaded.stripped == made.stripped
    assert made.stripped == {"reasoning": len(MODEL), "whitespace": 0}
    assert loaded.marks is not None and made.marks is not None
    assert loaded.marks.wrapped == made.marks.wrapped and loaded.marks.openings is None  # files hold no text
    followed = compute_mauve(p=made, q_text=THOUGHT, **SMALL)
    assert "|strip:reasoning,whitespace|" in followed.signature and followed.q_stripped[0].texts == len(MODEL)
    with pytest.raises(ValueError, match=r"featurized differently .*: strip reasoning,whitespace and markdown$"):
        compute_mauve(p=made, q_text=THOUGHT, strip="markdown", **SMALL)


def test_a_reference_without_wrapping_needs_no_stripping(tmp_path: Path) -> None:
    kept = FeatureSet.load(featurize(HUMAN, featurize_model_name=ngrams).save(tmp_path / "human.npz"))
    both = compute_mauve(p_text=HUMAN, q_text=THOUGHT, strip="reasoning", **SMALL)
    found = compute_mauve(p=kept, q_text=THOUGHT, strip="reasoning", **SMALL)
    assert (found.signature, found.mauve, found.p_stripped) == (both.signature, both.mauve, both.p_stripped)
    thought = featurize([*HUMAN[:-1], THOUGHT[0]], featurize_model_name=ngrams)
    for reference, rules in ((thought, "reasoning"), (kept, "reasoning,markdown")):
        with pytest.raises(ValueError, match=f"featurized differently .*: strip None and {rules}$"):
            compute_mauve(p=reference, q_text=THOUGHT, strip=rules, **SMALL)


@pytest.mark.more
def test_prompts_come_from_a_list_or_a_file(tmp_path: Path) -> None:
    prompts = [f"Write text number {number}:" for number in range(len(MODEL))]
    echo = [f"{prompt} {text}" for prompt, text in zip(prompts, MODEL, strict=True)]
    file = tmp_path / "prompts.txt"
    file.write_text("\n".join(prompts), encoding="utf-8")
    plain = compute_mauve(p_text=HUMAN, q_text=MODEL, **SMALL)
    found = [
        compute_mauve(p_text=HUMAN, q_text=echo, strip="prompts", prompts=given, **SMALL) for given in (prompts, file)
    ]
    assert [result.mauve for result in found] == [plain.mauve] * 2 and found[0].signature == found[1].signature
    other = compute_mauve(p_text=HUMAN, q_text=echo, strip="prompts", prompts=prompts[:-1], **SMALL)
    assert other.signature != found[0].signature and other.q_stripped[0].texts == len(MODEL) - 1
    with pytest.raises(ValueError, match="strip='prompts' needs the prompts"):
        compute_mauve(p_text=HUMAN, q_text=echo, strip="prompts", **SMALL)
    for wrong in ("no such file.txt", ["a", 3], [" "]):
        with pytest.raises((ValueError, TypeError, OSError), match=r"prompts|no such file"):
            compute_mauve(p_text=HUMAN, q_text=echo, strip="prompts", prompts=wrong, **SMALL)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("reasonin", r"strip must be 'no' or a comma-joined list of undecoded, .*, got 'reasonin' \(did you mean"),
        ("", "strip must be"),
        ("no,reasoning", "strip must be"),
        (True, "strip must be"),
        ([3], "strip must be"),
    ],
)
def test_rules_that_are_none_are_refused(value: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        MauveConfig(strip=value)


def test_rules_are_written_as_one_likes() -> None:
    assert MauveConfig(strip="Special-Tokens, reasoning").strip == "reasoning,special_tokens"
    assert MauveConfig(strip=("whitespace", "whitespace")).strip == "whitespace" and MauveConfig(strip=[]).strip == "no"


@pytest.mark.more
def test_the_shell_strips(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prompts = ["Tell me a story."]
    for name, texts in (
        ("human", HUMAN),
        ("model", [f"{prompts[0]} {text}" for text in THOUGHT]),
        ("prompts", prompts),
    ):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, texts)), encoding="utf-8")
    files = [str(tmp_path / f"{name}.jsonl") for name in ("human", "model")]
    flags = ["--featurize-model-name", "minilm", "--num-buckets", "3", "--strip", "reasoning,prompts"]
    assert main(["score", *files, *flags, "--prompts", str(tmp_path / "prompts.jsonl"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["q_stripped"] == [{"rule": rule, "texts": len(MODEL)} for rule in ("reasoning", "prompts")]
    assert main(["score", *files, *flags]) == 1
    assert "--strip reasoning,prompts needs the prompts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        ("special_tokens", "Yes.[EOS]", "Yes."),
        ("special_tokens", "[|assistant|]Yes.[|endofturn|]", "Yes."),
        ("special_tokens", "<|start_of_role|>assistant<|end_of_role|>Yes.<|end_of_text|>", "Yes."),
        ("special_tokens", "<answer>\nYes.\n</answer>", "Yes."),
        ("special_tokens", "Write <answer> before it.", "Write <answer> before it."),
        ("next_turn", "Yes.\n\nHuman: And?\n\nAssistant: No.", "Yes."),
        ("next_turn", "Yes.\nUser: And?\nAssistant: No.", "Yes."),
        ("next_turn", "Human: Why?\nI know.", "Human: Why?\nI know."),
        ("next_turn", "He asked the user: why?", "He asked the user: why?"),
        ("undecoded", "One.\\nTwo.", "One.\nTwo."),
        ("undecoded", "A path C:\\new\nand a line.", "A path C:\\new\nand a line."),
        ("undecoded", "The ĠcafÃ© Ġs at . Ċ", "The café sat."),
        ("undecoded", "▁The ▁cat ▁s at .", "The cat sat."),
        ("undecoded", "Lo@@ west well @-@ fed <newline> cats at 3 @.@ 5 .", "Lowest well-fed\ncats at 3.5 ."),
        ("undecoded", "Write to a@@b and <new> <n>", "Write to a@@b and <new>\n"),
        ("undecoded", '{"choices": [{"message": {"role": "assistant", "content": "A cat."}}]}', "A cat."),
        ("html", "Fish &amp;amp;lt; chips", "Fish < chips"),
        ("punctuation_blanks", "Well , he ca n't -LRB- yet -RRB- !", "Well, he can't (yet)!"),
        ("punctuation_blanks", "At 10 : 30 I came, and left.", "At 10: 30 I came, and left."),
        ("list_numbers", "12) One. 13) Two.", "One. 13) Two."),
        ("list_numbers", "12.5 is a number.", "12.5 is a number."),
        ("outer_quotes", "“He said “no”, again.”", "He said “no”, again."),
        ("outer_quotes", "“No,” he said, “never.”", "“No,” he said, “never.”"),
        ("capitals", "Once, in ROME.", "once, in rome."),
        ("unicode", "e\u0301 ﬁ ４２，\u200bＯＫ\u00a0x … 🙂", "é fi 42,OK\u00a0x … 🙂"),
        ("unicode", "naïve 日本", "naïve 日本"),
        ("undecoded", "Ġabriel naïve 🙂 text", "Ġabriel naïve 🙂 text"),
    ],
)
def test_wrapping_that_tools_leave(rule: str, text: str, expected: str) -> None:
    assert WRAPPING[rule](text) == expected
