"""Small texts that every machine can make, for runs that check answers and for machines offline.

english          the documentation that comes with Python: about 2 MB, the same for one version of it
code             the standard library's sources, likewise
multilingual     made-up words of many scripts, the same everywhere; it says nothing about speed
prose            english with typographic quotes in place of straight ones
prose-languages  multilingual with quoted phrases
chat             short lines of made-up words, some quoted, some with emoji
sources          snippets of eleven languages with made-up names
repositories     the lines of sources, indented
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

MAKER = Path(__file__).parent.parent / "tools" / "quickstart_corpus.py"
CODE_BYTES = 8_000_000
MADE_UP_LINES = 12_000
WORDS_OF_A_SCRIPT = 2_000
SEED = 1
# First and last letter of ranges that hold hardly anything but letters, with what parts their words.
SCRIPTS = (
    ("a", "z", " "),
    ("à", "ö", " "),
    ("α", "ω", " "),
    ("а", "я", " "),
    ("א", "ת", " "),
    ("ب", "غ", " "),
    ("क", "ह", " "),
    ("ก", "ฮ", ""),
    ("ა", "ჰ", " "),
    ("가", "힣", " "),
    ("ぁ", "ん", ""),
    ("ァ", "ヴ", ""),
    ("一", "龥", ""),
)
OPENING = re.compile(r'(?<!\S)"')
# Each quotes one line in turn.
QUOTES = ("“”", "„“", "«»", "‘’", "「」")
MESSAGES = 8_000
ENDINGS = (".", "!", "?", "…", " :)", " 🙂", " 👍🏽", " ❤️", " 😂😂", "")
SNIPPETS = 6_000
# `@` stands for a made-up name, `#` for a number.
SOURCES = (
    "static int @(struct @ *@, size_t @)\n{\n\tif (!@ || @->@ > #)\n\t\treturn -#;\n\treturn @->@[@];\n}\n",
    "    public final List<@> @(String @) {\n        return @.stream().map(@::@).limit(#).toList();\n    }\n",
    'for @ in "${@[@]}"; do\n    [ -f "$@/#.@" ] && @ --@="$@" >> "$@" 2>&1 || exit #\ndone\n',
    "SELECT @.@, COUNT(*) AS @ FROM @ JOIN @ ON @.@ = @.@ WHERE @ >= # GROUP BY @ ORDER BY @ DESC;\n",
    '<div class="@ @-#" id="@">\n  <a href="/@/@.html?@=#">@ @ &amp; @</a>\n</div>\n',
    ".@-@ > .@:hover {\n  margin: #px auto;\n  color: #@;\n}\n",
    '{"@": {"@": [#, #, #], "@": "@ @", "@": null, "@": true}}\n',
    "\\newcommand{\\@}[#]{\\textbf{@} $\\frac{@_{#}}{@^{#}}$~\\cite{@}} % @ @\n",
    "      do @ = 1, #\n        @(@, #) = @(@) * #.#d0 + @\n      end do\n",
    "my ($@, %@) = @_;\n$@->{@} =~ s/\\b@(\\d+)\\b/$1/g if @($@) <= #;\n",
    "@ :: Monad m => @ a -> [@] -> m @\n@ @ (@:@) = @ <$> @ # . filter (/= #) $ @\n",
)


def small_corpus(name: str, folder: Path) -> Path:
    """Write the small text of that name to `folder` unless it is there; return its path."""
    path = folder / f"small-{name}.txt"
    if not path.exists():
        _MAKERS[name](path)
    return path


def _english(path: Path) -> None:
    subprocess.run([sys.executable, str(MAKER), str(path)], check=True, stdout=subprocess.DEVNULL)


def _code(path: Path) -> None:
    root = Path(sysconfig.get_path("stdlib"))
    left = CODE_BYTES
    with path.open("wb") as out:
        for source in sorted(root.rglob("*.py")):
            if "site-packages" not in source.parts and left > 0:
                text = source.read_bytes().decode("utf-8", errors="replace").encode()
                left -= len(text)
                out.write(text)


def _multilingual(path: Path) -> None:
    chance = random.Random(SEED)
    vocabularies = [(list(_made_up_words(chance, a, z)), gap) for a, z, gap in SCRIPTS]
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for _ in range(MADE_UP_LINES):
            words, gap = vocabularies[int(chance.random() * len(vocabularies))]
            out.write(gap.join(_frequent(chance, words) for _ in range(30)) + ".\n")


def _prose(path: Path) -> None:
    english = small_corpus("english", path.parent).read_text(encoding="utf-8", errors="replace")
    quoted = OPENING.sub("“", english).replace('"', "”").replace("'", "’")
    path.write_text(quoted, encoding="utf-8", newline="\n")


def _prose_languages(path: Path) -> None:
    lines = small_corpus("multilingual", path.parent).read_text(encoding="utf-8").splitlines()
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for number, line in enumerate(lines):
            opening, closing = QUOTES[number % len(QUOTES)]
            middle = len(line) // 2
            out.write(f"{line[:middle]} {opening}{line[middle:-1]}.{closing}\n")


def _chat(path: Path) -> None:
    chance = random.Random(SEED)
    vocabularies = [(list(_made_up_words(chance, a, z)), gap) for a, z, gap in SCRIPTS]
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for _ in range(MESSAGES):
            words, gap = vocabularies[int(chance.random() * len(vocabularies))]
            message = [_frequent(chance, words) for _ in range(3 + int(chance.random() * 20))]
            if chance.random() < 0.2:
                opening, closing = QUOTES[int(chance.random() * len(QUOTES))]
                message[1] = f"{opening}{message[1]}{closing}"
            out.write(gap.join(message) + ENDINGS[int(chance.random() * len(ENDINGS))] + "\n")


def _sources(path: Path) -> None:
    chance = random.Random(SEED)
    words = list(_made_up_words(chance, "a", "z"))
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for _ in range(SNIPPETS):
            snippet = SOURCES[int(chance.random() * len(SOURCES))]
            named = re.sub("@", lambda _: _name(chance, words), snippet)
            out.write(re.sub("#", lambda _: str(int(1000 * chance.random())), named))


def _repositories(path: Path) -> None:
    chance = random.Random(SEED)
    lines = small_corpus("sources", path.parent).read_text(encoding="utf-8").splitlines()
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for line in lines:
            out.write(f"{'    ' * int(chance.random() * 10)}{line}\n")


def _name(chance: random.Random, words: list[str]) -> str:
    """Return a made-up name of one or two words, as programmers write them."""
    first, second = _frequent(chance, words), _frequent(chance, words)
    return (first, f"{first}_{second}", first + second.title())[int(chance.random() * 3)]


def _made_up_words(chance: random.Random, first: str, last: str) -> Iterator[str]:
    span = ord(last) - ord(first) + 1
    for _ in range(WORDS_OF_A_SCRIPT):
        length = 1 + int(chance.random() * 8)
        yield "".join(chr(ord(first) + int(chance.random() * span)) for _ in range(length))


def _frequent(chance: random.Random, words: list[str]) -> str:
    """Draw a word, the first ones far more often, as languages do."""
    return words[int(len(words) ** chance.random()) - 1]


_MAKERS = {
    "english": _english,
    "code": _code,
    "multilingual": _multilingual,
    "prose": _prose,
    "prose-languages": _prose_languages,
    "chat": _chat,
    "sources": _sources,
    "repositories": _repositories,
}
