"""The learned score of texts without the layout that differs, and cures that were tried."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers
from samples import write_jsonl
from tokenizers import Regex, normalizers

from mauve_metric import FeatureSet, MauveResult, compare, compute_mauve, explain, robustness
from mauve_metric.hosts.cli.gate import changes, closeness_below
from mauve_metric.inputs.sources import TextSource
from mauve_metric.measures import cross_fitting
from mauve_metric.options import MauveConfig
from mauve_metric.report.wording.verdict_sentence import headline, ranking_sentence
from mauve_metric.runtime.threads import thread_libraries
from mauve_metric.scoring import without_layout
from mauve_metric.scoring.score import NOT_READ_AGAIN
from mauve_metric.uncertainty.learned_score import Learned
from mauve_metric.uncertainty.score_warnings import ScoreWarning

WORDS = ["the", "old", "barn", "river", "cold", "and", "so", "left"]
RUN: dict[str, Any] = {"num_runs": 1, "aligned": True}


def _sets(number: int = 60) -> tuple[list[str], list[str], list[str]]:
    """Human texts, a model's, and the same with line breaks of their own."""
    rng = np.random.default_rng(2)
    human, model = ([" ".join(rng.choice(WORDS, size=25)) for _ in range(number)] for _ in range(2))
    return human, model, [text.replace(" and", "\n\nand") for text in model]


def _layout(result: MauveResult) -> list[ScoreWarning]:
    return [warning for warning in result.warnings if warning.code == "format_differs"]


@pytest.mark.slow
def test_the_cure_that_is_named_gives_the_score_that_is_named() -> None:
    human, model, broken = _sets()
    found = compute_mauve(p_text=human, q_text=broken, featurize_model_name="ngrams", **RUN)
    plain = compute_mauve(p_text=human, q_text=model, featurize_model_name="ngrams", **RUN)
    cured = compute_mauve(p_text=human, q_text=broken, featurize_model_name="ngrams", strip="line_breaks", **RUN)
    assert found.normalised is not None and found.auc is not None and found.auc > 0.9
    for other in (plain, cured):
        assert found.normalised.mauve_classifier == pytest.approx(other.mauve_classifier, abs=1e-12)
        assert found.normalised.auc == pytest.approx(other.auc, abs=1e-12)
        assert not _layout(other) and other.normalised is None is other.normalised_missing
    (warning,) = _layout(found)
    assert f"is {plain.mauve_classifier:.3f} in place of {found.mauve_classifier:.3f}" in warning.message
    assert warning.message.endswith("Cure: strip='line_breaks'") and warning.weight > 0.5
    assert json.loads(json.dumps(found.to_dict()))["normalised"]["auc"] == found.normalised.auc
    explained = explain(p_text=human, q_text=broken, featurize_model_name="ngrams", **RUN)
    assert explained.result.normalised == found.normalised
    compared = compare(human, {"m": broken}, featurize_model_name="ngrams", **RUN).models["m"]
    assert compared.normalised == found.normalised and _layout(compared)[0].message == warning.message


@pytest.mark.slow
@pytest.mark.parametrize(
    "score",
    [
        lambda human, model: compute_mauve(p_text=human, q_text=model, featurize_model_name="ngrams", **RUN),
        lambda human, model: compute_mauve(
            p_text=human, q_text=model, featurizers={"n": "ngrams", "quotes": sees_quotes}, **RUN
        ),
        lambda human, model: compare(human, {"m": model}, featurize_model_name=sees_wide, **RUN),
        lambda human, model: robustness(human, {"m": model, "other": human}, vary="num_buckets", **QUOTES),
    ],
    ids=["layout", "featurizers", "compare", "robustness"],
)
def test_classifiers_are_fitted_with_one_thread_of_blas(score: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """More of them spin between products: on a busy machine a comparison took four times its processor time."""
    threads: list[int] = []

    def cross_fit(*given: Any, **options: Any) -> Any:
        pools = [pool for pool in thread_libraries().info() if pool["user_api"] == "blas"]
        threads.extend(pool["num_threads"] for pool in pools if "faiss" not in pool["filepath"])  # not used here
        return fit(*given, **options)

    fit = cross_fitting.cross_fit
    monkeypatch.setattr(cross_fitting, "cross_fit", cross_fit)
    human, _, broken = _sets()
    score(human, broken)
    assert {*threads} == {1}


def sees_wide(texts: list[str]) -> np.ndarray:
    """More numbers than are scored in one thread."""
    return np.random.default_rng(0).normal(size=(len(texts), 2500)) + sees_quotes(texts)[:, [0]]


@pytest.mark.more
def test_the_cure_for_unlike_lengths_is_one_that_the_featurizer_takes(tiny_gpt2: str) -> None:
    human, model, _ = _sets()
    short = [" ".join(text.split()[:9]) for text in model]
    for featurizer, cure in (("ngrams", ""), (tiny_gpt2, "; match_lengths='truncate' cuts both to one length")):
        found = compute_mauve(p_text=human, q_text=short, featurize_model_name=featurizer, **RUN)
        (warning,) = [item for item in found.warnings if item.code == "length_mismatch"]
        assert warning.message.endswith(f"the score may measure length{cure}")
        assert not _layout(found)


def test_what_was_stripped_already_is_stripped_by_the_cure_too() -> None:
    human, _, broken = _sets()
    thought = [f"<think>Hm.</think>{text}" for text in broken]
    run = {"featurize_model_name": "ngrams", **RUN}
    (warning,) = _layout(compute_mauve(p_text=human, q_text=thought, strip="reasoning", **run))
    assert warning.message.endswith("Cure: strip='reasoning,line_breaks'")


def test_layout_that_a_users_function_does_not_see_gives_no_warning() -> None:
    human, _, broken = _sets()

    def letters(texts: list[str]) -> np.ndarray:
        return np.array([[text.count(mark) for mark in "adehinortv"] for text in texts], dtype=float)

    found = compute_mauve(p_text=human, q_text=broken, featurize_model_name=letters, **RUN)
    assert not _layout(found) and found.normalised is None is found.normalised_missing
    assert found.format_aucs is not None and found.format_aucs["line_breaks"] > 0.9


@pytest.mark.more
def test_a_function_of_the_users_tries_a_sample_and_reads_few_texts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    human, _, broken = _sets(80)
    calls: list[list[str]] = []

    def featurizer(texts: list[str]) -> np.ndarray:
        calls.append(texts)
        return np.array([[text.count(mark) for mark in "adehinortv\n"] for text in texts], dtype=float)

    found = compute_mauve(p_text=human, q_text=broken, featurize_model_name=featurizer, **RUN)
    assert found.normalised is not None and [*map(len, calls)] == [80, 80, 64, 64, 64, 64, 80, 80], [*map(len, calls)]
    assert calls[7] == [" ".join(text.split()) for text in broken]
    monkeypatch.setattr(without_layout, "MOST_AGAIN", 159)
    found = compute_mauve(p_text=human, q_text=broken, featurize_model_name=featurizer, **RUN)
    assert found.normalised is None and found.normalised_missing == without_layout.TWICE and len(calls) == 14
    (warning,) = _layout(found)
    assert "AUC on 128 texts is" in warning.message and warning.message.endswith("Cure: strip='line_breaks'")


def test_a_function_that_fails_on_other_texts_costs_no_score() -> None:
    human, _, broken = _sets()
    rows = {text: [text.count(mark) for mark in "\nadehinortv"] for text in (*human, *broken)}

    def stored(texts: list[str]) -> np.ndarray:
        return np.array([rows[text] for text in texts], dtype=float)

    found = compute_mauve(p_text=human, q_text=broken, featurize_model_name=stored, **RUN)
    assert found.normalised_missing is not None and "failed on other texts" in found.normalised_missing
    assert "may be partly of layout" in _layout(found)[0].message


def test_streams_are_not_read_again() -> None:
    human, _, broken = _sets()
    found = compute_mauve(p_text=human, q_text=iter(broken), featurize_model_name="ngrams", num_runs=1)
    assert found.normalised is None and found.normalised_missing == NOT_READ_AGAIN
    assert "may be partly of layout" in _layout(found)[0].message


@pytest.mark.more
def test_a_tokenizer_that_sees_no_line_breaks_reads_nothing_again(
    tiny_gpt2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    human, _, broken = _sets()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_gpt2)
    read: list[int] = []
    for blind in (False, True):
        if blind:
            steps = [normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip(), normalizers.Lowercase()]
            tokenizer.backend_tokenizer.normalizer = normalizers.Sequence(steps)
        pair = transformers.AutoModel.from_pretrained(tiny_gpt2).eval(), tokenizer
        forward = pair[0].forward
        monkeypatch.setattr(
            pair[0], "forward", lambda *args, run=forward, **given: read.append(1) or run(*args, **given)
        )
        run = {"featurize_model_name": pair, "batch_size": 60, "max_batch_tokens": 10**6, "cache": False}
        found = compute_mauve(p_text=human, q_text=broken, **run, **RUN)
        assert found.format_aucs is not None and found.format_aucs["line_breaks"] > 0.9
        if blind:
            assert len(read) == 2 and not _layout(found) and found.normalised is None is found.normalised_missing
        else:
            assert len(read) > 4
        read.clear()


@pytest.mark.slow
def test_prompts_that_a_model_repeats_are_told_from_whole_passages(tmp_path: Path) -> None:
    """A verdict is withheld where the human texts lack the prompts, and only there."""
    human, model, _ = _sets()
    rng = np.random.default_rng(3)
    prompts = [f"{' '.join(rng.choice(WORDS, size=6))} {'abcdefghij'[row % 10]}{row}" for row in range(len(model))]
    echoed = [f"{prompt} {text}" for prompt, text in zip(prompts, model, strict=True)]
    passages = [f"{prompt[::-1]} {text}" for prompt, text in zip(prompts, human, strict=True)]
    rows = [{"prompt": prompt, "text": text} for prompt, text in zip(prompts, echoed, strict=True)]
    (tmp_path / "model.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    model_file, run = str(tmp_path / "model.jsonl"), {"featurize_model_name": "ngrams", "num_runs": 1}
    for texts, refused in ((human, True), (passages, False)):
        human_file = write_jsonl(tmp_path / f"human{refused}.jsonl", texts)
        for found in (
            compute_mauve(p_text=human_file, q_text=model_file, **run),
            explain(p_text=human_file, q_text=model_file, **run).result,
            compare(human_file, {"m": model_file}, **run).models["m"],
        ):
            assert (found.verdict_reason == "echoed_prompts") == refused
            assert ("echoed_prompts" in {warning.code for warning in found.warnings}) == refused


@pytest.mark.more
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(".", "．"),
        lambda text: text.replace("é", "e\u0301"),
        lambda text: text.replace(" ", "\u200b ", 2),
    ],
    ids=["fullwidth", "NFD", "invisible"],
)
def test_forms_of_characters_are_layout(change: Callable[[str], str]) -> None:
    """Also where a full stop is one, and can go with the last characters, only in the usual form."""
    human, model, _ = ([text.replace("e", "é") + "." for text in texts] for texts in _sets(120))
    found = compute_mauve(p_text=human, q_text=[*map(change, model)], featurize_model_name="ngrams", num_runs=1)
    (warning,) = _layout(found)
    assert "Unicode forms or invisible characters" in warning.message and warning.message.endswith("strip='unicode'")
    assert found.by_layout_alone and found.normalised is not None and found.normalised.auc < 0.7 < (found.auc or 0)


@pytest.mark.more
def test_all_cures_that_are_needed_are_named_at_once() -> None:
    """Without the line breaks the quotes would still tell the sets apart."""
    human, _, broken = _sets(120)
    human = [f'"{text}" -- it said' for text in human]
    curly = [f"“{text}” — it said" for text in broken]
    found = compute_mauve(p_text=human, q_text=curly, featurize_model_name="ngrams", num_runs=1)
    (warning,) = _layout(found)
    assert warning.message.endswith("Cure: strip='line_breaks,quotes'"), warning.message
    cured = compute_mauve(
        p_text=human, q_text=curly, featurize_model_name="ngrams", num_runs=1, strip="line_breaks,quotes"
    )
    assert not _layout(cured) and found.normalised is not None
    assert found.normalised.mauve_classifier == pytest.approx(cured.mauve_classifier, abs=1e-12)


def _by_quotes() -> dict[str, list[str]]:
    """A model that differs by its quotes alone, and one whose words differ."""
    human, model, _ = _sets(70)
    rng = np.random.default_rng(5)
    other = [" ".join(rng.choice([*WORDS[:4], "fox", "was", "seen"], size=25)) for _ in range(70)]
    return {
        "human": [f'"{text}"' for text in human],
        "curly": [f"“{text}”" for text in model],
        "other": [f'"{text}"' for text in other],
    }


def blind(texts: list[str]) -> np.ndarray:
    """Counts of letters, which no layout changes."""
    return np.array([[text.count(letter) for letter in "aeiorstv"] for text in texts], dtype=float)


@pytest.mark.slow
@pytest.mark.parametrize("featurizers", [None, {"blind": blind, "ngrams": "ngrams"}, {"ngrams": "ngrams", "b": blind}])
def test_a_caveat_of_layout_reaches_ranking_headline_and_gate(featurizers: dict[str, Any] | None) -> None:
    texts = _by_quotes()
    human = texts.pop("human")
    given: dict[str, Any] = {"featurize_model_name": "ngrams"} if featurizers is None else {"featurizers": featurizers}
    found = compare(human, texts, num_runs=1, **given)
    curly, other = found.models["curly"], found.models["other"]
    assert (curly.verdict, curly.verdict_reason, curly.by_layout_alone) == ("different", "layout", True)
    assert (curly.closeness or 1) < (curly.closeness_without_layout or 0) and len(_layout(curly)) == 1
    assert other.closeness_without_layout is None and other.verdict_reason is None
    assert found.ranking == ("curly", "other") and found.differences[0].real
    said = ranking_sentence(found)
    assert said == "Without the layout that differs: curly is closest to human text, as far as these tests see."
    first = headline(curly)
    assert first.startswith("DIFFERENT from human text by layout alone (") and "curly quotes" in first, first
    assert f"Without that layout, closeness is {curly.closeness_without_layout:.3f}" in first
    assert "without layout" in str(found) and "without layout" in found.to_latex()
    assert closeness_below(curly, 0.5) == "" and closeness_below(curly, 1.1).startswith("closeness without the layout")
    straight = {name: [text.translate(str.maketrans("“”", '""')) for text in each] for name, each in texts.items()}
    before = compare(human, straight, num_runs=1, **given).to_dict()
    stored = before["models"]
    for label, each in (before.get("by_featurizer") or {}).items():
        for name, values in each["models"].items():
            stored[name].setdefault("by_featurizer", {})[label] = values
    change = changes(found, stored)["curly"]
    assert not change.is_worse and "by classifier without layout" in change.sentence


@pytest.mark.slow
def test_of_texts_and_features_none_is_ahead_for_its_layout_alone() -> None:
    """The layout of features is not known: of the same texts they have the same place, and no gate sees a change."""
    texts = _by_quotes()
    run: dict[str, Any] = {"num_runs": 1, "featurize_model_name": "ngrams"}
    made = FeatureSet.from_texts(texts["curly"], featurize_model_name="ngrams")
    features = replace(made, format_numbers=None)
    alone, before = (compare(texts["human"], {"m": side}, **run) for side in (texts["curly"], features))
    mixed = compare(texts["human"], {"m": texts["curly"], "features": features}, **run)
    assert (alone.models["m"].closeness_without_layout or 0) > 0.5
    assert mixed.models["m"].closeness_without_layout is None and mixed.differences[0].difference == 0
    for now, then in ((alone, before), (before, alone)):
        change = changes(now, then.to_dict()["models"])["m"]
        assert all(row["before"] == row["now"] for row in change.rows) and "layout may be the cause" in change.doubt


def sees_quotes(texts: list[str]) -> np.ndarray:
    """Counts of letters and quotes."""
    return np.array([[text.count(letter) for letter in "aeiorstv“"] for text in texts], dtype=float)


QUOTES: dict[str, Any] = {"num_runs": 1, "independent": True, "featurize_model_name": sees_quotes}


@pytest.mark.slow
def test_robustness_ranks_without_the_layout_as_compare_does() -> None:
    """By closeness with it, the model of straight quotes would be ahead or as far."""
    texts = _by_quotes()
    human = texts.pop("human")
    found = robustness(human, texts, vary="num_buckets", design=False, **QUOTES)
    compared = compare(human, texts, **QUOTES)
    default, curly = found.default, compared.models["curly"]
    assert (default.ranking, default.differences) == (compared.ranking, compared.differences)
    assert default.models["curly"].closeness_without_layout == curly.closeness_without_layout is not None
    assert {setting.ranking for setting in found.settings} == {("curly", "other")}
    assert all(setting.models["curly"].differs_by_layout for setting in found.settings)
    said = " ".join(str(found).split())
    assert "* closeness without the layout that differs, of curly." in said and "* (1)" in said


@pytest.mark.slow
def test_where_the_score_without_layout_is_not_known_robustness_and_gates_say_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = _by_quotes()
    human = texts.pop("human")
    before = compare(human, {"m": [text.translate(str.maketrans("“”", '""')) for text in texts["curly"]]}, **QUOTES)
    monkeypatch.setattr(without_layout, "MOST_AGAIN", 10)
    found = compute_mauve(p_text=human, q_text=texts["curly"], **QUOTES)
    assert found.verdict_reason == "layout" and found.closeness_without_layout is None
    unknown = (
        f"; layout may be the cause: closeness without the layout that differs is not known ({without_layout.TWICE})"
    )
    assert closeness_below(found, 1.1).endswith(unknown)
    compared = compare(human, {"m": texts["curly"]}, **QUOTES)
    change = changes(compared, before.to_dict()["models"])["m"]
    assert change.is_worse and change.doubt == unknown
    back = changes(before, compared.to_dict()["models"])["m"]
    assert not back.is_worse and "the earlier closeness without the layout" in back.doubt
    said = str(robustness(human, texts, vary="num_buckets", design=False, **QUOTES))
    assert "Layout alone may put curly behind: its closeness without that is not known under" in " ".join(said.split())


# --- what is tried, with scores that are set by hand ---------------------------------------------------------------

MARKS = {"line_breaks": "\n", "curly_quotes": "“", "last_character": "!", "html": "<p>", "prompts": "Say: "}
Scores = Callable[[frozenset[str], int], tuple[float, float] | None]


class Trial:
    """Reads texts in place of a featurizer; their score and AUC follow from the marks in those of the model."""

    def __init__(self, scores: Scores, telling: Sequence[str] = ()) -> None:
        self.scores, self.telling = scores, telling
        self.sets: list[list[str]] = []
        self.groups: list[Any] = []

    def of_texts(self, _: str, source: TextSource, marks: bool = True) -> FeatureSet:
        self.sets.append([*source.texts])
        return FeatureSet(np.zeros((len(self.sets[-1]), 1)))

    def marks(self) -> frozenset[str]:
        return frozenset(name for name, mark in MARKS.items() if any(mark in text for text in self.sets[-1]))

    def learned(self, _: Any, rows: Any, groups: Any, *given: Any, **options: Any) -> Learned | None:
        self.groups.append(groups)
        return with_score(self.scores(self.marks(), len(rows)))

    def check(self, *given: Any) -> tuple[None, None, tuple[str, ...]]:
        return None, None, tuple(name for name in self.telling if name in self.marks())


@functools.cache
def scored() -> MauveResult:
    rows = np.random.default_rng(0).normal(size=(60, 2))
    return compute_mauve(p_features=rows[:30], q_features=rows[30:], num_runs=1, knn=False)


def with_score(score: tuple[float, float] | None) -> Learned | None:
    learned = scored().learned
    assert learned is not None
    return None if score is None else learned._replace(mauve=score[0], auc=score[1])


def users(texts: list[str]) -> np.ndarray:
    raise AssertionError("the trial reads in its place")


def try_layout(
    monkeypatch: pytest.MonkeyPatch,
    trial: Trial,
    layout: Sequence[str],
    before: tuple[float, float] | None = (0.3, 0.9),
    *,
    featurizer: Any = "ngrams",
    strip: str = "no",
    wrapped: Sequence[str] = (),
    prompts: Sequence[str] = (),
    sizes: tuple[int, int] = (70, 70),
    job: bool = True,
) -> MauveResult:
    monkeypatch.setattr(without_layout, "learned_score", trial.learned)
    monkeypatch.setattr(without_layout, "check_format", trial.check)
    marks = [MARKS[name] for name in (*layout, *wrapped, *trial.telling)]
    texts = [
        [f"word {row} here" for row in range(70)],
        [
            f"{'Say: ' if prompts else ''}word {row}{''.join({*marks} - {'!'})} there{'!' * ('!' in marks)}"
            for row in range(70)
        ],
    ]
    numbers = {"auc": 0.8, "layout": [*layout], **{f"auc_{name}": 0.9 for name in layout}}
    warnings = [ScoreWarning("few_texts", "", {})]
    warnings += [ScoreWarning("wrapping_in_one_set", "", {"kind": kind}) for kind in wrapped]
    warnings += [ScoreWarning("format_differs", "before", numbers)] if layout else []
    warnings += [ScoreWarning("echoed_prompts", "", {})] if prompts else []
    entries = {"featurize_model_name": featurizer if isinstance(featurizer, str) else "a function"}
    result = replace(
        scored(),
        **{"warnings": tuple(warnings), "signature_entries": entries, "learned": with_score(before)},
        **{"format_aucs": {"curly_quotes": 0.7, "line_breaks": 0.6, "quotes": 0.55}, "normalised_missing": "not tried"},
        **dict(zip(("n_p", "n_q"), sizes, strict=True)),
    )
    config = MauveConfig(featurize_model_name=featurizer, strip=strip)
    codes = np.arange(70), np.arange(70) + 100
    reader: Any = trial if job else None
    return without_layout.without_layout(result, texts, codes, config, reader, prompts)


def by_marks(**scores: tuple[float, float] | None) -> Scores:
    """A score for the marks that are left, by their names."""
    return lambda marks, _: scores["_and_".join(sorted(marks)) or "plain"]


@pytest.mark.parametrize(
    ("plain", "is_named"),
    [
        ((0.8, 0.6), True),
        ((0.325, 0.9), True),  # the score alone rises
        ((0.3, 0.875), True),  # the AUC alone falls
        ((0.31, 0.89), False),
        ((0.2, 0.95), False),  # easier to tell apart without
    ],
)
def test_layout_is_named_where_the_sets_are_harder_to_tell_apart_without_it(
    monkeypatch: pytest.MonkeyPatch, plain: tuple[float, float], is_named: bool
) -> None:
    found = try_layout(monkeypatch, Trial(by_marks(plain=plain)), ["line_breaks"])
    assert found.normalised_missing is None
    if not is_named:
        assert [warning.code for warning in found.warnings] == ["few_texts"] and found.normalised is None
        assert found.bounds_without_layout == ()
        return
    few, warning = found.warnings
    assert few.code == "few_texts" and warning.weight == pytest.approx(abs(plain[0] - 0.3))
    assert f"the classifier's score is {plain[0]:.3f} in place of 0.300" in warning.message
    assert warning.message.endswith("Cure: strip='line_breaks'") and "ngrams" in warning.message
    numbers = {"auc": 0.8, "layout": ["line_breaks"], "auc_line_breaks": 0.6}
    assert warning.numbers == numbers | {"score": 0.3, "score_without": plain[0]}
    assert found.normalised is not None
    assert (found.normalised.mauve_classifier, found.normalised.auc) == plain
    (bound,) = found.bounds_without_layout
    assert (bound.kind, bound.auc) == ("classifier", plain[1]) and bound.codes is found.bounds[-1].codes


MOVED, SAME = (0.8, 0.6), (0.3, 0.9)


@pytest.mark.parametrize(
    ("layout", "scores", "more", "cure", "names"),
    [
        # what still tells the sets apart is left out too
        (["line_breaks"], by_marks(curly_quotes=SAME, plain=MOVED), {"telling": ["curly_quotes"]},
         "line_breaks,quotes", ["line_breaks", "curly_quotes"]),
        # no option removes last characters; the others are named if they move the score
        (["last_character"], by_marks(plain=MOVED), {}, "", ["last_character"]),
        (["line_breaks", "last_character"], by_marks(plain=MOVED, last_character=MOVED), {},
         "line_breaks", ["line_breaks", "last_character"]),
        (["line_breaks", "last_character"], by_marks(plain=MOVED, last_character=SAME), {},
         "", ["line_breaks", "last_character"]),
        (["line_breaks", "last_character"], by_marks(plain=MOVED, last_character=None), {},
         "", ["line_breaks", "last_character"]),
        # wrapping that was warned of is layout too
        (["line_breaks"], by_marks(plain=MOVED), {"wrapped": ["html"]}, "html,line_breaks", ["line_breaks"]),
        # what is stripped already stays so
        (["line_breaks"], by_marks(plain=MOVED), {"strip": "reasoning,quotes"}, "reasoning,line_breaks,quotes",
         ["line_breaks"]),
        (["line_breaks"], by_marks(plain=MOVED), {"strip": "line_breaks"}, "", ["line_breaks"]),
    ],
)  # fmt: skip
def test_the_cure_has_what_moves_the_score_and_can_be_stripped(
    monkeypatch: pytest.MonkeyPatch,
    layout: list[str],
    scores: Scores,
    more: dict[str, Any],
    cure: str,
    names: list[str],
) -> None:
    trial = Trial(scores, more.get("telling", ()))
    settings = {name: value for name, value in more.items() if name != "telling"}
    warning = try_layout(monkeypatch, trial, layout, **settings).warnings[-1]
    assert warning.numbers["layout"] == names
    assert warning.message.partition(". Cure: ")[2] == (f"strip='{cure}'" if cure else "")
    assert {name for name in warning.numbers if name.startswith("auc_")} == {f"auc_{name}" for name in names}


@pytest.mark.parametrize("before", [SAME, None])
def test_too_few_texts_without_layout_are_named(
    monkeypatch: pytest.MonkeyPatch, before: tuple[float, float] | None
) -> None:
    trial = Trial(by_marks(plain=MOVED if before is None else None))
    found = try_layout(monkeypatch, trial, ["line_breaks"], before)
    assert found.normalised_missing == "without layout too few different texts are left"
    assert found.warnings[-1].message == "before"


def by_size(
    sample: tuple[float, float], full: tuple[float, float] | None, sample_before: tuple[float, float] = SAME
) -> Scores:
    return lambda marks, size: sample_before if marks else sample if size == 64 else full


@pytest.mark.parametrize(
    ("scores", "before", "numbers", "read"),
    [
        (by_size((0.3, 0.8), MOVED), SAME, (0.3, 0.8), [64, 64, 64, 64, 70, 70]),
        (by_size((0.3, 0.8), SAME), SAME, None, [64, 64, 64, 64, 70, 70]),
        (by_size((0.3, 0.86), MOVED), SAME, None, [64, 64, 64, 64]),  # of a sample, .04 is noise
        (by_size((0.8, 0.9), MOVED), SAME, None, [64, 64, 64, 64]),  # and so is its score
        (by_size((0.4, 0.8), None), SAME, (0.3, 0.4), [64, 64, 64, 64, 70, 70]),
        (by_size((0.4, 0.8), MOVED, (0.25, 0.9)), None, (0.25, 0.8), [64, 64, 64, 64, 70, 70]),
    ],
)
def test_a_users_function_tries_a_sample_before_all_texts(
    monkeypatch: pytest.MonkeyPatch,
    scores: Scores,
    before: tuple[float, float] | None,
    numbers: tuple[float, float] | None,
    read: list[int],
) -> None:
    trial = Trial(scores)
    found = try_layout(monkeypatch, trial, ["line_breaks"], before, featurizer=users)
    assert [*map(len, trial.sets)] == read and found.normalised_missing is None
    if numbers is None:
        assert [warning.code for warning in found.warnings] == ["few_texts"] and found.normalised is None
    else:
        assert found.warnings[1].numbers.items() >= {"score": numbers[0], "score_without": numbers[1]}.items()
        assert found.normalised is not None and found.normalised.mauve_classifier == numbers[1]
    for first, side, codes in zip(
        (0, 100), trial.sets[:2], trial.groups[0], strict=True
    ):  # of the texts that were drawn
        assert [first + int(text.split()[1]) for text in side] == [*codes] != sorted(codes)


@pytest.mark.parametrize(("auc", "weight"), [(0.8, 0.2), (0.35, 1.0)])
def test_a_users_function_that_would_read_too_much_has_a_sample_alone(
    monkeypatch: pytest.MonkeyPatch, auc: float, weight: float
) -> None:
    trial, sizes = Trial(by_size((0.3, auc), MOVED)), (500, 501)
    found = try_layout(monkeypatch, trial, ["line_breaks"], featurizer=users, sizes=sizes)
    assert [*map(len, trial.sets)] == [64] * 4
    assert (found.normalised, found.normalised_missing) == (None, without_layout.TWICE)
    warning = found.warnings[1]
    assert f"a classifier's AUC on 128 texts is {auc:.2f} in place of 0.90" in warning.message
    assert warning.numbers.items() >= {"auc_before": 0.9, "auc_without": auc}.items()
    assert warning.weight == pytest.approx(weight)
    for others in ((500, 500), (501, 501)):
        found = try_layout(
            monkeypatch, Trial(by_size((0.3, auc), MOVED)), ["line_breaks"], featurizer=users, sizes=others
        )
        assert (found.normalised is None) == (sum(others) > 1000)
    assert try_layout(monkeypatch, Trial(by_marks(plain=MOVED)), ["line_breaks"], sizes=sizes).normalised is not None


@pytest.mark.parametrize(
    ("before", "plain", "stays"), [(SAME, MOVED, True), (SAME, SAME, False), (None, SAME, True), (SAME, None, True)]
)
def test_prompts_are_named_where_the_sets_are_harder_to_tell_apart_without_them(
    monkeypatch: pytest.MonkeyPatch,
    before: tuple[float, float] | None,
    plain: tuple[float, float] | None,
    stays: bool,
) -> None:
    trial = Trial(by_marks(plain=plain))
    found = try_layout(monkeypatch, trial, [], before, prompts=["Say:"])
    assert ("echoed_prompts" in {warning.code for warning in found.warnings}) == stays
    assert found.warnings[0].code == "few_texts" and found.normalised_missing == "not tried"
    assert [*map(len, trial.sets)] == [70, 70] and trial.sets[1][5] == "word 5 there"


def test_layout_that_still_tells_after_it_was_left_out_is_left_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = Trial(by_marks(plain=MOVED))
    monkeypatch.setattr(trial, "check", lambda *given: (None, None, ("line_breaks",)))
    assert try_layout(monkeypatch, trial, ["line_breaks"]).normalised is not None and len(trial.sets) == 2


def test_texts_of_nothing_but_layout_keep_it(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = Trial(by_marks(plain=SAME, prompts=SAME))
    monkeypatch.setattr(without_layout, "learned_score", trial.learned)
    monkeypatch.setattr(without_layout, "check_format", trial.check)
    result = replace(scored(), warnings=(ScoreWarning("echoed_prompts", "", {}),), signature_entries={})
    texts = [["one", "two"], ["Say: ", "Say: yes"]]
    reader: Any = trial
    without_layout.without_layout(result, texts, None, MauveConfig(featurize_model_name="ngrams"), reader, ["Say:"])
    assert trial.sets == [["one", "two"], ["Say: ", "yes"]] and trial.groups == [None]


@pytest.mark.parametrize(("featurizer", "is_raised"), [(users, False), ("ngrams", True), ("gpt2", True)])
def test_an_error_of_a_users_function_alone_is_no_error_of_the_score(
    monkeypatch: pytest.MonkeyPatch, featurizer: Any, is_raised: bool
) -> None:
    def fail(marks: frozenset[str], size: int) -> None:
        raise RuntimeError("no such text")

    with pytest.raises(RuntimeError, match="no such text") if is_raised else nullcontext():
        found = try_layout(monkeypatch, Trial(fail), ["line_breaks"], featurizer=featurizer)
        assert found.normalised_missing == "the featurizer failed on other texts: no such text"
        assert found.warnings[-1].message == "before"


def test_without_texts_or_a_way_to_read_them_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = Trial(by_marks(plain=MOVED))
    found = try_layout(monkeypatch, trial, ["line_breaks"], featurizer="gpt2", job=False)
    assert found.warnings[-1].message == "before" and found.normalised_missing == "not tried"
    for texts in ([None, ["a"]], [["a"], None]):
        reader: Any = trial
        config = MauveConfig(featurize_model_name="ngrams")
        assert without_layout.without_layout(found, texts, None, config, reader) is found
    assert trial.sets == [] and without_layout.needs_trial(found)
    assert not without_layout.needs_trial(replace(found, warnings=found.warnings[:1]))


def test_a_function_of_texts_is_read_by_a_job_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the result is of stored features, which the options do not name."""
    trial, made = Trial(by_marks(plain=MOVED)), list[Any]()
    monkeypatch.setattr(without_layout, "FeaturizeJob", lambda *given: made.append(given) or trial)
    named = try_layout(monkeypatch, trial, ["line_breaks"], job=False)
    texts = [trial.sets[0], [f"{text}\n" for text in trial.sets[1]]]
    stored = replace(named, warnings=(ScoreWarning("format_differs", "", named.warnings[1].numbers),))
    found = without_layout.without_layout(stored, texts, None, MauveConfig(featurize_model_name="gpt2"))
    assert named.normalised == found.normalised is not None and [*map(len, trial.sets)] == [70] * 4
    assert [(config.featurize_model_name, run.cache) for config, run in made] == [("ngrams", False)] * 2


def test_an_effect_of_layout_is_that_of_the_result_where_it_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = try_layout(monkeypatch, Trial(by_marks(plain=MOVED)), ["line_breaks"])
    other = replace(scored(), warnings=(ScoreWarning("format_differs", "old", {}), ScoreWarning("one", "", {})))
    found = without_layout.with_effect_of(tried, other)
    assert [warning.message for warning in found.warnings] == [tried.warnings[1].message, ""]
    names = ("normalised", "normalised_missing", "bounds_without_layout")
    assert [getattr(found, name) for name in names] == [getattr(tried, name) for name in names]
