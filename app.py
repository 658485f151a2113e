"""The page: human texts and those of one model or several in, scores, curves and the texts behind them out.

    python app.py         (or mauve-metric serve)

It listens where `GRADIO_SERVER_NAME` and `GRADIO_SERVER_PORT` say. What a visitor may ask of the server is set by
`MAUVE_METRIC_MAX_TEXTS`, `…_CHARACTERS`, `…_MEGABYTES`, `…_MODEL_SETS`, `…_TOTAL_TEXTS`, `…_TOTAL_MEGABYTES`,
`…_BUCKETS`, `…_POINTS`, `…_WAITING`, `…_WAITING_EACH`, `…_SECONDS`, `…_TOKENS`, `…_SESSIONS`,
`…_FOLDER_MEGABYTES`, `…_CLIENT_MEGABYTES`, `…_JUDGED_MEGABYTES` and, for the featurizers on offer,
`MAUVE_METRIC_MODELS` (see `mauve_metric.hosts.space.limits`).
"""

from __future__ import annotations

from mauve_metric.hosts.space.page import build_app, launch_options, main

__all__ = ["build_app", "launch_options", "main"]

if __name__ == "__main__":
    main()
