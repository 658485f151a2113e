"""The figures in a browser: their shape, names, colours, descriptions, what saves them, and where a click leads."""

from __future__ import annotations

import re
import struct
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from samples import HUMAN, MODEL, write_jsonl
from visitors import FIGURES, compare, hover, opened, upload

pytestmark = pytest.mark.browser

LONG = [f"outputs_of_the_model_of_2024-11-{day:02d}_with_temperature_{day}_final" for day in range(3)]
PLOT = """name => { const plot = document.querySelector(`#${name} .mark-group .background`).getBoundingClientRect();
    return [plot.width, plot.height]; }"""


# every figure is drawn anew for the width, each in its own time; then none is for a while
FITS = """async () => {
    const drawn = () => [...document.querySelectorAll('svg.marks')].map(figure => figure.getBoundingClientRect().width);
    const before = drawn();
    await new Promise(done => setTimeout(done, 300));
    const now = drawn();
    return now.length && now.every((width, number) => width < innerWidth && width == before[number]);
}"""


@pytest.fixture(scope="module")
def shown(context: Any, served: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One page with three models of long names."""
    folder = tmp_path_factory.mktemp("texts")
    page = opened(context, served.local_url, (1440, 900), reduced_motion="reduce")
    upload(page, "human", write_jsonl(folder / "human.jsonl", HUMAN))
    sets = zip(LONG, (MODEL, HUMAN[:20], MODEL[:20]), strict=True)
    upload(page, "model", *(write_jsonl(folder / f"{name}.jsonl", texts) for name, texts in sets))
    compare(page)
    page.wait_for_function("document.querySelectorAll('.mm-save').length == 7")
    yield page
    page.close()


@pytest.mark.parametrize("width", [1440, 768, 390])
def test_plots_are_square_and_large_and_whole_at_every_width(shown: Any, width: int) -> None:
    shown.set_viewport_size({"width": width, "height": 900})
    shown.wait_for_function(FITS)
    for name in ("divergence_curve", "precision_recall", "all_curves"):
        across, up = shown.evaluate(PLOT, name)
        assert across == pytest.approx(up, abs=1) and across >= 230, (name, width)
    for name in FIGURES:  # no text and no mark leaves its figure
        inside = """figure => { const box = figure.getBoundingClientRect();
            return [...figure.querySelectorAll('text')].filter(text => { const own = text.getBoundingClientRect();
                return own.left < box.left - 1 || own.right > box.right + 1; }).map(text => text.textContent); }"""
        assert shown.locator(f"#{name} svg.marks").evaluate(inside) == [], (name, width)
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    shown.set_viewport_size({"width": 1440, "height": 900})


def test_a_shortened_name_is_whole_under_the_pointer_and_figures_are_described(shown: Any) -> None:
    label = shown.locator("#all_curves .role-legend-label text").first
    label.scroll_into_view_if_needed()
    assert "…" in label.text_content() and len(label.text_content()) < len(LONG[0])
    tip = hover(shown, label)
    assert any(tip.inner_text() == name for name in LONG)
    for name in FIGURES:
        described = shown.locator(f"#{name} [aria-label]").first.get_attribute("aria-label")
        assert described and described.endswith(".") and "Vega" not in described, name
    described = shown.locator("#all_curves [aria-label]").first.get_attribute("aria-label")
    assert all(name in described for name in LONG)


@pytest.mark.parametrize("way", ["click", "Enter"])
def test_a_figure_is_saved_under_its_name_in_three_times_its_size(shown: Any, way: str) -> None:
    shown.evaluate("document.body.classList.add('dark')")  # what is saved is on white none the less
    for ending in ("png", "svg"):
        button = shown.get_by_role("button", name=f"Save as {ending.upper()}: divergence curve")
        with shown.expect_download() as download:
            button.click() if way == "click" else button.press(way)
        assert download.value.suggested_filename == f"mauve-divergence-curve.{ending}"
        content = Path(download.value.path()).read_bytes()
        width, height = (
            float(part)
            for part in shown.locator("#divergence_curve svg.marks").evaluate(
                "figure => [figure.viewBox.baseVal.width, figure.viewBox.baseVal.height]"
            )
        )
        if ending == "png":
            assert content.startswith(b"\x89PNG")
            assert struct.unpack(">II", content[16:24]) == (int(3 * width), int(3 * height))
        else:
            root = ElementTree.fromstring(content)
            assert root.tag.endswith("svg") and root[0].get("fill") == "white"
            assert b"MAUVE on shared buckets" in content
    shown.evaluate("document.body.classList.remove('dark')")


def test_figures_follow_the_theme_also_when_it_changes(shown: Any) -> None:
    def colors() -> list[str]:
        found: list[str] = shown.locator("#all_curves").evaluate(
            """figure => ['.role-title text', '.role-legend-label text', '.role-axis-label text']
                .map(part => getComputedStyle(figure.querySelector(part)).fill)
                .concat(getComputedStyle(figure.querySelector('svg')).backgroundColor)"""
        )
        return found

    light = colors()
    shown.evaluate("document.body.classList.add('dark')")
    dark = colors()
    shown.evaluate("document.body.classList.remove('dark')")
    assert light[-1] == dark[-1] == "rgba(0, 0, 0, 0)"
    for before, after in zip(light[:-1], dark[:-1], strict=True):
        brightness = [sum(map(int, color.removeprefix("rgb(").rstrip(")").split(",")[:3])) for color in (before, after)]
        assert brightness[0] < 200 and brightness[1] > 550
    assert colors() == light


def test_a_click_on_the_map_leads_to_the_texts_of_that_bucket(shown: Any) -> None:
    points = shown.locator("#text_map .mark-symbol.role-mark path")
    tip = hover(shown, points.last, "bucket")
    found = re.search(r"bucket\s+(\d+)", tip.inner_text())
    assert found is not None
    points.last.click()
    shown.wait_for_function(f"document.querySelector('#bucket input').value.startsWith('bucket {found[1]}:')")
    shown.wait_for_function("document.activeElement.id == 'bucket_texts'")
    shown.wait_for_function("""() => { const box = document.querySelector('#bucket_texts').getBoundingClientRect();
        return box.top >= -1 && box.top < innerHeight / 2; }""")
    assert shown.evaluate("location.hash") == ""
