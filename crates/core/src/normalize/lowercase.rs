//! Lowercase of every character, without context (Unicode 17, as in tokenizers 0.23). O(n).

use piecework_unicode::{class_of, lowercase, Class};

use crate::text::NormalizedSink;

/// Lowercase `text`, which stands at byte `start` of the original.
pub(super) fn run(text: &str, start: u32, out: &mut impl NormalizedSink) {
    super::run_map(
        text,
        start,
        out,
        |c| class_of(c).has(Class::HAS_LOWERCASE),
        |c, emit| lowercase(c, emit),
    );
}
