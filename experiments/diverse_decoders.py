"""How different the ten continuations of a prompt are, by decoder (Ippolito et al. 2019; Ippolito 2021, Table 3.1).

    python experiments/diverse_decoders.py
    python experiments/diverse_decoders.py --models gpt2-xl --texts 100 --new-tokens 30 --beams 100 --device cuda

All continuations of a prompt count. Tokens are those of the model, which is the first of `--models`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import diverse
import numpy as np
import torch
from common import AXIS, INK, argument_parser, progress, save
from models import Workshop, add_arguments

from mauve_metric.apps.describing.word_diversity.token_statistics import distinct_of_prompts, entropy_of_prompts
from mauve_metric.apps.generation.decoding import token_ids
from mauve_metric.arrays import Floats
from mauve_metric.report.document import Column, TableRow
from mauve_metric.runtime.outputs import written_whole
from mauve_metric.uncertainty.mean_intervals import mean_interval

KEPT, GROUPS = 10, 5  # continuations of a prompt; clusters, and runs of the iterative search
COLUMNS = (
    Column("decoder", "decoder"),
    Column("perplexity", "perplexity", ".1f"),
    Column("distinct_1", "distinct-1", ".2f"),
    Column("distinct_2", "distinct-2", ".2f"),
    Column("entropy_2", "entropy-2", ".2f"),
    Column("entropy_4", "entropy-4", ".2f"),
)
Decoder = Callable[[Any, Sequence[int]], list[diverse.Written]]


def decoders_of(count: int, many: int, embeddings: np.ndarray, never: Sequence[int]) -> Mapping[str, Decoder]:
    """The decoders of the table.

    Args:
        count: tokens to write. many: how many continuations those have of which the best ten are chosen.
        embeddings: of the tokens, (V, d). never: tokens that are never written.
    """
    beams = diverse.beam_search
    return {
        "sampling": lambda model, ids: diverse.oversampled(model, ids, count, KEPT, KEPT, never),
        "beams": lambda model, ids: beams(model, ids, count, KEPT, never=never),
        "NPAD": lambda model, ids: diverse.noisy(model, ids, count, KEPT, 0.3, never),
        "top-g 3": lambda model, ids: beams(model, ids, count, KEPT, diverse.capped(3), never),
        "Hamming 0.8": lambda model, ids: beams(model, ids, count, KEPT, diverse.hamming(0.8), never),
        "iterative": lambda model, ids: diverse.iterative(model, ids, count, KEPT // GROUPS, GROUPS, never),
        "clustered": lambda model, ids: beams(model, ids, count, KEPT, diverse.clustered(embeddings, GROUPS, 0), never),
        "oversampled": lambda model, ids: diverse.oversampled(model, ids, count, KEPT, many, never),
        "clusters of beams": lambda model, ids: diverse.one_of_each(
            beams(model, ids, count, many, never=never), embeddings, KEPT, GROUPS, 0
        ),
    }


def written_by(
    path: Path, decode: Decoder, model: Any, prompts: Sequence[Sequence[int]]
) -> list[list[diverse.Written]]:
    """The continuations of each prompt, kept in a file prompt by prompt."""
    done = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    for ids in prompts[len(done) :]:
        torch.manual_seed(len(done))
        done.append(decode(model, ids))
        with written_whole(path) as temporary:
            temporary.write_text(json.dumps(done), encoding="utf-8")
    return [[diverse.Written(log, tuple(ids)) for log, ids in rows] for rows in done]


def row_of(written: Sequence[Sequence[diverse.Written]]) -> TableRow:
    """The numbers of one decoder: means over prompts, with their intervals."""
    flat = [(number, one) for number, rows in enumerate(written) for one in rows]
    texts, prompts = [list(map(str, one.ids)) for _, one in flat], [number for number, _ in flat]
    logs = [np.mean([one.log_probability / len(one.ids) for one in rows]) for rows in written]
    values: dict[str, Floats] = {
        "perplexity": np.exp(-np.array(logs)),
        "distinct_1": distinct_of_prompts(texts, prompts, 1, over="tokens"),
        "distinct_2": distinct_of_prompts(texts, prompts, 2, over="tokens"),
        "entropy_2": entropy_of_prompts(texts, prompts, 2),
        "entropy_4": entropy_of_prompts(texts, prompts, 4),
    }
    row: TableRow = {}
    for name, numbers in values.items():
        low, high = mean_interval(numbers, 0.95) or (None, None)
        row |= {name: float(numbers.mean()), f"{name}_low": low, f"{name}_high": high}
    return row


def rows_of(workshop: Workshop) -> list[TableRow]:
    """One row a decoder."""
    options, name = workshop.options, workshop.options.models[0]
    model, tokenizer = workshop.model(name)
    embeddings = model.get_input_embeddings().weight.detach().float().cpu().numpy()
    prompts = [ids[: options.prompt_tokens] for ids in token_ids(tokenizer, workshop.other_human)]
    decoders = decoders_of(options.new_tokens, options.beams, embeddings, [tokenizer.eos_token_id])
    rows: list[TableRow] = []
    for decoder, decode in progress(decoders.items(), "decoders", len(decoders)):
        path = workshop.file(name, f"{decoder}-{options.new_tokens}-{options.beams}").with_suffix(".json")
        rows.append({"decoder": decoder} | row_of(written_by(path, decode, model, prompts)))
    return rows


def figure(rows: Sequence[TableRow]) -> alt.LayerChart:
    """Distinct-2 against perplexity."""
    axis = alt.Axis(**AXIS)
    base = alt.Chart(alt.InlineData(values=list(rows))).encode(
        x=alt.X("perplexity:Q", title="perplexity under the model", scale=alt.Scale(type="log"), axis=axis),
        y=alt.Y("distinct_2:Q", title="distinct-2 of ten continuations", scale=alt.Scale(domain=[0, 1]), axis=axis),
    )
    names = base.mark_text(align="left", dx=7, color=INK).encode(text="decoder:N")
    return alt.LayerChart(layer=[base.mark_point(filled=True, size=60, opacity=1), names]).properties(
        width=420,
        height=280,
        title="Ten continuations of a prompt: diversity against perplexity",
        description="Distinct-2 of the ten continuations of a prompt against their perplexity, by decoder.",
    )


def main(arguments: Sequence[str] | None = None) -> Path:
    """Run the experiment."""
    parser = argument_parser(__doc__)
    add_arguments(parser, texts=10)
    parser.add_argument("--new-tokens", type=int, default=12, help="of a continuation (default: %(default)s)")
    parser.add_argument("--beams", type=int, default=30, help="of which ten are chosen (default: %(default)s)")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    workshop = Workshop(options)
    rows = rows_of(workshop)
    return save(
        "diverse_decoders",
        "Ten continuations of a prompt, by decoder",
        COLUMNS,
        rows,
        figure(rows),
        seconds=time.monotonic() - started,
        notes=[
            f"{KEPT} continuations of {options.new_tokens} tokens by {options.models[0]} of each of {options.texts} "
            f"prompts, the first {options.prompt_tokens} tokens of texts of `{workshop.files[1].name}`. Oversampling "
            f"and the clusters of beams choose {KEPT} of {options.beams}. Means over prompts, in parentheses "
            "their 95 % intervals; entropies in nats.",
        ],
        out=options.out,
    )


if __name__ == "__main__":
    main()
