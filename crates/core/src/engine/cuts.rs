//! Where a text can be cut so that the ids of a part are those that it has in the whole text.
//!
//! A cut is at an ASCII space between two letters or digits. It is safe because no stage looks across it: no added token
//! has a space after another character, the normalizer and the pre-tokenizer divide text at spaces whatever the
//! neighbors are, and the model segments single words.

use memchr::{memchr, memrchr};

use crate::spec::Direction;
use crate::stages::added_tokens::AddedTokens;

/// Where the texts of a pipeline can be cut. The text before a cut can always be encoded by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cuts {
    /// Where the text after a cut begins; `None` if its ids depend on the text before it.
    rest: Option<RestStart>,
}

/// Where the text after a cut begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RestStart {
    AtSpace,
    /// After the space, in place of which the pipeline adds a `▁`.
    AfterSpace,
}

impl Cuts {
    /// Return the cuts of stages that divide text at spaces; `None` if an added token crosses one.
    pub(super) fn of(rest: Option<RestStart>, added_tokens: &AddedTokens) -> Option<Self> {
        let rest = rest.filter(|_| !added_tokens.strip_right());
        added_tokens.divide_at_spaces().then_some(Self { rest })
    }

    /// Return whether the text before a cut can be dropped.
    pub(super) fn allow_rests(self) -> bool {
        self.rest.is_some()
    }

    /// Return the span of a part that remains if text is cut off at `side`: at least `units` units, up to the next cut. `None`
    /// if there is no cut.
    pub(super) fn span(self, text: impl Units, units: usize, side: Direction) -> Option<(usize, usize)> {
        match side {
            Direction::Right => Some((0, first_cut(text, units)?)),
            Direction::Left => {
                let cut = last_cut(text, text.len().checked_sub(units)?)?;
                Some((cut + usize::from(self.rest? == RestStart::AfterSpace), text.len()))
            }
        }
    }
}

/// Return the first cut at or after a unit.
fn first_cut(text: impl Units, mut from: usize) -> Option<usize> {
    loop {
        let space = text.first_space(from)?;
        if text.has_words_around(space) {
            return Some(space);
        }
        from = space + 1;
    }
}

/// Return the last cut before a unit.
fn last_cut(text: impl Units, mut to: usize) -> Option<usize> {
    loop {
        to = text.last_space(to)?;
        if text.has_words_around(to) {
            return Some(to);
        }
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

    /// Return whether letters or digits are on both sides of a space.
    fn has_words_around(self, space: usize) -> bool;
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

    fn has_words_around(self, space: usize) -> bool {
        are_words(self[..space].chars().next_back(), self[space + 1..].chars().next())
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

    fn has_words_around(self, space: usize) -> bool {
        let char_of = |unit: &U| char::from_u32((*unit).into());
        are_words(self[..space].last().and_then(char_of), self.get(space + 1).and_then(char_of))
    }
}

fn is_space<U: Copy + Into<u32>>(unit: &U) -> bool {
    (*unit).into() == u32::from(' ')
}

fn are_words(before: Option<char>, after: Option<char>) -> bool {
    before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AFTER: Cuts = Cuts { rest: Some(RestStart::AfterSpace) };
    const AT: Cuts = Cuts { rest: Some(RestStart::AtSpace) };

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
