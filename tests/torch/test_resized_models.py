"""Small models of transformers with random weights, resized as files and as modules, and loaded again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

import piecework as pw
from piecework.errors import ArgumentError, FormatError
from piecework.integrations.embeddings import resize_embeddings

TEXTS = ["hug hugs pug pun bun hugging", "the hugs of the pug and the bugs"] * 9
WORDS = ["hughug", "immunotherapy", "bunhug", "hughugs"]


def bert_tokenizer() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(TEXTS, vocab_size=40)


def gpt_tokenizer() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(
        TEXTS, model="byte-bpe", vocab_size=275, special_tokens=["<|endoftext|>"]
    )


def bert(rows: int) -> Any:
    config = BertConfig(
        vocab_size=rows,
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    return BertForMaskedLM(config)


def gpt2(rows: int, tied: bool = True) -> Any:
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=rows,
            n_embd=24,
            n_layer=2,
            n_head=2,
            n_positions=64,
            bos_token_id=0,
            eos_token_id=0,
            tie_word_embeddings=tied,
        )
    )


def llama(rows: int) -> Any:
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=rows,
            hidden_size=24,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            bos_token_id=0,
            eos_token_id=0,
            tie_word_embeddings=False,
        )
    )


MODELS: dict[str, Any] = {
    "bert": (bert_tokenizer, bert, AutoModelForMaskedLM),
    "gpt2": (gpt_tokenizer, gpt2, AutoModelForCausalLM),
    "gpt2 untied": (gpt_tokenizer, lambda rows: gpt2(rows, tied=False), AutoModelForCausalLM),
    "llama": (gpt_tokenizer, llama, AutoModelForCausalLM),
}


def changed(tok: pw.Tokenizer) -> tuple[pw.Tokenizer, pw.IdMap]:
    """Return a tokenizer with new words and without some tokens."""
    larger, first = pw.vocabulary.add_words(tok, WORDS)
    keep = np.unique(larger.encode_batch([*TEXTS, *WORDS]).ids)
    smaller, second = pw.vocabulary.prune(larger, [*keep[::2].tolist(), *first.added.tolist()])
    return smaller, first.then(second)


def assert_rows(old: torch.Tensor, new: torch.Tensor, id_map: pw.IdMap) -> None:
    """Check each row: bit for bit that of the old id, or the mean of the sources in the type of the table."""
    assert len(new) == len(id_map.old_ids)
    copied = made = 0
    for id, sources in enumerate(id_map.sources):
        if id_map.old_ids[id] >= 0:
            assert torch.equal(new[id], old[id_map.old_ids[id]])
            copied += 1
        elif sources:
            mean = old[list(sources)].double().mean(dim=0).float().to(old.dtype)
            assert torch.equal(new[id], mean)
            made += 1
    assert copied > 20
    assert made >= 2


def logits(model: Any, tok: pw.Tokenizer, text: str) -> torch.Tensor:
    ids = tok.encode(text).ids
    with torch.no_grad():
        return model.eval()(input_ids=torch.tensor([ids])).logits[0].float()


def assert_same_model(
    old: Any, new: Any, tok: pw.Tokenizer, larger: pw.Tokenizer, id_map: pw.IdMap
) -> None:
    """Check that text of kept tokens gives the old scores of kept tokens."""
    kept = np.flatnonzero(id_map.new_ids >= 0)
    texts = [
        text
        for text in ["hug", "the pug", "hugs"]
        if (id_map.new_ids[tok.encode(text).ids] >= 0).all()
    ]
    assert texts
    for text in texts:
        before, after = (
            logits(old, tok, text)[:, kept],
            logits(new, larger, text)[:, id_map.new_ids[kept]],
        )
        assert torch.allclose(before, after, atol=1e-2 if old.dtype != torch.float32 else 1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("shard_size", ["5GB", "10KB"])
def test_transformers_loads_a_resized_folder(
    name: str, dtype: torch.dtype, shard_size: str, tmp_path: Path
) -> None:
    torch.manual_seed(1)
    make_tokenizer, make, auto = MODELS[name]
    tok = make_tokenizer()
    old = make(len(tok)).to(dtype)
    old.save_pretrained(tmp_path / "old", max_shard_size=shard_size)
    assert (shard_size == "10KB") == (tmp_path / "old" / "model.safetensors.index.json").exists()
    smaller, id_map = changed(tok)
    found = resize_embeddings(tmp_path / "old", id_map, output=tmp_path / "new")
    smaller.save(f"{tmp_path / 'new'}/")
    new, report = auto.from_pretrained(tmp_path / "new", dtype=dtype, output_loading_info=True)
    assert not any(report[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    assert {table.new_rows for table in found} == {len(smaller)}
    assert new.config.vocab_size == len(smaller)
    assert_rows(old.get_input_embeddings().weight, new.get_input_embeddings().weight, id_map)
    assert_rows(old.get_output_embeddings().weight, new.get_output_embeddings().weight, id_map)
    bias = old.get_output_embeddings().bias
    if bias is not None:
        kept = np.flatnonzero(id_map.new_ids >= 0)
        assert torch.equal(new.get_output_embeddings().bias[id_map.new_ids[kept]], bias[kept])
    assert_same_model(old, new, tok, smaller, id_map)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_a_module_becomes_what_its_files_become(
    name: str, dtype: torch.dtype, tmp_path: Path
) -> None:
    torch.manual_seed(2)
    make_tokenizer, make, auto = MODELS[name]
    tok = make_tokenizer()
    module = make(len(tok)).to(dtype)
    module.save_pretrained(tmp_path / "old")
    smaller, id_map = changed(tok)
    tied = module.get_input_embeddings().weight is module.get_output_embeddings().weight
    for init in ("mean-of-pieces", "normal"):
        model = auto.from_pretrained(tmp_path / "old", dtype=dtype)
        resize_embeddings(tmp_path / "old", id_map, output=tmp_path / init, init=init, seed=3)
        found = resize_embeddings(model, id_map, init=init, seed=3)
        files = auto.from_pretrained(tmp_path / init, dtype=dtype)
        states = model.state_dict(), files.state_dict()
        assert states[0].keys() == states[1].keys()
        for key, value in states[0].items():
            if init == "mean-of-pieces":
                assert torch.equal(value, states[1][key]), key
            else:
                assert torch.allclose(value.float(), states[1][key].float(), atol=1e-2), key
        same = model.get_input_embeddings().weight is model.get_output_embeddings().weight
        assert same == tied
        assert model.config.vocab_size == len(smaller) == found[0].new_rows
        assert model.get_input_embeddings().num_embeddings == len(smaller)
        assert model.get_output_embeddings().out_features == len(smaller)
        assert_same_model(module, model, tok, smaller, id_map)
        model.save_pretrained(tmp_path / f"{init} again")
        again = auto.from_pretrained(tmp_path / f"{init} again", dtype=dtype)
        assert torch.equal(again.get_input_embeddings().weight, model.get_input_embeddings().weight)


def test_a_resized_module_learns(tmp_path: Path) -> None:
    tok = gpt_tokenizer()
    model = gpt2(len(tok))
    larger, id_map = pw.vocabulary.add_words(tok, WORDS)
    resize_embeddings(model, id_map)
    ids = torch.tensor([larger.encode("the hughug hug").ids])
    model(input_ids=ids, labels=ids).loss.backward()
    assert model.get_input_embeddings().weight.grad.abs().sum() > 0


def test_shared_tables_of_an_encoder_and_a_decoder(tmp_path: Path) -> None:
    tok = pw.Tokenizer.train_from_iterator(TEXTS, model="unigram", vocab_size=50)
    config = T5Config(
        vocab_size=64, d_model=24, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=0
    )  # fmt: skip
    old = T5ForConditionalGeneration(config)
    larger, id_map = pw.vocabulary.add_words(tok, WORDS)
    old.save_pretrained(tmp_path / "old")
    with pytest.raises(FormatError, match="64 rows .*the map 50 ids.*drop_extra_rows"):
        resize_embeddings(tmp_path / "old", id_map)
    with pytest.raises(FormatError, match="T5ForConditionalGeneration: has 64 rows"):
        resize_embeddings(old, id_map)
    resize_embeddings(tmp_path / "old", id_map, output=tmp_path / "new", drop_extra_rows=True)
    new = T5ForConditionalGeneration.from_pretrained(tmp_path / "new")
    resize_embeddings(old, id_map, drop_extra_rows=True)
    assert new.config.vocab_size == old.config.vocab_size == len(larger)
    assert torch.equal(new.shared.weight, old.shared.weight)
    assert old.encoder.embed_tokens.weight is old.decoder.embed_tokens.weight is old.shared.weight
    padding = json.loads((tmp_path / "new" / "config.json").read_text())["pad_token_id"]
    assert padding == id_map.new_ids[0]


def test_modules_that_contradict_the_map_do_not_change() -> None:
    tok = gpt_tokenizer()
    _, id_map = pw.vocabulary.add_words(tok, WORDS)
    model = gpt2(len(tok) - 2)
    weight = model.get_input_embeddings().weight
    with pytest.raises(FormatError, match=f"has {len(tok) - 2} rows"):
        resize_embeddings(model, id_map)
    assert model.get_input_embeddings().weight is weight
    with pytest.raises(ArgumentError, match="output: does not apply to a torch module"):
        resize_embeddings(model, id_map, output="x")
    plain = torch.nn.Sequential(torch.nn.Linear(3, 3))
    with pytest.raises(FormatError, match="no embedding table"):
        resize_embeddings(plain, id_map)
    embedding = torch.nn.ModuleDict({"tokens": torch.nn.Embedding(len(tok), 4)})
    resize_embeddings(embedding, id_map, tables=["tokens.weight"])
    assert embedding["tokens"].num_embeddings == len(id_map.old_ids)


def test_a_module_and_a_file_have_the_same_rows_of_a_donor(tmp_path: Path) -> None:
    tok = gpt_tokenizer()
    larger, id_map = pw.vocabulary.add_words(tok, WORDS)
    donor = np.random.default_rng(0).normal(size=(len(larger), 12)).astype(np.float32)
    donor[id_map.added[0]] = np.nan
    model = gpt2(len(tok), tied=False)
    model.save_pretrained(tmp_path)
    settings: Any = {"init": "omp", "donor": donor, "num_anchors": 4}
    resize_embeddings(tmp_path, id_map, **settings)
    resize_embeddings(model, id_map, **settings)
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path)
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, loaded.state_dict()[name]), name
