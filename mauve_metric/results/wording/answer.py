"""The answer to a comparison in one sentence, the marks of its bars, and the agreement of several featurizers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mauve_metric.results.document import Column, Table
from mauve_metric.results.plain_text import digits, in_brackets, percent, rounded_up, shown_names
from mauve_metric.results.wording import verdict as verdicts
from mauve_metric.results.wording import words
from mauve_metric.results.wording.verdict import format_sentence
from mauve_metric.uncertainty.blind_spots import BlindSpots, blind_spots

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mauve_metric.results.comparison import Comparison
    from mauve_metric.results.result import MauveResult

SCALE = "1 means as close as other people's texts"
DOUBT = "not reliable here, for the reason above"
ENDS = "nothing in common", "other people's texts"
CONTENT, STYLE = "content", "style"
KINDS = {CONTENT: "groups of similar texts", STYLE: "what a classifier finds, on the same scale"}
SEES = {"minilm": "what texts are about", "ngrams": "grammar, spelling and layout"}
RELIABLE_TEXTS = 100  # of each set: with fewer, the interval of a score of .8 is .3 to .7 wide
_TELL = "tell this model's texts from people's"
Ahead = dict[str, str | None]  # by featurizer the model of a pair that it puts ahead; None: it tells none apart

FEATURIZER_COLUMNS = (
    Column("featurizer", "featurizer"),
    *Column.each(".4f", mauve_debiased="debiased", low="low", high="high", mauve="MAUVE"),
    *Column.each(".3f", "precision", "recall"),
    Column("p_value", "p", ".2g"),
    Column("finding", "a difference is"),
)


class Mark(NamedTuple):
    """A score on a bar: its kind, value in [0, 1] and interval."""

    kind: str
    value: float
    ends: tuple[float, float] | None

    @property
    def is_possible(self) -> bool:
        """Return whether value and interval are in [0, 1] and in their order."""
        low, high = self.ends or (self.value, self.value)
        return 0 <= low <= self.value <= high <= 1

    @property
    def words(self) -> str:
        """The score in words."""
        return f"{self.kind} {digits(self.value, '.3f')}{in_brackets(self.ends)}"


class Bar(NamedTuple):
    """A line from 0 to 1 with the scores of one model by one featurizer."""

    label: str
    marks: tuple[Mark, ...]


def answer(result: MauveResult) -> str:
    """State if the features tell a model's texts from people's; without a verdict, the reason is the headline."""
    reasons = {name: verdicts.withheld(one) for name, one in words.each_result(result).items()}
    few = min(result.n_p, result.n_q)
    return answer_of(findings_of(result), reasons, few, caution(result), lambda: verdicts.texts_needed(result))


def findings_of(result: MauveResult) -> dict[str, verdicts.Finding]:
    """The finding by each featurizer, under its displayed name; key "" for a single one."""
    return {name: verdicts.finding(one) for name, one in words.each_result(result).items()}


def answer_of(
    findings: Mapping[str, verdicts.Finding],
    reasons: Mapping[str, str],
    few: int,
    warned: str = "",
    needed: Callable[[], int | None] = lambda: None,
) -> str:
    """The answer for findings by featurizer; few: texts of the smaller set; for the others see `answer`."""
    each, found = list(findings), set(findings.values())
    if few < RELIABLE_TEXTS:
        so_far = " So far the two sets look different." if "shown" in found else ""
        if found == {"withheld"} and few >= verdicts.FEWEST_TEXTS:
            so_far = f" Besides, {reasons[next(iter(each))]}."
        return f"Cannot tell reliably: {_too_few(few)}{so_far}"
    if found == {"shown"}:
        return f"{warned}. Even so, these features can {_TELL}." if warned else f"These features can {_TELL}."
    if found == {"not shown"}:
        return f"These features cannot {_TELL}."
    if found == {"withheld"}:
        return f"No verdict: {reasons[next(iter(each))]}."
    if "shown" in found:
        can = [name for name in each if findings[name] == "shown"]
        cannot = [name for name in each if findings[name] in ("not shown", "undecided")]
        surely = "" if all(findings[name] == "not shown" for name in cannot) else " reliably"
        others = [f"{words.listed(cannot)} cannot{surely}"] if cannot else []
        others += [f"with {name} there is no verdict, since {reason}" for name, reason in reasons.items() if reason]
        return f"The featurizers disagree: {words.listed(can)} can {_TELL}; {'; '.join(others)}."
    texts = needed()
    enough = f"; it takes about {rounded_up(texts)} a set" if texts is not None else ""
    return f"These features cannot reliably {_TELL}: {few} texts are too few{enough}."


def opening(result: MauveResult) -> str:
    """The answer, and the strongest difference in format with its cure."""
    return " ".join(filter(None, (answer(result), format_sentence(result))))


def bars(result: MauveResult) -> list[Bar]:
    """A bar for each featurizer."""
    return [Bar(bar_label("this model", name), _marks(one)) for name, one in words.each_result(result).items()]


def bar_label(model: str, featurizer: str) -> str:
    """The label of a bar; featurizer: "" for a single one."""
    seen = f", seen by {featurizer}" if featurizer else ""
    return f"{model}{seen} ({SEES[featurizer]})" if featurizer in SEES else f"{model}{seen}"


def comparison_answer(comparison: Comparison) -> str:
    """State which model is closest to people's texts, or why that is not known."""
    if reason := words.ranking_withheld(comparison):
        return f"No ranking: {reason}."
    each = words.each_featurizer(comparison)
    best = {name: words.closest(one.ranking, one.differences) for name, one in each.items()}
    if len(set(map(frozenset, best.values()))) > 1:
        said = [f"{name} finds {words.listed(models)} closest" for name, models in best.items()]
        return f"The featurizers disagree: {'; '.join(said)}."
    ranked = words.closest_words(next(iter(each.values())))
    few = min(min(result.n_p, result.n_q) for result in comparison.models.values())
    return ranked if few >= RELIABLE_TEXTS else f"Cannot rank reliably: {_too_few(few)} {ranked}"


def comparison_bars(comparison: Comparison) -> list[Bar]:
    """A bar for each model, in the order of the ranking, by each featurizer."""
    return [
        Bar(bar_label(model, name), _marks(one.models[model]))
        for name, one in words.each_featurizer(comparison).items()
        for model in one.ranking
    ]


def bar_words(shown: list[Bar]) -> str:
    """The bars in words, for those who do not see them."""
    said = [f"{bar.label}: {', '.join(mark.words for mark in bar.marks)}" for bar in shown if bar.marks]
    return f"From 0, {ENDS[0]}, to 1, {ENDS[1]}. {'; '.join(said)}."


def _too_few(texts: int) -> str:
    return f"{'1 text a set is' if texts == 1 else f'{texts} texts a set are'} too few; give at least {RELIABLE_TEXTS}."


def caution(result: MauveResult) -> str:
    """The reason for which a score means little although a difference is shown; empty without one."""
    declared = result.design != "independent"
    codes = [warning.code for warning in result.warnings if not (declared and warning.code == "shared_prompts")]
    reasons = [verdicts.WITHHELD[code] for code in codes if code in verdicts.TOO_CAREFUL]
    return f"Do not trust the score: {'; '.join(reasons)}" if reasons else ""


def _marks(result: MauveResult) -> tuple[Mark, ...]:
    """The debiased score on groups of similar texts, and that on a classifier's buckets."""
    found = (
        (CONTENT, result.mauve_debiased, result.mauve_ci),
        (STYLE, result.mauve_classifier, result.mauve_classifier_ci),
    )
    return tuple(Mark(kind, value, ends) for kind, value, ends in found if value is not None)


def joint_verdict(results: Mapping[str, MauveResult]) -> str:
    """Agreement of featurizers that two sets differ, in sentences; empty for fewer than two of them.

    Args:
        results: of the same two sets, by the featurizer's name.

    Each has its own level: where only some show a difference, the words say how often chance alone does that
    (at most the number of featurizers times the level, Bonferroni), and which errors the others were measured not to
    see (see `mauve_metric.uncertainty.blind_spots`).
    """
    if len(results) < 2:
        return ""
    labels = shown_names(list(results))
    shown, unseen, undecided, withheld = (
        [labels[name] for name, result in results.items() if verdicts.finding(result) == said]
        for said in ("shown", "not shown", "undecided", "withheld")
    )
    if len(shown) == len(results):
        return f"{every_one(len(results)).capitalize()} featurizers show a difference between the two sets."
    doubt = [f"with {words.listed(undecided)} there are too few texts to tell"] if undecided else []
    doubt += [f"with {words.listed(withheld)} no verdict is given"] if withheld else []
    if not shown:
        same = [f"with {words.listed(unseen)} these texts do not show one"] if unseen else []
        return f"No featurizer shows a difference: {'; '.join([*same, *doubt])}.{shared_blindness(results)}"
    sees = f"{words.listed(shown)} {'shows' if len(shown) == 1 else 'show'} one"
    others = f" that {words.listed(unseen)} {'does' if len(unseen) == 1 else 'do'} not show" if unseen else ""
    sentences = [f"The featurizers do not agree on a difference: {'; '.join([sees + others, *doubt])}."]
    sentences += [
        f"{labels[name]} was measured not to see: {spots.said}."
        for name, result in results.items()
        if labels[name] not in shown and (spots := known_blind_spots(result))
    ]
    return " ".join([*sentences, by_chance(len(results), next(iter(results.values())).confidence_level)])


def shared_blindness(results: Mapping[str, MauveResult]) -> str:
    """The errors that no featurizer was measured to see; empty where that is not known of all."""
    known = [known_blind_spots(result) for result in results.values()]
    spots = [found for found in known if found is not None]
    if len(spots) < len(known):
        return ""
    errors = tuple(error for error in spots[0].errors if all(error in other.errors for other in spots))
    shared = BlindSpots(errors, min(found.texts for found in spots))
    return f" Errors that {every_one(len(results))} were measured not to see: {shared.said}." if errors else ""


def every_one(number: int) -> str:
    """Words for all of so many featurizers."""
    return "both" if number == 2 else f"all {number}"


def known_blind_spots(result: MauveResult) -> BlindSpots | None:
    """Errors that a result's featurizer was measured not to detect; None if unknown or without any."""
    return blind_spots({name: str(value) for name, value in result.signature_entries.items()})


def by_chance(number: int, level: float) -> str:
    """Words for the chance that one of so many featurizers shows a difference between equal sets."""
    most = percent(min(number * (1 - level), 1.0), 1.0)
    return f"Between equal sets, one of {number} featurizers shows a difference in up to {most} of all cases."


def featurizers_table(results: Mapping[str, MauveResult]) -> Table:
    """One row a featurizer, with the columns that hold anything."""
    labels = shown_names(list(results))
    rows = [
        Table.row(FEATURIZER_COLUMNS, result, "mauve_ci", featurizer=labels[name], finding=verdicts.finding(result))
        for name, result in results.items()
    ]
    return Table(FEATURIZER_COLUMNS, rows).filled()


def joint_comparison(each: Mapping[str, Comparison]) -> str:
    """Agreement of featurizers on pairs of models, in sentences; empty for one, and without a ranking.

    Args:
        each: the comparison of the same models, by the featurizer's name.

    They agree on a pair if all find its difference real and of one sign, or none does. Where they do not agree, the
    words say how often chance alone does that, and which errors those that see less were measured not to see; where
    they agree on all, which errors none of them was measured to see.
    """
    if len(each) < 2:
        return ""
    labels = shown_names(list(each))
    found = {labels[name]: words.with_labels(one) for name, one in each.items()}
    results = {name: next(iter(one.models.values())) for name, one in found.items()}
    if len(next(iter(found.values())).models) == 1:
        return joint_verdict(results)
    if any(words.ranking_withheld(one) for one in found.values()):
        return ""
    pairs = pairs_of(found)
    disputed = {pair: ahead for pair, ahead in pairs.items() if len(set(ahead.values())) > 1}
    if not disputed:
        return f"{_agreement(pairs, len(pairs))}{shared_blindness(results)}"
    sentences = [_agreement({pair: pairs[pair] for pair in pairs if pair not in disputed}, len(pairs))]
    other = "other" if len(disputed) == 1 else "others"
    subject = f"They do not agree on the {other}" if sentences[0] else "The featurizers do not agree"
    sentences.append(f"{subject}: {'; '.join(_doubts(disputed))}.")
    for name, result in results.items():
        if any(winner not in (None, ahead[name]) for ahead in disputed.values() for winner in ahead.values()) and (
            spots := known_blind_spots(result)
        ):
            sentences.append(f"{name} was measured not to see: {spots.said}.")
    level = next(iter(found.values())).confidence_level
    return " ".join([*filter(None, sentences), by_chance(len(each), level)])


def pairs_of(each: Mapping[str, Comparison]) -> dict[tuple[str, str], Ahead]:
    """For every pair of models, as the first featurizer ranks them, which of the two each featurizer puts ahead."""
    ahead = {
        name: {frozenset((item.a, item.b)): item.a if item.real else None for item in one.differences}
        for name, one in each.items()
    }
    first = next(iter(each.values()))
    return {
        (item.a, item.b): {name: found[frozenset((item.a, item.b))] for name, found in ahead.items()}
        for item in first.differences
    }


def _agreement(agreed: Mapping[tuple[str, str], Ahead], number: int) -> str:
    """The pairs on which all featurizers agree, number: of all pairs; empty if there are none."""
    if not agreed:
        return ""
    winners = {pair: next(iter(ahead.values())) for pair, ahead in agreed.items()}
    apart = [_ahead(pair, winner) for pair, winner in winners.items() if winner]
    alike = [f"{a} and {b}" for (a, b), winner in winners.items() if not winner]
    parts = [f"they put {words.some_pairs(apart)}"] if apart else []
    parts += [f"they do not tell apart {words.some_pairs(alike)}"] if alike else []
    where = "" if number == 1 else f" on {len(agreed)} of {number} pairs" if len(agreed) < number else " on every pair"
    every = every_one(len(next(iter(agreed.values()))))
    return f"{every.capitalize()} featurizers agree{where}: {'; '.join(parts)}."


def _ahead(pair: tuple[str, str], winner: str) -> str:
    a, b = pair
    return f"{winner} ahead of {b if winner == a else a}"


def _doubts(disputed: Mapping[tuple[str, str], Ahead]) -> list[str]:
    """Pairs that only some featurizers tell apart, grouped by featurizers; then the contradictions."""
    seen: dict[tuple[str, str], list[str]] = {}
    contradictions = []
    for pair, ahead in disputed.items():
        by_winner = {winner: [name for name, own in ahead.items() if own == winner] for winner in ahead.values()}
        blind = by_winner.pop(None, [])
        views = [f"{_put(names)} {_ahead(pair, winner)}" for winner, names in by_winner.items() if winner]
        if len(views) > 1:
            contradictions.append(f"{words.listed(views)}, which contradict each other")
        else:
            ((winner, seers),) = by_winner.items()
            unseen = f"which {words.listed(blind)} {'does' if len(blind) == 1 else 'do'} not tell apart"
            seen.setdefault((_put(seers), unseen), []).append(_ahead(pair, str(winner)))
    told = [f"{seers} {words.some_pairs(pairs)}, {unseen}" for (seers, unseen), pairs in seen.items()]
    return told + contradictions


def _put(names: Sequence[str]) -> str:
    return f"{words.listed(names)} {'puts' if len(names) == 1 else 'put'}"
