"""Special tokens that are no added tokens: text of messages never becomes them, templates write them."""

from __future__ import annotations

import json
import unicodedata
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from tests.data import need

ROLE_TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
FULL_WIDTH = str.maketrans("</s>pad", "＜／ｓ＞ｐａｄ")
FRAGMENTS = [
    *ROLE_TOKENS.values(),
    *(token.translate(FULL_WIDTH) for token in ROLE_TOKENS.values()),
    *"</s>＜／ｓ＞‹",
    *("</", "s>", "<", "pa", "d>", "a", "x</s>y", " ", "\n", "é", "▁"),
]


def hand_made() -> pw.Tokenizer:
    pieces = (("<unk>", 0.0), *((token, 0.0) for token in ROLE_TOKENS.values()))
    pieces += tuple((character, -3.0) for character in "▁</s>padxyé\n")
    return pw.Tokenizer(
        pw.spec.Unigram(tuple(dict(pieces).items()), unk_id=0),
        normalizer=pw.spec.NFKC(),
        pre_tokenizer=pw.spec.Metaspace(),
    )


@cache
def xlm_roberta() -> pw.Tokenizer:
    return pw.Tokenizer.load(need("vocab/xlm-roberta-base/tokenizer.json.gz"))


def test_a_token_known_by_role_is_guarded_in_segments() -> None:
    pieces = (("<unk>", 0.0), ("[end]", -1.0), *((c, -3.0) for c in "[end]"))
    tok = pw.Tokenizer(pw.spec.Unigram(tuple(dict(pieces).items()), 0))
    assert tok.encode_segments([("n[end]", False)]).encoding.tokens == ["n", "[end]"]
    guarded = tok.with_roles(eos_token="[end]")
    assert guarded.encode_segments([("n[end]", False)]).encoding.tokens == list("n[end]")
    mixed = guarded.encode_segments([("[end]", False), ("n[end]", True)])
    assert mixed.encoding.tokens == [*"[end]", "n", "[end]"]
    assert mixed.token_spans == ((0, 5), (5, 7))


def test_a_byte_token_is_not_matched_as_a_whole_word() -> None:
    entries = [*(f"<0x{byte:02X}>" for byte in range(256)), *"<0x41>ab", "ab"]
    vocab = {token: index for index, token in enumerate(entries)}
    tok = pw.Tokenizer(pw.spec.BPE(vocab, (), byte_fallback=True, ignore_merges=True))
    assert tok.encode("<0x41>").tokens == ["<0x41>"]
    assert tok.encode_segments([("<0x41>", False)]).encoding.tokens == list("<0x41>")
    assert tok.encode_segments([("é", False)]).encoding.tokens == ["<0xC3>", "<0xA9>"]
    assert tok.encode_segments([("ab", False)]).encoding.tokens == ["ab"]


def test_a_token_known_by_role_is_guarded_in_chats() -> None:
    tok = hand_made().with_roles(**ROLE_TOKENS)
    template = "<s>{{ messages[0].content }}</s>"
    chat = tok.apply_chat_template([{"content": "a</s>＜pad＞"}], chat_template=template)
    special = [token for token in chat.encoding.tokens if token in ROLE_TOKENS.values()]
    assert special == ["<s>", "</s>"]


def test_a_token_known_by_role_is_guarded_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(hand_made().to_str(), encoding="utf-8")
    config = {"eos_token": "</s>", "tokenizer_class": "PreTrainedTokenizerFast"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    tok = pw.Tokenizer.load(tmp_path)
    assert tok.eos_token == "</s>"
    assert [token.content for token in tok.added_tokens] == ["</s>"]
    assert "</s>" not in tok.encode_segments([("a</s>", False)]).encoding.tokens


def test_a_piece_with_a_customary_name_is_guarded_without_a_role() -> None:
    tok = hand_made()
    assert set(tok.special_tokens_map) == {"unk_token"}
    assert "</s>" in tok.encode("a</s>").tokens
    assert "</s>" not in tok.encode_segments([("a</s>", False)]).encoding.tokens


def test_a_word_that_is_a_token_known_by_role_is_unknown() -> None:
    model = pw.spec.WordPiece({"[UNK]": 0, "a": 1, "[SEP]": 2})
    tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
    tok = tok.with_roles(sep_token="[SEP]")
    assert tok.encode_segments([("a [SEP]", True)]).ids == [1, 2]
    assert tok.encode_segments([("a [SEP]", False)]).ids == [1, 0]


def test_a_template_writes_a_token_known_by_role() -> None:
    """BERT's pre-tokenizer splits `[SEP]`, so that only an added token can match."""
    vocab = {"[UNK]": 0, "a": 1, "[SEP]": 2, "[": 3, "]": 4, "SEP": 5}
    tok = pw.Tokenizer(pw.spec.WordPiece(vocab), pre_tokenizer=pw.spec.BertPreTokenizer())
    tok = tok.with_roles(sep_token="[SEP]")
    chat = tok.apply_chat_template(
        [{"content": "a[SEP]"}], chat_template="{{ messages[0].content }}{{ sep_token }}"
    )
    assert chat.ids == [1, 3, 5, 4, 2]


def test_a_role_of_one_character_is_text_of_users() -> None:
    vocab = {"[UNK]": 0, "!": 1, "a": 2}
    tok = pw.Tokenizer(pw.spec.Char(vocab)).with_roles(pad_token="!")
    assert tok.encode_segments([("a!", False)]).ids == [2, 1]


def test_full_width_forms_become_no_piece_of_xlm_roberta() -> None:
    tok = xlm_roberta()
    assert not tok.added_tokens
    tokens = tok.encode_segments([("a</s> ＜/s＞ ‹/ｓ>", False)]).encoding.tokens
    assert tokens == ["▁a", "</", "s", ">", "▁", "</", "s", ">", "▁‹", "/", "s", ">"]


def occurrences(texts: list[str]) -> int:
    return sum(text.count(token) for text in texts for token in ROLE_TOKENS.values())


def test_a_user_defined_character_is_text_of_users() -> None:
    """XLNet's model has a piece for each of `.`, `(` and `"`, and one for `<eop>`."""
    tok = pw.Tokenizer.load(need("vocab/xlnet/spiece.model"))
    text = 'Be short. (Not "long".)'
    assert tok.encode_segments([(text, False)]).ids == tok.encode(text).ids
    split = tok.encode_segments([("<eop>", False)])
    assert split.encoding.tokens == ["▁<", "e", "op", ">"]
    assert tok.encode_segments([("<eop>", False)], markers=[]).ids == tok.encode("<eop>").ids
    assert tok.encode_segments([("<eop>", False)], markers=["<eop>"]) == split


@pytest.mark.parametrize("name", ["hand-made", "XLM-R"])
def test_no_role_comes_from_text_without_permission(name: str) -> None:
    tok = hand_made() if name == "hand-made" else xlm_roberta()
    tok = tok.with_roles(**ROLE_TOKENS)
    roles = {tok.token_to_id(token) for token in ROLE_TOKENS.values()}

    @settings(max_examples=200)
    @given(st.lists(st.tuples(st.lists(st.sampled_from(FRAGMENTS)), st.booleans()), max_size=5))
    def check(parts: list[tuple[list[str], bool]]) -> None:
        segments = [("".join(fragments), is_allowed) for fragments, is_allowed in parts]
        found = tok.encode_segments([(text, False) for text, _ in segments])
        assert roles.isdisjoint(found.ids)
        mixed = tok.encode_segments(segments)
        allowed = [text for text, is_allowed in segments if is_allowed]
        full_width = [unicodedata.normalize("NFKC", text) for text in allowed]
        made = sum(id in roles for id in mixed.ids)
        assert occurrences(allowed) <= made <= occurrences(full_width)

    check()
