"""The transformer that judges vocabularies, and runs that are seconds long."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.benchmarks.made_up_records import BENCHMARKS

sys.path.append(str(BENCHMARKS))

from judging.matrix import read_record
from judging.recipe import Recipe
from judging.transformer import Transformer, attended, bits, trained, windows

RECIPE = Recipe(2, 24, 2, 16, 4, 3e-3, 8, 0.3, 0.1, text_megabytes=0.1, teraflop=0.1)
ENTRIES = 11


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Small products are slower on several threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def ids() -> Any:
    """A stream with a rule: each id is three more than the one before the last, and sometimes any other."""
    random = np.random.default_rng(0)
    stream = [1, 2]
    for chance in random.random(6_000):
        stream.append(int(chance * 1000) % ENTRIES if chance < 0.1 else (stream[-2] + 3) % ENTRIES)
    return np.array(stream)


def test_parameters_are_those_that_the_recipe_counts() -> None:
    model = Transformer(ENTRIES, RECIPE)
    total = sum(parameter.numel() for parameter in model.parameters())
    assert total == RECIPE.block_parameters + ENTRIES * RECIPE.width


def test_attention_equals_that_of_torch() -> None:
    torch.manual_seed(4)
    query, key, value = torch.randn(3, 2, 6, 100, 32)
    expected = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    assert torch.allclose(attended(query, key, value), expected, atol=1e-5)


def test_products_are_as_exact_as_float32() -> None:
    torch.manual_seed(5)
    one, other = torch.randn(256, 192), torch.randn(192, 512)
    error = (one @ other).double() - one.double() @ other.double()
    assert error.square().mean().sqrt() < 1e-5  # bfloat16 has 0.03


def test_a_window_has_the_ids_after_its_inputs(ids: Any) -> None:
    batches = list(windows(ids, RECIPE))
    inputs = torch.cat([inputs.flatten() for inputs, _ in batches])
    targets = torch.cat([targets.flatten() for _, targets in batches])
    assert torch.equal(inputs[1:], targets[:-1])
    assert len(inputs) == RECIPE.steps(len(ids)) * RECIPE.batch * RECIPE.context
    assert len(ids) - 1 - RECIPE.batch * RECIPE.context < len(inputs) <= len(ids) - 1


def test_a_trained_model_has_learned_the_rule(ids: Any) -> None:
    untrained = bits(Transformer(ENTRIES, RECIPE), ids[5000:], RECIPE)
    assert untrained.mean() == pytest.approx(np.log2(ENTRIES), abs=0.1)
    learned = bits(model_of(ids, 5000, seed=1), ids[5000:], RECIPE)
    assert learned.mean() < 0.9 * untrained.mean()


def model_of(ids: Any, length: int, seed: int) -> Transformer:
    """Return the model that is trained on the first ids alone."""
    (model,) = trained(ids[:length], [length], ENTRIES, RECIPE, seed)
    return model


def test_the_same_seed_gives_the_same_model(ids: Any) -> None:
    first, again, other = (model_of(ids, 800, seed) for seed in (1, 1, 2))
    assert torch.equal(first.embeddings.weight, again.embeddings.weight)
    assert not torch.equal(first.embeddings.weight, other.embeddings.weight)


def test_shared_steps_give_the_models_of_separate_runs(ids: Any) -> None:
    lengths = [65, 700, 720, 2000]
    for length, shared in zip(lengths, trained(ids, lengths, ENTRIES, RECIPE, 1), strict=True):
        alone = model_of(ids, length, seed=1)
        for one, other in zip(shared.parameters(), alone.parameters(), strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize("length", [2, 9, 17, 18, 24, 25, 100, 133])
def test_each_id_has_half_a_context_before_it(ids: Any, length: int) -> None:
    torch.manual_seed(3)
    model = Transformer(ENTRIES, replace(RECIPE, layers=1))
    found = bits(model, ids[:length], RECIPE)
    half = RECIPE.context // 2
    for target in range(1, length):
        # The context of an id is one of those that are long enough.
        costs = []
        for start in range(max(target - RECIPE.context, 0), max(target - half, 0) + 1):
            with torch.no_grad():
                logits = model(torch.from_numpy(ids[start:target])[None])[0, -1]
            costs.append(-float(torch.log_softmax(logits, -1)[ids[target]]) / np.log(2))
        assert np.abs(np.array(costs) - found[target - 1]).min() < 1e-4


def test_an_id_depends_on_earlier_ones_only(ids: Any) -> None:
    model = Transformer(ENTRIES, RECIPE)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= 10  # at first, attention changes next to nothing
    before = bits(model, ids[:60], RECIPE)
    for place, same, different in (
        (40, slice(0, 39), slice(40, 48)),
        (30, slice(0, 29), slice(30, 38)),
    ):
        changed = ids[:60].copy()
        changed[place] = (changed[place] + 1) % ENTRIES
        after = bits(model, changed, RECIPE)
        assert np.allclose(after[same], before[same], atol=1e-5)
        assert (np.abs(after[different] - before[different]) > 1e-3).any()


def run_script(*arguments: object) -> str:
    command = [
        sys.executable,
        str(BENCHMARKS / "language_model.py"),
        "--smoke",
        *map(str, arguments),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_runs_continue_where_the_record_ends(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    assert run_script("--list", "--record", record).count("Run(") == 6
    assert "2 runs made, 4 missing" in run_script("--next", "--record", record)
    whole = record.read_text()
    first = whole[: whole.index("\n") + 1]
    record.write_text(first + whole[len(first) : -50])  # stopped while writing
    printed = run_script("--minutes", 10, "--jobs", 2, "--record", record)
    assert "5 runs made, 0 missing" in printed
    records = read_record(record)
    assert record.read_text().startswith(first)
    assert len({(each["learner"], each["budget"]) for each in records}) == 6
    assert all(0 < each["kneser_ney"] < each["bits_per_byte"] < 8 for each in records)
    assert "0 runs made, 0 missing" in run_script("--next", "--record", record)
