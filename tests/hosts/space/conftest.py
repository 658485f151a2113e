"""The Space with a featurizer that needs no model: its functions, its server, and a browser that looks at it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from samples import HUMAN, LIMITS, MODEL, ngrams
from visitors import free_port

from mauve_metric import MauveResult, compute_mauve

if TYPE_CHECKING:
    from mauve_metric.hosts.space.handlers import Handlers

CHROMIUM = Path("/usr/bin/chromium")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    import app

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("uploads")))
        demo = app.build_app(LIMITS, [], {"ngrams": ngrams})
        options = app.launch_options(LIMITS) | {"server_port": free_port()}
        demo.queue(max_size=LIMITS.waiting).launch(prevent_thread_lock=True, quiet=True, **options)
        yield demo
        demo.close()


@pytest.fixture(scope="module")
def client(served: Any) -> Any:
    import gradio_client

    return gradio_client.Client(served.local_url, verbose=False)


@pytest.fixture(scope="session")
def expected() -> MauveResult:
    return compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams, num_buckets=4, seed=7)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Handlers:
    from mauve_metric.hosts.space.handlers import Handlers
    from mauve_metric.hosts.space.scoring import Encoders

    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    return Handlers(LIMITS, ["ngrams"], Encoders({"ngrams": ngrams}))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not CHROMIUM.exists():
        pytest.skip(f"the browser tests need {CHROMIUM} (Debian's package chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Any, served: Any) -> Iterator[Any]:
    options = getattr(request, "param", {})
    context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
    page = context.new_page()
    page.set_default_timeout(30_000)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.on("request", lambda sent: complaints.append(sent.url) if foreign(sent.url, served.local_url) else None)
    page.goto(served.local_url)
    page.wait_for_selector("#compare")
    yield page
    context.close()
    assert complaints == []


def foreign(address: str, own: str) -> bool:
    return not address.startswith((own, own.replace("http", "ws", 1), "data:", "blob:"))
