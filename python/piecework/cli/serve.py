"""`piecework serve`: a local web page to see how tokenizers split a text."""

from __future__ import annotations

import socket
from functools import partial

import click

from piecework._internal.extras import import_extra
from piecework.cli.parameters import InputFile, command, option
from piecework.cli.tokenizer_options import Hints, names_of_files, tokenizer_options, try_each

_HOST = "127.0.0.1"
_EXAMPLE = """\b
Example:
  piecework serve tokenizer.json
  piecework serve bert.json gpt2.json spiece.model --open
"""


@command(epilog=_EXAMPLE)
@click.argument("tokenizers", nargs=-1, required=True, metavar="TOKENIZER...", type=InputFile())
@option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; another free port if it is in use or 0.",
)
@option("--open", "open_page", is_flag=True, help="Open the page in the browser.")
@partial(tokenizer_options, argument="Each TOKENIZER")
def serve(tokenizers: tuple[str, ...], port: int, open_page: bool, hints: Hints) -> None:
    """Serve a local page that shows the tokens of a text.

    The command runs until Ctrl-C. Several TOKENIZERs are shown side by side. A TOKENIZER that does not load
    is shown with its error. This command needs the extra serve.
    """
    uvicorn = import_extra("uvicorn", "serve", "playground")  # before tokenizers take their time
    from piecework.cli.playground import create_app

    app = create_app(try_each(names_of_files(tokenizers), hints))
    config = uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
    try:
        listener = socket.create_server((_HOST, port))
    except OSError:
        listener = socket.create_server((_HOST, 0))
    with listener:
        address = f"http://{_HOST}:{listener.getsockname()[1]}/"
        click.echo(f"piecework playground at {address} (Ctrl-C ends it)")
        if open_page:
            click.launch(address)
        uvicorn.Server(config).run(sockets=[listener])
