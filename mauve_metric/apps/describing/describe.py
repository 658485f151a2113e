"""Every measure of a set of models, MAUVE included, in one table."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack, get_args

from mauve_metric.apps.decoder_settings import Decoder, describe_decoder, parse_decoder
from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.apps.describing.description import Described, Description
from mauve_metric.apps.describing.duplicates.duplication_warnings import duplication_warnings
from mauve_metric.apps.describing.measure_runner import (
    DescribedSets,
    read_prompts,
    read_sets,
    read_training,
    tokenizing,
)
from mauve_metric.arrays import FeatureData, TextData
from mauve_metric.features.encoder import check_model
from mauve_metric.features.feature_set import FeatureSet, given_side
from mauve_metric.features.sides import By, Subgroups, sides_of_models
from mauve_metric.features.text_functions import check_one_featurizer
from mauve_metric.inputs.files import TextFile
from mauve_metric.measures.measure import Group
from mauve_metric.options import Options, RunOptions, with_options
from mauve_metric.results.signature import versions
from mauve_metric.runtime.checks import did_you_mean, listed_names, shown
from mauve_metric.runtime.errors import WrongOption, message_of
from mauve_metric.runtime.progress import watched
from mauve_metric.scoring.evaluation import Evaluation
from mauve_metric.scoring.subgroups import FEWEST_OF_SUBGROUP

if TYPE_CHECKING:
    from mauve_metric.apps.describing.likelihood.likelihoods import Likelihoods

logger = logging.getLogger(__name__)

HUMAN = "human"
GROUPS: tuple[str, ...] = get_args(Group)
_SHOWN_SCORES = tuple(  # of a comparison, in the table
    "mauve_debiased mauve mauve_classifier auc frontier_integral_debiased precision recall density coverage "
    "prd_precision prd_recall".split()
)
DEFAULT_LANGUAGE_MODEL = "gpt2"
_WORDS = "words"  # the default tokens of lexical measures


@with_options()
def describe(
    p_text: TextData | TextFile | None = None,
    models: Mapping[str, FeatureData | FeatureSet | TextFile | str] | None = None,
    *,
    p_features: FeatureData | None = None,
    p: FeatureSet | None = None,
    measures: str | Sequence[str] | None = None,
    language_model: str | tuple[Any, Any] | None = None,
    decoder: str | Mapping[str, str] | None = None,
    tokenizer: object = None,
    training: object = None,
    aligned: bool = False,
    p_groups: Sequence[Hashable] | None = None,
    q_groups: Mapping[str, Sequence[Hashable]] | None = None,
    common_rows: bool = False,
    by: By | None = None,
    **options: Unpack[Options],
) -> Description:
    """Compute MAUVE of one or several models, and every other measure of their texts, in one table.

    Each measure of one set is shown with its value for the human texts, the difference and, where a valid one is
    known, its interval. A measure that cannot be computed is named with the reason; the others are still computed.

    Args:
        p_text, p_features, p: the human side, as in `compare`. models: likewise.
        measures: groups (score, lexical, distance, buckets, estimators, language-model, discriminator, duplication),
            names of single measures, or "all"; joined by commas or a list. None: what is cheap. Features are computed
            only for measures that need them.
        language_model: for the group language-model: "smollm2" (packaged), a name or folder that transformers loads, or
            a (model, tokenizer) pair; None: gpt2.
        decoder: how the models' texts were decoded: "greedy", "sampling", or settings of generation such as
            "temperature=0.7,top_p=0.95"; or one for each model by its name. The group language-model then has the
            measures that are defined for the decoder's distribution, of the human texts.
        tokenizer: whose token ids lexical measures count: a name, a folder, or a function from text to tokens; None:
            words and punctuation marks.
        training: a third set, the texts, features or file that the models were trained on, to find copies of.
        aligned, p_groups, q_groups: see `compare`. Texts of one group count as one draw, and are always in one fold
            of a discriminator.
        common_rows, by: see `compare`; the result has a description of the texts of each label in `by_subgroup`.
        **options: see `compute_mauve`.

    Returns:
        A `Description`.

    Raises:
        TypeError, ValueError, OSError, ImportError: as `compare`; ValueError too for an unknown measure, and where none
            can be computed.

    >>> human = ["the cat sat on the mat", "a dog ran off", "birds sing at dawn"]
    >>> model = ["the cat the cat the cat", "the cat the cat", "a dog a dog"]
    >>> description = describe(human, {"m": model}, measures="distinct_2")
    >>> description.human["distinct_2"], description.models["m"]["distinct_2"].value
    (1.0, 0.36363636363636365)
    """
    names = chosen_measures(measures)
    side = given_side("p", {"set": p, "features": p_features, "text": p_text}, p_groups)
    sides = sides_of_models(side, models, q_groups)
    evaluation = Evaluation.open("describe", options, sides, aligned, common_rows=common_rows, by=by, listed=True)
    of_models, job, inputs, config = evaluation.names, evaluation.job, evaluation.inputs, evaluation.config
    _check_names(of_models)
    decoders = _decoders(decoder, of_models, names)
    with_features, start = need_features(names), time.perf_counter()
    if with_features and any(of_set.kind == "text" for of_set in inputs.sides.values()):
        check_one_featurizer(config.featurize_model_name)
    tokenize, likely = tokenizing(tokenizer), _likelihoods(language_model, job.run)
    with job:
        (human, *others), missing = read_sets(evaluation, with_features, tokenize, likely)
        if not missing and any("prompt_features" in MEASURES[name].inputs.forms for name in names if name != "score"):
            read_prompts((human, *others), job)
        seconds = {"features": time.perf_counter() - start} if with_features else {}
        rows = inputs.rows_of_subgroups(dict(zip(inputs.sides, map(len, (human, *others)), strict=True)))
        third = None if training is None else read_training(training, job, with_features=not missing)
    by_name = dict(zip(of_models, others, strict=True))
    sets = DescribedSets(human, by_name, third, config, job.run, missing, decoders, seconds=seconds)
    more: dict[str, object] = {
        "tokens": _WORDS if tokenizer is None else _name_of(tokenizer),
        "language_model": _name_of(language_model or DEFAULT_LANGUAGE_MODEL),
        "decoder": ";".join(f"{name}:{describe_decoder(setting) or 'sampling'}" for name, setting in decoders.items()),
    }
    more |= {} if third is None else {"n_training": len(third)}
    description = describe_read(sets, names, more, asked=_names(measures))
    if rows and with_features and not missing:
        for of_set, features in zip((human, *others), evaluation.divisible, strict=True):
            of_set.side = features  # subgroups keep the pairs that were found
    return replace(description, by_subgroup=_describe_subgroups(sets, rows, names, more))


def _describe_subgroups(
    sets: DescribedSets, rows: Subgroups, names: Sequence[str], more: Mapping[str, object]
) -> dict[str, Description]:
    """Describe the texts of each label, whose rows of every set are given; log why one is missing."""
    by_subgroup: dict[str, Description] = {}
    for label, chosen in rows.items():
        some = sets.of_rows(chosen)
        if some is None:
            said = "subgroup %s is missing: fewer than %d texts of the human set, or of every model"
            logger.warning(said, label, FEWEST_OF_SUBGROUP)
            continue
        try:
            by_subgroup[label] = describe_read(some, names, more)
        except ValueError as error:
            logger.warning("subgroup %s is missing: %s", label, message_of(error))
    return by_subgroup


def describe_read(
    sets: DescribedSets,
    names: Sequence[str],
    more: Mapping[str, object] = MappingProxyType({"tokens": _WORDS}),
    asked: Collection[str] = (),
) -> Description:
    """Describe sets that are already read: their texts, and their features where measures need them.

    Args:
        names: see `chosen_measures`. more: further entries of the signature. asked: names by which no group was
            asked for: what such a measure lacks is said.
    """
    _check_names(sets.models)
    human: dict[str, float] = {}
    models: dict[str, dict[str, Described]] = {name: {} for name in sets.models}
    rows = [name for name in names if name != "score" and (name in asked or not sets.lacking(MEASURES[name]))]
    if "score" in names or any("histograms" in MEASURES[name].inputs.forms for name in rows):
        sets.compare()
    if "score" in names and sets.comparison is not None:
        for name, result in sets.comparison.models.items():
            models[name] |= _scores(result)
    for done, name in enumerate(watched("measure", rows, sets.run.verbose, " measures")):
        if sets.before is not None:
            sets.before(name, done, len(rows))
        with sets.recorded(name):
            value, of_models = sets.measure(MEASURES[name])
            human |= {} if value is None else {name: value}
            for model, entry in of_models.items():
                models[model].setdefault(name, entry)  # a score's interval allows for the clusterings too
    transfer = None
    if len(models) > 1 and {"discriminator_auc", "discriminator_accuracy"} & set(rows):
        with sets.recorded("discriminators across models"):
            transfer = sets.transfer()
    order = [name for name in dict.fromkeys((*_SHOWN_SCORES, *rows)) if any(name in cells for cells in models.values())]
    if not order:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in sets.failed.items()) or "nothing was asked for"
        raise ValueError(f"none of the measures could be computed: {reasons}")
    sizes = {HUMAN: len(sets.human)} | {name: len(model) for name, model in sets.models.items()}
    moved = any(MEASURES[name].sizes_matter for name in order)
    return Description(
        measures=tuple(order),
        human=human,
        models=models,
        failed=sets.failed,
        left_out=sets.left_out,
        seconds=sets.seconds,
        sizes=sizes,
        answers_a_prompt={
            name: ends
            for name, side in {HUMAN: sets.human, **sets.models}.items()
            if (ends := side.answers_a_prompt) is not None
        },
        same_size=sets.smallest if moved and len(set(sizes.values())) > 1 else None,
        confidence_level=sets.config.confidence_level,
        model_warnings={
            model: tuple(duplication_warnings({name: entry.value for name, entry in entries.items()}, human))
            for model, entries in models.items()
        },
        comparison=sets.comparison,
        signature_entries=_signature(sets, order, more),
        transfer=transfer,
    )


def need_features(names: Sequence[str]) -> bool:
    """Return True if any of these measures needs features.

    >>> need_features(["zipf", "self_bleu"]), need_features(["zipf", "score"])
    (False, True)
    """
    return any(name == "score" or "features" in MEASURES[name].inputs.given for name in names)


def _check_names(models: Collection[str]) -> None:
    if HUMAN in models:
        raise ValueError(f"models: {HUMAN!r} stands for the human texts: give the model another name")


def chosen_measures(measures: object, groups: Sequence[str] = GROUPS) -> tuple[str, ...]:
    """The selected measures in the order of the tables; scores of a comparison are "score".

    Args:
        measures: names of measures or groups, None for the cheap ones. groups: those that an error offers.

    Raises:
        TypeError, ValueError: not names of measures or groups.
    """
    if measures is None:
        wanted = [name for name, row in MEASURES.items() if row.cheap]
    else:
        wanted = _names(measures)
        for name in wanted:
            if name not in (allowed := (*GROUPS, *MEASURES, "all")):
                expected = f"groups ({', '.join(groups)}), 'all' or names of measures"
                near = did_you_mean(name, allowed)
                raise WrongOption.of("measures", f"must be {expected}, got {name!r}{near}")
    if not wanted:
        raise WrongOption.of("measures", "must name at least one group or measure, got none")
    rows = sorted(MEASURES.items(), key=lambda row: GROUPS.index(row[1].group))
    chosen = [(name, row.group) for name, row in rows if {"all", name, row.group} & {*wanted}]
    return tuple(dict.fromkeys("score" if group == "score" else name for name, group in chosen))


def _names(measures: object) -> list[str]:
    """The names of groups and measures that were given, as they are spelled in the tables."""
    by_spelling = {name.replace("_", "-"): name for name in (*GROUPS, *MEASURES, "all")}
    names = [] if measures is None else listed_names("measures", measures, "names of groups or measures")
    return [by_spelling.get(name.replace("_", "-"), name) for name in names]


def _signature(sets: DescribedSets, order: Sequence[str], more: Mapping[str, object]) -> dict[str, object]:
    if sets.comparison is not None:
        entries = dict(sets.comparison.signature_entries)
    else:
        entries = {name: getattr(sets.config, name) for name in ("strip", "empty_texts", "confidence_level", "seed")}
        entries["n_p"] = len(sets.human)
        entries |= {f"n_{name}": len(model) for name, model in sets.models.items()} | versions("numpy")
    entries.pop("mauve_metric")
    used = {word for name in order for word in (*MEASURES[name].inputs.forms, *MEASURES[name].inputs.given)}
    needs = {"tokens": "tokens", "language_model": "likelihoods", "decoder": "a decoder"}
    shown = {name: value for name, value in more.items() if needs.get(name) in (None, *used)}
    return {**entries, "measures": ",".join(order), **shown, **versions()}


def _scores(result: object) -> dict[str, Described]:
    """The scores of a comparison that the table shows."""
    values = {name: getattr(result, name) for name in _SHOWN_SCORES}
    return {
        name: Described(float(value), ci=getattr(result, f"{name}_ci", None))
        for name, value in values.items()
        if value is not None
    }


def _name_of(model: object) -> str:
    if isinstance(model, tuple):
        return _name_of(getattr(model[0], "name_or_path", None) or type(model[0]).__name__)
    return model if isinstance(model, str) else str(getattr(model, "name_or_path", None) or type(model).__name__)


def _decoders(
    decoder: str | Mapping[str, str] | None, models: Sequence[str], measures: Sequence[str]
) -> dict[str, Decoder]:
    """The decoder of each model that has one; `TypeError` or `ValueError` for invalid ones."""
    if decoder is None:
        return {}
    named = dict.fromkeys(models, decoder) if isinstance(decoder, str) else decoder
    if not isinstance(named, Mapping) or not all(isinstance(value, str) for value in named.values()):
        raise TypeError(f"decoder must be a str, or a dict of one for each model, got {shown(decoder)}")
    for name in named:
        if name not in models:
            raise ValueError(f"decoder must name models, got {name!r}{did_you_mean(name, models)}")
    if not any("a decoder" in MEASURES[name].inputs.given for name in measures if name != "score"):
        raise WrongOption.of("decoder", "is for measures of the group language-model: name it in measures (--measures)")
    return {name: parse_decoder(str(value)) for name, value in named.items()}


def _likelihoods(model: str | tuple[Any, Any] | None, run: RunOptions) -> Callable[..., Likelihoods]:
    """Function from texts to likelihoods; `TypeError` or `ValueError` for an invalid language model."""
    if model is not None:
        check_model("language_model", model)

    def likelihoods_of(texts: list[str], **decoder: Unpack[Decoder]) -> Likelihoods:
        from mauve_metric.apps.describing.likelihood.likelihoods import likelihoods

        named = DEFAULT_LANGUAGE_MODEL if model is None else model
        return likelihoods(texts, named, run=replace(run, text_field=None, distributed=False), **decoder)

    return likelihoods_of
