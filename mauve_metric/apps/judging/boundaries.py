"""Points for guesses of the sentence at which a machine took over."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from mauve_metric.apps.judging.judgement import BoundaryGame, PlayerPair, RoundScores
from mauve_metric.apps.judging.judgement_tables import Guesses, TableData, order_of_group, read_guesses
from mauve_metric.apps.judging.statistics import boundary_detection as game
from mauve_metric.apps.judging.statistics.judgement_options import FULL_POINTS, LONGEST_LOOK, RUN, SENTENCES
from mauve_metric.arrays import Array
from mauve_metric.runtime.checks import check_bool, check_number
from mauve_metric.uncertainty.mean_intervals import mean_interval
from mauve_metric.version import __version__

MOST_POINTS = 1e6  # beyond, nothing else would count


def score_boundary_guesses(
    guesses: TableData,
    *,
    by: str | None = None,
    sentences: int = SENTENCES,
    all_human_points: float = FULL_POINTS,
    keep_runs: bool = False,
    confidence_level: float = 0.95,
) -> BoundaryGame:
    """Score rounds of Real or Fake Text: players say at which sentence a machine took over.

    Args:
        guesses: a table of rounds, or a list of dicts, see `read_guesses`.
        by: a column that groups the rounds, such as a reason or a number of words; "round": by experience, how many
            rounds a player had played.
        sentences: of each text. all_human_points: for correctly guessing that people wrote the whole text, which
            the papers leave open.
        keep_runs: keep rounds in which a player gave the same guess five times or more in a row, which are left out as
            in the papers.
        confidence_level: of the intervals, which let the rounds of one player depend on each other.

    Returns:
        A `BoundaryGame`: all rounds, those of each model if the table names one, those of each group, and the
        agreement of each two players.

    Raises:
        TypeError, ValueError, OSError: bad input.

    Dugan et al. 2020; Dugan et al. 2023, §4.

    >>> score_boundary_guesses([{"boundary": 4, "guess": 6}, {"boundary": 5, "guess": 5}]).total.points
    4.0
    """
    level = check_number("confidence_level", confidence_level, "(0, 1)")
    all_human_points = check_number("all_human_points", all_human_points, f"[0, {MOST_POINTS:g})")
    check_bool("keep_runs", keep_runs)
    read = read_guesses(guesses, sentences=sentences, by=by)
    kept = np.ones(len(read.guess), dtype=bool)
    if read.players is not None and not keep_runs:
        kept = ~game.in_runs(read.guess, read.players)
    if not kept.any():
        raise ValueError(f"{read.name}: every guess is in a run of {RUN} equal ones: keep_runs (--keep-runs)")
    read = _select(read, np.flatnonzero(kept))
    total = _score_rounds("all", read, all_human_points, level)
    models = _score_parts(read, read.models, all_human_points, level)
    groups = _score_parts(read, read.groups, all_human_points, level)
    entries: dict[str, object] = {} if by is None else {"by": by}
    entries |= {"sentences": sentences, "all_human_points": all_human_points, "keep_runs": keep_runs}
    entries |= {"confidence_level": level, "rounds": total.rounds, "mauve_metric": __version__}
    ordered = dict(sorted(models.items(), key=lambda entry: (entry[1].machine == 0, entry[1].points)))
    in_order = {name: groups[name] for name in sorted(groups, key=order_of_group)}
    return BoundaryGame(total, ordered, in_order, _pairs(read, level), level, int((~kept).sum()), entries)


def _score_parts(
    read: Guesses, names: Sequence[str] | None, all_human_points: float, level: float
) -> dict[str, RoundScores]:
    """Score the rounds of each name by themselves; none without names."""
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names or ()):
        rows.setdefault(name, []).append(row)
    return {name: _score_rounds(name, _select(read, chosen), all_human_points, level) for name, chosen in rows.items()}


def _pairs(read: Guesses, level: float) -> tuple[PlayerPair, ...]:
    """The agreement of each two players on the texts that both judged; a later guess on a text replaces an earlier."""
    if read.players is None or read.texts is None:
        return ()
    caught, never = _verdicts(read)
    judged: dict[str, dict[str, tuple[bool, bool]]] = {}
    for row, (player, text) in enumerate(zip(read.players, read.texts, strict=True)):
        judged.setdefault(player, {})[text] = bool(caught[row]), bool(never[row])
    pairs = []
    for first, second in combinations(sorted(judged), 2):
        common = [(judged[first][text], judged[second][text]) for text in judged[first] if text in judged[second]]
        if common:
            same = np.array([a == b and any(a) for a, b in common], dtype=np.float64)
            pairs.append(PlayerPair(first, second, len(same), float(same.mean()), mean_interval(same, level)))
    return tuple(pairs)


def _verdicts(read: Guesses) -> tuple[Array, Array]:
    """Rounds in which the machine was found at or after the boundary, and those in which none was named, (n,) bool."""
    boundary, guess = np.array(read.boundary), np.array(read.guess)
    never = guess == read.sentences + 1
    return (guess >= boundary) & ~never, never


def _select(read: Guesses, rows: Sequence[int] | Array) -> Guesses:
    """Select the rounds with these numbers, in their order."""
    chosen: dict[str, Any] = {
        name: [value[row] for row in rows] for name, value in read._asdict().items() if isinstance(value, list)
    }
    return read._replace(**chosen)


def _score_rounds(name: str, read: Guesses, all_human_points: float, level: float) -> RoundScores:
    """The points and shares of some rounds, of one model, group or all, with their intervals at this level."""
    boundary, guess = np.array(read.boundary), np.array(read.guess)
    points = game.boundary_points(boundary, guess, read.sentences, all_human_points=all_human_points)
    ci = mean_interval(points, level, read.players)
    random, always_last = game.chance_points(boundary, read.sentences, all_human_points=all_human_points)
    human = boundary == read.sentences + 1
    caught, never = _verdicts(read)
    right = (caught | (human & never)).astype(np.float64)
    alpha = None
    if read.texts is not None:  # a guess before the boundary agrees with no other guess
        categories = np.where(caught, -1, np.where(never, -2, np.arange(len(guess))))
        with contextlib.suppress(ValueError):  # where it is not defined
            alpha = game.krippendorff_alpha(categories, np.array(read.texts))
    looks = [min(look, LONGEST_LOOK) for times in read.seconds or () for look in times]
    return RoundScores(
        model=name,
        rounds=len(points),
        players=None if read.players is None else len(set(read.players)),
        points=float(points.mean()),
        ci=None if ci is None else (max(ci[0], 0.0), min(ci[1], max(FULL_POINTS, all_human_points))),
        random=random,
        always_last=always_last,
        exact=float((guess == boundary).mean()),
        accuracy=float(right.mean()),
        accuracy_ci=mean_interval(right, level, read.players),
        eventually=float(caught[~human].mean()) if not human.all() else None,
        machine=int((~human).sum()),
        human=int(human.sum()),
        false_alarms=float((guess < boundary)[human].mean()) if human.any() else None,
        alpha=alpha,
        seconds=math.fsum(looks) / len(looks) if looks else None,
    )
