"""Actions of a visitor of the Space: with the page's own functions, and in a browser."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pytest
from samples import HUMAN, MODEL, write_jsonl

from mauve_metric.hosts.space.limits import Limits

if TYPE_CHECKING:
    from mauve_metric.hosts.space.session.sessions import Session
    from mauve_metric.hosts.space.view.handlers import Handlers

LIMITS = Limits(texts=40, characters=200, megabytes=1, total_texts=150, total_megabytes=2, buckets=10, waiting_each=20)
CHROMIUM = Path("/usr/bin/chromium")
# For `launch`: it returns, and does not give up a page whose first answer takes three seconds on a busy machine.
SERVED = {"prevent_thread_lock": True, "quiet": True, "_frontend": False}
NO_WINDOW = ["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer"]  # no pixel is drawn as a GPU would
# Whether a part of the page is on the screen, whole.
IN_SIGHT = """name => { const {top, bottom} = document.querySelector(name).getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight; }"""
FIGURES = ("divergence_curve", "precision_recall", "contributions", "histogram", "text_map")


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window; the test is skipped where there is none."""
    if not CHROMIUM.exists():
        pytest.skip(f"the browser tests need {CHROMIUM} (Debian's package chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=str(CHROMIUM), args=NO_WINDOW, timeout=300_000)
        yield browser
        browser.close()


def free_port() -> int:
    """A port that no server listens on: two test processes that count up from the same one would meet."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def visitor(desk: Handlers, name: str = "a") -> Session:
    return desk.sessions.get(name)


def request(name: str = "a") -> Any:
    return SimpleNamespace(session_hash=name)


CALLER = SimpleNamespace(client=None)  # who calls an endpoint


def spec(figure: Any) -> dict[str, Any]:
    """The Vega-Lite of a figure's value."""
    return dict(json.loads(figure.plot))


def press(
    desk: Handlers, play: tuple[Any, ...] = (5, 4, 7, 0.95), who: str = "a", tell: Any = None, **more: Any
) -> dict[str, Any]:
    """Output of the button, by the names of the outputs."""
    from mauve_metric.hosts.space.view.settings import panel_names

    panel = [more.get(name) for name in panel_names()]  # None: the default
    values = [more.get("human", ""), more.get("model", ""), more.get("aligned", False)]
    values += [more.get("featurizer", "ngrams"), *play, *panel, more.get("others", [])]
    return desk.compare(values, more.get("held", ("", "")), visitor(desk, who), tell or (lambda share, desc: None))


def measure(desk: Handlers, groups: tuple[str, ...] = (), who: str = "a", tell: Any = None) -> dict[str, Any]:
    """Output of the button of the measures, by the names of the outputs."""
    return desk.measure(groups, visitor(desk, who), tell or (lambda share, desc: None))


def give(desk: Handlers, tmp_path: Path, who: str = "a", model: list[str] = MODEL) -> None:
    desk.take_file(write_jsonl(tmp_path / f"{who}_human.jsonl", HUMAN), visitor(desk, who))
    desk.add_files([write_jsonl(tmp_path / f"{who}_model.jsonl", model)], visitor(desk, who))


def close(desk: Handlers, who: str = "a") -> None:
    """Close the page for as long as its texts are kept for a reload."""
    desk.leave(request(who))
    desk.sessions.drop(who)


def opened(context: Any, address: str, size: tuple[int, int] = (1200, 900), query: str = "", **media: str) -> Any:
    """The page in a window of its own, whose `complaints` are its errors and what it fetches from elsewhere."""
    page = context.new_page()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(**media)
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda line: page.complaints.append(line.text) if line.type == "error" else None)
    page.on("request", lambda sent: page.complaints.append(sent.url) if foreign(sent.url, address) else None)
    page.goto(address + query)
    page.wait_for_selector("#compare")
    return page


def go(page: Any, address: str) -> None:
    """Go from a page to another address; the answer that this cuts off, which Gradio reports, is no complaint."""
    page.goto(address)
    page.complaints[:] = [said for said in page.complaints if not said.startswith("AbortError")]


def foreign(address: str, own: str) -> bool:
    return not address.startswith((own, own.replace("http", "ws", 1), "data:", "blob:"))


def upload(page: Any, which: str, *paths: str) -> None:
    page.set_input_files(f"#{which}_file input[type=file]", list(paths) if which == "model" else paths[0])
    page.wait_for_selector(f"#{which if which == 'human' else f'model_{len(paths)}'}_preview li")


def paste(page: Any, which: str, texts: list[str]) -> None:
    page.click(f"#{which}_side button[role=tab]:has-text('Paste')")
    page.fill(f"#{which}_paste textarea", "\n".join(texts))


def wait_until(condition: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    assert condition()


def hover(page: Any, mark: Any, words: str = "", tries: int = 150) -> Any:
    """The tip with these words over a mark, which the page may draw anew or move while the pointer is on its way."""
    from playwright.sync_api import TimeoutError

    tip = page.locator("#vg-tooltip-element.visible").filter(has_text=words)
    for _ in range(tries):
        with suppress(TimeoutError):
            mark.scroll_into_view_if_needed(timeout=10_000)
            mark.hover(force=True, timeout=10_000)
            tip.wait_for(timeout=1000)
            return tip
    raise AssertionError(f"nothing is shown over the mark: {words}")


def experts(page: Any) -> None:
    """Open the part for experts; a click on a page that scrolls to its result may be lost."""
    from playwright.sync_api import TimeoutError

    button = "#experts > button[aria-expanded]"
    for _ in range(5):
        page.wait_for_selector(button)
        if page.get_attribute(button, "aria-expanded") == "false":
            page.click(button)
        with suppress(TimeoutError):
            page.wait_for_selector(f"{button}[aria-expanded=true]", timeout=120_000)
            return
    raise AssertionError("the part for experts stays closed")


def archived(desk: Handlers, who: str = "a") -> dict[str, bytes]:
    """The files in the archive to download, by their names."""
    return unpacked(desk.make_files(visitor(desk, who))["files"]["value"])


def unpacked(path: object) -> dict[str, bytes]:
    with ZipFile(str(path)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def wait_for_figure(page: Any, name: str) -> None:
    """Wait until a figure is drawn; where it never is, say what is in its place."""
    from playwright.sync_api import TimeoutError

    try:
        page.wait_for_selector(f"#{name} svg.marks")
    except TimeoutError as error:
        parts = "#experts > button", f"#{name}"
        raise AssertionError(
            page.evaluate("parts => parts.map(part => document.querySelector(part)?.outerHTML)", parts)
        ) from error


def compare(page: Any) -> str:
    """Compare, and open the part for experts, in which the figures are."""
    page.click("#compare")
    page.wait_for_selector("#score strong")
    experts(page)
    for figure in FIGURES:
        wait_for_figure(page, figure)
    return str(page.inner_text("#score strong"))


def rows_read(scored: Any) -> list[int]:
    """The identity of the features of each set of a result: the same where no text was read again."""
    return [id(side.features) for side in scored.evaluation.declared]
