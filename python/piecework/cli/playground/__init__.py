"""A local web page to see how tokenizers split a text. Requires `piecework[serve]`.

`piecework serve TOKENIZER...` runs it. `create_app` returns the page as an ASGI application, for a server of
your own.
"""

from piecework.cli.playground.application import create_app

__all__ = ["create_app"]
