"""The commands that explain codes, and the pages that the help names."""

from __future__ import annotations

import json

import pytest

from mauve_metric.hosts.cli.main import main
from mauve_metric.hosts.cli.warning_guide import ADVICE
from mauve_metric.hosts.flags_and_labels import SHELL
from mauve_metric.runtime.errors import KINDS


@pytest.mark.parametrize(("command", "code"), [("warnings", "few_texts"), ("errors", "no_file")])
def test_the_shell_explains_a_code(command: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    known = {name: {"cause": entry.cause, "cure": entry.cure} for name, entry in ADVICE.items()}
    known |= {name: dict(zip(("cause", "cure"), kind.advice(), strict=True)) for name, kind in KINDS.items()}
    assert main([command, code]) == 0
    words = f"{code} {SHELL.respell(known[code]['cause'])} → {SHELL.respell(known[code]['cure'])}".split()
    assert capsys.readouterr().out.split() == words
    assert main([command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {name: known[name] for name in (ADVICE if command == "warnings" else KINDS)}
    assert main([command]) == 0
    assert set(found) <= set(capsys.readouterr().out.splitlines())
    with pytest.raises(SystemExit, match="2"):
        main([command, "many_texts"])
    assert "there is no code" in capsys.readouterr().err


def test_help_points_to_pages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "docs/errors.md" in said and "docs/measures.md" in said and "mauve-metric warnings CODE" in said
    assert "mauve-metric errors CODE" in said
