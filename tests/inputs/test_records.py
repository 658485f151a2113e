"""Records of a file and the values at their fields."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from mauve_metric.apps.judging.preference_tables import read_preferences
from mauve_metric.inputs.bytes_and_encodings import WrongEncoding
from mauve_metric.inputs.files import TextFile, read_texts
from mauve_metric.runtime.errors import DamagedFile, UnknownEnding


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_json_of_plain_strings(tmp_path: Path) -> None:
    assert read_texts(write(tmp_path / "a.jsonl", '"one"\n\n"two"\n')) == ["one", "two"]
    assert read_texts(write(tmp_path / "a.json", '["one", "two"]')) == ["one", "two"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [("[" * 100_000, "nested too deep"), ('{"text": ' + "1" * 5000 + "}", "a whole number of too many digits")],
)
@pytest.mark.parametrize(("suffix", "place"), [(".json", ""), (".jsonl", ", line 1")])
def test_json_that_python_cannot_hold_is_named(
    content: str, reason: str, suffix: str, place: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=rf"texts\{suffix}{place}: not JSON that can be read: .*{reason}") as caught:
        read_texts(write(tmp_path / f"texts{suffix}", content))
    assert isinstance(caught.value, DamagedFile) and len(str(caught.value)) < 300


def test_dotted_paths(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"doc": {"story": "s1"}, "x": 1}\n{"doc": {"story": "s2"}, "x": 1}\n')
    assert read_texts(path, "doc.story") == ["s1", "s2"]
    with pytest.raises(ValueError, match=r"a.jsonl, line 1 has no field 'doc.tale'; 'doc' has 'story' \('s1'\)"):
        read_texts(path, "doc.tale")
    path = write(tmp_path / "b.jsonl", '{"a.b": "s1", "a": {"b": "no"}}\n')
    assert read_texts(path, "a.b") == ["s1"]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Ein schöner Satz über Käse.", "cp1252"),
        ("Sales at the company rose to £28.8bn, she said – “not enough”.\n" * 9, "cp1252"),
        ("Hoje de manhã fui à loja e comprei pão e leite.", "cp1252"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy.", "cp1250"),
        ("один два три четыре, пять", "cp1251"),
        ("これは日本語の文章です。とても良い。", "shift_jis"),
    ],
)
def test_another_encoding_is_guessed_and_read_once_it_is_confirmed(text: str, encoding: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", text.encode(encoding))
    with pytest.raises(WrongEncoding, match=f"a.txt is not UTF-8: .*pass encoding='{encoding}'") as caught:
        read_texts(path)
    assert caught.value.encoding == encoding and read_texts(path, encoding=encoding) == text.splitlines()


def test_an_encoding_is_for_files_that_are_not_utf8(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "déjà vu")
    assert read_texts(path, encoding="cp1252") == ["déjà vu"]
    with pytest.raises(ValueError, match="encoding must be a name such as 'cp1252', got 'nope'"):
        read_texts(path, encoding="nope")


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.txt", "a.gz"])
def test_gzip_by_any_name(name: str, tmp_path: Path) -> None:
    raw = gzip.compress(b'{"text": "One."}\n') + gzip.compress(b'{"text": "Two."}\n')
    assert read_texts(write(tmp_path / name, raw)) == ["One.", "Two."]
    with pytest.raises(ValueError, match="is not a gzip file that can be read: it is cut off"):
        read_texts(write(tmp_path / name, raw[:-3]))
    with pytest.raises(ValueError, match="the texts may take at most 1 MB unpacked here"):
        TextFile(write(tmp_path / name, gzip.compress(b"x\n" * 2**20)), most_bytes=2**20)


def archive(member: str) -> bytes:
    """A zip archive with one member."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr(member, "x")
    return content.getvalue()


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.docx"])
@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"%PDF-1.7", "is a PDF"),
        *[(pickle.dumps({"texts": ["a"] * 9}, protocol), "is a pickle of Python") for protocol in (3, 4, 5)],
        (b"\xd0\xcf\x11\xe0", "is a document of an office program: save it as .xlsx or .csv"),
        (b"{\\rtf1", "is a document of an office program"),
        (archive("[Content_Types].xml"), "is a document of an office program"),
        (archive("content.xml"), "is a document of an office program"),
        (b"7z\xbc\xaf\x27\x1c", "is an archive: unpack it first"),
    ],
)
def test_other_content_is_named(raw: bytes, message: str, name: str, tmp_path: Path) -> None:
    for read in (read_texts, read_preferences):
        with pytest.raises(ValueError, match=re.escape(message)):
            read(write(tmp_path / name, raw))


def test_an_address_is_no_file() -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no file .*: it is an address, download it first"):
        read_texts("https://example.org/a.csv")


def test_compressed_files_and_an_archive_of_one_file(tmp_path: Path) -> None:
    import pyarrow

    raw = b'{"text": "One."}\n{"text": "Two."}\n'
    with pyarrow.CompressedOutputStream(str(tmp_path / "a.jsonl.zst"), "zstd") as file:
        file.write(raw)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive_file:
        archive_file.writestr("in/a.jsonl", raw)
    for path in (
        tmp_path / "a.jsonl.zst",
        tmp_path / "a.zip",
        write(tmp_path / "a.jsonl.bz2", bz2.compress(raw)),
        write(tmp_path / "a.jsonl.xz", lzma.compress(raw)),
    ):
        assert read_texts(path) == ["One.", "Two."]
        with pytest.raises(DamagedFile, match="may take at most 0 MB unpacked"):
            TextFile(path, most_bytes=10)
        write(path, path.read_bytes()[:-8])
        with pytest.raises(DamagedFile, match=r"is not a (zstd|zip|bz2|xz) file that can be read"):
            read_texts(path)


def test_archives_of_several_files_are_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("a.txt", "One.")
        file.writestr("b.txt", "Two.")
    with pytest.raises(UnknownEnding, match="is a zip archive of 2 files: unpack it, and give one of them"):
        read_texts(tmp_path / "a.zip")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as packed:
        packed.add(write(tmp_path / "b.txt", "Two."), "b.txt")
    with pytest.raises(UnknownEnding, match="is a tar archive: unpack it first"):
        read_texts(tmp_path / "a.tar.gz")


def test_lines_end_with_carriage_returns_too(tmp_path: Path) -> None:
    assert read_texts(write(tmp_path / "a.txt", "One.\rTwo.\rThree.\r")) == ["One.", "Two.", "Three."]
    assert read_texts(write(tmp_path / "b.txt", "One.\rTwo.\nThree.\r\n")) == ["One.", "Two.", "Three."]


def test_an_encoding_that_is_none_of_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="encoding must be a name such as 'cp1252', got 'hex'"):
        read_texts(write(tmp_path / "a.txt", b"One \xff"), encoding="hex")
