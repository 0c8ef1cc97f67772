//! Special tokens: raw text in, pieces of plain text and whole tokens out.
//!
//! Leftmost-longest matches by one Aho-Corasick automaton (Aho & Corasick 1975), linear in the text.

use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{Error, ErrorKind};
use crate::spec::AddedToken;
use crate::text::{class_of, Class};

/// The compiled set of added tokens.
#[derive(Clone, Debug)]
pub struct SpecialTokens {
    tokens: Vec<AddedToken>,
    skipped_by_decoding: FxHashSet<u32>,
    matcher: Option<AhoCorasick>,
}

/// A stretch of the raw text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Ordinary text, a byte span.
    Text(usize, usize),
    /// An added token: its id and the byte span it covers.
    Token(u32, usize, usize),
}

impl SpecialTokens {
    /// Compile added tokens; two with the same content are an error.
    pub fn compile(tokens: &[AddedToken]) -> Result<Self, Error> {
        let mut first_with = FxHashMap::default();
        for (at, token) in tokens.iter().enumerate() {
            check(token, at)?;
            if let Some(first) = first_with.insert(token.content.as_str(), at) {
                let found = format!("{:?}, which added_tokens[{first}] has too", token.content);
                let place = format!("added_tokens[{at}].content");
                return Err(Error::new(ErrorKind::Vocabulary, place, found, "each content once"));
            }
        }
        let matcher = (!tokens.is_empty()).then(|| automaton(tokens)).transpose()?;
        let special = tokens.iter().filter(|token| token.special);
        let skipped_by_decoding = special.map(|token| token.id).collect();
        Ok(Self { tokens: tokens.to_vec(), skipped_by_decoding, matcher })
    }

    /// Whether a token with this id is skipped by decoding.
    #[must_use]
    pub fn is_special(&self, id: u32) -> bool {
        self.skipped_by_decoding.contains(&id)
    }

    /// The added tokens, as given.
    #[must_use]
    pub fn tokens(&self) -> &[AddedToken] {
        &self.tokens
    }

    /// Cut a text into ordinary stretches and added tokens, in order; empty stretches are left out.
    pub fn split(&self, text: &str, mut emit: impl FnMut(Segment)) {
        let mut done = 0;
        for found in self.matcher.iter().flat_map(|matcher| matcher.find_iter(text)) {
            let token = &self.tokens[found.pattern().as_usize()];
            if token.single_word && touches_word(text, found.start(), found.end()) {
                continue;
            }
            let (start, end) = with_stripped_space(token, text, done, found.start(), found.end());
            if done < start {
                emit(Segment::Text(done, start));
            }
            emit(Segment::Token(token.id, start, end));
            done = end;
        }
        if done < text.len() {
            emit(Segment::Text(done, text.len()));
        }
    }
}

fn check(token: &AddedToken, at: usize) -> Result<(), Error> {
    if token.content.is_empty() {
        let place = format!("added_tokens[{at}].content");
        return Err(Error::new(ErrorKind::Format, place, "an empty string", "a token"));
    }
    if token.normalized {
        let place = format!("added_tokens[{at}].normalized");
        return Err(Error::new(ErrorKind::Format, place, "true", "false: only raw text is searched"));
    }
    Ok(())
}

fn automaton(tokens: &[AddedToken]) -> Result<AhoCorasick, Error> {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(tokens.iter().map(|token| token.content.as_bytes()))
        .map_err(|error| {
            Error::new(ErrorKind::Format, "added_tokens", error.to_string(), "fewer or shorter tokens")
        })
}

fn touches_word(text: &str, start: usize, end: usize) -> bool {
    text[..start].chars().next_back().is_some_and(is_word_char)
        || text[end..].chars().next().is_some_and(is_word_char)
}

/// What `\w` matches: letters, digits, marks and connector punctuation.
fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || class_of(c).has(Class::NONSPACING_MARK)
}

fn with_stripped_space(
    token: &AddedToken,
    text: &str,
    done: usize,
    start: usize,
    end: usize,
) -> (usize, usize) {
    let mut span = (start, end);
    if token.lstrip {
        span.0 = text[..start].trim_end().len().max(done);
    }
    if token.rstrip {
        span.1 = text.len() - text[end..].trim_start().len();
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(content: &str, id: u32) -> AddedToken {
        AddedToken {
            id,
            content: content.into(),
            single_word: false,
            lstrip: false,
            rstrip: false,
            normalized: false,
            special: true,
        }
    }

    fn split(tokens: &[AddedToken], text: &str) -> Vec<Segment> {
        let mut segments = Vec::new();
        SpecialTokens::compile(tokens).unwrap().split(text, |segment| segments.push(segment));
        segments
    }

    #[test]
    fn takes_the_leftmost_longest() {
        let tokens = [token("[A]", 1), token("[A][B]", 2)];
        assert_eq!(split(&tokens, "x[A][B]"), [Segment::Text(0, 1), Segment::Token(2, 1, 7)]);
    }

    #[test]
    fn strips_space_and_respects_words() {
        let stripping = AddedToken { lstrip: true, rstrip: true, ..token("<m>", 1) };
        assert_eq!(
            split(&[stripping], "a <m> b"),
            [Segment::Text(0, 1), Segment::Token(1, 1, 6), Segment::Text(6, 7)]
        );
        let whole = AddedToken { single_word: true, ..token("ab", 1) };
        assert_eq!(split(&[whole], "abc"), [Segment::Text(0, 3)]);
    }
}
