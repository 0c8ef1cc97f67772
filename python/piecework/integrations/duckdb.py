"""SQL functions of DuckDB that encode texts and count tokens. Requires `piecework[duckdb]`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import piecework as pw
from piecework._internal.extras import import_extra
from piecework._internal.validation import check_tokenizer
from piecework.errors import ArgumentError
from piecework.integrations.arrow import count_column, encode_column


def register(
    connection: Any,
    tokenizer: pw.Tokenizer,
    *,
    prefix: str = "",
    add_special_tokens: bool = True,
) -> None:
    """Create the functions `encode_text(VARCHAR) -> UINTEGER[]` and `count_tokens(VARCHAR) -> UINTEGER`.

    >>> import duckdb, piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> connection = duckdb.connect()
    >>> register(connection, tok)
    >>> connection.sql("SELECT encode_text('ab'), count_tokens('ab'), count_tokens(NULL)").fetchall()
    [([1, 2], 2, None)]

    The functions of a second tokenizer need a `prefix` of their names. A null returns null. DuckDB passes
    vectors of 2,048 rows, each of which one thread encodes. Raises `MissingExtraError` without DuckDB or
    pyarrow, `InputTypeError` for another tokenizer, and `ArgumentError` for a prefix whose functions exist.
    """
    duckdb = import_extra("duckdb", "duckdb")
    import_extra("pyarrow", "duckdb")
    check_tokenizer(tokenizer)
    options: dict[str, Any] = {"add_special_tokens": add_special_tokens, "num_threads": 1}
    functions: dict[str, tuple[Callable[..., Any], str]] = {
        "encode_text": (partial(encode_column, tokenizer, **options), "UINTEGER[]"),
        "count_tokens": (partial(count_column, tokenizer, **options), "UINTEGER"),
    }
    names = [prefix + name for name in functions]
    query = "SELECT function_name FROM duckdb_functions() WHERE list_contains(?, function_name)"
    if existing := connection.execute(query, [names]).fetchone():
        problem = f"{prefix!r}: the function {existing[0]} exists; use another prefix"
        raise ArgumentError("prefix", problem)
    for name, (function, kind) in functions.items():
        connection.create_function(
            prefix + name,
            _of_one_column(function),
            [duckdb.sqltype("VARCHAR")],
            duckdb.sqltype(kind),
            type="arrow",
            null_handling="special",
        )


def _of_one_column(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return a function with one parameter, as DuckDB's check of signatures requires."""

    def call(texts: Any) -> Any:
        return function(texts)

    return call
