"""The table of docs/how-to/compare-tokenizers.md about the declaration of human rights, computed again."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

import piecework as pw
from piecework.analysis.comparison import Comparison
from tests.data import need

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "compare-tokenizers.md"
CODES = {
    "English": "eng",
    "Chinese": "cmn_hans",
    "German": "deu_1996",
    "Finnish": "fin",
    "Turkish": "tur",
    "Arabic": "arb",
    "Hindi": "hin",
    "Tamil": "tam",
    "Amharic": "amh",
    "Yoruba": "yor",
    "Burmese": "mya",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    text = gzip.decompress(need("corpora/udhr-all-languages.tsv.gz").read_bytes()).decode()
    texts = dict(line.split("\t", 1) for line in text.splitlines())
    path = tmp_path_factory.mktemp("xlm-r") / "tokenizer.json"
    path.write_bytes(gzip.decompress(need("vocab/xlm-roberta-base/tokenizer.json.gz").read_bytes()))
    tokenizers = {
        name: pw.Tokenizer.load(need(f"vocab/tiktoken/{name}.tiktoken"), encoding_name=name)
        for name in ("r50k_base", "cl100k_base", "o200k_base")
    } | {"xlm-roberta-base": pw.Tokenizer.load(path)}
    return pw.analysis.compare(tokenizers, {name: [texts[code]] for name, code in CODES.items()})


def rows_of_the_page() -> dict[str, list[str]]:
    """Return the cells of the table, by the name of the row."""
    table = PAGE.read_text(encoding="utf-8").partition("## Compare the cost of languages")[2]
    table = table.partition("## Compare in Python")[0]
    rows = re.findall(r"^\| ([^|]+) \| (.+) \|$", table, re.MULTILINE)
    return {name: cells.split(" | ") for name, cells in rows}


@pytest.mark.slow
def test_the_table_of_the_page_is_what_compare_computes(found: Comparison) -> None:
    rows = rows_of_the_page()
    assert rows.pop("language") == [f"`{one.name}`" for one in found.measures]
    expected = {
        source.name: [
            f"{costs.premiums[at]:.2f}, {100 * one.single_token_rate:.0f} %"
            for one, costs in zip(source.measures, found.token_costs, strict=True)
        ]
        for at, source in enumerate(found.sources)
    }
    expected["parity"] = [f"{one.parity:.2f}" for one in found.token_costs]
    expected["Gini"] = [f"{one.gini:.3f}" for one in found.token_costs]
    assert rows == expected
