//! Text as the stages see it: patterns, and normalized text that remembers its origin.

mod align;
mod aligned;
mod byte_entry;
mod char_spans;
mod growth;
mod pattern;
mod pieces;
mod prefixes;
mod printable;

pub use align::{align, Run};
pub use aligned::{Aligned, CharIndex, NormalizedSink};
pub use byte_entry::{byte_entry, byte_of_entry};
pub use char_spans::CharSpans;
pub use growth::{max_grown_len, MAX_GROWTH};
pub use pattern::Pattern;
pub use pieces::{Pieces, Rewriter, Traced};
pub use prefixes::Prefixes;
pub use printable::{byte_of_printable, printable_of, push_bytes_of_printable};
