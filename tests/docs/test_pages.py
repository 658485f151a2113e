"""The pages as text: each begins with its answer, and each name of the package on them exists."""

from __future__ import annotations

import argparse
import csv
import json
import re
from pathlib import Path

import pytest
from samples import ROOT, script

from mauve_metric import FeatureSet, compute_mauve, describe, read_texts
from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.hosts.cli.main import parser
from mauve_metric.scoring.verdict import EQUIVALENT, FEWEST_ALIKE, FEWEST_TEXTS
from mauve_metric.uncertainty.score_warnings import FEW_TEXTS

PAGES = sorted((ROOT / "docs").rglob("*.md"))
DOCUMENTS = [*PAGES, ROOT / "README.md"]
MOST_WORDS = 50  # of the paragraph that a page begins with
MOST_WORDS_OF_README = 700  # without code and addresses
NO_PROSE = re.compile(r"#|!|\||```|===|:::|<!--|[-*] |\d+\. ")  # at the beginning of a paragraph
DOTTED = re.compile(r"(?<![\w./-])mauve_metric(?:\.(?!py\b)[A-Za-z_]\w*)+")
IMPORT = re.compile(r"^ *from (mauve_metric(?:\.\w+)*) import (\w+(?:, \w+)*)$", re.MULTILINE)
FILE = re.compile(r"`((?:[a-z_]+/)+[a-z_]+\.py)`")
WRITTEN = {"tasks/stories_mauve.py"}  # by a command of the page
FOLDERS = (ROOT, ROOT / "mauve_metric")  # that a path on a page may be in


def identify(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=identify)
def test_a_page_begins_with_its_answer(page: Path) -> None:
    text = re.sub(r"\A---\n.*?\n---\n", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    title, first, *_ = text.strip().split("\n\n")
    assert title.startswith("# ") and "\n" not in title
    assert not NO_PROSE.match(first), f"expected prose below the title, got {first[:60]!r}"
    shown = re.sub(r"\]\([^)]*\)", "]", first)
    assert len(shown.split()) <= MOST_WORDS, f"the first paragraph has {len(shown.split())} words"


def is_there(name: str) -> bool:
    """Return whether a dotted name below the repository is a folder, a module, or a word in the module before it."""
    path, parts = ROOT, name.split(".")
    while parts and (path / parts[0]).is_dir():
        path /= parts.pop(0)
    module = path / f"{parts[0]}.py" if parts else path
    if module.is_file():
        path = module
        parts.pop(0)
    sources = [module] if path == module else sorted(path.glob("__init__.py*"))
    words = {word for source in sources if parts for word in re.findall(r"\w+", source.read_text(encoding="utf-8"))}
    return set(parts) <= words | {"__file__"}


@pytest.mark.parametrize("page", DOCUMENTS, ids=identify)
def test_every_name_of_the_package_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    names = {match[0] for match in DOTTED.finditer(text)}
    names |= {f"{module}.{name}" for module, items in IMPORT.findall(text) for name in items.split(", ")}
    lost = [name for name in sorted(names) if not is_there(name)]
    files = set(FILE.findall(text)) - WRITTEN
    lost += [file for file in sorted(files) if not any((folder / file).is_file() for folder in FOLDERS)]
    assert lost == []


def test_a_name_that_is_gone_is_found() -> None:
    assert is_there("mauve_metric.compute_mauve") and is_there("mauve_metric.hosts.harness.pair_scores.scalar_scores")
    assert not is_there("mauve_metric.hosts.harness.gone") and not is_there("mauve_metric.inputs.files.gone")
    assert FILE.findall("see `inputs/files.py` and `nowhere/files.py`") == ["inputs/files.py", "nowhere/files.py"]


def test_readme_is_short() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8").split("\n---\n", 1)[1]
    prose = re.sub(r"```.*?```|\]\([^)]*\)", "", text, flags=re.DOTALL)
    assert len(prose.split()) <= MOST_WORDS_OF_README


@pytest.mark.slow
@pytest.mark.parametrize("model", ["nucleus", "greedy"])
def test_the_scores_on_the_cards_are_those_of_the_examples(model: str) -> None:
    """Within 2 %: last bits of another processor may move single texts to other buckets."""
    human, other = (FeatureSet.load(ROOT / "examples" / f"{name}.npz") for name in ("human", model))
    result = compute_mauve(p=human, q=other, frechet_distance=True)
    values = json.loads((ROOT / "docs" / "measures.json").read_text(encoding="utf-8"))["score"][model]
    assert {name: getattr(result, name) for name in values} == pytest.approx(values, rel=0.02)


@pytest.mark.parametrize("page", ["encoders.md", "mathematics.md", "people.md", "saturation.md"])
def test_tables_are_those_of_the_results(page: str) -> None:
    tables, text = script("docs/make_tables"), (ROOT / "docs" / page).read_text(encoding="utf-8")
    made = {name: make() for name, make in tables.TABLES[page].items()}
    assert tables.filled(text, made) == text, "run: python docs/make_tables.py"
    assert {*tables.TABLES} == {"encoders.md", "mathematics.md", "people.md", "saturation.md"}


def test_numbers_of_the_speed_table_are_in_the_results() -> None:
    text = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    results = " ".join(
        (ROOT / "benchmarks" / "results" / name).read_text(encoding="utf-8")
        for name in re.findall(r"benchmarks/results/([\w-]+\.md)", text)
    )
    cells = re.findall(r"\d+\.\d+", "".join(re.findall(r"^\|.*--:.*\n((?:\|.*\n)+)", text, re.MULTILINE)[0]))
    assert len(cells) > 20
    assert [cell for cell in cells if cell not in results] == []


@pytest.mark.slow
def test_what_lowers_a_score_is_what_the_page_says(tmp_path: Path) -> None:
    """Within 2 %, as above, in the row with the least texts to read; of the others what the page says of them."""
    tables, text = script("docs/make_tables"), (ROOT / "docs" / "why_low.md").read_text(encoding="utf-8")
    for ending in ("jsonl", "npz"):
        (tmp_path / f"human.{ending}").symlink_to(ROOT / "examples" / f"human.{ending}")
    script("docs/run_blocks").fill_cache(tmp_path)
    changed, rows = tables.changes(), {}
    for name in changed:
        (line,) = (line for line in text.splitlines() if line.startswith(f"| {name} |"))
        rows[name] = [cell.strip() for cell in line.strip("|").split("|")][1:]
    as_they_are, opening, _, shuffled, half, twice, small = rows
    ((_, cells),) = tables.lowered({twice: changed[twice]}).items()
    assert rows[twice][3] == cells[3]
    assert [*map(float, rows[twice][:3])] == pytest.approx([*map(float, cells[:3])], rel=0.02, abs=0.001)

    human = read_texts(ROOT / "examples" / "human.jsonl")[:80]
    found = {
        name: compute_mauve(p_text=human, q_text=changed[name][:80], featurize_model_name="minilm")
        for name in (as_they_are, opening, shuffled, half)
    }
    assert (found[opening].mauve or 1) < (found[shuffled].mauve or 0) < (found[as_they_are].mauve or 0)
    closeness = [result.closeness or 1 for result in found.values()]
    assert closeness[0] > 0.9 and max(closeness[1:]) < 0.2, closeness
    for name, result in found.items():
        assert {*re.findall(r"\[`(\w+)`\]", rows[name][3])} <= {warning.code for warning in result.warnings}
    one, other = (
        FeatureSet.from_texts(changed[name][:20], featurize_model_name="minilm").features
        for name in (as_they_are, small)
    )
    assert abs(one - other).max() < 1e-5 and rows[as_they_are] == rows[small]


def test_numbers_in_prose_are_those_of_the_blocks_and_of_the_code() -> None:
    home, start = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("index.md", "start.md"))
    assert {*re.findall(r"0\.\d{3}", home)} <= {*re.findall(r"0\.\d{3}", start)}
    page = (ROOT / "docs" / "good_score.md").read_text(encoding="utf-8")
    few = f"| fewer than {FEWEST_TEXTS} | no verdict |\n| {FEW_TEXTS} | "
    assert few in page
    readme, mathematics = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/mathematics.md"))
    assert f"{FEWEST_TEXTS} a side at least" in readme and f"with fewer than {FEWEST_TEXTS} texts a set" in mathematics
    assert f"with {FEWEST_ALIKE} texts a set or more" in mathematics
    above = f"interval lies above {EQUIVALENT:g}".replace("0.", ".")
    assert all(above in text for text in (page, readme, mathematics))


def test_what_readme_promises_is_in_the_tables() -> None:
    readme, speed = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/speed.md"))
    with (ROOT / "benchmarks" / "results" / "closeness.csv").open(encoding="utf-8") as file:
        shares = [float(row["closeness covers"]) for row in csv.DictReader(file)]
    assert f"In {sum(share >= 0.9 for share in shares)} of {len(shares)} [simulated cases]" in readme
    rows = re.findall(r"\| 5000 \+ 5000.*\n\| the same, everything.*", speed)  # on both processors
    seconds = [float(row.split("|")[2]) for row in "\n".join(rows).splitlines()]
    assert f"{min(seconds):.1f} to {max(seconds):.1f} seconds a score of 5000 texts" in readme


def test_the_sentences_for_a_paper_have_the_numbers_of_the_blocks() -> None:
    paper, better, start = ((ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("paper", "better", "start"))
    shown = re.findall(r"(?<!\d)\.\d{3}(?!\d)", "".join(re.findall(r"^> .*\n", paper, re.MULTILINE)))
    assert len(shown) > 8 and {*shown} <= {*re.findall(r"\.\d{3}", paper.split("## The sentences")[0] + better + start)}


def test_the_flags_on_the_pages_exist() -> None:
    commands = next(
        action.choices for action in parser(everything=True)._actions if isinstance(action, argparse._SubParsersAction)
    )
    known = {flag for command in commands.values() for action in command._actions for flag in action.option_strings}
    for page in DOCUMENTS:
        lines = re.sub(r"\\\n", " ", page.read_text(encoding="utf-8")).splitlines()
        ours = " ".join(line for line in lines if "mauve-metric " in line and not line.startswith("sbatch"))
        flags = {*re.findall(r"(?<![\w-])--[a-z][\w-]+", ours)} - {"--extra-index-url", "--log_samples"}
        assert flags <= known, page


@pytest.mark.slow
@pytest.mark.parametrize("given", ["texts", "features"])
def test_the_measures_on_the_cards_are_those_of_the_examples(given: str) -> None:
    values = json.loads((ROOT / "docs" / "measures.json").read_text(encoding="utf-8"))["describe"]
    names = [name for name in values["greedy"] if MEASURES[name].inputs.given == (given,)]
    files = {name: ROOT / "examples" / name for name in values}
    if given == "texts":
        texts = {name: read_texts(file.with_suffix(".jsonl")) for name, file in files.items()}
        found = describe(texts.pop("human"), texts, measures=names)
    else:
        sets = {name: FeatureSet.load(file.with_suffix(".npz")) for name, file in files.items()}
        found = describe(p=sets.pop("human"), models=sets, measures=names)
    assert len(names) > 10
    computed = {model: {name: rows[name].value for name in names} for model, rows in found.models.items()}
    computed["human"] = found.human
    for name, of_set in computed.items():
        shown = {measure: values[name][measure] for measure in of_set}
        assert of_set == pytest.approx(shown, rel=0.05, abs=1e-9), name  # last bits of another processor, as above
