"""The encodings give what tiktoken gives: tokens, bytes, offsets, completions and errors."""

from __future__ import annotations

import itertools
import os
import pickle
import random
import site
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import tiktoken
import tiktoken.model
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.compat import tiktoken as shaped
from tests.differential import peer
from tests.differential.ranks import NAMES, assert_same, ours, rank_file, theirs, tiny

FULL = bool(os.environ.get("PIECEWORK_FULL"))
FAMILIES = ("r50k_base", "p50k_base", "cl100k_base", "o200k_base")


@cache
def code() -> list[str]:
    """Python sources of the installed packages."""
    sources = sorted(path for root in site.getsitepackages() for path in Path(root).rglob("*.py"))
    chosen = sources if FULL else random.Random(1).sample(sources, min(40, len(sources)))
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in chosen)
    return [document for text in texts for document in peer.documents(text, 8000)]


# ---- text to tokens


@pytest.mark.parametrize("name", FAMILIES, scope="module")
def test_corpora_give_the_same_tokens(name: str) -> None:
    assert assert_same(ours(name), theirs(name), peer.sample_documents(40)) > 50_000


@pytest.mark.parametrize("name", FAMILIES, scope="module")
def test_code_gives_the_same_tokens(name: str) -> None:
    assert assert_same(ours(name), theirs(name), code()) > 50_000


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES, scope="module")
def test_code_points_give_the_same_tokens(name: str) -> None:
    chosen = peer.code_points(FAMILIES.index(name), 5 * len(FAMILIES))
    for frame in ("{}", "a{}b", " {} ", "'{}\n", "1{}2", "A{}{}"):
        assert_same(ours(name), theirs(name), [frame.replace("{}", c) for c in chosen])


@pytest.mark.parametrize("name", FAMILIES, scope="module")
def test_other_cuts_of_the_same_text_give_the_same_tokens(name: str) -> None:
    rng = random.Random(3)
    texts = []
    for document in peer.sample_documents(40)[:: 1 if FULL else 10]:
        cuts = sorted(rng.randrange(len(document) + 1) for _ in range(8))
        texts += [document[start:end] for start, end in itertools.pairwise(cuts)]
    assert_same(ours(name), theirs(name), texts)


PIECES = st.sampled_from(
    ["'s", "'LL", "'ſ", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "a", "Abc", "DEF", "é",
     "e\u0301", "ß", "ǅ", "ʰ", "漢字", "かな", "한국", "हिन्दी", "1", "12345", "½", "٣", "!", "...",
     "/", "//\n", "_", "-", "😀", "👩‍👩‍👧", "\u200d", "\0", "<|endoftext|>", "<|"]
)  # fmt: skip


@pytest.mark.parametrize("name", FAMILIES, scope="module")
@settings(max_examples=3000 if FULL else 60)
@given(
    texts=st.lists(st.one_of(st.lists(PIECES, max_size=12).map("".join), st.text()), max_size=20)
)
def test_random_text_gives_the_same_tokens(name: str, texts: list[str]) -> None:
    assert_same(ours(name), theirs(name), texts)


@pytest.mark.parametrize("name", FAMILIES, scope="module")
def test_long_runs_give_the_same_tokens(name: str) -> None:
    runs = ["a", "A", " ", "\n", " \n", "1", "!", "é", "漢", "ab", "'s", "\u0301"]
    texts = [run * count for run in runs for count in (7, 64, 1001)]
    texts += [f"x{text}y" for text in texts]
    assert_same(ours(name), theirs(name), texts)


@pytest.mark.parametrize("name", FAMILIES, scope="module")
def test_random_bytes_as_one_piece_give_the_same_tokens(name: str) -> None:
    rng = random.Random(11)
    known = theirs(name).token_byte_values()
    for _ in range(300):
        whole = b"".join(rng.choice(known) for _ in range(rng.randint(1, 6)))
        assert ours(name)._encode_single_piece(whole) == theirs(name)._encode_single_piece(whole)


@settings(max_examples=500 if FULL else 60)
@given(data=st.data())
def test_random_ranks_give_the_same_tokens(data: st.DataObject) -> None:
    """Ranks of no learner: parts ranked after the whole, tokens that are never formed, gaps."""
    words = st.binary(min_size=2, max_size=6).map(lambda word: bytes(97 + b % 3 for b in word))
    longer = data.draw(st.lists(words, unique=True, max_size=25))
    ids = data.draw(st.permutations(range(256, 256 + 2 * len(longer))))
    ranks = tiny(dict(zip(longer, ids, strict=False)))
    texts = data.draw(st.lists(st.text("abc ", max_size=30), max_size=10))
    facts = {"pat_str": r"\w+|\s+", "mergeable_ranks": ranks, "special_tokens": {}}
    assert_same(shaped.Encoding("random", **facts), tiktoken.Encoding("random", **facts), texts)


# ---- special tokens


@pytest.mark.parametrize("name", NAMES, scope="module")
def test_special_tokens_are_allowed_rejected_or_text_as_in_tiktoken(name: str) -> None:
    special = sorted(theirs(name).special_tokens_set)[:4]
    text = f"a{special[0]} b {special[-1]}<|endoftext|>\n<|nothing|>"
    choices = [{}, {"allowed_special": "all"}, {"disallowed_special": ()}]
    choices += [{"allowed_special": {special[0]}}]
    choices += [{"allowed_special": {special[0]}, "disallowed_special": ()}]
    choices += [{"disallowed_special": {"<|nothing|>"}}, {"disallowed_special": {"zebra"}}]
    choices += [{"allowed_special": {"zebra"}, "disallowed_special": ()}]
    for choice in choices:
        results = []
        for enc in (ours(name), theirs(name)):
            try:
                results.append(enc.encode(text, **choice))
            except ValueError as error:
                results.append(type(error).__mro__[-4:-1] and "refused")
        assert results[0] == results[1], choice


def test_refusal_names_the_token_and_the_way_out() -> None:
    with pytest.raises(pw.errors.SpecialTokenError, match=r"'<\|endoftext\|>'.*allowed_special="):
        ours("cl100k_base").encode("a <|endoftext|>")
    tok = ours("cl100k_base").tokenizer
    for call in (tok.encode, tok.count, lambda text: tok.encode_batch(["fine", text])):
        with pytest.raises(ValueError, match=r"'<\|endoftext\|>'; pass True"):
            call("a <|endoftext|>")
    assert tok.encode("<|endoftext|>", parse_special=True).ids == [100257]
    assert len(tok.encode("<|endoftext|>", parse_special=False).ids) > 1
    assert tok.encode("<|endoftext|>", parse_special={"<|endoftext|>"}).ids == [100257]


# ---- tokens to text


@pytest.mark.parametrize("name", FAMILIES, scope="module")
def test_decoding_gives_the_same_bytes_text_and_offsets(name: str) -> None:
    mine, other = ours(name), theirs(name)
    rng = random.Random(5)
    known = [id for id in range(other.n_vocab) if _is_token(other, id)]
    rows = [rng.choices(known, k=rng.randint(0, 12)) for _ in range(1000)]
    assert mine.decode_bytes_batch(rows) == other.decode_bytes_batch(rows)
    for errors in ("replace", "ignore", "backslashreplace"):
        assert mine.decode_batch(rows, errors=errors) == other.decode_batch(rows, errors=errors)
    for row in rows[:200]:
        assert mine.decode_tokens_bytes(row) == other.decode_tokens_bytes(row)
    for text in peer.sample_documents(40)[:20]:
        ids = other.encode_ordinary(text)
        assert mine.decode(ids) == text
        assert mine.decode_with_offsets(ids) == other.decode_with_offsets(ids)


def _is_token(enc: tiktoken.Encoding, id: int) -> bool:
    try:
        enc.decode_single_token_bytes(id)
    except KeyError:
        return False
    return True


@pytest.mark.parametrize("name", NAMES, scope="module")
def test_every_token_has_the_same_bytes_and_number(name: str) -> None:
    mine, other = ours(name), theirs(name)
    assert mine.token_byte_values() == other.token_byte_values()
    assert (mine.n_vocab, mine.max_token_value) == (other.n_vocab, other.max_token_value)
    assert (mine.name, mine.eot_token) == (other.name, other.eot_token)
    assert mine.special_tokens_set == other.special_tokens_set
    for whole in [*other.token_byte_values()[::97], *other.special_tokens_set]:
        id = other.encode_single_token(whole)
        assert mine.encode_single_token(whole) == id
        assert mine.is_special_token(id) == other.is_special_token(id)


@pytest.mark.parametrize("name", FAMILIES, scope="module")
def test_unknown_tokens_raise_key_errors_in_both(name: str) -> None:
    for enc in (ours(name), theirs(name)):
        for call in (
            lambda enc=enc: enc.encode_single_token("no such token at all"),
            lambda enc=enc: enc.decode_single_token_bytes(10**6),
            lambda enc=enc: enc.decode_bytes([0, 10**6]),
            lambda enc=enc: enc.decode([10**6]),
            lambda enc=enc: enc.decode_tokens_bytes([10**6]),
        ):
            with pytest.raises(KeyError):
                call()
        with pytest.raises(UnicodeDecodeError):
            enc.decode([enc.encode_single_token(b"\xff")], errors="strict")


# ---- the rest of the interface


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES, scope="module")
def test_unstable_encodings_have_the_same_completions(name: str) -> None:
    texts = [
        "hello fanta",
        "hello",
        "",
        "a\n\n",
        "x  ",
        "1",
        "def f",
        "it'",
        "naïve 漢",
        "<|endoftext|>",
    ]
    texts += ["hello <|endoftext|>", " \n \t ", "end. ", "é", "//", "😀"]
    for text in texts:
        mine = ours(name).encode_with_unstable(text, allowed_special="all")
        other = theirs(name).encode_with_unstable(text, allowed_special="all")
        assert mine[0] == other[0], text
        assert set(map(tuple, mine[1])) == set(map(tuple, other[1])), text


@pytest.mark.parametrize("text", ["👍\ud83d\udc4d", "\ud83d lone", "a\udc4d", "\ud83d\udc4d"])
def test_surrogates_are_repaired_as_in_tiktoken(text: str) -> None:
    mine, other = ours("cl100k_base"), theirs("cl100k_base")
    assert mine.encode(text) == other.encode(text)
    assert mine.encode_ordinary_batch([text]) == other.encode_ordinary_batch([text])


def test_arrays_batches_and_pickles_equal_tiktoken() -> None:
    mine, other = ours("cl100k_base"), theirs("cl100k_base")
    array = mine.encode_to_numpy("hello world")
    assert array.dtype == np.uint32
    assert array.tolist() == other.encode_to_numpy("hello world").tolist()
    assert mine.encode_batch(["a", "b c"]) == other.encode_batch(["a", "b c"])
    copy = pickle.loads(pickle.dumps(mine))
    assert (copy.name, copy.encode("hello")) == (mine.name, mine.encode("hello"))
    assert copy.tokenizer == mine.tokenizer
    assert hash(copy.tokenizer) == hash(mine.tokenizer)
    assert repr(copy) == repr(other)


def test_names_and_models_equal_those_of_the_library() -> None:
    assert shaped.list_encoding_names() == tiktoken.list_encoding_names()
    models = [*tiktoken.model.MODEL_TO_ENCODING]
    models += [prefix + "x" for prefix in tiktoken.model.MODEL_PREFIX_TO_ENCODING]
    for model in models:
        assert shaped.encoding_name_for_model(model) == tiktoken.encoding_name_for_model(model)
    with pytest.raises(KeyError):
        shaped.encoding_name_for_model("zebra-1")
    with pytest.raises(ValueError, match="must be one of gpt2"):
        shaped.get_encoding("zebra")


def test_encodings_are_as_published() -> None:
    for name in NAMES:
        ranks = rank_file(pw.spec.ENCODINGS[name].rank_file)
        assert ranks
        assert dict(pw.spec.ENCODINGS[name].special_tokens) == theirs(name)._special_tokens


def test_an_encoding_opens_in_the_teaching_module(capsys: pytest.CaptureFixture[str]) -> None:
    from tiktoken._educational import SimpleBytePairEncoding

    for name in FAMILIES:
        simple = SimpleBytePairEncoding.from_tiktoken(ours(name))
        assert simple.mergeable_ranks == theirs(name)._mergeable_ranks
        text = "hello world, it's 12345 naïve 日本 \n\n  \t!"
        assert simple.encode(text, visualise=None) == theirs(name).encode(text)
    made = shaped.Encoding("tiny", pat_str=r"\w+|\W+", mergeable_ranks=tiny(), special_tokens={})
    for one in (made, pickle.loads(pickle.dumps(made))):
        assert (one._pat_str, one._mergeable_ranks) == (r"\w+|\W+", tiny())


# ---- where files come from


def test_missing_ranks_say_which_file_to_put_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("PIECEWORK_TIKTOKEN_DIR", raising=False)
    with pytest.raises(pw.errors.FileError, match=r"p50k_base\.tiktoken.*PIECEWORK_TIKTOKEN_DIR"):
        shaped.get_encoding("p50k_edit")


def test_ranks_are_found_in_a_directory_and_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = rank_file("cl100k_base.tiktoken")
    (tmp_path / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4").symlink_to(path)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("PIECEWORK_TIKTOKEN_DIR", raising=False)
    assert shaped.encoding_for_model("gpt-4").encode("hello world") == [15339, 1917]
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("PIECEWORK_TIKTOKEN_DIR", str(tmp_path / "own"))
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / path.name).symlink_to(path)
    assert shaped.get_encoding("cl100k_base").encode("hello world") == [15339, 1917]


@pytest.mark.parametrize("pattern", ["", r"\w*", r"(?=a)|", r"x{1,3}+y"])
def test_patterns_that_cannot_be_kept_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="pattern|pat_str"):
        shaped.Encoding("bad", pat_str=pattern, mergeable_ranks=tiny(), special_tokens={})
