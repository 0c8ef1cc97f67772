"""Strings that are not ASCII are read where Python stores them, with the ids of their UTF-8."""

from __future__ import annotations

import sys
import sysconfig

import pytest

import piecework as pw

# One string of each size of code unit: Latin-1, typographic quotes, Greek, Chinese, emoji.
TEXTS = (
    "café crème, déjà vu",
    "“It’s here”, he said – twice.",
    "καλημέρα κόσμε",
    "你好,世界。再见",
    "so 😀 and 🤖 and a’b",
)
EVERY_LENGTH = [text[:length] for text in TEXTS for length in range(len(text) + 1)]
LONG = [text * 700 for text in TEXTS]


class Text(str):
    """A subclass of str, whose memory is another."""


def tokenizer() -> pw.Tokenizer:
    """Return a byte-level tokenizer with merges."""
    return pw.Tokenizer.train_from_iterator(TEXTS * 5, vocab_size=330, model="byte-bpe")


def new(text: str) -> str:
    """Return a string of the same text without a UTF-8 form."""
    return text.encode().decode()


def with_utf8(text: str) -> str:
    """Return a string whose UTF-8 form was made, as other code that asks for UTF-8 does."""
    made = new(text)
    tokenizer().normalize(made)
    return made


@pytest.mark.parametrize("offsets", [False, True])
@pytest.mark.parametrize("num_threads", [1, 2])
def test_ids_equal_those_of_the_utf8_bytes(offsets: bool, num_threads: int) -> None:
    tok = tokenizer()
    texts = [*EVERY_LENGTH, *LONG]
    pa = pytest.importorskip("pyarrow")
    settings = {"offsets": offsets, "num_threads": num_threads}
    expected = tok.encode_batch(pa.array(texts), **settings)
    found = tok.encode_batch([new(text) for text in texts], **settings)
    assert found == expected
    assert tok.count_batch([new(text) for text in texts]) == expected.lengths.tolist()
    assert [tok.encode(new(text)).ids for text in texts] == expected.to_lists()


def test_other_strings_have_the_same_ids() -> None:
    tok = tokenizer()
    for text in TEXTS:
        expected = tok.encode(text.encode().decode()).ids
        for other in (Text(text), with_utf8(text), sys.intern(new(text))):
            assert tok.encode_batch([other]).to_lists() == [expected]


@pytest.mark.skipif(
    not (3, 10) <= sys.version_info[:2] <= (3, 14)
    or sysconfig.get_config_var("Py_GIL_DISABLED") == 1,
    reason="the layout of strings is unknown",
)
def test_no_utf8_form_is_left_behind() -> None:
    tok = tokenizer()
    for text in TEXTS:
        texts = [new(text)]
        before = sys.getsizeof(texts[0])
        tok.encode_batch(texts)
        tok.encode(texts[0])
        tok.count_batch(texts)
        assert sys.getsizeof(texts[0]) == before
        tok.normalize(texts[0])
        assert sys.getsizeof(texts[0]) > before


@pytest.mark.parametrize("surrogates", [(0xD800,), (0xDFFF,), (0xD83D, 0xDE00)])
@pytest.mark.parametrize("around", ["", "a" * 40, "’" * 40, "😀" * 9])
def test_surrogates_are_refused(surrogates: tuple[int, ...], around: str) -> None:
    tok = tokenizer()
    bad = around + "".join(map(chr, surrogates)) + around
    with pytest.raises(
        pw.errors.ArgumentError, match=r"texts\[1\]: must be .*, not a lone surrogate"
    ):
        tok.encode_batch(["a", bad, "b"])
    with pytest.raises(
        pw.errors.ArgumentError, match=r"texts\[1\]: must be .*, not a lone surrogate"
    ):
        tok.count_batch(["a", bad])
    with pytest.raises(pw.errors.ArgumentError, match="text: must be .*, not a lone surrogate"):
        tok.encode(bad)
    assert tok.encode_batch(["a", "b"]).to_lists() == [tok.encode("a").ids, tok.encode("b").ids]
