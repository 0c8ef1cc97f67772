//! Text for the stages: normalized text with its source, patterns and positions.

mod align;
mod aligned;
mod byte_tokens;
mod char_spans;
mod expansion_limit;
mod pattern;
mod pre_tokenized_text;
mod prefix_set;

/// The character that stands for a space in SentencePiece.
pub const METASPACE: char = '\u{2581}';
/// The same as a string.
pub const METASPACE_STR: &str = "\u{2581}";

pub use align::{align, AlignedRun};
pub use aligned::{units_before_chars, Aligned, CharIndex, NormalizedSink};
pub use byte_tokens::{
    byte_entry, byte_of_entry, byte_of_printable, printable_of, push_bytes_of_printable,
};
pub use char_spans::CharSpans;
pub use expansion_limit::{max_grown_len, ExpansionLimit, MAX_GROWTH};
pub use pattern::Pattern;
pub use pre_tokenized_text::PreTokenizedText;
pub use prefix_set::PrefixSet;
