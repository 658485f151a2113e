"""The table of measures: what is asked for, what is missing and why, and how it is shown."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from samples import HUMAN, MODEL, ngrams

from mauve_metric import compare, compute_mauve, describe
from mauve_metric.apps.describing import describe as describe_sets
from mauve_metric.apps.describing import description
from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.apps.describing.describe import GROUPS, chosen_measures
from mauve_metric.apps.describing.distances.discriminators import transfer_table
from mauve_metric.apps.describing.likelihood.likelihoods import likelihoods
from mauve_metric.arrays import MeasuredValue
from mauve_metric.measures import measure as catalogue
from mauve_metric.measures.measure import Measure, Needs


def row(compute: Callable[..., Any], inputs: Needs, group: Any = "lexical", **more: Any) -> Measure:
    return Measure("a title", group, "a paper", "", inputs, "lower", None, None, compute, **more)


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> dict[str, Measure]:
    """A table of measures that is small and known."""
    found = {
        "lengths": row(lambda tokens: np.array([float(len(text)) for text in tokens]), catalogue.TOKENS),
        "count": row(lambda texts: float(len(texts)), catalogue.TEXTS, sizes_matter=True),
        "spread": row(lambda x: float(np.var(x)), catalogue.FEATURES, group="distance"),
        "shift": row(
            lambda p, q, seed, level: MeasuredValue(float(p.mean() - q.mean()), (0.0, level), 0.5),
            catalogue.BOTH_FEATURES,
        ),
        "shared": row(lambda p, q, seed, level: float(len({*p} & {*q})), catalogue.BOTH_TEXTS),
        "tv": row(
            lambda p, q, level, groups=None: MeasuredValue(float(abs(p / p.sum() - q / q.sum()).sum() / 2)),
            catalogue.BOTH_HISTOGRAMS,
        ),
        "per_prompt": row(lambda tokens, prompts: np.array([1.0, 2.0]), catalogue.PROMPTS),
        "copied": row(lambda p, q, t, seed, level: float(len(t)), catalogue.THREE_FEATURES),
        "broken": row(lambda tokens: _fail(), catalogue.TOKENS, cheap=False),
    }
    found |= {name: item for name, item in MEASURES.items() if item.in_result}
    for module in (describe_sets, description):
        monkeypatch.setattr(module, "MEASURES", found)
    return found


def _fail() -> float:
    raise ValueError("it has its reasons")


def test_every_kind_of_measure_is_given_what_it_needs(rows: dict[str, Measure]) -> None:
    human, model = [number % 12 for number in range(30)], [number % 12 for number in range(24)]
    options = {"featurize_model_name": ngrams, "p_groups": human, "q_groups": {"m": model}}
    found = describe(HUMAN, {"m": MODEL}, measures="all", training=HUMAN[:5], **options)
    values = found.models["m"]
    assert values["shared"].value == len({*HUMAN} & {*MODEL})
    assert values["copied"].value == 5
    assert values["shift"].ci == (0.0, 0.95) and values["shift"].p_value == 0.5
    assert values["per_prompt"].value == 1.5 and found.human["per_prompt"] == 1.5
    assert values["spread"].difference == values["spread"].value - found.human["spread"]
    result = found.comparison.models["m"] if found.comparison else None
    assert result is not None and values["mauve"].value == result.mauve
    assert values["tv"].value == pytest.approx(abs(result.p_hist - result.q_hist).sum() / 2, abs=1e-12)
    low, high = values["lengths"].ci or (1, -1)
    assert low < values["lengths"].difference < high
    assert found.failed == {"broken": "it has its reasons"}
    assert set(found.seconds) == {"features", *chosen_measures("all")}


def test_decoder_of_each_model_is_that_of_the_human_texts(tiny_gpt2: str) -> None:
    names = [
        "decoder_perplexity",
        "decoder_sparsemax",
        "decoder_jensen_shannon",
        "decoder_choices",
        "epsilon_perplexity",
    ]
    models = {"greedy": MODEL, "nucleus": MODEL}
    decoders = {"greedy": "greedy", "nucleus": "temperature=0.8,top_p=0.9"}
    found = describe(HUMAN, models, measures=names, language_model=tiny_gpt2, decoder=decoders)
    for model, settings in [("greedy", {"top_k": 1}), ("nucleus", {"temperature": 0.8, "top_p": 0.9})]:
        read = likelihoods(HUMAN, tiny_gpt2, **settings)  # type: ignore[arg-type]
        for name in names[:4]:
            assert found.models[model][name].value == pytest.approx(MEASURES[name].compute(read).mean())
            assert found.models[model][name].ci is not None and name not in found.human
    assert found.models["greedy"]["epsilon_perplexity"].value == found.models["nucleus"]["epsilon_perplexity"].value
    assert "decoder:greedy:top_k=1;nucleus:temperature=0.8,top_p=0.9" in found.signature
    without = describe(HUMAN, models, measures="language-model", language_model=tiny_gpt2)
    assert not set(names[:4]) & {*without.measures, *without.failed}
    with pytest.raises(ValueError, match="decoder is for measures of the group language-model"):
        describe(HUMAN, models, decoder="greedy")
    with pytest.raises(ValueError, match=r"decoder must name models, got 'gredy' .did you mean 'greedy'"):
        describe(HUMAN, models, measures=names, decoder={"gredy": "greedy"})


def test_discriminators_of_one_model_are_tested_on_the_others() -> None:
    rng = np.random.default_rng(0)
    human, near = rng.normal(size=(2, 60, 3))
    models = {"far": human + 6, "near": near}
    found = describe(p_features=human, models=models, measures="discriminator_auc")
    table = transfer_table(human, models)
    assert found.transfer is not None and found.transfer.accuracy == table.accuracy and found.transfer.auc == table.auc
    rows = found.to_dict()["transfer"]
    assert [(row["trained_on"], row["tested_on"]) for row in rows][:3] == [
        ("far", "far"),
        ("far", "near"),
        ("near", "far"),
    ]
    assert rows[1]["accuracy"] == table.accuracy["far"]["near"].value and rows[4]["auc"] == table.mixed["far"].auc.value
    assert "all of them" in str(found) and found.to_csv("transfer").startswith(
        "trained_on,tested_on,accuracy,low,high,auc"
    )
    alone = describe(p_features=human, models={"far": models["far"]}, measures="discriminator_auc")
    assert alone.transfer is None and "transfer" not in alone.to_dict()


def test_a_missing_interval_has_its_reason_in_its_place() -> None:
    names = ["kl_forward", "frontier_integral_debiased", "total_variation", "hellinger"]
    found = describe(HUMAN, {"m": MODEL}, measures=names, featurize_model_name=ngrams, num_buckets=16)
    values = found.models["m"]
    assert values["total_variation"].ci is not None and values["total_variation"].no_interval == ""
    for name in ("kl_forward", "frontier_integral_debiased", "hellinger"):
        assert values[name].ci is None and values[name].no_interval == "none: few texts a bucket"
    assert "none: few texts a bucket" in str(found)
    assert found.comparison is not None and found.comparison.models["m"].frontier_integral_debiased_ci is None


def test_mauve_on_the_buckets_of_several_models_has_another_name() -> None:
    rows = np.random.default_rng(0).normal(size=(3, 40, 3)) + np.array([0.0, 0.0, 2.0])[:, None, None]
    alone = describe(p_features=rows[0], models={"a": rows[1]}, measures="score", num_runs=1)
    both = describe(p_features=rows[0], models={"a": rows[1], "b": rows[2]}, measures="score", num_runs=1)
    own = compute_mauve(p_features=rows[0], q_features=rows[1], num_runs=1).mauve
    assert alone.models["a"]["mauve"].value == own != both.models["a"]["mauve"].value
    assert "\n  MAUVE " in str(alone) and "shared MAUVE" not in str(alone)
    for text in (str(both), both.to_markdown(), both.to_latex()):
        assert "shared MAUVE" in text and not re.search(r"^\W*MAUVE\b", text, re.MULTILINE)


def test_only_what_is_asked_for_is_computed(rows: dict[str, Measure]) -> None:
    def never(texts: list[str]) -> Any:
        raise AssertionError("no measure needs features")

    found = describe(HUMAN, {"m": MODEL}, measures=["lengths"], featurize_model_name=never)
    assert found.measures == ("lengths",) and found.comparison is None
    assert "featurize_model_name" not in found.signature and "tokens:words" in found.signature


def test_without_features_the_others_are_still_there(rows: dict[str, Measure]) -> None:
    found = describe(HUMAN, {"m": MODEL}, measures="lengths,spread,score", featurize_model_name="./nowhere")
    assert found.measures == ("lengths",)
    assert set(found.failed) == {"score", "spread"} and "nowhere" in found.failed["score"]
    with pytest.raises(ValueError, match=r"none of the measures could be computed: .*nowhere"):
        describe(HUMAN, {"m": MODEL}, measures="spread", featurize_model_name="./nowhere")


def test_features_alone_have_no_texts(rows: dict[str, Measure]) -> None:
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(2, 40, 4))
    found = describe(p_features=p, models={"m": q}, measures="all")
    assert {"spread", "shift", "tv"} <= set(found.measures)
    assert "needs the texts" in found.failed["shared"]


def test_sets_of_unequal_size_are_cut_for_measures_that_move_with_it(rows: dict[str, Measure]) -> None:
    found = describe(HUMAN, {"m": MODEL, "few": MODEL[:7]}, measures="count,lengths")
    assert found.human["count"] == found.models["m"]["count"].value == found.models["few"]["count"].value == 7
    assert found.same_size == 7 and "7 texts of each set" in str(found)
    rows["shared"] = rows["shared"]._replace(sizes_matter=True, compute=lambda p, q, seed, level: float(len(p)))
    assert describe(HUMAN, {"m": MODEL, "few": MODEL[:7]}, measures="shared").models["m"]["shared"].value == 7
    again = describe(HUMAN[:24], {"m": MODEL}, measures="count")
    assert again.same_size is None and again.human["count"] == 24


def test_texts_of_one_prompt_count_as_one_draw(rows: dict[str, Measure]) -> None:
    texts = [f"{'word ' * (1 + number % 6)}" for number in range(24)]
    alone = describe(HUMAN, {"m": texts}, measures="lengths").models["m"]["lengths"]
    prompts = {"m": [number % 6 for number in range(24)]}
    grouped = describe(HUMAN, {"m": texts}, measures="lengths", q_groups=prompts).models["m"]["lengths"]
    assert alone.ci is not None and grouped.ci is not None
    assert grouped.value == alone.value
    assert grouped.ci[1] - grouped.ci[0] > alone.ci[1] - alone.ci[0]


def test_tables(rows: dict[str, Measure]) -> None:
    long = [f"{text} and then some more words beside it, and again" for text in MODEL]
    found = describe(HUMAN, {"near": HUMAN[::-1], "far|_%": long}, measures="lengths,broken")
    assert found.best_model("lengths") == "near"
    shown = str(found)
    assert "◂" in shown and "*" in shown and "broken" not in found.measures and "it has its reasons" in shown
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["models"]["near"]["lengths"]["difference"] == 0
    lines = found.to_csv().splitlines()
    assert lines[0] == "measure,model,value,human,difference,low,high,p_value,better" and len(lines) == 3
    assert r"far\|\_%" in found.to_markdown() and r"far|\_\%" in found.to_latex()
    one = str(describe(HUMAN, {"m": MODEL}, measures="lengths"))
    assert "difference" in one and "interval" in one


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"measures": "lexicl"}, r"got 'lexicl' \(did you mean 'lexical'\?\)"),
        ({"measures": []}, "at least one group or measure"),
        ({"measures": 3}, "measures must be names"),
        ({"models": {"human": MODEL}}, "give the model another name"),
        ({"models": {}}, "at least one model"),
        ({"q_groups": {"m": "x" * 24}}, r"q_groups\['m'\] must hold one group, such as its prompt, for each"),
        ({"q_groups": {"x": [1]}}, r"q_groups must have names of models as keys \(m\), got 'x'"),
        ({"q_groups": {"m": [1]}}, r"q_groups\['m'\] must hold one group for each of the \d+ texts .*, got 1"),
        ({"q_groups": [1]}, "q_groups must be a dict from names of models to groups, got list"),
        ({"prompts_of": {}}, r"unknown option 'prompts_of' \(did you mean 'q_groups'\?\)"),
        ({"tokenizer": 7}, "tokenizer must be"),
        ({"tokenizer": len}, "tokenizer must return a list of tokens"),
        (
            {"tokenizer": lambda text: {"input_ids": [1, 2]}},
            "tokenizer must return a list of tokens .*, got {'input_ids",
        ),
        ({"tokenizer": lambda text: [[1, 2]]}, r"tokenizer must return a list of tokens .*, got \[\[1, 2\]\]"),
        ({"p_text": None}, "must be given"),
    ],
)
def test_wrong_input(rows: dict[str, Measure], wrong: dict[str, Any], said: str) -> None:
    given = {"p_text": HUMAN, "models": {"m": MODEL}, "measures": "lengths", **wrong}
    with pytest.raises((ValueError, TypeError), match=said):
        describe(**given)


def test_a_tokenizer_that_fails_costs_its_measures_alone() -> None:
    class Failing:
        def encode(self, text: str, add_special_tokens: bool) -> list[int]:
            raise KeyError(text[:3])

    for tokenizer in (Failing(), lambda text: {}[text[:3]]):
        found = describe(
            p_text=HUMAN, models={"m": MODEL}, measures=["mean_length", "compression_ratio"], tokenizer=tokenizer
        )
        assert [*found.failed.values()] == [f"the tokenizer failed: KeyError: {HUMAN[0][:3]!r}"] * len(found.failed)
        assert found.failed and "compression_ratio" in found.measures


def test_groups_and_names() -> None:
    assert "score" in chosen_measures(None)
    everything = chosen_measures("all")
    assert set(everything) == {"score"} | {name for name, item in MEASURES.items() if item.group != "score"}
    assert chosen_measures("mauve") == chosen_measures("score") == everything[:1] == ("score",)
    for group in GROUPS[1:]:
        assert chosen_measures(group) == tuple(name for name, item in MEASURES.items() if item.group == group)


def test_texts_and_prompts_that_are_too_short_are_left_out_and_counted() -> None:
    long, prompts = "one two three four five", ["a", "a", "b", "b"]
    human, model = [long, "six seven eight nine ten", "Yes", long], [long, long, "Yes", "No"]
    found = describe(
        human, {"m": model}, measures="distinct_4_per_text,prompt_entropy_4", p_groups=prompts, q_groups={"m": prompts}
    )
    assert found.human["distinct_4_per_text"] == found.models["m"]["distinct_4_per_text"].value == 1.0
    assert found.models["m"]["prompt_entropy_4"].value == pytest.approx(math.log(2))  # of "a" alone
    assert found.left_out["Distinct-4 of a text"] == {"human": 1, "model m": 2}
    assert found.left_out["Ent-4 of a prompt"] == {"model m": 1}
    assert "leaves out what is too short for it: 1 of human, 2 of model m." in " ".join(str(found).split())


def test_a_model_with_several_answers_and_people_with_one_have_prompt_measures() -> None:
    prompts = [f"p{number // 2}" for number in range(20)]
    answers = [f"word{number} and word{number * number}" for number in range(20)]
    found = describe(
        answers[::2], {"m": answers}, measures="prompt_distinct", p_groups=prompts[::2], q_groups={"m": prompts}
    )
    entry = found.models["m"]["prompt_distinct"]
    assert entry.value == 1.0 and entry.difference is None and entry.ci is not None


def test_coherence_is_with_the_prompt_of_each_text(tiny_gpt2: str) -> None:
    prompts = ["the ships of the harbour", "a dog in the garden"] * 4
    texts = [f"{prompt} are here" if number < 4 else "so it goes" for number, prompt in enumerate(prompts)]
    measures = "coherence,prompt_log_probability"
    options: dict[str, Any] = {"featurize_model_name": "ngrams", "language_model": tiny_gpt2}
    groups = {"p_groups": prompts, "q_groups": {"m": prompts}}
    found = describe(texts[:4] * 2, {"m": texts[4:] * 2}, measures=measures, **options, **groups)
    assert found.human["coherence"] > 0.5 > found.models["m"]["coherence"].value
    whole = [f"{prompt} so it goes" for prompt in prompts]
    read, before = likelihoods(whole, tiny_gpt2), likelihoods(prompts, tiny_gpt2).counts
    after = [
        read.log_probabilities[end - (count - skipped) : end].mean()
        for end, count, skipped in zip(read.offsets[1:], read.counts, before, strict=True)
    ]
    assert found.models["m"]["prompt_log_probability"].value == pytest.approx(np.mean(after))
    without = describe(texts, {"m": texts}, measures="coherence,distinct_4_per_text", **options)
    assert "coherence" not in without.human and "prompts' texts" in without.failed["coherence"]


def test_words_are_said_to_be_no_quality() -> None:
    lexical, other = (describe(HUMAN, {"m": MODEL}, measures=name) for name in ("distinct_2", "near_duplicates"))
    said = "people's ratings need not follow them"
    assert said in " ".join(str(lexical).split()) and said not in " ".join(str(other).split())


def test_the_mean_of_prompts_with_different_numbers_of_texts_is_named(rows: dict[str, Measure]) -> None:
    texts = ["a long answer of seven words here"] * 9 + ["short"] * 3
    uneven, even = ["one"] * 9 + ["two", "three", "four"], [f"prompt {number // 2}" for number in range(12)]
    found = describe(texts, {"m": texts, "n": texts}, measures="lengths", q_groups={"m": uneven, "n": even})
    assert found.answers_a_prompt == {"m": (1, 9)} and found.to_dict()["answers_a_prompt"] == {"m": [1, 9]}
    mean = sum(len(text.split()) for text in texts) / 12  # of texts: of prompts it would be 2.5
    assert found.models["m"]["lengths"].value == pytest.approx(mean)
    for shown in (str(found), found.to_markdown()):
        assert "Texts a prompt: m 1 to 9. Values of texts are means over all texts" in " ".join(shown.split())
    assert "Texts a prompt" not in str(describe(texts, {"n": texts}, measures="lengths", q_groups={"n": even}))


def test_the_texts_of_a_label_are_scored_as_compare_does() -> None:
    """Pairs that are found among all texts are kept in each subgroup, though fewer texts would show fewer."""
    rng = np.random.default_rng(5)
    human = rng.normal(size=(120, 16))
    models = {"paired": human + rng.normal(size=(120, 16)) * 0.75}
    labels = [str(number % 6) for number in range(120)]
    options: dict[str, Any] = {"by": {"human": labels, "paired": labels}, "num_runs": 1, "knn": False, "num_buckets": 2}
    compared = compare(p_features=human, models=models, **options)
    described = describe(p_features=human, models=models, measures="auc", **options)
    assert compared.design == "found"
    found = {label: each.models["paired"]["auc"].value for label, each in described.by_subgroup.items()}
    assert found == {label: each.models["paired"].auc for label, each in compared.by_subgroup.items()}


@pytest.mark.parametrize(
    ("name", "lacks"),
    [
        ("prompt_distinct", r"several texts of a prompt: give p_groups and q_groups \(--prompt-field\)"),
        ("coherence", "the prompts' texts: give p_groups"),
        ("authenticity", "texts that the models were trained on: give `training`"),
        ("decoder-choices", "the decoder of the models: give `decoder`"),
    ],
)
def test_a_measure_asked_for_by_name_says_what_it_lacks(name: str, lacks: str) -> None:
    """Of a group, or of all, it is left out."""
    human, model = ["a b c d", "e f g h", "i j k l"], ["a b x y", "e f z w", "q r s t"]
    options: dict[str, Any] = {"featurize_model_name": "ngrams", "verbose": False}
    found = describe(human, {"m": model}, measures=["distinct_1", name], **options)
    assert found.measures == ("distinct_1",)
    assert re.fullmatch(f"it needs {lacks}.*", found.failed[name.replace("-", "_")])
    with pytest.raises(ValueError, match=f"none of the measures could be computed: .*: it needs {lacks}"):
        describe(human, {"m": model}, measures=name, **options)
    assert describe(human, {"m": model}, measures="lexical", **options).failed == {}
