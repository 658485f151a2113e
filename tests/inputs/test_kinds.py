"""Two kinds of texts in one file, and `FILE:FIELD[column=value]`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import input_error
from samples import HUMAN, MODEL
from tools import jsonl

from mauve_metric import compute_mauve
from mauve_metric.hosts.cli.main import main
from mauve_metric.inputs.files import TextFile, read_texts
from mauve_metric.runtime.errors import NoSuchField, SeveralTexts

TEXTS = [f"This is text number {number} of them." for number in range(8)]


def rows(field: str, *values: Any) -> list[dict[str, Any]]:
    return [{"text": text, field: values[number % len(values)]} for number, text in enumerate(TEXTS)]


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("label", ("machine", "human")),
        ("writer", ("student", "gpt-4")),
        ("role", ("prompter", "assistant")),
        ("model", ("a-7b", "b-7b")),
        ("split", ("train", "test")),
        ("generated", ("0", "1")),
    ],
)
def test_two_kinds_are_refused_with_what_chooses_one(field: str, values: tuple[str, str], tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", rows(field, *values))
    message = rf"2 kinds, by '{field}': '{values[0]}' \(4\), .*such as '{path}:text\[{field}={values[0]}\]'"
    with pytest.raises(SeveralTexts, match=message):
        read_texts(path)
    assert read_texts(f"{path}:text[{field}={values[0]}]") == TEXTS[::2]
    assert read_texts(f"{path}[{field}={values[1]}]") == read_texts(path, f"text[{field}={values[1]}]") == TEXTS[1::2]
    assert read_texts(f"{path}[{field}=*]") == TEXTS


@pytest.mark.parametrize(("field", "values"), [("label", (0, 1)), ("source", ("news", "web"))])
def test_what_may_be_kinds_is_named_and_changes_nothing(field: str, values: tuple[Any, Any], tmp_path: Path) -> None:
    side = TextFile(jsonl(tmp_path / "a.jsonl", rows(field, *values))).side("prediction")
    assert side.texts == TEXTS and f"'{field}' is '{values[0]}' (4), '{values[1]}' (4): [{field}=…]" in side.said


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("model", ("human",)),
        ("model", tuple(map(str, range(8)))),
        ("topic", ("human rights", "sports")),
        ("topic", ("people", "places")),
    ],
)
def test_a_column_of_one_value_of_ids_or_of_topics_parts_nothing(
    field: str, values: tuple[str, ...], tmp_path: Path
) -> None:
    assert TextFile(jsonl(tmp_path / "a.jsonl", rows(field, *values))).kinds() == []
    assert read_texts(tmp_path / "a.jsonl") == TEXTS


def test_what_is_chosen_is_in_the_signature_and_must_be_there(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", rows("label", "human", "ai"))
    assert TextFile(f"{path}[label=ai]").side("prediction").origin == "records/text[label=ai]"
    with pytest.raises(NoSuchField, match="has no row of label 'bot'; it has 'human', 'ai'"):
        read_texts(f"{path}[label=bot]")
    with pytest.raises(NoSuchField, match=r"has no field 'kind' for \[kind=a\]; it has 'text' .*, 'label' "):
        read_texts(f"{path}[kind=a]")


@pytest.mark.more
def test_one_file_serves_both_sides(tmp_path: Path, tiny_gpt2: str, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [*[{"text": text, "label": "human"} for text in HUMAN], *[{"text": text, "label": "ai"} for text in MODEL]]
    path = jsonl(tmp_path / "a.jsonl", sides)
    options: dict[str, Any] = {"featurize_model_name": tiny_gpt2, "num_buckets": 4, "num_runs": 1}
    expected = compute_mauve(p_text=HUMAN, q_text=MODEL, **options).mauve
    assert compute_mauve(p_text=f"{path}[label=human]", q_text=f"{path}[label=ai]", **options).mauve == expected
    flags = ["--featurizer", tiny_gpt2, "--num-buckets", "4", "--num-runs", "1", "--all"]
    assert main(["score", f"{path}:text[label=human]", f"{path}:text[label=ai]", *flags]) == 0
    assert f"{expected:.3f}".removeprefix("0") in capsys.readouterr().out
    assert "2 kinds, by 'label'" in input_error(["score", str(path), str(path)], capsys)


def test_splits_of_a_folder_are_chosen_by_name(tmp_path: Path) -> None:
    for split, texts in {"train": TEXTS[:5], "test": TEXTS[5:]}.items():
        jsonl(tmp_path / "data" / f"{split}-00000-of-00001.jsonl", [{"text": text} for text in texts])
    (tmp_path / "README.md").write_text("# A data set of the Hub", encoding="utf-8")
    with pytest.raises(SeveralTexts, match=r"holds the splits 'test', 'train': choose one, such as '.*\[split=test\]'"):
        read_texts(tmp_path)
    assert read_texts(f"{tmp_path}[split=train]") == TEXTS[:5]
    assert sorted(read_texts(f"{tmp_path}[split=*]")) == TEXTS
    with pytest.raises(NoSuchField, match="has no split 'dev'; it has 'test', 'train'"):
        read_texts(f"{tmp_path}[split=dev]")
