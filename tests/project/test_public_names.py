"""The public names are a promise, written down here by hand; a change to them is seen in review."""

from __future__ import annotations

import inspect

import pytest

import piecework as pw
from piecework import playground
from piecework.attributes.names_of_other_libraries import ForeignName

PUBLIC_NAMES = {
    # in the order of the data: what is learned from, what learns, what encodes, what it gives
    "count_files",
    "count_texts",
    "Counts",
    "WordPieceTrainer",
    "BPETrainer",
    "ByteBPETrainer",
    "ByteUnigramTrainer",
    "UnigramTrainer",
    "SentencePieceTrainer",
    "WordTrainer",
    "CharTrainer",
    "Tokenizer",
    "TokenizerSpec",
    "spec",
    "NormalizationRules",
    "Sampling",
    "Segmentation",
    "Encoding",
    "Batch",
    "encode_files",
    "EncodedFiles",
    "IdMap",
    "PieceworkError",
    "train",
    "vocabulary",
    "export",
    "generation",
    "lattice",
    "stages",
    "analysis",
    "chat",
    "corpus",
    "errors",
    "UNICODE_VERSION",
    "__version__",
}

ANALYSIS_NAMES = {
    "EXAMPLES",
    "Benchmark",
    "BoundaryScores",
    "Chart",
    "ComparedSource",
    "Comparison",
    "DifferingWord",
    "EncodedText",
    "EntryLoss",
    "ExplainedToken",
    "ExplainedWord",
    "Explanation",
    "Gold",
    "IdDifference",
    "Inspection",
    "LatticeEdge",
    "LengthCount",
    "Lineage",
    "LineageMerge",
    "lineage",
    "measure_round_trip",
    "Measures",
    "MergeStep",
    "PairScore",
    "PeerSpeeds",
    "PrunePlan",
    "RemovedToken",
    "RoundTrip",
    "PieceEstimate",
    "PieceLoss",
    "PrefixSearch",
    "SequenceLengths",
    "Side",
    "SideBySide",
    "SideToken",
    "side_by_side",
    "SourceMeasures",
    "Speed",
    "SplitChange",
    "TokenCosts",
    "TokenRank",
    "TrainingEstimate",
    "TrainingExample",
    "TrainingLattice",
    "TrainingMerge",
    "TrainingPruning",
    "TrainingRemoval",
    "TrainingThreshold",
    "TrainingTrace",
    "Verification",
    "WordBand",
    "WordDifferences",
    "WordGroup",
    "WordLattice",
    "WordSearch",
    "bench",
    "bench_files",
    "boundary_scores",
    "charts",
    "compare",
    "explain",
    "explain_training",
    "html_report",
    "inspect",
    "plan_prune",
    "read_gold",
    "save_plots",
    "token_counts",
    "training_example",
    "verify",
    "verify_files",
}

GENERATION_NAMES = {
    "AppendedIds",
    "Drift",
    "DriftSpan",
    "HealedPrompt",
    "TokenTrie",
    "append_ids",
    "find_drift",
    "find_drift_batch",
    "find_drift_files",
    "heal",
}

PLAYGROUND_NAMES = {"create_app"}

TRAIN_NAMES = {
    "BPETrainer",
    "ByteBPETrainer",
    "ByteUnigramTrainer",
    "CharTrainer",
    "Counts",
    "CountsSummary",
    "DroppedWords",
    "LEARNERS",
    "LearnedPieces",
    "LearnedVocabulary",
    "Learner",
    "PRESETS",
    "Pipeline",
    "Preset",
    "RetrainSettings",
    "SENTENCEPIECE_PRESETS",
    "SentencePiecePreset",
    "SentencePieceTrainer",
    "Sentences",
    "BalancedCounts",
    "balance_sources",
    "SourceCounts",
    "TrainOptions",
    "Trainer",
    "UnigramTrainer",
    "WordPieceTrainer",
    "WordTrainer",
    "count_files",
    "count_files_to",
    "count_sources",
    "count_texts",
    "estimated_memory",
    "fit_to_memory",
    "learn_spec",
    "learn_specs",
    "pipeline_of",
    "recorded_pipeline",
    *(learner.__name__ for learner in pw.train.LEARNERS.values()),
}

CORPUS_NAMES = {
    "FORMATS",
    "Corpus",
    "Format",
    "Rows",
    "corpus_files",
    "formats_text",
    "read_corpus",
}

VOCABULARY_NAMES = {
    "bos_eos_template",
    "ChangedVocabulary",
    "add_words",
    "decoded_bytes",
    "donor_rows",
    "extend",
    "map_between",
    "prune",
    "restrict",
    "shrink",
    "to_unigram",
    "vocab_bytes",
    "IdMap",
    "ResizedTable",
    "add_pieces",
    "as_components",
    "as_sentencepiece",
    "remove_pieces",
    "resize_embeddings",
    "set_scores",
    "set_types",
}

EXPORT_NAMES = {
    "FORMATS",
    "SHARD_FORMATS",
    "STRATEGIES",
    "EncodedChats",
    "EncodedCorpus",
    "EncodedFiles",
    "concat_megatron",
    "encode_chats",
    "encode_corpus",
    "encode_files",
    "encode_lines",
    "read_ids",
}

LATTICE_NAMES = {"entropy", "nbest", "sample", "score", "score_ids"}

STAGES_NAMES = {
    "decode_streams",
    "encode_pre_token",
    "normalize",
    "normalize_with_offsets",
    "pre_tokenize",
    "stages_of",
    "with_stages",
    "with_word_ids",
}

CHAT_NAMES = {"ChatEncoding", "GrowingText", "SegmentedEncoding", "TextChunk"}
CHAT_NAMES |= {"MASK_PARTS", "ChatFormat", "chunk_text", "count_messages", "find_special_token"}
CHAT_NAMES |= {"fit_messages"}

TOKENIZER_NAMES = {
    "load",
    "from_bytes",
    "from_ranks",
    "from_spec",
    "from_str",
    "train",
    "train_from_iterator",
    "train_from_counts",
    "train_new_from_iterator",
    "with_decoder",
    "encode",
    "encode_batch",
    "tokenize",
    "count",
    "count_batch",
    "encode_segments",
    "apply_chat_template",
    "decode",
    "decode_batch",
    "decode_bytes",
    "decode_stream",
    "added_tokens",
    "special_tokens_map",
    "unk_token",
    "unk_token_id",
    "bos_token",
    "bos_token_id",
    "eos_token",
    "eos_token_id",
    "sep_token",
    "sep_token_id",
    "pad_token",
    "pad_token_id",
    "cls_token",
    "cls_token_id",
    "mask_token",
    "mask_token_id",
    "with_added_tokens",
    "with_post_processor",
    "model_max_length",
    "padding_side",
    "truncation_side",
    "chat_template",
    "chat_templates",
    "with_chat_template",
    "with_model_max_length",
    "with_roles",
    "with_normalizer",
    "with_pre_tokenizer",
    "without_added_tokens",
    "normalize",
    "pre_tokenize",
    "token_to_id",
    "id_to_token",
    "token_bytes",
    "special_token_ids",
    "fingerprint",
    "get_vocab",
    "get_vocab_size",
    "with_padding",
    "without_padding",
    "memory",
    "warm_up",
    "with_word_cache_budget",
    "parse_special",
    "with_parse_special",
    "with_truncation",
    "without_truncation",
    "spec",
    "to_str",
    "save",
}

ERROR_TREE = {
    "PieceworkError": Exception,
    "ArgumentError": ValueError,
    "InputTypeError": TypeError,
    "SpecialTokenError": ValueError,
    "UnknownNameError": KeyError,
    "IdRangeError": IndexError,
    "ImmutableError": AttributeError,
    "FormatError": ValueError,
    "VocabularyError": ValueError,
    "CorpusError": ValueError,
    "InvalidUtf8Error": ValueError,
    "TrainingError": ValueError,
    "PortabilityError": ValueError,
    "MemoryLimitError": MemoryError,
    "TemplateError": ValueError,
    "StageError": RuntimeError,
    "FileError": OSError,
    "MissingExtraError": ImportError,
    "WorkerError": RuntimeError,
    "InternalError": RuntimeError,
}


def public_members(owner: object) -> dict[str, object]:
    """Return what an object has by itself; a class has what the project's own bases give it too."""
    bases = inspect.getmro(owner) if inspect.isclass(owner) else (owner,)
    own = [vars(base) for base in bases if base is owner or base.__module__.startswith("piecework")]
    return {
        name: value
        for names in reversed(own)
        for name, value in names.items()
        if not name.startswith("_") and not isinstance(value, ForeignName)
    }


def documented_things() -> list[tuple[str, object]]:
    """Every public class, function, method and property that a user can reach."""
    things: list[tuple[str, object]] = [("piecework", pw)]
    homes = (pw.spec, pw.train, pw.vocabulary, pw.export, pw.analysis, pw.chat, pw.generation)
    for home in (pw, *homes, pw.errors):
        for name, value in public_members(home).items():
            if not (inspect.isclass(value) or inspect.isfunction(value)):
                continue
            if not value.__module__.startswith("piecework"):
                continue
            things.append((f"{home.__name__}.{name}", value))
            if inspect.isclass(value):
                things += [
                    (f"{home.__name__}.{name}.{method}", member)
                    for method, member in public_members(value).items()
                    if callable(member) or isinstance(member, property | classmethod | staticmethod)
                ]
    return things


def test_all_lists_exactly_the_public_names() -> None:
    assert set(pw.__all__) == PUBLIC_NAMES
    assert len(pw.__all__) == len(PUBLIC_NAMES)


def test_analysis_lists_exactly_its_public_names() -> None:
    assert set(pw.analysis.__all__) == ANALYSIS_NAMES


def test_train_lists_exactly_its_public_names() -> None:
    assert set(pw.train.__all__) == TRAIN_NAMES


def test_vocabulary_lists_exactly_its_public_names() -> None:
    assert set(pw.vocabulary.__all__) == VOCABULARY_NAMES


def test_public_names_of_corpus() -> None:
    assert set(pw.corpus.__all__) == CORPUS_NAMES


def test_export_lists_exactly_its_public_names() -> None:
    assert set(pw.export.__all__) == EXPORT_NAMES


def test_lattice_lists_exactly_its_public_names() -> None:
    assert set(pw.lattice.__all__) == LATTICE_NAMES


def test_generation_lists_exactly_its_public_names() -> None:
    assert set(pw.generation.__all__) == GENERATION_NAMES


def test_stages_lists_exactly_its_public_names() -> None:
    assert set(pw.stages.__all__) == STAGES_NAMES


def test_chat_lists_exactly_its_public_names() -> None:
    assert set(pw.chat.__all__) == CHAT_NAMES


def test_playground_lists_exactly_its_public_names() -> None:
    assert set(playground.__all__) == PLAYGROUND_NAMES


@pytest.mark.parametrize("name", sorted(PUBLIC_NAMES))
def test_public_name_exists(name: str) -> None:
    assert hasattr(pw, name)


def test_tokenizer_has_exactly_its_public_names() -> None:
    assert set(public_members(pw.Tokenizer)) == TOKENIZER_NAMES
    assert len(TOKENIZER_NAMES) <= 71


def test_the_file_of_the_tokenizer_stays_readable() -> None:
    assert inspect.getsource(pw.Tokenizer).count("\n") < 1750, (
        "write function(tokenizer, ...) in the folder of its subject"
    )


def test_error_tree_lists_every_exception() -> None:
    classes = {name: value for name, value in vars(pw.errors).items() if inspect.isclass(value)}
    errors = {
        name
        for name, value in classes.items()
        if issubclass(value, Exception) and not issubclass(value, Warning) and name[0] != "_"
    }
    assert set(ERROR_TREE) == errors


@pytest.mark.parametrize(("name", "builtin"), ERROR_TREE.items())
def test_errors_form_one_tree_and_match_the_builtin_kind(name: str, builtin: type) -> None:
    error = getattr(pw.errors, name)
    assert issubclass(error, pw.errors.PieceworkError)
    assert issubclass(error, builtin)


def test_training_warning_is_a_user_warning() -> None:
    assert issubclass(pw.errors.TrainingWarning, UserWarning)
    assert issubclass(pw.errors.PortabilityWarning, UserWarning)


@pytest.mark.parametrize(
    ("name", "thing"), [pytest.param(*each, id=each[0]) for each in documented_things()]
)
def test_everything_public_is_documented(name: str, thing: object) -> None:
    assert (inspect.getdoc(thing) or "").strip(), f"{name} has no docstring"


def test_version_is_the_one_of_the_distribution() -> None:
    from importlib.metadata import version

    assert pw.__version__ == version("piecework")
