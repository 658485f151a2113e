"""The parts of the work on Ray that need no cluster; tests/apps/sharding/test_score_sharded.py has clusters."""

from __future__ import annotations

import os
import pickle
from operator import neg
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

from mauve_metric.apps.sharding import ray_tasks
from mauve_metric.apps.sharding.ray_tasks import ray_cluster
from mauve_metric.results import signature


def test_a_machine_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    versions, token = signature.versions(*signature.VERSIONS), "0123abcd"
    (tmp_path / ray_tasks.TOKEN_FILE).write_text(token)

    def refusal(*job: object) -> str:
        with pytest.raises(OSError, match=r" \(on .+\)$") as raised:
            ray_tasks._run(pickle.dumps((*job, neg)), 3)
        return str(raised.value)

    assert ray_tasks._run(pickle.dumps((versions, tmp_path, token, neg)), 3) == -3
    other = {**versions, "torch": "2"}
    assert "and the job was started with torch 2 (on " in refusal(other, tmp_path, token)
    assert "is another folder on this machine: the output folder must be one" in refusal(versions, tmp_path, "other")
    assert "is not there on this machine" in refusal(versions, tmp_path / "nowhere", token)


def test_an_error_of_ray_names_the_item_and_that_of_the_function_stays() -> None:
    error = ValueError("bad text")
    assert ray_tasks._failure(error, "a.jsonl") is error
    missing = RuntimeError("The remote function failed to import on the worker.\nModuleNotFoundError: No module 'x'\n")
    assert str(ray_tasks._failure(missing, "a.jsonl")) == "a.jsonl: ModuleNotFoundError: No module 'x'"


def test_a_cluster_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(**_: object) -> None:
        assert {"RAY_gcs_server_port_wait_time_s": "1"}.items() <= os.environ.items()  # not a quarter of an hour
        raise ConnectionError("no GCS\nat all")

    absent = SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setattr(ray_tasks, "import_ray", lambda: absent)
    with (
        mock.patch.dict(os.environ),
        pytest.raises(OSError, match="there is no Ray cluster to work with at 'auto': no GCS at all"),
        ray_cluster("auto"),
    ):
        pass
