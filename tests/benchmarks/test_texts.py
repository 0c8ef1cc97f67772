"""The texts that benchmarks measure on."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

import build_corpora
import small_corpora
import worker
from corpora import documents
from extract import text_of


def test_hostile_texts_have_the_given_size_and_are_always_the_same() -> None:
    texts = worker.load("tasks", "hostile").hostile_texts(10_000)
    assert set(texts) == {"letter", "spaces", "punctuation", "marks", "cjk", "random"}
    assert all(9_990 < len(text.encode()) <= 10_000 for text in texts.values())
    assert texts == worker.load("tasks", "hostile").hostile_texts(10_000)


def test_the_generated_text_is_the_same_everywhere(tmp_path: Path) -> None:
    text = small_corpora.small_corpus("multilingual", tmp_path).read_text(encoding="utf-8")
    assert text.count("\n") == small_corpora.MADE_UP_LINES
    assert build_corpora.sha256(text.encode())[:16] == "9a70656383a9b1b0"
    quoted = small_corpora.small_corpus("prose-languages", tmp_path).read_text(encoding="utf-8")
    assert build_corpora.sha256(quoted.encode())[:16] == "2b3ce040819f1bd2"
    assert min(map(quoted.count, "“”„«»‘’「」")) == small_corpora.MADE_UP_LINES // 5


def test_generated_messages_and_sources_are_the_same_everywhere(tmp_path: Path) -> None:
    text = small_corpora.small_corpus("chat", tmp_path).read_text(encoding="utf-8")
    assert build_corpora.sha256(text.encode())[:16] == "0e5f274ac46e6102"
    sizes = [len(message.encode()) for message in text.splitlines()]
    assert len(sizes) == small_corpora.MESSAGES
    assert 20 < sorted(sizes)[len(sizes) // 2] < 300
    assert min(map(text.count, ("“", "«", "🙂", "😂", "字"))) > 0
    sources = small_corpora.small_corpus("sources", tmp_path).read_text(encoding="utf-8")
    assert build_corpora.sha256(sources.encode())[:16] == "fae931d003779ad4"
    indented = small_corpora.small_corpus("repositories", tmp_path).read_text(encoding="utf-8")
    assert build_corpora.sha256(indented.encode())[:16] == "5a61f38ed4ece73f"
    lines = [line.lstrip() for line in indented.splitlines()]
    assert lines == [line.lstrip() for line in sources.splitlines()]
    assert "@" not in sources.replace("${", "").replace("= @_", "").replace("[@]", "")


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.html", "<p>caf&eacute;</p><script>x()</script>", " café  "),
        (
            "./doc/html/src/A.html",
            '<head>A</head><body><pre><span class="annot"><span class="annottext">x :: Int\n</span>'
            '<a href="#x"><span>x</span></a></span><span> </span><span>&lt;&gt;</span> y\n</pre></body>',
            "x <> y\n",
        ),
        (
            "./cldr/common/annotations/fr.xml",
            '<annotation cp="🦮" type="tts" draft="contributed">chien d&apos;aveugle</annotation>\n'
            '<annotation cp="🦮">chien</annotation>\n<annotation cp="_" type="tts">tiret</annotation>',
            "chien d'aveugle 🦮",
        ),
        ("a.1.gz", '.\\" nothing\n.B bold\n\\fIslanted\\fR \\-x\n', "bold\nslanted -x\n"),
        ("a.py", "a < b > c  # &amp;\n", "a < b > c  # &amp;\n"),
        ("./usr/games/fortunes/a", "\x1b[1ma\x1b[0m b\n", "a b\n"),
    ],
)
def test_markup_is_taken_from_text(name: str, data: str, text: str) -> None:
    assert text_of(name, data.encode()) == text


def test_markup_is_kept_where_it_is_the_source() -> None:
    assert text_of("a.html", b"<p>&eacute;</p>", has_markup=True) == "<p>&eacute;</p>"


def test_messages_are_entries_of_quotations_and_lines_of_other_texts() -> None:
    def messages(name: str, text: str) -> list[str]:
        return list(build_corpora.fresh_messages(name, text, (10, 30), set()))

    quotations = "one\n\tline,  two\u00a0!\n%\nshort\n%% \none line, two\u00a0!\n%\n" + "long " * 7
    assert messages("./games/fortunes/a", quotations) == ["one line, two\u00a0!\n"]
    assert messages("a.mo", "“line” one\nline\x07 number two\nline \ufffd three\n") == [
        "“line” one\n"
    ]


def test_a_source_may_be_in_an_archive_of_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("a/B.java", "a/A.java", "a/A.class"):
            archive.writestr(name, f"class {name[2]} {{ /* a line of more than forty bytes */ }}\n")
    files = [("./lib/src.zip", packed.getvalue()), ("./doc/C.java", b"class C {}\n")]
    monkeypatch.setattr(build_corpora, "debian_archive", lambda *_: tmp_path)
    monkeypatch.setattr(build_corpora, "debian_files", lambda _: iter(files))
    source = {"package": "p", "version": "1", "sha256": "", "files": ["*.java"]}
    within = build_corpora.documents_of({**source, "zip": "/src.zip"}, set())
    assert sorted(text[6:7] for text in within) == [b"A", b"B", b"C"]
    assert [text[:8] for text in build_corpora.documents_of(source, set())] == [b"class C "]


def test_a_document_may_be_one_line(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_bytes("één\n\n tw\ro \u2028\nthree\nfour".encode())
    assert documents(corpus, 0, 100) == ["één", " tw\ro \u2028", "three", "four"]
    assert documents(corpus, 0, 16) == ["één", " tw\ro \u2028"]


def test_text_is_read_from_compressed_formats() -> None:
    osis = zlib.compress('<div type="x-p"/>“<w lemma="1">Let</w> there be"<verse/>light”'.encode())
    once = '“Let there be"\nlight”'
    assert text_of("nt.bzz", osis + b"\0\x78\x9c?" + osis) == f"{once}\n{once}"
    r_data = b"\0\x04\0\x09\0\0\0\x03abc\0\0\x80\x09\0\0\0\x02" + "é".encode()
    assert text_of("Rdata.rdb", b"\0\0\0\x01" + zlib.compress(r_data)) == "abc\né"


def test_translations_are_read_without_the_header_and_tags() -> None:
    header = b"Content-Type: text/plain; charset=UTF-8\n"
    text = "<i>Ne</i>…".encode()
    # Two tables of lengths and offsets, at 28 and 44, then "", "No", the header and the text.
    originals = struct.pack("<4I", 0, 60, 2, 61)
    translated = struct.pack("<4I", len(header), 64, len(text), 65 + len(header))
    head = struct.pack("<7I", 0x950412DE, 0, 2, 28, 44, 0, 0)
    data = head + originals + translated + b"\0No\0" + header + b"\0" + text + b"\0"
    assert text_of("a.mo", data) == "Ne…"


def test_long_lines_of_a_corpus_are_kept_once() -> None:
    long = "word " * 20
    seen: set[str] = set()
    first = list(build_corpora.fresh_lines(f"{long}\nshort\n\n\n\nshort", seen))
    assert first == [long.rstrip() + "\n", "short\n", "\n", "short\n"]
    assert list(build_corpora.fresh_lines(long, seen)) == []
    kept = [f"  {long} \n", "\n", "\n", "x\n"]
    assert list(build_corpora.lines_of("".join(kept)[:-1], seen, repeats=True)) == kept


def test_documents_are_shuffled_the_same_way_and_cut_to_size() -> None:
    documents = [bytes([97 + number]) * 1000 for number in range(20)]
    kept = build_corpora.shuffled(documents, 0.005)
    assert len(kept) == 5
    assert kept == build_corpora.shuffled(documents, None)[:5] != documents[:5]
