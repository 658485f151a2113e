"""Records of a file and the values at their fields."""

from __future__ import annotations

from pathlib import Path

import pytest

from mauve_metric.runtime.errors import DamagedFile
from mauve_metric.texts.files import read_texts


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
