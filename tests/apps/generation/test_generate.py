"""Texts in a file: what is written, a job that was killed, servers, and files that are never overwritten."""

from __future__ import annotations

import inspect
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answering import Answers
from writers import HUMAN, PROMPTS

from mauve_metric.apps.generation.decoding import decoder_settings, generation_settings
from mauve_metric.apps.generation.generate import generate
from mauve_metric.apps.generation.writer import Writer
from mauve_metric.apps.generation.written_file import JobFile, lock_of, unfinished
from mauve_metric.apps.job_progress import job_progress
from mauve_metric.runtime.outputs import owned

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def one_by_one(model: Any, tokenizer: Any, prompt: str, **settings: Any) -> list[int]:
    """New token ids of transformers itself, for one prompt."""
    ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
    out = model.generate(ids, attention_mask=torch.ones_like(ids), pad_token_id=0, **settings)
    found: list[int] = out[0, ids.shape[1] :].tolist()
    return found


@pytest.mark.parametrize(("decoder", "settings"), [("greedy", {}), ("beam", {"num_beams": 4})])
def test_texts_are_those_of_transformers_one_at_a_time(
    model: Any, tokenizer: Any, tmp_path: Path, decoder: str, settings: dict[str, Any]
) -> None:
    path = tmp_path / "texts.jsonl"
    model.generation_config.repetition_penalty = 1.7  # a setting of the model's own, which the decoder does not have
    written = generate(PROMPTS, path, model=(model, tokenizer), decoder=decoder, max_new_tokens=9, batch_size=3, seed=4)
    model.generation_config.repetition_penalty = None
    rows = rows_of(path)
    assert [row["prompt"] for row in rows] == PROMPTS == [text.prompt for text in written]
    for row in rows:
        ids = one_by_one(model, tokenizer, row["prompt"], do_sample=False, max_new_tokens=9, **settings)
        ids = [item for item in ids if item != tokenizer.eos_token_id]
        assert row["text"] == row["prompt"] + tokenizer.decode(ids)
        assert (row["decoder"], row["seed"], row["tokens"]) == (decoder, 4, len(ids))
        assert list(row) == ["prompt", "text", "decoder", "seed", "tokens"]
    assert not unfinished(path).exists()


def test_beginnings_of_human_texts_are_continued_to_their_length(model: Any, tokenizer: Any, tmp_path: Path) -> None:
    lengths = [len(ids) for ids in tokenizer(HUMAN)["input_ids"]]
    size = sorted(lengths)[4]  # so that some texts have no more tokens, and are left out
    kept = [text for text, length in zip(HUMAN, lengths, strict=True) if length > size]
    written = generate(HUMAN, tmp_path / "t.jsonl", model=(model, tokenizer), prompt_tokens=size, decoder="top_k=5")
    assert 0 < len(written) == len(kept) < len(HUMAN)
    for human, text in zip(kept, written, strict=True):
        ids = tokenizer(human)["input_ids"]
        assert text.prompt == tokenizer.decode(ids[:size]) and text.text == text.prompt + text.continuation
        assert text.tokens is not None and text.tokens <= len(ids) - size
    alone = generate(
        HUMAN,
        tmp_path / "a.jsonl",
        model=(model, tokenizer),
        prompt_tokens=size,
        decoder="top_k=5",
        include_prompt=False,
    )
    assert [text.text for text in alone] == [text.continuation for text in written]


def test_empty_human_texts_are_counted(model: Any, tokenizer: Any, tmp_path: Path, caplog: Any) -> None:
    generate([*HUMAN, " "], tmp_path / "t.jsonl", model=(model, tokenizer), prompt_tokens=3, max_new_tokens=2)
    assert "dataset: 1 empty texts are left out" in caplog.text


def test_several_texts_of_a_prompt_are_beside_each_other(model: Any, tokenizer: Any, tmp_path: Path) -> None:
    options: dict[str, Any] = {"model": (model, tokenizer), "max_new_tokens": 12, "n_per_prompt": 3}
    paths = [tmp_path / f"{name}.jsonl" for name in "abc"]
    for path, seed in zip(paths, (1, 1, 2), strict=True):
        generate(PROMPTS, path, seed=seed, **options)
    rows = rows_of(paths[0])
    assert [row["prompt"] for row in rows] == [prompt for prompt in PROMPTS for _ in range(3)]
    assert all(len({row["text"] for row in rows[start : start + 3]}) == 3 for start in range(0, len(rows), 3))
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert {row["text"] for row in rows}.isdisjoint(row["text"] for row in rows_of(paths[2]))
    for decoder, most in {"greedy": "1", "penalty_alpha=0.5,top_k=3": "1", "num_beams=2": "at most 2"}.items():
        with pytest.raises(ValueError, match=rf"n_per_prompt must be {most} for '.*', which writes .*, got 3"):
            generate(PROMPTS, tmp_path / "d.jsonl", decoder=decoder, **options)


def test_the_best_beams_are_the_texts_of_a_prompt(model: Any, tokenizer: Any, tmp_path: Path) -> None:
    options: dict[str, Any] = {"model": (model, tokenizer), "max_new_tokens": 7, "n_per_prompt": 3, "batch_size": 2}
    generate(PROMPTS, tmp_path / "t.jsonl", decoder="beam", **options)
    ids = tokenizer(PROMPTS[1], return_tensors="pt")["input_ids"]
    asked = {"num_beams": 4, "num_return_sequences": 3, "do_sample": False, "max_new_tokens": 7, "pad_token_id": 0}
    rows = model.generate(ids, attention_mask=torch.ones_like(ids), **asked)
    texts = [tokenizer.decode(row, skip_special_tokens=True) for row in rows]
    assert [row["text"] for row in rows_of(tmp_path / "t.jsonl")[3:6]] == texts and len(set(texts)) > 1


def test_a_killed_job_of_beams_continues_with_the_same_texts(
    model: Any, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"model": (model, tokenizer), "max_new_tokens": 4, "n_per_prompt": 3, "batch_size": 2}
    options["decoder"] = "num_beams=4,num_beam_groups=2,diversity_penalty=0.7"
    generate(PROMPTS, tmp_path / "whole.jsonl", **options)
    path = tmp_path / "texts.jsonl"
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        assert killed_after(1, patch) == []
        generate(PROMPTS, path, **options)
    sizes = killed_after(99, monkeypatch)
    generate(PROMPTS, path, **options)
    assert sizes == [6, 3] and path.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def killed_after(batches: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let the writing end after so many batches; the sizes of all that are begun."""
    sizes: list[int] = []
    write: Callable[..., Any] = Writer._batch

    def batch(self: Writer, model: Any, tokenizer: Any, prompts: Any, in_step: bool) -> Any:
        sizes.append(len(prompts))
        if len(sizes) == batches + 1:
            raise KeyboardInterrupt
        return write(self, model, tokenizer, prompts, in_step)

    monkeypatch.setattr(Writer, "_batch", batch)
    return sizes


@pytest.mark.more
@pytest.mark.parametrize("torn", [b"", b'[[3, "The', b"\xff\xfe"])
def test_a_killed_job_continues_with_the_same_texts(
    model: Any, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any, torn: bytes
) -> None:
    options: dict[str, Any] = {"model": (model, tokenizer), "prompt_tokens": 4, "batch_size": 5, "decoder": "top_p=0.9"}
    generate(HUMAN, tmp_path / "whole.jsonl", **options)
    path = tmp_path / "texts.jsonl"
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        killed_after(2, patch)
        generate(HUMAN, path, **options)
    assert not path.exists()
    with unfinished(path).open("ab") as file:
        file.write(torn)
    sizes = killed_after(99, monkeypatch)
    caplog.set_level(logging.WARNING)
    generate(HUMAN, path, **options)
    assert sum(sizes) == len(HUMAN) - 10 and "10 of 24 texts are there already" in caplog.text
    assert path.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir() if file.is_file()) == ["texts.jsonl", "whole.jsonl"]


def not_continued(path: Path, options: dict[str, Any], changes: dict[str, Any]) -> None:
    """Every change is refused, and leaves the unfinished file as it is."""
    before = unfinished(path).read_bytes()
    for name, value in changes.items():
        changed = {**options, name: value}
        with pytest.raises(OSError, match=r"is the beginning of a job with .*: delete it, or give the output"):
            generate(changed.pop("texts"), path, **changed)
        assert unfinished(path).read_bytes() == before, name


@pytest.mark.more
def test_a_job_of_other_arguments_is_not_continued(
    tiny_gpt2: str, tiny_chat: str, answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = transformers.GPT2LMHeadModel.from_pretrained(tiny_chat)
    with torch.no_grad():
        model.transformer.wte.weight.mul_(1.5)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_chat)
    set_of = pytest.importorskip("datasets").Dataset.from_dict
    path, rows = tmp_path / "here.jsonl", {"a": PROMPTS, "b": [f"{text} again" for text in PROMPTS]}
    options: dict[str, Any] = {"texts": set_of(rows), "model": tiny_chat, "max_new_tokens": 4, "batch_size": 2}
    options |= {"text_field": "a", "device": "cpu"}
    changes: dict[str, Any] = {
        "texts": set_of({name: texts[1:] for name, texts in rows.items()}),
        "model": (model, tokenizer),
        "decoder": "top_k=3",
        "seed": 3,
    }
    changes |= {"prompt_tokens": 1, "n_per_prompt": 2, "max_new_tokens": 5, "include_prompt": False, "chat": True}
    changes |= {"batch_size": 3, "device": "cpu:0", "dtype": "float64", "server": answers.url, "text_field": "b"}
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        killed_after(1, patch)
        generate(output=path, **options)
    not_continued(path, options, changes)
    chats = [
        [{"role": "system", "content": "In English."}, {"role": "user", "content": text}] for text in ("a", "never")
    ]
    remote: dict[str, Any] = {"model": "m", "server": answers.url, "tokenizer": tiny_gpt2, "chat": True}
    path = tmp_path / "there.jsonl"
    with pytest.raises(OSError, match="1 of 2 texts failed"):
        generate(chats, path, **remote)
    german = [[{**chat[0], "content": "Auf Deutsch."}, chat[1]] for chat in chats]
    server_changes = {"texts": german, "model": "n", "tokenizer": tiny_chat, "server": f"{answers.url}/v2"}
    not_continued(path, {"texts": chats, **remote}, server_changes)
    tried = {*changes, *server_changes, "output", "verbose"}  # the last has no effect on the texts
    assert tried == inspect.signature(generate).parameters.keys()
    unfinished(path).write_text("notes of my own\n")
    with pytest.raises(FileExistsError, match="is a file of something else"):
        generate(chats, path, **remote)


@pytest.mark.more
@pytest.mark.parametrize(
    "damage",
    [
        "",
        "\x00\x00\x00",
        '[[0, "cut',
        '[[4, "never", "x", "neverx", null]]',  # of another job, as the next ones
        '[[-1, "never", "x", "neverx", null]]',
        '[[3, "other", "x", "otherx", null]]',
        '[["3", "never", "x", "neverx", null]]',
        '[[3, "never", null, null, null]]',
        '[[3, "never", "\\ud800", "never\\ud800", null]]',
        '[[3, "never", "x", "neverx", NaN]]',
    ],
)
def test_what_can_be_read_of_an_unfinished_file_is_kept(
    answers: Answers, tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    prompts = ["a\u2028b", "c\u2029d", "e\x85f", "never"]
    path = tmp_path / "texts.jsonl"
    options: dict[str, Any] = {"model": "m", "server": answers.url, "batch_size": 1}
    with pytest.raises(OSError, match="1 of 4 texts failed"):
        generate(prompts, path, **options)
    lines = unfinished(path).read_text("utf-8").split("\n")
    unfinished(path).write_text("\n".join([*lines[:2], *([damage] if damage else []), *lines[2:]]), "utf-8")
    answers.requests.clear()
    with pytest.raises(OSError, match="1 of 4 texts failed"):
        generate(prompts, path, **options)
    assert {body["prompt"] for _, body, _ in answers.requests} == {"never"}
    assert ("lines [3] are damaged" in caplog.text) == bool(damage)


def test_one_process_writes_an_output(answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, options = tmp_path / "texts.jsonl", {"model": "m", "server": answers.url}
    with (
        owned(lock_of(path)),
        pytest.raises(OSError, match=rf"^'.*texts.jsonl' is being written by process {os.getpid()} on"),
    ):
        generate(["a"], path, **options)
    lock_of(path).write_text("mauve_metric: written by process 1 on a machine that was switched off\n")
    with monkeypatch.context() as patch:
        patch.setattr(JobFile, "keep", lambda job, texts: (job.texts.update(texts), path.write_text("of another")))
        with pytest.raises(OSError, match=r"texts.jsonl' cannot be written: .*(exists|there already)"):
            generate(["a"], path, **options)
    assert path.read_text() == "of another" and not lock_of(path).exists()
    path.unlink()
    lock_of(path).write_text("my own notes")
    with pytest.raises(FileExistsError, match="is a file of something else"):
        generate(["a"], path, **options)
    assert lock_of(path).read_text() == "my own notes"


@pytest.mark.parametrize("beside", [unfinished, lock_of])
def test_a_pipe_beside_the_output_is_not_waited_for(beside: Any, answers: Answers, tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    path = tmp_path / "texts.jsonl"
    os.mkfifo(beside(path))
    with pytest.raises(FileExistsError, match=f"{beside(path).name}' is to be written too, and is no file"):
        generate(["a"], path, model="m", server=answers.url)


def test_no_file_is_overwritten(model: Any, tokenizer: Any, tmp_path: Path) -> None:
    for name in ("texts.jsonl", "link.jsonl"):
        path = tmp_path / name
        path.symlink_to("nowhere") if name == "link.jsonl" else path.write_text("mine")
        with pytest.raises(OSError, match="is there already, and texts are never overwritten"):
            generate(PROMPTS, path, model=(model, tokenizer))
    assert (tmp_path / "texts.jsonl").read_text() == "mine"
    with pytest.raises(ValueError, match=r"expected a name that ends in \.jsonl"):
        generate(PROMPTS, tmp_path / "texts.txt", model=(model, tokenizer))


@pytest.mark.parametrize("wrong", [{"dtype": "fp16"}, {"verbose": "yes"}, {"text_field": 3}])
def test_wrong_options_are_refused_by_their_names(
    wrong: dict[str, Any], model: Any, tokenizer: Any, tmp_path: Path
) -> None:
    """Those that the given model or texts have no use for, too."""
    with pytest.raises((TypeError, ValueError), match=f"^{next(iter(wrong))} must be "):
        generate(PROMPTS, tmp_path / "texts.jsonl", model=(model, tokenizer), **wrong)


def test_an_answer_needs_a_prompt_and_a_template(model: Any, tokenizer: Any, tmp_path: Path) -> None:
    to_write: dict[str, Any] = {"output": tmp_path / "texts.jsonl", "model": (model, tokenizer), "chat": True}
    with pytest.raises(ValueError, match=r"^chat needs a chat template, and the tokenizer of the model has none"):
        generate(PROMPTS, **to_write)
    with pytest.raises(ValueError, match=r"^chat answers prompts, and prompt_tokens makes them"):
        generate(HUMAN, **to_write, prompt_tokens=3)


# --- decoders -----------------------------------------------------------------------------------------------------


def test_decoders_in_words() -> None:
    for decoder, expected in {
        "greedy": {"do_sample": False},
        "sampling": {"do_sample": True, "top_k": 0, "top_p": 1.0, "temperature": 1.0},
        "temperature=0.7, top_k=40": {"do_sample": True, "temperature": 0.7, "top_k": 40},
        "temperature=0": {"do_sample": False, "temperature": 1.0},
        "top_p=0.9,temperature=0.0": {"do_sample": False, "top_p": 1.0},
        "epsilon_cutoff=0.001,eta_cutoff=0.002": {"do_sample": True, "epsilon_cutoff": 0.001, "eta_cutoff": 0.002},
        "typical_p=0.2": {"do_sample": True, "typical_p": 0.2},
        "beam,no_repeat_ngram_size=3": {"do_sample": False, "num_beams": 4, "no_repeat_ngram_size": 3},
        "num_beams=2,top_p=0.5": {"do_sample": True, "num_beams": 2, "top_p": 0.5},
        "num_beams=6,num_beam_groups=3,diversity_penalty=0.5": {"do_sample": False, "num_beam_groups": 3},
        "penalty_alpha=0.6,top_k=4": {"do_sample": False, "penalty_alpha": 0.6, "top_k": 4},
        "min_p=0.1,repetition_penalty=1.2": {"do_sample": True, "min_p": 0.1, "repetition_penalty": 1.2},
    }.items():
        config = generation_settings(decoder_settings(decoder))
        assert {name: getattr(config, name) for name in expected} == expected, decoder


@pytest.mark.parametrize(
    ("decoder", "message"),
    [
        ("top-p=0.9", "decoder must be made of .*, got 'top-p=0.9'"),
        ("topp=0.9", r"did you mean 'top_p'\?"),
        ("top_p=2", r"top_p must be a number in \(0, 1\]"),
        ("top_p=x", "a decoder must be greedy, sampling or settings"),
        ("num_beams=1.5", "num_beams must be"),
        ("num_beams=", "num_beams must be"),
        ("greedy,top_p=0.9", "decoder must sample for top_p=0.9, got 'greedy,top_p=0.9'"),
        ("greedy,num_beams=3", "decoder must have one beam to be greedy, got 'greedy,num_beams=3': leave one out"),
        ("greedy,penalty_alpha=0.6,top_k=4", "decoder must be without penalty_alpha to be greedy"),
        ("penalty_alpha=0.6", "decoder must have top_k of at least 2 with penalty_alpha, got .*penalty_alpha=0.6"),
        ("penalty_alpha=0.6,top_k=4,top_p=0.9", "decoder must have no top_p with penalty_alpha"),
        ("penalty_alpha=0.6,top_k=4,num_beams=2", "decoder must have one beam with penalty_alpha"),
        (
            "penalty_alpha=0.6,top_k=4,repetition_penalty=1.2",
            "decoder must have no repetition_penalty with penalty_alpha",
        ),
        (
            "num_beams=5,num_beam_groups=2,diversity_penalty=1",
            "decoder must have num_beams that num_beam_groups divides",
        ),
        ("num_beams=4,num_beam_groups=2", "decoder must have a diversity_penalty above 0 with num_beam_groups"),
        ("num_beams=4,diversity_penalty=1", "decoder must have num_beam_groups with diversity_penalty"),
        ("num_beams=4,num_beam_groups=2,diversity_penalty=1,top_p=0.9", "must have no sampling with num_beam_groups"),
        ("temperature=0,top_p=2", r"top_p must be a number in \(0, 1\]"),
        ("eta_cutoff=1", r"eta_cutoff must be a number in \(0, 1\)"),
        ("", "decoder must be a text"),
        (None, "decoder must be a text"),
    ],
)
def test_other_decoders_are_refused(decoder: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        decoder_settings(decoder)


# --- servers ------------------------------------------------------------------------------------------------------


def test_a_server_writes(answers: Answers, tmp_path: Path) -> None:
    prompts = [f"word {number}" for number in range(7)]
    path = tmp_path / "texts.jsonl"
    generate(prompts, path, model="m", server=answers.url, decoder="top_k=3", seed=5, batch_size=3, max_new_tokens=20)
    expected = [{"prompt": prompt, "text": f"{prompt}…{prompt}", "tokens": None} for prompt in prompts]
    assert [{name: row[name] for name in ("prompt", "text", "tokens")} for row in rows_of(path)] == expected
    bodies = {body["prompt"]: body for _, body, _ in answers.requests}
    for number, prompt in enumerate(prompts):
        settings = {"max_tokens": 20, "temperature": 1.0, "top_p": 1.0, "top_k": 3, "seed": 5 + number}
        assert bodies[prompt] == {"model": "m", "prompt": prompt} | settings
    answers.requests.clear()
    generate(prompts, tmp_path / "g.jsonl", model="m", server=answers.url, decoder="greedy", chat=True)
    (place, body, _), *_ = answers.requests
    assert place.endswith("chat/completions") and body["temperature"] == 0 and "top_k" not in body
    assert [row["text"] for row in rows_of(tmp_path / "g.jsonl")] == [f"…{prompt}" for prompt in prompts]


def test_texts_that_failed_are_asked_for_again(answers: Answers, tmp_path: Path) -> None:
    prompts, path = ["one", "never this", "two"], tmp_path / "texts.jsonl"
    for _ in range(2):
        with pytest.raises(
            OSError, match=r"1 of 3 texts failed \(prompt 1: .*\): the same command asks for them again"
        ):
            generate(prompts, path, model="m", server=answers.url, batch_size=1)
        assert not path.exists()
    asked = [body["prompt"] for _, body, _ in answers.requests]
    assert asked.count("one") == asked.count("two") == 1 and asked.count("never this") == 2
    answers.requests.clear()
    with pytest.raises(OSError, match="no text came from"):
        prompts = [f"forbidden {number}" for number in range(40)]
        generate(prompts, tmp_path / "other.jsonl", model="m", server=answers.url, batch_size=2)
    assert len(answers.requests) <= 2  # a refusal of the key ends the job


def test_a_server_continues_human_texts_to_their_length(answers: Answers, tmp_path: Path, tiny_gpt2: str) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_gpt2)
    options: dict[str, Any] = {"model": "m", "server": answers.url, "prompt_tokens": 9}
    written = generate(HUMAN, tmp_path / "texts.jsonl", tokenizer=tiny_gpt2, batch_size=4, **options)
    for human, text in zip(HUMAN, written, strict=True):
        ids = tokenizer(human)["input_ids"]
        assert text.prompt == tokenizer.decode(ids[:9]) and f"…{text.prompt}".startswith(text.continuation)
        assert text.tokens == min(len(ids) - 9, len(tokenizer(f"…{text.prompt}")["input_ids"]))
    with pytest.raises(ValueError, match="prompt_tokens needs the tokenizer of the server's model"):
        generate(HUMAN, tmp_path / "other.jsonl", **options)
    others = {"beam": "num_beams", "penalty_alpha=0.6,top_k=4": "penalty_alpha"}
    for decoder, name in others.items():
        with pytest.raises(ValueError, match=f"decoder must be without {name} for a server"):
            generate(HUMAN, tmp_path / "other.jsonl", decoder=decoder, tokenizer=tiny_gpt2, **options)


# --- what is said meanwhile ---------------------------------------------------------------------------------------


def test_progress_names_texts_and_tokens(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with job_progress("generate", [2, 2], False, "texts", "new tokens") as advance:
        advance(0, 2)
        advance(1, 1)
    assert "100 %, 2 of 2 texts, 3 new tokens" in caplog.messages[-1]
