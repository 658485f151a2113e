"""Notes that a table has no room for, and the table for a paper."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mauve_metric.hosts.cli.main import main


@pytest.mark.parametrize("form", ["--csv", "--latex"])
@pytest.mark.parametrize("command", ["score", "compare"])
def test_tables_have_their_notes_below_or_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, form: str
) -> None:
    for name, seed in (("human", 0), ("model", 1)):
        np.save(tmp_path / f"{name}.npy", np.random.default_rng(seed).normal(size=(60, 4)))
    files = [str(tmp_path / f"{name}.npy") for name in ("human", "model")]
    assert main([command, *files, form, "--num-runs", "1"]) == 0
    out, err = capsys.readouterr()
    with_notes, without = (err, out) if form == "--csv" else (out, err)
    assert "UNDECIDED: a set of 60 texts is too small" in with_notes and "60 texts" not in without
    printed = [line for line in out.splitlines() if not line.startswith("%")]
    assert "--" not in "".join(printed)  # no flag in the table of a paper
    assert form == "--csv" or "60 human texts and 60 of each model, 6 buckets, c = 5. Closeness: " in out
    assert main([command, *files, form, "--num-runs", "1", "--quiet"]) == 0
    assert capsys.readouterr() == (out, "")


def test_a_table_for_a_paper_has_five_columns_and_all_of_them_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, shift in (("human", 0.0), ("a_1", 0.0), ("b", 2.0)):
        np.save(tmp_path / f"{name}.npy", shift + np.random.default_rng(len(name)).normal(size=(60, 4)))
    command = ["compare", *(str(tmp_path / f"{name}.npy") for name in ("human", "a_1", "b")), "--latex"]
    assert main([*command, "--num-runs", "1"]) == 0
    short = capsys.readouterr().out
    assert r"model & MAUVE & closeness & precision & recall \\" in short and r"a\_1 & " in short
    assert short.count(r"\begin{tabular}") == short.count(r"\bottomrule") == 1
    assert short.index(r"\end{tabular}") < short.index(r"b: DIFFERENT from human text") < short.index("\n% p_input")
    assert main([*command, "--num-runs", "1", "--all"]) == 0
    every = capsys.readouterr().out
    assert every.count(r"\begin{tabular}") > 2 and r"rank & model & closeness" in every
