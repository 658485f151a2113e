"""Agreement of several featurizers on the same two sets, and on pairs of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mauve_metric.results.document import Column, Table
from mauve_metric.results.plain_text import percent, shown_names
from mauve_metric.results.signature import signature_number
from mauve_metric.results.wording.verdict import finding
from mauve_metric.results.wording.words import listed, ranking_withheld, some_pairs, with_labels
from mauve_metric.uncertainty.blind_spots import BlindSpots, blind_spots

if TYPE_CHECKING:
    from mauve_metric.results.comparison import Comparison
    from mauve_metric.results.result import MauveResult

Ahead = dict[str, str | None]  # by featurizer the model of a pair that it puts ahead; None: it tells none apart

FEATURIZER_COLUMNS = (
    Column("featurizer", "featurizer"),
    *Column.each(".4f", mauve_debiased="debiased", low="low", high="high", mauve="MAUVE"),
    *Column.each(".3f", "precision", "recall"),
    Column("p_value", "p", ".2g"),
    Column("finding", "a difference is"),
)


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
        [labels[name] for name, result in results.items() if finding(result) == said]
        for said in ("shown", "not shown", "undecided", "withheld")
    )
    if len(shown) == len(results):
        return f"{every_one(len(results)).capitalize()} featurizers show a difference between the two sets."
    doubt = [f"with {listed(undecided)} there are too few texts to tell"] if undecided else []
    doubt += [f"with {listed(withheld)} no verdict is given"] if withheld else []
    if not shown:
        same = [f"with {listed(unseen)} these texts do not show one"] if unseen else []
        return f"No featurizer shows a difference: {'; '.join([*same, *doubt])}.{shared_blindness(results)}"
    sees = f"{listed(shown)} {'shows' if len(shown) == 1 else 'show'} one"
    others = f" that {listed(unseen)} {'does' if len(unseen) == 1 else 'do'} not show" if unseen else ""
    sentences = [f"The featurizers do not agree on a difference: {'; '.join([sees + others, *doubt])}."]
    sentences += [
        f"{labels[name]} was measured not to see: {spots}."
        for name, result in results.items()
        if labels[name] not in shown and (spots := unseen_errors(result))
    ]
    level = signature_number(next(iter(results.values())).signature_entries, "confidence_level")
    return " ".join([*sentences, by_chance(len(results), level)])


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


def unseen_errors(result: MauveResult) -> str:
    """The errors that a result's featurizer was measured not to see; empty where that is not known."""
    spots = known_blind_spots(result)
    return "" if spots is None else spots.said


def by_chance(number: int, level: float) -> str:
    """Words for the chance that one of so many featurizers shows a difference between equal sets."""
    most = percent(min(number * (1 - level), 1.0), 1.0)
    return f"Between equal sets, one of {number} featurizers shows a difference in up to {most} of all cases."


def featurizers_table(results: Mapping[str, MauveResult]) -> Table:
    """One row a featurizer, with the columns that hold anything."""
    labels = shown_names(list(results))
    rows = [
        Table.row(FEATURIZER_COLUMNS, result, "mauve_ci", featurizer=labels[name], finding=finding(result))
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
    found = {labels[name]: with_labels(one) for name, one in each.items()}
    results = {name: next(iter(one.models.values())) for name, one in found.items()}
    if len(next(iter(found.values())).models) == 1:
        return joint_verdict(results)
    if any(ranking_withheld(one) for one in found.values()):
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
            spots := unseen_errors(result)
        ):
            sentences.append(f"{name} was measured not to see: {spots}.")
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
    parts = [f"they put {some_pairs(apart)}"] if apart else []
    parts += [f"they do not tell apart {some_pairs(alike)}"] if alike else []
    where = "" if number == 1 else f" on {len(agreed)} of {number} pairs" if len(agreed) < number else " on every pair"
    every = every_one(len(next(iter(agreed.values()))))
    return f"{every.capitalize()} featurizers agree{where}: {'; '.join(parts)}."


def _ahead(pair: tuple[str, str], winner: str) -> str:
    a, b = pair
    return f"{winner} ahead of {b if winner == a else a}"


def _doubts(disputed: Mapping[tuple[str, str], Ahead]) -> list[str]:
    """Pairs that only some featurizers tell apart, grouped by featurizers; then the contradictions."""
    seen: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    contradictions = []
    for pair, ahead in disputed.items():
        by_winner = {winner: [name for name, own in ahead.items() if own == winner] for winner in ahead.values()}
        blind = by_winner.pop(None, [])
        views = [f"{_put(names)} {_ahead(pair, winner)}" for winner, names in by_winner.items() if winner]
        if len(views) > 1:
            contradictions.append(f"{listed(views)}, which contradict each other")
        else:
            (winner,) = by_winner
            seen.setdefault((tuple(by_winner[winner]), tuple(blind)), []).append(_ahead(pair, str(winner)))
    return [
        f"{_put(seers)} {some_pairs(pairs)}, which {listed(blind)} {'does' if len(blind) == 1 else 'do'} not tell apart"
        for (seers, blind), pairs in seen.items()
    ] + contradictions


def _put(names: Sequence[str]) -> str:
    return f"{listed(names)} {'puts' if len(names) == 1 else 'put'}"
