"""Measuring speed: what is measured, on which texts, and that peers are asked for the same thing.

No test looks at how long anything took.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.analysis import bench, bench_files
from piecework.analysis.bench import speed_table
from piecework.analysis.peers import PEERS, Peer, read_peer
from piecework.cli.bench import bench as bench_command
from piecework.train import NormalizationRules

TEXTS = [f"to be or not to be, that is question {number}" for number in range(40)]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def tokenizer() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(TEXTS, vocab_size=50)


@pytest.fixture
def files(tokenizer: pw.Tokenizer, tmp_path: Path) -> tuple[str, str]:
    """A tokenizer and a corpus of 400 lines, as files."""
    tokenizer.save(tmp_path / "tokenizer.json")
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS * 10))
    return str(tmp_path / "tokenizer.json"), str(tmp_path / "corpus.txt")


def ranks_file(folder: Path) -> str:
    """Write ranks of all bytes and two merges."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"be": 256, b" be": 257}
    from base64 import b64encode

    lines = [f"{b64encode(token).decode()} {rank}\n" for token, rank in ranks.items()]
    (folder / "tiny.tiktoken").write_text("".join(lines))
    return str(folder / "tiny.tiktoken")


def model_file(folder: Path) -> str:
    """Write a small SentencePiece model."""
    pieces = [("<unk>", 0, "unknown"), ("<s>", 0, "control"), ("</s>", 0, "control")]
    pieces += [(letter, -4, "normal") for letter in "▁tobehaqusin"] + [("▁to", -2, "normal")]
    model = pw.spec.SentencePiece(tuple(pw.spec.ScoredPiece(*piece) for piece in pieces))
    charsmap = NormalizationRules.named("nmt_nfkc").charsmap
    normalizer = pw.spec.SentencePieceNormalizer(charsmap=charsmap)
    decoder = pw.spec.SentencePieceDecoder()
    pw.Tokenizer(model, normalizer=normalizer, decoder=decoder).save(folder / "tiny.model")
    return str(folder / "tiny.model")


# ---- what is measured


def test_each_part_of_the_texts_is_measured_once(tokenizer: pw.Tokenizer) -> None:
    found = bench(tokenizer, TEXTS, repetitions=2, num_threads=3)
    assert (found.texts, found.repetitions) == (40, 2)
    parts = {"cold": TEXTS[:10], "steady": TEXTS[10:30], "offsets": TEXTS[30:]}
    parts["decode"] = parts["steady"]
    assert [(one.what, one.threads) for one in found.speeds] == [
        ("cold", 1),
        ("steady", 1),
        ("steady", 3),
        ("offsets", 1),
        ("decode", 1),
    ]
    for one in found.speeds:
        batch = tokenizer.encode_batch(parts[one.what], add_special_tokens=False)
        assert one.tokens == len(batch.ids)
        assert one.text_bytes == sum(map(len, parts[one.what]))
        assert one.seconds > 0
        assert one.megabytes_per_second == one.text_bytes / one.seconds / 1e6
        assert one.tokens_per_second == one.tokens / one.seconds


def test_a_bench_on_one_thread_has_no_pass_on_several(tokenizer: pw.Tokenizer) -> None:
    found = bench(tokenizer, TEXTS, repetitions=1, num_threads=1)
    assert {one.threads for one in found.speeds} == {1}


def test_truncation_and_padding_are_left_out(tokenizer: pw.Tokenizer) -> None:
    cut = tokenizer.with_truncation(3).with_padding(50)
    whole, measured = (bench(one, TEXTS, repetitions=1, num_threads=1) for one in (tokenizer, cut))
    assert [one.tokens for one in measured.speeds] == [one.tokens for one in whole.speeds]


def test_dropout_is_left_out() -> None:
    model = pw.spec.BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),), dropout=1.0)
    found = bench(pw.Tokenizer(model), ["ab"] * 8, repetitions=1, num_threads=1)
    assert found.speeds[0].tokens == 2


def test_special_tokens_in_text_are_text_to_ranks(tmp_path: Path) -> None:
    tokenizer = pw.Tokenizer.load(
        ranks_file(tmp_path), pattern="gpt2", special_tokens={"<|end|>": 258}
    )
    found = bench(tokenizer, ["<|end|>"] * 4, repetitions=1, num_threads=1)
    assert found.speeds[0].tokens == len("<|end|>")


def test_progress_counts_repetitions(tokenizer: pw.Tokenizer) -> None:
    told: list[tuple[int, int]] = []
    bench(tokenizer, TEXTS, repetitions=2, num_threads=1, progress=lambda *step: told.append(step))
    assert told == [(0, 2), (1, 2)]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"repetitions": 0}, pw.errors.ArgumentError, "repetitions: must be .*, not 0"),
        ({"repetitions": "2"}, pw.errors.InputTypeError, "repetitions: must be .*, not str"),
        ({"num_threads": -1}, pw.errors.ArgumentError, "num_threads: must be .*, not -1"),
        ({"texts": ["a", "b", "c"]}, pw.errors.CorpusError, "must be at least 4, not 3"),
        ({"texts": "a text"}, pw.errors.InputTypeError, "texts: must be .*, not str"),
        (
            {"texts": ["a", "b", "c", 4]},
            pw.errors.InputTypeError,
            r"texts\[3\]: must be .*, not int",
        ),
    ],
)
def test_arguments_that_cannot_be_measured_raise_typed_errors(
    tokenizer: pw.Tokenizer,
    settings: dict[str, Any],
    error: type[pw.PieceworkError],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        bench(tokenizer, **{"texts": TEXTS, **settings})


# ---- files


def test_lines_are_gathered_and_cut_to_the_given_size(files: tuple[str, str]) -> None:
    whole = bench_files(*files, repetitions=1, num_threads=1)
    assert whole.text_bytes == len("\n".join(TEXTS * 10)) + 1
    part = bench_files(*files, megabytes=0.01, repetitions=1, num_threads=1)
    assert 8_000 < part.text_bytes <= 10_000
    assert part.texts == 4


def test_bench_reads_the_field_of_json_lines(files: tuple[str, str], tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"body": text}) + "\n" for text in TEXTS))
    found = bench_files(files[0], corpus, field="body", repetitions=1, num_threads=1)
    assert found.texts == len(TEXTS)


def test_megabytes_must_be_positive(files: tuple[str, str]) -> None:
    with pytest.raises(pw.errors.ArgumentError, match="megabytes: must be .*, not 0"):
        bench_files(*files, megabytes=0)


# ---- peers


def test_tokenizers_reads_the_same_file_to_the_same_ids(files: tuple[str, str]) -> None:
    [peer] = bench_files(*files, against=["tokenizers"], repetitions=1, num_threads=1).peers
    assert (peer.name, peer.version) == (
        "tokenizers",
        importlib.import_module("tokenizers").__version__,
    )
    assert [one.what for one in peer.speeds] == ["cold", "steady"]
    assert peer.texts_different == 0
    assert peer.texts_compared > 0


def test_tiktoken_reads_ranks_to_the_same_ids(files: tuple[str, str], tmp_path: Path) -> None:
    ranks = ranks_file(tmp_path)
    loaded = pw.Tokenizer.load(ranks, pattern="cl100k", special_tokens={})
    found = bench_files(
        ranks, files[1], tokenizer=loaded, against=["tiktoken"], repetitions=1, num_threads=1
    )
    assert found.peers[0].texts_different == 0
    assert found.peers[0].speeds[0].tokens == found.speeds[0].tokens


def test_sentencepiece_reads_models_to_the_same_ids(files: tuple[str, str], tmp_path: Path) -> None:
    found = bench_files(
        model_file(tmp_path), files[1], against=["sentencepiece"], repetitions=1, num_threads=1
    )
    assert found.peers[0].texts_different == 0
    assert found.peers[0].speeds[0].tokens == found.speeds[0].tokens


def test_other_ids_are_counted(tokenizer: pw.Tokenizer) -> None:
    def encode(ours: pw.Tokenizer, texts: list[str]) -> list[list[int]]:
        rows = ours.encode_batch(texts, add_special_tokens=False).to_lists()
        return [
            [*row, 0] if text.endswith(("12", "25")) else row
            for text, row in zip(texts, rows, strict=True)
        ]

    peer = Peer("wrong", "1.0", lambda: tokenizer, encode, lambda rows: rows)
    [found] = bench(tokenizer, TEXTS, peers=[peer], repetitions=1, num_threads=1).peers
    # The texts from the 10th to the 29th are compared.
    assert (found.texts_compared, found.texts_different) == (20, 2)
    rows = speed_table(bench(tokenizer, TEXTS, peers=[peer], repetitions=1, num_threads=1)).rows
    assert [row[-1] for row in rows[-2:]] == ["2 of 20 texts differ"] * 2


def test_a_peer_that_is_not_installed_names_the_extra(
    files: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)  # an import of it fails
    with pytest.raises(pw.errors.MissingExtraError, match=r"tiktoken.*extra .bench. of piecework"):
        bench_files(*files, against=["tiktoken"])


@pytest.mark.parametrize("name", ["sentencepiece", "tiktoken"])
def test_a_file_that_a_peer_does_not_read_is_a_format_error(
    name: str, files: tuple[str, str], tokenizer: pw.Tokenizer
) -> None:
    with pytest.raises(
        pw.errors.FormatError,
        match=r"tokenizer\.json: (cannot be read by sentencepiece|has no split pattern; tiktoken)",
    ):
        read_peer(name, files[0], tokenizer)


def test_an_unknown_peer_is_an_argument_error(
    files: tuple[str, str], tokenizer: pw.Tokenizer
) -> None:
    with pytest.raises(pw.errors.ArgumentError, match="against: must be one of.*, not 'other'"):
        read_peer("other", files[0], tokenizer)


# ---- the command line


def test_bench_prints_a_table(cli: Run, files: tuple[str, str]) -> None:
    code, out, err = cli("bench", *files, "--repetitions", "1", "--against", "tokenizers")
    assert (code, err) == (0, "")
    assert "encode, steady" in out
    assert "encode with offsets" in out
    assert out.count("  equal\n") == 2


def test_bench_prints_json(cli: Run, files: tuple[str, str]) -> None:
    code, out, _ = cli("bench", *files, "--repetitions", "1", "--num-threads", "1", "--json")
    found = json.loads(out)
    assert code == 0
    assert [one["what"] for one in found["speeds"]] == ["cold", "steady", "offsets", "decode"]
    assert all(one["megabytes_per_second"] > 0 for one in found["speeds"])


def test_bench_accepts_a_pattern_for_rank_files(
    cli: Run, files: tuple[str, str], tmp_path: Path
) -> None:
    ranks = ranks_file(tmp_path)
    options = ("--pattern", "gpt2", "--against", "tiktoken", "--repetitions", "1")
    code, out, err = cli("bench", ranks, files[1], *options)
    assert (code, err) == (0, "")
    assert out.count("  equal\n") == 2


def test_bench_fails_in_one_line(cli: Run, files: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("one line\n")
    code, _, err = cli("bench", files[0], str(tmp_path / "short.txt"))
    assert (code, err) == (
        2,
        "piecework: error: CORPUS: has 1 text; it needs at least 4: JSON lines, or 2,000 characters "
        "each\n",
    )


def test_the_peers_of_the_command_equal_those_of_the_library() -> None:
    [against] = [one for one in bench_command.params if one.name == "against"]
    assert list(against.type.choices) == list(PEERS)  # type: ignore[attr-defined]
