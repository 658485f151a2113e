"""Make the README's pictures of the page: `python examples/make_screenshots.py`, into docs/.

It serves the page on this machine, compares two examples, one of several models, with the packaged featurizer in
Debian's Chromium, and needs the extras `[test]` and no network.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = "/usr/bin/chromium"
ROOT = Path(__file__).resolve().parent.parent
# by example, for each picture its width and height, whether it is dark, and what stands at its top
WINDOWS = {
    "Pure sampling": {
        "space": (1160, 1180, False, "#warnings"),
        "space-dark": (1160, 1180, True, "#warnings"),
        "space-phone": (390, 844, False, "#warnings"),
    },
    "Three models at once": {
        "space-models": (1160, 1280, False, "#score"),
        "space-texts": (1160, 1400, False, "#picked"),
    },
}


def main() -> None:
    """Serve, compare, and save one picture a window."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "docs", help="where the pictures go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    with tempfile.TemporaryDirectory() as uploads:
        os.environ["GRADIO_TEMP_DIR"] = uploads
        take_pictures(folder)


def take_pictures(folder: Path) -> None:
    """One picture of the result for each of `WINDOWS`."""
    from playwright.sync_api import sync_playwright

    from mauve_metric.hosts.space.limits import Limits
    from mauve_metric.hosts.space.page import build_app, launch_options

    limits = Limits()
    app = build_app(limits, ["minilm"])
    app.queue().launch(prevent_thread_lock=True, quiet=True, **launch_options(limits))
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            for example, windows in WINDOWS.items():
                page = browser.new_page()
                show_result(page, app.local_url, example)
                for name, (width, height, dark, top) in windows.items():
                    page.set_viewport_size({"width": width, "height": height})
                    page.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
                    page.wait_for_timeout(1000)
                    page.evaluate("top => document.querySelector(top).scrollIntoView()", top)
                    page.wait_for_timeout(500)
                    page.screenshot(path=folder / f"{name}.png")
                page.close()
            browser.close()
    finally:
        app.close()


def show_result(page: Page, address: str, example: str) -> None:
    """Compare an example and wait for every picture."""
    page.set_default_timeout(600_000)
    page.goto(address)
    page.click(f"#examples button:has-text('{example}')")
    page.wait_for_selector("#model_1_preview li")
    page.click("#compare")
    page.wait_for_selector("#score strong")
    for figure in ("score_line", "divergence_curve", "precision_recall", "contributions", "histogram", "text_map"):
        page.wait_for_selector(f"#{figure} svg.marks")


if __name__ == "__main__":
    main()
