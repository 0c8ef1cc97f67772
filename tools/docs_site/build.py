"""Build the documentation site: `make docs`.

    python tools/docs_site/build.py --zensical build/docs-venv/bin/zensical build/docs

The pages are prepared in FOLDER/pages with links for the site, and Zensical writes FOLDER/site. A link that
leads nowhere, a page that no index lists, and anything that a page would load from elsewhere end the build.
Zensical is the successor of Material for MkDocs. Links, navigation and checks are here and not its plugins,
so that another generator can take over the prepared pages.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from api_pages import write_api_pages
from charts import with_charts
from checks import faults
from navigation import Nav, navigation
from notebooks import notebook_page
from sources import ROOT, write_pages
from steppers import STATIC, bundle, theme, with_steps

HERE = Path(__file__).resolve().parent
PLAYGROUND = ROOT / "build" / "playground"
PLAYGROUND_BUTTON = re.compile(r'^<a class="md-button" href="playground/.*\n', re.MULTILINE)


def main() -> None:
    """Build the site into a folder."""
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("folder", type=Path, help="where pages/ and site/ are written")
    parser.add_argument("--zensical", default="zensical", help="the generator of the site")
    options = parser.parse_args()
    nav = write_sources(options.folder)
    write_settings(options.folder, nav)
    run_generator(options.folder, options.zensical)
    if PLAYGROUND.exists():
        shutil.copytree(PLAYGROUND, options.folder / "site" / "playground")
    else:
        print("without the playground: make playground-page builds it")
    found = faults(options.folder / "site")
    if found:
        sys.exit("\n".join(found))
    print(f"{options.folder / 'site' / 'index.html'}: built, links and anchors checked")


def write_sources(folder: Path) -> Nav:
    """Write what the generator reads into FOLDER/pages; return the navigation."""
    pages = folder / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    write_pages(pages, markdown)
    api = write_api_pages(pages)
    write_assets(pages / "assets")
    nav = navigation(api)
    return [*nav, {"Playground": "playground/index.html"}] if PLAYGROUND.exists() else nav


def write_assets(folder: Path) -> None:
    """Write the scripts and styles of the pages."""
    shutil.copytree(HERE / "assets", folder)
    shutil.copy(STATIC / "icon.svg", folder / "mark.svg")
    (folder / "steppers.js").write_text(bundle(PLAYGROUND.exists()), encoding="utf-8")
    (folder / "steppers.css").write_text(theme(), encoding="utf-8")


def markdown(file: Path) -> str:
    """Return a file of the repository as Markdown."""
    if file.suffix == ".ipynb":
        return notebook_page(file)
    text = file.read_text(encoding="utf-8")
    if not PLAYGROUND.exists():
        text = PLAYGROUND_BUTTON.sub("", text)
    return with_steps(with_charts(text))


def write_settings(folder: Path, nav: Nav) -> None:
    """Write the settings of the generator with the navigation; JSON is YAML."""
    settings = (HERE / "mkdocs.yml").read_text(encoding="utf-8")
    settings = settings.replace("{here}", str(HERE)).replace("{root}", str(HERE.parents[1]))
    (folder / "mkdocs.yml").write_text(f"{settings}\nnav: {json.dumps(nav)}\n", encoding="utf-8")


def run_generator(folder: Path, zensical: str) -> None:
    """Run the generator; its warnings are errors."""
    shutil.rmtree(folder / "site", ignore_errors=True)
    if not shutil.which(zensical):
        sys.exit(
            f"found no {zensical}: make docs installs it, or pip install zensical mkdocstrings-python"
        )
    command = [zensical, "build", "--strict", "--clean", "-f", str(folder / "mkdocs.yml")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
