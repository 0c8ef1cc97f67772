//! Rows with spans: the ids of some rows are made first, as without spans, then those of each are laid along its words
//! while its text is still at hand.

use std::ops::Range;

use super::columns::BatchIds;
use super::{named, Rows};
use crate::encode::{Row, Scratch};
use crate::error::Error;
use crate::postprocess::Frame;
use crate::threads::Stop;

/// How many ids are made before they are laid: with their texts they fit the cache of a core.
const ENOUGH: usize = 1 << 14;

/// Ids that are still to be laid.
#[derive(Default)]
struct UnalignedRows {
    /// The first of the rows that they are of,
    first: usize,
    /// where those of each end,
    ends: Vec<usize>,
    /// and themselves.
    ids: Vec<u32>,
}

impl Rows<'_> {
    /// Append some rows to a part.
    pub(super) fn encode_aligned(
        &self,
        rows: Range<usize>,
        frame: &Frame,
        stop: &Stop,
        scratch: &mut Scratch,
        part: &mut BatchIds,
    ) -> Result<(), Error> {
        let mut rows_of_ids = UnalignedRows { first: rows.start, ..UnalignedRows::default() };
        for row in stop.rows(rows) {
            self.prefetch(row + 1);
            let (input, ids) = (self.inputs[row], &mut rows_of_ids.ids);
            let made = self.tokenizer.pending_row(input, &Frame::default(), self.options, scratch, ids);
            if made.is_ok() {
                rows_of_ids.ends.push(rows_of_ids.ids.len());
            }
            if made.is_err() || rows_of_ids.ids.len() >= ENOUGH {
                self.align(&mut rows_of_ids, frame, scratch, part)?;
            }
            made.map_err(|error| named(error, row))?;
        }
        self.align(&mut rows_of_ids, frame, scratch, part)
    }

    /// Append the rows whose ids are made.
    fn align(
        &self,
        rows_of_ids: &mut UnalignedRows,
        frame: &Frame,
        scratch: &mut Scratch,
        part: &mut BatchIds,
    ) -> Result<(), Error> {
        let UnalignedRows { first, ends, ids } = rows_of_ids;
        let shifts = self.tokenizer.flush_rows(scratch, ids);
        ends.iter_mut().zip(shifts).for_each(|(end, shift)| *end += shift);
        let mut start = 0;
        for end in ends.drain(..) {
            let (input, ids) = (self.inputs[*first], &ids[start..end]);
            let push = |row: Row<'_>| {
                part.push_row(ids, row, frame);
                part.end_row();
            };
            let aligned = self.tokenizer.aligned_row(input, ids, self.options, scratch, push);
            aligned.map_err(|error| named(error, *first))?;
            (*first, start) = (*first + 1, end);
        }
        ids.clear();
        Ok(())
    }
}
