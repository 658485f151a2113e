"""People's judgements as tables: for the terminal, Markdown, CSV and LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mauve_metric.results.digits import digits, percent
from mauve_metric.results.judgement_numbers import GameNumbers, JudgementNumbers, QuestionScores, RoundScores
from mauve_metric.results.names import printable, shown_names
from mauve_metric.results.table_forms import (
    Column,
    TableRow,
    csv_table,
    latex_table,
    markdown_table,
    markdown_text,
    plain_table,
)
from mauve_metric.results.wording.words import wrapped

QUESTION = Column("question", "question")
_NO_ENDS = ()  # a score is any number, and 0 is the mean
SCORE_COLUMNS = (
    Column("rank", "rank", "d"),
    Column("model", "model"),
    Column("score", "Bradley–Terry", "+.1f", _NO_ENDS),
    Column("low", "low", "+.1f", _NO_ENDS),
    Column("high", "high", "+.1f", _NO_ENDS),
    Column("wins", "wins", "g"),
    Column("judgements", "judgements", "d"),
)
AGREEMENT_COLUMNS = (
    Column("measure", "measure"),
    Column("correlation", "Spearman", "+.3f"),
    Column("p_value", "p", ".2g"),
    Column("models", "models", "d"),
    Column("reading", "better"),
)
GAME_COLUMNS = (
    Column("model", "model"),
    Column("points", "points", ".3f"),
    Column("low", "low", ".3f"),
    Column("high", "high", ".3f"),
    Column("random", "random", ".3f"),
    Column("always_last", "always last", ".3f"),
    Column("exact", "exact", ".3f"),
    Column("eventually", "eventually", ".3f"),
    Column("false_alarms", "false alarms", ".3f"),
    Column("alpha", "alpha", ".3f"),
    Column("seconds", "s/sentence", ".1f"),
    Column("players", "players", "d"),
    Column("rounds", "rounds", "d"),
)
_NAMED = 6  # pairs of neighbours, of those that are not told apart
CORRELATION_NOTE = (
    "Spearman: 1 where a measure orders the models as people do; better: human is closeness to the human texts' value, "
    "as it is: larger is taken for better. p: of no relation, by permutation, for each measure alone."
)


def score_rows(scores: QuestionScores) -> list[TableRow]:
    """One row a model, the strongest first; models of equal score have the same rank."""
    labels = shown_names([score.model for score in scores.models])
    rows: list[TableRow] = []
    for place, score in enumerate(scores.models):
        equal = bool(place) and score.score == scores.models[place - 1].score
        rank = rows[-1]["rank"] if equal else place + 1
        row: TableRow = {"rank": rank, "model": labels[score.model], "score": score.score, "low": score.ci[0]}
        row |= {"high": score.ci[1], "wins": score.wins, "judgements": score.judgements}
        rows.append(row | {"question": printable(scores.question)})
    return rows


def agreement_rows(scores: QuestionScores) -> list[TableRow]:
    """One row a measure, the highest correlation first."""
    return [
        {
            "question": printable(scores.question),
            "measure": printable(found.measure),
            "correlation": found.correlation,
            "p_value": found.p_value,
            "models": found.models,
            "reading": found.reading,
        }
        for found in scores.agreement
    ]


def game_rows(game: GameNumbers) -> list[TableRow]:
    """One row a model, the hardest to tell from people first, and one of all rounds."""
    labels = shown_names(list(game.models))
    rows = [_game_row(labels[name], scores) for name, scores in game.models.items()]
    return [*rows, _game_row("(all)", game.total)]


def _game_row(label: str, scores: RoundScores) -> TableRow:
    low, high = scores.ci or (None, None)
    row: TableRow = {column.key: getattr(scores, column.key, None) for column in GAME_COLUMNS}
    return row | {"model": label, "low": low, "high": high}


def _facts(scores: QuestionScores, judgement: JudgementNumbers) -> list[str]:
    """What a question's scores rest on, in sentences."""
    several = scores.annotators is not None and scores.annotators > 1
    who = "" if scores.annotators is None else f" by {scores.annotators} annotator{'s' if several else ''}"
    quick = f", {judgement.quick} too quick ones left out" if judgement.quick else ""
    over = "over other judgements by other annotators" if several else "over other judgements"
    lines = [
        f"{scores.judgements} judgements{who}, {scores.ties} ties{quick}. "
        f"Intervals: {100 * judgement.confidence_level:g} %, {over}."
    ]
    labels = shown_names([score.model for score in scores.models])
    found = {(item.a, item.b): item.ci for item in scores.differences}
    close = [
        f"{labels[a.model]} and {labels[b.model]}"
        for a, b in pairwise(scores.models)
        if found[a.model, b.model][0] <= 0
    ]
    more = [f"{len(close) - _NAMED} more pairs"] if len(close) > _NAMED else []
    pairs = "; ".join([*close[:_NAMED], *more])
    lines += [f"Neighbours that these judgements do not tell apart: {pairs}."] if close else []
    lines += [f"No correlation of {printable(name)}: {printable(reason)}." for name, reason in scores.failed.items()]
    return lines


def _left_out(judgement: JudgementNumbers) -> list[str]:
    names = ", ".join(map(printable, judgement.left_out))
    return [f"Not both judged and measured, and so in no correlation: {names}."] if judgement.left_out else []


def judgement_table(judgement: JudgementNumbers) -> str:
    """The judgement for the terminal: each question's models, what they rest on, the measures; the signature."""
    lines = []
    for name, scores in judgement.questions.items():
        lines += [f"{printable(name)}: {len(scores.models)} models", ""]
        lines += [*plain_table(SCORE_COLUMNS, score_rows(scores)), ""]
        lines += [line for fact in _facts(scores, judgement) for line in wrapped(fact, "  ", "  ")]
        lines += ["", *plain_table(AGREEMENT_COLUMNS, agreement_rows(scores))] if scores.agreement else []
        lines.append("")
    notes = [CORRELATION_NOTE] if _has_agreement(judgement) else []
    for note in [*notes, *_left_out(judgement)]:
        lines += wrapped(note, "  ", "  ")
    lines += [""] if lines[-1] else []
    return "\n".join([*lines, f"signature: {judgement.signature}"])


def judgement_markdown(judgement: JudgementNumbers) -> str:
    """The tables in Markdown, with the notes."""
    parts = []
    for name, scores in judgement.questions.items():
        parts += [f"**{markdown_text(name)}**", markdown_table(SCORE_COLUMNS, score_rows(scores))]
        parts.append("\n".join(map(markdown_text, _facts(scores, judgement))))
        parts += [markdown_table(AGREEMENT_COLUMNS, agreement_rows(scores))] if scores.agreement else []
    parts += [markdown_text(CORRELATION_NOTE)] if _has_agreement(judgement) else []
    parts += [markdown_text(note) for note in _left_out(judgement)]
    return "\n\n".join([*parts, _markdown_signature(judgement.signature)]) + "\n"


def judgement_csv(judgement: JudgementNumbers, table: str = "models") -> str:
    """One table as CSV, numbers in full, the question in the first column."""
    tables = {"models": (SCORE_COLUMNS, score_rows), "correlations": (AGREEMENT_COLUMNS, agreement_rows)}
    if table not in tables:
        raise ValueError(f"table must be one of {', '.join(tables)}, got {table!r}")
    columns, rows = tables[table]
    return csv_table((QUESTION, *columns), [row for scores in judgement.questions.values() for row in rows(scores)])


def judgement_latex(judgement: JudgementNumbers) -> str:
    """The tables as LaTeX `tabular`s; they need the package booktabs."""
    parts = []
    for name, scores in judgement.questions.items():
        parts += [f"% {printable(name)}", latex_table(SCORE_COLUMNS, score_rows(scores))]
        parts += [latex_table(AGREEMENT_COLUMNS, agreement_rows(scores))] if scores.agreement else []
    return "\n\n".join([*parts, f"% {judgement.signature}"]) + "\n"


def _has_agreement(judgement: JudgementNumbers) -> bool:
    return any(scores.agreement for scores in judgement.questions.values())


def _markdown_signature(signature: str) -> str:
    return f"`{signature.replace('`', ' ')}`"


def _game_columns(rows: Sequence[TableRow]) -> list[Column]:
    """The columns that hold anything."""
    return [column for column in GAME_COLUMNS if any(row[column.key] is not None for row in rows)]


def _game_notes(game: GameNumbers) -> list[str]:
    total = game.total
    found = [
        f"Points: 5 for the very sentence, one less for each sentence after it; those who do not read get "
        f"{digits(total.random, '.2f')} by guessing at random and {digits(total.always_last, '.2f')} by always saying "
        "that no machine wrote. The lower, the harder a text is to tell from a person's.",
        f"{percent(total.exact, 1)} of the guesses are right, {percent(total.eventually, 1)} at or after the boundary.",
    ]
    if total.ci is not None:
        over = "rounds" if total.players is None else "rounds by other players"
        found.append(f"Intervals: {100 * game.confidence_level:g} %, over other {over}.")
    if game.in_runs:
        found.append(f"{game.in_runs} rounds are left out, in runs of five or more equal guesses by one player.")
    return found


def game_table(game: GameNumbers) -> str:
    """The game for the terminal."""
    rows = game_rows(game)
    lines = [*plain_table(_game_columns(rows), rows), ""]
    lines += [line for note in _game_notes(game) for line in wrapped(note, "  ", "  ")]
    return "\n".join([*lines, "", f"signature: {game.signature}"])


def game_markdown(game: GameNumbers) -> str:
    """The table in Markdown, with the notes."""
    rows = game_rows(game)
    notes = "\n".join(map(markdown_text, _game_notes(game)))
    return "\n\n".join([markdown_table(_game_columns(rows), rows), notes, _markdown_signature(game.signature)]) + "\n"


def game_csv(game: GameNumbers) -> str:
    """The table as CSV, numbers in full."""
    return csv_table(GAME_COLUMNS, game_rows(game))


def game_latex(game: GameNumbers) -> str:
    """The table as a LaTeX `tabular`; it needs the package booktabs."""
    rows = game_rows(game)
    return f"{latex_table(_game_columns(rows), rows)}\n\n% {game.signature}\n"
