//! Tokens with their spans and words, made from ids.
//!
//! aligner  ids aligned with the words of a text by the number of bytes that each covers
//! of_ids   tokens of a row of ids that was encoded before

mod aligner;
mod of_ids;

pub(super) use aligner::{AlignedIds, Aligner};

use super::input::WordNumber;
use super::plain;
use super::{Input, Options, Scratch, Tokenizer};
use crate::encoding::Token;
use crate::error::Error;
use crate::stages::added_tokens::Segment;

/// The tokens of a row.
#[derive(Clone, Copy, Debug)]
pub enum Row<'r> {
    /// The spans and words of ids that are known.
    Aligned {
        /// The first character and the one after the last.
        offsets: &'r [[u32; 2]],
        /// The number of the word.
        words: &'r [u32],
    },
    /// Tokens in place of ids that do not say how they cover the text.
    Tokens(&'r [Token]),
}

impl Tokenizer {
    /// Emit the tokens of an input whose ids are known, without the frame. Only with the frame of
    /// [`Self::frame_of_aligned_rows`].
    pub fn aligned_row(
        &self,
        input: Input<'_>,
        ids: &[u32],
        options: Options<'_>,
        scratch: &mut Scratch,
        emit: impl FnOnce(Row<'_>),
    ) -> Result<(), Error> {
        scratch.added_spaces.clear();
        if self.align(input, ids, options, scratch)? {
            let (offsets, words) = scratch.aligned.columns();
            emit(Row::Aligned { offsets, words });
        } else {
            scratch.added_spaces.clear();
            emit(Row::Tokens(&plain::tokens(self.stages(), input, 0, options, scratch)?));
        }
        Ok(())
    }

    /// Returns the tokens of an input from its ids; `None` if the ids do not say how they cover it.
    pub(super) fn aligned_tokens(
        &self,
        input: Input<'_>,
        index: u32,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Option<Vec<Token>>, Error> {
        let Some(route) = self.aligning_route(options) else { return Ok(None) };
        let mut ids = std::mem::take(&mut scratch.unaligned);
        ids.clear();
        let made = route.ids(self.stages(), input, options, scratch, &mut ids);
        route.flush(self.stages(), scratch, &mut ids);
        let made = made.and_then(|()| scratch.model.check());
        let aligned = made.and_then(|()| self.align(input, &ids, options, scratch));
        let tokens = aligned.map(|is_aligned| is_aligned.then(|| scratch.aligned.tokens(&ids, index)));
        scratch.unaligned = ids;
        tokens
    }

    /// Align the ids of an input with its words, into the scratch; `false` if they do not say how they cover it.
    fn align(
        &self,
        input: Input<'_>,
        ids: &[u32],
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<bool, Error> {
        let Some(route) = self.aligning_route(options) else { return Ok(false) };
        let stages = self.stages();
        let mut aligned = std::mem::take(&mut scratch.aligned);
        let mut aligner = Aligner::new(stages.token_lengths(), ids, &mut aligned);
        let mut result = Ok(true);
        for (number, text) in input.texts().enumerate() {
            aligner.begin_text(WordNumber::of(input, number));
            stages.added_tokens.split_raw(text, options.parse_special, |segment| match segment {
                _ if !matches!(result, Ok(true)) => {}
                Segment::Token(id, start, end) => {
                    let found = (&text[start..end], start);
                    result = Ok(aligner.added_token(stages, id, found, &mut scratch.added_spaces));
                }
                Segment::Text(start, end) => {
                    let span = (&text[start..end], start);
                    result = route.align(stages, span, options, scratch, &mut aligner);
                }
            });
        }
        let is_done = aligner.is_done();
        scratch.aligned = aligned;
        result.map(|fits| fits && is_done)
    }
}
