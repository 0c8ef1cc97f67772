//! One row: the ids or tokens of an input or a pair, truncated, framed by the post-processor and padded.

use super::checks::max_kept;
use super::definition;
use super::{Input, Options, Scratch, Tokenizer};
use crate::encoding::{self, Encoding, Token};
use crate::error::{Error, ErrorKind};
use crate::spec::{Direction, Padding, Truncation, TruncationStrategy};
use crate::stages::postprocess::{EdgeSpaces, Frame};

/// The most tokens that padding may make of one text and its overflowing windows.
const MAX_PADDED_IN_ALL: usize = 1 << 22;

impl Tokenizer {
    /// Append the ids of one input, the first (0) or second (1) of its row, before truncation and post-processing.
    pub fn ids_into(
        &self,
        input: Input<'_>,
        index: u32,
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        if options.sampling.is_some_and(|sampling| sampling.nbest.is_some()) {
            let tokens = self.sequence(input, index, options, scratch)?.tokens;
            out.extend(tokens.iter().map(|token| token.id));
            return Ok(());
        }
        let stages = self.stages();
        stages.model.begin(options.sampling, index.into(), &mut scratch.model)?;
        let Some(route) = self.route_for(options) else {
            return definition::ids(stages, input, options, scratch, out);
        };
        route.all_ids(stages, input, options, scratch, out)
    }

    /// Append the ids of one input or pair as `encode` returns them, and their type ids if wanted, without padding. Return
    /// the number of ids of an input without a pair before truncation.
    ///
    /// Of a pair, only as much is encoded as is kept.
    pub fn row_into(
        &self,
        input: Input<'_>,
        pair: Option<Input<'_>>,
        options: Options<'_>,
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
        mut type_ids: Option<&mut Vec<u8>>,
    ) -> Result<usize, Error> {
        let mut sequences = [std::mem::take(&mut scratch.first), std::mem::take(&mut scratch.second)];
        self.encode_pair(input, pair, false, options, |part, index| {
            let ids = &mut sequences[index];
            ids.clear();
            self.ids_into(part, index as u32, options, scratch, ids)?;
            Ok(ids.len())
        })?;
        let [mut first, mut second] = sequences;
        let count = first.len();
        let add_special_tokens = options.add_special_tokens;
        self.truncate(&mut first, pair.is_some().then_some(&mut second), add_special_tokens)?;
        let second_ids = pair.is_some().then_some(second.as_slice());
        self.stages().post_processor.frame_ids(&first, second_ids, add_special_tokens, |run, type_id| {
            ids.extend_from_slice(run);
            if let Some(type_ids) = &mut type_ids {
                type_ids.extend(std::iter::repeat_n(type_id as u8, run.len()));
            }
        });
        (scratch.first, scratch.second) = (first, second);
        Ok(count)
    }

    /// Return the ids around each row if cache misses of several rows can be segmented in one batch: every word has ids, and
    /// every row can be truncated.
    #[must_use]
    pub fn frame_of_rows(&self, options: Options<'_>) -> Option<&Frame> {
        let is_second = |truncation: &Truncation| truncation.strategy == TruncationStrategy::OnlySecond;
        let may_wait =
            !self.truncation.as_ref().is_some_and(is_second) && self.stages().model.never_fails();
        self.route_for(options).filter(|_| may_wait)?;
        self.stages().post_processor.frame_of_one(options.add_special_tokens)
    }

    /// Return the same if the ids of rows can be aligned by [`Tokenizer::aligned_row`].
    #[must_use]
    pub fn frame_of_aligned_rows(&self, options: Options<'_>) -> Option<&Frame> {
        self.aligning_route(options).filter(|_| self.truncation.is_none())?;
        self.frame_of_rows(options).filter(|frame| !frame.trims)
    }

    /// Append the ids of a row before truncation, except those of cache misses, which wait for [`Self::flush_rows`]. Only
    /// with the frame of [`Self::frame_of_rows`].
    pub fn append_row(
        &self,
        input: Input<'_>,
        frame: &Frame,
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        out.extend_from_slice(&frame.before);
        scratch.model.begin_unsampled();
        let result = match self.route_for(options) {
            Some(route) => route.ids(self.stages(), input, options, scratch, out),
            None => definition::ids(self.stages(), input, options, scratch, out),
        };
        out.extend_from_slice(&frame.after);
        scratch.words.misses.end_row();
        result
    }

    /// Segment the cache misses of the rows so far, before a row whose ids are appended without the queue of misses;
    /// [`Self::end_row`] follows it.
    pub fn flush_before_row(&self, scratch: &mut Scratch, out: &mut Vec<u32>) {
        if let Some(route) = self.route() {
            route.flush(self.stages(), scratch, out);
        }
    }

    /// Record the end of such a row.
    pub fn end_row(&self, scratch: &mut Scratch) {
        scratch.words.misses.end_row();
    }

    /// Segment the cache misses of all rows since the last call and splice their ids into the output. Return how far the
    /// end of each row has moved.
    pub fn flush_rows<'s>(
        &self,
        scratch: &'s mut Scratch,
        out: &mut Vec<u32>,
    ) -> impl Iterator<Item = usize> + 's {
        self.flush_before_row(scratch, out);
        scratch.words.misses.shifts()
    }

    /// Encode one input or pair with every field.
    pub fn encode(
        &self,
        input: Input<'_>,
        pair: Option<Input<'_>>,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Encoding, Error> {
        let sequences = self.sequences(input, pair, options, scratch)?;
        self.finished(sequences, options, scratch)
    }

    /// Encode one input with every field, without padding and without the windows that truncation cuts off.
    pub fn encode_kept(
        &self,
        input: Input<'_>,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Encoding, Error> {
        let mut tokens = Vec::new();
        self.encode_single(input, true, options, |part| {
            tokens.clear();
            self.row_tokens(part, None, options, scratch, |run| tokens.extend_from_slice(run))
        })?;
        Ok(Encoding::new(tokens))
    }

    /// Encode one input or pair with the windows that truncation cuts off, without padding.
    pub fn windows(
        &self,
        input: Input<'_>,
        pair: Option<Input<'_>>,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Encoding, Error> {
        let sequences = self.sequences(input, pair, options, scratch)?;
        let framed = self.truncated(sequences, options, scratch)?;
        self.padding.as_ref().map_or(Ok(0), |padding| padded_windows(&framed, padding))?;
        Ok(framed)
    }

    /// Emit the tokens of one input or pair, run by run, as [`Self::row_into`] appends their ids. Return the same number.
    pub fn row_tokens(
        &self,
        input: Input<'_>,
        pair: Option<Input<'_>>,
        options: Options<'_>,
        scratch: &mut Scratch,
        emit: impl FnMut(&[Token]),
    ) -> Result<usize, Error> {
        let mut sequences = vec![Vec::new(); 1 + usize::from(pair.is_some())];
        scratch.added_spaces.clear();
        self.encode_pair(input, pair, true, options, |part, index| {
            sequences[index] = self.sequence(part, index as u32, options, scratch)?.tokens;
            Ok(sequences[index].len())
        })?;
        let count = sequences[0].len();
        if let [first, rest @ ..] = sequences.as_mut_slice() {
            self.truncate(first, rest.first_mut(), options.add_special_tokens)?;
        }
        let spaces_of = |token: &Token| self.spaces_of(token, scratch);
        let post_processor = &self.stages().post_processor;
        post_processor.frame_tokens(&mut sequences, options.add_special_tokens, spaces_of, emit);
        Ok(count)
    }

    /// Return the input and its pair as tokens, before truncation and post-processing.
    fn sequences(
        &self,
        input: Input<'_>,
        pair: Option<Input<'_>>,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Vec<Encoding>, Error> {
        scratch.added_spaces.clear();
        let mut sequences = vec![self.sequence(input, 0, options, scratch)?];
        if let Some(pair) = pair {
            sequences.push(self.sequence(pair, 1, options, scratch)?);
        }
        Ok(sequences)
    }

    /// Return the tokens of one input, the first (0) or second (1) of its row.
    fn sequence(
        &self,
        input: Input<'_>,
        index: u32,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Encoding, Error> {
        self.stages().model.begin(options.sampling, index.into(), &mut scratch.model)?;
        if let Some((sampling, n)) = options.sampling.and_then(|sampling| Some((sampling, sampling.nbest?)))
        {
            return self.sample_of_best(input, index, options, (sampling, n), scratch);
        }
        let known_spaces = scratch.added_spaces.len();
        let aligned = self.aligned_tokens(input, index, options, scratch)?;
        let tokens = match aligned {
            Some(tokens) => tokens,
            None => {
                scratch.added_spaces.truncate(known_spaces);
                definition::tokens(self.stages(), input, index, options, scratch)?
            }
        };
        Ok(Encoding::new(tokens))
    }

    /// Truncate one or two sequences, frame and pad them.
    pub(super) fn finished(
        &self,
        sequences: Vec<Encoding>,
        options: Options<'_>,
        scratch: &Scratch,
    ) -> Result<Encoding, Error> {
        let mut framed = self.truncated(sequences, options, scratch)?;
        if let Some(padding) = &self.padding {
            framed.pad(padded_windows(&framed, padding)?, padding);
        }
        Ok(framed)
    }

    /// Truncate one or two sequences and frame them.
    fn truncated(
        &self,
        mut sequences: Vec<Encoding>,
        options: Options<'_>,
        scratch: &Scratch,
    ) -> Result<Encoding, Error> {
        if let Some(truncation) = &self.truncation {
            let max = self.max_kept(truncation, sequences.len() > 1, options.add_special_tokens)?;
            let (first, rest) = sequences.split_at_mut(1);
            encoding::truncate(&mut first[0], rest.first_mut(), max, truncation)?;
        }
        let spaces_of = |token: &Token| self.spaces_of(token, scratch);
        self.stages().post_processor.frame(sequences, options.add_special_tokens, spaces_of)
    }

    /// Truncate the items of one or two sequences.
    fn truncate<T>(
        &self,
        first: &mut Vec<T>,
        second: Option<&mut Vec<T>>,
        add_special_tokens: bool,
    ) -> Result<(), Error> {
        let Some(truncation) = &self.truncation else { return Ok(()) };
        let max = self.max_kept(truncation, second.is_some(), add_special_tokens)?;
        let second_len = second.as_ref().map(|row| row.len());
        let kept = encoding::kept_lengths(first.len(), second_len, max, truncation.strategy)
            .ok_or_else(|| encoding::too_short(truncation))?;
        truncate_to(first, kept.0, truncation);
        if let Some(second) = second {
            truncate_to(second, kept.1, truncation);
        }
        Ok(())
    }

    /// Return how many tokens of the text fit beside those that the post-processor inserts.
    pub(super) fn max_kept(
        &self,
        truncation: &Truncation,
        is_pair: bool,
        add_special_tokens: bool,
    ) -> Result<usize, Error> {
        let inserted = add_special_tokens.then(|| self.stages().post_processor.inserted(is_pair));
        max_kept(truncation, inserted.unwrap_or(0))
    }

    /// Return the spaces at both ends of a token: of the text that an added token was found in, or of the entry of the
    /// model.
    fn spaces_of(&self, token: &Token, scratch: &Scratch) -> EdgeSpaces {
        let of_added = scratch.added_spaces.get(token.spaces as usize);
        let of_entry = || EdgeSpaces::of(self.stages().vocab.token_of(token.id).unwrap_or_default());
        of_added.copied().unwrap_or_else(of_entry)
    }
}

fn truncate_to<T>(row: &mut Vec<T>, kept: usize, truncation: &Truncation) {
    match truncation.direction {
        Direction::Right => row.truncate(kept),
        Direction::Left => drop(row.drain(..row.len() - kept)),
    }
}

/// Return the length that padding gives a row; fails if its windows would then take too much memory.
fn padded_windows(framed: &Encoding, padding: &Padding) -> Result<usize, Error> {
    let length = encoding::padded_length(framed.tokens.len(), padding);
    let windows = 1 + framed.overflowing.len();
    if windows > 1 && length.saturating_mul(windows) > MAX_PADDED_IN_ALL {
        let found = format!("{windows} windows of {length} tokens");
        let expected = format!("at most {MAX_PADDED_IN_ALL} tokens in all");
        return Err(Error::new(ErrorKind::Argument, "padding", found, expected));
    }
    Ok(length)
}
