"""The cases of `conformance/` for single components: a folder for each stage, a file for each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

from piecework.spec import Decoder, Normalizer, PostProcessor, PreTokenizer
from piecework.spec.decoders import decoder_from_json
from piecework.spec.normalizers import normalizer_from_json
from piecework.spec.post_processors import post_processor_from_json
from piecework.spec.pre_tokenizers import pre_tokenizer_from_json
from tests.case_files import CONFORMANCE, read_cases
from tests.charsmaps import charsmap

Json = dict[str, Any]

# Kinds that `tokenizers` does not know; they have cases and twins of their own.
OF_NO_SHARED_FILE = {"Custom", "SentencePiece"}


class Stage(NamedTuple):
    """A stage of the pipeline: its folder of cases, and the components that it can be, by kind."""

    folder: str
    kinds: dict[str, type[Any]]
    from_json: Callable[[Json], Any]


class Example(NamedTuple):
    """One example: a component and what it must do."""

    stage: Stage
    kind: str
    name: str
    component: Any
    expected: Json


def _stage(folder: str, union: Any, from_json: Callable[[Json], Any]) -> Stage:
    kinds = {kind.KIND: kind for kind in get_args(union) if kind.KIND not in OF_NO_SHARED_FILE}
    return Stage(folder, kinds, from_json)


STAGES = {
    "normalizers": _stage("normalizers", Normalizer, normalizer_from_json),
    "pre_tokenizers": _stage("pre_tokenizers", PreTokenizer, pre_tokenizer_from_json),
    "post_processors": _stage("post_processors", PostProcessor, post_processor_from_json),
    "decoders": _stage("decoders", Decoder, decoder_from_json),
}


def path_of(stage: Stage, kind: str) -> Path:
    return CONFORMANCE / stage.folder / f"{kind}.toml"


def examples(folder: str) -> Iterator[Example]:
    """Give every example of a stage whose file is there."""
    stage = STAGES[folder]
    for kind in stage.kinds:
        path = path_of(stage, kind)
        cases = read_cases(f"{folder}/{path.name}")["case"] if path.is_file() else []
        for case in cases:
            component = component_of(stage, kind, case.get("options", {}))
            for number, example in enumerate(case["examples"]):
                yield Example(stage, kind, f"{kind}: {case['name']} {number}", component, example)


def component_of(stage: Stage, kind: str, options: Json) -> Any:
    """Return the component with these options, the others as they are by default."""
    if "rules" in options:
        return stage.kinds[kind](charsmap(dict(options["rules"])))
    try:
        defaults = stage.kinds[kind]().to_json()
    except TypeError:  # some option has no default
        defaults = {"type": kind}
    return stage.from_json({**defaults, **options})
