"""Folders of models for servers, and a process that has the entry points of this package."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from tests.data import ROOT, need

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SETTINGS: dict[str, dict[str, Any]] = {
    "gpt2": {"eos_token": "<|endoftext|>"},
    "bert-base-uncased": {"unk_token": "[UNK]", "sep_token": "[SEP]", "cls_token": "[CLS]"},
    "mistral-7b-v0.1": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
    "qwen2.5": {"eos_token": "<|im_end|>", "chat_template": TEMPLATE},
    "t5-small": {"eos_token": "</s>", "unk_token": "<unk>"},
}
TEXTS = [
    "Hello world, it's 2026! snake_case  two  spaces\n\n\ttab",
    "naïve 北京 🤗 café e\u0301 \u200d 👩‍👩‍👧",
    "a <|im_end|> b </s> c [SEP] d <|endoftext|>",
    "",
    " leading and trailing ",
]
MODEL_TYPES = {
    "gpt2": "gpt2",
    "bert-base-uncased": "bert",
    "mistral-7b-v0.1": "mistral",
    "qwen2.5": "qwen2",
    "t5-small": "t5",
}
_MODEL = {
    "architectures": ["Qwen2ForCausalLM"],
    **dict.fromkeys(("hidden_size", "intermediate_size"), 64),
    **dict.fromkeys(("num_attention_heads", "num_hidden_layers", "num_key_value_heads"), 2),
    "vocab_size": 152_000,
    "max_position_embeddings": 2048,
}


def model_folder(name: str, parent: Path) -> Path:
    """Write the files of a model, without weights, that servers read."""
    folder = parent / name
    folder.mkdir(exist_ok=True)
    source = need(f"vocab/{name}")
    packed = source / "tokenizer.json.gz"
    data = (
        gzip.decompress(packed.read_bytes())
        if packed.exists()
        else (source / "tokenizer.json").read_bytes()
    )
    (folder / "tokenizer.json").write_bytes(data)
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", **SETTINGS[name]}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "config.json").write_text(json.dumps({"model_type": MODEL_TYPES[name], **_MODEL}))
    return folder


def environment_with_plugins(folder: Path, **variables: str) -> dict[str, str]:
    """Return the variables of a process in which the entry points of pyproject.toml are installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = {group: project["entry-points"][group] for group in _GROUPS}
    # Without a GPU, vLLM has to be told that it runs on a CPU; platforms are entry points too.
    points["vllm.platform_plugins"] = {"cpu": "tests.serving.models:cpu_platform"}
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
        for group, entries in points.items()
    ]
    metadata = folder / "piecework_entry_points-0.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: piecework-entry-points\nVersion: 0\n"
    )
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    paths = [str(folder), str(ROOT / "python"), str(ROOT)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **variables}


_GROUPS = ("vllm.general_plugins", "sglang.srt.plugins")


def cpu_platform() -> str:
    """Return the platform of vLLM that needs no GPU."""
    return "vllm.platforms.cpu.CpuPlatform"
