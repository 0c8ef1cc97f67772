"""`piecework serve`: a local web page to see how tokenizers split a text."""

from __future__ import annotations

from functools import partial

import click

import piecework as pw
from piecework.cli.parameters import InputFile, command, option
from piecework.cli.tokenizer_options import Hints, names_of_files, tokenizer_options, try_each

_EXAMPLE = """\b
Example:
  piecework serve tokenizer.json
  piecework serve bert.json gpt2.json spiece.model --open
"""


@command(epilog=_EXAMPLE)
@click.argument("tokenizers", nargs=-1, required=True, metavar="TOKENIZER...", type=InputFile())
@option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="NAME",
    help="Address to listen on. If other machines can reach it, the page needs the token of the printed "
    "address.",
)
@option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; one in use is replaced by the next free one, 0 by any.",
)
@option("--open", "open_page", is_flag=True, help="Open the page in the browser.")
@partial(tokenizer_options, argument="Each TOKENIZER")
def serve(tokenizers: tuple[str, ...], host: str, port: int, open_page: bool, hints: Hints) -> None:
    """Serve a local web page that shows the tokens of a text, until Ctrl-C.

    Several TOKENIZERs are shown side by side. A TOKENIZER that does not load is shown with its error. This
    command needs the extra serve.
    """
    from piecework.playground import serve as serve_page
    from piecework.playground.server import check_extra

    check_extra()  # before tokenizers take their time to load

    def ready(address: str) -> None:
        click.echo(f"piecework playground at {address} (Ctrl-C ends it)")
        if open_page:
            click.launch(address)

    loaded: dict[str, pw.Tokenizer | pw.PieceworkError] = try_each(
        names_of_files(tokenizers), hints
    )
    serve_page(loaded, host=host, port=port, ready=ready)
