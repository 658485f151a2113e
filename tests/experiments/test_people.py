"""The study of agreement with people, on systems whose order is known."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from samples import ROOT

sys.path.append(str(ROOT / "experiments"))

import people

WORDS = "the ships of a harbour are old and grey but some men sing in rain while dogs run".split()


def texts(seed: int, broken: int) -> list[dict[str, str]]:
    """Sixty texts, the first of which are of other words: the more, the worse."""
    rng = np.random.default_rng(seed)
    other = ["".join(rng.choice(list("xqzvkw"), 5)) for _ in range(200)]
    rows = []
    for number in range(60):
        words = rng.choice(other if number < broken else WORDS, 12).tolist()
        rows.append({"prompt": f"p{number}", "text": " ".join(words)})
    return rows


@pytest.mark.slow
def test_the_tables_have_the_correlations_of_known_orders(tmp_path: Path) -> None:
    """Systems of which each is worse than the one before, by people's ratings and by every score."""
    folder = tmp_path / "toy"
    folder.mkdir()
    for name, seed, broken in (("human", 0, 0), ("human2", 1, 0), *((f"s{k}", 2 + k, 10 * k) for k in range(6))):
        lines = "\n".join(json.dumps(row) for row in texts(seed, broken))
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    scores = {f"s{k}": {"fluency": 9.0 - k, "n_fluency": 5} for k in range(6)} | {
        "human2": {"fluency": 0, "n_fluency": 5}
    }
    (tmp_path / "toy.people.json").write_text(json.dumps(scores), encoding="utf-8")
    pairs = "".join(f"s{i},s{j},{w}\n" for i in range(6) for j in range(i + 1, 6) for w in "aaab")
    (tmp_path / "toy.liked_pairs.csv").write_text("model_a,model_b,winner\n" + pairs, encoding="utf-8")
    page, of_words = people.main([str(tmp_path), "--featurizers", "ngrams", "--out", str(tmp_path / "out")])
    with (tmp_path / "out" / "people.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["data"], row["question"], row["systems"]) for row in rows] == [
        ("toy", "fluency", "6"),
        ("toy", "liked, by pairs", "6"),
    ]
    for row in rows:
        assert float(row["mauve"]) > 0.8 and float(row["precision"]) > 0.8  # human2, rated 0, is left out
        difference = float(row["precision"]) - float(row["mauve"])
        assert float(row["precision_minus_mauve"]) == pytest.approx(difference)
    assert "The second human set against the first: toy, ngrams: closeness" in page.read_text(encoding="utf-8")
    assert "| toy | fluency | words | 6 |" in of_words.read_text(encoding="utf-8")


def test_a_folder_without_scores_of_people_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no NAME\.people\.json in"):
        people.main([str(tmp_path)])
