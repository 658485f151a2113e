"""Numbers as words, the same in tables, reports, figures and the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mauve_metric.results.document import Line, Prose
from mauve_metric.results.plain_text import digits, interval_words, p_words, printable, rounded_up, shown_names
from mauve_metric.results.wording.verdict import on_named_features, permutations, verdict, withheld
from mauve_metric.uncertainty.score_warnings import ScoreWarning

if TYPE_CHECKING:
    from mauve_metric.results.comparison import Comparison, Difference, Subgroup
    from mauve_metric.results.result import MauveResult

ResultT = TypeVar("ResultT", "MauveResult", "Comparison")


def with_labels(comparison: Comparison, form: Callable[[str], str] = printable) -> Comparison:
    """Replace the models' names in a comparison by their displayed forms."""
    called = shown_names(list(comparison.models), form)
    if all(name == label for name, label in called.items()):
        return comparison
    changed: dict[str, Any] = {
        "subgroups": tuple(item._replace(model=called[item.model]) for item in comparison.subgroups)
    }
    for key in ("models", "own", "explanations"):
        changed[key] = {called[name]: value for name, value in getattr(comparison, key).items()}
    for key in ("by_subgroup", "by_featurizer"):
        changed[key] = {label: with_labels(one, form) for label, one in getattr(comparison, key).items()}
    for key in ("", "learned_", "together_"):
        changed[f"{key}ranking"] = tuple(called[name] for name in getattr(comparison, f"{key}ranking"))
        pairs = getattr(comparison, f"{key}differences")
        changed[f"{key}differences"] = tuple(replace(pair, a=called[pair.a], b=called[pair.b]) for pair in pairs)
    return replace(comparison, **changed)


def each_featurizer(comparison: Comparison, form: Callable[[str], str] = printable) -> dict[str, Comparison]:
    """The comparison of each featurizer by its displayed name; key "" when there is only one featurizer."""
    return {name: with_labels(one, form) for name, one in each_result(comparison, form).items()}


def each_result(found: ResultT, form: Callable[[str], str] = printable) -> dict[str, ResultT]:
    """The result of each featurizer by its displayed name; key "" for a single one."""
    if len(found.by_featurizer) < 2:
        return {"": found}
    called = shown_names(list(found.by_featurizer), form)
    return {called[name]: one for name, one in found.by_featurizer.items()}


class Headline(NamedTuple):
    """First sentence on a score: one number as text and its reading with its interval.

    beside: a sentence on the literature's number, where `number` is another one, and what it lies between.
    """

    number: str
    reading: str
    beside: str

    @property
    def sentence(self) -> str:
        """The number with its reading, without a full stop."""
        return f"{self.number} {self.reading}"


LITERATURE = "MAUVE as in the literature"


def headline(result: MauveResult) -> Headline:
    """The debiased score with its interval, where two human sets reach 1; without one, the literature's number."""
    ends = f"two human sets of these sizes reach about {digits(result.mauve_ceiling)}, sets with nothing in common "
    ends += f"{digits(result.mauve_floor)}."
    if result.mauve_debiased is None:
        reading = f"is {LITERATURE}; it has no interval, since that takes two texts in each set"
        return Headline(digits(result.mauve), reading, ends.capitalize())
    interval = "without an interval, for the reason that its warning gives"
    if result.mauve_ci is not None:
        interval = f"{interval_words(result.mauve_ci)}; {level_words(result)} interval {result.ci_scope}"
    reading = f"of what two human sets reach ({interval})"
    return Headline(digits(result.mauve_debiased, ".3f"), reading, f"{LITERATURE}: {digits(result.mauve)}; {ends}")


def level_words(result: MauveResult) -> str:
    """The level of a result's intervals."""
    return f"{100 * result.confidence_level:g} %"


def closest(ranking: Sequence[str], differences: Sequence[Difference]) -> tuple[str, ...]:
    """The best model and those that these texts do not tell apart from it, as they are ranked."""
    best = ranking[0]
    doubtful = [{item.a, item.b} for item in differences if not item.real]
    return tuple(name for name in ranking if name == best or {name, best} in doubtful)


def closest_words(comparison: Comparison) -> str:
    """Sentence on the model that is closest to people's texts, by content and by style (learned buckets)."""
    content, among = closest(comparison.ranking, comparison.differences), len(comparison.ranking)
    if len(comparison.learned_ranking) < 2:
        return f"{_closest_phrase(content, among)}."
    style = closest(comparison.learned_ranking, comparison.learned_differences)
    if set(style) == set(content):
        return f"By content and by style, {_closest_phrase(content, among)}."
    return f"By content, {_closest_phrase(content, among)}; by style, {_closest_phrase(style, among)}."


def _closest_phrase(names: Sequence[str], among: int) -> str:
    if len(names) == 1:
        return f"{names[0]} is closest to people's texts"
    if len(names) == among == 2:
        return f"{listed(names)} cannot be told apart"
    return f"{listed(names[1:])} cannot be told apart from {names[0]}, which ranks first"


def comparison_headline(comparison: Comparison) -> Headline:
    """`headline` of the best model; the literature's number is that on buckets of its own, whose range is not known."""
    best = comparison.ranking[0]
    found = headline(comparison.models[best])
    if len(comparison.models) == 1:
        return found
    return found._replace(beside=f"{LITERATURE}: {digits(comparison.own[best].mauve)}, on buckets of its own.")


def ranking_verdict(comparison: Comparison) -> str:
    """Verdict on the models that these texts tell apart; for one model, on its difference from the human texts.

    No model is called the closest unless its difference to every other one is significant, and none is ranked where a
    warning contradicts a score.
    """
    comparison = with_labels(comparison)
    first, best = comparison_headline(comparison).sentence, comparison.models[comparison.ranking[0]]
    if len(comparison.models) == 1:
        return f"{first}. {verdict(best)}"
    equal = [item.b for item in comparison.differences if item.a == comparison.ranking[0] and item.difference == 0]
    highest = listed([comparison.ranking[0], *equal])
    if reason := ranking_withheld(comparison):
        return f"No ranking: {reason}. The highest score is that of {highest}, {first}."
    pair, smallest, detectable = comparison.differences[0], comparison.smallest_difference, ""
    if smallest is not None and not pair.real:
        least = f"A difference of {digits(smallest, '.2g')} or more"
        detectable = f" {least} between {pair.a} and {pair.b} would have shown in 8 of 10 cases."
    return (
        f"{closest_words(comparison)} The highest score by content is that of {highest}, {first}, "
        f"{on_named_features(best.signature_entries)}. {conclusion(comparison)}{detectable}"
    )


def ranking_withheld(comparison: Comparison) -> str:
    """The reasons for which no ranking is given, each with its models; empty where one can be.

    A score without an interval is ranked all the same where every difference from it was tested.
    """
    found: dict[str, list[str]] = {}
    tested = all(pair.p_value is not None for pair in comparison.differences)
    for name, result in comparison.models.items():
        if reason := withheld(result, ("no_interval",) if tested else ()):
            found.setdefault(reason, []).append(name)
    everyone = len(comparison.models)
    return "; ".join(
        reason if len(names) == everyone else f"{reason} ({listed(names)})" for reason, names in found.items()
    )


def listed(names: Sequence[str]) -> str:
    """Join names for a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def forecast_sentence(comparison: Comparison) -> str:
    """Sentence on differences that these sets could show; empty for one model or if a warning contradicts a score."""
    comparison = with_labels(comparison)
    if comparison.smallest_difference is None or ranking_withheld(comparison):
        return ""
    pair = comparison.differences[0]
    n = min(min(result.n_p, result.n_q) for result in comparison.models.values())
    smallest = digits(comparison.smallest_difference, ".2g")
    sentence = f"Sets of {n} texts would show a difference of {smallest} between {pair.a} and {pair.b} in 8 of 10 cases"
    if pair.difference == 0:
        return f"{sentence}; here both have the same score."
    if comparison.texts_needed is None:
        return f"{sentence}; the one seen here would take more than a billion."
    if not pair.real and comparison.texts_needed <= n:  # nearly enough: a number would contradict the verdict
        return f"{sentence}."
    sentence += f"; if they truly differ by {digits(pair.difference, '.3f')}, that takes about "
    sentence += f"{rounded_up(comparison.texts_needed)} texts a set"
    shares = [result.q_prompts / result.n_q for result in comparison.models.values() if result.q_prompts is not None]
    if comparison.design == "prompts" and shares and min(shares) < 1:
        prompts = rounded_up(math.ceil(comparison.texts_needed * min(shares)))
        sentence += f", {prompts} prompts with as many answers each as here"
    return f"{sentence}."


def conclusion(comparison: Comparison) -> str:
    """One sentence on which differences are significant; empty where a warning contradicts a score."""
    pairs = with_labels(comparison).differences
    if not pairs or ranking_withheld(comparison):
        return ""
    level = f"{100 * (1 - comparison.confidence_level):.3g} %"
    tested = [item.p_value for item in pairs if item.p_value is not None]
    if not tested:
        return "None of the differences is tested: a score that they are of has no interval."
    if len(pairs) == 1:
        shown = p_words(tested[0])
        if pairs[0].real:
            return f"The difference is significant at the level of {level} ({shown})."
        return f"These texts do not show a difference in content between them at the level of {level} ({shown})."
    real = sum(item.real for item in pairs)
    corrected = f"at the level of {level} (corrected for {len(pairs)} pairs)"
    if not real:
        return f"These texts do not show a difference in content between any two models {corrected}."
    doubtful = [f"{item.a} and {item.b}" for item in pairs if not item.real]
    others = f"; not told apart: {some_pairs(doubtful)}" if doubtful else ""
    return f"{real} of {len(pairs)} differences {'is' if real == 1 else 'are'} significant {corrected}{others}."


def some_pairs(pairs: Sequence[str]) -> str:
    """The first six pairs, and how many more there are."""
    more = len(pairs) - 6
    return ", ".join(pairs[:6]) + (f" and {more} more pair{'' if more == 1 else 's'}" if more > 0 else "")


def facts(result: MauveResult) -> list[tuple[str, str, str]]:
    """Facts behind a result's scores: the name of each, its value as text, its meaning."""
    ends = f"{digits(result.mauve_floor)} … {digits(result.mauve_ceiling)}"
    found = [("floor … ceiling", ends, "MAUVE of sets with nothing in common … of two samples of one distribution")]
    if result.mauve_std is not None:
        value = f"{digits(result.mauve_mean)} ± {digits(result.mauve_std)}"
        meaning = f"mean and standard deviation of {len(result.mauve_runs)} clusterings"
        found.append(("MAUVE over seeds", value, meaning))
    if result.p_value is not None:
        splits = permutations(result) + 1
        meaning = f"share of {splits} splits of all texts, this one and random ones, that differ as much"
        found.append(("p-value", digits(result.p_value), meaning))
    lengths = ""
    if result.p_median_length is not None and result.q_median_length is not None:
        lengths = f"median length {result.p_median_length:.0f} and {result.q_median_length:.0f} tokens"
    found.append(("texts", f"{result.n_p} human, {result.n_q} model", lengths))
    if result.design != "independent":
        rows = f"row by row the same {result.p_prompts} prompts"
        prompts = f"{result.p_prompts} prompts of human texts, {result.q_prompts} of the model's"
        meaning = "texts share prompts: such a score does not compare with one of independent texts"
        found.append(("design", rows if result.design == "aligned" else prompts, meaning))
    found.append(("buckets", str(result.num_buckets), "kinds of texts that are told apart"))
    if result.mauve_ci is not None:
        found.append(("intervals", f"{level_words(result)} {result.ci_scope}", ""))
    return found


def many_warnings(number: int, more: bool = False) -> str:
    """Heading above warnings, with their number.

    >>> many_warnings(1), many_warnings(3, more=True)
    ('1 thing to know before you believe it', '3 more things to know before you believe it')
    """
    return f"{number} {'more ' if more else ''}thing{'' if number == 1 else 's'} to know before you believe it"


def notes(comparison: Comparison) -> list[str]:
    """Explanations of the columns of the tables."""
    found = [
        "MAUVE: on the buckets that all models share. MAUVE own: on buckets of each pair's own, the literature's "
        "number.",
        "debiased, low, high: the shared buckets' score without sampling bias, and its interval, where two human sets "
        "reach 1; ranks and differences are of it.",
    ]
    tested = [result for result in comparison.models.values() if result.p_value is not None]
    if tested:
        found.append(
            f"p: of {permutations(tested[0])} permutations, that a model's texts and the human ones come from one "
            "distribution."
        )
    if len(comparison.by_featurizer) > 1:
        first = next(iter(each_featurizer(comparison)))
        found.append(
            f"featurizer: each ranks the models by itself, and corrects for its own pairs. What is said of one score, "
            f"the forecast and the curves are those of the first, {first}."
        )
    return found


SUBGROUP_NOTE = (
    "recall, coverage: shares of a subgroup's human texts that are like some text of the model, by the distances among "
    "the model's texts and among the human ones. missed: a lower coverage than all other human texts have, with all "
    "subgroups taken together. The other scores compare the texts of the subgroup alone."
)


def missed_sentence(subgroups: Sequence[Subgroup]) -> str:
    """The subgroups that each model misses, the one of the lowest coverage first; empty where none is missed."""
    found: dict[str, list[str]] = {item.model: [] for item in subgroups}
    for item in sorted(subgroups, key=lambda item: item.coverage or 0):
        if item.missed:
            coverage = f"{digits(item.coverage or 0)}, of the others {digits(item.coverage_of_others or 0)}"
            found[item.model].append(f"{printable(item.label)} (coverage {coverage})")
    return " ".join(f"{model} misses {', '.join(missed)}." for model, missed in found.items() if missed)


DIFFERENCE_NOTE = "p: of each pair alone. real: significant with all pairs taken together, which asks for more."


def collected_warnings(comparison: Comparison) -> list[tuple[str, ScoreWarning]]:
    """Each warning once, with the models it is about: "all models", names, or "" for the comparison's own.

    A warning that only another featurizer than the first has begins with its name.
    """
    first = _warnings_of(with_labels(comparison))
    _, *others = each_featurizer(comparison).items()
    return first + own_warnings(first, {name: _warnings_of(one) for name, one in others})


def result_warnings(result: MauveResult) -> list[tuple[str, ScoreWarning]]:
    """A result's warnings, then what only featurizers after the first one warn of, with their names."""
    first = [("", warning) for warning in result.warnings]
    _, *others = each_result(result).items()
    return first + own_warnings(first, {name: [("", item) for item in one.warnings] for name, one in others})


def own_warnings(
    first: Sequence[tuple[str, ScoreWarning]], others: Mapping[str, Sequence[tuple[str, ScoreWarning]]]
) -> list[tuple[str, ScoreWarning]]:
    """The warnings of other featurizers that the first one does not have, with the featurizer's name."""
    known = {(warning.code, warning.message) for _, warning in first}
    return [
        (f"{name}, {who}" if who else name, warning)
        for name, found in others.items()
        for who, warning in found
        if (warning.code, warning.message) not in known
    ]


def _warnings_of(comparison: Comparison) -> list[tuple[str, ScoreWarning]]:
    """The warnings of one featurizer."""
    alike: dict[tuple[str, str], list[tuple[str, ScoreWarning]]] = {}
    for name, result in comparison.models.items():
        for warning in result.warnings:
            alike.setdefault((warning.code, warning.message), []).append((name, warning))
    found = [("", warning) for warning in comparison.warnings]
    for group in alike.values():
        everyone = len(group) == len(comparison.models) > 1
        found.append(("all models" if everyone else ", ".join(name for name, _ in group), group[0][1]))
    return [(who, warning._replace(message=printable(warning.message))) for who, warning in found]


def warnings_prose(found: Sequence[tuple[str, ScoreWarning]]) -> Prose:
    """Warnings, each with the models it is about."""
    texts = [f"! {f'{who}: ' if who else ''}{warning.message}  [{warning.code}]" for who, warning in found]
    return Prose([Line(text, "  ", "    ") for text in texts], paragraphs=True, advice=True)
