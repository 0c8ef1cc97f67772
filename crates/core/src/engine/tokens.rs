//! One input or pair with every field: tokens, truncated, framed by the post-processor and padded.

use super::checks::max_kept;
use super::definition;
use super::excerpts::{encode_excerpt, Excerpts, Text};
use super::{Input, Options, Scratch, Tokenizer};
use crate::encoding::{self, Encoding, Token};
use crate::error::{Error, ErrorKind};
use crate::spec::{Direction, Padding, Truncation, TruncationStrategy};
use crate::stages::postprocess::EdgeSpaces;

/// The most tokens that padding may make of one text and its overflowing windows.
const MAX_PADDED_IN_ALL: usize = 1 << 22;

impl Tokenizer {
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
    pub(super) fn windows(
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

    /// Emit the tokens of one input or pair, run by run, without padding. Return the number of tokens of an input without a
    /// pair before truncation.
    ///
    /// Encode only as much of a pair as is kept.
    pub(super) fn row_tokens(
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
    pub(super) fn sequence(
        &self,
        input: Input<'_>,
        index: u32,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Encoding, Error> {
        self.stages().model.begin(options.sampling, index.into(), &mut scratch.model)?;
        if let Some((sampling, n)) = options.sampling.and_then(|sampling| Some((sampling, sampling.nbest?)))
        {
            return self.sample_of_best(input, index, options, sampling, n, scratch);
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
    pub(super) fn truncate<T>(
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

    /// Call `encode` with as much of a text as truncation keeps; it returns the number of ids before truncation. The last
    /// call decides.
    ///
    /// Offsets and words are counted from the beginning of a text: `with_words`, only its end can be cut off.
    pub(super) fn encode_single<T: Text>(
        &self,
        text: T,
        with_words: bool,
        options: Options<'_>,
        encode: impl FnMut(T) -> Result<usize, Error>,
    ) -> Result<(), Error> {
        encode_excerpt(self.excerpts(false, with_words, options), text, encode).map(|_| ())
    }

    /// Do the same with an input and its pair, and with 0 or 1. An input without a pair is encoded whole.
    pub(super) fn encode_pair(
        &self,
        input: Input<'_>,
        pair: Option<Input<'_>>,
        with_words: bool,
        options: Options<'_>,
        mut encode: impl FnMut(Input<'_>, usize) -> Result<usize, Error>,
    ) -> Result<(), Error> {
        let Some(pair) = pair else { return encode(input, 0).map(|_| ()) };
        let excerpts = self.excerpts(true, with_words, options);
        let (first, is_first_whole) = encode_excerpt(excerpts, input, |part| encode(part, 0))?;
        let (second, is_second_whole) = encode_excerpt(excerpts, pair, |part| encode(part, 1))?;
        let are_long = excerpts.is_some_and(|excerpts| first.min(second) >= excerpts.enough);
        if are_long && self.compares_lengths(options) {
            if !is_first_whole {
                encode(input, 0)?;
            }
            if !is_second_whole {
                encode(pair, 1)?;
            }
        }
        Ok(())
    }

    /// Return whether two texts that are both longer than `max` keep an odd number of ids: the longer one gets one more.
    fn compares_lengths(&self, options: Options<'_>) -> bool {
        self.truncation().is_some_and(|truncation| {
            truncation.strategy == TruncationStrategy::LongestFirst
                && self.max_kept(truncation, true, options.add_special_tokens).is_ok_and(|max| max % 2 == 1)
        })
    }

    /// Return how texts are cut; `None` if they are encoded whole.
    ///
    /// A model without an unknown token reports unknown characters anywhere in a text.
    pub(super) fn excerpts(
        &self,
        is_pair: bool,
        with_words: bool,
        options: Options<'_>,
    ) -> Option<Excerpts<'_>> {
        let truncation = self.truncation()?;
        let side = truncation.direction;
        let is_whole = options.parse_special.is_positional()
            || !self.stages().model.never_fails()
            || with_words && side == Direction::Left;
        self.route_for(options).filter(|_| !is_whole)?;
        let max = self.max_kept(truncation, is_pair, options.add_special_tokens).ok()?;
        // One id more than are kept shows that a text of a pair is cut off, or that one without a pair cannot be.
        let shows_more = is_pair || truncation.strategy == TruncationStrategy::OnlySecond;
        let enough = max + usize::from(shows_more);
        let cuts = self.cuts().filter(|cuts| side == Direction::Right || cuts.allow_rests());
        Some(Excerpts { cuts, side, enough })
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
