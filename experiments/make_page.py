"""Write `docs/experiments.md` from the results, with their figures: `python experiments/make_page.py`.

The figures go to `docs/figures/`. Of each page of `experiments/results/` it takes the title, the figure and its
text alternative. A test compares the page with the results.
"""

from __future__ import annotations

import re
from pathlib import Path

from claims import overview
from common import BY_HAND, INK, RESULTS, ROOT

PAGE, FIGURES = ROOT / "docs" / "experiments.md", ROOT / "docs" / "figures"
HEAD = """---
search:
  exclude: true
---
# Experiments

A small language model on a CPU shows much of what the papers found. The page behind each link has the table, the
command, the machine, the time, and where the result differs from the paper. [The papers' tables and
figures](../experiments/papers.md) lists what of three papers is here.

<!-- Written by experiments/make_page.py from the results. -->
"""
INKS = {"light": "#1F1F1F", "dark": "#E6E6EA"}  # of words and lines on the site's two pages


def section(result: Path) -> str:
    """The section of one experiment.

    Raises:
        ValueError: the page of results lacks one of the parts.
    """
    text = result.read_text(encoding="utf-8")
    title = re.match(r"# (.+)\n", text)
    command = re.search(r"^    python experiments/.+$", text, flags=re.MULTILINE)
    _, _, by_hand = text.partition(f"{BY_HAND}\n")
    shown, said = re.search(r"^!\[(.+)\]\(", text, flags=re.MULTILINE), by_hand.split("\n## ")[0].strip()
    if not (title and command and shown and said):
        raise ValueError(f"{result.name} must have a title, a command, a figure with words, and the part {BY_HAND!r}")
    light = f"![{shown[1]}](figures/{result.stem}-light.svg#only-light)"
    dark = f"![On dark pages.](figures/{result.stem}-dark.svg#only-dark)"
    return f"\n## [{title[1]}](../experiments/results/{result.name})\n\n{light}\n{dark}\n"


def figures(result: Path) -> dict[str, str]:
    """The figure of an experiment for a light and a dark page, by file name."""
    drawn = result.with_suffix(".svg").read_text(encoding="utf-8")
    return {f"{result.stem}-{page}.svg": drawn.replace(INK, ink) for page, ink in INKS.items()}


def results() -> list[Path]:
    """The pages of results, by name."""
    return sorted(RESULTS.glob("*.md"))


def page() -> str:
    """The whole page."""
    return f"{HEAD}\n{overview()}{''.join(map(section, results()))}"


def main() -> None:
    """Write the page and its figures."""
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    FIGURES.mkdir(exist_ok=True)
    for result in results():
        for name, drawn in figures(result).items():
            (FIGURES / name).write_text(drawn, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
