"""Texts and curve for the reporters of a Trainer (TensorBoard, Weights & Biases), in addition to the numbers."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mauve_metric.generation.evaluation import Evaluation
from mauve_metric.results.result import MauveResult

logger = logging.getLogger(__name__)


def show_evaluation(reporters: Iterable[object], evaluation: Evaluation, prefix: str, step: int, rows: int) -> None:
    """Send the first texts and the curve to the reporters of TensorBoard and of Weights & Biases."""
    image = None
    for reporter in reporters:
        writer = getattr(reporter, "tb_writer", None)
        wandb = getattr(reporter, "_wandb", None)
        if writer is None and getattr(wandb, "run", None) is None:
            continue
        try:
            if image is None and evaluation.result is not None:
                image = curve_image(evaluation.result)
            if writer is not None:
                writer.add_text(f"{prefix}/mauve_texts", generation_table(evaluation, rows), step)
                if image is not None:
                    writer.add_image(f"{prefix}/mauve_curve", image, step, dataformats="HWC")
                writer.flush()
            elif wandb is not None:
                texts = [list(row) for row in evaluation.texts[:rows]]
                shown = {f"{prefix}/mauve_texts": wandb.Table(columns=["prompt", "continuation"], data=texts)}
                if image is not None:
                    shown[f"{prefix}/mauve_curve"] = wandb.Image(image)
                wandb.log({**shown, "train/global_step": step})
        except Exception as error:  # which does not end the training
            logger.warning("%s did not take the texts or the curve: %r", type(reporter).__name__, error)


_SHOWN_CHARACTERS = 300


def generation_table(evaluation: Evaluation, rows: int) -> str:
    """A Markdown table of the first texts: prompt and continuation."""

    def cell(text: str) -> str:
        short = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
        return " ".join(short.split()).replace("|", "\\|")

    lines = [f"| {cell(prompt)} | {cell(text)} |" for prompt, text in evaluation.texts[:rows]]
    return "\n".join(["| prompt | continuation |", "| --- | --- |", *lines])


def curve_image(result: MauveResult) -> NDArray[np.uint8] | None:
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
