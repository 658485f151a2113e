"""The leaderboard: its table is that of its entries, and an entry that breaks a rule is refused with the reason."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from samples import ROOT, script


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    return script("leaderboard/build")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The real rules with one real entry."""
    for name in ("rules.json", "README.md"):
        shutil.copy(ROOT / "leaderboard" / name, tmp_path)
    shutil.copytree(ROOT / "leaderboard" / "greedy", tmp_path / "greedy")
    return tmp_path


def test_the_table_is_that_of_the_entries(builder: ModuleType) -> None:
    assert builder.build(ROOT / "leaderboard", check=True) == []
    rows = [line for line in (ROOT / "leaderboard/README.md").read_text(encoding="utf-8").split("\n") if "| [" in line]
    assert len(rows) == 6 and "people" in rows[0] and "greedy" in rows[-1]


def test_a_new_entry_asks_for_a_new_table(builder: ModuleType, folder: Path) -> None:
    assert builder.build(folder, check=True) == [
        "README.md is not that of the entries: run python leaderboard/build.py"
    ]
    assert builder.build(folder, check=False) == [] == builder.build(folder, check=True)
    assert "| 1 | [greedy](greedy/entry.json) |" in (folder / "README.md").read_text(encoding="utf-8")


def changed(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda compared: compared["models"]["greedy"].update(fields)


def signed(old: str, new: str) -> Callable[[dict[str, Any]], None]:
    def change(compared: dict[str, Any]) -> None:
        result = compared["models"]["greedy"]
        assert old in result["signature"]
        result["signature"] = result["signature"].replace(old, new)

    return change


def moved(compared: dict[str, Any]) -> None:
    """A text of the model put into another bucket, which no score has heard of."""
    shares = compared["models"]["greedy"]["q_hist"]
    full = max(range(len(shares)), key=shares.__getitem__)
    shares[full] -= 1 / 600
    shares[full - 1] += 1 / 600


def one_run(result: dict[str, Any]) -> None:
    result |= {"mauve_runs": result["mauve_runs"][:1], "mauve_mean": result["mauve"], "mauve_std": None}


BAD: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "another seed": (signed("seed:25", "seed:26"), "the signature must have seed:25, got 26"),
    "another featurizer": (signed("name:minilm", "name:gpt2-large"), "featurize_model_name:minilm, got gpt2-large"),
    "another quantizer": (signed("num_buckets", "quantizer:drmm|num_buckets"), "quantizer:None, got drmm"),
    "texts of other people": (
        signed("p_digest:7024ea62d64a", "p_digest:123"),
        "must have p_digest:7024ea62d64a, got 123",
    ),
    "other human texts": (changed(p_median_length=120.0), "p_median_length must be 84.0, .*got 120.0"),
    "few texts": (changed(n_q=300), "n_q must be at least 600 texts, got 300"),
    "a better score": (changed(mauve=0.95), r"mauve must follow from p_hist and q_hist, 0\.\d{6}, got 0.950000"),
    "another ceiling": (changed(mauve_ceiling=0.5), "mauve_ceiling must follow from p_hist and q_hist"),
    "another divergence": (changed(jensen_shannon=0.01), "jensen_shannon must follow from p_hist and q_hist"),
    "a better curve": (changed(prd_curve=[[1.0, 0.0], [0.0, 1.0]]), "prd_curve must follow from p_hist and q_hist"),
    "fewer runs": (lambda compared: one_run(compared["models"]["greedy"]), "mauve_runs must be 5 scores"),
    "a better debiased score": (
        changed(mauve_debiased=0.99),
        "mauve_debiased must be in mauve_debiased_ci, .*got 0.99",
    ),
    "a better interval": (
        changed(mauve_debiased=0.99, mauve_debiased_ci=[0.98, 1.0]),
        "mauve_debiased_ci must meet the interval that follows from .*, got 0.980000 to 1.000000",
    ),
    "a better learned score": (
        changed(mauve_classifier=0.5),
        "mauve_classifier must follow from learned_p_counts and learned_q_counts, 0.0.*, got 0.5",
    ),
    "a better learned interval": (changed(mauve_classifier_ci=[0.009, 0.0091]), "mauve_classifier_ci must follow from"),
    "a smaller learned error": (changed(mauve_classifier_stderr=0.0), "mauve_classifier_stderr must follow from"),
    "a better AUC": (changed(auc=0.5, auc_ci=[0.4, 0.6]), "auc_ci must hold auc and that of the learned buckets, 0.9"),
    "fewer learned texts": (changed(learned_q_counts=[15] * 39 + [14]), "learned_q_counts must be 600 texts"),
    "too many learned buckets": (
        changed(learned_q_counts=[15] * 39 + [15]),
        "learned_q_counts must be 600 texts|same length|40 buckets at most",
    ),
    "no learned buckets": (changed(learned_q_counts=None), "is no result of compare: TypeError"),
    "no interval": (changed(frontier_integral_debiased_ci=None), "is no result of compare: TypeError"),
    "no warnings": (changed(warnings=[]), "warnings must hold .*not_literature_featurizer"),
    "an unknown warning": (lambda c: c["models"]["greedy"]["warnings"].append({"code": "x"}), "known codes alone, got"),
    "a score beyond its range": (changed(recall=1.2), "recall must be in its range, got 1.2"),
    "no number": (changed(precision=float("nan")), "is no JSON: NaN is no number"),
    "no precision": (changed(prd_precision=None), "must be numbers, got None"),
    "no histogram": (changed(q_hist=[1.0]), "q_hist must be shares of 600 texts in 60 buckets"),
    "another histogram": (moved, "must follow from p_hist and q_hist"),
    "other runs": (changed(mauve_runs=[0.9, 0.9]), "mauve must be the first of mauve_runs"),
    "no runs": (changed(mauve_runs=[]), "is no result of compare: IndexError"),
    "no signature": (changed(signature=None), "the signature must be settings as name:value between .*, got None"),
    "a number without end": (changed(n_q=10**400), "is no JSON: a whole number of 401 digits"),
    "infinity": (changed(n_q=float("inf")), "is no JSON: Infinity is no number"),
    "half a character": (changed(note="\ud800"), "is no JSON: .*surrogates not allowed"),
    "a field less": (
        lambda compared: compared["models"]["greedy"].pop("mauve_star"),
        "is no result of compare: KeyError",
    ),
    "two models": (lambda compared: compared["models"].update(b={}), "must hold one model, named 'greedy'"),
}


@pytest.mark.more
@pytest.mark.parametrize("case", BAD)
def test_bad_entries(builder: ModuleType, folder: Path, case: str) -> None:
    change, message = BAD[case]
    file = folder / "greedy" / "compare.json"
    compared = json.loads(file.read_text(encoding="utf-8"))
    change(compared)
    file.write_text(json.dumps(compared), encoding="utf-8")
    before = (folder / "README.md").read_text(encoding="utf-8")
    (said,) = builder.build(folder, check=False)
    assert said.startswith("greedy/compare.json")
    with pytest.raises(ValueError, match=message):
        builder.read_entry(folder / "greedy", json.loads((folder / "rules.json").read_text(encoding="utf-8")))
    assert (folder / "README.md").read_text(encoding="utf-8") == before


def test_scores_that_nothing_checks_are_not_shown(builder: ModuleType, folder: Path) -> None:
    rules = json.loads((folder / "rules.json").read_text(encoding="utf-8"))
    file = folder / "greedy" / "compare.json"
    compared = json.loads(file.read_text(encoding="utf-8"))
    before = builder.page([builder.read_entry(folder / "greedy", rules)], rules)
    said = {
        "mauve_debiased_stderr": 1e-9,
        "precision": 1.0,
        "recall": 1.0,
        "auc": 0.99,
        "auc_ci": [0.0, 1.0],
        "format_auc": 0.5,
    }
    compared["models"]["greedy"] |= said
    file.write_text(json.dumps(compared), encoding="utf-8")
    assert builder.page([builder.read_entry(folder / "greedy", rules)], rules) == before


def test_files_that_are_none(builder: ModuleType, folder: Path) -> None:
    (folder / "empty").mkdir()
    shutil.copytree(folder / "greedy", folder / "broken")
    (folder / "broken" / "compare.json").write_text("[1, 2", encoding="utf-8")
    (folder / "greedy" / "entry.json").write_text('{"model": "m", "decoding": " "}', encoding="utf-8")
    shutil.copytree(folder / "greedy", folder / "deep")
    (folder / "deep" / "entry.json").write_text("[" * 100_000, encoding="utf-8")
    broken, deep, empty, greedy = builder.build(folder, check=True)
    assert deep.startswith("deep/entry.json is no JSON: maximum recursion depth")
    assert broken.startswith("broken/compare.json is no JSON")
    assert empty == "empty has no entry.json"
    assert greedy.endswith("missing: decoding, texts, by")
