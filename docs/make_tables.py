"""Writes the tables of measured numbers into the pages of the documentation: python docs/make_tables.py

Each is between two marks, and comes from a file of results in the repository. The table of `why_low.md` is computed
from the example texts by `--run` (some minutes).
"""

from __future__ import annotations

import csv
import json
import random
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from make_reference import filled

ROOT = Path(__file__).resolve().parent.parent
DOCS, RESULTS, EXPERIMENTS = ROOT / "docs", ROOT / "benchmarks" / "results", ROOT / "experiments" / "results"
OF_MODEL, OF_BOTH = " answers to the model's own prompts", " answers of both to prompts of their own"
LEARNED = (("0.5", "500", "20"), ("1.0", "500", "20"), ("1.0", "2000", "1280"), ("1.0", "10000", "50"))


def table(head: str, ruler: str, rows: Iterable[Iterable[Any]]) -> str:
    """Markdown of a table."""
    return "\n".join([head, ruler, *(f"| {' | '.join(map(str, row))} |" for row in rows)]) + "\n"


def read(name: str, folder: Path = RESULTS) -> list[dict[str, str]]:
    """The rows of a table in `benchmarks/results`, or in another folder."""
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def closeness() -> str:
    """Truth and coverage of closeness: `benchmarks/closeness.py truth`."""
    names = {
        "mixture": "{kinds} kinds",
        "shift": "shift by {size}, {kinds} columns",
        "shift in all columns": "shift by {size} along all of {kinds} columns",
        "example features": "features of {kinds} texts, tilt {size}",
        "equal": "equal sets, {kinds} columns",
        "equal, a third of the model's texts": "equal sets, {kinds} columns, a third of the model's texts",
        "spread of all columns": "spread × {size} of all of {kinds} columns",
        "spread of 3 columns": "spread × {size} of 3 of {kinds} columns",
        "spread of 1 column": "spread × {size} of 1 of {kinds} columns",
        "spread, a third of the model's texts": "spread × {size} of {kinds} columns, a third of the model's texts",
        "opposite correlations": "correlation {size} and −{size} of 2 of {kinds} columns",
        "heavy tails": "normal and Student's t ({size}) in {kinds} columns",
        "shift by kind": "{kinds} kinds, each shifted by {size} elsewhere",
        "kinds and a shift": "{kinds} kinds, and a shift by {size}",
        "kinds, more texts": "{kinds} kinds",
        "an atom": "one text in {size} of the model's rows, {kinds} columns",
    }
    rows = []
    for row in read("closeness.csv"):
        name = names[row["population"]].format(kinds=row["kinds or columns"], size=row["tilt or shift"])
        covers = (f"{score} covers" for score in ("closeness", "by groups", "by classifier"))
        percent = (f"{100 * float(row[column]):.0f} %" for column in (*covers, "like human", "undecided"))
        rows.append([f"{name}, n = {row['n']}", row["truth"], row["closeness"], *percent])
    head = "| population, texts a side | truth | closeness | covered | by groups | by classifier "
    head += "| like human | undecided |"
    return table(head, "|---|--:|--:|--:|--:|--:|--:|--:|", rows)


def differences() -> str:
    """Truth, coverage and tests of differences of closeness: `benchmarks/closeness.py differences`."""
    rows = []
    for row in read("differences.csv"):
        kinds = "kinds" if "shares of kinds" in row["models"] else "columns"
        shares = [f"{100 * float(row[column]):.0f} %" for column in ("covered", "real", "falsely real")]
        name = f"{row['models']}; {row['kinds or columns']} {kinds}, n = {row['n']}"
        rows.append([name, row["truth"], row["difference"], *shares])
    head = "| models; texts a side | true difference | measured | covered | called real | falsely |"
    return table(head, "|---|--:|--:|--:|--:|--:|", rows)


def undeclared() -> str:
    """How often sets differ that answer prompts of their own: `benchmarks/closeness.py undeclared`."""
    cells = [row for row in read("undeclared.csv") if OF_MODEL in row["design"] or OF_BOTH in row["design"]]
    case_of = itemgetter("design", "correlation", "d", "order")
    of_shifted = {case_of(row): row for row in cells if float(row["shift"]) > 0}
    rows = []
    for equal, shifted in ((row, of_shifted[case_of(row)]) for row in cells if float(row["shift"]) == 0):
        shares = [f"{_share(cell['different'])}, {_share(cell['declared different'])}" for cell in (equal, shifted)]
        name = equal["design"].replace(OF_MODEL, " of the model").replace(OF_BOTH, " of both")
        case = f"{name}, {_share(equal['correlation'])}, {equal['order']}"
        rows.append([case, equal["d"], _share(equal["named"]), *shares])
    head = "| answers to own prompts, correlation, order | columns | named | equal sets | shifted |"
    return table(head, "|---|--:|--:|---|---|", rows)


def _share(text: str) -> str:
    """
    >>> _share("0.188"), _share("0.500"), _share("1.000"), _share("0.000")
    ('.19', '.5', '1', '0')
    """
    return f"{float(text):.2f}".rstrip("0").rstrip(".").lstrip("0") or "0"


def coverage() -> str:
    """Smallest and largest coverage of the intervals of one score: `benchmarks/coverage.py`."""
    found = read("coverage.csv")

    def low(column: str) -> str:
        return f"{_span(found, column)}; below 50 % in {sum(float(row[column]) < 50 for row in found)} cases"

    debiased = f"{_span(found, 'covered')}; {_span((row for row in found if float(row['truth']) < 0.97), 'covered')}"
    rows = [
        ["of `mauve_debiased`", f"{debiased} where the truth is below .97"],
        ["of `frontier_integral_debiased`", _span(found, "FI covered")],
        ["plug-in score ± 1.96 standard errors", low("plug-in covered")],
        ["percentiles of a bootstrap of the plug-in score", low("percentile covered")],
    ]
    return table("| 95 % interval | share of repeats that covered the truth |", "|---|---|", rows)


def prompts() -> str:
    """The same where texts share prompts: `benchmarks/coverage_prompts.py`."""
    found, column = read("coverage_prompts.csv"), "MAUVE covered"
    few = [row for row in found if "a bucket for ten texts" in row["texts"]]
    usual = [row for row in found if row not in few]
    different = [row for row in usual if row["texts"].startswith("different")]
    spans = {
        "equal sets": _span((row for row in usual if row not in different), column),
        **{
            f"different sets, {count} prompts": _span((row for row in different if row["prompts"] == count), column)
            for count in ("200", "50", "20")
        },
        "two prompts a bucket": _span((row for row in few if row["m"] == "5 and 5"), column),
        "half a prompt a bucket (`few_prompts_a_bucket`)": _span(
            (row for row in few if row["m"] == "20 and 20"), column
        ),
        "the same texts scored as independent": _span(found, "as independent"),
        "differences of two models": _span(read("coverage_differences.csv"), "covered"),
    }
    return table("| design | covered, of the repeats with an interval |", "|---|---|", spans.items())


def _span(rows: Iterable[Mapping[str, str]], column: str) -> str:
    values = [float(row[column]) for row in rows]
    return f"{min(values):g} to {max(values):g} %"


def learned() -> str:
    """Learned buckets against the truth: `benchmarks/learned.py truth`."""
    lines = (RESULTS / "learned.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if re.match(r"\| [\d.]+ \(", line)]
    found = {(row[0].split()[0], row[1], row[2]): row for row in cells if len(row) == 7}
    rows = [[row[0], row[1], row[2], row[4], row[5]] for row in map(found.__getitem__, LEARNED)]
    head = "| shift (true MAUVE) | texts a side | numbers a row | k-means, debiased | learned buckets |"
    return table(head, "|---|--:|--:|--:|--:|", rows)


def encoders() -> str:
    """Smallest strength at which the packaged featurizers show an error: `benchmarks/blind_spots.py`."""
    runs = json.loads((ROOT / "mauve_metric" / "uncertainty" / "blind_spots.json").read_text(encoding="utf-8"))
    names = {name: scores["said"] for run in runs for name, scores in run["perturbations"].items()}
    columns = [[run for run in runs if run["featurizer"] == featurizer] for featurizer in ("minilm", "use", "ngrams")]
    rows = [[said, *(_smallest(name, column) for column in columns)] for name, said in names.items()]
    return table("| error | `minilm` | `use` | `ngrams` |", "|---|---|---|---|", rows)


def packaged() -> str:
    """Processor time and closeness of the packaged featurizers on the examples: `benchmarks/packaged.py`."""
    lines = (RESULTS / "packaged.md").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.startswith("|")) + "\n"


def _smallest(name: str, runs: Iterable[Mapping[str, Any]]) -> str:
    """The smallest strength, of several if there are, else the word of the runs at full strength alone."""
    tried = [run["perturbations"][name] for run in runs if name in run["perturbations"]]
    seen = [scores for scores in tried if scores["smallest_seen"] is not None]
    strengths = {scores["smallest_seen"] for scores in seen if len(scores["strengths"]) > 1}
    if strengths:
        return " to ".join(f"{strength:g}".lstrip("0") for strength in sorted(strengths))
    return "by classifier" if seen else "–"


SHOWN = ("precision", "closeness", "mauve", "mauve_debiased", "mauve_classifier", "recall")


def agreement() -> str:
    """Correlations of scores with people: `experiments/people.py`."""
    rows = []
    for row in read("people.csv", EXPERIMENTS):
        name = f"{row['data']}, {row['question']} ({row['systems']}), {row['featurizer']}"
        rows.append([name, *(_correlation(row, score) for score in SHOWN)])
    head = (
        "| data, question (systems), featurizer | precision | closeness | MAUVE | by groups | by classifier | recall |"
    )
    return table(head, "|---|--:|--:|--:|--:|--:|--:|", rows)


def _correlation(row: Mapping[str, str], score: str) -> str:
    """A correlation with its interval, bold where it is the highest of the row."""
    keys = (score, f"{score}_low", f"{score}_high")
    value, low, high = (f"{float(row[key]):+.2f}".replace("0.", ".", 1) for key in keys)
    is_best = float(row[score]) == max(float(row[other]) for other in SHOWN)
    return f"{'**' * is_best}{value}{'**' * is_best} [{low}, {high}]"


def people_in_words() -> str:
    """What the correlations with people say, counted in the results."""
    rows, words = read("people.csv", EXPERIMENTS), read("people_words.csv", EXPERIMENTS)
    first = {score: sum(float(row[score]) == max(float(row[of]) for of in SHOWN) for row in rows) for score in SHOWN}
    widths = [(float(row["precision_high"]) - float(row["precision_low"])) / 2 for row in rows]
    lexical = [float(row[key]) for row in words for key in list(row)[4:] if not key.endswith(("_low", "_high"))]
    lines = [
        f"Of {len(rows)} rows the first is precision in {first['precision']}, recall in {first['recall']}, MAUVE in "
        f"{first['mauve']}, closeness in {first['closeness']}. Intervals of precision reach {min(widths):.2f} to "
        f"{max(widths):.2f} to each side.",
        *(
            f"{one} agrees with people significantly better than {other} in {_apart(rows, key, 1)} rows, "
            f"and worse in {_apart(rows, key, -1)}."
            for one, other, key in (
                ("Precision", "MAUVE", "precision_minus_mauve"),
                ("Precision", "closeness", "precision_minus_closeness"),
                ("Closeness", "MAUVE", "closeness_minus_mauve"),
            )
        ),
        f"Of {len(lexical)} correlations of [lexical measures](../experiments/results/people_words.md) "
        f"{sum(value < 0 for value in lexical)} are negative.",
    ]
    return "\n".join(f"* {line}" for line in lines) + "\n"


def _apart(rows: Sequence[Mapping[str, str]], key: str, sign: int) -> int:
    """The number of rows in which the interval of a difference lies on one side of 0."""
    ends = [(row[f"{key}_low"], row[f"{key}_high"]) for row in rows]
    return sum(min(sign * float(low), sign * float(high)) > 0 for low, high in ends if low)


TABLES: dict[str, dict[str, Callable[[], str]]] = {
    "mathematics.md": {
        "closeness": closeness,
        "differences": differences,
        "undeclared": undeclared,
        "coverage": coverage,
        "prompts": prompts,
    },
    "saturation.md": {"learned": learned},
    "encoders.md": {"encoders": encoders, "packaged": packaged},
    "people.md": {"agreement": agreement, "verdicts": people_in_words},
}

# --- computed from the examples -----------------------------------------------------------------------------------

OPENING = "Sure! Here is a passage for you: "
TOPIC = re.compile(r"tax|spend|\bjobs?\b|econom", re.IGNORECASE)
OF_EVERY_ROW = {"not_literature_featurizer"}  # of the warnings


def changes() -> dict[str, list[str]]:
    """The other human texts of the examples, and these changed in one way each, by the name of the row."""
    from mauve_metric import read_texts

    texts, rng = read_texts(ROOT / "examples" / "human_other.jsonl"), random.Random(0)
    words = [text.split() for text in texts]
    other_topics = [text for text in texts if not TOPIC.search(text)]
    gone = f"({len(texts) - len(other_topics)} of {len(texts)})"
    return {
        "as they are": texts,
        f'an opening: "{OPENING}"': [OPENING + text for text in texts],
        f"those left out that mention taxes, spending, jobs or the economy {gone}": other_topics,
        "all words of each text shuffled": [" ".join(rng.sample(own, len(own))) for own in words],
        "half of each text": [" ".join(own[: len(own) // 2]) for own in words],
        f"{len(texts) // 2} of them, each twice": texts[::2] * 2,
        "no capitals": [text.lower() for text in texts],
    }


def lowered(changed: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """MAUVE, by groups, closeness and warnings of changed texts against the human ones, by minilm."""
    from mauve_metric import compute_mauve, read_texts

    human, rows = read_texts(ROOT / "examples" / "human.jsonl"), {}
    for name, texts in changed.items():
        out = compute_mauve(p_text=human, q_text=texts, featurize_model_name="minilm")
        codes = [warning.code for warning in out.warnings if warning.code not in OF_EVERY_ROW]
        numbers = [f"{value:.3f}" for value in (out.mauve, out.mauve_debiased, out.closeness)]
        rows[name] = [*numbers, ", ".join(f"[`{code}`](errors.md#{code})" for code in codes)]
    return rows


def write(page: str, tables: Mapping[str, str]) -> None:
    """Write tables into a page."""
    path = DOCS / page
    path.write_text(filled(path.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    for name, tables in TABLES.items():
        write(name, {mark: make() for mark, make in tables.items()})
    if "--run" in sys.argv[1:]:
        rows = [[name, *cells] for name, cells in lowered(changes()).items()]
        head = "| the texts | MAUVE | by groups | closeness | warnings |"
        write("why_low.md", {"lowered": table(head, "|---|--:|--:|--:|---|", rows)})
