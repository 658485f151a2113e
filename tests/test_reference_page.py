"""The page of options, fields and formats: that of the code."""

from __future__ import annotations

from dataclasses import fields

import pytest
from samples import ROOT, script

from mauve_metric.hosts.cli.main import COMMANDS
from mauve_metric.hosts.space.limits import Limits
from mauve_metric.options import config_fields
from mauve_metric.results.result import MauveResult
from mauve_metric.results.scores import SCORES

PAGE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")


def test_the_tables_of_options_are_those_of_the_code() -> None:
    assert all(f"| `{name}` |" in PAGE for name in config_fields())
    assert script("docs/make_reference").page(PAGE) == PAGE, "run: python docs/make_reference.py"
    with pytest.raises(ValueError, match="must occur once in the page"):
        script("docs/make_reference").page(PAGE.replace("<!-- end of speed -->", ""))


def test_every_field_of_a_result_is_there() -> None:
    names = {item.name for item in fields(MauveResult) if item.metadata.get("in_dict", True)} - set(SCORES)
    assert len(names) > 20
    assert {name for name in names if f"`{name}`" not in PAGE} == set()


def test_every_command_and_limit_is_there() -> None:
    assert {name for name in COMMANDS if f"`{name}`" not in PAGE} == set()
    assert {item.name for item in fields(Limits) if f"`{item.name.upper()}`" not in PAGE} == set()
