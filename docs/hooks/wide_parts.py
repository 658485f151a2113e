"""Parts wider than a phone scroll by themselves, by keys too: tables, which the theme's script would wrap in what
only a finger can scroll, and figures of several panels, whose words would shrink with them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).resolve().parent.parent / "figures"
FIGURE = re.compile(r'<p>(?=<img [^>]*src="(?:\.\./)*figures/([\w-]+\.svg))')
WIDTH = 400  # pixels up to which a figure can be read when it is made as narrow as a phone


def on_page_content(html: str, **_: Any) -> str:
    """A page's HTML with a frame around each plain table and each wide figure."""
    html = FIGURE.sub(lambda found: '<p class="wide" tabindex="0">' if width(found[1]) > WIDTH else found[0], html)
    parts = html.split("<table>")
    return '<div class="wide" tabindex="0"><table>'.join(
        [parts[0], *(part.replace("</table>", "</table></div>", 1) for part in parts[1:])]
    )


def width(figure: str) -> float:
    """The width of a figure in pixels."""
    found = re.search(r'<svg [^>]*width="([\d.]+)"', (FIGURES / figure).read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{figure} does not say how wide it is")
    return float(found[1])
