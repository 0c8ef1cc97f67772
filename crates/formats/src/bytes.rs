//! Shared parts of byte-level formats: tokens as bytes and as printable text, and byte-level pipelines.

use piecework_core::error::{Error, ErrorKind};
use piecework_core::ranks::RanksSpec;
use piecework_core::spec::{
    AddedToken, BpeSpec, ByteLevelSpec, DecoderSpec, ModelSpec, PatternSpec, PreTokenizerSpec,
    SplitBehavior, TokenizerSpec,
};
use piecework_core::text::printable_of;
use piecework_core::vocab::Vocab;

/// Return the printable characters of bytes (GPT-2's mapping).
pub(crate) fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    text.extend(bytes.iter().map(|&byte| printable_of(byte)));
    text
}

/// Check that there is a token for every byte; the error names the lowest byte without one.
pub(crate) fn check_alphabet(place: &str, has: impl Fn(u8) -> bool) -> Result<(), Error> {
    match (0..=255).find(|&byte| !has(byte)) {
        None => Ok(()),
        Some(byte) => {
            let found = format!("no token for the byte 0x{byte:02X} (written {:?})", printable_of(byte));
            Err(Error::new(ErrorKind::Vocabulary, place, found, "a token for each of the 256 bytes"))
        }
    }
}

/// Return a tokenizer by ranks, without normalizer and post-processor.
pub(crate) fn ranks_spec(
    vocab: Vocab,
    pre_tokenizer: PreTokenizerSpec,
    added_tokens: Vec<AddedToken>,
) -> RanksSpec {
    RanksSpec { stages: tokenizer(BpeSpec::default(), pre_tokenizer, added_tokens), vocab }
}

/// Return a byte-level tokenizer without normalizer and post-processor.
pub(crate) fn tokenizer(
    model: BpeSpec,
    pre_tokenizer: PreTokenizerSpec,
    added_tokens: Vec<AddedToken>,
) -> TokenizerSpec {
    TokenizerSpec {
        added_tokens,
        pre_tokenizer: Some(pre_tokenizer),
        decoder: Some(DecoderSpec::ByteLevel(byte_level(true))),
        ..TokenizerSpec::of(ModelSpec::Bpe(model))
    }
}

/// Return the settings of a byte-level stage without `add_prefix_space`.
pub(crate) fn byte_level(use_regex: bool) -> ByteLevelSpec {
    ByteLevelSpec { add_prefix_space: false, trim_offsets: true, use_regex }
}

/// Return a pre-tokenizer that splits at the matches of a pattern and maps bytes to printable characters.
pub(crate) fn split_bytes(pattern: String, behavior: SplitBehavior, invert: bool) -> PreTokenizerSpec {
    let split = PreTokenizerSpec::Split { pattern: PatternSpec::Regex(pattern), behavior, invert };
    PreTokenizerSpec::Sequence(vec![split, PreTokenizerSpec::ByteLevel(byte_level(false))])
}
