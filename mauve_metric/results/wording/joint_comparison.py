"""Agreement of several featurizers on pairs of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mauve_metric.results.names import shown_names
from mauve_metric.results.wording import joint_verdict
from mauve_metric.results.wording.words import listed, ranking_withheld, some_pairs, with_labels

if TYPE_CHECKING:
    from mauve_metric.results.comparison import Comparison

Ahead = dict[str, str | None]  # by featurizer the model of a pair that it puts ahead; None: it tells none apart


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
        return joint_verdict.joint_verdict(results)
    if any(ranking_withheld(one) for one in found.values()):
        return ""
    pairs = pairs_of(found)
    disputed = {pair: ahead for pair, ahead in pairs.items() if len(set(ahead.values())) > 1}
    if not disputed:
        return f"{_agreement(pairs, len(pairs))}{joint_verdict.shared_blindness(results)}"
    sentences = [_agreement({pair: pairs[pair] for pair in pairs if pair not in disputed}, len(pairs))]
    other = "other" if len(disputed) == 1 else "others"
    subject = f"They do not agree on the {other}" if sentences[0] else "The featurizers do not agree"
    sentences.append(f"{subject}: {'; '.join(_doubts(disputed))}.")
    for name, result in results.items():
        if any(winner not in (None, ahead[name]) for ahead in disputed.values() for winner in ahead.values()) and (
            spots := joint_verdict.unseen_errors(result)
        ):
            sentences.append(f"{name} was measured not to see: {spots}.")
    level = next(iter(found.values())).confidence_level
    return " ".join([*filter(None, sentences), joint_verdict.by_chance(len(each), level)])


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
    every = joint_verdict.every_one(len(next(iter(agreed.values()))))
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
