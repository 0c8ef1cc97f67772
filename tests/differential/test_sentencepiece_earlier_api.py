"""Calls that `sentencepiece` had up to 0.2.1, with what 0.2.0 gave for them on published models.

Where 0.2.3 can say the same in another way, it is asked too.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from piecework import PieceworkError
from piecework.compat.sentencepiece import SentencePieceProcessor
from tests import data

TEXT = "This is a test 🤗."


def model(name: str) -> SentencePieceProcessor:
    return SentencePieceProcessor(model_file=data.need(f"vocab/{name}"))


@pytest.fixture
def unigram() -> SentencePieceProcessor:
    return model("sentencepiece-tests/test_model.model")


@pytest.fixture
def bytes_fallback() -> SentencePieceProcessor:
    return model("transformers-fixtures/test_sentencepiece_with_bytefallback.model")


@pytest.mark.parametrize(
    ("extras", "expected"),
    [
        ("bos", "<s> ▁He ll o ▁ 🤗"),
        ("eos", "▁He ll o ▁ 🤗 </s>"),
        ("eos:bos", "<s> ▁He ll o ▁ 🤗 </s>"),
        ("reverse", "🤗 ▁ o ll ▁He"),
        ("reverse:bos:eos", "<s> 🤗 ▁ o ll ▁He </s>"),
        ("bos:eos:reverse", "</s> 🤗 ▁ o ll ▁He <s>"),
        ("bos:bos", "<s> <s> ▁He ll o ▁ 🤗"),
        ("unk", "▁He ll o ▁ <unk>"),
        ("unk_piece", "▁He ll o ▁ <unk>"),
        (":", "▁He ll o ▁ 🤗"),
        ("", "▁He ll o ▁ 🤗"),
    ],
)
def test_extras_are_applied_in_their_order(
    extras: str, expected: str, unigram: SentencePieceProcessor
) -> None:
    assert unigram.set_encode_extra_options(extras) is True
    assert unigram.encode("Hello 🤗", out_type=str) == expected.split()
    assert unigram.encode("Hello 🤗") == unigram.piece_to_id(expected.split())


def test_extras_come_before_the_settings_of_a_call(unigram: SentencePieceProcessor) -> None:
    unigram.set_encode_extra_options("bos:eos:reverse")
    assert unigram.encode("Hello", add_eos=True) == [2, 21, 88, 151, 1, 2]


def test_extras_have_spans_at_the_ends(unigram: SentencePieceProcessor) -> None:
    unigram.set_encode_extra_options("bos:eos:reverse")
    proto = unigram.encode_as_immutable_proto("Hello 🤗")
    assert [(one.piece, one.id, one.surface, one.begin, one.end) for one in proto.pieces] == [
        ("</s>", 2, "", 7, 7),
        ("🤗", 0, "🤗", 6, 7),
        ("▁", 4, " ", 5, 6),
        ("o", 21, "o", 4, 5),
        ("ll", 88, "ll", 2, 4),
        ("▁He", 151, "He", 0, 2),
        ("<s>", 1, "", 0, 0),
    ]


def test_a_wrong_extra_changes_nothing(unigram: SentencePieceProcessor) -> None:
    for wrong in ("foo", "bos:foo"):
        with pytest.raises(PieceworkError, match="extra_option: must be .*, not 'foo'"):
            unigram.set_encode_extra_options(wrong)
    assert unigram.encode("Hello") == [151, 88, 21]


@pytest.mark.parametrize(
    ("extras", "of_pieces", "of_ids", "pieces"),
    [
        ("bos", "Hell▁ozzz", "Hello", [("<s>", ""), ("▁He", "He"), ("ll", "ll"), ("o", "o")]),
        ("eos", "Hell▁ozzz", "Hello", [("▁He", "He"), ("ll", "ll"), ("o", "o"), ("</s>", "")]),
        ("reverse", "zzz▁oll He", "oll He", [("o", "o"), ("ll", "ll"), ("▁He", " He")]),
        ("unk", "Hell ⁇  ⁇ ", "Hello", [("▁He", "He"), ("ll", "ll"), ("o", "o")]),
    ],
)
def test_extras_of_decoding_come_first(
    extras: str,
    of_pieces: str,
    of_ids: str,
    pieces: list[tuple[str, str]],
    unigram: SentencePieceProcessor,
) -> None:
    unigram.set_decode_extra_options(extras)
    assert unigram.decode(["▁He", "ll", "▁o", "zzz"]) == of_pieces
    assert unigram.decode([151, 88, 21]) == of_ids
    proto = unigram.decode_ids_as_immutable_proto([151, 88, 21])
    assert [(one.piece, one.surface) for one in proto.pieces] == pieces
    assert proto.text == of_ids


VOCABULARY = ["▁This", "▁t", "est", "<0xF0>", "<s>"]
BYTES = ["<0xF0>", "<0x9F>", "<0xA4>", "<0x97>", "."]


@pytest.mark.parametrize(
    ("name", "whole", "restricted", "at_4", "at_1", "nothing", "end"),
    [
        (
            "sentencepiece-tests/test_model.model",
            "▁This ▁is ▁a ▁ t est ▁",
            "▁This ▁ i s ▁ a ▁ t est ▁",
            "▁This ▁ is ▁ a ▁ t e s t ▁",
            "▁This ▁ is ▁ a ▁ t est ▁",
            "▁ T h i s ▁ i s ▁ a ▁ t e s t ▁",
            ["🤗", "."],
        ),
        (
            "transformers-fixtures/test_sentencepiece_with_bytefallback.model",
            "▁This ▁is ▁a ▁t est ▁",
            "▁This ▁ i s ▁ a ▁t est ▁",
            "▁This ▁ is ▁ a ▁ t e s t ▁",
            "▁This ▁ is ▁ a ▁t est ▁",
            "▁ T h i s ▁ i s ▁ a ▁ t e s t ▁",
            BYTES,
        ),
        (
            "transformers-fixtures/test_sentencepiece_bpe.model",
            "▁This ▁is ▁a ▁t est ▁",
            "▁This ▁ i s ▁ a ▁t est ▁",
            "▁This ▁ is ▁ a ▁ t e s t ▁",
            "▁This ▁ is ▁ a ▁t est ▁",
            "▁ T h i s ▁ i s ▁ a ▁ t e s t ▁",
            ["🤗", "."],
        ),
    ],
)
def test_a_vocabulary_is_restricted_by_list_and_by_counts_and_reset(
    name: str,
    whole: str,
    restricted: str,
    at_4: str,
    at_1: str,
    nothing: str,
    end: list[str],
    tmp_path: Path,
) -> None:
    sp = model(name)

    def pieces() -> list[str]:
        found = sp.encode(TEXT, out_type=str)
        assert found[-len(end) :] == end
        return list(found[: -len(end)])

    assert pieces() == whole.split()
    assert sp.set_vocabulary(VOCABULARY) is True
    assert pieces() == restricted.split()
    sp.reset_vocabulary()
    assert pieces() == whole.split()
    counts = tmp_path / "counts"
    counts.write_text("▁This\t5\n▁t\t3\nest\nis\t7\tfoo\n")
    sp.load_vocabulary(counts, 4)
    assert pieces() == at_4.split()
    sp.load_vocabulary(counts, 1)
    assert pieces() == at_1.split()
    sp.set_vocabulary([])
    assert pieces() == nothing.split()


def test_pieces_outside_a_restricted_vocabulary_are_unused(unigram: SentencePieceProcessor) -> None:
    unigram.set_vocabulary(VOCABULARY)
    unused = [unigram.id_to_piece(id) for id in range(20) if unigram.is_unused(id)]
    assert unused == ["▁the", "▁I", "▁to", "▁a", "ed", "▁and", "▁of", "ing"]
    unigram.reset_vocabulary()
    assert not any(unigram.is_unused(list(range(len(unigram)))))


def test_a_byte_stays_a_byte_in_a_restricted_vocabulary(
    bytes_fallback: SentencePieceProcessor,
) -> None:
    """With 0.2.0 it is none any more, and what it stands for no longer decoded."""
    bytes_fallback.set_vocabulary(VOCABULARY)
    assert bytes_fallback.is_byte(3)
    assert bytes_fallback.decode(bytes_fallback.encode(TEXT)) == TEXT


def test_only_subwords_are_restricted() -> None:
    sp = model("transformers-fixtures/test_sentencepiece_bpe_char.model")
    with pytest.raises(
        PieceworkError, match="must be of kind 'unigram' or 'bpe', not .* kind 'char'"
    ):
        sp.set_vocabulary(["a"])


@pytest.mark.parametrize("line", ["▁This\tx\n", "a\n\nb\n"])
def test_a_damaged_or_missing_file_of_counts_is_an_error(
    line: str, tmp_path: Path, unigram: SentencePieceProcessor
) -> None:
    path = tmp_path / "counts"
    path.write_text(line)
    with pytest.raises(PieceworkError):
        unigram.load_vocabulary(path, 1)
    with pytest.raises(PieceworkError, match="nofile"):
        unigram.load_vocabulary(tmp_path / "nofile", 1)


def test_the_normalizer_is_overridden(unigram: SentencePieceProcessor) -> None:
    text = " ｘ  y "

    def state() -> tuple[str, list[str]]:
        return unigram.normalize(text), unigram.encode(text, out_type=str)

    assert unigram.override_normalizer_spec(add_dummy_prefix=False) is True
    assert state() == ("x▁y", ["x", "▁", "y"])
    unigram.override_normalizer_spec(remove_extra_whitespaces=False)
    assert state() == ("▁x▁▁y▁", ["▁", "x", "▁", "▁", "y", "▁"])
    unigram.override_normalizer_spec(escape_whitespaces=False)
    assert state() == (" x  y ", [" ", "x", "  ", "y", " "])
    unigram.override_normalizer_spec(add_dummy_prefix="1")
    assert state() == ("  x  y ", ["  ", "x", "  ", "y", " "])
    unigram.override_normalizer_spec(add_dummy_prefix="0", remove_extra_whitespaces=1)
    assert state() == ("x y", ["x", " ", "y"])
    unigram.override_normalizer_spec(precompiled_charsmap=b"")
    assert state()[0] == "ｘ y"
    for wrong in ({"foo": 1}, {"add_dummy_prefix": "bla"}, {"precompiled_charsmap": "x"}):
        with pytest.raises(PieceworkError):
            unigram.override_normalizer_spec(**wrong)


def test_a_changed_model_is_given_as_a_file(unigram: SentencePieceProcessor) -> None:
    unigram.set_vocabulary(VOCABULARY)
    again = SentencePieceProcessor(model_proto=unigram.serialized_model_proto())
    assert again.encode(TEXT) == unigram.encode(TEXT)
    assert again.is_unused(list(range(1000))) == unigram.is_unused(list(range(1000)))


def test_an_immutable_proto_is_written_as_it_was(unigram: SentencePieceProcessor) -> None:
    proto = unigram.encode("Ｈｅ", out_type="immutable_proto")
    assert str(proto) == (
        'text: "Ｈｅ"\nscore: 0.0\npieces {\npiece: "▁He"\nid: 151\nsurface: "Ｈｅ"\nbegin: 0\nend: 2\n}'
    )
    assert proto == unigram.encode(["x", "Ｈｅ"], out_type="immutable_proto")[1]
    several = unigram.nbest_encode("Ｈｅ", nbest_size=2, out_type="immutable_proto")
    assert str(several).startswith('nbests {\ntext: "Ｈｅ"\nscore: -')
    assert '"Ｈｅ"\nbegin: 0\nend: 2\n}}\nnbests {\ntext: "Ｈｅ"\nscore: -' in str(several)
