"""`piecework convert`: convert a tokenizer file to another format, and verify the result."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

import click

import piecework as pw
from piecework._internal.validation import counted
from piecework.cli.outputs import note, save_tokenizer
from piecework.cli.parameters import (
    InputFile,
    TokenizerOutput,
    command,
    is_quiet,
    option,
    quiet_option,
)
from piecework.cli.tokenizer_options import (
    Hints,
    load_one,
    tokenizer_options,
    without_warnings_of_lengths,
)
from piecework.errors import ArgumentError
from piecework.io.format_detection import file_format
from piecework.io.saving import (
    bytes_for,
    check_format,
    formats_for,
    is_folder_path,
    tokenizer_format_of,
)

_EXAMPLE = """\b
Example:
  piecework convert cl100k_base.tiktoken tokenizer.json --encoding-name cl100k_base --verify corpus.txt
  piecework convert tokenizer.json ranks.tiktoken
  piecework convert vocab.json tokenizer.json --merges merges.txt
  piecework convert cl100k_base folder/
  piecework convert llama.model tokenizer.json --verify corpus.txt
  piecework convert wordpiece.json unigram.json --unigram corpus.txt
"""


@command(epilog=_EXAMPLE)
@click.argument("source", metavar="SRC", type=InputFile())
@click.argument("target", metavar="DST", type=TokenizerOutput())
@partial(tokenizer_options, argument="SRC")
@option(
    "--unigram",
    "unigram_corpus",
    metavar="CORPUS",
    type=InputFile(),
    help="Write a WordPiece tokenizer as a Unigram model of the same entries, with probabilities estimated "
    "from this text or counts file.",
)
@option(
    "--verify",
    "corpus",
    metavar="CORPUS",
    help="Encode each line of this file with both tokenizers, and compare the ids.",
)
@option(
    "--force",
    is_flag=True,
    help="Write DST even if its format loses information, and print what is lost.",
)
@quiet_option
def convert(
    source: str,
    target: str,
    hints: Hints,
    unigram_corpus: str | None,
    corpus: str | None,
    force: bool,
) -> None:
    """Convert the tokenizer SRC to the format of DST.

    The suffix of DST names the format: .json is a tokenizer.json, .model a SentencePiece model, .txt a
    vocab.txt, .tiktoken ranks, and .piecework a complete tokenizer that only piecework reads. A directory,
    or a name that ends in /, gets the files that transformers opens. With -, the command writes a
    tokenizer.json to stdout.

    The command stops if the format of DST would lose information. The exit code is 1 if --verify finds a
    difference.
    """
    original = load_one(source, hints)
    name = "tokenizer.json" if target == "-" else target
    if unigram_corpus is not None:
        _check_unigram(original, name, force=force)
        pipeline = pw.train.pipeline_of(original.spec)
        from piecework.cli.options import count_or_load

        counts = count_or_load((unigram_corpus,), pipeline, {"field": None})
        original = pw.vocabulary.to_unigram(original, counts, progress=not is_quiet()).tokenizer
    with without_warnings_of_lengths():
        loaded = _with_stages_for(original, name, force=force)
        written = _round_trip(loaded, name)
    lost = _differences(loaded, written, in_folder=is_folder_path(name))
    if lost and not force:
        problem = f"cannot store {', '.join(lost)}; use another format, such as tokenizer.json, or --force"
        raise ArgumentError(target, problem)
    if lost:
        click.echo(f"piecework: lost: {', '.join(lost)}", err=True)
    if corpus is not None:
        _verify(original, written, corpus)
    save_tokenizer(loaded, target)
    before = file_format(
        source,
        merges=hints["merges"],
        encoding_name=hints["encoding_name"],
        revision=hints["revision"],
    )
    formats = f"{before} to {tokenizer_format_of(target)}"
    entries = f"converted {formats}, {counted(loaded.get_vocab_size(), 'entry')}"
    note(entries + ("" if target == "-" else f", saved as {target}"))


def _check_unigram(tokenizer: pw.Tokenizer, target: str, *, force: bool) -> None:
    """Raise, before the corpus is read, if DST cannot be the Unigram model of a tokenizer."""
    spec = tokenizer.spec
    if not isinstance(spec.model, pw.spec.WordPiece):
        message = f"converts a WordPiece tokenizer, not a {type(spec.model).__name__} tokenizer"
        raise ArgumentError("unigram_corpus", message)
    smallest = pw.spec.Unigram((("<unk>", 0.0), ("a", -1.0)), unk_id=0)
    changed = replace(spec, model=smallest, post_processor=None, added_tokens=(), padding=None)
    check_format(_with_stages_for(pw.Tokenizer.from_spec(changed), target, force=force), target)


def _with_stages_for(tokenizer: pw.Tokenizer, target: str, *, force: bool) -> pw.Tokenizer:
    """Return the tokenizer with stages that the target format supports."""
    is_native = isinstance(tokenizer.spec.model, pw.spec.SentencePiece)
    if target.endswith(".model"):
        if is_native:
            return tokenizer
        try:
            return pw.Tokenizer.from_spec(pw.vocabulary.as_sentencepiece(tokenizer.spec))
        except ArgumentError as error:
            hint = f"write {formats_for(tokenizer)}"
            place = f"{target}: {error.place}"
            raise ArgumentError(place, error.message, hint=hint) from error
    if not target.endswith(".json") and not is_folder_path(target):
        return tokenizer
    try:
        # Not the new tokenizer itself: a folder also has settings, such as roles.
        text = tokenizer.to_str(strict=not force)
        return pw.Tokenizer.from_spec(pw.Tokenizer.from_str(text).spec, like=tokenizer)
    except pw.errors.PortabilityError as error:
        if not force:
            error.hint += "; or use --force"
            raise
        click.echo(f"piecework: ids can differ: {error.place}: {error.message}", err=True)
        parsed = tokenizer.with_parse_special(True)
        spec = pw.vocabulary.as_components(parsed.spec) if is_native else parsed.spec
        return pw.Tokenizer.from_spec(spec, like=tokenizer)


def _round_trip(tokenizer: pw.Tokenizer, target: str) -> pw.Tokenizer:
    """Write the format of `target` into memory, and load it with what the format lacks."""
    if is_folder_path(target):
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save(folder)
            return pw.Tokenizer.load(folder)
    data = bytes_for(tokenizer, target)
    if target.endswith(".vocab"):
        problem = "a .vocab lists pieces and scores, and is not a tokenizer"
        raise ArgumentError(target, f"{problem}; write {formats_for(tokenizer)}")
    if target.endswith(".pwc"):
        return tokenizer  # a compiled cache is the tokenizer itself
    if not target.endswith(".tiktoken"):
        return pw.Tokenizer.from_bytes(data, source=target)
    pattern = _pattern(tokenizer)
    if pattern is None:
        found = type(tokenizer.spec.pre_tokenizer).__name__
        needed = "a .tiktoken file needs split patterns followed by ByteLevel"
        raise ArgumentError("pre_tokenizer", f"{needed}; the pre-tokenizer of {target} is {found}")
    ids = {token.content: token.id for token in tokenizer.added_tokens if token.special}
    return pw.Tokenizer.from_bytes(data, source=target, pattern=pattern, special_tokens=ids)


def _pattern(tokenizer: pw.Tokenizer) -> str | tuple[str, ...] | None:
    """Return the `pattern` argument for the same pre-tokenizer, None if there is none."""
    stages = _stages(tokenizer)
    if stages == (pw.spec.ByteLevel(add_prefix_space=False),):
        return "gpt2"
    regexes = tuple(
        stage.pattern.pattern
        for stage in stages
        if isinstance(stage, pw.spec.Split) and isinstance(stage.pattern, pw.spec.Regex)
    )
    if _members(pw.spec.split_bytes(regexes)) == stages:
        return regexes
    return None


def _stages(tokenizer: pw.Tokenizer) -> tuple[Any, ...]:
    return _members(tokenizer.spec.pre_tokenizer)


def _members(pre_tokenizer: Any) -> tuple[Any, ...]:
    """Return the members of a sequence; `trim_offsets` has no effect there and is normalized."""
    members = getattr(pre_tokenizer, "pretokenizers", (pre_tokenizer,))
    is_byte_level = [isinstance(member, pw.spec.ByteLevel) for member in members]
    return tuple(
        replace(member, trim_offsets=True) if byte_level else member
        for member, byte_level in zip(members, is_byte_level, strict=True)
    )


def _differences(before: pw.Tokenizer, after: pw.Tokenizer, *, in_folder: bool) -> list[str]:
    """Return the names of the stages in which two tokenizers differ."""
    old, new = before.spec, after.spec
    same_model = type(old.model) is type(new.model) and (
        _settings(old.model) == _settings(new.model) or isinstance(old.model, pw.spec.BPE)
    )

    def inserted(tokenizer: pw.Tokenizer) -> list[list[int]]:
        bare = tokenizer.without_truncation().without_padding()
        return [bare.encode("").ids, bare.encode("", "").ids]

    def added(tokenizer: pw.Tokenizer) -> dict[str, int]:
        return {token.content: token.id for token in tokenizer.added_tokens}

    checks = {
        "model settings": same_model,
        "the normalizer": (old.normalizer or None) == (new.normalizer or None),
        "the pre-tokenizer": _stages(before) == _stages(after),
        "the post-processor": inserted(before) == inserted(after),
        "added tokens": added(before) == added(after),
        # A folder stores lengths and does not apply them.
        "truncation": in_folder or old.truncation == new.truncation,
        "padding": in_folder or old.padding == new.padding,
    }
    return [name for name, is_kept in checks.items() if not is_kept]


def _settings(model: pw.spec.Model) -> pw.spec.Model:
    """Return a model without the training settings of a `.model` file."""
    return replace(model, rest=b"") if isinstance(model, pw.spec.SentencePiece) else model


def _verify(before: pw.Tokenizer, after: pw.Tokenizer, corpus: str) -> None:
    """Encode each line with both tokenizers; exit with code 1 at the first difference."""
    before, after = (side.without_truncation().without_padding() for side in (before, after))
    lines = tokens = 0
    for rows in pw.corpus.read_corpus(corpus, whole_lines=True):
        texts = rows.to_list()
        old = before.encode_batch(texts, parse_special=True).to_lists()
        new = after.encode_batch(texts, parse_special=True).to_lists()
        for number, (mine, other) in enumerate(zip(old, new, strict=True), start=lines + 1):
            if mine != other:
                pairs = enumerate(zip_longest(mine, other))
                at = next(at for at, (a, b) in pairs if a != b)
                click.echo(f"piecework: {corpus} line {number}: token {at} differs", err=True)
                for name, side, ids in (("SRC", before, mine), ("DST", after, other)):
                    near = ids[max(0, at - 2) : at + 3]
                    shown = [(id, side.id_to_token(id)) for id in near]
                    click.echo(f"  {name}: {shown}", err=True)
                raise click.exceptions.Exit(1)
        lines, tokens = lines + len(texts), tokens + sum(map(len, old))
    note(f"piecework: {counted(lines, 'line')}, {counted(tokens, 'token')}, all equal")
