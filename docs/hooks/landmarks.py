"""Names and roles that the theme's templates and Markdown's tables leave out, for screen readers."""

from __future__ import annotations

import re
from typing import Any

DIALOG = '<div class="md-search" data-md-component="search" role="dialog"'
# A section whose heading is a page has a label without text: its title follows inside.
SECTION = re.compile(
    r'aria-labelledby="(?P<id>__nav_[\d_]+)_label"(?P<more>[^>]*>\s*<label class="md-nav__title" for="(?P=id)">\s*'
    r'<span class="md-nav__icon md-icon"></span>\s*(?P<title>[^<]*?)\s*</label>)'
)
EMPTY_HEAD = re.compile(r"<th(?P<attributes>[^>]*)></th>")


def on_page_content(html: str, **_: Any) -> str:
    """Turn empty heads of tables into plain cells."""
    return EMPTY_HEAD.sub(r"<td\g<attributes>></td>", html)


def on_post_page(output: str, **_: Any) -> str:
    """Name the search dialog and the sections of the menu."""
    output = output.replace(DIALOG, f'{DIALOG} aria-label="Search"')
    return SECTION.sub(lambda found: f'aria-label="{found["title"]}"{found["more"]}', output)


def on_post_template(output_content: str, **_: Any) -> str:
    """Do the same on the page for addresses that do not exist."""
    return on_post_page(output_content)
