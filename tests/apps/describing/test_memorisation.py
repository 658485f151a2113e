"""Copies from a corpus against sets of windows by brute force, and corpora in every kind of file."""

from __future__ import annotations

import gzip
import json
import random
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from mauve_metric.apps.describing import memorisation as corpus_module
from mauve_metric.apps.describing import memorisation as module
from mauve_metric.apps.describing.memorisation import CorpusText, Memorisation, corpus_texts, memorisation
from mauve_metric.inputs.file_types import named_endings


def texts_of(seed: int, count: int, longest: int = 30, letters: int = 4) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choice("abcdefgh"[:letters]) for _ in range(rng.randrange(longest))) for _ in range(count)]


def naive(generations: list[str], corpus: list[str], length: int) -> list[list[bool]]:
    known = {
        tuple(words[start : start + length])
        for words in map(str.split, corpus)
        for start in range(len(words) - length + 1)
    }
    marks = []
    for words in map(str.split, generations):
        mark = [False] * len(words)
        for start in range(len(words) - length + 1):
            if tuple(words[start : start + length]) in known:
                mark[start : start + length] = [True] * length
        marks.append(mark)
    return marks


def marks_of(found: Memorisation, generations: list[str]) -> list[list[bool]]:
    marks = [[False] * len(text.split()) for text in generations]
    for (text, start, end), _ in found.spans:
        marks[text][start:end] = [True] * (end - start)
    return marks


@pytest.mark.parametrize("at_once", [1, 37, 1 << 20])
@pytest.mark.parametrize("length", [1, 3, 6])
def test_copies_as_by_brute_force(length: int, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    for seed in range(8):
        generations, corpus = texts_of(seed, 6), texts_of(seed + 50, 12, letters=5)
        found, expected = memorisation(generations, iter(corpus), length), naive(generations, corpus, length)
        assert marks_of(found, generations) == expected
        assert found.rate == pytest.approx(np.mean(list(chain.from_iterable(expected))))
        assert found.shares.tolist() == pytest.approx([np.mean(mark) if mark else 0 for mark in expected])
        assert (found.corpus_texts, found.corpus_tokens) == (12, sum(len(text.split()) for text in corpus))


def test_each_passage_has_its_place() -> None:
    generations = ["x a b c d x", "e f g h"]
    corpus = ["nothing here", "a b c d", "a b c d", "d e f g h e f g h"]
    found = memorisation(generations, corpus, length=3)
    assert [(tuple(span), where) for span, where in found.spans] == [((0, 1, 5), "text 2"), ((1, 0, 4), "text 4")]


@pytest.mark.parametrize("at_once", [1, 5, 1 << 20])
def test_a_running_text_goes_on_and_others_do_not(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    parts = [CorpusText("q a b", "one"), CorpusText("c d", "two", goes_on=True), CorpusText("e f g", "three")]
    found = memorisation(["a b c d e f"], parts, length=4)
    assert [(tuple(span), where) for span, where in found.spans] == [((0, 0, 4), "one")]
    assert (found.corpus_texts, found.corpus_tokens) == (2, 8)


def test_a_place_without_a_name() -> None:
    assert memorisation(["a b c"], [CorpusText("x", "one"), CorpusText("a b c", "")], length=3).rate == 1


def test_tokens_of_a_tokenizer() -> None:
    found = memorisation(["abcde"], ["xbcdy"], length=3, split=lambda text: [ord(letter) for letter in text])
    assert found.rate == 0.6


def test_bad_input() -> None:
    with pytest.raises(TypeError, match="got a single text: 'a b'"):
        memorisation(["a"], "a b", length=1)
    with pytest.raises(ValueError, match=r"the longest one has 2; lower length \(--length\)"):
        memorisation(["a b"], ["a b"])
    with pytest.raises(ValueError, match="corpus holds no texts"):
        memorisation(["a b"], [], length=1)
    with pytest.raises(ValueError, match="length must be at least 1, got 0"):
        memorisation(["a b"], ["a"], length=0)


STORY = " ".join(f"word{number}" for number in range(60))


def write_corpus(folder: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    lines = json.dumps({"text": "first"}) + "\n\n" + json.dumps({"text": STORY}) + "\n"
    (folder / "._a.jsonl").write_bytes(b"\0\5\26\7")  # as macOS writes beside each file
    (folder / "a.jsonl").write_text(lines, encoding="utf-8")
    (folder / "b.txt").write_text(STORY.replace(" word3", "\nword3"), encoding="utf-8")
    (folder / "c.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "d.txt.gz").write_bytes(gzip.compress(STORY.encode()))
    pyarrow.parquet.write_table(pyarrow.table({"text": ["first", STORY]}), folder / "e.parquet")
    (folder / "f.csv").write_text(f"text\nfirst\n{STORY}\n", encoding="utf-8")
    (folder / "g.json").write_text(json.dumps([STORY]), encoding="utf-8")
    (folder / "notes.md").write_text("no text of the corpus", encoding="utf-8")


def test_every_kind_of_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_module, "_BLOCK", 64)  # so that running text comes in parts
    write_corpus(tmp_path)
    wheres = {}
    for file in sorted(tmp_path.glob("[a-g].*")):
        found = memorisation([f"He said {STORY}"], corpus_texts(file))
        assert found.rate == 60 / 62, file
        wheres[file.name] = found.spans[0].where.removeprefix(f"{tmp_path}/")
    assert wheres["a.jsonl"] == "a.jsonl, line 3"
    assert wheres["c.jsonl.gz"] == "c.jsonl.gz, line 3"
    assert wheres["e.parquet"] == "e.parquet, row 1"
    assert wheres["f.csv"] == "f.csv, text 2"
    assert wheres["b.txt"].startswith("b.txt, from line 1")
    assert memorisation([STORY], corpus_texts(tmp_path)).corpus_texts == 11
    assert memorisation([STORY], corpus_texts(tmp_path / "a.jsonl", tmp_path / "g.json")).corpus_texts == 3
    (tmp_path / "h.jsonl").write_text(json.dumps({"id": "first", "story": STORY, "note": STORY}), encoding="utf-8")
    assert [text.text for text in corpus_texts(f"{tmp_path / 'h.jsonl'}:story")] == [STORY]


def test_a_workbook_is_a_corpus_and_the_description_names_every_type(tmp_path: Path) -> None:
    import openpyxl

    workbook = openpyxl.Workbook()
    for cell in ("text", "first", STORY):
        workbook.active.append([cell])
    workbook.save(tmp_path / "h.xlsx")
    assert memorisation([f"He said {STORY}"], corpus_texts(tmp_path)).rate == 60 / 62
    assert [ending for ending in named_endings() if f"`{ending}`" not in (corpus_texts.__doc__ or "")] == []


def test_running_text_without_blanks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(map(chr, range(0x4E00, 0x4E3C)))
    (tmp_path / "a.txt").write_text("\ufeff" + text, encoding="utf-8")
    for block in (1, 2, 10, 1000):
        monkeypatch.setattr(corpus_module, "_BLOCK", block)
        assert "".join(part.text for part in corpus_texts(tmp_path / "a.txt")) in (text, "\ufeff" + text)
        assert memorisation(["x " + text], corpus_texts(tmp_path / "a.txt")).rate == 60 / 61


def test_files_that_are_no_corpus(tmp_path: Path) -> None:
    def refused(name: str, content: bytes = b"") -> str:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ValueError) as error:
            list(corpus_texts(path))
        return str(error.value).replace(f"{tmp_path}/", "")

    assert refused("a.doc") == (
        "a.doc has an unknown ending: expected .txt, .jsonl, .json, .csv, .tsv, .parquet, .xlsx, "
        ".eval, .txt.gz, .jsonl.gz, "
        "or a folder of such files"
    )
    assert refused("b.jsonl", b'{"text": "x"}\n{"text": 3}').startswith("b.jsonl, line 2: expected a text")
    assert refused("c.jsonl", b'"x"\n{oh').startswith("c.jsonl, line 2: not JSON")
    assert refused("d.txt", b"ab\n\xff").startswith("d.txt is not UTF-8")
    assert refused("d.jsonl", b'"ab"\n"\xff"') == "d.jsonl is not UTF-8: line 2 holds the byte 0xff"
    assert "looks like UTF-16" in refused("d.txt", "some words".encode("utf-16-le"))
    assert refused("e.txt.gz", b"ab").startswith("e.txt.gz is not a gzip file that can be read")
    assert refused("f.parquet", b"ab").startswith("f.parquet is not a parquet file that can be read")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        list(corpus_texts(tmp_path / "none.txt"))
    with pytest.raises(ValueError, match="at least one file or folder"):
        list(corpus_texts())
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="holds no file of texts"):
        list(corpus_texts(tmp_path / "empty"))
