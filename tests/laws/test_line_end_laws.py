"""The patterns `cl100k-nl` and `o200k-nl` split line ends from symbols, and change nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import piecework as pw
from piecework.analysis.entry_bytes import vocabulary_entries
from piecework.spec import NAMED_PATTERNS, named_pre_tokenizer
from tests.component_engines import CORE, REFERENCE
from tests.differential.ranks import read_ranks

NAMES = ("cl100k-nl", "o200k-nl")
names = pytest.mark.parametrize("name", NAMES)
texts = st.text("\n\n\n\r/;;){ \t\u3000\u2028aB's1é漢\u0301", max_size=60)
CODE = 'def f(x):\n    """One\r\n\r\n  two."""\n\n    return [x, {}];\n//\n/* */\n\t}  \n \n' * 9


def words(name: str, text: str) -> list[str]:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), pre_tokenizer=named_pre_tokenizer(name))
    return [text[start:end] for _, (start, end) in tok.pre_tokenize(text)]


def trained(name: str, model: str) -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator([CODE], model=model, preset=name, vocab_size=290)


@names
@given(text=texts)
def test_core_equals_the_reference(name: str, text: str) -> None:
    stage = named_pre_tokenizer(name)
    assert CORE.pieces(stage, text) == REFERENCE.pieces(stage, text)


@names
@given(text=texts)
def test_only_whitespace_is_joined_to_a_line_end(name: str, text: str) -> None:
    for word in words(name, text):
        assert not word.strip() or not {"\n", "\r"} & set(word)


@names
@given(text=texts)
def test_lines_are_split_as_by_the_pattern_with_line_ends(name: str, text: str) -> None:
    for line in re.split(r"[\r\n]+", text):
        assert words(name, line) == words(name.removesuffix("-nl"), line)


@names
@pytest.mark.parametrize("model", ["byte-bpe", "byte-unigram"])
def test_a_saved_tokenizer_has_no_such_entry_and_the_same_ids_in_tokenizers(
    name: str, model: str
) -> None:
    tok = trained(name, model)
    ends = [entry.data for entry in vocabulary_entries(tok) if b"\n" in entry.data]
    assert any(len(data) > 1 for data in ends)
    assert all(not data.strip() for data in ends)
    theirs = Tokenizer.from_str(tok.to_str())
    for text in (CODE, *(CODE[at : at + 40] for at in range(80))):
        assert tok.encode(text).ids == theirs.encode(text).ids
        assert tok.decode(tok.encode(text).ids) == text


@names
def test_saved_ranks_have_the_same_ids_in_tiktoken(name: str, tmp_path: Path) -> None:
    tok = trained(name, "byte-bpe")
    path = tmp_path / "ranks.tiktoken"
    tok.save(path)
    again = pw.Tokenizer.load(path, pattern=name, special_tokens={})
    theirs = tiktoken.Encoding(
        name,
        pat_str=NAMED_PATTERNS[name][0],
        mergeable_ranks=read_ranks(path),
        special_tokens={},
    )
    for text in (CODE, *(CODE[at : at + 40] for at in range(80))):
        assert again.encode(text).ids == theirs.encode_ordinary(text)
        # The rank file leaves out the special token, which has the first id.
        assert tok.encode(text).tokens == again.encode(text).tokens
