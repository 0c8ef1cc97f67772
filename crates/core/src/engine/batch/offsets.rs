//! Encodes rows with offsets: computes the ids of some rows as without offsets, then aligns the ids with the words of each
//! text while the texts are still in the cache.

use std::ops::Range;

use super::columns::BatchIds;
use super::RowEncoder;
use crate::engine::{Row, Scratch};
use crate::error::Error;
use crate::stages::postprocess::Frame;
use crate::threads::StopFlag;

/// The number of ids after which rows are aligned. The ids and their texts fit the cache of a core.
const ALIGN_AFTER_IDS: usize = 1 << 14;

/// Rows whose ids are not aligned yet.
#[derive(Default)]
struct UnalignedRows {
    /// The index of the first row.
    first: usize,
    /// The end of each row in `ids`.
    ends: Vec<usize>,
    ids: Vec<u32>,
}

impl RowEncoder<'_> {
    /// Append some rows with offsets to the batch of a chunk.
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
            let ids = &mut unaligned.ids;
            let result = self.with_input((row, self.sources[row]), scratch, |input, scratch| {
                self.tokenizer.append_row(input, &Frame::default(), self.options, scratch, ids)
            });
            if result.is_ok() {
                unaligned.ends.push(unaligned.ids.len());
            }
            if result.is_err() || unaligned.ids.len() >= ALIGN_AFTER_IDS {
                self.align(&mut unaligned, frame, scratch, chunk)?;
            }
            result?;
        }
        self.align(&mut unaligned, frame, scratch, chunk)
    }

    /// Align the pending rows and append them.
    fn align(
        &self,
        unaligned: &mut UnalignedRows,
        frame: &Frame,
        scratch: &mut Scratch,
        chunk: &mut BatchIds,
    ) -> Result<(), Error> {
        let UnalignedRows { first, ends, ids } = unaligned;
        let shifts = self.tokenizer.flush_rows(scratch, ids);
        ends.iter_mut().zip(shifts).for_each(|(end, shift)| *end += shift);
        let mut start = 0;
        for end in ends.drain(..) {
            let ids = &ids[start..end];
            let push = |row: Row<'_>| {
                chunk.push_row(ids, row, frame);
                chunk.end_row();
            };
            self.with_input((*first, self.sources[*first]), scratch, |input, scratch| {
                self.tokenizer.aligned_row(input, ids, self.options, scratch, push)
            })?;
            (*first, start) = (*first + 1, end);
        }
        ids.clear();
        Ok(())
    }
}
