"""The BERT pipeline of the reference against `unicodedata` and `tokenizers`."""

from __future__ import annotations

import unicodedata

import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from piecework.reference import bert
from piecework.reference.aligned import align, as_text
from piecework.reference.unicode_forms import normal_form
from piecework.spec import BertNormalizer

# Characters whose properties are equal in all Unicode versions of the libraries.
LETTERS = "aAzZ .,!'$-éÉñÅßİıΣςжЖ北力가각がギ\u0301\u0323\u0300\u200b\u200d\u00ad\u00a0\t\n\x07\0\ufffdﬁＡ🚀"
texts = st.text(st.sampled_from(LETTERS), max_size=20)


@given(texts)
def test_aligned_decomposition_is_nfd(text: str) -> None:
    assert as_text(normal_form(align(text), "NFD")) == unicodedata.normalize("NFD", text)


@given(texts, st.booleans(), st.booleans(), st.sampled_from([None, True, False]), st.booleans())
def test_normalized_text_equals_tokenizers(
    text: str, clean: bool, cjk: bool, strip: bool | None, lower: bool
) -> None:
    published = tokenizers.normalizers.BertNormalizer(clean, cjk, strip, lower)
    normalized = bert.normalize(align(text), BertNormalizer(clean, cjk, strip, lower))
    assert as_text(normalized) == published.normalize_str(text)


@given(texts)
def test_words_and_spans_equal_tokenizers(text: str) -> None:
    published = tokenizers.pre_tokenizers.BertPreTokenizer()
    assert bert.pre_tokenize(align(text)) == published.pre_tokenize_str(text)


@given(texts)
def test_spans_never_decrease(text: str) -> None:
    origins = [origin for _, origin in bert.normalize(align(text), BertNormalizer())]
    assert origins == sorted(origins)
