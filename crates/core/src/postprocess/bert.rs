//! `BertProcessing`: `cls A sep`, and `B sep` of type 1 for whatever follows.

use super::parts::{Part, Place};

/// Frame the first part by `cls` and `sep`, end the others with `sep`.
pub(super) fn frame(parts: Vec<Part>, sep: u32, cls: u32) -> Vec<Part> {
    let frame = |(at, part): (usize, Part)| match at {
        0 => part.between(Some(Place::special(cls, 0)), Place::special(sep, 0)),
        _ => part.between(None, Place::special(sep, 1)),
    };
    parts.into_iter().enumerate().map(frame).collect()
}
