"""Normalization rules: names, mappings, files, offsets, and what is refused."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.cli.app import run
from piecework.errors import ArgumentError, FileError, FormatError, InputTypeError
from piecework.reference.aligned import align, as_text
from piecework.reference.charsmap import apply_charsmap
from piecework.train import NormalizationRules

TEXT = st.text(st.sampled_from("ab cdé\u0301漢字😀\U0010ffff'"), max_size=5)
RULES = st.dictionaries(TEXT.filter(bool), TEXT, max_size=30)


def normalized_by_dict(rules: dict[str, str], text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return what the rules mean: at each place the longest, or the character itself."""
    out, spans, at = "", [], 0
    while at < len(text):
        sources = [source for source in rules if text.startswith(source, at)]
        source = max(sources, key=len, default=text[at])
        new = rules.get(source, source)
        out += new
        spans += [(at, at + len(source))] * len(new)
        at += len(source)
    return out, spans


@given(RULES, st.lists(st.text(st.sampled_from("ab cdé\u0301漢字😀x'")), max_size=5))
def test_rules_are_the_longest_match_and_come_back(rules: dict[str, str], texts: list[str]) -> None:
    compiled = NormalizationRules.from_mapping(rules)
    assert compiled.to_mapping() == rules
    for text in texts:
        assert compiled.normalize_with_offsets(text) == normalized_by_dict(rules, text)
        assert compiled.normalize(text) == normalized_by_dict(rules, text)[0]


@given(RULES)
def test_rule_files_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, rules: dict[str, str]
) -> None:
    path = tmp_path_factory.mktemp("rules") / "rules.tsv"
    compiled = NormalizationRules.from_mapping(rules)
    compiled.save_tsv(path)
    assert NormalizationRules.from_tsv(path) == compiled


@given(
    st.dictionaries(st.sampled_from("abé漢😀"), TEXT, min_size=1),
    st.text(st.sampled_from("abxé漢😀")),
)
def test_the_component_applies_rules_of_single_characters_alike(
    rules: dict[str, str], text: str
) -> None:
    compiled = NormalizationRules.from_mapping(rules)
    assert as_text(apply_charsmap(align(text), compiled.charsmap)) == compiled.normalize(text)


def test_the_component_normalizes_in_a_tokenizer() -> None:
    tokenizer = pw.Tokenizer.train_from_iterator(["one two"], model="char")
    tokenizer = tokenizer.with_normalizer(NormalizationRules.named("nmt_nfkc").component)
    assert tokenizer.normalize("ﬁ\tｘ") == "fi x"
    assert NormalizationRules.named("identity").component is None


def test_named_rules_normalize_as_documented() -> None:
    text = "Ｆoo\tＢar ﬁ ½～\u200bÅ"
    expected = {
        "identity": text,
        "nfkc": "Foo\tBar fi 1⁄2~\u200bÅ",
        "nmt_nfkc": "Foo Bar fi 1⁄2～ Å",
        "nfkc_cf": "foo\tbar fi 1⁄2~\u200bå",
        "nmt_nfkc_cf": "foo bar fi 1⁄2～ å",
    }
    assert {name: NormalizationRules.named(name).normalize(text) for name in expected} == expected
    assert tuple(sorted(expected)) == tuple(sorted(NormalizationRules.NAMES))


def test_the_published_example() -> None:
    rules = NormalizationRules.from_mapping({"\u0041\u0302\u0300": "\u1ea6", "I'm": "I am"})
    assert rules.normalize("\u0041\u0302\u0300 I'm") == "\u1ea6 I am"


def test_text_written_back_is_denormalized() -> None:
    there = NormalizationRules.from_mapping({"I'm": "I am"})
    back = NormalizationRules.from_mapping({"I am": "I'm"})
    assert back.normalize(there.normalize("so I'm here")) == "so I'm here"


def test_rules_are_values() -> None:
    rules = NormalizationRules.from_mapping({"a": "b"})
    assert rules == NormalizationRules(rules.charsmap) == pickle.loads(pickle.dumps(rules))
    assert rules != NormalizationRules.from_mapping({"a": "c"})
    assert NormalizationRules.from_mapping({}) == NormalizationRules.named("identity")
    assert NormalizationRules.from_mapping({}).charsmap == b""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("xy\t41", 'line 2: found "xy", expected code points in hexadecimal'),
        ("D800\t41", "line 2: found the surrogate D800"),
        ("110000\t41", "line 2: found 110000, which is above 10FFFF"),
        ("\t41", "line 2: found an empty source"),
        ("", "line 2: found an empty source"),
        ("41 0\t41", "line 2: found NUL"),
        ("41\t0", "line 2: found NUL"),
        ("61\t42", 'line 2: found the source "a" again, expected each source once'),
        (
            " ".join(["41"] * 257) + "\t42",
            "line 2: found a source of 257 bytes, expected at most 256",
        ),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "rules.tsv"
    path.write_text(f"61\t62\t# a => b\n{line}\n63\t\n")
    with pytest.raises(FormatError) as error:
        NormalizationRules.from_tsv(path)
    assert str(error.value).startswith(f"{path}: {message}")


def test_a_missing_rule_file_is_a_file_error(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r".*none\.tsv: cannot be read: no such file"):
        NormalizationRules.from_tsv(tmp_path / "none.tsv")


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"": "a"}, 'rules[""]: must be the characters to replace, not an empty source'),
        (
            {"a\0": "a"},
            'rules["a\\0"]: must be other characters, as NUL ends a text in the compiled form, not NUL',
        ),
        (
            {"a": "\0"},
            'rules["a"]: must be other characters, as NUL ends a text in the compiled form, not NUL',
        ),
        ({"a" * 257: ""}, ", not a source of 257 bytes"),
        ({"\ud800": ""}, "rules: has a lone surrogate, which UTF-8 cannot encode"),
        ({"a": "\ud800"}, "rules['a']: has a lone surrogate, which UTF-8 cannot encode"),
        (
            {"n" * length: "" for length in range(1, 33)},
            ", not 32 sources that are beginnings of one another",
        ),
        (
            {f"{number:0100}": "" for number in range(50_000)},
            "rules: must be at most 4194304, not 5000000 bytes of sources",
        ),
    ],
)
def test_invalid_rules_are_rejected(rules: dict[str, str], message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        NormalizationRules.from_mapping(rules)
    assert message in str(error.value)


def test_wrong_types_are_refused() -> None:
    calls = (
        lambda: NormalizationRules("text"),  # type: ignore[arg-type]
        lambda: NormalizationRules.named(1),  # type: ignore[arg-type]
        lambda: NormalizationRules.from_mapping([("a", "b")]),  # type: ignore[arg-type]
        lambda: NormalizationRules.from_mapping({1: "b"}),  # type: ignore[dict-item]
        lambda: NormalizationRules.from_mapping({"a": None}),  # type: ignore[dict-item]
        lambda: NormalizationRules.from_tsv(1),  # type: ignore[arg-type]
        lambda: NormalizationRules.from_mapping({"a": "b"}).normalize(b"a"),  # type: ignore[arg-type]
    )
    for call in calls:
        with pytest.raises(InputTypeError):
            call()
    with pytest.raises(
        ArgumentError, match="one of nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf, identity"
    ):
        NormalizationRules.named("nfc")


@pytest.mark.parametrize("damage", [b"\1", b"\xff\xff\xff\xff", b"\4\0\0\0\0\0\0\0x\0"])
def test_a_damaged_charsmap_is_refused(damage: bytes) -> None:
    with pytest.raises(FormatError, match="charsmap"):
        NormalizationRules(damage)


def test_long_sources_on_a_text_that_almost_matches_stay_linear() -> None:
    rules = NormalizationRules.from_mapping({"a" * 255 + "b": "x"})
    text = "a" * 200_000
    assert rules.normalize(text) == text


def test_growth_is_bounded() -> None:
    rules = NormalizationRules.from_mapping({"a": "b" * (1 << 20)})
    with pytest.raises(ArgumentError, match="rules that write more than"):
        rules.normalize("a" * 100)


def test_normalize_writes_lines_and_offsets(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    corpus, rules = tmp_path / "corpus.txt", tmp_path / "rules.tsv"
    corpus.write_text("I'm ﬁ\n\nｘ\n")
    rules.write_text("49 27 6D\t49 20 61 6D\n")
    assert run(["normalize", "--rules", "nfkc", str(corpus)]) == 0
    assert capfdbinary.readouterr().out.decode() == "I'm fi\n\nx\n"
    assert run(["normalize", "--rules", str(rules), "--json", str(corpus)]) == 0
    first = json.loads(capfdbinary.readouterr().out.splitlines()[0])
    assert first["text"] == "I am ﬁ"
    assert first["offsets"] == [[0, 3], [0, 3], [0, 3], [0, 3], [3, 4], [4, 5]]


def test_normalize_lists_the_known_rules(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["normalize", "--rules", "none.tsv"]) == 2
    assert capfd.readouterr().err.startswith(
        "piecework: error: --rules: there is no file 'none.tsv'; give a file of rules, or one of nmt"
    )
