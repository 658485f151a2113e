"""The page and its endpoint over HTTP, and the page's own functions: right answers, clear refusals, nothing kept."""

from __future__ import annotations

import concurrent.futures
import html
import inspect
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import HOSTILE, HUMAN, MODEL, NASTY, ROOT, ngrams
from visitors import CALLER, LIMITS, free_port, give, wait_until

from mauve_metric import MauveResult, compute_mauve, describe
from mauve_metric.hosts.flags_and_labels import PAGE
from mauve_metric.hosts.space import limits
from mauve_metric.hosts.space.limits import Limits, read_limits, read_models
from mauve_metric.hosts.space.server.endpoints import Endpoints, answer_schema
from mauve_metric.hosts.space.session.examples import example_files
from mauve_metric.hosts.space.session.queue import Turns
from mauve_metric.hosts.space.session.scoring import Encoders
from mauve_metric.hosts.space.session.uploads import TextSet
from mauve_metric.hosts.space.view import layout, markup
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.settings import panel_names
from mauve_metric.options import config_fields, page_fields

gr = pytest.importorskip("gradio")
gradio_client = pytest.importorskip("gradio_client")

import app  # noqa: E402

# --- the endpoint -------------------------------------------------------------------------------------------------


def test_endpoint_gives_the_result_of_compute_mauve(client: Any, expected: MauveResult, tmp_path: Path) -> None:
    answer = client.predict(references=HUMAN, predictions=MODEL, num_buckets=4, seed=7, api_name="/score")
    wanted = json.loads(json.dumps(expected.to_dict()))
    assert answer == wanted  # the same code on the same features: every float comes back exactly
    assert answer["n_p"] == 30 and answer["n_q"] == 24  # references are P
    assert not (tmp_path / "cache").exists()  # where the feature cache of this test would be


@pytest.mark.more
def test_endpoint_with_minilm_is_compute_mauve_with_minilm(minilm: str) -> None:
    score = partial(Endpoints(LIMITS, [minilm], Encoders(), Turns(LIMITS)).function("score"), CALLER)
    wanted = compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=minilm, num_buckets=4, cache=False)
    assert score(HUMAN, MODEL, num_buckets=4) == wanted.to_dict()


@pytest.mark.more
def test_the_endpoints_take_the_name_of_the_references(client: Any) -> None:
    options = {"references": HUMAN, "num_buckets": 4, "reference_name": "release 1.2"}
    score = client.predict(predictions=MODEL, **options, api_name="/score")
    both = client.predict(models={"a": MODEL, "b": HUMAN[:20]}, **options, api_name="/compare")
    wanted = compute_mauve(
        p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams, num_buckets=4, reference_name="release 1.2"
    )
    assert score == json.loads(json.dumps(wanted.to_dict())) and score["reference_name"] == "release 1.2"
    assert both["models"]["a"]["reference_name"] == "release 1.2"


@pytest.mark.more
def test_the_endpoint_of_measures_gives_the_result_of_describe(desk: Handlers) -> None:
    endpoints = Endpoints(LIMITS, ["ngrams"], desk.encoders, desk.turns)
    answered = partial(endpoints.function("describe"), CALLER)
    models = {"a": MODEL, "b": HUMAN[:20]}
    answer, wanted = answered(HUMAN, models), describe(HUMAN, models, featurize_model_name=ngrams).to_dict()
    assert {**answer, "seconds": {}} == {**wanted, "seconds": {}}
    assert "entropy_2" in answer["human"] and "repeated_substrings" in answer["failed"]
    desk.encoders.functions["ngrams"] = lambda texts: np.zeros(0)  # which words alone do not need
    found = answered(HUMAN, {"a": MODEL}, measures=["mean_length"])
    assert found["models"]["a"]["mean_length"]["difference"] < 0 < found["human"]["mean_length"]
    for measures, message in (
        (["self_bleu", "discriminator"], "'discriminator' takes another model, a third set or too long for this page"),
        (["frechet_distance"], "'frechet_distance' takes another model"),
        (
            ["likelihood"],
            r"must be groups \(score, lexical, distance, buckets, duplication\), 'all' or",
        ),
        ([], "measures must name at least one group"),
        (3, "measures must be names of groups or measures"),
    ):
        with pytest.raises(gr.Error, match=message):
            answered(HUMAN, {"a": MODEL}, measures=measures)
    with pytest.raises(gr.Error, match="'human' stands for the human texts"):
        answered(HUMAN, {"human": MODEL}, measures=["lexical"])


def test_endpoints_are_typed_documented_and_alone(client: Any) -> None:
    endpoints = client.view_api(return_format="dict")["named_endpoints"]
    assert list(endpoints) == ["/score", "/compare", "/describe"]
    types = {item["parameter_name"]: item["python_type"]["type"] for item in endpoints["/score"]["parameters"]}
    assert types["references"] == types["predictions"] == "list[str]"
    assert {"num_buckets", "seed", "mauve_scaling_factor", "featurize_model_name", "empty_texts"} <= types.keys()
    text = layout.api_text(["ngrams"])
    assert all(f"`{name}=" in text for name in list(types)[2:]) and "$" not in text
    options = [item["parameter_name"] for item in endpoints["/compare"]["parameters"]]
    assert options == ["references", "models", "aligned", *list(types)[2:-1]]
    options = [item["parameter_name"] for item in endpoints["/describe"]["parameters"]]
    without_name = [name for name in list(types)[2:-1] if name != "reference_name"]
    assert options == ["references", "models", "measures", "aligned", *without_name]
    assert "`duplication`) or names" in text
    assert "`aligned=" in text and 'api_name="/compare"' in text
    assert '`confidence_level=0.95`, `empty_texts="error"` (or `"drop"`), `featurize_model_name="ngrams"`' in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"references": "one text"}, "references must be a list of texts, got str"),
        ({"references": []}, "references must hold at least one non-empty text"),
        ({"predictions": ["a", 3]}, "predictions must hold strings only, got int at position 1"),
        ({"predictions": ["a", " "]}, "predictions holds 1 empty or whitespace-only text of"),
        ({"predictions": ["a"], "aligned": True}, "where only some texts share prompts, leave aligned out"),
        ({"predictions": ["a"] * 41}, "predictions: at most 40 texts are taken here, got 41"),
        ({"references": ["a", "a" * 201]}, "references: a text may have at most 200 characters here, got 201 at"),
        ({"num_buckets": 0}, "num_buckets must be an integer from 1"),
        ({"num_buckets": "many"}, "num_buckets must be an integer from 1"),
        ({"num_buckets": 11}, "num_buckets may be at most 10 here, got 11"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"mauve_scaling_factor": 0}, "mauve_scaling_factor must be a number in"),
        ({"mauve_scaling_factor": 101}, "mauve_scaling_factor may be at most 100 here"),
        ({"confidence_level": 1}, "confidence_level must be a number in (0, 1)"),
        ({"reference_name": "a" * 61}, "reference_name must be a name of 1 to 60 characters"),
        ({"featurize_model_name": "gpt2-large"}, "featurize_model_name must be one of ngrams here, got 'gpt2-large'"),
        ({"featurize_model_name": "../../etc"}, "featurize_model_name must be one of ngrams here"),
    ],
)
def test_endpoint_refuses_in_one_sentence(client: Any, change: dict[str, Any], message: str) -> None:
    with pytest.raises(gradio_client.exceptions.AppError) as refused:
        client.predict(**({"references": HUMAN, "predictions": MODEL} | change), api_name="/score")
    assert message in str(refused.value)
    assert "p_text" not in str(refused.value) and "Traceback" not in str(refused.value)


@pytest.mark.slow
def test_twelve_clients_at_once_get_their_own_answer_or_a_refusal(served: Any) -> None:
    sets = [[*MODEL[: 10 + number], f"only {number}"] for number in range(12)]
    before = set(served.handlers.sessions._sessions)

    def ask(number: int) -> dict[str, Any] | str:
        try:
            own = gradio_client.Client(served.local_url, verbose=False, httpx_kwargs={"timeout": 120})
            answer: dict[str, Any] = own.predict(references=HUMAN, predictions=sets[number], api_name="/score")
            return answer
        except (gradio_client.exceptions.AppError, ValueError) as error:
            return str(error)

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(ask, range(12)))
    right = 0
    for texts, answer in zip(sets, answers, strict=True):
        if isinstance(answer, dict):
            own = compute_mauve(p_text=HUMAN, q_text=texts, featurize_model_name=ngrams, num_buckets="auto")
            assert answer["n_q"] == len(texts) and answer["mauve"] == own.mauve
            right += 1
        else:
            assert "runs wait" in answer, answer
    assert right >= 9
    wait_until(lambda: set(served.handlers.sessions._sessions) <= before)  # the endpoint keeps nothing


def test_the_descriptions_of_the_endpoints(client: Any, served: Any) -> None:
    with urllib.request.urlopen(f"{served.local_url}gradio_api/info", timeout=600) as answer:
        said = json.loads(answer.read())["named_endpoints"]
    for path, endpoint in said.items():
        assert endpoint["description"].endswith(".") and "Args" not in endpoint["description"]
        for item in endpoint["parameters"]:
            meaning = item["python_type"]["description"]
            assert item["label"] == item["parameter_name"] and "Api" not in item["component"]
            assert meaning.endswith(".") and item["type"]["description"] == meaning
            assert item["python_type"]["type"] != "Any"
        required = [item["parameter_name"] for item in endpoint["parameters"] if not item["parameter_has_default"]]
        assert required == (["references", "predictions"] if path == "/score" else ["references", "models"])
        (returned,) = endpoint["returns"]
        assert returned["python_type"]["type"].startswith("dict[") and returned["python_type"]["description"]
    with pytest.raises(TypeError, match="No value provided for required argument: predictions"):
        client.predict(references=HUMAN, api_name="/score")


@pytest.mark.more
def test_the_schema_of_the_answers_is_correct_and_complete(client: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    result = client.predict(references=HUMAN, predictions=MODEL, api_name="/score")
    models = {"a": MODEL, "b": MODEL[:9]}
    comparison = client.predict(references=HUMAN, models=models, api_name="/compare")
    description = client.predict(references=HUMAN, models={"a": MODEL}, measures=["lexical"], api_name="/describe")
    for name, answer in {"score": result, "compare": comparison, "describe": description}.items():
        schema = answer_schema(name)
        jsonschema.validate(answer, schema)
        assert set(schema["properties"]) == set(answer)
        assert [name for name, item in schema["properties"].items() if not item.get("description")] == []
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(result | {"mauve": "high"}, answer_schema("score"))


def test_tools_get_the_meanings_of_the_parameters() -> None:
    from gradio.utils import get_function_description, get_function_params

    endpoints = Endpoints(LIMITS, ["ngrams"], Encoders({"ngrams": ngrams}), Turns(LIMITS))
    for name, function in [(name, endpoints.function(name)) for name in endpoints.names]:
        description, meanings, _ = get_function_description(function)  # what MCP's tools are made of
        known = endpoints.parameters(name)
        assert meanings == {"request": ""} | {own: item.meaning for own, item in known.items()}
        assert description.endswith(("(references).", "the result.", "in one table."))
        assert [(own, given) for own, given, *_ in get_function_params(function)] == [
            (own, item.default is not inspect.Parameter.empty) for own, item in known.items()
        ]


CALLS: list[tuple[str, Any, int, str]] = [
    ("v2/score", {"references": HUMAN}, 422, "No value provided for required argument: predictions"),
    ("v2/score", {"references": HUMAN, "predictions": MODEL, "sed": 1}, 422, "Parameter `sed` is not a valid"),
    ("v2/scores", {}, 404, "there is no endpoint of this name"),
    ("score", b'{"data": NaN}', 400, "the request holds a value that cannot be read"),
]


@pytest.mark.parametrize(("path", "body", "status", "sentence"), CALLS)
def test_a_mistaken_call_is_refused_in_a_sentence(
    served: Any, path: str, body: Any, status: int, sentence: str
) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{served.local_url}gradio_api/call/{path}", data=content, headers=kind)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=600)
    assert refused.value.code == status
    assert json.loads(refused.value.read())["detail"].startswith(sentence)


def test_parameters_with_defaults_may_be_omitted_over_http(served: Any, expected: MauveResult) -> None:
    body = {"references": HUMAN, "predictions": MODEL, "num_buckets": 4, "seed": 7}
    address = f"{served.local_url}gradio_api/call/"
    kind = {"Content-Type": "application/json"}
    asked = urllib.request.Request(f"{address}v2/score", json.dumps(body).encode(), kind)
    with urllib.request.urlopen(asked, timeout=600) as answer:
        event = json.loads(answer.read())["event_id"]
    with urllib.request.urlopen(f"{address}score/{event}", timeout=600) as stream:
        said = stream.read().decode()
    assert "event: complete" in said
    assert json.loads(said.split("data: ")[-1])[0] == json.loads(json.dumps(expected.to_dict()))


def test_gradio_holds_the_state_of_a_bounded_number_of_clients(served: Any) -> None:
    assert served.state_session_capacity == 2 * LIMITS.sessions


# --- limits -------------------------------------------------------------------------------------------------------


def refused_code(request: urllib.request.Request) -> int:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=600)
    return int(refused.value.code)


def test_a_large_upload_is_refused(served: Any) -> None:
    head = '--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
    body = head.encode() + b"a" * (2**20 + 1) + b"\r\n--x--\r\n"
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    assert refused_code(urllib.request.Request(f"{served.local_url}gradio_api/upload", data=body, headers=kind)) == 413


def test_a_large_request_is_refused(served: Any) -> None:
    body = json.dumps({"data": [["a" * (4 * 2**20)], ["b"]]}).encode()
    kind = {"Content-Type": "application/json"}
    address = f"{served.local_url}gradio_api/call/score"
    assert refused_code(urllib.request.Request(address, data=body, headers=kind)) == 413


def test_limits_and_models_come_from_the_environment() -> None:
    assert read_limits({}) == Limits()
    assert read_limits({"MAUVE_METRIC_MAX_TEXTS": "7"}) == Limits(texts=7)
    for value in ("0", "-1", "many", "1.5", "", "²"):
        with pytest.raises(ValueError, match="MAUVE_METRIC_MAX_MEGABYTES must be a positive integer, got"):
            read_limits({"MAUVE_METRIC_MAX_MEGABYTES": value})
    assert read_models({}) == ["minilm", "ngrams", "use"]
    assert read_models({"MAUVE_METRIC_MODELS": "minilm, gpt2-large,"}) == ["minilm", "gpt2-large"]
    with pytest.raises(ValueError, match="MAUVE_METRIC_MODELS must name at least one featurizer"):
        read_models({"MAUVE_METRIC_MODELS": " , "})


def test_costly_values_are_refused(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    largest = {name: knob.metadata["most"] for name, knob in config_fields().items() if knob.metadata["most"]}
    assert len(largest) > 10
    for name, most in largest.items():
        options = {"featurize_model_name": "ngrams", name: most + 1}
        with pytest.raises(ValueError, match=f"{name} may be at most {most} here"):
            limits.check_options(options, ["ngrams"], LIMITS)


# --- the page -----------------------------------------------------------------------------------------------------


def test_hostile_texts_are_shown_as_they_are() -> None:
    shown = markup.preview(TextSet("it", NASTY, HOSTILE[:3], (NASTY,), NASTY))
    assert "<script" not in shown and "<img" not in shown and "&lt;script&gt;" in shown
    for text in HOSTILE:
        escaped = markup.escape(text)
        assert not {"<", ">", "{", "}", "$", "`", "\x00", "\x07", "\u202e"} & set(escaped)
    assert html.unescape(markup.escape("a & <b> ${c} `d`")) == "a & <b> ${c} `d`"


@pytest.mark.more
def test_every_option_has_a_control_with_its_meaning_and_default() -> None:
    from mauve_metric.hosts.space.view.settings import FIXED, PLAY

    assert {*panel_names(), *PLAY, *FIXED, "featurize_model_name"} == set(page_fields())
    config = app.build_app(LIMITS, ["minilm"]).get_config_file()
    shown = {item["props"].get("elem_id"): item["props"] for item in config["components"]}
    for name in panel_names():
        meaning = PAGE.respell(page_fields()[name].metadata["help"])
        assert meaning in shown[name]["info"] and "default" in shown[name]["info"]
    assert "at most 40 texts of 200 characters, 1 MB a file" in shown["limits"]["value"]


@pytest.mark.more
def test_all_changes_of_texts_wait_in_one_queue() -> None:
    """Gradio begins the events of several queues in any order: what is left and what is clicked may change places."""
    page = app.build_app(LIMITS, [], {"ngrams": ngrams})
    changes = [
        event
        for event in page.fns.values()
        for outputs in [{getattr(part, "elem_id", "") for part in event.outputs}]
        if {"human_preview", "model_1_preview"} & outputs and "run_limit" not in outputs
    ]
    assert len(changes) > 20 and {event.concurrency_id for event in changes} == {"texts"}
    assert all(event.queue for event in changes)


@pytest.mark.more
def test_a_page_without_examples_has_no_example_buttons(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise FileNotFoundError("no examples")

    monkeypatch.setattr("mauve_metric.hosts.space.session.examples.examples_folder", nowhere)
    assert example_files() == {}
    app.build_app(LIMITS, ["minilm"])


@pytest.mark.slow
def test_python_app_py_serves_where_the_environment_says_without_loading_a_model(tmp_path: Path) -> None:
    port = free_port()
    hook = tmp_path / "torch.py"  # found before the real one: importing it would end the server
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


def wait_for_page(address: str, server: subprocess.Popen[bytes], seconds: float = 300) -> str:
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=600) as answer:
                return str(answer.read().decode())
        except urllib.error.URLError:
            time.sleep(0.2)
    return ""
