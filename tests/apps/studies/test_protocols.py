"""Options of published evaluations: known by the package, fixed on the command line, in the signature."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mauve_metric import protocol
from mauve_metric.apps.studies import protocols
from mauve_metric.apps.studies.protocols import PROTOCOLS, Protocol, with_protocol
from mauve_metric.hosts.cli.main import main
from mauve_metric.options import MauveConfig

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_holds_options_and_is_on_the_page(name: str) -> None:
    config = MauveConfig(**protocol(name))
    assert {key: getattr(config, key) for key in protocol(name)} == protocol(name)
    row = PROTOCOLS[name]
    page = " ".join((ROOT / "docs" / "protocols.md").read_text(encoding="utf-8").split())
    assert f"`--protocol {name}`" in page and row.texts in page and row.paper in page and row.source in page
    for key, value in row.options.items():
        assert f"`{key}={value!r}`" in page


def test_an_option_that_the_protocol_fixes_cannot_be_another() -> None:
    assert with_protocol("mauve-paper", {"num_buckets": 500, "seed": 3})["seed"] == 3
    with pytest.raises(ValueError, match="num_buckets must be 500 with the protocol mauve-paper, got 20"):
        with_protocol("mauve-paper", {"num_buckets": 20})
    with pytest.raises(ValueError, match="protocol must be one of mauve-paper, contrastive-decoding"):
        protocol("simctg-2022")


def test_the_command_scores_with_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The published featurizers are no packages; one with the same kind of options is."""
    row = Protocol({"featurize_model_name": "ngrams", "num_buckets": 7, "mauve_scaling_factor": 2.0}, "", "", "")
    monkeypatch.setitem(protocols.PROTOCOLS, "mauve-paper", row)
    for name, word in (("human", "ship"), ("model", "dog")):
        lines = [f"the {word} number {n} is in the harbour {n * n}" for n in range(60)]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    paths = [str(tmp_path / "human.txt"), str(tmp_path / "model.txt")]
    assert main(["score", *paths, "--protocol", "mauve-paper", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["num_buckets"] == 7 and "mauve_scaling_factor:2" in found["signature"]
    assert "featurize_model_name:ngrams" in found["signature"]
    assert main(["score", *paths, "--protocol", "mauve-paper", "--num-buckets", "9"]) == 1
    assert "--num-buckets must be 7 with the protocol mauve-paper" in capsys.readouterr().err
