"""Models named by their files."""

from __future__ import annotations

from mauve_metric.hosts.cli.inputs_and_outputs import model_names


def test_names_are_unique() -> None:
    assert model_names(["a/b.jsonl", "c/b.txt", "d.npy"]) == ["a/b", "c/b", "d"]
    assert model_names(["a/b.jsonl", "a/b.txt", "a/b.jsonl"]) == ["b", "b-2", "b-3"]
    assert model_names(["texts/", "-", "./x.y.jsonl"]) == ["texts", "stdin", "x.y"]
