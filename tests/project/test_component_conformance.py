"""Every case of `conformance/` for a single component, run by the reference, the core and `tokenizers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from piecework.spec import TokenizerSpec, WordLevel
from piecework.spec.pre_tokenizers import pre_tokenizer_from_json
from tests.case_files import CONFORMANCE
from tests.component_cases import STAGES, Example, examples, path_of
from tests.component_engines import ENGINES, PUBLISHED, Engine, numbered


def cases(folder: str) -> pytest.MarkDecorator:
    """Parametrize over the examples of a stage, each by every engine that it allows."""
    found = [
        pytest.param(engine, example, id=f"{engine.name}-{example.name}")
        for example in examples(folder)
        for engine in ENGINES
        if engine.name in example.expected.get("engines", [engine.name])
        if engine is not PUBLISHED or example.expected.get("tokenizers") != "panic"
    ]
    return pytest.mark.parametrize(("engine", "example"), found)


def expected_of(engine: Engine, example: Example) -> dict[str, Any]:
    """Return what an engine must give: `tokenizers` may differ from ours where the case says so."""
    theirs = example.expected.get("tokenizers", {}) if engine is PUBLISHED else {}
    return {**example.expected, **theirs}


def listed(offsets: Any) -> list[list[int]]:
    return [list(span) for span in offsets]


@cases("normalizers")
def test_normalizers_give_this_text_and_these_spans(engine: Engine, example: Example) -> None:
    expected = expected_of(engine, example)
    known = "".join(dict.fromkeys(expected["normalized"]))
    text, offsets = engine.normalized(example.component, expected["text"], known)
    assert (text, listed(offsets)) == (expected["normalized"], expected["offsets"])


@cases("pre_tokenizers")
def test_pre_tokenizers_give_these_pieces_and_spans(engine: Engine, example: Example) -> None:
    expected = expected_of(engine, example)
    pieces = engine.pieces(example.component, expected["text"])
    assert [[piece, *span] for piece, span in pieces] == expected["pieces"]


@cases("post_processors")
def test_post_processors_add_these_tokens(engine: Engine, example: Example) -> None:
    expected = expected_of(engine, example)
    pre_tokenizer = expected.get("pre_tokenizer", {"type": "WhitespaceSplit"})
    spec = TokenizerSpec(
        WordLevel(numbered(expected["vocab"])),
        pre_tokenizer=pre_tokenizer_from_json(pre_tokenizer),
        post_processor=example.component,
    )
    special = expected.get("add_special_tokens", True)
    tokens = engine.framed(spec, expected["text"], expected.get("pair"), special)
    assert [list(token) for token in tokens] == expected["tokens"]


@cases("decoders")
def test_decoders_give_this_text(engine: Engine, example: Example) -> None:
    expected = expected_of(engine, example)
    assert engine.decoded(example.component, expected["tokens"]) == expected["text"]


# ---- the cases themselves

EXAMPLES = [example for folder in STAGES for example in examples(folder)]


@pytest.mark.parametrize("folder", STAGES)
def test_every_kind_has_cases_for_every_engine_and_every_file_has_a_kind(folder: str) -> None:
    stage = STAGES[folder]
    assert {path.stem for path in (CONFORMANCE / folder).iterdir()} == set(stage.kinds)
    for kind in stage.kinds:
        assert path_of(stage, kind).is_file()
        shared = [e for e in EXAMPLES if e.stage is stage and e.kind == kind]
        assert sum("engines" not in example.expected for example in shared) >= 4


@pytest.mark.parametrize("example", [e for e in EXAMPLES if "tokenizers" in e.expected])
def test_differences_are_real_and_say_why(example: Example) -> None:
    expected, theirs = example.expected, example.expected["tokenizers"]
    assert expected["reason"]
    if theirs != "panic":
        assert all(expected[name] != theirs[name] for name in theirs)
        return
    run: Callable[[], object] = (
        (lambda: PUBLISHED.decoded(example.component, expected["tokens"]))
        if example.stage is STAGES["decoders"]
        else (lambda: PUBLISHED.normalized(example.component, expected["text"], ""))
    )
    with pytest.raises(BaseException, match="index") as failure:
        run()
    assert failure.type.__name__ == "PanicException"
