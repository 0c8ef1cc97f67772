"""The settings at the head of a page: its description, the file that it is made from, what search skips."""

from __future__ import annotations

import json
import re

# Records of choices, which nobody who asks how to do something looks for.
NOT_SEARCHED = "docs/decisions/"
# Pages that are arranged in their own way.
ARRANGED = {"tools/docs_site/home.md": "hide: [navigation, toc]\n"}
CODE_BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
# How a heading, a list, a table, HTML, an image, a quotation or the state of a decision begins.
NO_PROSE = re.compile(r"[#|<>!]|[*-] |\d+\. |:::|\*?Accepted|Status")
MARKS = re.compile(r"^\*\*Question\.\*\* |[`*]")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
SENTENCE_END = re.compile(r"(?<=[.?!]) ")
LONGEST = 200


def front_matter(markdown: str, source: str) -> str:
    r"""Return the settings of a page that is made from a file of the repository.

    >>> print(front_matter("# Load\n\n`load` reads files.", "docs/how-to/load.md"))
    ---
    description: "load reads files."
    source: docs/how-to/load.md
    ---
    <BLANKLINE>
    """
    about = json.dumps(description(markdown), ensure_ascii=False)
    skipped = "search:\n  exclude: true\n" if source.startswith(NOT_SEARCHED) else ""
    more = skipped + ARRANGED.get(source, "")
    return f"---\ndescription: {about}\nsource: {source}\n{more}---\n"


def description(markdown: str) -> str:
    r"""Return the first sentences of a page as plain text, for search engines and previews.

    >>> description("# Load\n\n`load` [reads](load.md) **files**.\nSuch as:\n\n- one")
    'load reads files. Such as.'
    """
    paragraphs = CODE_BLOCK.sub("", markdown).split("\n\n")
    prose = [one for one in map(str.strip, paragraphs) if one and not NO_PROSE.match(one)]
    heading = re.search(r"^# (.+)", markdown, re.MULTILINE)
    found = prose[0] if prose else heading[1] if heading else ""
    text = MARKS.sub("", LINK.sub(r"\1", found))
    return shortened(re.sub(r":$", ".", " ".join(text.split())))


def shortened(text: str) -> str:
    """Return the sentences of a text that fit, or the start of the first.

    >>> shortened("One. " + "Two " * 60 + ".")
    'One.'
    >>> shortened("Two " * 60)[-9:]
    'o Two ...'
    """
    first, *others = SENTENCE_END.split(text)
    if len(first) > LONGEST:
        return first[: first.rindex(" ", 0, LONGEST - 4)] + " ..."
    for sentence in others:
        if len(f"{first} {sentence}") > LONGEST:
            break
        first = f"{first} {sentence}"
    return first
