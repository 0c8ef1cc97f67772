"""Options that are repeated, outputs, messages, tokenizers and presets."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import click
import pytest

import piecework as pw
from piecework.analysis.choose import LEARNERS_OF_MODELS
from piecework.analysis.peers import PEERS
from piecework.cli import reading
from piecework.cli.app import VERBS
from piecework.cli.parameters import with_flags
from piecework.train.trainers.bpe import BYTE_ALPHABET
from tests.cli.start.command_names import Run, command_named

READS_A_TOKENIZER = (
    "encode decode find-drift inspect explain compare verify golden bench extend add prune shrink convert"
).split()


@pytest.fixture
def ranks(tmp_path: Path) -> str:
    """Return ranks: every byte, and two merges."""
    tokens = [*(bytes([byte]) for byte in range(256)), b"hu", b"hug"]
    path = tmp_path / "ranks.tiktoken"
    lines = [f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens)]
    path.write_text("".join(lines))
    return str(path)


# ---- options that are given twice, and outputs that say nothing


@pytest.mark.parametrize("verb", VERBS)
def test_an_option_with_one_value_is_refused_when_repeated(cli: Run, verb: str) -> None:
    options = [
        option
        for option in command_named(verb).params
        if isinstance(option, click.Option) and not option.multiple
    ]
    for option in options:
        flag = max(option.opts, key=len)
        if option.is_flag and not option.secondary_opts:
            continue
        value = "bpe" if flag == "--model" else "1"
        twice = [flag, flag] if option.is_flag else [flag, value, flag, value]
        code, out, err = cli(verb, *twice)
        assert (code, out) == (2, ""), flag
        assert f"Option '{flag}' is given more than once" in err


def test_opposite_switches_are_refused_together(cli: Run) -> None:
    code, _, err = cli("train-sentencepiece", "x", "--split-digits", "--no-split-digits")
    assert code == 2
    assert "'--split-digits' is given more than once" in err


@pytest.mark.parametrize("name", ["t.yaml", "t.gguf", "t.json.gz", "t.1"])
def test_a_suffix_without_a_format_is_refused_before_the_work(
    cli: Run, corpus: str, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    code, _, err = cli("train", corpus, "-o", str(path))
    assert code == 2
    for suffix in (".json", ".txt", ".model", ".vocab", ".tiktoken", ".pwc"):
        assert suffix in err
    assert "'-o' / '--output'" in err
    tokenizer = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0}))
    with pytest.raises(
        pw.errors.ArgumentError,
        match=r"has no suffix of a tokenizer format; .* \.json, \.txt, \.model, \.vocab, \.tiktoken, \.pwc,",
    ):
        tokenizer.save(path)
    assert not path.exists()


@pytest.mark.parametrize("verb", ["count", "encode", "decode", "normalize"])
@pytest.mark.parametrize("exists", [False, True])
def test_a_directory_as_output_is_refused(
    cli: Run, tmp_path: Path, verb: str, exists: bool
) -> None:
    folder = tmp_path / "folder"
    if exists:
        folder.mkdir()
    code, _, err = cli(verb, "x", "-o", f"{folder}/")
    assert code == 2
    assert f"'{folder}/' is a directory; give a file name, such as" in err
    assert folder.exists() == exists


def test_a_folder_without_parent_is_not_a_target_of_save(tmp_path: Path) -> None:
    tokenizer = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0}))
    with pytest.raises(pw.errors.ArgumentError, match="path: the parent folder of "):
        tokenizer.save(f"{tmp_path}/missing/folder/")
    assert list(tmp_path.iterdir()) == []


# A folder is read by its tokenizer.json.
READ_AS = {"Hugging Face folder": "tokenizer.json"}


@pytest.mark.parametrize(
    ("target", "format"),
    [
        ("t.json", "tokenizer.json"),
        ("t.tiktoken", "tiktoken ranks"),
        ("t.pwc", "compiled cache"),
        ("folder/", "Hugging Face folder"),
    ],
)
def test_convert_says_what_it_wrote(
    cli: Run, ranks: str, tmp_path: Path, target: str, format: str
) -> None:
    path = f"{tmp_path}/{target}"
    code, out, err = cli("convert", ranks, path, "--pattern", "gpt2")
    assert (code, out) == (0, "")
    assert err == f"converted tiktoken ranks to {format}, 258 entries, saved as {path}\n"
    hints = ["--pattern", "gpt2"] if target.endswith(".tiktoken") else []
    assert cli("convert", path, f"{tmp_path}/again.json", *hints)[2].startswith(
        f"converted {READ_AS.get(format, format)} to tokenizer.json, 258 entries"
    )


@pytest.mark.parametrize("verb", ["train", "extend"])
def test_commands_write_folders(cli: Run, corpus: str, tmp_path: Path, verb: str) -> None:
    first, second = str(tmp_path / "first/"), f"{tmp_path}/second/"
    assert cli("train", corpus, "--vocab-size", "60", "-o", f"{first}/")[0] == 0
    if verb == "extend":
        assert cli("extend", first, corpus, "-n", "0", "-o", second)[0] == 0
        assert pw.Tokenizer.load(second).get_vocab() == pw.Tokenizer.load(first).get_vocab()
    code, _, err = cli("train", corpus, "--vocab-size", "60", "-o", f"{tmp_path}/a/b/")
    assert code == 2
    assert "does not exist; make it first" in err


def test_convert_names_the_format_of_what_it_read(cli: Run, tmp_path: Path) -> None:
    words, pieces = tmp_path / "vocab.txt", tmp_path / "t.model"
    pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1})).save(words)
    trainer = pw.SentencePieceTrainer(
        model_type="bpe", vocab_size=10, normalization_rule_name="identity"
    )
    pw.Tokenizer.train_from_iterator(["hug pug hug"], trainer=trainer).save(pieces)
    for path, format in ((words, "vocab.txt"), (pieces, "SentencePiece .model")):
        code, _, err = cli("convert", str(path), str(tmp_path / "t.json"))
        assert (code, err.split(" to ")[0]) == (0, f"converted {format}")


def test_convert_writes_a_tokenizer_json_to_a_pipe(cli: Run, ranks: str) -> None:
    code, out, err = cli("convert", ranks, "-", "--pattern", "gpt2")
    assert (code, err) == (0, "converted tiktoken ranks to tokenizer.json, 258 entries\n")
    assert json.loads(out)["model"]["type"] == "BPE"


def test_convert_refuses_a_suffix_without_a_format(cli: Run, ranks: str, tmp_path: Path) -> None:
    code, _, err = cli("convert", ranks, str(tmp_path / "t.gguf"), "--pattern", "gpt2")
    assert code == 2
    assert (
        "'DST': 't.gguf' has no suffix of a tokenizer format; give a name that ends in one of .json"
        in err
    )
    assert [path.name for path in tmp_path.iterdir()] == ["ranks.tiktoken"]


def test_convert_asks_whether_a_name_without_a_suffix_is_a_folder(
    cli: Run, ranks: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "out")
    code, _, err = cli("convert", ranks, path, "--pattern", "gpt2")
    asks = f"{path!r} has no suffix; write '{path}/' for a folder, or '{path}.json' for a"
    assert (code, asks in err) == (2, True)
    assert cli("convert", ranks, f"{path}/", "--pattern", "gpt2")[0] == 0


# ---- messages


OPTION = click.Option(["--vocab-size"])
SPECIAL = click.Option(["--special-token", "special_tokens"], multiple=True)
FILES = click.Argument(["inputs"], metavar="[FILE|-]...", nargs=-1)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (pw.errors.TrainingError("vocab_size", "must be 9, not 6"), "--vocab-size: must be 9, not 6"),
        (pw.errors.ArgumentError("special_tokens[2]", "must be str"), "--special-token[2]: must be str"),
        (pw.errors.ArgumentError("inputs", "must be a file, not '-'"), "FILE: must be a file, not '-'"),
        (pw.errors.ArgumentError("inputs: 'a'", "is given twice"), "FILE: 'a': is given twice"),
        (pw.errors.ArgumentError("inputs line 3", "is empty", hint="stop"), "FILE line 3: is empty; stop"),
        (pw.errors.ArgumentError("x", "cannot be combined", also=["vocab_size", "special_tokens"]),
         "x, --vocab-size, --special-token: cannot be combined"),
        (pw.errors.ArgumentError("x", "is a vocab_size or inputs"), "x: is a vocab_size or inputs"),
        (pw.errors.FileError.reading("vocab_size.txt", OSError("no")), "vocab_size.txt: cannot be read: no"),
        (pw.errors.FileError("inputs.tsv", "is a folder"), "inputs.tsv: is a folder"),
    ],
)  # fmt: skip
def test_messages_name_the_flag_as_it_is_typed(error: pw.PieceworkError, message: str) -> None:
    assert with_flags(error, [OPTION, SPECIAL, FILES]) == message


@pytest.mark.parametrize(
    "place", ["tokenizer_config.json", "unused_1", "spec.pre_tokenizer", "max.json line 2"]
)
def test_places_other_than_arguments_do_not_change(place: str) -> None:
    names = ["max", "pre_tokenizer", "unused", "tokenizer"]
    parameters = [click.Option([f"--{name}"]) for name in names]
    assert with_flags(pw.errors.ArgumentError(place, "is bad"), parameters) == f"{place}: is bad"


@pytest.mark.parametrize(
    ("arguments", "flag"),
    [
        ("train CORPUS --vocab-size 0 -o -", "--vocab-size: "),
        ("train CORPUS --min-frequency -1 -o -", "--min-frequency: "),
        ("train-sentencepiece CORPUS --num-sub-iterations 0 -o -", "--num-sub-iterations: "),
        (
            "train-sentencepiece CORPUS --model-type bpe --max-sentence-length 0 -o -",
            "--max-sentence-length: ",
        ),
        ("train CORPUS --model unigram --shrinking-factor 2 -o -", "--shrinking-factor: "),
        ("train CORPUS --model word --vocab-size 1 -o -", "--vocab-size: "),
        (
            "encode RANKS CORPUS",
            "--encoding-name, --pattern: RANKS has tiktoken ranks without a pattern; pass an encoding_name",
        ),
        ("encode RANKS --pattern gpt2 --special-token <x> CORPUS", "--special-token: "),
        ("encode RANKS --encoding-name cl100k_base --pattern gpt2 CORPUS", "--pattern: "),
        ("encode RANKS --pattern gpt2 CORPUS --append-eod <x>", "--append-eod: "),
        ("encode CORPUS --merges missing CORPUS", "missing: cannot be read: "),
    ],
)
def test_errors_of_the_library_name_the_flag(
    cli: Run, corpus: str, ranks: str, arguments: str, flag: str
) -> None:
    words = [{"CORPUS": corpus, "RANKS": ranks}.get(word, word) for word in arguments.split()]
    code, out, err = cli(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"piecework: error: {flag.replace('RANKS', ranks)}"), err
    assert err.count("\n") == 1


# ---- the tokenizer that a command reads


@pytest.mark.parametrize("verb", READS_A_TOKENIZER)
def test_every_command_that_reads_a_tokenizer_takes_the_same_options(verb: str) -> None:
    flags = {flag for option in command_named(verb).params for flag in option.opts}
    assert {"--encoding-name", "--pattern", "--special-token", "--merges", "--lowercase"} <= flags
    assert {"--download", "--revision"} <= flags
    kinds = "an encoding such as cl100k_base, a model such as gpt-4o, or a repository"
    assert kinds in " ".join((command_named(verb).help or "").split())


@pytest.mark.parametrize("verb", READS_A_TOKENIZER)
def test_every_command_reads_ranks(
    cli: Run, corpus: str, ranks: str, tmp_path: Path, verb: str, few_candidates: None
) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("257 32 258\n")
    words = tmp_path / "words.txt"
    words.write_text("hugs\n")
    out = str(tmp_path / "out.json")
    rest = {
        "encode": [corpus],
        "decode": [str(ids)],
        "find-drift": [str(ids)],
        "inspect": [],
        "explain": ["hug <end>"],
        "compare": ["--corpus", corpus, "--json"],
        "verify": [corpus, "--against", "tiktoken"],
        "golden": ["-o", out],
        "bench": [*[corpus] * 4, "--repetitions", "1", "--json"],
        "extend": [corpus, "-n", "1", "-o", out],
        "add": [str(words), "-o", out],
        "prune": ["--min-count", "1", "--corpus", corpus, "-o", out],
        "shrink": ["--size", "258", "-o", out],
        "convert": [out],
    }
    hints = ["--pattern", "gpt2", "--special-token", "<end>=258"]
    code, stdout, err = cli(verb, ranks, *rest[verb], *hints)
    assert code == 0, err
    if verb == "decode":
        assert stdout == "hug \n"
    if verb == "encode":
        assert stdout.startswith("257 32 112")
    if verb == "convert":
        assert pw.Tokenizer.load(out).encode("hug<end>").ids == [257, 258]


def test_vocabulary_files_take_merges_and_lowercase(cli: Run, tmp_path: Path) -> None:
    vocab = {entry: id for id, entry in enumerate([*BYTE_ALPHABET, "hu", "<s>"])}
    (tmp_path / "vocab.json").write_text(json.dumps(vocab))
    (tmp_path / "merges.txt").write_text("#version: 0.2\nh u\n")
    (tmp_path / "in.txt").write_text("hu<s>\n")
    pair = [str(tmp_path / "vocab.json"), "--merges", str(tmp_path / "merges.txt")]
    source = str(tmp_path / "in.txt")
    tokens = ["--format", "tokens"]
    assert cli("encode", *pair, source, *tokens)[:2] == (0, "hu <s>\n")
    named = [*pair, "--pattern", "gpt2", "--special-token", "hu"]
    assert cli("encode", *named, source, *tokens)[:2] == (0, "hu < s >\n")
    (tmp_path / "vocab.txt").write_text("[UNK]\nhug\nHug\n")
    (tmp_path / "text").write_text("Hug\n")
    words = ["encode", str(tmp_path / "vocab.txt"), str(tmp_path / "text"), *tokens]
    assert cli(*words, "--lowercase")[1] == "hug\n"
    assert cli(*words, "--no-lowercase")[1] == "Hug\n"


def test_compare_gives_the_options_to_the_files_that_need_them(
    cli: Run, corpus: str, ranks: str, tmp_path: Path
) -> None:
    other = tmp_path / "t.json"
    pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1})).save(other)
    hints = ["--pattern", "gpt2"]
    code, out, err = cli("compare", ranks, str(other), "--corpus", corpus, "--json", *hints)
    assert code == 0, err
    assert "ranks.tiktoken" in out
    assert "t.json" in out
    code, _, err = cli("compare", str(other), "--corpus", corpus, *hints)
    assert code == 2
    assert "--pattern: does not apply: the tokenizer files are self-contained" in err


def test_a_wrong_encoding_is_answered_with_all(cli: Run, ranks: str) -> None:
    code, _, err = cli("inspect", ranks, "--encoding-name", "gpt9")
    assert code == 2
    assert all(name in err for name in pw.spec.ENCODINGS)


# ---- presets


ALL_PRESETS = [*dict.fromkeys((*pw.train.PRESETS, *pw.train.SENTENCEPIECE_PRESETS))]


@pytest.mark.parametrize(
    "words",
    [
        ["count", "c", "-o", "c.tsv", "--preset"],
        ["explain-training", "c", "--preset"],
        ["compare", "t", "--corpus", "c", "--words"],
    ],
)
def test_a_wrong_preset_is_answered_with_all(cli: Run, words: list[str]) -> None:
    code, _, err = cli(*words, "gpt9")
    assert code == 2
    assert all(name in err for name in ALL_PRESETS)


@pytest.mark.parametrize("model", [None, "wordpiece", "sentencepiece"])
def test_the_library_lists_all_presets_too(model: str | None) -> None:
    with pytest.raises(pw.errors.ArgumentError, match="preset: must be one of.*, not 'gpt9'") as e:
        pw.Tokenizer.train_from_iterator(["hug"], model=model, preset="gpt9")
    assert all(name in str(e.value) for name in ALL_PRESETS)


SUPERWORDS = ("o200k-superwords", "llama-superwords")


@pytest.mark.slow
@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_every_preset_works_in_every_command_that_takes_one(
    cli: Run, corpus: str, tmp_path: Path, preset: str
) -> None:
    counts, out = str(tmp_path / "c.tsv"), str(tmp_path / "t.json")
    # Unigram learns a vocabulary of exactly this size.
    size = "25" if preset == "sentencepiece" else "400"
    settings = ["--preset", preset, "--vocab-size", size]
    if preset.startswith("bert-original"):
        out = str(tmp_path / "t.piecework")  # other libraries lack its cleaning
    if preset in pw.train.SENTENCEPIECE_PRESETS:
        out = str(tmp_path / "t.model")
        settings += ["--no-hard-vocab-limit"]
    assert cli("count", corpus, "--preset", preset, "-o", counts)[0] == 0
    verb = "train-sentencepiece" if preset in pw.train.SENTENCEPIECE_PRESETS else "train"
    code, _, err = cli(verb, counts, *settings, "-o", out)
    assert code == 0, err
    code, text, err = cli("explain-training", corpus, *settings)
    if preset in SUPERWORDS and verb == "train":
        assert (code, "--transition: cannot be traced" in err) == (2, True)
    else:
        assert (code, err) == (0, "")
        assert "vocabulary (" in text
    code, text, _ = cli("compare", out, "--corpus", corpus, "--words", preset, "--json")
    assert code == 0
    assert json.loads(text)


def test_choices_that_are_listed_twice_agree_with_the_library() -> None:
    formats = dict.fromkeys((*pw.export.FORMATS, *pw.export.SHARD_FORMATS))
    assert tuple(PEERS) == reading.PEER_NAMES
    assert tuple(LEARNERS_OF_MODELS) == reading.CHOICE_MODELS
    assert reading.TRAINING_EXAMPLES == pw.analysis.EXAMPLES
    assert tuple(formats) == reading.OUTPUT_FORMATS
    assert reading.PACKING_STRATEGIES == pw.export.STRATEGIES
