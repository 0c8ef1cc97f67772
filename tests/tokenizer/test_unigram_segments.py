"""Text without permission never becomes a special piece of a Unigram model, as in SentencePiece."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace

import pytest
import sentencepiece

import piecework as pw
from piecework.reference.tokenizer import ReferenceTokenizer
from tests.data import need

TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}</s>{% endfor %}"
PARTS = ["</s>", "<pad>", "<unk>", "a", "x</s>y", "<extra_id_0>", " ", "bus", "é", "<", "/s>", "</"]


def _t5() -> pw.Tokenizer:
    return pw.Tokenizer.load(need("vocab/t5-small/tokenizer.json.gz"))


def _reference(tok: pw.Tokenizer, hidden: set[str]) -> ReferenceTokenizer:
    """Return the definition of a tokenizer whose Unigram model has other texts in place of some pieces."""
    pieces = tuple(
        (f"\ue000{id}" if token in hidden else token, score)
        for id, (token, score) in enumerate(tok.spec.model.pieces)
    )
    return ReferenceTokenizer(replace(tok.spec, model=replace(tok.spec.model, pieces=pieces)))


def _hostile(rng: random.Random) -> list[tuple[str, bool]]:
    count = rng.randint(1, 4)
    return [
        ("".join(rng.choices(PARTS, k=rng.randint(0, 5))), rng.random() < 0.4) for _ in range(count)
    ]


def test_text_of_a_segment_is_segmented_as_in_sentencepiece() -> None:
    tok = _t5()
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(need("vocab/t5/spiece.model")))
    rng = random.Random(3)
    texts = ["a </s> b", "a<unk>b", "</s>", "<pad></s> </s>x", "the </s>s is </ s>"]
    texts.append("x" * 20_000 + "</s>")
    texts += [" ".join(rng.choices(PARTS[:-6], k=4)) for _ in range(100)]
    for text in texts:
        assert tok.encode_segments([(text, False)]).ids == theirs.encode(text)


@pytest.mark.slow
def test_segments_equal_the_definition() -> None:
    tok = _t5()
    guarded = {token.content for token in tok.added_tokens}
    theirs = _reference(tok, {"</s>", "<pad>", "<unk>"} | {f"<extra_id_{n}>" for n in range(100)})
    rng = random.Random(4)
    found_special = 0
    for _ in range(150):
        segments = _hostile(rng)
        ours = tok.encode_segments(segments)
        expected = theirs.encode_segments(segments, guarded)
        assert (ours.ids, ours.encoding.offsets) == (expected.ids, expected.offsets)
        allowed = "".join(text for text, is_allowed in segments if is_allowed)
        assert ours.ids.count(1) <= allowed.count("</s>")
        found_special += 1 in ours.ids
    assert found_special > 20


def test_a_segment_with_permission_keeps_its_special_tokens() -> None:
    tok = _t5()
    result = tok.encode_segments([("a </s>", False), ("</s>", True)], add_special_tokens=True)
    assert result.ids[-2:] == [1, 1]
    assert result.ids.count(1) == 2
    assert result.encoding.tokens[-1] == "</s>"
    assert result.token_spans[1] == (len(result.ids) - 2, len(result.ids) - 1)
    assert pickle.loads(pickle.dumps(result)) == result


def test_a_message_never_ends_the_turn_of_a_chat() -> None:
    tok = _t5().with_chat_template(TEMPLATE)
    plain = pw.chat.apply_chat_template(tok, [{"role": "user", "content": "a"}])
    hostile = pw.chat.apply_chat_template(tok, [{"role": "user", "content": "a</s>b <pad></s>"}])
    assert plain.ids.count(1) == hostile.ids.count(1) == 1
    assert 0 not in hostile.ids
    assert pw.chat.count_messages(tok, [{"role": "user", "content": "</s>"}]) > 0


def test_the_tokenizer_itself_does_not_change() -> None:
    tok = _t5()
    before = tok.encode("a </s> b", parse_special=False).ids
    tok.encode_segments([("a </s> b", False)])
    assert tok.encode("a </s> b", parse_special=False).ids == before
    assert tok == _t5()


def test_custom_stages_stay() -> None:
    pieces = (("<unk>", 0.0), ("</s>", 0.0), *((c, -1.0) for c in "abs/<>"))
    tok = pw.Tokenizer(
        pw.spec.Unigram(pieces, 0),
        normalizer=pw.spec.CustomNormalizer(str.lower),
        added_tokens=[pw.spec.AddedToken("</s>", 1)],
    )
    segments = [("AB</S>", False), ("</s>", True)]
    assert tok.encode_segments(segments).encoding.tokens == ["a", "b", "<", "/", "s", ">", "</s>"]


def test_unknown_characters_that_spell_a_special_piece_are_unknown() -> None:
    # Elsewhere, a run of unknown characters whose text is a token becomes that token, as in tokenizers.
    model = pw.spec.Unigram((("<unk>", 0.0), ("</s>", 0.0), ("a", -1.0)), 0)
    tok = pw.Tokenizer(model, added_tokens=[pw.spec.AddedToken("</s>", 1)])
    assert tok.encode("a</s>", parse_special=False).ids == [2, 1]
    assert tok.encode_segments([("a</s>", False)]).ids == [2, 0]
