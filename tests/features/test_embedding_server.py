"""Features of a server with the protocol of embeddings: order, tries, refusals, what is kept, and a key never shown."""

from __future__ import annotations

import copy
import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answering import KEY, Answers, embedding, serving
from samples import HUMAN, MODEL

from mauve_metric import FeatureSet, compute_mauve
from mauve_metric.features.embedding_server import embedding_server

TEXTS = [f"text {'e' * (number % 17)} {number}" for number in range(100)]


def test_rows_come_in_the_order_of_the_texts(answers: Answers, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    encode = embedding_server(answers.url, "m", batch_size=8, concurrency=3, dimensions=3)
    rows = encode([*TEXTS, "swapped order", TEXTS[0]])
    assert rows.dtype == np.float32
    assert rows.tolist() == [embedding(text) for text in [*TEXTS, "swapped order", TEXTS[0]]]
    assert 1 < answers.busiest <= 3
    for path, body, key in answers.requests:
        assert path == "/v1/embeddings" and key == f"Bearer {KEY}"
        assert {**body, "input": 0} == {"model": "m", "encoding_format": "float", "dimensions": 3, "input": 0}
        assert len(body["input"]) <= 8
    assert len(answers.requests) == 13 and KEY not in caplog.text
    shown = [repr(encode), repr(vars(encode)), repr(copy.deepcopy(encode)), repr(encode.identity)]
    assert not any(KEY in text for text in shown)
    assert pickle.loads(pickle.dumps(encode))(["a"]).tolist() == [embedding("a")]


@pytest.mark.more
def test_what_passes_is_tried_again_and_what_stays_is_named(answers: Answers) -> None:
    encode = embedding_server(answers.url, "m", batch_size=1, retries=2)
    assert encode(["fine", "twice a", "busy f"]).tolist() == [*map(embedding, ["fine", "twice a", "busy f"])]
    first, second = answers.times["busy f"]
    assert second - first >= 0.4  # what Retry-After asked for
    with pytest.raises(OSError, match=r"2 of 4 texts have no features from .*/v1 \(text \d: ") as failed:
        encode(["fine", "never b", "down c", "d"])
    assert "text 1: BadRequestError: Error code: 400 - no, Bearer *** may not" in str(failed.value)
    assert "text 2: InternalServerError" in str(failed.value) and KEY not in str(failed.value)


@pytest.mark.more
def test_a_refused_request_is_sent_in_halves(answers: Answers) -> None:
    answers.most_texts = 5
    encode = embedding_server(answers.url, "m", batch_size=32)
    assert encode(TEXTS).tolist() == [*map(embedding, TEXTS)]
    with pytest.raises(OSError, match=r"1 of 41 texts .*\(text 7: BadRequestError: .*more tokens than the model takes"):
        encode([*TEXTS[:7], "toolong for it", *TEXTS[7:40]])


def test_nothing_more_is_sent_after_a_refusal_of_all(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError, match=r"200 of 200 texts have no features .*AuthenticationError") as failed:
        embedding_server(answers.url, "m", batch_size=1, concurrency=2)([f"forbidden {n}" for n in range(200)])
    assert len(answers.requests) < 20 and KEY not in str(failed.value)
    with pytest.raises(OSError, match=r"no features from http://127.0.0.1:9/v1 \(text \d: APIConn"):
        embedding_server("http://127.0.0.1:9", "m", retries=1)(["a", "b", "c"])


WRONG = {
    "nan": "the rows of the answer must be finite numbers",
    "missing": "the answer must have a row for each of 2 texts, got those of ",
    "uneven": "the rows of the answer are of different lengths",
    "words": "the rows of the answer must be lists of numbers",
    "page": "the answer is not of the protocol",
    "hostile nested": "the answer is not of the protocol",
    "hostile endless": "the answer is longer than [0-9]+ bytes: dimensions sets",
    "hostile packed": "the answer is compressed, which was not asked for",
    "hostile sent": "the server sends prompts on to 'http://127.0.0.1:[0-9]+/v1/embeddings', not done",
    "hostile escapes": r"BadRequestError: Error code: 400 - .*\\x1b\[2J\\x07 gone",
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_answer_costs_no_other_text(answers: Answers, kind: str, tmp_path: Path) -> None:
    encode = embedding_server(answers.url, "m", retries=0, batch_size=2, concurrency=1)
    options: dict[str, Any] = {"featurize_model_name": encode, "cache": tmp_path}
    bad = f"{kind} {'x' * 50}"  # longest first: it is in the second batch, alone in the last one
    texts = ["a" * 200, "b" * 200, bad, bad + "y", "short"]
    texts = texts if kind != "hostile escapes" else [*texts[:3], "short"]
    with serving() as other:
        answers.elsewhere = other.url
        with pytest.raises(OSError, match=rf"of {len(texts)} texts have no features .*{WRONG[kind]}") as failed:
            FeatureSet.from_texts(texts, **options)
        assert not other.requests and str(failed.value).isprintable()
    before = len(answers.requests)
    fine = FeatureSet.from_texts(["a" * 200, "b" * 200, "short"], **options)
    assert fine.features.tolist() == [*map(embedding, ["a" * 200, "b" * 200, "short"])]  # type: ignore[union-attr]
    assert len(answers.requests) == before  # all three were kept


def test_rows_of_two_answers_have_one_length(answers: Answers) -> None:
    with pytest.raises(OSError, match=r"text 1: the rows have 4 numbers, and those of another answer 3"):
        embedding_server(answers.url, "m", batch_size=1, concurrency=1)(["the longest text", "wide"])


@pytest.mark.parametrize("kind", ["bytes", "headers"])
def test_the_time_limit_is_one_of_the_whole_answer(answers: Answers, kind: str) -> None:
    with pytest.raises(OSError, match=r"APITimeoutError: Request timed out"):
        embedding_server(answers.url, "m", timeout=0.5, retries=0)([f"hostile {kind}"])


def test_what_the_server_cut_is_counted_also_from_the_cache(answers: Answers, tmp_path: Path) -> None:
    options: dict[str, Any] = {"featurize_model_name": "server:m", "server": answers.url, "cache": tmp_path}
    for _ in range(2):
        assert FeatureSet.from_texts(["cut here", "b", "c"], **options).truncated == 1
    assert len(answers.requests) == 1


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(answers: Answers, tmp_path: Path) -> None:
    code = """if True:
        import sys
        from mauve_metric.features.embedding_server import embedding_server
        from mauve_metric import FeatureSet
        encode = embedding_server(sys.argv[1], "m", batch_size=1, concurrency=1)
        texts = ["long " * 9, "longer " * 9, "hostile bytes"]
        FeatureSet.from_texts(texts, featurize_model_name=encode, cache=sys.argv[2])
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    process = subprocess.Popen([sys.executable, "-c", code, answers.url, str(tmp_path)], env=environment)
    deadline = time.monotonic() + 120
    while "hostile bytes" not in answers.tried and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    encode = embedding_server(answers.url, "m")
    FeatureSet.from_texts(["long " * 9, "longer " * 9, "new"], featurize_model_name=encode, cache=tmp_path)
    assert answers.requests[-1][1]["input"] == ["new"] and len(answers.requests) == 4


@pytest.mark.more
def test_a_score_by_name_and_by_function_are_one(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"p_text": HUMAN, "q_text": MODEL, "num_buckets": 3, "cache": False}
    named = compute_mauve(**options, featurize_model_name="server:m", server=answers.url)
    assert re.search(r"^featurize_model_name:server:m\|revision:unknown\|server:[0-9a-f]{12}\|", named.signature)
    assert answers.url not in named.signature
    monkeypatch.setenv("MAUVE_METRIC_SERVER", answers.url)
    for featurizer in ("server:m", embedding_server(answers.url + "/v1/embeddings", "m")):
        out = compute_mauve(**options, featurize_model_name=featurizer)
        assert out.signature == named.signature and out.mauve == named.mauve
    with serving() as other:
        human = FeatureSet.from_texts(HUMAN, featurize_model_name="server:m", server=other.url, cache=False)
        with pytest.raises(ValueError, match=r"featurized differently .* server "):
            compute_mauve(p=human, q_text=MODEL, featurize_model_name="server:m")


def test_a_file_of_features_names_no_server(answers: Answers, tmp_path: Path) -> None:
    """Who makes a file must not choose where texts are sent."""
    made = FeatureSet.from_texts(HUMAN, featurize_model_name="server:m", server=answers.url, cache=False)
    stored = FeatureSet.load(made.save(tmp_path / "human.npz"))
    sent = len(answers.requests)
    with pytest.raises(ValueError, match="loaded only if you ask for it: pass featurize_model_name='server:m'"):
        compute_mauve(p=stored, q_text=MODEL, cache=False)
    with pytest.raises(
        ValueError, match="server must be the address of the server for featurize_model_name='server:m'"
    ):
        compute_mauve(p=stored, q_text=MODEL, featurize_model_name="server:m", cache=False)
    assert len(answers.requests) == sent


def test_the_prefix_of_a_preset_is_sent(answers: Answers) -> None:
    encode = embedding_server(answers.url, "e5-base-v2")
    for prefix, first in ((None, "query: a"), ("", "a"), ("passage: ", "passage: a")):
        made = FeatureSet.from_texts(["a"], featurize_model_name=encode, text_prefix=prefix, cache=False)
        assert answers.requests[-1][1]["input"] == [first]
        assert (made.identity or {}).get("text_prefix", "") == first[:-1]


def test_arguments_that_cannot_be(answers: Answers) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"url": "localhost:8000"}, "url must be an address such as"),
        ({"url": f"http://me:{KEY}@localhost"}, "a key goes into api_key"),
        ({"model": ""}, "model must be the name"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"input": "x"}, "input is not an option of the request: embedding_server sets it itself"),
        ({"dimensions": float("nan")}, "dimensions must be a value that JSON can hold, got nan"),
    ]
    for change, message in wrong:
        with pytest.raises((TypeError, ValueError), match=message):
            embedding_server(**{"url": answers.url, "model": "m", **change})
    with pytest.raises(ValueError, match=r"server must be an address such as .*, got 'nowhere'"):
        compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name="server:m", server="nowhere")
    with pytest.raises(ValueError, match="featurize_model_name must name the server's model, as in 'server:bge-m3'"):
        compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name="server:", server=answers.url)


def test_the_command_line_asks_a_server(answers: Answers, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mauve_metric.hosts.cli.main import main

    files = []
    for name, texts in {"human.txt": HUMAN, "model.txt": MODEL}.items():
        (tmp_path / name).write_text("\n".join(texts), encoding="utf-8")
        files.append(str(tmp_path / name))
    main(["score", *files, "--featurizer", "server:m", "--server", answers.url, "--no-cache", "--signature"])
    assert "featurize_model_name:server:m|" in capsys.readouterr().out


def test_an_error_of_the_progress_ends_the_run(answers: Answers) -> None:
    """As a stop on the page is one; what came before is kept."""
    from mauve_metric.features.feature_set import FeaturizeJob
    from mauve_metric.options import MauveConfig, RunOptions

    def stop(name: str, done: int, total: int | None) -> None:
        raise RuntimeError(f"stopped after {done} of {total}")

    config, run = MauveConfig(featurize_model_name="server:m"), RunOptions(server=answers.url, cache=False)
    with (
        FeaturizeJob(config, run, progress=stop) as job,
        pytest.raises(RuntimeError, match=r"stopped after \d+ of 100"),
    ):
        job.of_texts("texts", TEXTS)


@pytest.mark.more
def test_a_callback_a_harness_and_the_page_ask_it(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    from mauve_metric import evaluate_model
    from mauve_metric.hosts.harness.lm_eval import task_functions
    from mauve_metric.hosts.space.limits import Limits, check_options, read_models
    from mauve_metric.hosts.space.session.run import Run
    from mauve_metric.hosts.space.session.scoring import Encoders, job_of, read

    options: dict[str, Any] = {"featurize_model_name": "server:m", "num_buckets": 3, "cache": False}
    expected = compute_mauve(p_text=HUMAN, q_text=MODEL, server=answers.url, **options).mauve
    texts = dict(enumerate(MODEL))
    prompts = [str(number) for number in texts]
    written = evaluate_model(
        None,
        None,
        prompts,
        HUMAN,
        generate_fn=lambda prompts: [texts[int(prompt)] for prompt in prompts],
        server=answers.url,
        **options,
    )
    assert written.mauve == expected
    functions = task_functions(server=answers.url, **options)
    pairs = [functions.process_results({"target": p}, [q])["mauve"] for p, q in zip(HUMAN, MODEL, strict=False)]
    assert 0 < functions.mauve(pairs) <= 1
    monkeypatch.setenv("MAUVE_METRIC_SERVER", answers.url)
    with pytest.raises(ValueError, match="featurize_model_name must be one of minilm, "):
        check_options({"featurize_model_name": "server:m"}, read_models({}), Limits())
    models = read_models({"MAUVE_METRIC_MODELS": "server:m,ngrams"})
    values = {"featurize_model_name": "server:m", "server": "http://127.0.0.1:9"}  # a visitor's address is not read
    check_options(values, models, Limits())
    encoders = Encoders()
    job = job_of(encoders.config(values), encoders)
    made = read({"human": HUMAN, "model": MODEL}, ["model"], job, Run())
    assert [len(side) for side in made.declared] == [len(HUMAN), len(MODEL)]
