"""A cache gives the very tokenizer it was made of, or is refused; one beside a source follows the source."""

from __future__ import annotations

import gzip
import os
import pickle
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import FileError, FormatError
from tests import components
from tests.laws.counting import compared, compares_some

TEXTS = ["hugs pug, bun", "Žába 蛙 <|end|>", "  a\tb\n", "", "x" * 300]
TRAIN = ["hug hugs pug pun bun žába"] * 5


def tokenizers() -> dict[str, pw.Tokenizer]:
    kinds = {
        "wordpiece": 30,
        "bpe": 20,
        "byte-bpe": 270,
        "unigram": 30,
        "byte-unigram": 270,
        "char": 12,
        "word": 10,
    }
    return {
        kind: pw.Tokenizer.train_from_iterator(TRAIN, model=kind, vocab_size=size)
        for kind, size in kinds.items()
    }


TOKENIZERS = tokenizers()


def same(one: pw.Tokenizer, other: pw.Tokenizer) -> None:
    assert one == other
    assert one.spec == other.spec
    assert one.to_str() == other.to_str()
    assert one.get_vocab() == other.get_vocab()
    assert one.encode_batch(TEXTS).to_lists() == other.encode_batch(TEXTS).to_lists()
    for text in TEXTS:
        assert one.encode(text).offsets == other.encode(text).offsets


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_a_loaded_cache_equals_the_saved_tokenizer(kind: str, tmp_path: Path) -> None:
    tok = TOKENIZERS[kind]
    tok.save(tmp_path / "x.pwc")
    loaded = pw.Tokenizer.load(tmp_path / "x.pwc")
    same(loaded, tok)
    same(pickle.loads(pickle.dumps(loaded)), tok)
    loaded.save(tmp_path / "again.pwc")
    assert (tmp_path / "again.pwc").read_bytes() == (tmp_path / "x.pwc").read_bytes()
    # It may be replaced, and be gone, while it is in use.
    tok.save(tmp_path / "x.pwc")
    os.remove(tmp_path / "x.pwc")
    same(loaded, tok)


@compares_some
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(components.DOCUMENTS)
def test_random_pipelines_survive_a_compiled_cache(
    tmp_path: Path, document: dict[str, object]
) -> None:
    import json

    try:
        tok = pw.Tokenizer.from_str(json.dumps(document))
    except pw.PieceworkError:
        assume(False)
    tok.save(tmp_path / "x.pwc")
    loaded = pw.Tokenizer.load(tmp_path / "x.pwc")
    assert loaded == tok
    plainly = pw.Sampling(nbest_size=1)  # some of them have dropout
    for text in TEXTS:
        try:
            expected = tok.encode(text, sampling=plainly)
        except pw.PieceworkError:
            continue
        compared()
        found = loaded.encode(text, sampling=plainly)
        assert (found.ids, found.offsets) == (expected.ids, expected.offsets)


def test_a_cache_keeps_the_treatment_of_special_tokens(tmp_path: Path) -> None:
    strict = TOKENIZERS["wordpiece"].with_parse_special("refuse")
    strict.save(tmp_path / "x.pwc")
    with pytest.raises(pw.errors.SpecialTokenError):
        pw.Tokenizer.load(tmp_path / "x.pwc").encode("[SEP]")


def test_a_cache_of_ranks_derives_its_merges(tmp_path: Path) -> None:
    ranks, cache = tmp_path / "ranks.tiktoken", tmp_path / "ranks.pwc"
    TOKENIZERS["byte-bpe"].save(ranks)
    tok = pw.Tokenizer.load(ranks, pattern="gpt2", special_tokens={"<|a|>": 0})
    tok.save(cache)
    same(pw.Tokenizer.load(cache), tok)
    words = [f"{one}{other}pugs" for one in "hugbnžá" for other in "hugbnžá" * 60]
    first, later = pw.Tokenizer.load(cache), tok.encode_batch(words).to_lists()
    assert [first.encode(word).ids for word in words] == later


def test_custom_stages_are_refused(tmp_path: Path) -> None:
    custom = TOKENIZERS["word"].with_normalizer(pw.spec.CustomNormalizer(str.lower))
    with pytest.raises(pw.PieceworkError, match="custom stages are functions"):
        custom.save(tmp_path / "x.pwc")
    assert not list(tmp_path.iterdir())


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_cache_is_refused(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "x.pwc"
    TOKENIZERS["wordpiece"].save(path)
    whole = path.read_bytes()
    at = data.draw(st.integers(8, len(whole) - 1))
    changed = bytes([whole[at] ^ data.draw(st.integers(1, 255))])
    damaged = data.draw(st.sampled_from([whole[:at], whole[:at] + changed + whole[at + 1 :]]))
    path.write_bytes(damaged)
    with pytest.raises(FormatError, match=r"x\.pwc: "):
        pw.Tokenizer.load(path)


def test_a_cache_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.pwc"
    TOKENIZERS["wordpiece"].save(path)
    path.write_bytes(path.read_bytes().replace(pw.__version__.encode(), b"0.0.9", 1))
    with pytest.raises(FormatError, match=r"version: found 0\.0\.9, expected .*anew"):
        pw.Tokenizer.load(path)


def test_settings_are_rejected_for_a_compiled_cache(tmp_path: Path) -> None:
    TOKENIZERS["wordpiece"].save(tmp_path / "x.pwc")
    with pytest.raises(pw.errors.ArgumentError, match="lowercase"):
        pw.Tokenizer.load(tmp_path / "x.pwc", lowercase=True)
    with pytest.raises(FileError, match="no such file"):
        pw.Tokenizer.load(tmp_path / "absent.pwc")


def test_a_compressed_cache_is_refused(tmp_path: Path) -> None:
    TOKENIZERS["wordpiece"].save(tmp_path / "x.pwc")
    packed = gzip.compress((tmp_path / "x.pwc").read_bytes())
    (tmp_path / "x.gz").write_bytes(packed)
    for load in (
        lambda: pw.Tokenizer.load(tmp_path / "x.gz"),
        lambda: pw.Tokenizer.from_bytes(packed),
    ):
        with pytest.raises(FormatError, match="is a compiled cache that is compressed; unpack it"):
            load()


def test_a_cache_under_another_name_is_read_only_when_asked(tmp_path: Path) -> None:
    tok = TOKENIZERS["wordpiece"]
    tok.save(tmp_path / "x.pwc")
    expected = r" is a compiled cache under another name; pass compiled_cache=True to read"
    for name in ("vocab.txt", "tokenizer.json", "x.model", "x", "x.pwc.bin"):
        path = tmp_path / name
        path.write_bytes((tmp_path / "x.pwc").read_bytes())
        with pytest.raises(FormatError, match=expected) as raised:
            pw.Tokenizer.load(path)
        assert raised.value.place == str(path)
        assert pw.Tokenizer.load(path, compiled_cache=True) == tok
    (tmp_path / "folder").mkdir()
    (tmp_path / "vocab.txt").rename(tmp_path / "folder" / "tokenizer.json")
    with pytest.raises(FormatError, match=expected):
        pw.Tokenizer.load(tmp_path / "folder")


def test_the_suffix_says_that_a_file_is_a_cache(tmp_path: Path) -> None:
    path = tmp_path / "x.pwc"
    path.write_text("[UNK]\nhug\n")
    with pytest.raises(FormatError, match=r"x\.pwc: magic: found another file"):
        pw.Tokenizer.load(path)


def test_a_loaded_cache_does_not_follow_its_file(tmp_path: Path) -> None:
    tok, path = TOKENIZERS["unigram"], tmp_path / "x.pwc"
    tok.save(path)
    loaded = pw.Tokenizer.load(path)
    with path.open("r+b") as file:
        file.write(b"\xff" * path.stat().st_size)
        file.flush()
        same(loaded, tok)
        file.truncate(0)
        same(loaded, tok)


def test_a_compiled_cache_argument_of_a_wrong_type_is_named(tmp_path: Path) -> None:
    source = tmp_path / "vocab.txt"
    source.write_text("[UNK]\nhug\n")
    with pytest.raises(pw.errors.InputTypeError, match="compiled_cache: must be .*, not int"):
        pw.Tokenizer.load(source, compiled_cache=3)  # type: ignore[arg-type]


# ---- beside a source


def test_a_cache_beside_a_source_is_used_and_follows_it(tmp_path: Path) -> None:
    source, cache = tmp_path / "vocab.txt", tmp_path / "vocab.txt.pwc"
    source.write_text("[UNK]\nhug\n")
    assert pw.Tokenizer.load(source).token_to_id("hug") == 1
    assert not cache.exists(), "only on request"
    pw.Tokenizer.load(source, compiled_cache=True)
    first = cache.stat().st_mtime_ns
    assert pw.Tokenizer.load(source, compiled_cache=True).token_to_id("hug") == 1
    assert cache.stat().st_mtime_ns == first, "used, not written again"
    stat = source.stat()
    source.write_text("[UNK]\npug\n")
    os.utime(source, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert pw.Tokenizer.load(source, compiled_cache=True).token_to_id("pug") == 1, (
        "told by content, not by time"
    )


def test_special_tokens_in_any_order_are_cached(tmp_path: Path) -> None:
    source = tmp_path / "vocab.txt"
    source.write_text("[UNK]\n[PAD]\nhug\n##s\n[SEP]\n[CLS]\n")
    loaded = pw.Tokenizer.load(source, compiled_cache=True)
    assert (tmp_path / "vocab.txt.pwc").exists()
    cached = pw.Tokenizer.load(source, compiled_cache=True)
    assert cached.to_str() == loaded.to_str() == pw.Tokenizer.load(source).to_str()


def test_tokens_of_one_normalized_form_are_found_alike_after_saving(tmp_path: Path) -> None:
    tokens = [
        pw.spec.AddedToken(text, id, normalized=True, special=False)
        for text, id in [("Foo", 2), ("foo", 1)]
    ]
    spec = pw.spec.TokenizerSpec(
        pw.spec.WordLevel({"[UNK]": 0}), normalizer=pw.spec.Lowercase(), added_tokens=tuple(tokens)
    )
    tok = pw.Tokenizer.from_spec(spec)
    tok.save(tmp_path / "t.json")
    saved = pw.Tokenizer.load(tmp_path / "t.json")
    assert tok.encode("foo").ids == saved.encode("foo").ids == [1]


def test_other_settings_are_another_tokenizer(tmp_path: Path) -> None:
    source = tmp_path / "vocab.txt"
    source.write_text("[UNK]\nhug\n")
    assert pw.Tokenizer.load(source, lowercase=True, compiled_cache=True).encode("HUG").ids == [1]
    assert pw.Tokenizer.load(source, lowercase=False, compiled_cache=True).encode("HUG").ids == [0]
    assert pw.Tokenizer.load(source, lowercase=True, compiled_cache=True).encode("HUG").ids == [1]


def test_the_cache_may_be_elsewhere_and_may_be_damaged(tmp_path: Path) -> None:
    source, cache = tmp_path / "vocab.txt", tmp_path / "elsewhere"
    source.write_text("[UNK]\nhug\n")
    expected = pw.Tokenizer.load(source)
    for content in (b"", b"something else", b"\x93PWC\r\n\x1a\n" + b"x" * 100):
        cache.write_bytes(content)
        assert pw.Tokenizer.load(source, compiled_cache=cache) == expected
        assert pw.Tokenizer.load(cache, compiled_cache=True) == expected, "written anew"


def test_where_no_cache_can_be_written_the_source_is_read(tmp_path: Path) -> None:
    source = tmp_path / "vocab.txt"
    source.write_text("[UNK]\nhug\n")
    nowhere = tmp_path / "absent" / "x.pwc"
    assert pw.Tokenizer.load(source, compiled_cache=nowhere) == pw.Tokenizer.load(source)
    assert not nowhere.exists()


def test_pairs_of_files_are_cached_as_one(tmp_path: Path) -> None:
    tok = TOKENIZERS["byte-bpe"]
    merges = tmp_path / "merges.txt"
    tok.save(tmp_path / "vocab.json", merges=merges)
    loaded = pw.Tokenizer.load(tmp_path, compiled_cache=True)
    assert pw.Tokenizer.load(tmp_path, compiled_cache=True) == loaded
    assert (tmp_path / "vocab.json.pwc").exists()
    merges.write_text("\n".join(merges.read_text().splitlines()[:-1]) + "\n")
    assert pw.Tokenizer.load(tmp_path, compiled_cache=True) == pw.Tokenizer.load(tmp_path)
