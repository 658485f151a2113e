"""Corpora in every kind of file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from mauve_metric.duplicates import corpus as corpus_module
from mauve_metric.duplicates.corpus import corpus_texts
from mauve_metric.duplicates.memorisation import memorisation

STORY = " ".join(f"word{number}" for number in range(60))


def write_corpus(folder: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    lines = json.dumps({"text": "first"}) + "\n\n" + json.dumps({"text": STORY}) + "\n"
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
        "a.doc has an unknown ending: expected .txt, .jsonl, .json, .csv, .tsv, .parquet, .eval, .txt.gz, .jsonl.gz, "
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
