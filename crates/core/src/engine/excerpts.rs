//! Truncation that stops the work: a part of a text is encoded that is long enough for the ids that are kept, up to a cut
//! where the ids of the part are those that it has in the whole text.
//!
//! A cut is at an ASCII space between two letters or digits; in pipelines that keep the spaces of the text, at one after any
//! character that is no whitespace. It is safe because no stage looks across it: no added token has a space after another
//! character, the normalizer and the pre-tokenizer divide text at spaces whatever the neighbors are, and the model segments
//! single words.

use memchr::{memchr, memrchr};

use super::Input;
use crate::error::Error;
use crate::spec::Direction;
use crate::stages::added_tokens::AddedTokens;

/// The units of text that are encoded first for each id: more than those of an id of English. Tests begin with fewer, so that
/// parts end close to what is kept.
const UNITS_PER_ID: usize = if cfg!(test) { 1 } else { 6 };
/// The same for all ids together, as ids of few texts vary more.
const MIN_UNITS: usize = if cfg!(test) { 1 } else { 64 };

/// Encodes as much of each text as truncation keeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Excerpts<'t> {
    /// `None` if only lists of words are cut, between words.
    pub(super) cuts: Option<&'t Cuts>,
    /// The side that is cut off.
    pub(super) side: Direction,
    /// The number of ids with which the rest of a text does not matter.
    pub(super) enough: usize,
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

/// Call `encode` with a text, or with as much of it as an excerpt needs. Return the number of ids, and whether they are
/// those of the whole text.
pub(super) fn encode_excerpt<T: Text>(
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

/// Where the texts of a pipeline can be cut. The text before a cut can always be encoded alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cuts {
    /// Where the text after a cut begins; `None` if its ids depend on the text before it.
    rest: Option<RestStart>,
    /// The character after a cut may be any, and the one before it any that is visible.
    beside_any: bool,
}

/// Where the text after a cut begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RestStart {
    AtSpace,
    /// After the space: the pipeline adds a `▁` instead.
    AfterSpace,
}

impl Cuts {
    /// Return the cuts of stages that divide text at spaces; `None` if an added token crosses one.
    ///
    /// `beside_any`: the stages divide it at each space after a visible character. `keeps_spaces`: the normalizer adds no
    /// whitespace, so an added token of spaces only matches spaces of the raw text.
    pub(super) fn of(
        rest: Option<RestStart>,
        beside_any: bool,
        keeps_spaces: bool,
        added_tokens: &AddedTokens,
    ) -> Option<Self> {
        let keeps_rest = |rest: &RestStart| match rest {
            RestStart::AtSpace => !added_tokens.strip_right(),
            RestStart::AfterSpace => !added_tokens.strip_right() && !added_tokens.touch_spaces(),
        };
        let rest = rest.filter(keeps_rest);
        let any_spaces = !added_tokens.match_normalized_spaces();
        let beside_any = beside_any && rest.is_some() && any_spaces;
        let divide = added_tokens.divide_at_spaces() && (keeps_spaces || any_spaces);
        divide.then_some(Self { rest, beside_any })
    }

    /// Return whether the text before a cut can be dropped.
    pub(super) fn allow_rests(self) -> bool {
        self.rest.is_some()
    }

    /// Return the span of a part that remains if text is cut off at `side`: at least `units` units, up to the next cut. `None`
    /// if there is no cut.
    pub(super) fn span(self, text: impl Units, units: usize, side: Direction) -> Option<(usize, usize)> {
        match side {
            Direction::Right => Some((0, self.first(text, units)?)),
            Direction::Left => {
                let (_, rest) = self.last(text, text.len().checked_sub(units)?)?;
                Some((rest, text.len()))
            }
        }
    }

    /// Return the first cut at or after a unit.
    fn first(self, text: impl Units, mut from: usize) -> Option<usize> {
        loop {
            let space = text.first_space(from)?;
            if self.is_at(text, space) {
                return Some(space);
            }
            from = space + 1;
        }
    }

    /// Return the last cut before a unit, and where the text after it begins; `None` if that depends on the text before it.
    pub(super) fn last(self, text: impl Units, mut to: usize) -> Option<(usize, usize)> {
        loop {
            to = text.last_space(to)?;
            if self.is_at(text, to) {
                return Some((to, self.rest_at(to)?));
            }
        }
    }

    /// Return where the text after a cut begins; `None` if that depends on the text before it.
    fn rest_at(self, cut: usize) -> Option<usize> {
        Some(cut + usize::from(self.rest? == RestStart::AfterSpace))
    }

    /// Divide a text into parts of at least `least` bytes, except the last, whose ids together are the ids of the text; `None`
    /// if that depends on the text before each.
    pub(super) fn parts(self, text: &str, least: usize) -> Option<Vec<&str>> {
        let (mut parts, mut start) = (Vec::new(), self.rest_at(0).map(|_| 0)?);
        while let Some(cut) = self.first(text, start + least.max(1)) {
            parts.push(&text[start..cut]);
            start = self.rest_at(cut)?;
        }
        parts.push(&text[start..]);
        Some(parts)
    }

    /// Return whether a cut is at a space.
    fn is_at(self, text: impl Units, space: usize) -> bool {
        let (before, after) = text.neighbors(space);
        let is = |neighbor: Option<char>, class: fn(char) -> bool| neighbor.is_some_and(class);
        if self.beside_any {
            return is(before, |c| !c.is_whitespace() && !c.is_control());
        }
        is(before, char::is_alphanumeric) && is(after, char::is_alphanumeric)
    }
}

/// The units of a text: bytes of UTF-8, or code points.
pub(super) trait Units: Copy {
    /// Return the number of units.
    fn len(self) -> usize;

    /// Return the first space at or after a unit.
    fn first_space(self, from: usize) -> Option<usize>;

    /// Return the last space before a unit.
    fn last_space(self, to: usize) -> Option<usize>;

    /// Return the characters before and after a space.
    fn neighbors(self, space: usize) -> (Option<char>, Option<char>);
}

impl Units for &str {
    fn len(self) -> usize {
        self.len()
    }

    fn first_space(self, from: usize) -> Option<usize> {
        Some(from + memchr(b' ', self.as_bytes().get(from..)?)?)
    }

    fn last_space(self, to: usize) -> Option<usize> {
        memrchr(b' ', &self.as_bytes()[..to])
    }

    fn neighbors(self, space: usize) -> (Option<char>, Option<char>) {
        (self[..space].chars().next_back(), self[space + 1..].chars().next())
    }
}

impl<U: Copy + Into<u32>> Units for &[U] {
    fn len(self) -> usize {
        self.len()
    }

    fn first_space(self, from: usize) -> Option<usize> {
        Some(from + self.get(from..)?.iter().position(is_space)?)
    }

    fn last_space(self, to: usize) -> Option<usize> {
        self[..to].iter().rposition(is_space)
    }

    fn neighbors(self, space: usize) -> (Option<char>, Option<char>) {
        let char_of = |unit: &U| char::from_u32((*unit).into());
        (self[..space].last().and_then(char_of), self.get(space + 1).and_then(char_of))
    }
}

fn is_space<U: Copy + Into<u32>>(unit: &U) -> bool {
    (*unit).into() == u32::from(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    const AFTER: Cuts = Cuts { rest: Some(RestStart::AfterSpace), beside_any: false };
    const AT: Cuts = Cuts { rest: Some(RestStart::AtSpace), beside_any: false };
    const ANY: Cuts = Cuts { beside_any: true, ..AT };

    #[test]
    fn cuts_are_at_spaces_between_words() {
        let text = "a é, b  c\u{e9} \u{436}1 d ";
        let points: Vec<u32> = text.chars().map(u32::from).collect();
        let cut = |cuts: Cuts, units: usize, side| {
            cuts.span(text, units, side).map(|(start, end)| &text[start..end])
        };
        assert_eq!(cut(AT, 0, Direction::Right), Some("a"));
        assert_eq!(cut(AT, 2, Direction::Right), Some("a é, b  c\u{e9}"));
        assert_eq!(cut(AT, 17, Direction::Right), None);
        assert_eq!(cut(AT, 99, Direction::Right), None);
        assert_eq!(cut(AT, 0, Direction::Left), Some(" d "));
        assert_eq!(cut(AFTER, 2, Direction::Left), Some("d "));
        assert_eq!(cut(AFTER, 3, Direction::Left), Some("\u{436}1 d "));
        assert_eq!(cut(AT, 18, Direction::Left), None);
        assert_eq!(AT.parts("a b, c d", 1), Some(vec!["a", " b, c", " d"]));
        assert_eq!(AFTER.parts("a bb c", 2), Some(vec!["a bb", "c"]));
        assert_eq!(Cuts { rest: None, ..ANY }.parts("a b", 1), None);
        assert_eq!(cut(ANY, 3, Direction::Right), Some("a é,"));
        assert_eq!(cut(ANY, 0, Direction::Left), Some(" "));
        assert_eq!(cut(ANY, 8, Direction::Left), Some("  c\u{e9} \u{436}1 d "));
        for (units, side) in (0..20).flat_map(|units| [(units, Direction::Left), (units, Direction::Right)])
        {
            let span = AT.span(points.as_slice(), units, side);
            let bytes = |at: usize| text.chars().take(at).map(char::len_utf8).sum::<usize>();
            if let Some((start, end)) = span {
                assert!(end - start >= units);
                let part = &text[bytes(start)..bytes(end)];
                let units = part.len() - usize::from(side == Direction::Left);
                let again = AT.span(text, units, side).map(|(start, end)| &text[start..end]);
                assert_eq!(again, Some(part), "{units} {side:?}");
            }
        }
    }
}
