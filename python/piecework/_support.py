"""What guests use of the package besides its public names: argument checks, files, shared figures.

The guests are `analysis`, `cli`, `compat`, `distributed`, `integrations` and `playground`. They import these
names from here, and nothing else that is not public (tests/project/test_layers.py). A module is imported when
one of its names is first read.
"""

from __future__ import annotations

from piecework._internal.lazy import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from piecework._core import BUILD_PROFILE
    from piecework._internal import validation
    from piecework._internal.close_names import close_names, did_you_mean
    from piecework._internal.counted import counted
    from piecework._internal.extras import import_extra
    from piecework._internal.lazy import np, npt
    from piecework._internal.memory_budget import format_size, memory_budget
    from piecework._internal.progress import progress_bar, show_source
    from piecework._internal.surrogates import join_surrogates
    from piecework._internal.types import Progress
    from piecework._internal.validation import (
        PathLike,
        check_choice,
        check_fraction,
        check_number,
        check_positive,
        check_size,
        check_text,
        check_tokenizer,
        check_type,
        file_path,
        listed,
        optional_number,
        path_text,
    )
    from piecework._internal.warn import warn
    from piecework.corpus.conversations import without_nulls
    from piecework.corpus.formats import PLAIN_TEXT, format_of
    from piecework.corpus.iterables import rows_of_texts, text_total
    from piecework.corpus.paths import corpus_bytes
    from piecework.corpus.reader import CorpusReader
    from piecework.corpus.rows import DOCUMENTS, ReadOptions, Utf8Errors
    from piecework.corpus.skipped import OnError
    from piecework.export.chats import MASK_NAME
    from piecework.io.atomic_files import atomic_file, atomic_stream, check_writable
    from piecework.io.format_detection import SENTENCEPIECE_MODEL, VOCAB_MERGES, file_format
    from piecework.io.format_readers import read_normalizer
    from piecework.io.hub import download_tokenizer_json
    from piecework.io.model_names import ENCODING_OF_MODEL, ENCODING_OF_PREFIX, encoding_of_model
    from piecework.io.names import tokenizer_file, tokenizer_path
    from piecework.io.rank_files import find_cached_file, find_rank_file
    from piecework.io.read_file import file_bytes
    from piecework.io.saving import (
        bytes_for,
        check_format,
        check_model_type,
        check_tokenizer_path,
        formats_for,
        is_folder_path,
        tokenizer_bytes,
        tokenizer_format_of,
    )
    from piecework.io.stored_lengths import (
        active_lengths,
        core_of_folder,
        ignore_warnings_of_lengths,
    )
    from piecework.rows.rectangles import Rectangle, as_tensor
    from piecework.sampling import (
        Piece,
        check_alpha,
        check_segmentations,
        draw_piece_segmentations,
        encode_pieces,
        list_piece_segmentations,
    )
    from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER, CHARACTER_OF_BYTE
    from piecework.spec.custom import name_of
    from piecework.train.count_checkpoint import delete_count_checkpoint, source_folder
    from piecework.train.counting import (
        CorpusCount,
        FileCountSettings,
        PartCountSettings,
        pipeline_of_preset,
        warn_of_replacements,
    )
    from piecework.train.counts_files import is_counts_file
    from piecework.train.learn import preset_for_counts, source_of
    from piecework.train.learned import Merge
    from piecework.train.plan import Plan, model_of
    from piecework.train.setting_fields import (
        Choice,
        File,
        Integer,
        IntegerOrShare,
        Number,
        Setting,
        Switch,
        Tokens,
        Value,
        Variant,
        given_to,
        settings_of,
        takes_settings,
    )
    from piecework.train.settings import CountPartOptions
    from piecework.train.source_balance import delete_balance_checkpoint
    from piecework.train.source_costs import SourceCosts, costs_of_parity, plain_models
    from piecework.train.trainers import TRAINERS
    from piecework.train.trainers.meta_pieces import with_learned
    from piecework.vocabulary.changed_vocabulary import changed
    from piecework.vocabulary.pruning import most_used
    from piecework.vocabulary.residues import without_residues

__getattr__ = lazy_names(
    __name__,
    {
        "piecework._core": "BUILD_PROFILE".split(),
        "piecework._internal": "validation".split(),
        "piecework._internal.close_names": "close_names did_you_mean".split(),
        "piecework._internal.counted": "counted".split(),
        "piecework._internal.extras": "import_extra".split(),
        "piecework._internal.lazy": "np npt".split(),
        "piecework._internal.memory_budget": "format_size memory_budget".split(),
        "piecework._internal.progress": "progress_bar show_source".split(),
        "piecework._internal.surrogates": "join_surrogates".split(),
        "piecework._internal.types": "Progress".split(),
        "piecework._internal.validation": (
            "PathLike check_choice check_fraction check_number check_positive check_size "
            "check_text check_tokenizer check_type file_path listed optional_number path_text"
        ).split(),
        "piecework._internal.warn": "warn".split(),
        "piecework.corpus.conversations": "without_nulls".split(),
        "piecework.corpus.formats": "PLAIN_TEXT format_of".split(),
        "piecework.corpus.iterables": "rows_of_texts text_total".split(),
        "piecework.corpus.paths": "corpus_bytes".split(),
        "piecework.corpus.reader": "CorpusReader".split(),
        "piecework.corpus.rows": "DOCUMENTS ReadOptions Utf8Errors".split(),
        "piecework.corpus.skipped": "OnError".split(),
        "piecework.export.chats": "MASK_NAME".split(),
        "piecework.io.atomic_files": "atomic_file atomic_stream check_writable".split(),
        "piecework.io.format_detection": "SENTENCEPIECE_MODEL VOCAB_MERGES file_format".split(),
        "piecework.io.format_readers": "read_normalizer".split(),
        "piecework.io.hub": "download_tokenizer_json".split(),
        "piecework.io.model_names": (
            "ENCODING_OF_MODEL ENCODING_OF_PREFIX encoding_of_model"
        ).split(),
        "piecework.io.names": "tokenizer_file tokenizer_path".split(),
        "piecework.io.rank_files": "find_cached_file find_rank_file".split(),
        "piecework.io.read_file": "file_bytes".split(),
        "piecework.io.saving": (
            "bytes_for check_format check_model_type check_tokenizer_path formats_for "
            "is_folder_path tokenizer_bytes tokenizer_format_of"
        ).split(),
        "piecework.io.stored_lengths": (
            "active_lengths core_of_folder ignore_warnings_of_lengths"
        ).split(),
        "piecework.rows.rectangles": "Rectangle as_tensor".split(),
        "piecework.sampling": (
            "Piece check_alpha check_segmentations draw_piece_segmentations encode_pieces "
            "list_piece_segmentations"
        ).split(),
        "piecework.spec.byte_alphabet": "BYTE_OF_CHARACTER CHARACTER_OF_BYTE".split(),
        "piecework.spec.custom": "name_of".split(),
        "piecework.train.count_checkpoint": "delete_count_checkpoint source_folder".split(),
        "piecework.train.counting": (
            "CorpusCount FileCountSettings PartCountSettings pipeline_of_preset warn_of_replacements"
        ).split(),
        "piecework.train.counts_files": "is_counts_file".split(),
        "piecework.train.learn": "preset_for_counts source_of".split(),
        "piecework.train.learned": "Merge".split(),
        "piecework.train.plan": "Plan model_of".split(),
        "piecework.train.setting_fields": (
            "Choice File Integer IntegerOrShare Number Setting Switch Tokens Value Variant "
            "given_to settings_of takes_settings"
        ).split(),
        "piecework.train.settings": "CountPartOptions".split(),
        "piecework.train.source_balance": "delete_balance_checkpoint".split(),
        "piecework.train.source_costs": "SourceCosts costs_of_parity plain_models".split(),
        "piecework.train.trainers": "TRAINERS".split(),
        "piecework.train.trainers.meta_pieces": "with_learned".split(),
        "piecework.vocabulary.changed_vocabulary": "changed".split(),
        "piecework.vocabulary.pruning": "most_used".split(),
        "piecework.vocabulary.residues": "without_residues".split(),
    },
)
