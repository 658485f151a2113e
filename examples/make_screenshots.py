"""Make README's picture of the page, with its example: `python examples/make_screenshots.py`, into docs/.

With `--all` it makes every picture that is worth a look before a release: the page as it opens, with its example, with
the result of one model and with that of three, in light and in dark, as wide as a desk, a tablet and a phone; once what
is seen without scrolling, and once the whole page. It serves the page on this machine, compares two examples with the
packaged featurizers in Debian's Chromium, and needs the extras `[test]` and no network.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = "/usr/bin/chromium"
ROOT = Path(__file__).resolve().parent.parent
ONE, THREE = "Pure sampling", "Nucleus, pure and greedy"  # how the words on an example's button begin
WIDTHS = {1440: 900, 768: 1024, 390: 844}  # pixels of a screen, and its height
EXAMPLE = ""  # the one that the page offers first
STATES = {"arrival": None, "example": EXAMPLE, "one": ONE, "three": THREE}


def main() -> None:
    """Serve, compare, and save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "docs", help="of the pictures")
    parser.add_argument("--all", action="store_true", help="every state, width and theme")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    with tempfile.TemporaryDirectory() as uploads:
        os.environ["GRADIO_TEMP_DIR"] = uploads
        with served() as address, chromium() as browser:
            take_all(browser, address, given.folder) if given.all else take_readme(browser, address, given.folder)


@contextmanager
def served() -> Iterator[str]:
    """The page's address, with the packaged featurizers."""
    from mauve_metric.hosts.space.limits import Limits
    from mauve_metric.hosts.space.page import build_app, launch_options

    limits = Limits()
    app = build_app(limits, ["minilm", "ngrams"])
    app.launch(prevent_thread_lock=True, quiet=True, **launch_options(limits))
    try:
        yield app.local_url
    finally:
        app.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def take_readme(browser: Browser, address: str, folder: Path) -> None:
    """The page with its example on a desktop."""
    page = opened(browser, address, EXAMPLE)
    show(page, 1440, 900, dark=False)
    page.screenshot(path=folder / "space.png")
    page.close()


def take_all(browser: Browser, address: str, folder: Path) -> None:
    """Every state of `STATES` at every width of `WIDTHS` in both themes: `arrival-1440-dark.png`, `…-page.png`."""
    for state, example in STATES.items():
        page = opened(browser, address, example)
        for width, height in WIDTHS.items():
            for dark in (False, True):
                show(page, width, height, dark)
                top = "#outcome" if example else "body"
                page.evaluate("top => document.querySelector(top).scrollIntoView()", top)
                name = f"{state}-{width}-{'dark' if dark else 'light'}"
                page.screenshot(path=folder / f"{name}.png")
                page.screenshot(path=folder / f"{name}-page.png", full_page=True)
        page.close()


def opened(browser: Browser, address: str, example: str | None) -> Page:
    """The page as it opens, or with the result of an example: `EXAMPLE`, or one that is compared."""
    page = browser.new_page(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page.set_default_timeout(600_000)
    page.goto(address)
    page.wait_for_selector("#see_example")
    if example == EXAMPLE:
        page.click("#see_example")
    elif example is not None:
        page.click("#choices > button")
        page.click(f"#examples button:has-text('{example}')")
    if example is not None:
        page.wait_for_selector("#score strong")
        page.wait_for_function("document.activeElement.id == 'outcome'")
    return page


def show(page: Page, width: int, height: int, dark: bool) -> None:
    """A window of this size in this theme, once the figures have followed it."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
    page.wait_for_function(
        "() => [...document.querySelectorAll('svg.marks')].every("
        "figure => figure.getBoundingClientRect().right < innerWidth)"
    )
    page.wait_for_timeout(300)  # until fades have ended


if __name__ == "__main__":
    main()
