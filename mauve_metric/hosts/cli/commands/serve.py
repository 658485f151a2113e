"""`mauve-metric serve`: the page in a browser, on this machine."""

from __future__ import annotations

import argparse
import importlib
import socket

from mauve_metric.hosts.cli.flags import CommandParser
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import WrongOption
from mauve_metric.runtime.optional_imports import import_gradio

HELP = "start the page on which texts are uploaded and compared in a browser"
EXAMPLES = """examples:
  mauve-metric serve
  mauve-metric serve --host 0.0.0.0 --port 80"""


def add_arguments(parser: CommandParser) -> None:
    """Add the address."""
    parser.add_argument("--host", metavar="NAME", help="address to listen at (default: this machine alone)")
    parser.add_argument("--port", type=int, metavar="N", help="port (default: the first free one from 7860)")


def usage_error(options: argparse.Namespace) -> str | None:
    """The reason why the address is none, if it is not."""
    if options.host is not None and not options.host.strip():
        return f"--host must be the name of an address, got {options.host!r}"
    if options.port is not None and not 0 < options.port < 65536:
        return f"--port must be a number from 1 to 65535, got {options.port}"
    return None


def run(options: argparse.Namespace) -> None:
    """Serve the page until it is interrupted."""
    import_gradio()
    if options.host is not None:
        _check_host(options.host)
    # by its name: no host imports another
    page = importlib.import_module("mauve_metric.hosts.space.page")
    try:
        page.main(server_name=options.host, server_port=options.port)
    except OSError as error:
        if options.port is None:
            raise
        said = f"must be free, and {options.port} cannot be listened at: give another one, or leave it out"
        raise WrongOption.of("port", said) from error


def _check_host(host: str) -> None:
    """Refuse an address at which this machine cannot listen."""
    try:
        family = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][0]
        socket.create_server((host, 0), family=family).close()
    except (OSError, ValueError) as error:
        said = f"must be an address of this machine, such as 0.0.0.0 for all of them, got {shown(host)}"
        raise WrongOption.of("host", said) from error
