//! What byte-level files share: tokens as bytes and as printable text, and the pipeline around them.

use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{
    AddedToken, BpeSpec, ByteLevelSpec, DecoderSpec, ModelSpec, PatternSpec, PreTokenizerSpec,
    SplitBehavior, TokenizerSpec,
};
use piecework_core::text::{byte_of_printable, printable_of};

/// Write bytes as the printable characters that stand for them.
pub(crate) fn printable(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| printable_of(byte)).collect()
}

/// Read printable characters as the bytes that they stand for.
pub(crate) fn from_printable(text: &str) -> Option<Vec<u8>> {
    text.chars().map(byte_of_printable).collect()
}

/// The lowest byte for which `has` knows no token is an error.
pub(crate) fn check_alphabet(place: &str, has: impl Fn(u8) -> bool) -> Result<(), Error> {
    match (0..=255).find(|&byte| !has(byte)) {
        None => Ok(()),
        Some(byte) => {
            let found = format!("no token for the byte 0x{byte:02X} (written {:?})", printable_of(byte));
            Err(Error::new(ErrorKind::Vocabulary, place, found, "a token for each of the 256 bytes"))
        }
    }
}

/// A byte-level tokenizer that neither normalizes nor frames.
pub(crate) fn tokenizer(
    model: BpeSpec,
    pre_tokenizer: PreTokenizerSpec,
    added_tokens: Vec<AddedToken>,
) -> TokenizerSpec {
    TokenizerSpec {
        truncation: None,
        padding: None,
        added_tokens,
        normalizer: None,
        pre_tokenizer: Some(pre_tokenizer),
        post_processor: None,
        decoder: Some(DecoderSpec::ByteLevel(byte_level(true))),
        model: ModelSpec::Bpe(model),
    }
}

/// Settings of a byte-level stage that puts no space before the text.
pub(crate) fn byte_level(use_regex: bool) -> ByteLevelSpec {
    ByteLevelSpec { add_prefix_space: false, trim_offsets: true, use_regex }
}

/// Split at the matches of a pattern, then write bytes as characters.
pub(crate) fn split_bytes(pattern: String, behavior: SplitBehavior, invert: bool) -> PreTokenizerSpec {
    let split = PreTokenizerSpec::Split { pattern: PatternSpec::Regex(pattern), behavior, invert };
    PreTokenizerSpec::Sequence(vec![split, PreTokenizerSpec::ByteLevel(byte_level(false))])
}
