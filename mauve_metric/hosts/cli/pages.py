"""Addresses of the documentation's pages."""

from __future__ import annotations

DOCS = "docs"  # the folder of the repository; the address of the site where there is one


def page(name: str) -> str:
    """The address of a page.

    >>> page("errors")
    'docs/errors.md'
    """
    return f"{DOCS}/{name}.md"
