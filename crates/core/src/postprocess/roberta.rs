//! `RobertaProcessing`: `cls A sep`, and `sep B sep` for whatever follows, all of type 0.

use super::parts::{Part, Place};

/// Trim offsets where wanted and make every type id 0.
pub(super) fn prepare(parts: Vec<Part>, trim_offsets: bool, add_prefix_space: bool) -> Vec<Part> {
    let trim = |part: Part| if trim_offsets { part.trimmed(add_prefix_space) } else { part };
    parts.into_iter().map(|part| trim(part).typed(0)).collect()
}

/// Frame the first part by `cls` and `sep`, the others by `sep` on both sides.
pub(super) fn frame(parts: Vec<Part>, sep: u32, cls: u32) -> Vec<Part> {
    let frame = |(at, part): (usize, Part)| {
        let before = if at == 0 { cls } else { sep };
        part.between(Some(Place::special(before, 0)), Place::special(sep, 0))
    };
    parts.into_iter().enumerate().map(frame).collect()
}
