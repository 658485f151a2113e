"""Formulas as MathML, made when the site is built: browsers show it without a script or a font."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from latex2mathml.converter import convert

# What pymdownx.arithmatex makes of `$…$` and of `$$…$$`.
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
BLOCK = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)


def on_page_content(html: str, **_: Any) -> str:
    """A page's HTML with its formulas drawn by the browser."""
    html = INLINE.sub(lambda found: mathml(found[1], "inline"), html)
    return BLOCK.sub(lambda found: f'<div class="formula" tabindex="0">{mathml(found[1], "block")}</div>', html)


def mathml(latex: str, display: str) -> str:
    """One formula, with its LaTeX as the words for who cannot see it."""
    source = unescape(latex).strip()
    try:
        made = convert(source, display=display)
    except Exception as error:
        raise ValueError(f"not a formula that latex2mathml can read: {source!r}: {error!r}") from error
    if unknown := re.search(r">(\\\w+)", made):  # it shows what it does not know as it is written
        raise ValueError(f"latex2mathml does not know {unknown[1]} in the formula {source!r}")
    return made
