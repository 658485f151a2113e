"""The built site: every link, picture and formula, and nothing of another host."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from samples import ROOT, script

import mauve_metric


class Page(HTMLParser):
    """The links, the pictures and the names that links lead to, of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.pictures: list[dict[str, str | None]] = []
        self.names: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.names |= {name for name in (given.get("id"), given.get("name")) if name}
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        if tag in ("link", "script", "img", "iframe", "source", "object"):
            self.loaded += [str(given[key]) for key in ("href", "src", "data") if given.get(key)]
        if tag == "img":
            self.pictures.append(given)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}


@pytest.mark.slow
def test_links_lead_to_a_page_and_a_place_on_it(site: Path, pages: dict[Path, Page]) -> None:
    assert len(pages) > 20
    lost = []
    for path, page in pages.items():
        for link in {*page.links, *page.loaded}:
            if re.match(r"[a-z]+:", link):
                continue
            name, place = urldefrag(unquote(link))
            there = (path.parent / name).resolve() if name else path
            if not there.is_file() or (place and there in pages and place not in pages[there].names):
                lost.append(f"{path.relative_to(site)}: {link}")
    assert lost == []


@pytest.mark.slow
def test_nothing_is_loaded_from_another_host(site: Path, pages: dict[Path, Page]) -> None:
    assert [link for page in pages.values() for link in page.loaded if re.match(r"(?!data:)[a-z]*:|//", link)] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert styles and re.findall(r"url\([\"']?(?:https?:)?//[^)]*\)|@import[^;]*//", styles) == []


@pytest.mark.slow
def test_pictures_have_words_and_figures_a_twin_for_dark_pages(site: Path, pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        shown = [str(picture["src"]) for picture in page.pictures]
        assert [picture for picture in page.pictures if not picture.get("alt")] == [], path
        twins = [src.replace("-light.svg#only-light", "-dark.svg#only-dark") for src in shown if "#only-light" in src]
        assert sorted(twins) == sorted(src for src in shown if "#only-dark" in src), path.relative_to(site)


@pytest.mark.slow
def test_formulas_are_mathml(site: Path, pages: dict[Path, Page]) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in pages)
    assert 'class="arithmatex"' not in text
    assert "<math" in (site / "mathematics.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_public_name_is_on_a_page(pages: dict[Path, Page]) -> None:
    names = {name for page in pages.values() for name in page.names}
    assert {f"mauve_metric.{name}" for name in mauve_metric.__all__ if name != "__version__"} - names == set()


# --- what makes the site ------------------------------------------------------------------------------------------


def test_a_docstring_without_a_section_is_found() -> None:
    griffe = pytest.importorskip("griffe")
    missing = script("docs/hooks/docstrings").missing
    whole = (
        "One.\n\nArgs:\n    a, b: two.\n    **options: others.\n\nReturns:\n    It.\n\nRaises:\n    ValueError: no.\n"
    )

    def complaints(docstring: str, arguments: str = "a, b, **options", returns: str = "int") -> list[str]:
        code = f'def f({arguments}) -> {returns}:\n    """{docstring}"""\n'
        with griffe.temporary_visited_module(code) as module:
            return list(missing(module["f"]))

    assert complaints(whole) == []
    assert complaints("") == ["is missing"]
    assert complaints(whole.replace("Raises:", "Fails:")) == ['has no section "Raises"']
    assert complaints(whole.replace("Returns:", "Gives:")) == ['has no section "Returns"']
    assert complaints(whole.replace("Returns:", "Gives:"), returns="None") == []
    assert complaints(whole, "a, b, c, **options") == ["does not describe c"]
    assert complaints(whole.replace("    **options: others.\n", ""), "a") == ["describes b, which is no argument"]
    assert complaints("One.\n\nReturns:\n    It.\n\nRaises:\n    ValueError: no.\n", "a") == ['has no section "Args"']


def test_formulas_that_cannot_be_read_name_themselves() -> None:
    pytest.importorskip("latex2mathml")
    formulas = script("docs/hooks/formulas")
    html = formulas.on_page_content(r'<p><span class="arithmatex">\(a &lt; \frac{1}{2}\)</span></p>')
    assert html.startswith("<p><math") and "<mfrac>" in html and "arithmatex" not in html
    for wrong, said in ((r"\left( x", r"can read: .*left"), (r"\fooo x", r"does not know \\fooo in")):
        with pytest.raises(ValueError, match=said):
            formulas.on_page_content(rf'<div class="arithmatex">\[{wrong}\]</div>')


def test_links_into_the_repository_become_links_within_the_site() -> None:
    pytest.importorskip("mkdocs")
    links = script("docs/hooks/repository_links")
    docs = links.PurePosixPath("docs")
    text = "[a](../examples/x.py) [b](scale.md#how) [c](../README.md#use) [d](https://x.org) `[e](../f.py)` [g](#h)"
    assert links.rewritten(text, "docs/start.md", docs) == (
        "[a](repository/examples/x.py.md) [b](scale.md#how) [c](repository/README.md#use) [d](https://x.org)"
        " `[e](../f.py)` [g](#h)"
    )
    assert links.rewritten("[b](../LICENSE)", "examples/README.md", docs) == "[b](../LICENSE.md)"
    assert links.rewritten("[a](../docs/scale.md)", "examples/README.md", docs) == "[a](../../scale.md)"
    fenced = "```python\nx = table[0](../a.py)\n```\n"
    assert links.rewritten(fenced, "docs/start.md", docs) == fenced


def test_the_picture_of_the_layers_has_those_of_the_contract() -> None:
    pytest.importorskip("altair")
    names = {name for layer in script("docs/make_figures").layer_names() for name in layer}
    for page in ("light", "dark"):
        picture = (ROOT / "docs" / "figures" / f"layers-{page}.svg").read_text(encoding="utf-8")
        assert set(re.findall(r">([\w]+)</text>", picture)) == names, "run: python docs/make_figures.py layers"
