"""Normalization rules as SentencePiece has them: by name, by mapping, from and to TSV files.

At each place of a text the longest rule that begins there is applied, and the text goes on behind it;
what no rule begins stays. The compiled form is the `precompiled_charsmap` of `.model` files and of the
`Precompiled` normalizer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from piecework._core import RawRules
from piecework._internal.surrogates import first_surrogate
from piecework._internal.validation import PathLike, path_text
from piecework.errors import ArgumentError, InputTypeError
from piecework.io.atomic_files import whole_file
from piecework.io.read_file import file_bytes
from piecework.spec import Precompiled


@dataclass(frozen=True)
class NormalizationRules:
    """Replace by rules, at each place the longest that matches.

    >>> rules = NormalizationRules.from_mapping({"I'm": "I am", "I": "i"})
    >>> rules.normalize("I'm. I!")
    'I am. i!'

    `charsmap` is the compiled form; without any rule it is empty. Two are equal if their compiled forms
    are; compare `to_mapping()` with what others have compiled. Raises `FormatError` for a damaged form.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity")

    charsmap: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.charsmap, bytes):
            raise InputTypeError("charsmap", type(self.charsmap).__name__, "bytes")
        _ = self._raw

    @classmethod
    def named(cls, name: str) -> NormalizationRules:
        """Build the rules that SentencePiece calls nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf or identity.

        >>> NormalizationRules.named("nmt_nfkc_cf").normalize("Ｔｈｅ ﬁｒｓｔ\\tＣｅｎｔ￠")
        'the first cent¢'

        They are those of sentencepiece 0.2.3, from Unicode 17; models made earlier carry older ones.
        Building takes about half a second; a name is built once.
        """
        if not isinstance(name, str):
            raise InputTypeError("name", type(name).__name__, "str")
        return _named(name)

    @classmethod
    def from_mapping(cls, rules: Mapping[str, str]) -> NormalizationRules:
        """Compile rules of your own.

        >>> NormalizationRules.from_mapping({"…": "...", "\\u00ad": ""}).normalize("so\\u00adon…")
        'soon...'

        Raises `ArgumentError` for a source that is empty or longer than 256 bytes of UTF-8, for NUL, and
        for more than 31 sources of which each begins the next, which sentencepiece refuses too.
        """
        if not isinstance(rules, Mapping):
            raise InputTypeError("rules", type(rules).__name__, "a mapping of str to str")
        for source, replacement in rules.items():
            _check_text("rules", source)
            _check_text(f"rules[{source!r}]", replacement)
        return cls(RawRules.from_pairs(list(rules), list(rules.values())).charsmap())

    @classmethod
    def from_tsv(cls, path: PathLike) -> NormalizationRules:
        r"""Read a rule file: on each line source, tab, replacement, in hexadecimal code points.

        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "rules.tsv"
        >>> _ = path.write_text("49 27 6D\t49 20 61 6D\n2026\n")
        >>> NormalizationRules.from_tsv(path).to_mapping()
        {"I'm": 'I am', '…': ''}

        The format of `spm_train --normalization_rule_tsv`; a rule without a replacement removes its
        source, what follows a second tab is a remark. Raises `FormatError` with the line at fault, also
        for a source that stands there twice, and `FileError`.
        """
        name = path_text(path)
        return cls(RawRules.from_tsv(file_bytes(path, "a readable file"), name).charsmap())

    def to_mapping(self) -> dict[str, str]:
        """Decompile: return the replacement of each source, ordered by source.

        >>> NormalizationRules.from_mapping({"b": "", "a": "x"}).to_mapping()
        {'a': 'x', 'b': ''}

        Raises `FormatError` where the compiled form stands for more rules than could be compiled here.
        """
        return dict(self._raw.pairs())

    def save_tsv(self, path: PathLike) -> None:
        """Write a rule file that `from_tsv` and sentencepiece read."""
        path_text(path)
        with whole_file(path) as temporary:
            temporary.write_bytes(self._raw.to_tsv())

    def normalize(self, text: str) -> str:
        """Apply the rules; for denormalization, apply those of the other direction to decoded text.

        >>> NormalizationRules.from_mapping({"don 't": "don't"}).normalize("I don 't")
        "I don't"

        As sentencepiece does without any handling of spaces.
        """
        return self._raw.normalize(text)

    def normalize_with_offsets(self, text: str) -> tuple[str, list[tuple[int, int]]]:
        """Apply the rules; give too where each character comes from, as spans of characters of `text`.

        >>> NormalizationRules.from_mapping({"½": "1/2"}).normalize_with_offsets("½l")
        ('1/2l', [(0, 1), (0, 1), (0, 1), (1, 2)])
        """
        return self._raw.normalize_with_offsets(text)

    @property
    def component(self) -> Precompiled | None:
        """The normalizer of a `tokenizer.json`, None without any rule.

        `tokenizers`, and so a tokenizer that has this component, looks up grapheme clusters and takes
        the shortest rule that begins one: the same result for single characters, and for clusters where
        only the whole has a rule; not the same in general.
        """
        return Precompiled(self.charsmap) if self.charsmap else None

    @cached_property
    def _raw(self) -> RawRules:
        return RawRules.from_charsmap(self.charsmap)

    def __reduce__(self) -> tuple[Any, ...]:
        return NormalizationRules, (self.charsmap,)


@lru_cache(maxsize=len(NormalizationRules.NAMES))
def _named(name: str) -> NormalizationRules:
    return NormalizationRules(RawRules.named(name).charsmap())


def _check_text(place: str, value: object) -> None:
    if not isinstance(value, str):
        raise InputTypeError(place, type(value).__name__, "str")
    if first_surrogate(value) is not None:
        raise ArgumentError(place, "a lone surrogate", "text that can be written as UTF-8")
