"""GGUF files: the part that contains the tokenizer, its pipeline, its roles and its chat templates.

A file has a key-value section of a few megabytes, and then tensors of any size, which are never read.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from piecework._internal._core import (
    gguf_chat_templates,
    gguf_names,
    gguf_roles,
    is_gguf,
    read_gguf,
)
from piecework.errors import FormatError
from piecework.io.folder_config import is_template_name
from piecework.io.source_bytes import gunzipped, source_bytes
from piecework.spec.encodings import NAMED_PATTERNS, named_pre_tokenizer, split_bytes
from piecework.spec.normalizers import NFC
from piecework.spec.patterns import Regex
from piecework.spec.pre_tokenizers import (
    ByteLevel,
    Digits,
    PreTokenizer,
    Punctuation,
    SequencePreTokenizer,
    Split,
)

if TYPE_CHECKING:
    from piecework._internal._core import Core
    from piecework.spec import PreTokenizer


HEAD_BYTES = 8
_GZIP_MAGIC = b"\x1f\x8b"
_MODEL_OPTIONS = {"gpt2": ("pattern",), "bert": ("lowercase",)}


def model_options(data: bytes, source: str) -> tuple[str, ...]:
    """Return the names of the load options that the model of a file uses."""
    try:
        model, _ = gguf_names(data, source)
    except FormatError as error:
        if error.kind != "missing key":
            raise
        expected = "one with the key tokenizer.ggml.model, such as the first file of a split model"
        raise FormatError(source, f"is a GGUF file without a tokenizer; load {expected}") from error
    return _MODEL_OPTIONS.get(model, ())


def compile_gguf(
    data: bytes, source: str, lowercase: bool | None, pre_tokenizer: PreTokenizer | None
) -> Core:
    """Compile the tokenizer of a file; `pre_tokenizer` replaces the named one."""
    model, name = gguf_names(data, source)
    pipeline = _pipeline(name, source, pre_tokenizer) if model == "gpt2" else None
    return read_gguf(data, source, pipeline, lowercase)


def _pipeline(name: str | None, source: str, pre_tokenizer: PreTokenizer | None) -> GgufPipeline:
    """Return the pipeline of a name.

    Raises `FormatError` for a name that is unknown or missing, because another pipeline gives other ids.
    """
    from piecework.io.gguf_files import GGUF_PIPELINES, GgufPipeline

    if pre_tokenizer is not None:
        return GgufPipeline(pre_tokenizer)
    if name in GGUF_PIPELINES:
        return GGUF_PIPELINES[name]
    found = "no such key" if name is None else repr(name)
    known = ", ".join(sorted(GGUF_PIPELINES))
    problem = f"found {found}, expected one of {known}, or a pattern"
    raise FormatError(f"{source}: tokenizer.ggml.pre", problem)


def settings_of_gguf(data: bytes, source: str) -> dict[str, Any] | None:
    """Return the settings of a GGUF file in memory; None for another format.

    These are fields of `FolderSettings`: the special token of each role, which the file states or llama.cpp
    gives to its model, and the chat templates. Raises `FormatError` with the key.
    """
    if not _is_gguf(BytesIO(data)):
        return None
    data = gunzipped(data, source)
    templates = dict(gguf_chat_templates(data, source))
    for name in templates:
        if not is_template_name(name):
            key = f"{source}: tokenizer.chat_template.{name}"
            raise FormatError(key, f"found {name!r}, expected a name without separators of paths")
    return {"roles": dict(gguf_roles(data, source)), "chat_templates": templates}


def settings_of_gguf_path(path: str) -> dict[str, Any] | None:
    """Return the settings of a GGUF file; None for another file, a pipe or a directory."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        if not _is_gguf(file):
            return None
    return settings_of_gguf(source_bytes(path), path)


def _is_gguf(file: BinaryIO) -> bool:
    """Return whether a file begins like a GGUF file, gzipped or not."""
    head = file.read(HEAD_BYTES)
    if not head.startswith(_GZIP_MAGIC):
        return is_gguf(head)
    import gzip

    file.seek(0)
    with gzip.open(file) as stream:
        return is_gguf(stream.read(HEAD_BYTES))


@dataclass(frozen=True)
class GgufPipeline:
    """A pre-tokenizer, and what llama.cpp sets with its name."""

    pre_tokenizer: PreTokenizer
    nfc: bool = False
    ignore_merges: bool = False
    add_bos: bool = False
    add_sep: bool = False
    strips_mask: bool = False

    @property
    def stages(self) -> bytes:
        """The normalizer and the pre-tokenizer as JSON, for the core."""
        stages: dict[str, object] = {"pre_tokenizer": self.pre_tokenizer.to_json()}
        if self.nfc:
            stages["normalizer"] = NFC().to_json()
        return json.dumps(stages).encode()


_BYTES = ByteLevel(add_prefix_space=False, use_regex=False)
_GPT2 = named_pre_tokenizer("gpt2")


def _split(*patterns: str) -> GgufPipeline:
    return GgufPipeline(split_bytes(patterns))


def _named(name: str) -> GgufPipeline:
    return GgufPipeline(named_pre_tokenizer(name))


def _sequence(*pre_tokenizers: PreTokenizer) -> GgufPipeline:
    return GgufPipeline(SequencePreTokenizer(pre_tokenizers))


def _isolated(pattern: str) -> Split:
    return Split(Regex(pattern), "isolated")


_CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_MARKS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_CJK = r"[一-龥ࠀ-一가-퟿]+"
_QWEN2 = NAMED_PATTERNS["qwen2"][0]
_O200K = NAMED_PATTERNS["o200k"][0]
_DEEPSEEK_V3 = NAMED_PATTERNS["deepseek-v3"]
_BLOOM = NAMED_PATTERNS["bloom"][0]

_DIGITS_FROM_THE_RIGHT = r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"
# Han, kana, Thai, Lao, Khmer, Burmese and Hangul.
_ASIAN_SCRIPTS = (
    "[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf"
    "\u0e40-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af"
    "\u1100-\u11ff]+"
)

# The letters of DeepSeek LLM, from its tokenizer.json.
_CASED_LETTERS = (
    "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-\u1f7d"
    "ᾀ-ᾴᾶ-ᾼ\u1fbeῂ-ῄῆ-ῌῐ-\u1fd3ῖ-\u1fdbῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ\u212a-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗ"
    "Ａ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"
)
_HALVINGS = "|".join(rf"\s{{{2**power}}}(?!\S)" for power in range(9, 1, -1))

_LLAMA3 = replace(_named("llama3"), ignore_merges=True, add_bos=True)
_DIGITS_THEN_GPT2 = _sequence(Digits(individual_digits=True), _GPT2)
_PLAIN_GPT2 = GgufPipeline(_GPT2)
_PLAIN_O200K = _named("o200k")
_NFC_QWEN2 = replace(_named("qwen2"), nfc=True)
_PLAIN_DEEPSEEK_V3 = _named("deepseek-v3")

# One line for each pipeline: the names that have it, and the pipeline.
_NAMES: Final[tuple[tuple[str, GgufPipeline], ...]] = (
    ("llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano", _LLAMA3),
    ("dbrx smaug-bpe chatglm-bpe glm4", _named("cl100k")),
    ("gpt-2 phi-2 jina-es jina-de gigachat a.x-4.0 mellum", _PLAIN_GPT2),
    ("jina-v2-es jina-v2-de", replace(_PLAIN_GPT2, strips_mask=True)),
    ("exaone4 jais trillion granite-docling", _PLAIN_GPT2),
    # The tokenizer files of GPT-NeoX's family normalize to NFC.
    ("mpt olmo", replace(_PLAIN_GPT2, nfc=True)),
    ("modern-bert", replace(_PLAIN_GPT2, nfc=True, strips_mask=True)),
    ("jina-v1-en", replace(_PLAIN_GPT2, add_sep=True)),
    ("roberta-bpe jina-v2-code", replace(_PLAIN_GPT2, add_sep=True, strips_mask=True)),
    ("starcoder refact smollm codeshell exaone minerva-7b mellum2", _DIGITS_THEN_GPT2),
    ("command-r", replace(_DIGITS_THEN_GPT2, nfc=True)),
    ("qwen2 deepseek-r1-qwen f2llmv2", _NFC_QWEN2),
    ("stablelm2", _NFC_QWEN2),
    ("kormo megrez hunyuan solar-open grok-2", _named("qwen2")),
    ("qwen35", replace(_named("qwen3.5"), nfc=True)),
    ("gpt-4o llama4 kanana2 talkie minimax-m2", _PLAIN_O200K),
    # llama.cpp has an approximation of o200k with marks in the words, as o200k itself has.
    ("granite-embed-multi-97m", replace(_PLAIN_O200K, ignore_merges=True)),
    ("tiny_aya cohere2moe", _split(r"\d{1,3}(?=(?:\d{3})*\b)", _O200K)),
    ("tekken", replace(_named("tekken"), ignore_merges=True, add_bos=True)),
    ("deepseek-v3 hunyuan-dense joyai-llm hy_v4", _PLAIN_DEEPSEEK_V3),
    # llama.cpp splits off whole numbers. The tokenizer file splits off digits, so no merge joins them.
    (
        "deepseek-llm",
        _split(
            "[\r\n]",
            rf"\s?[{_CASED_LETTERS}]+",
            r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
            r"\s+$",
            _CJK,
            r"\p{N}",
        ),
    ),
    ("deepseek-coder", _split("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _CJK, r"\p{N}")),
    (
        "spark2_5",
        _split(
            *_DEEPSEEK_V3[:2],
            _DEEPSEEK_V3[2].replace("+[\r\n]*|\\s*[\r\n]+|", "+|[\r\n]|"),
            r"\p{N}",
        ),
    ),
    (
        "youtu",
        replace(
            _split(
                "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+",
                _O200K.replace(r"\p{N}{1,3}", r"\p{N}"),
            ),
            ignore_merges=True,
        ),
    ),
    # As in its tokenizer.json. `Digits` sees bytes as characters, of which some are digits, such as ².
    (
        "falcon",
        _sequence(
            Punctuation("contiguous"),
            _GPT2,
            Digits(individual_digits=False),
            _isolated("[0-9][0-9][0-9]"),
        ),
    ),
    ("bloom poro-chat gpt3-finnish", _named("bloom")),
    ("viking", _split(_BLOOM, r"\p{N}")),
    (
        "chameleon",
        replace(
            _sequence(
                _isolated("<sentinel:[0-9]+>"),
                _isolated("(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z"),
                _isolated(r"([\t\n]|    |  )"),
                Digits(individual_digits=True),
                Punctuation("isolated"),
                _GPT2,
            ),
            add_bos=True,
        ),
    ),
    (
        "bailingmoe bailingmoe2 llada-moe",
        _split(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}"
            r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
        ),
    ),
    (
        "seed-coder",
        _split(
            rf"{_CONTRACTION}|{_WORD}|\p{{N}}{{1}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{_SPACES}",
        ),
    ),
    ("ufakzeka", _split(rf"{_WORD}|\p{{N}}|{_MARKS}|{_SPACES}")),
    # tiktoken, which its owner uses, looks a word up before it merges.
    ("kimi-k2", replace(_named("kimi-k2"), ignore_merges=True)),
    ("afmoe", _split(_DIGITS_FROM_THE_RIGHT, _ASIAN_SCRIPTS, _DEEPSEEK_V3[2])),
    # The second pattern matches the empty text before each group of three digits, and splits there.
    ("superbpe", _split(r"\p{N}+", r"(?=(\d{3})+(?!\d))")),
    ("laguna", _split(r"[^\n]+|[\n]+", _QWEN2)),
    (
        "minicpm5",
        replace(
            _split(r"\p{N}{1,3}", rf"{_CONTRACTION}|{_WORD}|\p{{N}}+|{_MARKS}|{_SPACES}"),
            ignore_merges=True,
        ),
    ),
    (
        "exaone-moe",
        _split(
            rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}"
            rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
        ),
    ),
    (
        "jais-2",
        _split(
            rf"{_CONTRACTION}|{_WORD}|\p{{N}}{{1,3}}|{_MARKS}|\s*[\r\n]+"
            rf"|{_HALVINGS}|\s{{1,2}}(?!\S)|\s{{1}}"
        ),
    ),
    # llama.cpp's own, for files that name it. Files without a name are refused.
    (
        "default",
        _sequence(
            _isolated(r"[\p{P}\$\+<=>\^~\|]+"),
            _isolated(NAMED_PATTERNS["gpt2"][0]),
            _isolated(r"\p{N}+"),
            _isolated("[0-9][0-9][0-9]"),
            _BYTES,
        ),
    ),
)


GGUF_PIPELINES: Final[dict[str, GgufPipeline]] = {
    name: pipeline for names, pipeline in _NAMES for name in names.split()
}
"""The pipeline of each known value of `tokenizer.ggml.pre`."""
