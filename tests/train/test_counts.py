"""Word counts: made from files and iterators, merged, compared, saved and loaded."""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import pickle
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import ArgumentError
from piecework.spec import CustomPreTokenizer
from piecework.train import Merges, Pipeline, count_files, count_texts

WORDS = st.dictionaries(st.text("abc\u00e9", min_size=1, max_size=3), st.integers(1, 2**40))


def counts_of(words: dict[str, int], first: int = 0) -> pw.Counts:
    return pw.Counts(list(words), list(words.values()), [first + 7 * n for n in range(len(words))])


def as_dict(counts: pw.Counts) -> dict[str, int]:
    return dict(counts)


# ---- counting


def test_a_file_is_counted_through_the_preset(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Hug pug, hug\nHUG!\n")
    assert as_dict(count_files(path)) == {"hug": 3, "pug": 1, ",": 1, "!": 1}
    assert as_dict(count_files(path, preset="whitespace")) == {
        "Hug": 1,
        "pug,": 1,
        "hug": 1,
        "HUG!": 1,
    }


def test_words_are_ordered_by_first_position_and_files_by_source(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("pug hug\nbug pug\n")
    (tmp_path / "b.txt").write_text("hug nug\n")
    counts = count_files([tmp_path / "a.txt", tmp_path / "b.txt"], first_source=2)
    assert counts.words == ["pug", "hug", "bug", "nug"]
    assert counts.first is not None
    assert counts.first.tolist() == [2 << 40, (2 << 40) + 4, (2 << 40) + 8, (3 << 40) + 4]


def test_texts_are_one_source_with_a_separator_byte_between(tmp_path: Path) -> None:
    counts = count_texts(iter(["pug", "é hug", "nug"]), preset="whitespace")
    assert counts.words == ["pug", "é", "hug", "nug"]
    assert counts.first is not None
    assert counts.first.tolist() == [0, 4, 7, 11]


def test_the_same_texts_count_alike_from_files_and_iterators(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"word{n % 17} and {n}\n" for n in range(500)))
    assert count_files(path) == count_texts(path.read_text().splitlines())


def test_sharded_counts_merge_to_the_whole(tmp_path: Path) -> None:
    paths = []
    for name in "abc":
        paths.append(tmp_path / f"{name}.txt")
        paths[-1].write_text(f"hug {name} pug\nhug {name}{name}\n")
    shards = [count_files(path, first_source=n) for n, path in enumerate(paths)]
    assert shards[2].merge(shards[0]).merge(shards[1]) == count_files(paths)


def test_workers_do_not_change_the_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"word{n * n % 1009}\n" for n in range(20_000)))
    assert count_files(path, num_threads=1) == count_files(path, num_threads=3)


def test_progress_counts_bytes_and_texts(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("hug\n")
    told: list[tuple[int, int]] = []
    count_files([path, path], progress=lambda *step: told.append(step))
    count_texts(["hug", "pug"], progress=lambda *step: told.append(step))
    count_texts(iter(["hug"]), progress=lambda *step: told.append(step))
    assert told == [(4, 8), (8, 8), (2, 2), (1, 0)]


def test_an_interrupt_in_progress_stops_counting() -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_texts(["hug"], progress=interrupt)


# ---- bad input


@pytest.mark.parametrize("bad", [None, 3, b"pug", {"text": "pug"}])
def test_an_item_that_is_not_a_string_is_named_by_its_index(bad: object) -> None:
    with pytest.raises(pw.errors.InputTypeError, match=r"texts\[2\]: must be str.*, not \w+"):
        count_texts(["hug", "bug", bad])


@pytest.mark.parametrize("bad", ["one text", b"bytes", 3, None])
def test_inputs_other_than_iterables_of_texts_are_rejected(bad: object) -> None:
    with pytest.raises(pw.errors.InputTypeError, match="texts: must be "):
        count_texts(bad)


def test_invalid_utf8_is_replaced_counted_and_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"hug \xff hug\npug\xfe\n")
    with pytest.warns(pw.errors.TrainingWarning, match="2 invalid UTF-8 sequences were replaced"):
        counts = count_files(path, preset="whitespace")
    assert as_dict(counts) == {"hug": 2, "\ufffd": 1, "pug\ufffd": 1}
    assert counts.replacements == 2


def test_invalid_utf8_is_refused_with_its_byte_when_strict(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"hug\nhug \xff\n")
    with pytest.raises(pw.errors.InvalidUtf8Error, match=r"a\.txt.* byte 8\b"):
        count_files(path, encoding_errors="strict")


def test_the_byte_of_invalid_utf8_counts_from_the_start_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"hug pug\n" * 300_000 + b"\xff\n")  # several blocks
    with pytest.raises(pw.errors.InvalidUtf8Error, match=r" byte 2400000\b"):
        count_files(path, encoding_errors="strict")


def test_lone_surrogates_in_texts_are_replaced() -> None:
    with pytest.warns(pw.errors.TrainingWarning, match="1 invalid UTF-8 sequence was replaced"):
        assert as_dict(count_texts(["a\ud800"], preset="whitespace")) == {"a\ufffd": 1}


def test_clean_text_gives_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert count_texts(["hug \ufffd é"]).replacements == 0


@pytest.mark.parametrize(
    ("words", "counts", "first", "message"),
    [
        (
            ["a"],
            [1, 2],
            None,
            r"counts: must be one number for each of 1 words; its shape is \(2,\)",
        ),
        (["a"], [-1], None, "counts: must not be negative"),
        (["a"], [1.5], None, r"counts: must be .*, not float64 numbers"),
        (["a"], [1], [-1], "first: must not be negative"),
        (["a"], [1], [], r"first: must be one number for each of 1 words; its shape is \(0,\)"),
        (["a", "a"], [1, 2], None, "words: contain 'a' twice"),
        (["a", ""], [1, 2], None, r"words\[1\]: must be .*, not ''"),
        (["a", 3], [1, 2], None, r"words\[1\]: must be .*, not 3"),
    ],
)
def test_unusable_columns_are_named(
    words: list[str], counts: list[int], first: list[int] | None, message: str
) -> None:
    with pytest.raises(pw.errors.ArgumentError, match=message):
        pw.Counts(words, counts, first)


def test_an_unknown_preset_lists_the_known_ones() -> None:
    with pytest.raises(
        pw.errors.ArgumentError, match="preset: must be one of bert-uncased.*, not 'bert'"
    ):
        count_texts(["hug"], preset="bert")


# ---- what counts are


def test_words_without_positions_are_ordered_by_count_then_code_points() -> None:
    counts = pw.Counts(["b", "c"], [1, 1]) + pw.Counts(["c", "a"], [1, 1])
    assert counts.words == ["c", "a", "b"]
    assert counts.first is None
    assert counts.counts.dtype == np.uint64


def test_a_preset_is_a_name_an_object_or_a_pipeline(tmp_path: Path) -> None:
    preset = pw.train.PRESETS["gpt2"]
    by_name = count_texts(["Hug hug"], preset="gpt2")
    assert dict(by_name) == {"Hug": 1, "Ġhug": 1}
    (tmp_path / "corpus.txt").write_text("Hug hug")
    for one in ("gpt2", preset, preset.pipeline):
        assert count_texts(["Hug hug"], preset=one) == by_name
        assert pw.train.count_files(tmp_path / "corpus.txt", preset=one) == by_name
    with pytest.raises(ArgumentError, match="preset: must be one of bert-uncased.*, not 'gpt3'"):
        count_texts(["hug"], preset="gpt3")


def test_an_unknown_setting_of_counting_lists_the_valid_ones(tmp_path: Path) -> None:
    calls: list[Any] = [
        partial(count_texts, ["hug"]),
        partial(pw.train.count_files, tmp_path),
        partial(pw.train.count_files_to, tmp_path / "counts.tsv", tmp_path),
        partial(pw.train.count_sources, {"en": tmp_path, "cs": tmp_path}),
    ]
    for call in calls:
        name = call.func.__name__
        with pytest.raises(
            pw.errors.InputTypeError, match=f"sampel: is not a setting of {name}, .*sample"
        ):
            call(sampel=0.5)
        with pytest.raises(pw.errors.InputTypeError, match="^show_progress: .*; use progress=True"):
            call(show_progress=True)


def test_help_shows_the_settings_of_counts() -> None:
    shown = inspect.signature(pw.train.count_files).parameters
    assert shown["sample"].annotation == "float | None"
    assert shown["seed"].default == 0
    assert "source_weights" not in inspect.signature(pw.train.count_sources).parameters
    assert "field" not in inspect.signature(count_texts).parameters
    assert "`max_word_length` (None, no limit): Skip longer words" in (count_texts.__doc__ or "")


def test_words_given_as_a_list_are_in_the_order_of_the_corpus() -> None:
    counts = pw.Counts(["b", "c", "a"], [1, 2, 1])
    assert list(counts) == [("b", 1), ("c", 2), ("a", 1)]
    assert counts.first is not None
    assert counts.first.tolist() == [0, 1, 2]
    trainer = pw.WordPieceTrainer(19, Merges("pmi"), min_frequency=1, special_tokens=("[UNK]",))
    hugs = pw.Counts(["hug", "pug", "pun", "bun", "hugs"], [10, 5, 12, 4, 5])
    tokens = [merge.token for merge in trainer.learn_vocabulary(hugs).merges]
    assert tokens == ["##gs", "hu", "hugs", "hug"]


def test_most_common_puts_the_earlier_word_first_among_equals() -> None:
    counts = pw.Counts(["b", "c", "a"], [1, 2, 1], [0, 1, 2])
    assert counts.most_common() == [("c", 2), ("b", 1), ("a", 1)]
    assert counts.most_common(1) == [("c", 2)]
    assert pw.Counts([], []).most_common() == []
    assert (counts.total, len(counts)) == (4, 3)


@given(WORDS, WORDS)
def test_merging_is_commutative_and_adds(a: dict[str, int], b: dict[str, int]) -> None:
    left, right = counts_of(a), counts_of(b, first=3)
    merged = left.merge(right)
    assert merged == right.merge(left)
    assert as_dict(merged) == {word: a.get(word, 0) + b.get(word, 0) for word in {**a, **b}}


@given(WORDS, WORDS, WORDS)
def test_merging_is_associative(a: dict[str, int], b: dict[str, int], c: dict[str, int]) -> None:
    one, two, three = counts_of(a), counts_of(b, 3), counts_of(c, 5)
    assert one.merge(two).merge(three) == one.merge(two.merge(three))


def test_counts_of_different_pipelines_do_not_merge() -> None:
    with pytest.raises(
        pw.errors.ArgumentError,
        match=r"other: has counts of another pipeline: WhitespaceSplit\(\), not",
    ):
        count_texts(["hug"]).merge(count_texts(["hug"], preset="whitespace"))


def test_counts_of_an_unknown_pipeline_merge_with_any() -> None:
    merged = pw.Counts(["hug"], [1], [0]).merge(count_texts(["hug"]))
    assert merged == count_texts(["hug hug"])


def test_equality_looks_at_words_counts_and_pipeline() -> None:
    counts = pw.Counts(["a", "b"], [1, 1], [0, 1])
    assert counts == pw.Counts(["b", "a"], [1, 1], [0, 1])
    assert counts == pw.Counts(["a", "b"], [1, 1])
    assert counts != pw.Counts(["a", "c"], [1, 1], [0, 1])
    assert counts != pw.Counts(["a", "b"], [2, 1], [0, 1])
    assert counts != pw.Counts(["a"], [1], [0])
    assert counts != pw.Counts(["a", "b"], [1, 1], [0, 1], Pipeline())
    assert counts != {"a": 1, "b": 1}
    with pytest.raises(TypeError, match="unhashable"):
        hash(counts)


def test_counts_add() -> None:
    one, two = count_texts(["hug pug"]), count_texts(["pug bug"])
    assert one + two == one.merge(two) == count_texts(["hug pug", "pug bug"])
    total = one
    total += two
    assert total == two + one
    assert one == count_texts(["hug pug"])
    assert sum([one, two, one]) == one + two + one
    assert sum([one, two], pw.Counts([], [])) == one + two
    assert sum([one]) == one


def test_replacements_of_counts_add() -> None:
    with pytest.warns(pw.errors.TrainingWarning):
        one, two = count_texts(["\ud800"]), count_texts(["\ud800 \ud801"])
    assert (one + two).replacements == 3


@pytest.mark.parametrize("other", [1, 0, None, {"a": 1}, "a"])
def test_only_counts_are_added_to_counts(other: Any) -> None:
    counts = pw.Counts(["a"], [1])
    with pytest.raises(TypeError):
        counts + other
    with pytest.raises(pw.errors.ArgumentError, match=r"other: must be Counts, not \w+"):
        counts.merge(other)
    if other != 0:
        with pytest.raises(TypeError):
            other + counts


def test_sums_beyond_64_bits_are_refused() -> None:
    with pytest.raises(
        pw.errors.TrainingError, match='count of "a": must be .*, not a sum beyond 64 bits'
    ):
        pw.Counts(["a"], [2**64 - 1]) + pw.Counts(["a"], [1])


def test_adding_shards_that_share_a_source_drops_first_positions() -> None:
    one, two = count_texts(["pug hug"]), count_texts(["bug pug"])
    assert (one + two).first is None
    assert (one + two).words == ["pug", "bug", "hug"]
    numbered = one + count_texts(["bug pug"], source=1)
    assert numbered.first is not None
    assert numbered.words == ["pug", "hug", "bug"]
    assert numbered == one + two


def test_adding_empty_counts_keeps_first_positions() -> None:
    counts = count_texts(["pug hug"])
    for empty in (pw.Counts([], []), count_texts([]), pw.Counts(["a"], [0])):
        assert (empty + counts).words == (counts + empty).words == ["pug", "hug"]
        assert (empty + counts).first is not None


@pytest.mark.parametrize("source", [-1, 2**24, True, "0", 1.5])
def test_a_source_number_that_positions_cannot_hold_is_refused(source: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hug\n")
    with pytest.raises(pw.errors.ArgumentError, match="^source: (must be |16777216 and )"):
        count_texts(["hug"], source=source)
    with pytest.raises(pw.errors.ArgumentError, match="^first_source: (must be |16777216 and )"):
        count_files(tmp_path / "a.txt", first_source=source)


def counted() -> list[pw.Counts]:
    """Counts with and without positions, pipeline and words."""
    return [
        count_texts(["hug pug é 中"], source=3),
        count_texts(["hug"]) + count_texts(["pug"]),
        pw.Counts(["a\t\n\0"], [2**64 - 1]),
        pw.Counts([], []),
    ]


def assert_same(one: pw.Counts, two: pw.Counts) -> None:
    """Compare more than `==` does."""
    assert one == two
    assert one.words == two.words
    assert one.pipeline == two.pipeline
    assert one.replacements == two.replacements
    assert (one.first is None) == (two.first is None)
    if one.first is not None and two.first is not None:
        assert one.first.tolist() == two.first.tolist()


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_counts_pickle(protocol: int) -> None:
    for counts in counted():
        assert_same(pickle.loads(pickle.dumps(counts, protocol)), counts)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_counts_copy(duplicate: Callable[[pw.Counts], pw.Counts]) -> None:
    for counts in counted():
        assert_same(duplicate(counts), counts)


def test_counts_of_custom_stages_pickle_by_name() -> None:
    stage = CustomPreTokenizer(lambda text: [(0, 1), (1, len(text))], name="halves")
    counts = count_texts(["hugs"], preset=Pipeline(None, stage))
    again = pickle.loads(pickle.dumps(counts))
    assert again == counts
    assert dict(again + counts) == {"h": 2, "ugs": 2}


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_counts_cross_processes(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no start method {method!r}")
    texts = [["hug pug"], ["pug bug"], ["hug"]]
    whole = count_texts([text for part in texts for text in part])
    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        assert sum(pool.map(count_texts, texts)) == whole
    with multiprocessing.get_context(method).Pool(1) as processes:
        assert processes.map(len, counted()) == [4, 2, 1, 0]


def test_counts_are_shown_with_their_size() -> None:
    assert repr(count_texts(["hug pug hug"])) == "Counts(2 words, 3 in total)"


# ---- files


@pytest.fixture(params=["counts.parquet", "counts.tsv"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    return tmp_path / request.param


def test_counts_without_positions_load_without_them(path: Path) -> None:
    counts = count_texts(["hug"]) + count_texts(["pug"])
    counts.save(path)
    assert_same(pw.Counts.load(path), counts)


def test_saved_counts_load_equal_under_any_name(path: Path, tmp_path: Path) -> None:
    counts = count_texts(["Hug pug é 中", "# hug"], preset="bert-cased")
    counts.save(path)
    renamed = path.rename(tmp_path / "renamed")
    assert_same(pw.Counts.load(renamed), counts)


def test_the_largest_numbers_survive_a_file(path: Path) -> None:
    counts = pw.Counts(["a"], [2**64 - 1], [2**64 - 1])
    counts.save(path)
    assert_same(pw.Counts.load(path), counts)


def test_empty_counts_survive_a_file(path: Path) -> None:
    pw.Counts([], []).save(path)
    assert pw.Counts.load(path) == pw.Counts([], [])


def test_saving_replaces_a_file_whole_and_leaves_nothing_else(path: Path) -> None:
    path.write_text("old")
    count_texts(["hug"]).save(path)
    assert len(pw.Counts.load(path)) == 1
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "counts.tsv"
    path.write_text("old")
    for word in ("a\tb", "a\nb"):
        with pytest.raises(
            pw.errors.ArgumentError,
            match=r"a tab or a newline, which TSV cannot hold; use \.parquet",
        ):
            pw.Counts([word], [1]).save(path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["counts.tsv"]


def test_parquet_keeps_words_with_tabs_and_newlines(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    counts = pw.Counts(["a\tb\n"], [1])
    counts.save(tmp_path / "a.parquet")
    assert pw.Counts.load(tmp_path / "a.parquet") == counts


def test_a_tsv_is_readable_by_eye(tmp_path: Path) -> None:
    count_texts(["hug pug hug"], preset="whitespace").save(tmp_path / "a.tsv")
    assert (tmp_path / "a.tsv").read_text().splitlines() == [
        '# piecework counts {"normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"}}',
        "word\tcount\tfirst",
        "hug\t2\t0",
        "pug\t1\t4",
    ]


def test_a_tsv_from_elsewhere_may_lack_positions_and_pipeline(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b"word\tcount\r\nb\t1\r\na\t2")
    assert pw.Counts.load(path) == pw.Counts(["a", "b"], [2, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"a\.tsv line 1: found ''"),
        ("some text\n", r"line 1: found 'some text'"),
        ("# piecework counts {}\nword\tcount\n", r"line 1: pipeline: found '{}'"),
        ('# piecework counts {"normalizer": {"type": "x"}}\n', r"normalizer|pipeline"),
        ("word\tcount\na\n", r"line 2: found 1 column, expected 2"),
        ("word\tcount\na\t-1\n", r"column 'count' line 2: found '-1'"),
        ("word\tcount\na\t1\nb\t٣\n", r"column 'count' line 3"),
        (f"word\tcount\tfirst\na\t1\t{2**64}\n", r"column 'first' line 2"),
        ("word\tcount\na\t1\na\t2\n", r"a\.tsv: words: contain 'a' twice"),
    ],
)
def test_a_damaged_tsv_is_named_by_file_line_and_column(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(text)
    with pytest.raises(pw.errors.FormatError, match=message):
        pw.Counts.load(path)


def test_a_tsv_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(b"word\tcount\n\xff\t1\n")
    with pytest.raises(pw.errors.FormatError, match="invalid UTF-8 at byte 11"):
        pw.Counts.load(tmp_path / "a.tsv")


def test_damaged_parquet_is_refused(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1 and nothing")
    with pytest.raises(pw.errors.FormatError, match=r"a\.parquet: found damaged Parquet"):
        pw.Counts.load(path)
    for text in ("word", "hug"):  # the name of a column, and a word
        parquet.write_table(
            pyarrow.table({"word": ["hug"], "count": [1]}), path, compression="none"
        )
        path.write_bytes(path.read_bytes().replace(text.encode(), b"\xa0" * len(text)))
        with pytest.raises(pw.errors.FormatError, match=r"a\.parquet: found damaged Parquet"):
            pw.Counts.load(path)
    for table, message in (
        ({"word": ["a"]}, r"a\.parquet column 'count': is missing; there is only word"),
        ({"word": ["a"], "count": ["x"]}, r"column 'count': found values of type string"),
        ({"word": ["a"], "count": [-1]}, r"column 'count'"),
        (
            {"word": ["a", None], "count": [1, 1]},
            r"column 'word': must not have empty cells; it has 1",
        ),
    ):
        parquet.write_table(pyarrow.table(table), path)
        with pytest.raises(pw.errors.FormatError, match=message):
            pw.Counts.load(path)


def test_a_parquet_file_from_elsewhere_may_lack_positions_and_pipeline(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"word": ["b", "a"], "count": [1, 2]}), tmp_path / "a")
    assert pw.Counts.load(tmp_path / "a") == pw.Counts(["a", "b"], [2, 1])


def test_parquet_without_its_extra_says_which_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(pw.errors.MissingExtraError, match=r"pip install 'pyarrow>=14'"):
        pw.Counts(["a"], [1]).save(tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


def test_paths_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    counts = pw.Counts(["a"], [1])
    with pytest.raises(
        pw.errors.ArgumentError,
        match=r"path: must be a name ending in \.parquet or \.tsv, not '.*a\.csv'",
    ):
        counts.save(tmp_path / "a.csv")
    with pytest.raises(
        pw.errors.FileError, match=r".*missing.a\.tsv: cannot be written: no such file"
    ):
        counts.save(tmp_path / "missing" / "a.tsv")
    with pytest.raises(pw.errors.FileError, match=r"a\.tsv: cannot be read: no such file"):
        pw.Counts.load(tmp_path / "a.tsv")


@given(st.lists(st.integers(0, 2**64 - 1), max_size=20))
def test_a_total_is_exact(numbers: list[int]) -> None:
    for counts in (numbers, [*numbers, 2**63, 2**63]):
        words = [f"w{index}" for index in range(len(counts))]
        array = np.array(counts, np.uint64)
        assert pw.train.Counts(words, array).total == sum(counts)
