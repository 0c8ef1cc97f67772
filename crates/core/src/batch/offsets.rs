//! Rows with spans: the ids of some rows are made first, as without spans, then those of each are laid along its words
//! while its text is still at hand.

use std::ops::Range;

use super::columns::BatchIds;
use super::{in_row, RowEncoder};
use crate::encode::{Row, Scratch};
use crate::error::Error;
use crate::postprocess::Frame;
use crate::threads::StopFlag;

/// How many ids are made before they are laid: with their texts they fit the cache of a core.
const ALIGN_AFTER_IDS: usize = 1 << 14;

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

impl RowEncoder<'_> {
    /// Append some rows to a part.
    pub(super) fn encode_aligned(
        &self,
        rows: Range<usize>,
        frame: &Frame,
        stop: &StopFlag,
        scratch: &mut Scratch,
        chunk: &mut BatchIds,
    ) -> Result<(), Error> {
        let mut unaligned = UnalignedRows { first: rows.start, ..UnalignedRows::default() };
        for row in stop.rows(rows) {
            self.prefetch(row + 1);
            let (input, ids) = (self.inputs[row], &mut unaligned.ids);
            let result = self.pipeline.pending_row(input, &Frame::default(), self.options, scratch, ids);
            if result.is_ok() {
                unaligned.ends.push(unaligned.ids.len());
            }
            if result.is_err() || unaligned.ids.len() >= ALIGN_AFTER_IDS {
                self.align(&mut unaligned, frame, scratch, chunk)?;
            }
            result.map_err(|error| in_row(error, row))?;
        }
        self.align(&mut unaligned, frame, scratch, chunk)
    }

    /// Append the rows whose ids are made.
    fn align(
        &self,
        unaligned: &mut UnalignedRows,
        frame: &Frame,
        scratch: &mut Scratch,
        chunk: &mut BatchIds,
    ) -> Result<(), Error> {
        let UnalignedRows { first, ends, ids } = unaligned;
        let shifts = self.pipeline.flush_rows(scratch, ids);
        ends.iter_mut().zip(shifts).for_each(|(end, shift)| *end += shift);
        let mut start = 0;
        for end in ends.drain(..) {
            let (input, ids) = (self.inputs[*first], &ids[start..end]);
            let push = |row: Row<'_>| {
                chunk.push_row(ids, row, frame);
                chunk.end_row();
            };
            let aligned = self.pipeline.aligned_row(input, ids, self.options, scratch, push);
            aligned.map_err(|error| in_row(error, *first))?;
            (*first, start) = (*first + 1, end);
        }
        ids.clear();
        Ok(())
    }
}
