"""Rules about the files of a tokenizer, and about what cannot be checked."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from piecework import PieceworkError, Tokenizer
from piecework._internal.role_attributes import ROLES
from piecework.analysis.check.findings import Finding
from piecework.analysis.check.rules import Subject, rule
from piecework.analysis.corpus_texts import SCRIPT_TEXTS
from piecework.analysis.entry_bytes import PLAIN_TEXT
from piecework.analysis.round_trip import without_truncation_and_padding
from piecework.errors import ArgumentError
from piecework.io.names import tokenizer_file
from piecework.io.read_file import file_bytes
from piecework.io.source_bytes import gunzipped, source_bytes
from piecework.spec import BPE
from piecework.spec.custom import CustomStage

_TOKENIZER, _CONFIG, _ROLES = "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"
_TEMPLATE = "chat_template.jinja"
_FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")
_SHOWN, _SHOWN_CHARS = 8, 40
_LONG = 10_000
_MODEL_CONFIGS = ("config.json", "generation_config.json")
_OTHER_FILES = (
    "vocab.txt",
    "vocab.json",
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
)
_TEXTS = (
    "Hello",
    "  a  b",
    " a",
    "a\n\nb\t",
    "don't I'LL",
    "1234567 1.5",
    "café cafe\u0301",
    *SCRIPT_TEXTS,
)


@rule("unreadable", "loading", "error", reads_files=True)
def unreadable(subject: Subject) -> Iterator[Finding]:
    """Find a tokenizer that does not load.

    The error of the loader is the finding. The rules that read the files of a folder still run.

    >>> import pathlib, tempfile
    >>> import piecework as pw
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tokenizer.json"
    >>> _ = path.write_text("{}")
    >>> pw.analysis.check(path, select=["unreadable"]).worst
    'error'

    A file that loads passes.

    >>> pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).save(path)
    >>> pw.analysis.check(path, select=["unreadable"]).findings
    ()
    """
    if subject.error is not None:
        error = subject.error
        if not isinstance(error, ArgumentError):
            yield Finding(": ".join(filter(None, (error.place, error.message))), advice=error.hint)
            return
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in (error.place, *error.also))
        yield Finding(error.message, advice=f"{error.hint}; options: {flags}" if error.hint else "")


@rule("unchecked", "loading", "note")
def unchecked(subject: Subject) -> Iterator[Finding]:
    """Find stages that are functions, and rules that could not run.

    The rules try texts on a function of yours, and know nothing else of it.

    >>> import piecework as pw
    >>> model = pw.spec.Char({"[UNK]": 0, "a": 1})
    >>> custom = pw.Tokenizer(model, normalizer=pw.spec.CustomNormalizer(str.strip))
    >>> print(pw.analysis.check(custom, select=["unchecked"]).findings[0].message)
    the normalizer calls the function 'builtins:str.strip': rules try texts on it and know nothing else of it

    Stages of a file pass.

    >>> stripped = pw.Tokenizer(model, normalizer=pw.spec.Strip())
    >>> pw.analysis.check(stripped, select=["unchecked"]).findings
    ()
    """
    for stage in ("normalizer", "pre_tokenizer"):
        found = getattr(subject.spec, stage)
        for part in getattr(found, f"{stage.replace('_', '')}s", (found,)):
            if isinstance(part, CustomStage):
                problem = "rules try texts on it and know nothing else of it"
                name = stage.replace("_", "-")
                yield Finding(f"the {name} calls the function {part.name!r}: {problem}")


@rule(
    "loader-warning",
    "files",
    "warning",
    reads_files=True,
    cost="Other libraries give other ids for the same text.",
    advice="load the file by its own path, or compare with `piecework verify FOLDER --against transformers "
    "CORPUS`.",
)
def loader_warning(subject: Subject) -> Iterator[Finding]:
    """Find what the loader warns of, such as a class of transformers that replaces stages of the file.

    >>> import pathlib, tempfile
    >>> import piecework as pw
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tokenizer.json"
    >>> pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).save(path)
    >>> _ = path.with_name("tokenizer_config.json").write_text('{"eos_token": "</s>"}')
    >>> [found] = pw.analysis.check(path, select=["loader-warning"]).findings
    >>> "eos_token '</s>': not in the vocabulary" in found.message
    True

    >>> path.with_name("tokenizer_config.json").unlink()
    >>> pw.analysis.check(path, select=["loader-warning"]).findings
    ()
    """
    for message in subject.warnings:
        yield Finding(message)


@rule(
    "contradicting-files",
    "files",
    "error",
    reads_files=True,
    cost="Libraries read different files, so that a text has other ids in training and in use.",
    advice="write the folder again from the file of the training: `piecework convert FILE FOLDER/`.",
)
def contradicting_files(subject: Subject) -> Iterator[Finding]:
    """Find files of a folder that say different things about the same entry, role or size.

    Compared are ids of entries in `tokenizer.json`, `vocab.txt`, `vocab.json`, `added_tokens.json` and
    `added_tokens_decoder`; merges; roles in `special_tokens_map.json` and `tokenizer_config.json`; and the
    `vocab_size` and the ids of roles in `config.json` and `generation_config.json`. Compared, too, and a
    warning as roles are: the flags of added tokens in `added_tokens_decoder`, and the chat template of
    `tokenizer_config.json` with `chat_template.jinja`.

    >>> import json, pathlib, tempfile
    >>> import piecework as pw
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2})).save(folder / "tokenizer.json")
    >>> _ = (folder / "config.json").write_text('{"vocab_size": 2}')
    >>> [found] = pw.analysis.check(folder, select=["contradicting-files"]).findings
    >>> found.message, found.severity
    ('config.json has vocab_size 2, and the vocabulary needs 3', 'error')

    A larger `vocab_size` is fine: embeddings are padded to a multiple of 64 or 128.

    >>> _ = (folder / "config.json").write_text('{"vocab_size": 64}')
    >>> pw.analysis.check(folder, select=["contradicting-files"]).findings
    ()

    Sources: ollama issue 17698, transformers issue 45920.
    """
    if subject.path is None or not os.path.isdir(subject.path):
        return
    folder = _Folder(subject.path)
    yield from _other_ids(folder)
    yield from _other_merges(folder)
    yield from _other_roles(folder)
    yield from _other_flags(folder)
    yield from _other_templates(folder)
    if subject.tokenizer is not None:
        yield from _other_sizes(folder, subject.tokenizer)


@rule(
    "differing-readers",
    "files",
    "warning",
    cost="The same folder gives other ids, or other text, in another library.",
    advice="keep the files of one reader; compare: `piecework verify FOLDER --against transformers CORPUS`.",
)
def differing_readers(subject: Subject) -> Iterator[Finding]:
    """Find settings and files that libraries read in different ways, with a text that shows it.

    Texts with spaces, digits and many scripts are encoded with the folder, as transformers reads it, and with
    each of its files alone, as tokenizers, sentencepiece and slow classes read them. Further: truncation,
    padding and dropout in a file such as `tokenizer.json`, which tokenizers applies to every text and
    transformers on request; `clean_up_tokenization_spaces` of BPE, which transformers 4 applies and 5 does
    not; and the capital letters of a `vocab.txt` alone, which BERT's class lowers by default.

    >>> import pathlib, tempfile
    >>> import piecework as pw
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tokenizer.json"
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    >>> tok.with_truncation(8).save(path)
    >>> [found] = pw.analysis.check(path, select=["differing-readers"]).findings
    >>> found.message.partition(":")[0]
    'tokenizer.json has truncation'

    >>> tok.save(path)
    >>> pw.analysis.check(path, select=["differing-readers"]).findings
    ()

    Sources: transformers issues 28010 and 45812, llama.cpp issue 23252.
    """
    if subject.path is None:
        return
    source = tokenizer_file(subject.path)
    folder = _Folder(subject.path if os.path.isdir(subject.path) else os.path.dirname(source))
    name = os.path.basename(source)
    yield from _stored_settings(name, _object_in(source))
    if os.path.isdir(subject.path):
        yield from _other_texts(folder, subject.loaded, name)
    config = folder.json(_CONFIG)
    cleans_up = config.get("clean_up_tokenization_spaces") and isinstance(subject.spec.model, BPE)
    ids = subject.loaded.encode("a , b", **PLAIN_TEXT).ids
    if cleans_up and subject.loaded.decode(ids) == "a , b":
        message = f"{_CONFIG} has clean_up_tokenization_spaces: transformers 4 decodes another text"
        yield Finding(message, texts=("a , b -> a, b",))
    is_cased = name == "vocab.txt" and subject.loaded.normalize("A") == "A"
    if is_cased and "do_lower_case" not in config:
        message = f"no {_CONFIG} says that vocab.txt has capital letters: BertTokenizer lowers them"
        yield Finding(message, texts=("Hello",), advice=f"add do_lower_case: false to {_CONFIG}.")


class _Folder:
    """The files of a folder; absent and damaged ones are empty."""

    def __init__(self, path: str) -> None:
        self._path = path

    def path(self, name: str) -> str:
        return os.path.join(self._path, name)

    def has(self, name: str) -> bool:
        return os.path.isfile(self.path(name))

    def json(self, name: str) -> dict[str, Any]:
        return _object_in(self.path(name)) if self.has(name) else {}

    def lines(self, name: str) -> list[str]:
        data = file_bytes(self.path(name), "lines") if self.has(name) else b""
        return data.decode(errors="replace").replace("\r\n", "\n").removesuffix("\n").split("\n")

    def model(self) -> dict[str, Any]:
        found = self.json(_TOKENIZER).get("model")
        return found if isinstance(found, dict) else {}

    def load(self, name: str) -> Tokenizer | None:
        """Return the tokenizer of a file alone, None if it does not load so."""
        merges = self.path("merges.txt") if name == "vocab.json" else None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return Tokenizer.load(self.path(name), merges=merges)
        except PieceworkError:
            return None


def _object_in(path: str) -> dict[str, Any]:
    """Return the JSON object in a file, gzipped or not; another file has an empty one."""
    try:
        found = json.loads(gunzipped(source_bytes(path), path))
    except (PieceworkError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


# ---- files that contradict each other


def _other_ids(folder: _Folder) -> Iterator[Finding]:
    sources = list(_vocabularies(folder))
    for at, (name, vocab) in enumerate(sources):
        for other, others in sources[:at]:
            differ = [token for token, id in vocab.items() if others.get(token, id) != id]
            if differ:
                ids = (others[differ[0]], vocab[differ[0]])
                figures = f"{differ[0]!r} is {ids[0]} and {ids[1]}"
                if len(differ) > 1:
                    figures += f", and {len(differ) - 1:,} more differ"
                message = f"{other} and {name} have other ids: {figures}"
                yield Finding(message, tokens=tuple(differ), ids=ids)


def _vocabularies(folder: _Folder) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the names of files with the ids of their entries, where they have some."""
    model = folder.model()
    vocab, added = model.get("vocab"), folder.json(_TOKENIZER).get("added_tokens")
    if isinstance(vocab, list):
        vocab = {one[0]: id for id, one in enumerate(vocab) if isinstance(one, list) and one}
    tokens = added if isinstance(added, list) else []
    declared = folder.json(_CONFIG).get("added_tokens_decoder")
    yield _TOKENIZER, {**_entries(vocab), **_contents((_id_of(one), one) for one in tokens)}
    lines = folder.lines("vocab.txt")
    yield "vocab.txt", {token: id for id, token in enumerate(lines) if token}
    for name in ("vocab.json", "added_tokens.json"):
        yield name, _entries(folder.json(name))
    yield _CONFIG, _contents(declared.items() if isinstance(declared, dict) else ())


def _entries(values: object) -> dict[str, int]:
    found = values.items() if isinstance(values, dict) else ()
    return {token: id for token, id in found if isinstance(id, int)}


def _contents(tokens: Iterable[tuple[object, object]]) -> dict[str, int]:
    """Return the ids of tokens that are objects with `content`."""
    found = ((_content(token), str(id)) for id, token in tokens)
    return {token: int(id) for token, id in found if isinstance(token, str) and id.isdecimal()}


def _id_of(token: object) -> object:
    return token.get("id") if isinstance(token, dict) else None


def _other_merges(folder: _Folder) -> Iterator[Finding]:
    model = folder.json(_TOKENIZER).get("model")
    stored = model.get("merges") if isinstance(model, dict) else None
    listed = [
        line for line in folder.lines("merges.txt") if line and not line.startswith("#version")
    ]
    if not stored or not listed:
        return
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in stored]
    if merges != listed:
        at = _first_difference(merges, listed)
        is_changed = at < min(len(merges), len(listed))
        where = f"merge {at} differs" if is_changed else "one has more"
        figures = f"{len(merges):,} and {len(listed):,}"
        texts = (merges[at], listed[at]) if is_changed else ()
        yield Finding(
            f"tokenizer.json and merges.txt have other merges ({figures}): {where}", texts=texts
        )


def _other_roles(folder: _Folder) -> Iterator[Finding]:
    config, roles = folder.json(_CONFIG), folder.json(_ROLES)
    for role in ROLES:
        one, other = (_content(values.get(role)) for values in (config, roles))
        if isinstance(one, str) and isinstance(other, str) and one != other:
            message = f"{role} is {one!r} in {_CONFIG} and {other!r} in {_ROLES}"
            yield Finding(message, severity="warning", tokens=(one, other))


def _other_flags(folder: _Folder) -> Iterator[Finding]:
    """Yield a finding if added tokens have other flags in the configuration, which transformers reads."""
    added = _by_content(folder.json(_TOKENIZER).get("added_tokens"))
    declared = folder.json(_CONFIG).get("added_tokens_decoder")
    others = _by_content(list(declared.values()) if isinstance(declared, dict) else None)
    differ = [
        (token, flag, one[flag], others[token][flag])
        for token, one in added.items()
        for flag in _FLAGS
        if flag in one and one[flag] != others.get(token, one).get(flag, one[flag])
    ]
    if differ:
        token, flag, *values = differ[0]
        shown = " and ".join(str(value).lower() for value in values)
        message = f"{_TOKENIZER} and {_CONFIG} have other flags: {flag} of {token!r} is {shown}"
        names = tuple(dict.fromkeys(token for token, *_ in differ))
        more = f", and {len(names) - 1:,} more tokens differ" if len(names) > 1 else ""
        yield Finding(f"{message}{more}", severity="warning", tokens=names)


def _by_content(tokens: object) -> dict[str, dict[str, Any]]:
    """Return added tokens by their content; what is no such token is left out."""
    return {
        one["content"]: one
        for one in (tokens if isinstance(tokens, list) else ())
        if isinstance(one, dict) and isinstance(one.get("content"), str)
    }


def _other_templates(folder: _Folder) -> Iterator[Finding]:
    stored = folder.json(_CONFIG).get("chat_template")
    alone = "\n".join(folder.lines(_TEMPLATE)).strip()
    if isinstance(stored, str) and alone and stored.strip() != alone:
        first = _first_difference(stored.strip(), alone)
        shown = (one[first : first + _SHOWN_CHARS] for one in (stored.strip(), alone))
        message = (
            f"{_CONFIG} and {_TEMPLATE} have other chat templates: transformers reads the second"
        )
        yield Finding(message, severity="warning", advice="remove one of them.", texts=tuple(shown))


def _first_difference(one: Sequence[object], other: Sequence[object]) -> int:
    """Return the index of the first item that differs; the length of the shorter one if none does."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _content(token: object) -> object:
    return token.get("content") if isinstance(token, dict) else token


def _other_sizes(folder: _Folder, tokenizer: Tokenizer) -> Iterator[Finding]:
    needed = max(tokenizer.get_vocab().values(), default=-1) + 1
    configs = {name: folder.json(name) for name in _MODEL_CONFIGS}
    model = configs["config.json"]
    text_model = model.get("text_config")
    inner = text_model.get("vocab_size") if isinstance(text_model, dict) else None
    size = model.get("vocab_size", inner)
    if isinstance(size, int) and size < needed:
        last = tokenizer.id_to_token(needed - 1) or ""
        message = f"config.json has vocab_size {size:,}, and the vocabulary needs {needed:,}"
        cost = "An id beyond the embeddings stops the model, or reads memory of others."
        yield Finding(message, cost=cost, tokens=(last,), ids=(needed - 1,))
    for role in ("bos_token", "eos_token", "pad_token"):
        key, token = f"{role}_id", tokenizer.special_tokens_map.get(role)
        stated = {id for values in configs.values() for id in _ids(values.get(key))}
        if not isinstance(token, str) or not stated:
            continue
        id = tokenizer.token_to_id(token)
        if id not in stated:
            message = f"{key} of the model is {min(stated)}, and {role} {token!r} has the id {id}"
            yield Finding(message, severity="warning", tokens=(token,), ids=tuple(sorted(stated)))


def _ids(value: object) -> list[int]:
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, int)]


# ---- settings that libraries read in different ways


def _stored_settings(name: str, saved: dict[str, Any]) -> Iterator[Finding]:
    model = saved.get("model")
    if not isinstance(model, dict):  # a vocab.json can have an entry "padding"
        return
    for setting in ("truncation", "padding"):
        if saved.get(setting) is not None:
            message = f"{name} has {setting}: tokenizers applies it, transformers on request"
            advice = f"remove it: `without_{setting}()`, then save."
            yield Finding(message, advice=advice, texts=(_changed_by(saved[setting]),))
    dropout = model.get("dropout")
    if dropout:
        message = f"{name} has dropout {dropout}: tokenizers draws other ids at each call"
        yield Finding(message, texts=("Hello",))


def _changed_by(setting: object) -> str:
    """Return a text that a truncation cuts, or that padding makes longer."""
    length = setting.get("max_length") if isinstance(setting, dict) else None
    return "a " * (length + 1) if isinstance(length, int) and length < _LONG else "a"


def _other_texts(folder: _Folder, tokenizer: Tokenizer, own: str) -> Iterator[Finding]:
    """Yield a finding for each file of a folder that, alone, splits a text into other tokens."""
    for name in (own, *(name for name in _OTHER_FILES if name != own)):
        other = folder.load(name) if folder.has(name) else None
        if other is None:
            continue
        options = {**PLAIN_TEXT, "add_special_tokens": name == own}
        rows = [
            without_truncation_and_padding(each).encode_batch(_TEXTS, **options)
            for each in (tokenizer, other)
        ]
        for text, one, alone in zip(_TEXTS, *map(_tokens, rows), strict=True):
            if one != alone:
                first = _first_difference(one, alone)
                shown = (" ".join(tokens[first : first + _SHOWN]) for tokens in (one, alone))
                message = f"the folder and its {name} alone split a text differently: "
                message += " and ".join(tokens or "nothing more" for tokens in shown)
                yield Finding(message, texts=(text,))
                break


def _tokens(rows: Any) -> list[list[str]]:
    return [encoding.tokens for encoding in rows]
