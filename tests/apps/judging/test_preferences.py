"""Preferences become scores, and measures are compared with them."""

from __future__ import annotations

import ast
import json
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import Programs
from samples import script

from mauve_metric import compare, rank_by_preferences, score_boundary_guesses
from mauve_metric.apps.judging.statistics.bradley_terry import bradley_terry

Row = dict[str, Any]


def preferences(judgements: int = 300, annotators: int = 10) -> list[Row]:
    """Judgements of four models by annotators, with ties."""
    rng = np.random.default_rng(0)
    models, strength = ["human", "nucleus", "sampling", "greedy"], [0.6, 0.3, 0.0, -0.9]
    rows = []
    for number in range(judgements):
        i, j = rng.choice(4, 2, replace=False)
        won = rng.random() < 1 / (1 + np.exp(strength[j] - strength[i]))
        answer = "tie" if rng.random() < 0.1 else "a" if won else "b"
        row = {"model_a": models[i], "model_b": models[j], "winner": answer}
        rows.append(row | {"annotator": f"w{number % annotators}"})
    return rows


def wins_of(rows: list[Row], models: list[str]) -> np.ndarray:
    wins = np.zeros((len(models), len(models)))
    for row in rows:
        i, j = models.index(row["model_a"]), models.index(row["model_b"])
        share = {"a": 1.0, "tie": 0.5, "b": 0.0}[row["winner"]]
        wins[i, j] += share
        wins[j, i] += 1 - share
    return wins


# --- scores -------------------------------------------------------------------------------------------------------


def test_scores_are_those_of_the_table_of_wins() -> None:
    rows = preferences()
    question = rank_by_preferences(rows).questions["winner"]
    ranking = [score.model for score in question.models]
    wins = wins_of(rows, ranking)
    assert [score.score for score in question.models] == pytest.approx(bradley_terry(wins), abs=1e-8)
    assert [score.wins for score in question.models] == wins.sum(axis=1).tolist()
    assert [score.judgements for score in question.models] == (wins + wins.T).sum(axis=1).tolist()
    assert (question.judgements, question.ties, question.annotators) == (300, int(question.ties), 10)
    for score in question.models:
        assert score.ci[0] < score.score < score.ci[1]
    assert len(question.differences) == 6
    assert all(item.difference >= 0 for item in question.differences)


def test_a_score_that_is_rounded_to_zero_is_shown_as_zero() -> None:
    pairs = [("a", "b"), ("b", "c"), ("a", "c")]
    rows = [{"winner": pair[turn], "loser": pair[1 - turn]} for pair in pairs for turn in (0, 0, 0, 1)]
    found = rank_by_preferences(rows)
    middle = found.questions["winner"].models[1]
    assert middle.model == "b" and abs(middle.score) < 1e-9
    for table in (str(found), found.to_markdown(), found.to_latex()):
        (line,) = (line for line in table.split("\n") if line.strip(" |").startswith(("2  b", "2 | b", "2 & b")))
        assert " +0.0" in line and ">" not in line and "-0.0" not in line


def test_dropped_and_drawn_ties_change_the_counts() -> None:
    rows = preferences()
    ties = rank_by_preferences(rows).questions["winner"].ties
    assert ties > 10
    assert rank_by_preferences(rows, ties="drop").questions["winner"].judgements == 300 - ties
    drawn = rank_by_preferences(rows, ties="random", seed=3)
    assert all(score.wins == int(score.wins) for score in drawn.questions["winner"].models)
    assert drawn == rank_by_preferences(rows, ties="random", seed=3)
    assert "seed:3" in drawn.signature and "seed" not in rank_by_preferences(rows).signature


def test_annotators_never_make_intervals_narrower() -> None:
    rows = preferences()
    alone = [{key: value for key, value in row.items() if key != "annotator"} for row in rows]
    for one, other in zip(
        rank_by_preferences(rows).questions["winner"].models,
        rank_by_preferences(alone).questions["winner"].models,
        strict=True,
    ):
        assert one.ci[1] - one.ci[0] >= 0.99 * (other.ci[1] - other.ci[0])


def test_equal_judgements_still_have_an_interval() -> None:
    rows = [{"model_a": "x", "model_b": "y", "winner": "tie", "annotator": name} for name in "ab"]
    (first, _) = rank_by_preferences(rows).questions["winner"].models
    assert first.score == 0 and first.ci[1] > 100


def test_one_annotator_scores_as_no_annotator_column() -> None:
    rows = [row | {"annotator": "gpt-4"} for row in preferences()]
    question = rank_by_preferences(rows).questions["winner"]
    assert question.annotators == 1
    alone = [{key: value for key, value in row.items() if key != "annotator"} for row in rows]
    assert question.models == rank_by_preferences(alone).questions["winner"].models
    assert "by 1 annotator," in str(rank_by_preferences(rows))


def test_errors_name_file_and_question(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("winner,loser\na,b\nb,a\na,c\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"p\.csv, 'winner': 'a' and 'b' never lost to 'c'.*--pseudo-wins"):
        rank_by_preferences(path)
    assert rank_by_preferences(path, pseudo_wins=0.5).questions["winner"].models[-1].model == "c"
    with pytest.raises(ValueError, match=r"confidence_level must be a number in \(0, 1\), got 95"):
        rank_by_preferences(path, confidence_level=95)
    with pytest.raises(ValueError, match="ties must be one of half, random, drop"):
        rank_by_preferences(path, ties="A")  # type: ignore[arg-type]


# --- measures -----------------------------------------------------------------------------------------------------


VALUES = {"nucleus": 0.9, "sampling": 0.8, "greedy": 0.01}


def test_measures_are_ordered_by_their_own_direction(tmp_path: Path) -> None:
    entries = {name: {"value": value, "difference": None, "ci": None} for name, value in VALUES.items()}
    divergence = {name: {"value": 1 - value, "ci": None} for name, value in VALUES.items()}
    models = {name: {"mauve": entries[name], "frontier_integral": divergence[name]} for name in VALUES}
    path = tmp_path / "described.json"
    path.write_text(json.dumps({"human": {}, "models": models, "signature": "s"}), encoding="utf-8")
    judgement = rank_by_preferences(preferences(), path)
    found = {item.measure: item for item in judgement.questions["winner"].agreement}
    assert {name: (item.correlation, item.reading) for name, item in found.items()} == {
        "mauve": (1.0, "higher"),
        "frontier_integral": (1.0, "lower"),
    }
    assert found["mauve"].p_value == pytest.approx(2 / 6)  # two of the six orders of three are as far from 0
    assert judgement.human == "human"


@pytest.mark.slow
def test_measures_of_describe_have_their_direction_though_it_was_not_imported(programs: Programs) -> None:
    code = """if True:
        from mauve_metric import rank_by_preferences
        rows = [{"winner": x, "loser": y} for x, y in ("ab", "bc", "ca", "ac", "ab")]
        values = {"human": 0.5, "a": 0.6, "b": 0.1, "c": 0.9}
        found = rank_by_preferences(rows, dict.fromkeys(["self_bleu", "mmd", "mauve", "own"], values))
        print({one.measure: one.reading for one in found.questions["winner"].agreement})
    """
    done = programs.run(code)
    assert done.returncode == 0, done.stderr
    expected = {"self_bleu": "human", "mmd": "lower", "mauve": "higher", "own": "human"}
    assert ast.literal_eval(done.stdout) == expected


def test_pearson_is_of_the_scores_and_ranks_are_summed_over_questions() -> None:
    rows = [row | {"sense": "b" if row["winner"] == "a" else "a"} for row in preferences()]
    judgement = rank_by_preferences(rows, {"size": VALUES}, answers=["winner", "sense"])
    ranks = {name: [0.0, 0.0] for name in ("human", "nucleus", "sampling", "greedy")}
    for place, question in enumerate(judgement.questions.values()):
        strength = {one.model: one.score for one in question.models}
        pairs = np.array([(VALUES[name], strength[name]) for name in VALUES])
        centred = pairs - pairs.mean(axis=0)
        expected = centred[:, 0] @ centred[:, 1] / np.sqrt((centred**2).sum(axis=0).prod())
        assert question.agreement[0].pearson == pytest.approx(expected, abs=1e-12)
        for name, value in strength.items():
            ranks[name][place] = 1 + sum(other > value for other in strength.values())
    assert judgement.rank_sums == {name: sum(own) for name, own in ranks.items()}
    assert json.loads(json.dumps(judgement.to_dict()))["rank_sums"] == judgement.rank_sums
    best, total = next(iter(judgement.rank_sums.items()))
    assert f"Sum of the ranks over the 2 questions, the best first: {best} {total:g}," in str(judgement).replace(
        "\n  ", " "
    )


def test_a_comparison_is_read_as_it_is_printed(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    shifts = {"nucleus": 0.1, "sampling": 0.8, "greedy": 3.0}
    models = {name: rng.normal(size=(80, 4)) + shift for name, shift in shifts.items()}
    compared = compare(models=models, p_features=rng.normal(size=(80, 4)))
    path = tmp_path / "compared.json"
    path.write_text(json.dumps(compared.to_dict(), allow_nan=False), encoding="utf-8")
    question = rank_by_preferences(preferences(), path).questions["winner"]
    found = {item.measure: item.correlation for item in question.agreement}
    assert found["mauve"] == found["frontier_integral"] == 1.0
    assert "num_buckets" not in found and "frechet_distance" not in {**found, **question.failed}  # not computed


def test_a_custom_table_is_compared_with_its_human_row(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(
        "model,perplexity,odd,same,mine\nhuman,12,,,\nnucleus,13,1,1,3\nsampling,30,,1,2\ngreedy,100,2,1,1\n",
        encoding="utf-8",
    )
    question = rank_by_preferences(preferences(), path).questions["winner"]
    found = {item.measure: (item.correlation, item.reading) for item in question.agreement}
    assert found == {"perplexity": (1.0, "human"), "mine": (1.0, "as it is")}
    assert question.failed == {"odd": "it has no value for 'sampling'", "same": "it is the same for all models"}
    copy = tmp_path / "copy.csv"
    copy.write_text("model,mine\nnucleus,1\nsampling,2\ngreedy,3\n", encoding="utf-8")
    both = {
        item.measure: item.correlation
        for item in rank_by_preferences(preferences(), [path, copy]).questions["winner"].agreement
    }
    assert both == {"perplexity": 1.0, f"mine ({path})": 1.0, f"mine ({copy})": -1.0}


def test_models_that_are_unknown_are_refused_unless_left_out() -> None:
    measures = {"mauve": {"nucleus": 0.9, "greedy": 0.1, "beam": 0.2}}
    with pytest.raises(ValueError, match="judges 'sampling', of which there are no measures: they are of 'nucleus'"):
        rank_by_preferences(preferences(), measures)
    judgement = rank_by_preferences(preferences(), measures, common_models=True)
    assert judgement.left_out == ("sampling", "beam")
    assert judgement.questions["winner"].failed == {"mauve": "a rank correlation needs at least three models, got 2"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[1]", "must be what describe, compare or preferences printed with --json"),
        ('{"mauve": 0.9}', "it has no 'models'"),
        ('{"models": {"a": {"n_p": 3}}}', "holds no measure of 'a'"),
        ("{", "not JSON"),
    ],
)
def test_files_without_measures_are_refused(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "measures.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        rank_by_preferences(preferences(), path)


# --- the published tables -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def published() -> types.ModuleType:
    return script("examples/published_correlations")


# Pillutla et al. 2021, Tables 5 and 14
@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("mauve", (0.952, 0.810, 0.857)),
        ("generation_perplexity", (0.810, 0.643, 0.738)),
        ("distinct_4", (0.738, 0.524, 0.595)),
        ("self_bleu", (0.595, 0.405, 0.524)),
    ],
)
def test_published_correlations_come_out_of_the_published_tables(
    published: types.ModuleType, measure: str, expected: tuple[float, ...]
) -> None:
    found = [published.correlation(measure, question) for question in ("human-like", "interesting", "sensible")]
    assert found == pytest.approx(expected, abs=5e-4)


def test_published_correlations_of_stories(published: types.ModuleType) -> None:
    found = [published.story_correlation(name) for name in ("mauve", "distinct_4", "generation_perplexity")]
    assert found == pytest.approx([0.893, 0.750, 0.643], abs=5e-4)


@pytest.mark.more
def test_the_example_prints_them(published: types.ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    published.main()
    out = capsys.readouterr().out
    assert "0.952        0.810        0.857" in out and "1.30 points" in out and "1.50" in out


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"confidence_level": "0.9"}, TypeError, "confidence_level must be a number"),
        ({"pseudo_wins": float("nan")}, ValueError, "pseudo_wins must be a number"),
        ({"pseudo_wins": "2"}, TypeError, "pseudo_wins must be a number"),
        ({"min_seconds": "2"}, TypeError, "min_seconds must be a number"),
        ({"seed": -1}, ValueError, "seed must be an integer of at least 0, got -1"),
        ({"ties": ["half"]}, ValueError, "ties must be one of half, random, drop, got"),
        ({"human": 3}, TypeError, "human must be a model's name, got 3"),
        ({"human": "people"}, ValueError, "human must be a name among the models of .*nucleus.*got 'people'"),
        ({"answers": "winner"}, TypeError, "answers must be a list of columns' names, got 'winner'"),
        ({"common_models": "no"}, TypeError, "common_models must be True or False, got 'no'"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        rank_by_preferences(preferences(30), **options)


def test_more_models_than_can_be_compared_are_refused() -> None:
    chain = [{"winner": f"m{number}", "loser": f"m{number + 1}"} for number in range(1_000)]
    with pytest.raises(ValueError, match="preferences judges 1001 models, expected at most 1000"):
        rank_by_preferences(chain)


@pytest.mark.parametrize("measures", ["nowhere.json", ["nowhere.csv"]])
def test_missing_files_are_named(measures: Any) -> None:
    with pytest.raises(FileNotFoundError, match=r"^there is no file 'nowhere\.csv'$"):
        rank_by_preferences("nowhere.csv")
    with pytest.raises(FileNotFoundError, match=r"^there is no file 'nowhere\."):
        rank_by_preferences(preferences(30), measures)
    with pytest.raises(FileNotFoundError, match=r"^there is no file 'nowhere\.csv'$"):
        score_boundary_guesses("nowhere.csv")
