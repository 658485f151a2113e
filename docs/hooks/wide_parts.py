"""What is wider than a phone scrolls by itself, by the keys too: tables, which the theme's script would wrap in what
only a finger can scroll, and figures, whose words would shrink with them."""

from __future__ import annotations

import re
from typing import Any

FIGURE = re.compile(r'<p>(?=<img [^>]*src="(?:\.\./)*figures/)')


def on_page_content(html: str, **_: Any) -> str:
    """A page's HTML with a frame around each plain table and each figure."""
    html = FIGURE.sub('<p class="wide" tabindex="0">', html)
    parts = html.split("<table>")
    return '<div class="wide" tabindex="0"><table>'.join(
        [parts[0], *(part.replace("</table>", "</table></div>", 1) for part in parts[1:])]
    )
