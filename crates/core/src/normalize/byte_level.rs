//! Writes every byte as a printable character, the alphabet of GPT-2's vocabulary. O(n).

use crate::text::{printable_of, NormalizedSink};

/// Write the bytes of `text`, which stands at byte `start` of the original.
pub(super) fn run(text: &str, start: u32, out: &mut impl NormalizedSink) {
    super::run_map(
        text,
        start,
        out,
        |c| !c.is_ascii_graphic(),
        |c, emit| {
            c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| emit(printable_of(byte)));
        },
    );
}
