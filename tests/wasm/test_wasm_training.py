"""Training in the module: steps, vocabularies and words as the playground of the package has them."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from tools import playground_page

import piecework as pw
from piecework.cli.playground.training_replay import (
    LEARNERS,
    PRUNING,
    REMOVALS,
    STEPS,
    trainer_of,
    training_replay,
)
from tests.wasm.module import answers

TEXT = "Low low lowest Lower\nnewest newest wider Zürich's cafés aaaa aaa\nhugs hug pugs ¡olé! 日本"
SIZES = {"course": 70, "hugs": 15, "": 75}


def cases() -> list[tuple[str, str, str]]:
    """Return example, learner and preset, "" for the default."""
    presets = pw_presets()
    made = [(example, learner, "") for example, learner in product(SIZES, LEARNERS)]
    return made + [("", learner, preset) for learner in LEARNERS for preset in presets[learner]]


def pw_presets() -> dict[str, Any]:
    data: dict[str, Any] = playground_page.page_data()["presets"]
    return data


@pytest.fixture(scope="module")
def traces() -> dict[tuple[str, str, str], Any]:
    """The answers of the module to all cases: traces, and trained tokenizers."""
    data = playground_page.page_data()
    requests = []
    for example, learner, preset in cases():
        template = data["templates"][learner][preset or data["defaults"][learner]]
        text = TEXT
        if example:
            text = data["examples"][example]["text"]
            template = data["examples"][example]["templates"].get(learner, template)
        steps = REMOVALS if learner == PRUNING else STEPS
        requests.append({"train": [text, learner, SIZES[example], template, steps]})
    return dict(zip(cases(), answers(requests), strict=True))


@pytest.mark.parametrize(("example", "learner", "preset"), cases())
def test_steps_equal_those_of_the_package(
    traces: dict[tuple[str, str, str], Any], example: str, learner: str, preset: str
) -> None:
    text = "" if example else TEXT
    replay = training_replay(example, text, learner, SIZES[example], "", preset)
    expected = json.loads(json.dumps(replay))
    trace, saved = traces[example, learner, preset]
    for name in ("step_count", "words", "alphabet", "special_tokens"):
        assert trace[name] == expected[name], name
    assert len(trace["steps"]) == len(expected["steps"])
    if learner == "unigram":
        compare_unigram(expected, trace)
    else:
        for name in ("vocab", "splits", "seeds", "stopped_early"):
            assert trace[name] == expected[name], name
        for found, step in zip(trace["steps"], expected["steps"], strict=True):
            assert found.keys() == step.keys() - {"note"}
            assert_same({name: step[name] for name in found}, found)
    if expected["preset"]:
        for name in ("words", "changed", "examples"):
            assert trace["normalized"][name] == expected["preset"][name]
    assert pw.Tokenizer.from_str(saved).get_vocab_size() == len(trace["vocab"])


def compare_unigram(expected: dict[str, Any], trace: dict[str, Any]) -> None:
    """Compare the traces of Unigram.

    The logarithms of two systems may differ in the last digit, and so the order of pieces that are alike.
    """
    assert_same(dict(expected["seeds"]), dict(trace["seeds"]))
    scores = [dict(zip(one["vocab"], one["scores"], strict=True)) for one in (expected, trace)]
    assert_same(*scores)
    assert_same(expected["lattice"], trace["lattice"])
    for found, step in zip(trace["steps"], expected["steps"], strict=True):
        listed = {"estimates", "dropped", "removed", "kept"} & found.keys()
        assert_same({name: step[name] for name in found.keys() - listed}, found)
        for name in listed - {"dropped"}:
            assert_same(
                [values_of(one) for one in step[name]], [values_of(one) for one in found[name]]
            )


def values_of(one: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of a piece, without its name."""
    return {name: value for name, value in one.items() if name != "piece"}


def assert_same(expected: Any, found: Any) -> None:
    """Compare data; floats may differ in their last digits, as the libraries of logarithms do."""
    if isinstance(expected, dict):
        assert found.keys() >= expected.keys()
        for name, value in expected.items():
            assert_same(value, found[name])
    elif isinstance(expected, list):
        assert len(expected) == len(found)
        for pair in zip(expected, found, strict=True):
            assert_same(*pair)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    else:
        assert found == expected


def test_a_trained_tokenizer_encodes_as_that_of_the_package(
    traces: dict[tuple[str, str, str], Any],
) -> None:
    _, saved = traces["", "wordpiece-likelihood", ""]
    trainer = trainer_of("wordpiece-likelihood", SIZES[""], ("[UNK]",))
    ours = pw.Tokenizer.train_from_iterator(TEXT.splitlines(), trainer=trainer)
    theirs = pw.Tokenizer.from_str(saved)
    assert theirs.spec == ours.spec


def test_impossible_settings_have_the_sentences_of_the_package() -> None:
    template = playground_page.page_data()["templates"]["bpe"]["whitespace"]
    small, empty, unknown = answers(
        [
            {"train": [TEXT, "bpe", 3, template, 0]},
            {"train": ["", "bpe", 30, template, 0]},
            {"train": [TEXT, "magic", 30, template, 0]},
        ]
    )
    trainer = trainer_of("bpe", 3, ())
    with pytest.raises(pw.errors.TrainingError) as error:
        trainer.learn(pw.count_texts(TEXT.splitlines(), preset="whitespace"))
    assert small["error"]["message"] == str(error.value)
    assert small["error"]["name"] == "TrainingError"
    assert empty["error"]["name"] == "CorpusError"
    assert unknown["error"]["message"].startswith("learner: must be wordpiece-pruning, ")
