"""A run that still waits in the queue is taken out of it, as if it had ended. Written against gradio 6.31."""

from __future__ import annotations

from gradio.context import LocalContext
from gradio.server_messages import ProcessCompletedMessage

from mauve_metric.hosts.space.clients import RUNS


def withdraw(session_name: str | None) -> bool:
    """Take the runs of a page out of the queue, whose outputs then stay as they are; whether there was one.

    It is called in the event loop of the queue. (Gradio's own `cancels` answers without outputs, which the page takes
    for a failure.)
    """
    page = LocalContext.blocks.get(None)
    waiting = None if page is None else page._queue.event_queue_per_concurrency_id.get(RUNS)
    if page is None or waiting is None:  # called from Python
        return False
    mine = [event for event in waiting.queue if event.session_hash == session_name]
    for event in mine:
        waiting.queue.remove(event)
        page._queue.event_ids_to_events.pop(event._id, None)
        skipped = [{"__type__": "update"} for _ in event.fn.outputs]
        page._queue.send_message(event, ProcessCompletedMessage(output={"data": skipped}, success=True))
    return bool(mine)
