//! Removes whitespace (`White_Space`) at the ends. O(n).

use piecework_unicode::{class_of, Class};

use crate::text::NormalizedSink;

/// Strip `text`, which stands at byte `start` of the original.
pub(super) fn run(left: bool, right: bool, text: &str, start: u32, out: &mut impl NormalizedSink) {
    let is_space = |c| class_of(c).has(Class::WHITESPACE);
    let kept = if left { text.trim_start_matches(is_space) } else { text };
    let skipped = (text.len() - kept.len()) as u32;
    let kept = if right { kept.trim_end_matches(is_space) } else { kept };
    out.push_unchanged(kept, start + skipped);
}
