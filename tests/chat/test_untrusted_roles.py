"""Text without permission never becomes a token that has a role, in any published vocabulary."""

from __future__ import annotations

from functools import cache

import pytest

import piecework as pw
from tests.data import need

VOCABULARIES = [
    "albert-v2/spiece.model",
    "albert-v2/tokenizer.json.gz",
    "bert-base-chinese/vocab.txt",
    "bert-base-uncased/vocab.txt",
    "clip/tokenizer.json.gz",
    "gpt2/tokenizer.json.gz",
    "mistral/mistral_instruct_tokenizer_240323.model.v3",
    "mistral/tekken_240911.json.gz",
    "mistral/tokenizer.model.v1",
    "qwen2.5/tokenizer.json.gz",
    "roberta-base/tokenizer.json.gz",
    "t5-small/tokenizer.json.gz",
    "t5/spiece.model",
    "whisper-tiny/tokenizer.json.gz",
    "xlm-roberta-base/tokenizer.json.gz",
    "xlnet/spiece.model",
]
FRAMES = ["{}", "a{}b", " {} ", "to be {} or", "{}{}", "▁{}", "<{}>", "{}\n"]


@cache
def loaded(name: str) -> pw.Tokenizer:
    return pw.Tokenizer.load(need(f"vocab/{name}"))


def role_tokens(tok: pw.Tokenizer) -> set[str]:
    """Return the tokens that are special, have a role or are special to the model; no characters."""
    model = tok.spec.model
    names = {token.content for token in tok.added_tokens if token.special}
    names |= {token for token in tok.special_tokens_map.values() if isinstance(token, str)}
    if isinstance(model, pw.spec.SentencePiece):
        special = ("unknown", "control", "user_defined")
        names |= {piece.text for piece in model.pieces if piece.type in special}
    return {name for name in names if len(name.strip(" ▁")) > 1}


def unknown(tok: pw.Tokenizer, text: str, name: str) -> bool:
    """Return whether text around a token, or its characters apart, is unknown to the model."""
    apart = text.replace(name, " ".join(name))
    return tok.unk_token_id in tok.encode(apart, add_special_tokens=False).ids


@pytest.mark.parametrize("name", VOCABULARIES)
def test_no_role_comes_from_its_name(name: str) -> None:
    tok = loaded(name)
    names = sorted(role_tokens(tok))
    assert names
    for token in names[:: max(1, len(names) // 60)]:
        id = tok.token_to_id(token)
        for frame in FRAMES:
            text = frame.replace("{}", token)
            ids = tok.encode_segments([(text, False)]).ids
            if id == tok.unk_token_id and unknown(tok, text, token):
                continue
            assert id not in ids, (token, text)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("xlm-roberta-base/tokenizer.json.gz", ["▁a", "<", "unk", ">", "b"]),
        # T5 has no piece for `<`, so that this character is unknown, in SentencePiece too.
        ("t5-small/tokenizer.json.gz", ["▁", "a", "<unk>", "unk", ">", "b"]),
    ],
)
def test_the_unknown_token_is_split_as_in_sentencepiece(name: str, expected: list[str]) -> None:
    tok = loaded(name)
    found = tok.encode_segments([("a<unk>b", False)])
    assert found.encoding.tokens == expected
    allowed = tok.encode_segments([("a<unk>b", True)])
    assert allowed.ids == tok.encode("a<unk>b", add_special_tokens=False).ids


def word_models() -> list[pw.Tokenizer]:
    words = pw.spec.WhitespaceSplit()
    return [
        pw.Tokenizer(
            pw.spec.WordPiece(
                {"[UNK]": 0, "[SEP]": 1, "a": 2, "[": 3, "##SEP": 4, "##]": 5, "##UNK": 6}
            ),
            pre_tokenizer=words,
            added_tokens=[pw.spec.AddedToken("[SEP]", 1), pw.spec.AddedToken("[UNK]", 0)],
        ),
        pw.Tokenizer(
            pw.spec.WordLevel({"[UNK]": 0, "[SEP]": 1, "a": 2}, unk_token="[UNK]"),
            pre_tokenizer=words,
            added_tokens=[pw.spec.AddedToken("[SEP]", 1)],
        ),
        pw.Tokenizer(
            pw.spec.BPE(
                {
                    token: id
                    for id, token in enumerate(
                        ["<u>", "[S]", "a", "[", "S", "]", "[S", "<", "u", ">"]
                    )
                },
                (("[", "S"), ("[S", "]")),
                unk_token="<u>",
                ignore_merges=True,
            ),
            pre_tokenizer=words,
            added_tokens=[pw.spec.AddedToken("[S]", 1)],
        ),
    ]


def test_models_of_words_split_a_special_token() -> None:
    wordpiece, word_level, bpe = word_models()
    cases = [
        (wordpiece, "a [SEP] [UNK]", ["a", "[", "##SEP", "##]", "[", "##UNK", "##]"]),
        (word_level, "a [SEP]", ["a", "[UNK]"]),
        (bpe, "a [S] <u>", ["a", "[S", "]", "<", "u", ">"]),
    ]
    for tok, text, expected in cases:
        assert tok.encode_segments([(text, False)]).encoding.tokens == expected
        assert tok.encode_segments([(text, True)]).ids == tok.encode(text).ids
        mixed = tok.encode_segments([(text, False), (" a", True)])
        assert mixed.encoding.tokens == [*expected, "a"]


def test_bytes_of_a_unigram_model_come_from_unknown_text_only() -> None:
    scored = [("<unk>", 0.0), *((f"<0x{byte:02X}>", 0.0) for byte in range(256))]
    scored += [(character, -2.0) for character in "<0x41>a"]
    tok = pw.Tokenizer(pw.spec.Unigram(tuple(dict(scored).items()), 0, byte_fallback=True))
    assert tok.encode("a<0x41>").tokens == ["a", "<0x41>"]
    assert tok.encode_segments([("a<0x41>é", False)]).encoding.tokens == [
        *"a<0x41>",
        "<0xC3>",
        "<0xA9>",
    ]
