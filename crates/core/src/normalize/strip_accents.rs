//! Removes combining marks of every kind (M of Unicode 9); it decomposes nothing. O(n).

use piecework_unicode::FormTraits;

use crate::text::NormalizedSink;

/// Strip the marks of `text`, which stands at byte `start` of the original.
pub(super) fn run(text: &str, start: u32, out: &mut impl NormalizedSink) {
    super::run_map(text, start, out, |c| !c.is_ascii() && FormTraits::of(c).is_mark(), |_, _| {});
}
