"""What a check reports: for each rule a tokenizer that it must find, and one that only looks suspicious."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import piecework as pw
from piecework.analysis import check
from piecework.analysis.check.findings import CheckReport, Finding
from piecework.analysis.check.rules import RULES
from piecework.analysis.check.sarif import sarif
from piecework.cli.app import run

MANY = [f"{mark}\n" for mark in ";{}()[],.:!?"]


def codes(report: CheckReport) -> list[str]:
    return [finding.code for finding in report.findings]


def words(*tokens: str) -> pw.Tokenizer:
    vocab = {token: id for id, token in enumerate(("[UNK]", *tokens))}
    return pw.Tokenizer(pw.spec.WordLevel(vocab, unk_token="[UNK]"))


# ---- the framework


def test_the_worst_findings_come_first_and_decide_the_exit_code() -> None:
    found = [Finding("a", "x", severity) for severity in ("error", "note")]
    report = CheckReport("t", tuple(found), ("x",))
    assert report.worst == "error"
    assert report.fails("error")
    assert CheckReport("t", (found[1],), ("x",)).fails("note")
    assert not CheckReport("t", (found[1],), ("x",)).fails("warning")
    assert not CheckReport("t", (), ("x",)).fails("note")


def test_rules_are_chosen_by_code_and_by_group() -> None:
    tok = words(";\n")
    assert codes(check(tok, select=["vocabulary"])) == ["line-end-entries"]
    assert (
        "line-end-entries"
        not in check(tok, select=["vocabulary"], ignore=["line-end-entries"]).rules
    )
    with pytest.raises(pw.errors.ArgumentError, match="select: must be one of"):
        check(tok, select=["E501"])


@pytest.mark.parametrize("code", sorted(RULES))
def test_each_rule_has_a_page_with_an_example_that_fails_and_one_that_passes(code: str) -> None:
    rule = RULES[code]
    assert rule.summary.startswith("Find ")
    assert rule.rationale.count(">>>") >= 2
    assert "()" in rule.rationale


def test_a_file_that_does_not_load_is_the_first_finding(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text('{"model": 1}')
    report = check(path)
    assert codes(report)[0] == "unreadable"
    assert "line-end-entries" not in report.rules
    assert str(path) in report.findings[0].message


def test_a_custom_stage_is_said(tmp_path: Path) -> None:
    tok = words("a").with_normalizer(pw.spec.CustomNormalizer(str.lower, "lower"))
    [found] = check(tok, select=["unchecked"]).findings
    assert "calls the function 'lower'" in found.message
    assert found.severity == "note"


def test_a_rule_that_cannot_run_is_said() -> None:
    def fails(text: str) -> str:
        raise ValueError(text)

    tok = words("a").with_normalizer(pw.spec.CustomNormalizer(fails))
    found = [one for one in check(tok).findings if "was not checked" in one.message]
    assert {one.code for one in found} <= {"unchecked"}


def test_the_command_prints_findings_and_writes_sarif(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, log = tmp_path / "tokenizer.json", tmp_path / "log.sarif"
    words(*MANY).save(path)
    options = ["--select", "line-end-entries", "--sarif", str(log)]
    assert run(["check", str(path), *options]) == 0
    assert "warning: line-end-entries" in capsys.readouterr().out
    [result] = json.loads(log.read_text())["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("line-end-entries", "warning")
    assert run(["check", str(path), "--json", "--fail-on", "warning", *options]) == 1
    [finding] = json.loads(capsys.readouterr().out)["findings"]
    assert finding["ids"] == list(range(1, 13))


def test_sarif_names_the_rules_by_index(tmp_path: Path) -> None:
    report = check(words(";\n"))
    [made] = sarif([report])["runs"]
    rules = made["tool"]["driver"]["rules"]
    assert [rules[one["ruleIndex"]]["id"] for one in made["results"]] == codes(report)


# ---- entries


def test_many_entries_with_line_ends_are_a_warning_and_few_a_note() -> None:
    for tokens, severity in ((MANY, "warning"), (MANY[:10], "note")):
        [found] = check(words(*tokens), select=["line-end-entries"]).findings
        assert (found.severity, len(found.ids)) == (severity, len(tokens))


def test_markers_of_words_are_not_spaces_beside_a_line_end() -> None:
    marked = words("▁\n", "▁").with_decoder(pw.spec.MetaspaceDecoder())
    model = pw.spec.BPE({"\n</w>": 0, "\n": 1}, (), end_of_word_suffix="</w>")
    for tok in (marked, pw.Tokenizer(model)):
        assert codes(check(tok, select=["line-end-entries"])) == []


def test_entries_of_line_ends_alone_are_fine() -> None:
    tok = words("\n", "\r\n", "\n\n", "  ", ";", "\\n", "\u2028a")
    assert codes(check(tok, select=["line-end-entries"])) == []


def test_byte_level_entries_with_a_line_end_are_decoded() -> None:
    tok = pw.Tokenizer(
        pw.spec.WordLevel({"[UNK]": 0, ");Ċ": 1, "ĊĠĠ": 2, "Ċ": 3, "čĊ": 4}, unk_token="[UNK]"),
        decoder=pw.spec.ByteLevelDecoder(),
    )
    [found] = check(tok, select=["line-end-entries"]).findings
    assert found.ids == (1, 2)
