"""The exact bytes of every token, fingerprints of tokenizers, and offsets of batches in other units."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from tests.data import need

VOCABULARIES = [
    "vocab/qwen2.5/tokenizer.json.gz",
    "vocab/deepseek-v3/tokenizer.json.gz",
    "vocab/mistral-7b-v0.1/tokenizer.json.gz",
    "vocab/mistral/tekken_240911.json.gz",
    "vocab/mistral/tokenizer.model.v1",
    "vocab/gpt2/tokenizer.json.gz",
    "vocab/bert-base-uncased/vocab.txt",
    "vocab/t5-small/tokenizer.json.gz",
    "vocab/t5/spiece.model",
    "vocab/albert-v2/tokenizer.json.gz",
    "vocab/clip/tokenizer.json.gz",
    "vocab/openai-gpt/vocab.json",
    "vocab/transformers-fixtures/test_sentencepiece_with_bytefallback.model",
]
TEXTS = [
    'Hello world, it\'s 2026! {"key": [1, 2.5, null]}',
    "  two  spaces\n\nand\ttabs ",
    "naïve 北京 🤗 café \u0301 \u200d",
    "snake_case <b>html</b> ▁ [x]",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", VOCABULARIES)
def test_bytes_of_tokens_concatenate_to_the_decoded_text(name: str) -> None:
    merges = need("vocab/openai-gpt/merges.txt") if "openai-gpt" in name else None
    tok = pw.Tokenizer.load(need(name), merges=merges)
    data = pw.vocabulary.decoded_bytes(tok)
    special = tok.special_token_ids
    assert data.keys() | special == set(tok.get_vocab().values())
    assert not data.keys() & special
    start = tok.encode("a", add_special_tokens=False).ids
    rng = random.Random(5)
    ids = [id for id in sorted(data) if _is_text(data[id])]
    rows = [tok.encode(text, add_special_tokens=False, parse_special=False).ids for text in TEXTS]
    rows += [rng.sample(ids, 20) for _ in range(200)]
    for row in rows:
        row = [*start, *(id for id in row if id not in special), *start]
        expected = tok.decode(row, clean_up=False).encode()
        assert b"".join(data[id] for id in row).strip(b" ") == expected.strip(b" ")


def test_steps_for_whole_texts_do_not_change_the_bytes_of_tokens(tmp_path: Path) -> None:
    tok = pw.Tokenizer(
        pw.spec.WordPiece({"[UNK]": 0, "hug": 1, ".": 2, "##</w>": 3}),
        decoder=pw.spec.WordPieceDecoder(cleanup=False),
    ).with_added_tokens(["[UNK]"], special=True)
    tok.save(f"{tmp_path}/f/")
    config = tmp_path / "f" / "tokenizer_config.json"
    values = json.loads(config.read_text())
    config.write_text(json.dumps({**values, "clean_up_tokenization_spaces": True}))
    cleaned = pw.Tokenizer.load(tmp_path / "f")
    assert cleaned.decode([1, 2]) == "hug."
    assert cleaned.decode([1, 2], clean_up=False) == tok.decode([1, 2]) == "hug ."
    assert pw.vocabulary.decoded_bytes(cleaned) == pw.vocabulary.decoded_bytes(tok)


@pytest.mark.slow
def test_the_bytes_of_clips_tokens_have_spaces(tmp_path: Path) -> None:
    for name, file in (("clip_encoder.json", "vocab.json"), ("clip_vocab.bpe", "merges.txt")):
        shutil.copyfile(need(f"vocab/clip/{name}"), tmp_path / file)
    config = {"tokenizer_class": "CLIPTokenizer"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    tok = pw.Tokenizer.load(tmp_path)
    data = pw.vocabulary.decoded_bytes(tok)
    ids = tok.encode("hello é日 world", add_special_tokens=False).ids
    assert b"".join(data[id] for id in ids).decode() == "hello é日 world "
    assert tok.decode(ids) == "hello é日 world"


def _is_text(data: bytes) -> bool:
    try:
        return bool(data.decode())
    except UnicodeDecodeError:
        return False


def test_a_decoder_that_looks_at_neighbours_has_no_bytes() -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}), decoder=pw.spec.CTC())
    with pytest.raises(
        pw.errors.ArgumentError,
        match="decoder: the output of CTC depends on the neighbours of a token; the bytes of tokens",
    ):
        pw.vocabulary.decoded_bytes(tok)


def test_special_tokens_are_named_and_have_no_bytes() -> None:
    tok = pw.Tokenizer.train_from_iterator(["to be"], model="byte-bpe", vocab_size=260)
    tok = tok.with_added_tokens(["<|im_end|>"], special=True).with_added_tokens(["<tool_call>"])
    end, call = tok.token_to_id("<|im_end|>"), tok.token_to_id("<tool_call>")
    assert end in tok.special_token_ids
    assert call not in tok.special_token_ids
    assert end not in pw.vocabulary.decoded_bytes(tok)
    assert pw.vocabulary.decoded_bytes(tok)[call] == b"<tool_call>"


@pytest.mark.slow
@pytest.mark.parametrize("name", VOCABULARIES[:3])
def test_llguidance_reads_the_bytes_of_tokens(name: str) -> None:
    llguidance = pytest.importorskip("llguidance")
    tok = pw.Tokenizer.load(need(name))
    data = pw.vocabulary.decoded_bytes(tok)

    class ForLlguidance:
        eos_token_id = min(tok.special_token_ids)
        bos_token_id = None
        special_token_ids: ClassVar[list[int]] = sorted(tok.special_token_ids)
        tokens: ClassVar[list[bytes]] = [
            data.get(id, b"\xff" + (tok.id_to_token(id) or f"<{id}>").encode())
            for id in range(max(tok.get_vocab().values()) + 1)
        ]

        def __call__(self, text: bytes) -> list[int]:
            # After a newline, so that no model adds a space before the text.
            before, both = (
                tok.encode(each, add_special_tokens=False, parse_special=False).ids
                for each in ("\n", "\n" + text.decode())
            )
            return both[len(before) :]

    theirs = llguidance.LLTokenizer(llguidance.TokenizerWrapper(ForLlguidance()))
    assert theirs.vocab_size == len(ForLlguidance.tokens)
    grammar = llguidance.LLMatcher.grammar_from_regex('"yes"|"no"')
    matcher = llguidance.LLMatcher(theirs, grammar)
    # A greedy choice of the first token that the grammar permits spells one of its strings.
    written = b""
    while not matcher.is_stopped():
        bits = matcher.compute_bitmask()
        id = (
            next(
                id
                for id in range(theirs.vocab_size)
                if bits[id // 8] >> (id % 8) & 1 and id in data
            )
            if not matcher.is_accepting()
            else ForLlguidance.eos_token_id
        )
        if not matcher.consume_token(id) or id not in data:
            break
        written += data[id]
    assert written in (b'"yes"', b'"no"')


# ---- fingerprints


FINGERPRINTS = {
    "vocab/bert-base-uncased/vocab.txt": "4a79b18f63dc706e",
    "vocab/deepseek-v3/tokenizer.json.gz": "a12a08affd277f3f",
    "vocab/mistral/tokenizer.model.v1": "c3f6aa6e62f38ca9",
}


@pytest.mark.parametrize("name", FINGERPRINTS)
def test_fingerprints_of_published_tokenizers_do_not_change(name: str) -> None:
    tok = pw.Tokenizer.load(need(name))
    assert tok.fingerprint[:16] == FINGERPRINTS[name]


def test_a_fingerprint_changes_with_what_decides_ids_only(tmp_path: Any) -> None:
    tok = pw.Tokenizer.train_from_iterator(["to be or not to be"], vocab_size=20)
    same = [
        tok.with_roles(eos_token="[SEP]"),
        tok.with_chat_template("x"),
        tok.with_word_cache_budget(1 << 20),
        pw.Tokenizer.from_spec(tok.spec),
    ]
    for name in ("tokenizer.json", "tokenizer.piecework", "tokenizer.pwc"):
        tok.save(tmp_path / name)
        same.append(pw.Tokenizer.load(tmp_path / name))
    assert {other.fingerprint for other in same} == {tok.fingerprint}
    others = [
        tok.with_truncation(9),
        tok.with_padding(),
        tok.with_added_tokens(["x"]),
        tok.with_parse_special(False),
        tok.with_normalizer(None),
    ]
    assert len({other.fingerprint for other in (tok, *others)}) == 6


# ---- offsets of batches


TEXT_PAIRS = [("hé🤗llo wörld", "a 北 b"), ("ascii only", "é"), ("", "🤗"), ("é\u0301é", "")]


@pytest.mark.parametrize("unit", ["bytes", "utf16"])
@pytest.mark.parametrize("name", ["WordPiece", "byte-level", "SentencePiece"])
def test_offsets_of_a_batch_equal_those_of_each_encoding(name: str, unit: str) -> None:
    models: dict[str, dict[str, Any]] = {
        "WordPiece": {"vocab_size": 60},
        "byte-level": {"model": "byte-bpe", "vocab_size": 270},
        "SentencePiece": {"preset": "llama", "vocab_size": 300},
    }
    words = [text for pair in TEXT_PAIRS for text in pair]
    tok = pw.Tokenizer.train_from_iterator(words, **models[name])
    attribute = "byte_offsets" if unit == "bytes" else "utf16_offsets"
    inputs: list[tuple[Any, Any]] = [
        ([text for text, _ in TEXT_PAIRS], {}),
        (TEXT_PAIRS, {}),
        ([[*text] for text, _ in TEXT_PAIRS], {"is_pretokenized": True}),
    ]
    for texts, options in inputs:
        batch = tok.encode_batch(texts, offsets=unit, **options)  # type: ignore[arg-type]
        for row, text in enumerate(texts):
            given = text if isinstance(text, tuple) else (text,)
            one = tok.encode(*given, **options)
            assert list(map(tuple, batch[row].offsets)) == getattr(one, attribute)
        assert (
            batch.word_ids.tolist()
            == tok.encode_batch(texts, offsets=True, **options).word_ids.tolist()
        )


def test_windows_of_a_long_text_count_bytes_of_the_whole_text() -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "é": 1, "a": 2})).with_truncation(2)
    batch = tok.encode_batch(["a", "éaéa"], offsets="bytes", overflow=True)
    assert batch.offsets.tolist() == [[0, 1], [0, 2], [2, 3], [3, 5], [5, 6]]


def test_an_unknown_unit_is_named() -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}))
    with pytest.raises(
        pw.errors.ArgumentError, match="offsets: must be one of chars, bytes, utf16, not 'words'"
    ):
        tok.encode_batch(["a"], offsets="words")  # type: ignore[arg-type]


# ---- decode(encoding_errors=)


def byte_level() -> pw.Tokenizer:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"a\xe2": 256}
    return pw.Tokenizer.from_ranks(ranks, pattern="gpt2", special_tokens={"<|end|>": 257})


def byte_fallback(decoder: pw.spec.Decoder) -> pw.Tokenizer:
    vocab = {"<unk>": 0, "▁a": 1, "b": 2, "\ufffd": 3} | {f"<0x{i:02X}>": 4 + i for i in range(256)}
    return pw.Tokenizer(pw.spec.BPE(vocab, (), unk_token="<unk>"), decoder=decoder)


METASPACE = pw.spec.SequenceDecoder(
    (pw.spec.ReplaceDecoder("▁", " "), pw.spec.ByteFallback(), pw.spec.Fuse())
)


@given(data=st.binary(max_size=8), errors=st.sampled_from(["replace", "ignore", "strict"]))
def test_bytes_of_a_byte_level_model_decode_as_python_decodes_them(
    data: bytes, errors: Any
) -> None:
    tok = byte_level()
    try:
        expected = data.decode(errors=errors)
    except UnicodeDecodeError:
        with pytest.raises(
            pw.errors.InvalidUtf8Error, match="ids: has the bytes .*, which are not UTF-8"
        ):
            tok.decode([*data], encoding_errors=errors)
        with pytest.raises(ValueError, match=r"batch\[1\]: has the bytes"):
            tok.decode_batch([[97], [*data]], encoding_errors=errors)
        return
    assert tok.decode([*data], encoding_errors=errors) == expected
    assert tok.decode_batch([[], [*data], [97]], encoding_errors=errors) == ["", expected, "a"]
    assert tok.decode([257, *data, 1 << 20], encoding_errors=errors) == expected
    assert (
        tok.decode([257, *data], encoding_errors=errors, skip_special_tokens=False)
        == f"<|end|>{expected}"
    )


@pytest.mark.parametrize(
    ("ids", "strict", "ignored"),
    [
        ([1, 2], " ab", " ab"),
        ([1, 4 + 0xE2], None, " a"),
        ([4 + 0xC3, 4 + 0xA9, 2], "éb", "éb"),
        ([4 + 0xE2, 2], None, "b"),
        ([3, 2], "\ufffdb", "\ufffdb"),  # a token of the vocabulary
    ],
)
def test_byte_tokens_that_are_not_utf8_follow_errors(
    ids: list[int], strict: str | None, ignored: str
) -> None:
    tok = byte_fallback(METASPACE)
    assert tok.decode(ids, encoding_errors="ignore") == ignored
    if strict is None:
        with pytest.raises(
            pw.errors.InvalidUtf8Error, match='UTF-8; encoding_errors="replace" decodes them'
        ):
            tok.decode(ids, encoding_errors="strict")
    else:
        assert tok.decode(ids, encoding_errors="strict") == strict


def test_a_decoder_without_bytes_has_no_invalid_ones() -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "\ufffd": 1}), decoder=pw.spec.CTC())
    assert tok.decode([1], encoding_errors="strict") == "\ufffd"


def test_an_invalid_value_of_errors_is_rejected() -> None:
    with pytest.raises(pw.errors.ArgumentError, match="encoding_errors: must be .*, not 'skip'"):
        byte_level().decode([97], encoding_errors="skip")  # type: ignore[arg-type]
