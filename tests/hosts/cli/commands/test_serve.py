"""`mauve-metric serve`: where it listens, and what it says without gradio."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from samples import ROOT

from mauve_metric.hosts.cli.main import main, parse


def test_the_page_is_served_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gradio")
    from mauve_metric.hosts.space import page

    served: list[dict[str, Any]] = []
    monkeypatch.setattr(page, "main", lambda **options: served.append(options))
    assert main(["serve"]) == 0 and main(["serve", "--host", "0.0.0.0", "--port", "81"]) == 0
    assert served == [{"server_name": None, "server_port": None}, {"server_name": "0.0.0.0", "server_port": 81}]


def test_a_port_that_is_taken_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("gradio")
    from mauve_metric.hosts.space import page

    monkeypatch.setattr(page, "main", lambda **options: (_ for _ in ()).throw(OSError("Cannot find empty port")))
    assert main(["serve", "--port", "81"]) == 1
    assert "error: --port must be free, and 81 cannot be listened at" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["300.1.1.1", "203.0.113.7", "a" * 70, "\ud800"])
def test_an_address_of_no_machine_here_is_named(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("gradio")
    assert main(["serve", "--host", host]) == 1
    assert "error: --host must be an address of this machine, such as 0.0.0.0 for all" in capsys.readouterr().err


def test_without_gradio_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "gradio", None)
    assert main(["serve"]) == 1
    assert "the page in a browser needs gradio: pip install 'mauve_metric[space]'" in capsys.readouterr().err


def test_the_dockerfile_runs_a_command_of_the_package() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    program, *words = json.loads(lines[-1].removeprefix("CMD "))
    assert program == "mauve-metric" and parse(words).command == "serve"
    assert "COPY requirements.txt ." in lines
