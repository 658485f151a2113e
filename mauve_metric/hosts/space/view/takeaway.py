"""The files of a result, its card among them, and the commands that reproduce it."""

from __future__ import annotations

import json
import shlex
import textwrap
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from mauve_metric.apps.describing.description import Description
from mauve_metric.hosts.flags_and_labels import flag_of
from mauve_metric.hosts.space.limits import other_featurizers
from mauve_metric.hosts.space.session import bars
from mauve_metric.hosts.space.session.scoring import Scored
from mauve_metric.hosts.space.session.uploads import TextSet, shared_prompts_of
from mauve_metric.hosts.space.view.headline import first_screen_values
from mauve_metric.hosts.space.view.markup import render, warnings_of
from mauve_metric.options import page_fields
from mauve_metric.report.html_and_images import save_chart
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.optional_imports import import_vl_convert
from mauve_metric.runtime.plain_text import counted, digits

FIGURES = (".svg", ".pdf", ".png")
_COLOR = "#0072B2"  # of a bar
_MOST_BARS = 3


def write_files(scored: Scored, folder: Path, description: Description | None = None) -> list[str]:
    """Write figures, JSON, tables, signature and report; only the report quotes texts.

    With a description of the same sets, its measures too.

    Raises:
        ImportError: Altair or vl-convert-python is not installed.
    """
    comparison, result = scored.comparison, scored.result
    chart = result.plot()
    paths = [folder / f"mauve{ending}" for ending in FIGURES]
    for path in paths:
        save_chart(chart, path)
    paths.append(folder / "card.png")
    paths[-1].write_bytes(import_vl_convert().svg_to_png(card_svg(result)))
    content = {
        "mauve.json": json.dumps(result.to_dict(), allow_nan=False, indent=1),
        "signature.txt": f"{result.signature}\n{result.summary()}",
    }
    if comparison is not None:
        content["models.csv"] = comparison.to_csv("models").rstrip("\n")
        content["differences.csv"] = comparison.to_csv("differences").rstrip("\n")
    if description is not None:
        content["measures.json"] = json.dumps(description.to_dict(), allow_nan=False, indent=1)
        content["measures.csv"] = description.to_csv().rstrip("\n")
    for name, text in content.items():
        (folder / name).write_text(text + "\n", encoding="utf-8")
        paths.append(folder / name)
    measures = None if description is None else description.document()
    paths.append(scored.for_report().save_report(folder / "report.html", measures))
    return [str(path) for path in paths]


def write_archive(scored: Scored, folder: Path, description: Description | None = None) -> str:
    """Write the files of `write_files` into one zip file, the report first; return its path."""
    paths = [Path(path) for path in write_files(scored, folder, description)]
    archive = folder / "mauve.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(paths, key=lambda path: path.name != "report.html"):
            file.write(path, path.name)
            path.unlink()
    return str(archive)


def card_svg(result: MauveResult | Comparison) -> str:
    """A picture of 1200 × 630 pixels for messages and posts: answer, score, bars and caveats, every word escaped."""
    values = first_screen_values(result)
    if isinstance(result, Comparison):
        sizes, whose = counted(len(result.models), "model"), f" of {values['whose']}"
        models = {name: result.models[name] for name in result.ranking[:_MOST_BARS]}
    else:
        sizes, whose = f"{result.n_q} model texts against {result.n_p} {result.reference_name} texts", ""
        models = {"this model": result}
    first = sorted((warning for _, warning in warnings_of(result)), key=lambda warning: not warning.severe)[:1]
    caveats = [f" Caveat: {warning.message}." for warning in first]
    doubt = isinstance(result, MauveResult) and values["doubt"]
    return render(
        "card",
        "svg",
        said=textwrap.wrap(" ".join(values["answer"]), 46, max_lines=3, placeholder=" …"),
        whose=whose,
        number="unknown" if values["closeness"] is None else digits(values["closeness"], ".3f"),
        bars=[
            bars.Bar.of(name, scored.closeness, scored.closeness_ci, result.reference_name)
            for name, scored in models.items()
        ],
        facts=textwrap.wrap(f"{sizes}.{''.join(caveats)}", 100, max_lines=2, placeholder=" …"),
        color=_COLOR,
        doubt=doubt,
        scale=bars.DOUBT if doubt else bars.scale(result.reference_name),
        ends_of_line=bars.ends_of_line(result.reference_name),
    )


def python_code(
    human: TextSet, models: Mapping[str, TextSet], options: Mapping[str, object], aligned: bool = False
) -> str:
    """Python lines that give the same result, if the files lie in the working directory."""
    first, *names = _file_names(human, models)
    shared = not aligned and bool(shared_prompts_of({"human": human, **models}))
    call = "compute_mauve" if len(models) == 1 else "compare"
    readers = sorted({_reader(side, shared) for side in (human, *models.values())})
    lines = [f"from mauve_metric import {', '.join([*readers[:-1], call, *readers[-1:]])}", "", f"out = {call}("]
    lines.append(f"    p_text={_reading(human, first, shared)},")
    calls = {model: _reading(side, name, shared) for (model, side), name in zip(models.items(), names, strict=True)}
    if len(models) == 1:
        lines += [f"    q_text={read}," for read in calls.values()]
    else:
        lines += ["    models={", *(f"        {model!r}: {read}," for model, read in calls.items()), "    },"]
    if shared and human.every > 1:
        lines.append("    # the page knows that sets share prompts: pass them as p_groups and q_groups")
    lines += ["    aligned=True,"] if aligned else []
    featurizers, changed = _changed_options(options)
    lines += [f"    featurizers={featurizers!r},"] if featurizers else []
    lines += [f"    {key}={value!r}," for key, value in changed.items()]
    return "\n".join([*lines, ")", "print(out)"])


def _reader(side: TextSet, shared: bool) -> str:
    """The name of the function that reads a set; with prompts if sets share some."""
    return "TextFile" if shared and side.prompts is not None and side.every == 1 else "read_texts"


def _reading(side: TextSet, name: str, shared: bool) -> str:
    """The call that reads a set from the file of this name."""
    named = "" if _is_found(side) else f", {side.column!r}"
    named += "" if side.encoding is None else f", encoding={side.encoding!r}"
    call = f"{_reader(side, shared)}({name!r}{named})"
    call = f"[text for text in {call} if text.strip()]" if side.blank else call
    return call if side.every == 1 else f"{call}[::{side.every}]"


def shell_code(
    human: TextSet, models: Mapping[str, TextSet], options: Mapping[str, object], aligned: bool = False
) -> str:
    """The shell command that gives the same result; a comment if no command can."""
    sides = [human, *models.values()]
    columns = {None if _is_found(side) else side.column for side in sides}
    same = len(sides) == 2 and human.path is not None and human.path == sides[1].path
    both = same and not any(side.column is not None and side.column.endswith("]") for side in sides)
    if human.every > 1:
        return "# this is a sample of the texts: use Python"
    command = "score" if len(models) == 1 else "compare"
    first, *names = _file_names(human, models)
    if not both and len(columns) > 1:
        words = [
            name if _is_found(side) else f"{name}:{side.column}"
            for side, name in zip(sides, [first, *names], strict=True)
        ]
        first, *names = words
    if any(side.blank for side in sides):  # lines that the page left out
        options = {**options, "empty_texts": "drop"}
    parts = ["mauve-metric", command, _path_word(first), *([] if both else _model_words(list(models), names))]
    if aligned:
        parts.append("--aligned")
    if both:
        parts += ["--reference-field", str(human.column), "--prediction-field", str(sides[1].column)]
    elif len(columns) == 1 and (column := columns.pop()) is not None:
        parts += ["--text-field", column]
    encodings = {side.encoding for side in sides if side.encoding is not None}
    if len(encodings) > 1:
        return "# the files have several encodings: use Python"
    parts += [word for encoding in encodings for word in ("--encoding", encoding)]
    featurizers, changed = _changed_options(options)
    for name in featurizers:
        parts += ["--featurizer", name]
    for key, value in changed.items():
        if isinstance(page_fields()[key].default, bool):
            parts.append(flag_of(key if value else f"no_{key}"))
        else:
            parts += [flag_of(key), str(value).lower() if isinstance(value, bool) else str(value)]
    return shlex.join(parts)


def _model_words(models: Sequence[str], files: Sequence[str]) -> list[str]:
    """The models' files as the shell takes them, preceded by its name if it differs from the file's."""
    if len(models) == 1 or list(models) == [Path(file).stem for file in files]:
        return [_path_word(file) for file in files]
    # a space before a name like `-a`; the command line strips it
    return [f"{' ' if name.startswith('-') else ''}{name}={file}" for name, file in zip(models, files, strict=True)]


def _changed_options(options: Mapping[str, object]) -> tuple[list[str], dict[str, object]]:
    """Several featurizers, none if there is one, and the other options that are not at their default."""
    others = other_featurizers(options)
    featurizers = [str(options["featurize_model_name"]), *others] if others else []
    several = ("featurizers", "featurize_model_name") if others else ()
    remaining = {name: value for name, value in options.items() if name not in several}
    return featurizers, {name: value for name, value in remaining.items() if value != page_fields()[name].default}


def _is_found(side: TextSet) -> bool:
    """Return whether the library finds the column by itself."""
    return side.column is None or (side.column == "text" and len(side.columns) < 2)


def _file_names(human: TextSet, models: Mapping[str, TextSet]) -> list[str]:
    """The names of all sets' files, the human one first, made unique where two files share a name."""
    sides = [("human", human), *models.items()]
    owners = [owner.replace("/", "-") for owner, _ in sides]
    if len(sides) == 2:
        owners[1] = "model"
    keys = [side.path or number for number, (_, side) in enumerate(sides)]  # one file may hold several sets
    names = {key: Path(side.name).name or "texts.txt" for key, (_, side) in zip(keys, sides, strict=True)}
    owner_of = dict(zip(reversed(keys), reversed(owners), strict=True))
    equal = Counter(names.values())
    return [names[key] if equal[names[key]] == 1 else f"{owner_of[key]}_{names[key]}" for key in keys]


def _path_word(name: str) -> str:
    """A file name that no program parses as an option."""
    return f"./{name}" if name.startswith("-") else name
