"""A WordPiece vocabulary as a Unigram model: the same entries and ids, the most probable segmentation."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
import tokenizers

import piecework as pw
from piecework.reference import unigram_training as reference
from piecework.spec import AddedToken, BertPreTokenizer, WhitespaceSplit, WordPiece
from tests.conftest import Run

SYLLABLES = ["ba", "ku", "ri", "so", "ten", "lo", "mi", "hug", "pun", "s", "é"]


def corpus(lines: int = 300) -> list[str]:
    draw = random.Random(1)
    words = ["".join(draw.choices(SYLLABLES, k=draw.randint(1, 4))) for _ in range(400)]
    return [" ".join(draw.choices(words, k=12)) + "!" for _ in range(lines)]


TEXTS = corpus()


@pytest.fixture(scope="module")
def wordpiece() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(TEXTS, vocab_size=150)


@pytest.fixture(scope="module")
def unigram(wordpiece: pw.Tokenizer) -> pw.Tokenizer:
    return pw.vocabulary.to_unigram(wordpiece, TEXTS).tokenizer


def text_of(token: str, special: frozenset[str]) -> str:
    """Return the piece that an entry becomes."""
    if token in special:
        return token
    return token[2:] if token.startswith("##") else f"▁{token}"


def test_entries_keep_their_ids_and_the_metaspace_follows(
    wordpiece: pw.Tokenizer, unigram: pw.Tokenizer
) -> None:
    special = frozenset(wordpiece.special_tokens_map.values())
    entries = sorted(wordpiece.get_vocab(), key=wordpiece.get_vocab().__getitem__)
    pieces = [piece for piece, _ in unigram.spec.model.pieces]
    assert pieces == [*(text_of(entry, special) for entry in entries), "▁"]
    assert wordpiece.get_vocab_size() == 150


def test_tokenizers_reads_it_and_gives_the_same_ids(unigram: pw.Tokenizer, tmp_path: Path) -> None:
    unigram.save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    draw = random.Random(2)
    alphabet = [*SYLLABLES, " ", ",", "☃", "▁", "[SEP]", "B", "  "]
    random_texts = ["".join(draw.choices(alphabet, k=draw.randint(0, 30))) for _ in range(2_000)]
    for text in [*TEXTS, *random_texts]:
        assert unigram.encode(text).ids == theirs.encode(text).ids, text


def test_scores_equal_those_of_em_from_the_segmentations_by_wordpiece() -> None:
    vocab = {token: id for id, token in enumerate("[UNK] h u hu ##h ##u ##g ##s ##ug ##gs".split())}
    tok = pw.Tokenizer(WordPiece(vocab), pre_tokenizer=WhitespaceSplit())
    words = {"hugs": 5, "hug": 9, "hu": 3, "uhu": 2}
    counts = pw.Counts(list(words), list(words.values()))
    uses = dict.fromkeys((token for token in vocab if token != "[UNK]"), 0)
    for word, count in words.items():
        for token in tok.encode(word).tokens:
            uses[token] += count
    segments = [(f"▁{word}", count) for word, count in words.items()]
    characters = reference.substring_counts(segments, 1)
    weights = {
        piece: max(used, 1) * len(piece)
        for token, used in uses.items()
        if len(piece := text_of(token, frozenset())) > 1
    } | characters
    total = sum(weights.values())
    scores = {piece: math.log(weights[piece] / total) for piece in sorted(weights)}
    for iterations in (1, 4):
        expected = dict(scores)
        for _ in range(iterations):
            found = reference.expect(segments, expected)
            expected = reference.maximize(found, reference.unit(segments), wanted=0)
        pieces = dict(
            pw.vocabulary.to_unigram(tok, counts, iterations=iterations).tokenizer.spec.model.pieces
        )
        shared = pieces.keys() & expected.keys()
        assert len(shared) > 5
        assert {piece: pieces[piece] for piece in shared} == pytest.approx(
            {piece: expected[piece] for piece in shared}, abs=1e-9
        )


def test_no_other_segmentation_is_more_probable_than_the_chosen_one(
    wordpiece: pw.Tokenizer, unigram: pw.Tokenizer
) -> None:
    scores = dict(unigram.spec.model.pieces)
    differing = 0
    for word in {word.strip("!") for text in TEXTS for word in text.split()}:
        greedy = wordpiece.encode(word, add_special_tokens=False).tokens
        best = unigram.encode(word, add_special_tokens=False).tokens
        assert "".join(best) == f"▁{wordpiece.normalize(word)}"
        matched = [text_of(token, frozenset()) for token in greedy]
        gain = sum(scores[piece] for piece in best) - sum(scores[piece] for piece in matched)
        assert gain >= -1e-9
        differing += gain > 1e-9
    assert differing


def test_words_special_tokens_and_decoded_text_equal_those_of_wordpiece(
    wordpiece: pw.Tokenizer, unigram: pw.Tokenizer
) -> None:
    for text in TEXTS[:50]:
        before, after = wordpiece.encode(text), unigram.encode(text)
        assert (after.ids[0], after.ids[-1]) == (before.ids[0], before.ids[-1])
        assert max(i for i in after.word_ids if i is not None) == max(
            i for i in before.word_ids if i is not None
        )
        assert unigram.decode(after.ids) == wordpiece.decode(before.ids, clean_up=False)
    assert unigram.special_tokens_map == wordpiece.special_tokens_map


def test_an_unknown_character_is_unknown_by_itself(
    wordpiece: pw.Tokenizer, unigram: pw.Tokenizer
) -> None:
    assert wordpiece.encode("hug☃", add_special_tokens=False).tokens == ["[UNK]"]
    tokens = unigram.encode("hug☃", add_special_tokens=False).tokens
    assert tokens[-1] == "[UNK]"
    assert "".join(tokens[:-1]) == "▁hug"


def test_added_tokens_keep_their_ids(wordpiece: pw.Tokenizer) -> None:
    tok = wordpiece.with_added_tokens([AddedToken("<sep>"), AddedToken("<end>", special=True)])
    unigram = pw.vocabulary.to_unigram(tok, TEXTS).tokenizer
    assert unigram.get_vocab_size() == tok.get_vocab_size() + 1
    for token in ("<sep>", "<end>"):
        assert unigram.token_to_id(token) == tok.token_to_id(token)
    assert "<sep>" in unigram.encode("hug<sep>pun").tokens


def test_counts_and_texts_and_threads_give_the_same_scores(wordpiece: pw.Tokenizer) -> None:
    counts = pw.count_texts(TEXTS, preset=pw.train.pipeline_of(wordpiece.spec))
    one = pw.vocabulary.to_unigram(wordpiece, counts, num_threads=1).tokenizer
    assert one.spec == pw.vocabulary.to_unigram(wordpiece, TEXTS, num_threads=3).tokenizer.spec
    assert one.spec != pw.vocabulary.to_unigram(wordpiece, TEXTS, iterations=1).tokenizer.spec


def test_entries_that_do_not_occur_are_never_chosen_before_those_that_do() -> None:
    vocab = {token: id for id, token in enumerate("[UNK] h hugs ##ugs ##u ##g ##s zebra".split())}
    tok = pw.Tokenizer(WordPiece(vocab), pre_tokenizer=WhitespaceSplit())
    unigram = pw.vocabulary.to_unigram(tok, ["hugs hugs"]).tokenizer
    scores = dict(unigram.spec.model.pieces)
    assert scores["▁zebra"] == min(scores.values())
    assert unigram.encode("hugs").tokens == ["▁hugs"]
    assert unigram.encode("zebra").tokens == ["▁zebra"]


def error_of(tok: pw.Tokenizer, texts: object) -> str:
    with pytest.raises(pw.errors.PieceworkError) as caught:
        pw.vocabulary.to_unigram(tok, texts)  # type: ignore[arg-type]
    return str(caught.value)


def test_models_that_cannot_become_unigram_models_raise_errors(wordpiece: pw.Tokenizer) -> None:
    bpe = pw.Tokenizer.train_from_iterator(TEXTS, model="bpe", vocab_size=40)
    assert error_of(bpe, TEXTS) == "model: must be WordPiece, not BPE"
    gap = pw.Tokenizer(WordPiece({"[UNK]": 0, "a": 2}), pre_tokenizer=WhitespaceSplit())
    assert "vocab: has no entry with id 1; its ids must be without gaps" in error_of(gap, ["a"])
    twice = pw.Tokenizer(
        WordPiece({"[UNK]": 0, "a": 1, "##▁a": 2}), pre_tokenizer=WhitespaceSplit()
    )
    assert "two entries that become the piece '▁a'" in error_of(twice, ["a"])
    other = pw.count_texts(TEXTS, preset=pw.train.Pipeline(None, BertPreTokenizer()))
    assert (
        "corpus: has words of the pipeline BertPreTokenizer(), and the tokenizer has the pipeline"
        in error_of(wordpiece, other)
    )
    assert "no words" in error_of(wordpiece, [])
    assert "no word without unknown characters" in error_of(wordpiece, ["☃ ☃☃"])
    with pytest.raises(pw.errors.ArgumentError, match="iterations"):
        pw.vocabulary.to_unigram(wordpiece, TEXTS, iterations=0)


def test_the_command_converts_with_a_corpus(
    cli: Run, wordpiece: pw.Tokenizer, unigram: pw.Tokenizer, tmp_path: Path
) -> None:
    wordpiece.save(tmp_path / "wordpiece.json")
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    paths = [str(tmp_path / name) for name in ("wordpiece.json", "unigram.json", "corpus.txt")]
    code, _, errors = cli("convert", *paths[:2], "--unigram", paths[2])
    assert code == 0, errors
    assert pw.Tokenizer.load(paths[1]).spec == unigram.spec
