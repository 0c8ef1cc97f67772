//! Truncation that stops the work: a part of a text is encoded that is long enough for the ids that are kept.

use super::cuts::Cuts;
use super::{Input, Options, Tokenizer};
use crate::error::Error;
use crate::spec::{Direction, TruncationStrategy};

/// The units of text that are encoded first for each id: more than those of an id of English. Tests begin with fewer, so that
/// parts end close to what is kept.
const UNITS_PER_ID: usize = if cfg!(test) { 1 } else { 6 };
/// The same for all ids together, as ids of few texts vary more.
const MIN_UNITS: usize = if cfg!(test) { 1 } else { 64 };

/// Encodes as much of each text as truncation keeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Excerpts<'t> {
    /// `None` if only lists of words are cut, between words.
    cuts: Option<&'t Cuts>,
    /// The side that is cut off.
    side: Direction,
    /// The number of ids with which the rest of a text does not matter.
    enough: usize,
}

/// A text in any form.
pub(super) trait Text: Copy {
    /// Return the number of units.
    fn units(self) -> usize;

    /// Return whether the text is well-formed.
    fn is_valid(self) -> bool {
        true
    }

    /// Return a part of at least `units` units that has the same ids as in the text; `None` if there is none.
    fn part(self, cuts: Option<&Cuts>, units: usize, side: Direction) -> Option<Self>;
}

impl Excerpts<'_> {
    /// Return the number of units of a text that are encoded at first; all of them if that is not much less.
    pub(super) fn first_units(&self, text: impl Text) -> usize {
        let units = MIN_UNITS + UNITS_PER_ID * self.enough;
        if units > text.units() / 5 * 4 {
            text.units()
        } else {
            units
        }
    }

    /// Return whether a part of a text is encoded at first.
    pub(super) fn shorten(&self, text: impl Text) -> bool {
        self.first_units(text) < text.units()
    }

    /// Call `encode` with a part of a text, and with more of it until it returns enough ids. Return their number, and
    /// whether that was the whole text.
    ///
    /// If a part fails, the whole text decides: limits of resources depend on its length.
    pub(super) fn encode<T: Text>(
        &self,
        text: T,
        mut encode: impl FnMut(T) -> Result<usize, Error>,
    ) -> Result<(usize, bool), Error> {
        let (all, mut units) = (text.units(), self.first_units(text));
        while units < all / 5 * 4 && text.is_valid() {
            let Some(part) = text.part(self.cuts, units, self.side) else { break };
            let Ok(ids) = encode(part) else { break };
            if ids >= self.enough {
                return Ok((ids, false));
            }
            // The measured units for each id, and a fourth more; at least twice as many units.
            units = (units * 2).max(units.saturating_mul(self.enough) / ids.max(1) / 4 * 5);
        }
        encode(text).map(|ids| (ids, true))
    }
}

impl Tokenizer {
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

/// Call `encode` with a text, or with as much of it as an excerpt needs. Return the number of ids, and whether they are
/// those of the whole text.
fn encode_excerpt<T: Text>(
    excerpts: Option<Excerpts<'_>>,
    text: T,
    mut encode: impl FnMut(T) -> Result<usize, Error>,
) -> Result<(usize, bool), Error> {
    match excerpts {
        Some(excerpts) => excerpts.encode(text, encode),
        None => encode(text).map(|ids| (ids, true)),
    }
}

impl Text for Input<'_> {
    fn units(self) -> usize {
        self.bytes()
    }

    fn part(self, cuts: Option<&Cuts>, units: usize, side: Direction) -> Option<Self> {
        match self {
            Self::Text(text) => {
                let (start, end) = cuts?.span(text, units, side)?;
                Some(Self::Text(&text[start..end]))
            }
            Self::Words(words) => {
                let sizes = words.iter().map(|word| word.len());
                Some(Self::Words(match side {
                    Direction::Right => &words[..count_of(sizes, units)],
                    Direction::Left => &words[words.len() - count_of(sizes.rev(), units)..],
                }))
            }
        }
    }
}

/// Return how many of some words have at least `units` units together.
fn count_of(sizes: impl Iterator<Item = usize>, units: usize) -> usize {
    let mut ends = sizes.scan(0, |end, size| {
        *end += size;
        Some(*end)
    });
    1 + ends.by_ref().take_while(|&end| end < units).count()
}
