"""pyarrow, polars, DuckDB, pandas, scikit-learn and spaCy get the ids and tokens of their texts."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import ArgumentError, InputTypeError, InvalidUtf8Error
from piecework.train import Merges

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
from piecework.integrations.arrow import count_column, encode_column  # noqa: E402

TEXTS = ["hugs pug", None, "", "a rather long text, beyond a view", "žába 蛙 🐸", None, "hugs pug"]
TOK = pw.Tokenizer.train_from_iterator(["hug hugs pug pun bun"] * 5, vocab_size=26)


def expected_ids(texts: list[str | None]) -> list[list[int] | None]:
    return [None if text is None else TOK.encode(text).ids for text in texts]


def expected_counts(texts: list[str | None]) -> list[int | None]:
    return [None if text is None else TOK.count(text) for text in texts]


COLUMNS: dict[str, Callable[[list[str | None]], Any]] = {
    "list": list,
    "string": lambda texts: pa.array(texts, pa.string()),
    "large_string": lambda texts: pa.array(texts, pa.large_string()),
    "string_view": lambda texts: pa.array(texts, pa.string_view()),
    "dictionary": lambda texts: pa.array(texts, pa.string()).dictionary_encode(),
    "slice": lambda texts: pa.array(["x", None, *texts, "y"]).slice(2, len(texts)),
    "numpy": lambda texts: np.array(texts, dtype=object),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize(
    "texts",
    [TEXTS, [text for text in TEXTS if text is not None], [None, None], []],
    ids=["some", "no null", "only nulls", "none"],
)
def test_columns_keep_nulls(kind: str, texts: list[str | None]) -> None:
    column = COLUMNS[kind](texts)
    ids = encode_column(TOK, column)
    assert ids.to_pylist() == expected_ids(texts)
    ids.validate(full=True)
    assert str(ids.type) == "list<item: uint32>"
    counts = count_column(TOK, column)
    assert counts.to_pylist() == expected_counts(texts)
    assert counts.type == pa.uint32()


@given(st.lists(st.none() | st.sampled_from(["hug", "pugs", "", "ž bun"]), max_size=12), st.data())
def test_chunks_and_dictionaries_of_any_shape(texts: list[str | None], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(texts)), max_size=3)))
    pieces = [texts[start:end] for start, end in zip([0, *cuts], [*cuts, len(texts)], strict=True)]
    chunked = pa.chunked_array(pieces, pa.string())
    for column in (chunked, chunked.dictionary_encode()):
        ids = encode_column(TOK, column)
        assert ids.to_pylist() == expected_ids(texts)
        assert [len(chunk) for chunk in ids.chunks] == [
            len(chunk) for chunk in column.chunks or [[]]
        ]


def test_settings_of_encode_batch_apply() -> None:
    column = pa.array(["hug", None])
    assert (
        encode_column(TOK, column, add_special_tokens=False)[0].as_py()
        == TOK.encode("hug", add_special_tokens=False).ids
    )
    padded = TOK.with_padding()
    assert encode_column(padded, pa.array(["hug", "hug pug"])).to_pylist() == expected_ids(
        ["hug", "hug pug"]
    )


@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        (pa.array([1, 2]), ArgumentError, "column: must contain strings, not values of type int64"),
        (pa.array([1, 2]).dictionary_encode(), ArgumentError, "values of type int64"),
        (
            pa.table({"text": ["a"]}),
            ArgumentError,
            "column: must contain strings, not values of type struct<text: string>",
        ),
        ("hug", InputTypeError, "column: must be .*, not str"),
        ([1, "a"], ArgumentError, "column: must be .*, not list"),
        (7, ArgumentError, "column: must be .*, not int"),
    ],
    ids=str,
)
def test_columns_without_strings_are_errors(
    column: Any, error: type[Exception], message: str
) -> None:
    for function in (encode_column, count_column):
        with pytest.raises(error, match=message):
            function(TOK, column)


def test_another_tokenizer_is_an_error_at_once() -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    pytest.importorskip("polars", reason="needs polars")
    from piecework.integrations.duckdb import register
    from piecework.integrations.polars import count_expr, encode_expr

    calls: list[Callable[[Any], object]] = [
        encode_expr,
        count_expr,
        lambda tok: register(duckdb.connect(), tok),
        lambda tok: encode_column(tok, ["a"]),
        lambda tok: count_column(tok, ["a"]),
    ]
    for call in calls:
        with pytest.raises(InputTypeError, match="tokenizer: must be a Tokenizer, not str"):
            call("tokenizer.json")


def test_counts_of_a_column_equal_those_of_its_texts() -> None:
    texts = [text for text in TEXTS if text is not None]
    polars = pytest.importorskip("polars", reason="needs polars")
    expected = pw.count_texts(texts)
    for column in (
        pa.array(texts),
        pa.chunked_array([texts[:2], texts[2:]]),
        polars.Series(texts),
        np.array([text.encode() for text in texts]),
    ):
        counts = pw.count_texts(column)
        assert counts == expected
        assert counts.first.tolist() == expected.first.tolist()
        sampled = pw.count_texts(column, sentences=pw.train.Sentences(size=3))
        assert sampled == pw.count_texts(texts, sentences=pw.train.Sentences(size=3))
    with pytest.raises(InputTypeError, match=r"texts\[1\]: must be .*, not null"):
        pw.count_texts(pa.array(["a", None]))
    with pytest.raises(InvalidUtf8Error, match=r"texts\[0\]"):
        pw.count_texts(np.array([b"\xff"]))


def test_training_on_a_column() -> None:
    texts = ["hug hugs pug pun bun"] * 5
    expected = pw.Tokenizer.train_from_iterator(texts, vocab_size=26, learner=Merges("frequency"))
    for column in (pa.array(texts), np.array([text.encode() for text in texts])):
        learned = pw.Tokenizer.train_from_iterator(
            column, vocab_size=26, learner=Merges("frequency")
        )
        assert learned.to_str() == expected.to_str()


# ---- polars


def test_expressions_of_polars() -> None:
    pl = pytest.importorskip("polars", reason="needs polars")
    from piecework.integrations.polars import count_expr, encode_expr

    frame = pl.DataFrame({"text": TEXTS, "n": range(len(TEXTS))})
    for column in ("text", pl.col("text"), pl.col("text").cast(pl.Categorical)):
        found = frame.with_columns(ids=encode_expr(TOK, column), tokens=count_expr(TOK, column))
        assert found.schema["ids"] == pl.List(pl.UInt32)
        assert found.schema["tokens"] == pl.UInt32
        assert found["ids"].to_list() == expected_ids(TEXTS)
        assert found["tokens"].to_list() == expected_counts(TEXTS)
    lazy = frame.lazy().filter(count_expr(TOK) > 3).select("n", ids=encode_expr(TOK))
    numbers = [n for n, count in enumerate(expected_counts(TEXTS)) if (count or 0) > 3]
    for engine in ("in-memory", "streaming"):
        assert sorted(lazy.collect(engine=engine)["n"].to_list()) == numbers
    upper = frame.select(encode_expr(TOK, pl.col("text").str.to_uppercase()))
    assert upper["text"].to_list() == expected_ids([text and text.upper() for text in TEXTS])
    with pytest.raises(Exception, match="values of type int64"):
        frame.select(encode_expr(TOK, "n"))


# ---- DuckDB


def test_functions_of_duckdb(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    from piecework.integrations.duckdb import register

    connection = duckdb.connect()
    register(connection, TOK)
    register(connection, TOK, prefix="bare_", add_special_tokens=False)
    many = TEXTS * 1000
    table = pa.table({"text": pa.array(many), "n": range(len(many))})
    connection.register("rows_of_arrow", table)
    found = connection.sql(
        "SELECT encode_text(text), count_tokens(text), bare_count_tokens(text) "
        "FROM rows_of_arrow ORDER BY n"
    ).fetchall()
    assert [row[0] for row in found] == expected_ids(TEXTS) * 1000
    assert [row[1] for row in found] == expected_counts(TEXTS) * 1000
    assert found[0][2] == TOK.count("hugs pug", add_special_tokens=False)
    total = connection.sql("SELECT sum(count_tokens(text)) FROM rows_of_arrow").fetchall()
    assert total[0][0] == 1000 * sum(count or 0 for count in expected_counts(TEXTS))
    with pytest.raises(
        ArgumentError, match="prefix: '': the function count_tokens exists; use another prefix"
    ):
        register(connection, TOK)


# ---- pandas


@pytest.mark.parametrize("dtype", ["str", "object", "category", "string[pyarrow]"])
def test_series_of_pandas(dtype: str) -> None:
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    from piecework.integrations.pandas import count_series, encode_series

    index = list(range(10, 10 + len(TEXTS)))
    series = pandas.Series(TEXTS, index=index, name="text", dtype=dtype)
    ids = encode_series(TOK, series)
    assert (ids.name, list(ids.index)) == ("text", index)
    assert [None if value is pandas.NA else list(value) for value in ids] == expected_ids(TEXTS)
    counts = count_series(TOK, series)
    assert [None if value is pandas.NA else value for value in counts] == expected_counts(TEXTS)
    assert counts.max() == max(count or 0 for count in expected_counts(TEXTS))
    frame = series.to_frame().assign(tokens=counts)
    assert frame.loc[frame.tokens > 3, "text"].tolist() == [
        text for text, count in zip(TEXTS, expected_counts(TEXTS), strict=True) if (count or 0) > 3
    ]
    with pytest.raises(InputTypeError, match="texts: must be a pandas Series, not list"):
        encode_series(TOK, ["a"])


@pytest.mark.parametrize("dtype", ["str", "object", "category"])
def test_series_of_pandas_without_pyarrow(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # what `import pyarrow` finds
    texts = [text for text in TEXTS if text is not None]
    series = pandas.Series(texts, index=range(10, 10 + len(texts)), dtype=dtype)
    assert TOK.encode_batch(series).to_lists() == expected_ids(texts)
    assert list(TOK.count_batch(series)) == expected_counts(texts)
    assert pw.count_texts(series) == pw.count_texts(texts)
    with pytest.raises(InputTypeError, match=r"texts\[1\]: must be str, not int"):
        TOK.encode_batch(pandas.Series(["a", 1], dtype=object))
    with pytest.raises(
        InputTypeError, match="texts: must be a column of strings, .* not DataFrame"
    ):
        TOK.encode_batch(series.to_frame())


# ---- scikit-learn


def test_tokenize_is_an_analyzer_of_scikit_learn() -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text", reason="needs scikit-learn")
    base = pytest.importorskip("sklearn.base", reason="needs scikit-learn")

    documents = ["hug hug pug", "bun pug", ""]
    vectorizer = text.CountVectorizer(analyzer=TOK.tokenize)
    counts = vectorizer.fit_transform(documents)
    names = list(vectorizer.get_feature_names_out())
    for row, document in enumerate(documents):
        tokens = TOK.encode(document, add_special_tokens=False).tokens
        assert counts[row].toarray()[0].tolist() == [tokens.count(name) for name in names]
    for same in (pickle.loads(pickle.dumps(vectorizer)), base.clone(vectorizer).fit(documents)):
        assert (same.transform(documents) != counts).nnz == 0


# ---- spaCy


def bytes_tokenizer() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(
        ["hug hugs  pug\npun bun"] * 5, model="byte-bpe", vocab_size=270
    )


@given(st.text(st.sampled_from("hugs pu\n\t ž🐸\u3000"), max_size=20))
def test_documents_of_spacy_keep_their_text(text: str) -> None:
    spacy = pytest.importorskip("spacy", reason="needs spacy")
    from piecework.integrations.spacy import doc_tokenizer

    vocab = spacy.blank("en").vocab
    for tok in (TOK, BYTES):
        document = doc_tokenizer(vocab, tok)(text)
        assert document.text == text
        spans = tok.encode(text, add_special_tokens=False).offsets
        found = [token.text for token in document if not token.is_space]
        if tok is TOK:
            assert found == [text[start:end] for start, end in spans]
        else:
            # Several bytes of a character are one token, and spaces are split off.
            parts = [text[start:end].strip() for start, end in dict.fromkeys(spans)]
            assert "".join(found) == "".join(parts).replace(" ", "")


BYTES = bytes_tokenizer()


def test_a_pipeline_of_spacy_is_saved_with_its_tokenizer(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy", reason="needs spacy")
    TOK.save(tmp_path / "tok.json")
    config = {
        "nlp": {
            "tokenizer": {
                "@tokenizers": "piecework.Tokenizer.v1",
                "path": str(tmp_path / "tok.json"),
            }
        }
    }
    from piecework.integrations import spacy as on_spacy

    spacy.registry.tokenizers("piecework.Tokenizer.v1", func=on_spacy.doc_tokenizer_of_config)
    nlp = spacy.blank("en", config=config)
    nlp.add_pipe("sentencizer")
    texts = ["hugs pug. bun", "pun"]
    words = [[token.text for token in document] for document in nlp.pipe(texts)]
    assert words[0][-1] == "bun"
    nlp.to_disk(tmp_path / "nlp")
    same = spacy.load(tmp_path / "nlp")
    assert [[token.text for token in document] for document in same.pipe(texts)] == words
    with pytest.raises(InputTypeError, match="tokenizer: must be .*, not str"):
        on_spacy.doc_tokenizer(nlp.vocab, "gpt2")  # type: ignore[arg-type]


@given(st.text(st.sampled_from("hugs pu.\n'n ž🐸"), max_size=24))
def test_alignment_is_overlap(text: str) -> None:
    pytest.importorskip("spacy", reason="needs spacy")
    from piecework.integrations.spacy import align

    document = NLP(text)
    for tok in (TOK, BYTES):
        spans = tok.encode(text).offsets
        assert align(document, tok.encode(text)) == [
            [
                index
                for index, (start, end) in enumerate(spans)
                if start < token.idx + len(token.text) and token.idx < end and start < end
            ]
            for token in document
        ]
    with pytest.raises(ArgumentError, match="its offsets end after the document"):
        align(NLP("hug"), TOK.encode("hug pug"))


NLP = pytest.importorskip("spacy", reason="needs spacy").blank("en")
