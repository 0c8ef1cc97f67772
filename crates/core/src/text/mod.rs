//! Text as the stages see it: character classes and normalized text that remembers its origin.

mod aligned;
mod unicode;
#[rustfmt::skip]
mod unicode_tables;

pub use aligned::{Aligned, CharIndex, NormalizedSink};
pub use unicode::{class_of, combining_class, decompose, lowercase, Class, UNICODE_VERSION};
