//! Rows one after the other, the ids of new words left out for a while: those of several rows are segmented at once.
//!
//! A row of a few hundred words has a handful of new ones, too few to keep memory busy while they are segmented.

use super::{Input, Options, Scratch, Tokenizer};
use crate::error::Error;
use crate::postprocess::Frame;

impl Tokenizer {
    /// What goes around rows of one text each, if they can be written by [`Self::hold_row`]: nothing is cut off,
    /// every word has ids, and none are drawn.
    #[must_use]
    pub fn frame_of_held(&self, options: Options<'_>) -> Option<Frame> {
        let is_fixed =
            options.sampling.is_none() && self.truncation.is_none() && self.tables.model.never_fails();
        let is_fast = self.tables.splitter.spells_bytes() || self.stretches(options).is_some();
        (is_fixed && is_fast)
            .then(|| self.tables.post_processor.frame_of_one(options.add_special_tokens))
            .flatten()
    }

    /// The same, if their ids can be laid along their words, by [`Self::laid_row`].
    #[must_use]
    pub fn frame_of_laid(&self, options: Options<'_>) -> Option<Frame> {
        self.frame_of_held(options).filter(|frame| !frame.trims && self.is_laid(options))
    }

    /// Append the ids of a row, some of which may be left out until [`Self::settle_rows`].
    pub fn hold_row(
        &self,
        input: Input<'_>,
        frame: &Frame,
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        out.extend_from_slice(&frame.before);
        self.tables.model.begin(None, 0, &mut scratch.model)?;
        let result = self.hold_into(input, options, scratch, out).unwrap_or(Ok(()));
        out.extend_from_slice(&frame.after);
        scratch.held.end_row();
        result
    }

    /// Put in the ids that [`Self::hold_row`] has left out; gives how far the end of each row has moved.
    pub fn settle_rows<'s>(
        &self,
        scratch: &'s mut Scratch,
        out: &mut Vec<u32>,
    ) -> impl Iterator<Item = usize> + 's {
        self.settle(scratch, out);
        scratch.held.shifts()
    }

    /// Append the ids of an input by one of the ways that know of words that wait, if one of them fits.
    pub(super) fn hold_into(
        &self,
        input: Input<'_>,
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Option<Result<(), Error>> {
        if self.tables.splitter.spells_bytes() {
            return Some(self.hold_spelled_into(input, options, scratch, out));
        }
        let stretches = self.stretches(options)?;
        Some(self.hold_stretches_into(stretches, input, options, scratch, out))
    }

    /// Put in the ids of all words that wait.
    pub(super) fn settle(&self, scratch: &mut Scratch, out: &mut Vec<u32>) {
        if scratch.held.is_empty() {
            return;
        }
        if self.tables.splitter.spells_bytes() {
            self.settle_spelled(scratch, out);
        } else {
            self.settle_stretches(scratch, out);
        }
    }
}
