"""Every measure on the page: those of `describe`, of what the page holds, stopped and marked as the scores are."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from samples import HUMAN, MODEL, NASTY, ngrams, write_jsonl
from visitors import archived, give, measure, press, visitor

from mauve_metric import Description, describe
from mauve_metric.hosts.space.session.measuring import GROUPS, OFFERED
from mauve_metric.hosts.space.view import takeaway
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.showing import measures_notice

gr = pytest.importorskip("gradio")
pytestmark = pytest.mark.usefixtures("undrawn")


def the_description(desk: Handlers) -> Description:
    shown = desk.sessions.get("a").shown
    assert shown is not None and shown.measured is not None
    return shown.measured


def same(found: Description, wanted: Description) -> bool:
    return {**found.to_dict(), "seconds": {}} == {**wanted.to_dict(), "seconds": {}}


@pytest.mark.more
def test_the_measures_are_those_of_describe_and_nothing_is_read_again(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    assert press(desk)["measures"] == ""
    desk.encoders.functions["ngrams"] = lambda texts: pytest.fail("the texts are read again")
    told: list[Any] = []
    shown = measure(desk, GROUPS, tell=lambda share, desc: told.append((share, desc)))
    wanted = describe(HUMAN, {"a_model": MODEL}, featurize_model_name=ngrams, num_buckets=4, seed=7)
    assert same(the_description(desk), wanted)
    assert [share for share, _ in told] == sorted({share for share, _ in told}) and told[0][0] == 0 < told[-1][0] < 1
    assert "Self-BLEU: measure" in " ".join(words for _, words in told)
    for title in ("Scores", *(group.capitalize() for group in GROUPS), "Self-BLEU", "Repeated passages is missing"):
        assert title in shown["measures"]
    assert f"{len(wanted.measures)} measures are there, 2 could not be computed" in shown["measures_status"]
    assert shown["measures_stale"] == "" and set(wanted.measures) & set(OFFERED)
    whole = the_description(desk).models["a_model"]
    measure(desk, ("duplication",))
    few = the_description(desk).models["a_model"]
    assert few["frontier_integral_debiased"] == whole["frontier_integral_debiased"]  # whether buckets are asked for too
    assert set(the_description(desk).human) == {"near_duplicates"}


@pytest.mark.slow
def test_measures_go_into_files_until_the_settings_change(
    desk: Handlers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(takeaway, "save_chart", lambda chart, path: path.write_text("drawn"))  # other tests draw
    give(desk, tmp_path)
    desk.add_files([write_jsonl(tmp_path / "b.jsonl", HUMAN[:20])], visitor(desk))
    desk.rename_model(0, NASTY, visitor(desk))
    press(desk)
    after = measure(desk, ("lexical",))
    assert after["files"]["visible"] is False  # which were made without them
    assert "<img" not in after["measures"] and "<img src=x" in html.unescape(after["measures"])
    content = {name: data.decode("utf-8", "replace") for name, data in archived(desk).items()}
    description = the_description(desk)
    assert json.loads(content["measures.json"]) == json.loads(json.dumps(description.to_dict()))
    assert content["measures.csv"].startswith("measure,model,value,human")
    report = content["report.html"]
    assert "Every measure" in report and "Self-BLEU" in report and "<img src=x" not in report

    session = visitor(desk)
    taken: list[object] = []
    monkeypatch.setattr(takeaway, "write_archive", lambda scored, folder, measures: taken.append(measures))
    assert measures_notice(session.shown) == "" and "Inputs changed" in measures_notice(session.shown, True)
    played = desk.replay([3, 4, 7, 0.95], session)
    assert "Settings changed" in played["measures_stale"] and played["measures"] == after["measures"]
    desk.make_files(session)
    assert taken == [None]
    assert measure(desk, ("lexical",))["measures_stale"] == "" == measures_notice(session.shown)
    again = press(desk)
    assert again["measures"] == again["measures_stale"] == "" == measures_notice(session.shown, True)


def test_measures_are_stopped_and_end_when_their_time_is_over(desk: Handlers, tmp_path: Path) -> None:
    with pytest.raises(gr.Error, match="compare two sets first"):
        measure(desk)
    give(desk, tmp_path)
    press(desk)

    def stop_at_third(share: float, desc: str) -> None:
        if "measure 3 of" in desc:
            with pytest.raises(gr.Error, match="is running already"):
                press(desk)
            desk.sessions.get("a").run.cancel()

    shown = measure(desk, ("lexical",), tell=stop_at_third)
    assert shown == {}
    session = desk.sessions.get("a")
    assert session.run is None and session.shown is not None and session.shown.measured is None
    desk.limits = replace(desk.limits, seconds=0)
    with pytest.raises(gr.Error, match="this run was stopped after 1 second"):
        measure(desk, ("lexical",))


def test_a_model_named_human_is_refused_and_opened_results_have_no_measures(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    desk.rename_model(0, "human", visitor(desk))
    press(desk)
    with pytest.raises(gr.Error, match="stands for the human texts: give the model another name"):
        measure(desk, ("lexical",))
    shown = desk.sessions.get("a").shown
    assert shown is not None
    (tmp_path / "kept.json").write_text(json.dumps(shown.scored.results["human"].to_dict()), encoding="utf-8")
    opened = desk.open_result(str(tmp_path / "kept.json"), visitor(desk))
    assert opened["every_measure"]["visible"] is False and opened["measures"] == ""
    with pytest.raises(gr.Error, match="compare two sets first"):
        measure(desk, ("lexical",))
