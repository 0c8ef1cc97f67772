"""Folders by class of transformers, with published vocabularies, and what `AutoTokenizer` makes of them."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import piecework as pw
from tests import data
from tests.short_vocabularies import FULL, read_short

TEXTS_OF_A_FOLDER = 330 if FULL else 66

MISTRAL = "vocab/mistral/tokenizer.model.v1"
MISTRAL_V3 = "vocab/mistral/mistral_instruct_tokenizer_240323.model.v3"
MISTRAL_V7 = "vocab/mistral/mistral_instruct_tokenizer_241114.model.v7"
LLAMA_2 = "vocab/llama-2/tokenizer.model"
GEMMA = "vocab/gemma/tokenizer.model"
T5 = "vocab/t5/spiece.model"
ALBERT = "vocab/albert-v2/spiece.model"
XLNET = "vocab/xlnet/spiece.model"
UNIGRAM = "vocab/transformers-fixtures/test_sentencepiece.model"
BPE = "vocab/transformers-fixtures/test_sentencepiece_bpe.model"


@dataclass(frozen=True)
class FolderCase:
    """The files of a folder, by the name of a file of the test data, and its configuration.

    `changes` replaces stages of its `tokenizer.json`. `model_type` is that of a `config.json`. Texts
    with `left_out` are not compared.
    """

    files: dict[str, str]
    config: dict[str, Any]
    changes: dict[str, Any] = field(default_factory=dict)
    model_type: str | None = None
    left_out: str = ""

    def write(self, folder: Path) -> Path:
        """Write the folder; skip the test that calls this if a vocabulary is absent."""
        sources = {name: data.need(source) for name, source in self.files.items()}
        folder.mkdir()
        for name, source in sources.items():
            (folder / name).write_bytes(_content(source, self.changes))
        (folder / "tokenizer_config.json").write_text(json.dumps(self.config))
        if self.model_type is not None:
            (folder / "config.json").write_text(json.dumps({"model_type": self.model_type}))
        return folder


def _content(source: Path, changes: dict[str, Any]) -> bytes:
    if "tokenizer.json" not in source.name:
        content = source.read_bytes()
        return gzip.decompress(content) if source.suffix == ".gz" else content
    text = read_short(source)
    return json.dumps({**json.loads(text), **changes}).encode() if changes else text.encode()


def _json(name: str, cls: str, **config: Any) -> FolderCase:
    suffix = "" if name in ("all-minilm-l6-v2", "bert-base-uncased", "bge-small-en") else ".gz"
    return FolderCase(
        {"tokenizer.json": f"vocab/{name}/tokenizer.json{suffix}"},
        {"tokenizer_class": cls, **config},
    )


def _vocab(name: str, cls: str, **config: Any) -> FolderCase:
    return FolderCase({"vocab.txt": f"vocab/{name}/vocab.txt"}, {"tokenizer_class": cls, **config})


def _model(source: str, cls: str, **config: Any) -> FolderCase:
    return FolderCase(
        {MODEL_NAMES.get(cls, "tokenizer.model"): source}, {"tokenizer_class": cls, **config}
    )


# The file that a class looks for, if it is not `tokenizer.model`.
MODEL_NAMES = {
    **dict.fromkeys(
        (
            "AlbertTokenizer",
            "BigBirdTokenizer",
            "PegasusTokenizer",
            "ReformerTokenizer",
            "T5Tokenizer",
            "XLNetTokenizer",
        ),
        "spiece.model",
    ),
    **dict.fromkeys(
        ("BarthezTokenizer", "CamembertTokenizer", "MBartTokenizer", "XLMRobertaTokenizer"),
        "sentencepiece.bpe.model",
    ),
    "MBart50Tokenizer": "sentencepiece.bpe.model",
    "DebertaV2Tokenizer": "spm.model",
}
ROLES_OF_XLM_R = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "sep_token": "</s>",
    "cls_token": "<s>",
    "unk_token": "<unk>",
    "pad_token": "<pad>",
    "mask_token": "<mask>",
}
GPT2_FILES = {"vocab.json": "vocab/gpt2/encoder.json", "merges.txt": "vocab/gpt2/vocab.bpe"}
ROBERTA_FILES = {
    "vocab.json": "vocab/roberta-base/vocab.json",
    "merges.txt": "vocab/roberta-base/merges.txt",
}
BERT_TOKENS = {
    "additional_special_tokens": ["<a>", "<b>"],
    "added_tokens_decoder": {
        **{
            str(id): {"content": token, "special": True, "normalized": False}
            for id, token in (
                (0, "[PAD]"),
                (100, "[UNK]"),
                (101, "[CLS]"),
                (102, "[SEP]"),
                (103, "[MASK]"),
            )
        },
        "30522": {"content": "<a>", "special": True, "normalized": False},
        "30523": {"content": "<b>", "special": True, "normalized": False, "lstrip": True},
        "30524": {"content": "newword", "special": False},
    },
}

# The pre-tokenizer of Qwen 3.5; its vocabulary is not at hand.
QWEN_3_5 = {
    "type": "Sequence",
    "pretokenizers": [
        {
            "type": "Split",
            "pattern": {"Regex": pw.spec.NAMED_PATTERNS["qwen3.5"][0]},
            "behavior": "Isolated",
            "invert": False,
        },
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False},
    ],
}

# The folders that a trial of 2026-11 compared.
TRIED: dict[str, FolderCase] = {
    "BERT uncased, json": _json("bert-base-uncased", "BertTokenizer"),
    "BERT cased": _vocab("bert-base-cased", "BertTokenizer", do_lower_case=False),
    "BERT Chinese": _vocab("bert-base-chinese", "BertTokenizer"),
    "BERT, accents kept": _vocab("bert-base-uncased", "BertTokenizer", strip_accents=False),
    "BERT, tokens added": _json("bert-base-uncased", "BertTokenizer", **BERT_TOKENS),
    "BERT uncased, vocab.txt": _vocab("bert-base-uncased", "BertTokenizer"),
    "DistilBERT": _vocab("bert-base-uncased", "DistilBertTokenizer"),
    "ELECTRA": _vocab("bert-base-uncased", "ElectraTokenizer"),
    "BGE small": _json("bge-small-en", "BertTokenizer"),
    "MiniLM": _json("all-minilm-l6-v2", "BertTokenizer"),
    "GPT-2, json": _json("gpt2", "GPT2Tokenizer"),
    "GPT-2, merges": FolderCase(GPT2_FILES, {"tokenizer_class": "GPT2Tokenizer"}),
    "RoBERTa, json": _json("roberta-base", "RobertaTokenizer"),
    "Whisper": _json("whisper-tiny", "WhisperTokenizer"),
    "Qwen 2.5": _json("qwen2.5", "Qwen2Tokenizer", pad_token="<|endoftext|>"),
    "DeepSeek V3": _json("deepseek-v3", "PreTrainedTokenizerFast"),
    "Falcon": _json("falcon", "PreTrainedTokenizerFast", eos_token="<|endoftext|>"),
    "T5, json": _json("t5-small", "T5Tokenizer"),
    "T5, model": _model(T5, "T5Tokenizer"),
    "ALBERT, json": _json("albert-v2", "AlbertTokenizer"),
    "ALBERT, model": _model(ALBERT, "AlbertTokenizer"),
    "XLNet": _model(XLNET, "XLNetTokenizer"),
    "XLM-R, model": _model(UNIGRAM, "XLMRobertaTokenizer"),
    "Llama 2, legacy": _model(LLAMA_2, "LlamaTokenizer", legacy=True, add_bos_token=True),
    "Llama 2": _model(LLAMA_2, "LlamaTokenizer", legacy=False, add_bos_token=True),
    "Llama 2, EOS": _model(LLAMA_2, "LlamaTokenizer", add_eos_token=True),
    "Llama 2, no prefix": _model(LLAMA_2, "LlamaTokenizer", add_prefix_space=False),
    "Llama 2, Fast": _model(LLAMA_2, "LlamaTokenizerFast", add_bos_token=True),
    "Mistral v1": _model(MISTRAL, "LlamaTokenizer", legacy=False, add_bos_token=True),
    "Mistral v3": _model(MISTRAL_V3, "LlamaTokenizer", legacy=False, add_bos_token=True),
    "Mistral v7": _model(MISTRAL_V7, "LlamaTokenizer", legacy=False, add_bos_token=True),
    "Gemma": _model(GEMMA, "GemmaTokenizer", add_bos_token=True),
}
# Other classes, and files beside which transformers 5 follows the class.
MORE: dict[str, FolderCase] = {
    "Llama, json": _json("mistral-7b-v0.1", "LlamaTokenizer", legacy=False),
    "Llama, json, legacy": _json("mistral-7b-v0.1", "LlamaTokenizer", legacy=True),
    "Llama, json, Fast": _json("mistral-7b-v0.1", "LlamaTokenizerFast"),
    "Llama, json, no prefix": _json("mistral-7b-v0.1", "LlamaTokenizer", add_prefix_space=False),
    "Llama, json, no frame": FolderCase(
        {"tokenizer.json": "vocab/mistral-7b-v0.1/tokenizer.json.gz"},
        {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True},
        {"post_processor": None},
    ),
    "Llama, json of Mistral": FolderCase(
        {"tokenizer.json": "vocab/mistral-7b-v0.1/tokenizer.json.gz"},
        {
            "tokenizer_class": "LlamaTokenizer",
            "unk_token": "<unk>",
            "bos_token": "<s>",
            "eos_token": "</s>",
        },
        model_type="mistral",
    ),
    "Llama, json of Llama": FolderCase(
        {"tokenizer.json": "vocab/mistral-7b-v0.1/tokenizer.json.gz"},
        {"tokenizer_class": "LlamaTokenizer"},
        model_type="llama",
    ),
    "CodeLlama, json": _json("mistral-7b-v0.1", "CodeLlamaTokenizer"),
    "CodeLlama, model": _model(LLAMA_2, "CodeLlamaTokenizer"),
    "Gemma, json": _json(
        "mistral-7b-v0.1",
        "GemmaTokenizer",
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<unk>",
        mask_token="<unk>",
    ),
    "XLM-R, json without frame": _json("xlm-roberta-base", "XLMRobertaTokenizer", **ROLES_OF_XLM_R),
    "T5, json of another pipeline": FolderCase(
        {"tokenizer.json": "vocab/t5-small/tokenizer.json.gz"},
        {"tokenizer_class": "T5TokenizerFast"},
        {
            "normalizer": None,
            "pre_tokenizer": {
                "type": "Metaspace",
                "replacement": "▁",
                "prepend_scheme": "first",
                "split": True,
            },
            "post_processor": None,
        },
    ),
    "Qwen 3": _json("qwen3", "Qwen2Tokenizer", pad_token="<|endoftext|>"),
    "Qwen 3.5": FolderCase(
        {"tokenizer.json": "vocab/qwen2.5/tokenizer.json.gz"},
        {"tokenizer_class": "Qwen3_5Tokenizer", "pad_token": "<|endoftext|>"},
        {"pre_tokenizer": QWEN_3_5},
    ),
    "CodeGen": _json("gpt2", "CodeGenTokenizer"),
    "Qwen 2.5, merges": FolderCase(GPT2_FILES, {"tokenizer_class": "Qwen2Tokenizer"}),
    "GPT-NeoX, merges": FolderCase(
        GPT2_FILES, {"tokenizer_class": "GPTNeoXTokenizer", "pad_token": "<|endoftext|>"}
    ),
    "CodeGen, merges": FolderCase(GPT2_FILES, {"tokenizer_class": "CodeGenTokenizer"}),
    "DeBERTa, merges": FolderCase(
        ROBERTA_FILES,
        {"tokenizer_class": "DebertaTokenizer", **ROLES_OF_XLM_R},
    ),
    "Longformer, merges": FolderCase(ROBERTA_FILES, {"tokenizer_class": "LongformerTokenizer"}),
    "BART": _json("roberta-base", "BartTokenizer"),
    "Longformer": _json("roberta-base", "LongformerTokenizerFast"),
    "Blenderbot": _json("roberta-base", "BlenderbotTokenizer"),
    "DeBERTa": _json("roberta-base", "DebertaTokenizer", **ROLES_OF_XLM_R),
    "MobileBERT": _vocab("bert-base-uncased", "MobileBertTokenizer"),
    "Lxmert": _json("bert-base-uncased", "LxmertTokenizer"),
    "CamemBERT": _model(UNIGRAM, "CamembertTokenizer"),
    "mBART": _model(UNIGRAM, "MBartTokenizer"),
    "mBART, German": _model(UNIGRAM, "MBartTokenizer", src_lang="de_DE", tgt_lang="en_XX"),
    "mBART-50": _model(UNIGRAM, "MBart50Tokenizer"),
    "mBART-50, French": _model(UNIGRAM, "MBart50Tokenizer", src_lang="fr_XX"),
    "Pegasus": _model(T5, "PegasusTokenizer"),
    "BigBird": _model(UNIGRAM, "BigBirdTokenizer"),
    "BigBird of T5": _model(T5, "BigBirdTokenizer"),
    "DeBERTa v2": _model(UNIGRAM, "DebertaV2Tokenizer"),
    "DeBERTa v3 of T5": _model(T5, "DebertaV2Tokenizer", do_lower_case=False, vocab_type="spm"),
    "DeBERTa v2, lower": _model(
        ALBERT, "DebertaV2Tokenizer", do_lower_case=True, split_by_punct=True
    ),
    "Reformer": _model(BPE, "ReformerTokenizer"),
    "BARThez": _model(UNIGRAM, "BarthezTokenizer"),
}
CASES = {**TRIED, **MORE}
# Files that win over their class: transformers 5 sets other stages, which its version 4 did not.
FILE_WINS: dict[str, FolderCase] = {
    "BERT class of other words": FolderCase(
        {"tokenizer.json": "vocab/bert-base-uncased/tokenizer.json"},
        {"tokenizer_class": "BertTokenizer"},
        {"normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}},
    ),
    "Llama, byte-level": _json(
        "deepseek-v3", "LlamaTokenizerFast", add_bos_token=True, legacy=True
    ),
    "Llama, byte-level of GPT-2": _json("gpt2", "LlamaTokenizer"),
    "CodeLlama, byte-level": _json("qwen2.5", "CodeLlamaTokenizer"),
    "Gemma, byte-level": _json("gpt2", "GemmaTokenizer"),
    "GPT-NeoX without NFC": _json("gpt2", "GPTNeoXTokenizer", pad_token="<|endoftext|>"),
    "GPT-2 class of Qwen": _json("qwen2.5", "GPT2Tokenizer"),
    "GPT-2 class of Falcon": _json("falcon", "GPT2Tokenizer"),
    "Qwen class of DeepSeek": _json("deepseek-v3", "Qwen2Tokenizer"),
    "Cohere class of GPT-2": _json("gpt2", "CohereTokenizer"),
    "mBART class, normalizer dropped": FolderCase(
        {"tokenizer.json": "vocab/xlm-roberta-base/tokenizer.json.gz"},
        {"tokenizer_class": "MBartTokenizer"},
        left_out="<",
    ),
    "DeBERTa v2 class of T5": _json("t5-small", "DebertaV2Tokenizer"),
}
# Classes that are refused without a `tokenizer.json`, as their ids are not read from the other files.
REFUSED: dict[str, FolderCase] = {
    "SigLIP": _model(T5, "SiglipTokenizer"),
    "FNet": FolderCase({"spiece.model": ALBERT}, {"tokenizer_class": "FNetTokenizer"}),
    "NLLB": FolderCase(
        {"sentencepiece.bpe.model": BPE},
        {
            "tokenizer_class": "NllbTokenizer",
            "additional_special_tokens": ["deu_Latn", "eng_Latn", "fra_Latn"],
        },
    ),
    "GPT-SW3": FolderCase({"spiece.model": BPE}, {"tokenizer_class": "GPTSw3Tokenizer"}),
    "M2M-100": FolderCase({"sentencepiece.bpe.model": BPE}, {"tokenizer_class": "M2M100Tokenizer"}),
    "XGLM": FolderCase({"sentencepiece.bpe.model": UNIGRAM}, {"tokenizer_class": "XGLMTokenizer"}),
    "a class of its own": _model(LLAMA_2, "BaichuanTokenizer"),
    "a general class": _model(LLAMA_2, "PreTrainedTokenizerFast"),
    "DPR": _vocab("bert-base-uncased", "DPRReaderTokenizer", do_lower_case=False),
    "MPNet": _vocab("bert-base-uncased", "MPNetTokenizer"),
    "ESM": _vocab("bert-base-uncased", "EsmTokenizer"),
    "Whisper, merges": FolderCase(GPT2_FILES, {"tokenizer_class": "WhisperTokenizer"}),
    "Blenderbot, merges": FolderCase(ROBERTA_FILES, {"tokenizer_class": "BlenderbotTokenizer"}),
    "CTRL, merges": FolderCase(GPT2_FILES, {"tokenizer_class": "CTRLTokenizer"}),
}

FIRST = [
    *(
        "",
        " ",
        "  ",
        "\n",
        "\t",
        "Hi",
        " Hi",
        "  Hi",
        "Hi ",
        "Hi  there",
        "\nHi",
        "Hi\r\nthere",
        "\u00a0Hi",
    ),
    *(
        "<s>",
        "<s>Hi",
        "<s> Hi",
        " <s>Hi",
        "Hi<s>",
        "Hi </s> there",
        "a<unk>b",
        "a <mask> b",
        "[MASK] a [SEP]",
    ),
    *(
        "▁Hi",
        "<s>▁Hi",
        "日本",
        "é",
        "é",
        "😁",
        "½ ① ﬁ",
        "``x''",
        "12345 1,234.5",
        "don't I'LL",
        "a.b, c!",
    ),
    "Hello, y'all! How are you doing today? 😁 ÉCOLE Straße",
    "  two  spaces,\ttabs\nand lines \r\n at the ends  ",
    "日本語のテキストと한국어 и русский العربية हिन्दी",
    "def f(x):\n    return x ** 2  # comment\n\n\n",
    "<|endoftext|>a <|im_start|>user\nhi<|im_end|> <pad> [PAD] <extra_id_0> <a> <b>newword",
    "x" * 120 + " supercalifragilisticexpialidocious",
]
PIECES = [
    *(
        "Hi",
        "there",
        " ",
        "  ",
        "\n",
        "\t",
        "é",
        "日本",
        "▁",
        "ABC",
        "``x''",
        "1,234.5",
        "😁",
        "\u00a0",
        "'ll",
    ),
    *(
        "don't",
        "(a)",
        "€",
        "xxxxx",
        "\u0301",
        "ﬁ",
        ".",
        " the",
        " of",
        "ing",
        "12",
        "Ünï",
        "\u3000",
        "한",
        "\u200d",
    ),
    *(
        "<s>",
        "</s>",
        "<unk>",
        "<pad>",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "<mask>",
        "[INST]",
        "<extra_id_0>",
        "<sep>",
    ),
    *(
        "<a>",
        "<|endoftext|>",
        "[PAD]",
        "en_XX",
        "<mask_1>",
        "<madeupword0>",
        "<unk_2>",
        "[UNK]",
        "<cls>",
    ),
]


def texts(left_out: str = "") -> list[str]:
    """Return the texts of a folder: fixed ones, and some drawn from pieces, many of them special.

    Texts with `left_out` are not among them.
    """
    draw = random.Random(53)
    drawn = (
        "".join(draw.choices(PIECES, k=draw.randint(1, 9)))
        for _ in range(TEXTS_OF_A_FOLDER - len(FIRST))
    )
    return [text for text in (*FIRST, *drawn) if not left_out or left_out not in text]


ROLES = tuple(f"{role}_token" for role in ("unk", "bos", "eos", "sep", "pad", "cls", "mask"))
CHAT = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
MESSAGES = [{"role": "user", "content": "Hi é 日 a b"}, {"role": "assistant", "content": "Hello"}]


def differences(
    ours: pw.Tokenizer, theirs: Any, inputs: list[str]
) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield each check that differs: its name, its input, our result, and that of transformers."""
    rows = theirs(inputs)["input_ids"]
    for text, row, ids in zip(inputs, ours.encode_batch(inputs).to_lists(), rows, strict=True):
        yield from _differing("batch", text, row, ids)
        yield from _differing("ids", text, ours.encode(text).ids, ids)
        bare = theirs(text, add_special_tokens=False)["input_ids"]
        yield from _differing("bare", text, ours.encode(text, add_special_tokens=False).ids, bare)
        for skip in (True, False):
            expected = theirs.decode(ids, skip_special_tokens=skip)
            found = ours.decode(ids, skip_special_tokens=skip)
            yield from _differing(f"decode, skip {skip}", ids, found, expected)
    # transformers drops an empty second text.
    for first, second in zip(inputs, [text for text in reversed(inputs) if text], strict=False):
        encoding, expected = ours.encode(first, second), theirs(first, second)
        yield from _differing("pair", (first, second), encoding.ids, expected["input_ids"])
        if "token_type_ids" in expected:
            types = expected["token_type_ids"]
            yield from _differing("types", (first, second), encoding.type_ids, types)
    for role in ROLES:
        yield from _differing("role", role, getattr(ours, role), getattr(theirs, role))
    yield from _differing_lengths(ours, theirs, inputs)
    yield from _differing_chat(ours, theirs)


def _differing_lengths(
    ours: pw.Tokenizer, theirs: Any, inputs: list[str]
) -> Iterator[tuple[str, Any, Any, Any]]:
    cut = ours.with_truncation(9)
    rows = theirs(inputs, truncation=True, max_length=9)["input_ids"]
    for text, row, ids in zip(inputs, cut.encode_batch(inputs).to_lists(), rows, strict=True):
        yield from _differing("truncation", text, row, ids)
    if theirs.pad_token is None:
        return
    padded, expected = (
        ours.with_padding(None).encode_batch(inputs[:20]),
        theirs(inputs[:20], padding=True),
    )
    yield from _differing("padding", "", padded.to_lists(), expected["input_ids"])
    fixed = ours.with_truncation(12).with_padding(12).encode_batch(inputs)
    expected = theirs(inputs, padding="max_length", truncation=True, max_length=12)
    yield from _differing("padding to 12", "", fixed.to_lists(), expected["input_ids"])


def _differing_chat(ours: pw.Tokenizer, theirs: Any) -> Iterator[tuple[str, Any, Any, Any]]:
    chatting = ours.with_chat_template(CHAT)
    ids = theirs.apply_chat_template(
        MESSAGES, chat_template=CHAT, add_generation_prompt=True, return_dict=False
    )
    found = pw.chat.apply_chat_template(chatting, MESSAGES, add_generation_prompt=True)
    yield from _differing("chat", "", found.ids, ids)


def _differing(
    name: str, text: Any, found: Any, expected: Any
) -> Iterator[tuple[str, Any, Any, Any]]:
    if found != expected:
        yield name, text, found, expected
