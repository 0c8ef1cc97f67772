//! Text for the stages: character classes, normalized text with sources, patterns and positions.

mod align;
mod aligned;
mod byte_set;
mod byte_tokens;
mod char_spans;
mod char_table;
mod code_point_map;
mod expansion_limit;
mod pattern;
mod pre_tokenized_text;
mod prefix_set;
mod recent;
#[rustfmt::skip]
mod recent_tables;
mod scripts;
mod unicode;
#[rustfmt::skip]
mod unicode_tables;
mod utf8;

pub use align::{align, AlignedRun};
pub use aligned::{Aligned, CharIndex, NormalizedSink};
pub use byte_set::ByteSet;
pub use byte_tokens::{
    byte_entry, byte_of_entry, byte_of_printable, printable_of, push_bytes_of_printable,
};
pub use char_spans::CharSpans;
pub use char_table::{char_class, find_char_class, CharTable};
pub use code_point_map::{CodePointMap, CodePointMapBuilder};
pub use expansion_limit::{max_grown_len, ExpansionLimit, MAX_GROWTH};
pub use pattern::Pattern;
pub use pre_tokenized_text::PreTokenizedText;
pub use prefix_set::PrefixSet;
pub use recent::{compose_recent, decompose_recent, fold_case};
pub use scripts::{script_of, Script};
pub use unicode::{
    class_block, class_of, combining_class, compose, decompose, decompose_for, lowercase, Class,
    FormTraits, NormalForm, UNICODE_VERSION,
};
pub use utf8::{begins_char, char_count, char_len, wide_char_at};
