"""Tables wider than a phone scroll by themselves, by the keys too: without this the script of the theme wraps them in
what only a finger can scroll."""

from __future__ import annotations

from typing import Any


def on_page_content(html: str, **_: Any) -> str:
    """A page's HTML with a frame around each plain table."""
    parts = html.split("<table>")
    return '<div class="wide" tabindex="0"><table>'.join(
        [parts[0], *(part.replace("</table>", "</table></div>", 1) for part in parts[1:])]
    )
