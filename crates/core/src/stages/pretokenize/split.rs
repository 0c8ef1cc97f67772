//! The five behaviours of a split, in one pass over the matches.

use crate::spec::SplitBehavior;

/// Turns matches, from left to right, into words.
pub(super) struct MatchSplitter<'e> {
    behavior: SplitBehavior,
    /// Treats the text between matches as the matches.
    invert: bool,
    /// The end of the last match.
    at: usize,
    /// A word that may still grow.
    pending: Option<(usize, usize)>,
    last_is_match: bool,
    emit: &'e mut dyn FnMut(usize, usize),
}

impl<'e> MatchSplitter<'e> {
    pub(super) fn new(
        behavior: SplitBehavior,
        invert: bool,
        emit: &'e mut dyn FnMut(usize, usize),
    ) -> Self {
        Self { behavior, invert, at: 0, pending: None, last_is_match: false, emit }
    }

    /// Add the next match, which may be empty.
    #[inline]
    pub(super) fn matched(&mut self, start: usize, end: usize) {
        if self.at != start {
            self.part(self.at, start, self.invert);
        }
        self.part(start, end, !self.invert);
        self.at = end;
    }

    /// End the text.
    pub(super) fn finish(mut self, len: usize) {
        if self.at != len {
            self.part(self.at, len, self.invert);
        }
        self.release();
    }

    fn part(&mut self, start: usize, end: usize, is_match: bool) {
        let extends_pending = match self.behavior {
            SplitBehavior::Removed if is_match => return,
            SplitBehavior::Removed | SplitBehavior::Isolated => return (self.emit)(start, end),
            SplitBehavior::Contiguous => is_match == self.last_is_match,
            SplitBehavior::MergedWithPrevious => is_match && !self.last_is_match,
            SplitBehavior::MergedWithNext => !is_match && self.last_is_match,
        };
        self.last_is_match = is_match;
        match &mut self.pending {
            Some(pending) if extends_pending => pending.1 = end,
            _ => {
                self.release();
                self.pending = Some((start, end));
            }
        }
    }

    fn release(&mut self) {
        if let Some((start, end)) = self.pending.take() {
            (self.emit)(start, end);
        }
    }
}

/// Split a text at the characters for which `is_match` holds.
pub(super) fn split_at_chars(
    text: &str,
    behavior: SplitBehavior,
    emit: &mut dyn FnMut(usize, usize),
    is_match: impl Fn(char) -> bool,
) {
    let mut splitter = MatchSplitter::new(behavior, false, emit);
    for (at, c) in text.char_indices() {
        if is_match(c) {
            splitter.matched(at, at + c.len_utf8());
        }
    }
    splitter.finish(text.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, behavior: SplitBehavior) -> Vec<&str> {
        let mut words = Vec::new();
        split_at_chars(text, behavior, &mut |start, end| words.push(&text[start..end]), |c| c == '-');
        words
    }

    #[test]
    fn each_behavior_places_the_matches() {
        let text = "the-final--countdown-";
        assert_eq!(words(text, SplitBehavior::Removed), ["the", "final", "countdown"]);
        assert_eq!(words(text, SplitBehavior::Isolated), ["the", "-", "final", "-", "-", "countdown", "-"]);
        assert_eq!(words(text, SplitBehavior::MergedWithPrevious), ["the-", "final-", "-", "countdown-"]);
        assert_eq!(words(text, SplitBehavior::MergedWithNext), ["the", "-final", "-", "-countdown", "-"]);
        assert_eq!(words(text, SplitBehavior::Contiguous), ["the", "-", "final", "--", "countdown", "-"]);
        assert_eq!(words("--a", SplitBehavior::MergedWithPrevious), ["-", "-", "a"]);
        assert_eq!(words("--a", SplitBehavior::Contiguous), ["--", "a"]);
    }
}
