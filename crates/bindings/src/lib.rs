//! The Python module `piecework._internal._core`: signatures, release of the GIL and error mapping. The algorithms are in
//! `piecework-core`.

#![forbid(unsafe_code)]
#![expect(clippy::needless_pass_by_value, reason = "arguments arrive by value from Python")]

mod batch;
mod bytes;
mod columns;
mod core;
mod counting;
mod custom;
mod encoding;
mod errors;
mod files;
mod input;
mod learning;
mod learning_log;
mod panics;
mod prompts;
mod release;
mod rules;
mod segmentations;
mod shared_tokenizer;
mod stream;
mod strings;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    use super::*;

    #[pymodule_export]
    use crate::{
        batch::RawBatch,
        bytes::{decode_bytes, encode_word_of_bytes, find_special, token_bytes, vocab_bytes, Xxh128},
        columns::TextColumn,
        core::Core,
        counting::{OrderedWords, RawCounts, WordCounter},
        encoding::{encoding_of_row, missing_column, Encoding},
        files::{
            detect_format, fingerprint, gguf_chat_templates, gguf_names, gguf_roles, gguf_section_length,
            is_cache, is_gguf, panic_for_tests, panic_in_loading_for_tests, read_cache, read_clip,
            read_gguf, read_piecework_file, read_sentencepiece, read_sentencepiece_normalizer,
            read_sentencepiece_vocab, read_tekken, read_tiktoken, read_vocab_merges,
            sentencepiece_settings, write_cache, write_piecework_file, write_sentencepiece,
            write_sentencepiece_vocab, write_tiktoken, write_vocab_merges,
        },
        input::{available_processors, kernel_levels, use_kernel_level},
        learning::{
            check_memory, continue_training, learn_bpe, learn_bpe_by_source, learn_sentencepiece,
            learn_unigram, learn_wordpiece, LearnedEntries, LearnedPieces,
        },
        learning_log::LearningLog,
        prompts::RawPrompts,
        rules::RawRules,
        segmentations::{entropy, piece_segmentations, pieces, scores, segmentations},
        stream::RawDecodeStream,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::panics::install_hook();
        crate::release::close_at_exit(module)?;
        crate::release::watch(module.py());
        module.add("UNICODE_VERSION", piecework_unicode::UNICODE_VERSION)?;
        module.add("BUILD_PROFILE", env!("PIECEWORK_PROFILE"))?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
