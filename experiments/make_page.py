"""Write `docs/experiments.md` from the results, with their figures: `python experiments/make_page.py`.

The figures go to `docs/figures/`. Of each page of `experiments/results/` it takes the title, the command, the figure
and what a person wrote of paper and result. A test compares the page with the results.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from common import BY_HAND, RESULTS, ROOT

PAGE, FIGURES = ROOT / "docs" / "experiments.md", ROOT / "docs" / "figures"
HEAD = """# Experiments

What the papers found, tried again on a small scale: each is one script of `experiments/` with one table and one figure,
on a processor. The tables, the machine and the time of each are in `experiments/results/`.

<!-- Written by experiments/make_page.py from the results. -->
"""


def section(result: Path) -> str:
    """What the page says of one experiment.

    Raises:
        ValueError: the page of results lacks one of the parts.
    """
    text = result.read_text(encoding="utf-8")
    title = re.match(r"# (.+)\n", text)
    command = re.search(r"^    python experiments/.+$", text, flags=re.MULTILINE)
    figure = re.search(r"^!\[(.+)\]\((\w+\.svg)\)$", text, flags=re.MULTILINE)
    _, _, by_hand = text.partition(f"{BY_HAND}\n")
    if not (title and command and figure and by_hand.strip()):
        raise ValueError(f"{result.name} must have a title, a command, a figure and the part {BY_HAND!r}")
    said = by_hand.split("\n## ")[0].strip()
    return f"\n## {title[1]}\n\n{command[0]}\n\n![{figure[1]}](figures/{figure[2]})\n\n{said}\n"


def results() -> list[Path]:
    """The pages of results, by name."""
    return sorted(RESULTS.glob("*.md"))


def page() -> str:
    """The whole page."""
    return HEAD + "".join(map(section, results()))


def main() -> None:
    """Write the page, and copy its figures."""
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    FIGURES.mkdir(exist_ok=True)
    for result in results():
        shutil.copyfile(result.with_suffix(".svg"), FIGURES / f"{result.stem}.svg")


if __name__ == "__main__":
    main()
