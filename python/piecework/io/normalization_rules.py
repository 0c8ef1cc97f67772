"""SentencePiece normalization rules: by name, from a mapping, from and to TSV files.

At each position of a text, the longest matching rule is applied, and matching continues after it; other
characters are copied. The compiled form is the `precompiled_charsmap` of `.model` files and of the
`Precompiled` normalizer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from piecework._internal._core import RawRules
from piecework._internal.surrogates import first_surrogate
from piecework._internal.validation import PathLike, check_type, path_text
from piecework.errors import ArgumentError, InputTypeError
from piecework.io.atomic_files import atomic_file
from piecework.io.read_file import file_bytes
from piecework.spec import Precompiled


@dataclass(frozen=True)
class NormalizationRules:
    """A set of replacement rules; at each position the longest matching rule applies.

    >>> rules = NormalizationRules.from_mapping({"I'm": "I am", "I": "i"})
    >>> rules.normalize("I'm. I!")
    'I am. i!'

    `charsmap` is the compiled form, empty without rules. Two sets are equal if their compiled forms are;
    use `to_mapping()` to compare with rules from another compiler. Raises `FormatError` for a damaged form.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity")

    charsmap: bytes = field(repr=False)

    def __post_init__(self) -> None:
        check_type("charsmap", self.charsmap, bytes, "bytes")
        _ = self._raw

    @classmethod
    def named(cls, name: str) -> NormalizationRules:
        """Return the SentencePiece rules nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf or identity.

        >>> NormalizationRules.named("nmt_nfkc_cf").normalize("Ｔｈｅ ﬁｒｓｔ\\tＣｅｎｔ￠")
        'the first cent¢'

        The rules equal the ones of sentencepiece 0.2.3 with Unicode 17; older models contain older rules. The
        first call for a name takes about half a second.
        """
        check_type("name", name, str, "str")
        return _named(name)

    @classmethod
    def from_mapping(cls, rules: Mapping[str, str]) -> NormalizationRules:
        """Compile a mapping from source to replacement.

        >>> NormalizationRules.from_mapping({"…": "...", "\\u00ad": ""}).normalize("so\\u00adon…")
        'soon...'

        Raises `ArgumentError` for a source that is empty or longer than 256 bytes of UTF-8, for NUL, and
        for more than 31 sources that are prefixes of each other, which sentencepiece rejects too.
        """
        check_type("rules", rules, Mapping, "a mapping of str to str")
        for source, replacement in rules.items():
            _check_text("rules", source)
            _check_text(f"rules[{source!r}]", replacement)
        return cls(RawRules.from_pairs(list(rules), list(rules.values())).charsmap())

    @classmethod
    def from_tsv(cls, path: PathLike) -> NormalizationRules:
        r"""Read a rule file: source, tab, replacement on each line, as hexadecimal code points.

        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "rules.tsv"
        >>> _ = path.write_text("49 27 6D\t49 20 61 6D\n2026\n")
        >>> NormalizationRules.from_tsv(path).to_mapping()
        {"I'm": 'I am', '…': ''}

        This is the format of `spm_train --normalization_rule_tsv`. A rule without replacement removes its
        source; text after a second tab is a comment. Raises `FileError`, and `FormatError` with the line
        of an invalid rule or a duplicate source.
        """
        name = path_text(path)
        return cls(RawRules.from_tsv(file_bytes(path, "a readable file"), name).charsmap())

    def to_mapping(self) -> dict[str, str]:
        """Return the replacement of each source, ordered by source.

        >>> NormalizationRules.from_mapping({"b": "", "a": "x"}).to_mapping()
        {'a': 'x', 'b': ''}

        Raises `FormatError` if the compiled form has more rules than this library compiles.
        """
        return dict(self._raw.pairs())

    def save_tsv(self, path: PathLike) -> None:
        r"""Write a rule file that `from_tsv` and sentencepiece read.

        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "rules.tsv"
        >>> NormalizationRules.from_mapping({"½": "1/2"}).save_tsv(path)
        >>> path.read_text()
        'BD\t31 2F 32\t# "½" => "1/2"\n'
        """
        path_text(path)
        with atomic_file(path) as temporary:
            temporary.write_bytes(self._raw.to_tsv())

    def normalize(self, text: str) -> str:
        """Apply the rules to a text, without any handling of spaces, as sentencepiece does.

        >>> NormalizationRules.from_mapping({"don 't": "don't"}).normalize("I don 't")
        "I don't"

        For denormalization, apply the reverse rules to decoded text.
        """
        return self._raw.normalize(text)

    def normalize_with_offsets(self, text: str) -> tuple[str, list[tuple[int, int]]]:
        """Apply the rules; also return the source span of each character, in characters of `text`.

        >>> NormalizationRules.from_mapping({"½": "1/2"}).normalize_with_offsets("½l")
        ('1/2l', [(0, 1), (0, 1), (0, 1), (1, 2)])
        """
        return self._raw.normalize_with_offsets(text)

    @property
    def component(self) -> Precompiled | None:
        """The `Precompiled` normalizer for a `tokenizer.json`, None without rules.

        >>> NormalizationRules.from_mapping({}).component is None
        True

        The results can differ: `Precompiled`, as in `tokenizers`, looks up grapheme clusters and applies the
        shortest matching rule. They are equal for single characters, and for clusters without a shorter
        rule.
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
        raise InputTypeError(place, f"must be str, not {type(value).__name__}")
    if first_surrogate(value) is not None:
        raise ArgumentError(place, "has a lone surrogate, which UTF-8 cannot encode")
