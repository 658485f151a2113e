"""Check the entries of the leaderboard and write its table: `python leaderboard/build.py`, with `--check` only check.

An entry is a folder with `entry.json` (who and what) and `compare.json`, which `mauve-metric compare … --json` printed
for this one model. The exit status is 1 if an entry is wrong, or with `--check` if the table is not that of the
entries.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from mauve_metric import Histograms, MauveConfig
from mauve_metric.clustering.num_buckets import auto_learned_buckets
from mauve_metric.hosts.cli.warning_guide import ADVICE
from mauve_metric.results.scores import SCORES
from mauve_metric.runtime.plain_text import digits
from mauve_metric.scoring.score import score_histograms
from mauve_metric.uncertainty import ceilings, score_warnings
from mauve_metric.uncertainty.closeness import Bound, Closeness, closeness_of, debiased_estimates
from mauve_metric.uncertainty.intervals import Estimate
from mauve_metric.uncertainty.learned_score import debiased
from mauve_metric.uncertainty.score_warnings import SEVERE

FOLDER = Path(__file__).parent
TOLD = ("model", "decoding", "texts", "by")  # what entry.json says
VERSIONS = frozenset({"faiss-cpu", "numpy", "torch", "transformers", "mauve_metric"})  # may differ between entries
OF_THE_ENTRY = frozenset({"n_q", "q_digest", "groups", "partition", "model"})
SHOWN = ("mauve", "prd_precision", "prd_recall")  # which follow from the histograms
TOLERANCE = 1e-9
HEAD = """# Leaderboard

How close the texts of models and decoders are to the human passages of `{human}`, with the featurizer minilm.
Entries are ranked by [closeness](../docs/mathematics.md#closeness): 1 for texts of the same distribution, whatever
their number. It is the lower of two scores without sampling bias: by groups of similar texts, and by a
[classifier that separates the two sets](../docs/saturation.md). Each entry is scored on buckets of its own, so that it
does not move when others come. Precision and recall are those of the histograms ([PRD](../docs/mathematics.md)).
Every number in this table is computed from the numbers of texts in the buckets. The intervals are for these buckets:
other ones would move a score too.

By classifier, a score falls where a model's texts are about the right things and still differ from people's: an AUC
of ½ says that they cannot be told apart, 1 that every one can.

**Entries whose intervals overlap are not told apart by this table.** For the difference of two, `mauve-metric compare`
both sets of texts.

"""
TAIL = """
`!` marks a [severe warning](../docs/errors.md#warnings): the score may not mean what it seems to mean.
`people` is no model: other passages from the same source, the yardstick.

## Add an entry

Open a pull request with a folder of your model's name:

<!-- run first: cp examples/nucleus.jsonl texts.jsonl -->
```sh
mkdir leaderboard/my_model
mauve-metric compare {human} my_model=texts.jsonl --featurize-model-name minilm --num-buckets 60 \\
    --num-runs 5 --json > leaderboard/my_model/compare.json
echo '{{"model": "…", "decoding": "…", "texts": "where they are", "by": "…"}}' > leaderboard/my_model/entry.json
python leaderboard/build.py
```

At least {least} texts, written from the openings in the `prompt` fields of `examples/*.jsonl` or from prompts of your
own that occur in no human passage. The script refuses an entry whose signature has other settings than
`rules.json`, whose human side is another one, or whose numbers do not follow from its own histograms. It cannot see
whether the texts are the model's: publish them, so that anyone can run the command again.

This page is written by `leaderboard/build.py`.
"""


class Entry(NamedTuple):
    """One row of the table.

    about: entry.json. result: of the model, as in compare.json. closeness: of both pairs of histograms.
    score: debiased, with its interval, of its histograms. learned: the same of its learned histograms. auc: of the
    buckets of these.
    """

    name: str
    about: Mapping[str, str]
    result: Mapping[str, Any]
    closeness: Closeness
    score: Estimate
    learned: Estimate
    auc: float


def read_entry(folder: Path, rules: Mapping[str, Any]) -> Entry:
    """An entry that keeps the rules.

    Raises:
        ValueError: what is wrong, with the file and the field.
    """
    about, compared = _read(folder / "entry.json"), _read(folder / "compare.json")
    missing = [name for name in TOLD if not isinstance(about.get(name), str) or not about[name].strip()]
    if missing:
        raise ValueError(f"{folder.name}/entry.json must say {', '.join(TOLD)}, missing: {', '.join(missing)}")
    models = compared.get("models")
    if not isinstance(models, dict) or list(models) != [folder.name]:
        raise ValueError(f"{folder.name}/compare.json must hold one model, named {folder.name!r}: compare … NAME=FILE")
    result = models[folder.name]
    try:
        _check_settings(result, rules)
        config = _config(rules)
        scores = _checked_score(result, config, rules), *_checked_learned(result, config)
        closeness = _checked_closeness(result, config)
    except (KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(f"{folder.name}/compare.json is no result of compare: {error!r}") from error
    except ValueError as error:
        raise ValueError(f"{folder.name}/compare.json: {error}") from error
    return Entry(folder.name, about, result, closeness, *scores)


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ValueError(f"{path.parent.name} has no {path.name}")
    try:
        found = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number, parse_int=_integer)
        json.dumps(found, ensure_ascii=False).encode()  # which half of a character ends
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.parent.name}/{path.name} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path.parent.name}/{path.name} must hold one JSON object, got {type(found).__name__}")
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _integer(digits: str) -> int:
    if len(digits) > 15:
        raise ValueError(f"a whole number of {len(digits)} digits")
    return int(digits)


def _settings(signature: object) -> dict[str, str]:
    if not isinstance(signature, str) or not all(":" in part for part in signature.split("|")):
        raise ValueError(f"the signature must be settings as name:value between |, got {signature!r:.60}")
    return dict(part.split(":", 1) for part in signature.split("|"))


def _check_settings(result: Mapping[str, Any], rules: Mapping[str, Any]) -> None:
    """The signature is that of the rules, and the human side the same."""
    wanted, found = _settings(rules["signature"]), _settings(result["signature"])
    for name in {**wanted, **found}:
        if name not in VERSIONS | OF_THE_ENTRY and wanted.get(name) != found.get(name):
            raise ValueError(f"the signature must have {name}:{wanted.get(name)}, got {found.get(name)}")
    for name, value in rules["same"].items():
        if result[name] != value:
            raise ValueError(f"{name} must be {value}, that of {rules['human']}, got {result[name]}")
    if result["n_q"] < rules["least_texts"]:
        raise ValueError(f"n_q must be at least {rules['least_texts']} texts, got {result['n_q']}")


def _config(rules: Mapping[str, Any]) -> MauveConfig:
    """The settings that numbers from histograms depend on."""
    found = _settings(rules["signature"])
    return MauveConfig(
        mauve_scaling_factor=float(found["mauve_scaling_factor"]),
        confidence_level=float(found["confidence_level"]),
        num_runs=1,
    )


def _checked_learned(result: Mapping[str, Any], config: MauveConfig) -> tuple[Estimate, float]:
    """The learned score of an entry's learned histograms, and the AUC of their buckets.

    Raises:
        ValueError: the score, its error or interval does not follow, or the AUC of the buckets is not in that of texts.
    """
    p, q = (_learned_counts(result, side) for side in ("p", "q"))
    score = debiased(Histograms(p, q), 0.0, config)
    low, high = result["mauve_classifier_ci"]  # wider: it has the variance of the buckets before they were joined too
    wide_enough = low <= score.ci[0] + TOLERANCE and high >= score.ci[1] - TOLERANCE
    for name, value in zip(("", "_stderr", "_ci"), score, strict=False):
        given = result[f"mauve_classifier{name}"]
        if not (wide_enough if name == "_ci" else _agree(value, given)):
            raise ValueError(
                f"mauve_classifier{name} must follow from learned_p_counts and learned_q_counts, {value}, got {given}"
            )
    below = np.cumsum(p) - p / 2
    auc, (low, high) = float(q @ below / (p.sum() * q.sum())), result["auc_ci"]
    if not low <= result["auc"] <= high or not low <= auc <= high:
        raise ValueError(
            f"auc_ci must hold auc and that of the learned buckets, {auc:.6f}, got {low:.6f} to {high:.6f}"
        )
    return score, auc


def _checked_closeness(result: Mapping[str, Any], config: MauveConfig) -> Closeness:
    """The closeness of an entry's histograms, by groups and learned.

    Raises:
        ValueError: its closeness is not the lower of its scores, or not in its interval.
    """
    given, lower = result["closeness"], min(result["mauve_debiased"], result["mauve_classifier"])
    low, high = result["closeness_ci"]
    if given > lower + TOLERANCE or not 0 <= low <= given <= high <= 1:
        raise ValueError(
            f"closeness must be at most {lower:.6f}, the lower score, and in closeness_ci, got {given:.6f}"
        )
    bounds = [
        _bound(kind, *(counts(result, side) for side in ("p", "q")))
        for kind, counts in (("groups", _counts), ("classifier", _learned_counts))
    ]
    found = closeness_of(bounds, config)
    if found is None or found.ci is None:
        raise ValueError("its histograms have no closeness with an interval")
    return found


def _bound(kind: Literal["groups", "classifier"], p: np.ndarray, q: np.ndarray) -> Bound:
    labels = [(np.repeat(np.arange(len(p)), p), np.repeat(np.arange(len(q)), q))]
    return Bound(kind, labels, None)


def _learned_counts(result: Mapping[str, Any], side: str) -> np.ndarray:
    counts, n = result[f"learned_{side}_counts"], result[f"n_{side}"]
    if not 1 <= len(counts) <= (most := auto_learned_buckets(min(result["n_p"], result["n_q"]))):
        raise ValueError(f"learned_{side}_counts must be of {most} buckets at most, got {len(counts)}")
    if not all(type(count) is int and count >= 0 for count in counts) or sum(counts) != n:
        raise ValueError(f"learned_{side}_counts must be {n} texts in buckets")
    return np.array(counts, dtype=np.int64)


def _checked_score(result: Mapping[str, Any], config: MauveConfig, rules: Mapping[str, Any]) -> Estimate:
    """The debiased score of an entry's histograms; what it says of them must follow from them.

    Raises:
        ValueError: a score is out of its range or does not follow, or a warning is missing.
    """
    for name, score in SCORES.items():
        value = result.get(name)  # an older version gave fewer scores
        if value is not None and not (score.low if score.low is not None else -math.inf) <= value <= _high(score.high):
            raise ValueError(f"{name} must be in its range, got {value}")
    if any(result[name] is None for name in SHOWN):
        raise ValueError(f"{', '.join(SHOWN)} must be numbers, got None")
    if not all(isinstance(warning["code"], str) for warning in result["warnings"]):
        raise ValueError("warnings must have codes")
    found = _settings(rules["signature"])
    histograms = Histograms(*(_counts(result, side) for side in ("p", "q")))
    estimates = debiased_estimates([histograms], config)
    if estimates.mauve is None or estimates.frontier_integral is None:
        raise ValueError(f"its histograms have no interval: {estimates.problem}")
    for name, value in _following(histograms, config).items():
        if not _agree(value, result[name]):
            shown = [f"{number:.6f}" for number in (value, result[name])] if isinstance(value, float) else [value, "…"]
            raise ValueError(f"{name} must follow from p_hist and q_hist, {shown[0]}, got {shown[1]}")
    _check_runs(result, int(found["num_runs"]))
    _check_interval("mauve", result, estimates.mauve)
    if result["frontier_integral_debiased_ci"] is not None or not estimates.few_texts_a_bucket:
        _check_interval("frontier_integral", result, estimates.frontier_integral)
    _check_warnings(result, histograms, found)
    return estimates.mauve


def _agree(expected: object, given: object) -> bool:
    """Return whether two numbers or arrays of numbers are the same but for rounding."""
    same_shape = np.shape(expected) == np.shape(given)
    return same_shape and np.allclose(expected, np.asarray(given, dtype=float), rtol=0, atol=TOLERANCE)


def _following(histograms: Histograms, config: MauveConfig) -> dict[str, Any]:
    """The numbers that follow from a result's histograms, by their name there."""
    scores = score_histograms(histograms, config)
    found = {name: value for name, value in scores.items() if name != "curve_mixtures"}
    c, points = config.mauve_scaling_factor, config.divergence_curve_discretization_size
    null = ceilings.null_scores(histograms.p_counts, histograms.q_counts, c, points)
    found |= {"mauve_ceiling": float(null.mean()), "mauve_ceiling_std": float(null.std(ddof=1))}
    rows = {name: row.compute for name, row in SCORES.items() if "shares" in row.inputs.forms}
    return found | {name: function(scores["p_hist"], scores["q_hist"]) for name, function in rows.items()}


def _check_runs(result: Mapping[str, Any], count: int) -> None:
    """The scores of the clusterings are as many as there should be, with the mean and the deviation that they have."""
    runs = result["mauve_runs"]
    if abs(runs[0] - result["mauve"]) > TOLERANCE or abs(np.mean(runs) - result["mauve_mean"]) > TOLERANCE:
        raise ValueError("mauve must be the first of mauve_runs, and mauve_mean their mean")
    if len(runs) != count or abs(np.std(runs, ddof=1) - result["mauve_std"]) > TOLERANCE:
        raise ValueError(f"mauve_runs must be {count} scores, and mauve_std their standard deviation")


def _check_interval(name: str, result: Mapping[str, Any], computed: Estimate) -> None:
    """A debiased score is in its interval, and that, of other clusterings, meets the one of these histograms."""
    value, (low, high) = result[f"{name}_debiased"], result[f"{name}_debiased_ci"]
    if not low <= value <= high:
        raise ValueError(f"{name}_debiased must be in {name}_debiased_ci, {low:.6f} to {high:.6f}, got {value:.6f}")
    if not (low <= computed.ci[1] and computed.ci[0] <= high):
        computed_low, computed_high = computed.ci
        raise ValueError(
            f"{name}_debiased_ci must meet the interval that follows from p_hist and q_hist, {computed_low:.6f} to "
            f"{computed_high:.6f}, got {low:.6f} to {high:.6f}"
        )


def _check_warnings(result: Mapping[str, Any], histograms: Histograms, settings: Mapping[str, str]) -> None:
    """The warnings that follow from the histograms and the featurizer are there, and all are known ones."""
    ends = result["mauve_floor"], result["mauve_ceiling"], result["mauve_ceiling_std"]
    identity = {"model": settings["featurize_model_name"]}
    expected = [
        *score_warnings.size_warnings(result["n_p"], result["n_q"], result["num_buckets"]),
        *score_warnings.bucket_warnings(histograms.p_counts + histograms.q_counts),
        *(item for item in score_warnings.score_warnings(result["mauve"], *ends) if item.code == "at_floor"),
        *score_warnings.featurizer_warnings(identity, identity),
    ]
    codes = [warning["code"] for warning in result["warnings"]]
    missing = [warning.code for warning in expected if warning.code not in codes]
    unknown = [code for code in codes if code not in ADVICE]
    if missing or unknown:
        raise ValueError(
            f"warnings must hold {', '.join(warning.code for warning in expected)}, which follow from the histograms, "
            f"and known codes alone, got {', '.join(codes)}"
        )


def _high(high: float | None) -> float:
    return math.inf if high is None else high


def _counts(result: Mapping[str, Any], side: str) -> np.ndarray:
    """Texts in each bucket, from their shares."""
    counts = np.asarray(result[f"{side}_hist"], dtype=float) * result[f"n_{side}"]
    whole = np.rint(counts).astype(np.int64)
    if len(whole) != result["num_buckets"] or np.abs(counts - whole).max() > 1e-6 or whole.sum() != result[f"n_{side}"]:
        raise ValueError(
            f"{side}_hist must be shares of {result[f'n_{side}']} texts in {result['num_buckets']} buckets"
        )
    return whole


def page(entries: list[Entry], rules: Mapping[str, Any]) -> str:
    """The whole page, the closest first."""
    heads = (
        "",
        "entry",
        "closeness",
        "95 % interval",
        "by groups",
        "by classifier",
        "AUC",
        "MAUVE",
        "PRD precision",
        "PRD recall",
        "texts",
        "model",
        "decoding",
    )
    lines = [
        f"| {' | '.join((*heads, 'by'))} |",
        "|--:|---|--:|---|--:|--:|--:|--:|--:|--:|--:|---|---|---|",
    ]
    for rank, entry in enumerate(sorted(entries, key=lambda entry: -entry.closeness.value), start=1):
        result = entry.result
        told = [entry.about[name] for name in ("model", "decoding", "by")]
        about = [text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ") for text in told]
        severe = " !" if any(warning["code"] in SEVERE for warning in result["warnings"]) else ""
        mauve, precision, recall = (digits(result[name], ".3f") for name in SHOWN)
        cells = [str(rank), f"[{entry.name}]({entry.name}/entry.json)", *_score_cells(entry.closeness)]
        cells[2] += severe
        cells += [_score_cells(entry.score)[0], _score_cells(entry.learned)[0], digits(entry.auc, ".3f")]
        lines.append(f"| {' | '.join((*cells, mauve, precision, recall, str(result['n_q']), *about))} |")
    fill = {"human": rules["human"], "least": rules["least_texts"]}
    return HEAD.format(**fill) + "\n".join(lines) + "\n" + TAIL.format(**fill)


def _score_cells(score: Estimate | Closeness) -> tuple[str, str]:
    """A score and its interval."""
    return digits(score.value, ".3f"), "\u00a0…\u00a0".join(digits(end, ".3f") for end in score.ci or ())


def build(folder: Path, *, check: bool) -> list[str]:
    """Write the table of a folder's entries, or only compare it; what is wrong."""
    rules = json.loads((folder / "rules.json").read_text(encoding="utf-8"))
    entries, wrong = [], []
    for path in sorted(item for item in folder.iterdir() if item.is_dir() and not item.name.startswith((".", "_"))):
        try:
            entries.append(read_entry(path, rules))
        except ValueError as error:
            wrong.append(str(error))
    table = folder / "README.md"
    if not wrong and not check:
        table.write_text(page(entries, rules), encoding="utf-8")
    elif not wrong and table.read_text(encoding="utf-8") != page(entries, rules):
        wrong.append("README.md is not that of the entries: run python leaderboard/build.py")
    return wrong


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description="Check the entries of the leaderboard and write its table.")
    parser.add_argument("--check", action="store_true", help="write nothing")
    wrong = build(FOLDER, check=parser.parse_args().check)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
