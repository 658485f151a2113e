"""Options of published evaluations by name, so that a table can be compared with a paper's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from mauve_metric.runtime.checks import check_known, shown
from mauve_metric.runtime.errors import WrongOption


class Protocol(NamedTuple):
    """One published way to compute MAUVE.

    options: keywords of `compute_mauve` and `compare`, by name. texts: what has to be done with the texts before.
    paper, source: who evaluated so, and where the settings are from.
    """

    options: Mapping[str, object]
    texts: str
    paper: str
    source: str


PROTOCOLS: dict[str, Protocol] = {
    "mauve-paper": Protocol(
        {
            "featurize_model_name": "gpt2-large",
            "max_text_length": 1024,
            "num_buckets": 500,
            "mauve_scaling_factor": 5.0,
            "kmeans_explained_var": 0.9,
        },
        "5000 texts a side, each with its prompt, cut to 1024 tokens of gpt2-large",
        "Pillutla et al. 2021, §4 and App. D",
        "krishnap25/mauve-experiments",
    ),
    "contrastive-decoding": Protocol(
        {"featurize_model_name": "gpt2", "max_text_length": 128, "num_buckets": "auto", "mauve_scaling_factor": 5.0},
        "continuations without their prompts, cut to 128 tokens of gpt2; pairs of which one is shorter are left out",
        "Li et al. 2023; Su and Xu 2022",
        "XiangLi1999/ContrastiveDecoding, text-generation/eval_script.py",
    ),
    "simctg": Protocol(
        {
            "featurize_model_name": "gpt2-large",
            "max_text_length": 200,
            "num_buckets": "auto",
            "mauve_scaling_factor": 5.0,
        },
        "continuations without their prompts, both of a pair cut to the tokens of gpt2-large that the shorter has; "
        "pairs with an empty continuation are left out",
        "Su and Collier 2023, by authors of SimCTG",
        "yxuansu/Contrastive_Search_Is_What_You_Need, open_ended_generation/english/utlis/compute_mauve.py",
    ),
}


def protocol(name: str) -> dict[str, Any]:
    """The options of a published evaluation, as keywords of `compute_mauve`, `compare`, `explain` and `describe`.

    Args:
        name: "mauve-paper", "contrastive-decoding" or "simctg".

    Returns:
        The options that fix MAUVE as it was published. What has to be done with the texts, such as taking prompts off,
        is in docs/protocols.md: no option does it.

    Raises:
        ValueError: another name.

    >>> protocol("contrastive-decoding")["max_text_length"]
    128
    """
    check_known("protocol", name, tuple(PROTOCOLS))
    return dict(PROTOCOLS[name].options)


def with_protocol(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a protocol and others; `ValueError` if one is given otherwise.

    >>> with_protocol("contrastive-decoding", {"seed": 7})["seed"]
    7
    """
    fixed = protocol(name)
    for key, value in fixed.items():
        if options.get(key, value) != value:
            raise WrongOption.of(key, f"must be {value!r} with the protocol {name}, got {shown(options[key])}")
    return {**options, **fixed}
