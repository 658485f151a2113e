"""The pieces that the experiments share, and one of them from its arguments to its page, on texts made here."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from samples import ROOT, texts_of, write_jsonl

sys.path.append(str(ROOT / "experiments"))

import altair as alt
import common
import torch
from models import Workshop, add_arguments


def chart() -> alt.Chart:
    data = alt.InlineData(values=[{"a": 1, "b": 2, "model": "x"}])
    drawn = alt.Chart(data).mark_point().encode(x=alt.X("a:Q", axis=alt.Axis(**common.AXIS)), y="b:Q")
    return drawn.encode(**common.marks_of(["x"])).properties(description="one point")


COLUMNS = (common.Column("a", "A"), common.Column("b", "B", ".2f"))


def saved(folder: Path, rows: list[common.TableRow]) -> str:
    path = common.save("t", "A title", COLUMNS, rows, chart(), seconds=3, notes=["A note."], out=folder)
    return path.read_text(encoding="utf-8")


def test_a_page_has_command_table_and_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(ROOT / "experiments" / "t.py"), "--seed", "7"])
    page = saved(tmp_path / "new", [{"a": "x", "b": 2.0, "b_low": 1.0, "b_high": 3.5}, {"a": "y"}])
    assert page.startswith("# A title\n\n    python experiments/t.py --seed 7\n\n3 s on ")
    assert "\nA note.\n\n| A | B |\n|---|---:|\n| x | 2.00 (1.00 to 3.50) |\n| y | – |\n\n![one point](t.svg)\n" in page
    assert (tmp_path / "new" / "t.csv").read_text(encoding="utf-8") == "a,b,b_low,b_high\nx,2.0,1.0,3.5\ny,,,\n"


def test_what_a_person_wrote_stays_and_the_table_is_new(tmp_path: Path) -> None:
    saved(tmp_path, [{"a": "old", "b": 1.0}])
    with (tmp_path / "t.md").open("a", encoding="utf-8") as file:
        file.write(f"\n{common.BY_HAND}\n\nBy hand.\n")
    page = saved(tmp_path, [{"a": "new", "b": 1.0}])
    assert "| new |" in page and "| old |" not in page
    assert page.endswith(f"\n\n{common.BY_HAND}\n\nBy hand.\n") and page.count(common.BY_HAND) == 1


def test_a_figure_has_no_background_and_greys_for_both_pages(tmp_path: Path) -> None:
    saved(tmp_path, [{"a": "x"}])
    svg = (tmp_path / "t.svg").read_text(encoding="utf-8")
    assert 'fill="white"' not in svg and 'fill="black"' not in svg
    assert {found.lower() for found in re.findall(r'<text[^>]* fill="([^"]+)"', svg)} == {common.INK.lower()}


def test_a_table_without_rows_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one row, got none"):
        saved(tmp_path, [])


def test_example_texts() -> None:
    assert len(common.example_texts("nucleus")) == 600
    with pytest.raises(ValueError, match=r"greedy, human, .*got 'novels'"):
        common.example_texts("novels")


# --- models ---------------------------------------------------------------------------------------------------------


def test_adversarial_text_is_as_probable_as_was_asked_for(tiny_gpt2: str) -> None:
    """By one pass over each whole text alone, without filling: the loop's masks and places are right then."""
    from adversarial import RANDOM_SHARE, adversarial
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(tiny_gpt2).eval()
    torch.manual_seed(0)
    rows, count, end = [[5, 6, 7], [8], [9, 5]], 20, 0
    target = -float(np.log(model.config.vocab_size)) - 0.3
    written = adversarial(model, rows, count, target, end)
    for start, new in zip(rows, written, strict=True):
        assert len(new) == count and end not in new
        with torch.no_grad():
            logs = model(torch.tensor([start + new])).logits[0].log_softmax(-1)
        each = logs[len(start) - 1 : -1].gather(1, torch.tensor(new)[:, None])[:, 0]
        # a step moves the mean by at most its token's distance from the target, over all steps: the last one lands
        # within half of the spacing of log-probabilities, here far below a hundredth
        assert float(each.mean()) == pytest.approx(target, abs=0.01)
        first = round(RANDOM_SHARE * count)
        assert abs(float(each[:first].mean()) - target) > 0.01  # drawn at random, not matched


def workshop_of(folder: Path, model: str, *more: str) -> Workshop:
    """Six texts of each set; models continue the first four tokens."""
    human, prompts = (write_jsonl(folder / f"{seed}.jsonl", texts_of(12, seed)) for seed in (0, 1))
    parser = common.argument_parser("A script.")
    add_arguments(parser, texts=6)
    given = ["--human", str(human), "--prompts", str(prompts), "--prompt-tokens", "4", "--models", model]
    return Workshop(parser.parse_args([*given, "--folder", str(folder / "work"), *more]))


def test_what_a_workshop_refuses(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--texts must be between 2 and 12, got 13"):
        workshop_of(tmp_path, "smollm2", "--texts", "13")
    parser = common.argument_parser("A script.")
    add_arguments(parser)
    with pytest.raises(ValueError, match="--human and --prompts go together"):
        Workshop(parser.parse_args(["--human", str(tmp_path / "0.jsonl")]))


def test_a_model_continues_the_prompts_and_the_texts_are_kept(tmp_path: Path, tiny_gpt2: str) -> None:
    workshop = workshop_of(tmp_path, tiny_gpt2)
    written = workshop.write(tiny_gpt2, "greedy")
    assert len(written) == 6 and len(workshop.rest) == 6
    by_function = workshop.write_by(tiny_gpt2, "fives", lambda _, rows, count: [[5] * count for _ in rows])
    prompts = workshop.first_tokens(workshop.other_human, 4)
    for prompt, *texts in zip(prompts, written, by_function, strict=True):
        assert all(text.startswith(prompt) for text in texts)
    again = workshop_of(tmp_path, tiny_gpt2)
    again.model = None  # type: ignore[assignment, method-assign]
    assert again.write(tiny_gpt2, "greedy") == written


def test_the_texts_of_the_examples_are_not_written_again(tmp_path: Path) -> None:
    parser = common.argument_parser("A script.")
    add_arguments(parser, texts=5)
    workshop = Workshop(parser.parse_args(["--folder", str(tmp_path)]))
    assert workshop.write("smollm2", "top_k=40") == common.example_texts("top_k")[:5]


def test_beginnings_are_those_of_texts_that_were_cut(tmp_path: Path, tiny_gpt2: str) -> None:
    from detection import beginnings

    workshop = workshop_of(tmp_path, tiny_gpt2)
    whole = workshop.read(workshop.human)
    cut = beginnings(whole, 3)
    assert cut.counts.tolist() == [2] * 6 and len(cut.ranks) == 12
    for place in range(6):
        start = whole.offsets[place]
        assert cut.log_probabilities[2 * place : 2 * place + 2].tolist() == whole.log_probabilities[start:][:2].tolist()


# --- one experiment from its arguments to its page ------------------------------------------------------------------


def test_copies_of_a_smaller_share_are_among_those_of_a_larger_one() -> None:
    from duplication import copied

    written, training = [f"w{i}" for i in range(50)], [f"t{i}" for i in range(50)]
    few, many = (copied(written, training, share, seed=3) for share in (0.2, 0.6))
    assert [sum(text in training for text in texts) for texts in (few, many)] == [10, 30]
    assert all(b == a for a, b in zip(few, many, strict=True) if a in training)
    assert copied(written, training, 0.0, seed=3) == written and copied(written, training, 1.0, seed=3) == training


@pytest.mark.more
def test_duplication_sees_copies_of_training_texts(
    tmp_path: Path, tiny_gpt2: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duplication

    human, prompts = (
        write_jsonl(tmp_path / f"{name}.jsonl", texts_of(count, seed, 30, 15))
        for seed, (name, count) in enumerate({"human": 120, "prompts": 40}.items())
    )
    monkeypatch.setattr(Workshop, "write", lambda *_: texts_of(40, 3, 30, 15))
    given = ["--human", str(human), "--prompts", str(prompts), "--texts", "40", "--featurizer", "ngrams"]
    more = ["--shares", "1", "0", "0.5", "--window", "8", "--out", str(tmp_path / "out")]
    page = duplication.main([*given, *more]).read_text(encoding="utf-8")
    lines = [line.split(" | ") for line in page.splitlines() if re.match(r"\| [01]\.", line)]
    shares, memorised, authentic = (
        [float(line[place].strip("| ").split()[0]) for line in lines] for place in (0, 5, 6)
    )
    assert shares == [0.0, 0.5, 1.0]
    assert memorised[0] == 0 and 0.4 < memorised[1] < 0.6 and memorised[2] == 1
    assert authentic[0] > authentic[1] > authentic[2] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "more"),
    [
        ("decoders", ["--decoders", "greedy", "adversarial"]),
        ("detection", ["--decoders", "sampling", "--lengths", "8", "30"]),
        ("diverse_decoders", ["--texts", "2", "--new-tokens", "6", "--beams", "12"]),
        ("encoder_agreement", ["--decoders", "sampling", "greedy", "--featurizers", "ngrams", "minilm"]),
        ("nucleus_sizes", ["--decoders", "greedy"]),
        ("quality_diversity", ["--temperatures", "0", "1", "--top-p", "0.5"]),
        ("text_length", ["--decoders", "sampling", "--lengths", "8", "30"]),
        ("transfer", ["--decoders", "greedy", "sampling"]),
    ],
)
def test_every_experiment_from_its_arguments_to_its_page(
    tmp_path: Path, tiny_gpt2: str, script: str, more: list[str]
) -> None:
    human, prompts = (write_jsonl(tmp_path / f"{seed}.jsonl", texts_of(24, seed)) for seed in (0, 1))
    given = ["--human", str(human), "--prompts", str(prompts), "--prompt-tokens", "4", "--models", tiny_gpt2]
    given += ["--texts", "24", "--featurizer", "ngrams", "--folder", str(tmp_path / "work"), "--out", str(tmp_path)]
    page = importlib.import_module(script).main([*given, *more]).read_text(encoding="utf-8")
    assert " to " in page.partition("\n| ")[2] and "nan" not in page
