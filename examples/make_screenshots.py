"""Make the README's pictures of the page: `python examples/make_screenshots.py`, into docs/.

It serves the page on this machine, compares an example with the packaged featurizer in Debian's Chromium, and needs the
extras `[test]` and no network.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

CHROMIUM = "/usr/bin/chromium"
ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = "Pure sampling"
WINDOWS = {"space": (1160, 1180, False), "space-dark": (1160, 1180, True), "space-phone": (390, 844, False)}


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

    from mauve_metric.space.limits import Limits
    from mauve_metric.space.page import build_app, launch_options

    limits = Limits()
    app = build_app(limits, ["minilm"])
    app.queue().launch(prevent_thread_lock=True, quiet=True, **launch_options(limits))
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page()
            show_result(page, app.local_url)
            for name, (width, height, dark) in WINDOWS.items():
                page.set_viewport_size({"width": width, "height": height})
                page.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
                page.wait_for_timeout(1000)
                page.evaluate("document.querySelector('#warnings').scrollIntoView()")
                page.wait_for_timeout(500)
                page.screenshot(path=folder / f"{name}.png")
            browser.close()
    finally:
        app.close()


def show_result(page: Any, address: str) -> None:
    """Compare the example and wait for every picture."""
    page.set_default_timeout(600_000)
    page.goto(address)
    page.click(f"#examples button:has-text('{EXAMPLE}')")
    page.wait_for_selector("#model_preview li")
    page.click("#compare")
    page.wait_for_selector("#score strong")
    for figure in ("score_line", "divergence_curve", "precision_recall", "histogram"):
        page.wait_for_selector(f"#{figure} canvas")


if __name__ == "__main__":
    main()
