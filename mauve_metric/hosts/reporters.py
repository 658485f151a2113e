"""What reporters of a Trainer (TensorBoard, Weights & Biases, …) are shown beside the numbers."""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Iterator
from typing import Any

import numpy as np

from mauve_metric.generation.evaluation import Evaluation
from mauve_metric.results.result import MauveResult

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def only_logged(reporter: str) -> Iterator[None]:
    """A reporter in trouble with a table or a figure is no reason to stop a training."""
    try:
        yield
    except Exception as error:
        logger.warning("%s did not take the texts or the curve: %r", reporter, error)


_SHOWN_CHARACTERS = 300


def generation_table(evaluation: Evaluation, rows: int) -> str:
    """A Markdown table of the first texts: prompt and continuation."""

    def cell(text: str) -> str:
        short = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
        return " ".join(short.split()).replace("|", "\\|")

    lines = [f"| {cell(prompt)} | {cell(text)} |" for prompt, text in evaluation.texts[:rows]]
    return "\n".join(["| prompt | continuation |", "| --- | --- |", *lines])


def curve_image(result: MauveResult) -> Any:
    """The divergence curve as an array of pixels (height, width, 3) of uint8; None without the packages for it."""
    try:
        import vl_convert
        from PIL import Image

        from mauve_metric.results.charts.of_result import divergence_curve_chart

        chart = divergence_curve_chart(result).to_json()
    except ImportError:
        logger.info("no figure of the curve: it needs altair, vl-convert-python and pillow")
        return None
    with Image.open(io.BytesIO(vl_convert.vegalite_to_png(chart))) as image:
        return np.asarray(image.convert("RGB"))
