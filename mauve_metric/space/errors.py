"""What a visitor is told when something goes wrong: one sentence, and nothing of it in the log."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import gradio as gr

from mauve_metric.space import markup
from mauve_metric.space.scoring import Cancelled
from mauve_metric.space.uploads import USER_ERRORS

logger = logging.getLogger(__name__)


@contextmanager
def errors_shown(*, as_html: bool) -> Iterator[None]:
    """Every error goes to the visitor as one sentence, and none to the log with its words, since they may quote texts.

    A mistake of the program itself leaves its kind and place in the log.
    """
    try:
        yield
    except (gr.Error, Cancelled):
        raise
    except Exception as error:
        if isinstance(error, USER_ERRORS):
            message = " ".join(str(error).split()) or type(error).__name__
        else:
            place = traceback.extract_tb(error.__traceback__)[-1]
            logger.error("%s in %s, line %s", type(error).__name__, place.filename, place.lineno)
            message = f"something went wrong here ({type(error).__name__}); your texts are still on the page"
        message = markup.shorten(message, 600)
        raise gr.Error(markup.escape(message) if as_html else message, print_exception=False) from None
