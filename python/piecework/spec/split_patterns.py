"""The split patterns of well-known byte-level models, as text, by name.

Each name maps to the regular expressions that split a text in turn, in the syntax of `tokenizer.json`.
They are the patterns that the owners of the models publish. If two equivalent forms are in use, it is the
one that every regex engine reads alike: without `$` and without possessive repetition.

Four are not of a model. `cl100k-r2l` and `o200k-r2l` group the digits of a number from the right. `cl100k-nl`
and `o200k-nl` split before the line ends after symbols, so that no entry joins the two.

Sources: Radford et al. 2019 (GPT-2), reference code; the encodings of tiktoken (cl100k, o200k); the
tokenizer files of Llama 3, Qwen 2 to 3.5, DeepSeek V3, BLOOM and Mistral Nemo (tekken); the code of Kimi K2.
Right to left: Singh and Strouse 2024, "Tokenization counts" (arXiv 2402.14903). Line ends: Meister 2026,
"TokEval" (arXiv 2608.18062), where the pattern of o200k without `[\r\n/]*` is called `gpt4onl`.

Apart from `spec`, because loading ranks needs the text alone, and `spec` takes longer to import than most
files to load.
"""

from __future__ import annotations

GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

_CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_MARKS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_CL100K = _CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|" + _MARKS + "|" + _SPACES
_QWEN2 = _CL100K.replace("{1,3}", "")
_QWEN35 = "|".join(
    (
        _CONTRACTION,
        r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+",
        r"\p{N}",
        r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*",
        _SPACES,
    )
)

_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_MARKS_AND_SLASHES = r" ?[^\s\p{L}\p{N}]+[\r\n/]*"


def _cased(ending: str, digits: str) -> str:
    """Return the pattern of o200k and tekken, which split words before capitals."""
    words = _words(ending, before=r"[^\r\n\p{L}\p{N}]?")
    return "|".join((words, digits, _MARKS_AND_SLASHES, _SPACES))


def _words(ending: str, before: str = "") -> str:
    return f"{before}{_UPPER}*{_LOWER}+{ending}|{before}{_UPPER}+{_LOWER}*{ending}"


def _joined_at_spaces(pattern: str, ending: str, mark: str = "") -> str:
    """Return a pattern of `_cased` that joins words with a mark and a space between them."""
    first = _words(ending, before=r"[^\r\n\p{L}\p{N}]?")
    further = rf"{mark} (?:{_words(ending)})"
    return pattern.replace(first, f"(?:{first})(?:{further})*")


def _digits_from_the_right(pattern: str) -> str:
    """Return a pattern that groups the digits of a number from its end, as commas do: 1 234 567.

    Only the first group of a number looks ahead, so engines that backtrack take linear time.
    """
    first = r"(?<!\p{N})\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"
    return pattern.replace(r"\p{N}{1,3}|", first + r"|\p{N}{3}|")


def _line_ends_apart(pattern: str) -> str:
    """Return a pattern whose runs of symbols include neither line ends nor what follows them."""
    return pattern.replace(r"+[\r\n]*|", "+|").replace(r"+[\r\n/]*|", "+|")


_O200K = _cased(_CONTRACTION + "?", r"\p{N}{1,3}")
_O200K_SUPERWORDS = _joined_at_spaces(_O200K, _CONTRACTION + "?", mark=r"[^\s\p{L}\p{M}\p{N}]?")
# With runs of Han characters as words, and without slashes after symbols.
_KIMI_K2 = r"[\p{Han}]+|" + _O200K.replace(r"\p{M}]", r"\p{M}&&[^\p{Han}]]").replace("n/]", "n]")
_DEEPSEEK_V3 = (
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
    "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+"
    r"|\s+(?!\S)|\s+",
)

WITHIN_PUNCTUATION = {"o200k-superwords": _joined_at_spaces(_O200K, _CONTRACTION + "?")}
"""By the name of a pattern of sequences of words: the pattern that also splits them at punctuation."""

PATTERNS: dict[str, tuple[str, ...]] = {
    "gpt2": (GPT2_PATTERN,),
    "r50k": (GPT2_PATTERN,),
    "p50k": (GPT2_PATTERN,),
    "cl100k": (_CL100K,),
    "llama3": (_CL100K,),
    "o200k": (_O200K,),
    "cl100k-r2l": (_digits_from_the_right(_CL100K),),
    "o200k-r2l": (_digits_from_the_right(_O200K),),
    "cl100k-nl": (_line_ends_apart(_CL100K),),
    "o200k-nl": (_line_ends_apart(_O200K),),
    "o200k-superwords": (_O200K_SUPERWORDS,),
    "tekken": (_cased("", r"\p{N}"),),
    "qwen2": (_QWEN2,),
    "qwen2.5": (_QWEN2,),
    "qwen3": (_QWEN2,),
    "qwen3.5": (_QWEN35,),
    "deepseek-v3": _DEEPSEEK_V3,
    "kimi-k2": (_KIMI_K2,),
    "bloom": (r" ?[^(\s|[.,!?…。，、।۔،])]+",),
}
"""The patterns by name. `spec.NAMED_PATTERNS` is the same, read-only."""
