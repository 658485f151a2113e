"""Checks of options, where any value is taken or refused in a short sentence that names the option, and of archives."""

from __future__ import annotations

import os
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mauve_metric import compute_mauve, human_baseline
from mauve_metric.options import SMALLEST_SCALING_FACTOR, MauveConfig
from mauve_metric.runtime.checks import (
    check_archive,
    check_count,
    check_directory,
    check_file,
    check_known_options,
    shown,
)
from mauve_metric.runtime.errors import UnknownOption

LONG: dict[str, Any] = {
    "400 digits": 10**400,
    "5000 digits": 10**5000,
    "negative": -(10**400),
    "text": "x" * 10_000,
    "array": np.zeros((50, 50)),
    "list": list(range(1000)),
    "bytes": b"x" * 1000,
}


@pytest.mark.parametrize("value", LONG.values(), ids=LONG)
@pytest.mark.parametrize("name", [item.name for item in fields(MauveConfig) if item.name != "featurize_model_name"])
def test_a_long_value_is_refused_in_a_short_sentence(name: str, value: object) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{name} must be ") as caught:
        MauveConfig(**{name: value})
    assert len(str(caught.value)) < 300 and "\n" not in str(caught.value)
    assert vars(caught.value)["argument"] == name


def test_other_messages_are_as_short() -> None:
    for value in (10**5000, -(10**5000), np.zeros(3), "x" * 999):
        if not isinstance(value, int) or value < 0:
            with pytest.raises((TypeError, ValueError), match=r"^texts must be an integer") as caught:
                check_count("texts", value)
            assert len(str(caught.value)) < 200
    with pytest.raises(UnknownOption) as raised:
        check_known_options(["x" * 10_000], ["seed"])
    assert len(str(raised.value)) < 200
    with pytest.raises(UnknownOption, match="did you mean 'p_text'"):
        compute_mauve(p_texts=["a"], q_text=["b"])
    for name, proposed in (("p_text", " (did you mean 'references'?)"), ("q_text", ""), ("predictions", "")):
        with pytest.raises(UnknownOption) as raised:
            check_known_options([name], ["references", "empty_texts", "permutations", "save_texts"])
        assert str(raised.value) == f"unknown option '{name}'{proposed}"
    with pytest.raises(UnknownOption, match=r"'featurizers' .did you mean 'featurize_model_name'"):
        human_baseline(["a"], featurizers="minilm")


class Nameless:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_every_value_can_be_shown() -> None:
    assert shown("short") == "'short'"
    assert shown(Nameless()) == "a value of type Nameless that cannot be shown"
    assert "\n" not in shown(np.zeros((2, 2)), most=100)
    assert len(shown("x" * 999)) == 60


@pytest.mark.parametrize("c", [5e-324, 1e-300, 9e-7])
def test_a_scaling_factor_that_leaves_nothing_of_the_score_is_refused(c: float) -> None:
    with pytest.raises(ValueError, match=r"mauve_scaling_factor must be a number in \[1e-06, 10000\], got"):
        MauveConfig(mauve_scaling_factor=c)


def test_the_smallest_scaling_factor_gives_numbers() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(60, 4)), rng.normal(size=(60, 4)) + 1
    out = compute_mauve(p_features=p, q_features=q, mauve_scaling_factor=SMALLEST_SCALING_FACTOR, num_buckets=5)
    # 1 - MAUVE is c times a sum of divergences of about 1, so that c is its size
    for area in (out.mauve, out.mauve_exact, out.mauve_star):
        assert 0 < 1 - area < 10 * SMALLEST_SCALING_FACTOR
    assert out.mauve_debiased_stderr is not None and 0 <= out.mauve_debiased_stderr < 10 * SMALLEST_SCALING_FACTOR


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_what_is_there_and_no_file_is_said(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, said in ((tmp_path, "a folder"), (tmp_path / "pipe", "a pipe"), (tmp_path / "no", "there is no file")):
        with pytest.raises(FileNotFoundError, match=said):
            check_file(path)


def test_a_directory_that_lost_a_member_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("one", "first")
        archive.writestr("two", "second")
    check_archive(path)
    content = path.read_bytes()
    entry = content.index(b"PK\1\2")
    longer = bytearray(content)
    longer[entry + 32] ^= 64  # of the length of its comment, which then holds the second entry
    path.write_bytes(longer)
    with pytest.raises(zipfile.BadZipFile, match="should name 2 members and names 1"):
        check_directory(path)
    path.write_bytes(content.replace(b"two", b"tvo", 1))
    with pytest.raises(zipfile.BadZipFile, match="differ"):
        check_directory(path)
    path.write_bytes(content.replace(b"first", b"fIrst"))
    check_directory(path)
    with pytest.raises(zipfile.BadZipFile, match="'one' in it is damaged"):
        check_archive(path)
