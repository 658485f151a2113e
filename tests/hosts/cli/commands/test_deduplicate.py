"""The commands about copies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from samples import write_jsonl

from mauve_metric.apps.describing.duplicates.near_duplicates import PUBLISHED
from mauve_metric.hosts.cli.commands.deduplicate import PRESETS
from mauve_metric.hosts.cli.main import main

LONG = " ".join(f"word{number}" for number in range(60))
TEXTS = [LONG, "something else", LONG.replace("word7 ", "other "), "a third text"]


def test_near_duplicates_are_removed_from_a_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tuple(PUBLISHED) == PRESETS
    texts, out = write_jsonl(tmp_path / "texts.jsonl", TEXTS), tmp_path / "kept.jsonl"
    assert main(["deduplicate", texts, "-o", str(out)]) == 0
    assert "kept 3 of 4 texts: 1 nearly repeat" in capsys.readouterr().out
    assert [json.loads(line)["text"] for line in out.read_text().splitlines()] == [TEXTS[0], TEXTS[1], TEXTS[3]]
    human = write_jsonl(tmp_path / "human.jsonl", [LONG])
    assert main(["deduplicate", texts, "--against", human, "--preset", "lee", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kept"] == [1, 3]
    assert main(["deduplicate", texts, "-o", texts]) == 1  # would replace what is read
    assert "would replace" in capsys.readouterr().err
    assert main(["deduplicate", texts, "-o", str(tmp_path / "kept.csv")]) == 1
    assert "expected a name that ends in .jsonl, .txt" in capsys.readouterr().err


def test_texts_are_written_to_endings_in_capitals_too(tmp_path: Path) -> None:
    texts = write_jsonl(tmp_path / "texts.jsonl", TEXTS)
    for name, line in (("kept.JSONL", json.dumps({"text": TEXTS[0]})), ("kept.Txt", TEXTS[0])):
        assert main(["deduplicate", texts, "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_text(encoding="utf-8").splitlines()[0] == line
    with pytest.raises(SystemExit):  # -o names a folder there
        main(["score", texts, texts, "-o", str(tmp_path / "report.HTML")])


def test_repeated_passages_are_cut_out_of_a_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts, out = write_jsonl(tmp_path / "texts.jsonl", [f"one {LONG}", LONG, "another text"]), tmp_path / "cut.jsonl"
    assert main(["deduplicate", texts, "--substrings", "50", "-o", str(out)]) == 0
    assert "cut 60 of 123 tokens in 1 passages of 1 of 3 texts, 1 of them whole" in capsys.readouterr().out
    assert [json.loads(line)["text"] for line in out.read_text().splitlines()] == [f"one {LONG}", "another text"]
    assert main(["deduplicate", texts, "--substrings", "50", "--all-copies", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["spans"] == [{"text": 0, "start": 1, "end": 61}, {"text": 1, "start": 0, "end": 60}]
    assert found["texts_with_repeat"] == {"60": 2}
    for flags in (["--all-copies"], ["--substrings", "9", "--preset", "lee"]):
        with pytest.raises(SystemExit, match="2"):
            main(["deduplicate", texts, *flags])


def test_continuations_are_compared_with_the_true_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = write_jsonl(tmp_path / "texts.jsonl", TEXTS)
    truths = write_jsonl(tmp_path / "truths.jsonl", [*TEXTS[:2], LONG, "no text"])
    assert main(["memorised", texts, truths, "--prompted"]) == 0
    assert "0.8   75.0 %" in capsys.readouterr().out
    assert main(["memorised", texts, truths, "--prompted", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["similarities"] == pytest.approx([1, 1, 59 / 60, 1 / 3])
    assert main(["memorised", texts, write_jsonl(tmp_path / "few.jsonl", TEXTS[:3]), "--prompted"]) == 1
    assert "CORPUS must hold one text for each of 4 continuations, got 3" in capsys.readouterr().err
    assert main(["memorised", texts, truths, "--prompted", "--length", "5"]) == 1
    assert "--length counts in passages" in capsys.readouterr().err


def test_copies_of_a_corpus_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = write_jsonl(tmp_path / "texts.jsonl", TEXTS)
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "book.txt").write_text(f"before {LONG} after\n", encoding="utf-8")
    assert main(["memorised", texts, str(corpus)]) == 0
    shown = capsys.readouterr().out
    assert "book.txt" in shown and "text 1, tokens 0 to 60" in shown
    assert main(["memorised", texts, str(corpus), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["shares"][0] == 1 and found["shares"][1] == 0 and 0 < found["rate"] < 1
    assert main(["memorised", texts, str(tmp_path / "nowhere")]) == 1
    assert "nowhere" in capsys.readouterr().err
