//! Text for the stages: normalized text with its source, patterns and positions.

mod align;
mod aligned;
mod byte_tokens;
mod pattern;
mod pre_tokenized_text;

/// The character that stands for a space in SentencePiece.
pub const METASPACE: char = '\u{2581}';
/// The same as a string.
pub(crate) const METASPACE_STR: &str = "\u{2581}";

pub use align::{align, AlignedRun};
pub(crate) use aligned::{max_grown_len, units_before_chars, MAX_GROWTH};
pub use aligned::{Aligned, CharIndex, CharSpans, ExpansionLimit, NormalizedSink};
pub use byte_tokens::{
    byte_entry, byte_of_entry, byte_of_printable, printable_of, push_bytes_of_printable,
};
pub use pattern::{Pattern, PrefixSet};
pub use pre_tokenized_text::PreTokenizedText;
