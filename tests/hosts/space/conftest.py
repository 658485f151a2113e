"""The Space with a featurizer that needs no model: its functions, its server, and a browser that looks at it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest
from samples import HUMAN, MODEL, ngrams
from visitors import LIMITS, SERVED, chromium, free_port, opened

from mauve_metric import MauveResult, compute_mauve

if TYPE_CHECKING:
    from mauve_metric.hosts.space.view.handlers import Handlers


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    import app

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("uploads")))
        demo = app.build_app(LIMITS, [], {"ngrams": ngrams})
        options = app.launch_options(LIMITS) | SERVED | {"server_port": free_port()}
        demo.launch(**options)
        yield demo
        demo.close()


@pytest.fixture(scope="module")
def client(served: Any) -> Any:
    import gradio_client

    return gradio_client.Client(served.local_url, verbose=False)


@pytest.fixture(scope="module")
def expected() -> MauveResult:
    return compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams, num_buckets=4, seed=7)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Handlers:
    from mauve_metric.hosts.space.session.scoring import Encoders
    from mauve_metric.hosts.space.view.handlers import Handlers

    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    return Handlers(LIMITS, ["ngrams"], Encoders({"ngrams": ngrams}))


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no figure on the page where none is looked at."""
    from mauve_metric.hosts.space.view import showing

    for name in ("of_comparison", "of_result", "map_chart"):
        monkeypatch.setattr(showing, name, Mock())
    monkeypatch.setattr(showing, "plot_value", lambda chart, square=False: None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def context(browser: Any) -> Iterator[Any]:
    """One visitor's browser for all pages of a module, which fetches what the pages are made of once."""
    context = browser.new_context()
    context.set_default_timeout(600_000)  # a busy machine is no mistake
    yield context
    context.close()


@pytest.fixture
def page(request: pytest.FixtureRequest, context: Any, served: Any) -> Iterator[Any]:
    """The page, opened in a window of 1200 × 900; a test's parameter is what `opened` takes."""
    page = opened(context, served.local_url, **getattr(request, "param", {}))
    yield page
    page.close()
    assert page.complaints == []
