"""The steppers of the pages: recorded steps of learners, and the scripts of the playground as one file.

A page has an element such as `<div data-stepper="bpe" data-size="40">low lower</div>`; readers of the
repository see its text. In the site, the steps follow it as JSON, and `bundled/steppers.js` shows them. The
modules of the playground are joined, because a page that is opened as a file loads none.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from sources import ROOT

from piecework.cli.playground.training_replay import training_replay

HERE = Path(__file__).resolve().parent
STATIC = ROOT / "python/piecework/cli/playground/static"
THEME = ROOT / "python/piecework/analysis/page_files/theme.css"
PLACE = re.compile(r"^<div data-stepper=[^\n]*?>(.*?)</div>$", re.DOTALL | re.MULTILINE)
ATTRIBUTE = re.compile(r'data-([\w-]+)="([^"]*)"')
IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([\w.]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.MULTILINE)
PLACES = ":is([data-stepper], [data-word-search])"


def with_steps(markdown: str) -> str:
    """Return a page with the steps of its learners.

    >>> found = with_steps('<div data-stepper="bpe" data-size="4">aa aa</div>')
    >>> found.split("<script")[1][:38]
    ' type="application/json" data-steps>{"'
    """

    def steps(match: re.Match[str]) -> str:
        settings = dict(ATTRIBUTE.findall(match[0]))
        size, preset = int(settings.get("size", 60)), settings.get("preset", "")
        text = html.unescape(match[1]).strip()
        trace = training_replay("", text, settings["stepper"], size, preset=preset)
        data = json.dumps(trace, ensure_ascii=False).replace("<", "\\u003c")
        return f'{match[0]}<script type="application/json" data-steps>{data}</script>'

    return PLACE.sub(steps, markdown)


def bundle(has_playground: bool) -> str:
    """Return `bundled/steppers.js` with the modules that it imports, and their styles, as one script."""
    modules: dict[str, str] = {}
    add_module("steppers.js", modules)
    files = (THEME, STATIC / "page.css", HERE / "bundled/steppers.css")
    styles = "".join(file.read_text(encoding="utf-8") for file in files).replace(":root", ":host")
    settings = f"globalThis.hasPlayground = {json.dumps(has_playground)};"
    return "\n".join(
        [
            "{",
            settings,
            f"globalThis.stepperStyles = {json.dumps(styles)};",
            *modules.values(),
            "}\n",
        ]
    )


def add_module(name: str, modules: dict[str, str]) -> None:
    """Add a module as a function that is called at once, after the modules that it imports."""
    if name in modules:
        return
    folder = HERE / "bundled" if name == "steppers.js" else STATIC
    code = (folder / name).read_text(encoding="utf-8")
    for _, imported in IMPORT.findall(code):
        add_module(imported, modules)
    exports = ", ".join(EXPORT.findall(code))
    code = IMPORT.sub(lambda found: f"const {found[1]} = {variable(found[2])};\n", code)
    code = re.sub(r"^export ", "", code, flags=re.MULTILINE)
    modules[name] = f"const {variable(name)} = (() => {{\n{code}return {{ {exports} }};\n}})();"


def variable(name: str) -> str:
    """Return the name of the variable of a module."""
    return f"module_{name.removesuffix('.js')}"


def theme() -> str:
    """Return the colors of steppers, by the palette of the site."""
    light, dark = re.findall(r":root \{\n(.*?)\}", THEME.read_text(), re.DOTALL)
    colors = {"": light, '[data-md-color-scheme="slate"] ': dark}
    rules = [f"{scheme}{PLACES} {{\n{lines.strip()}\n}}" for scheme, lines in colors.items()]
    return "\n\n".join(rules).replace("color-scheme: light dark;", "color-scheme: light;")
