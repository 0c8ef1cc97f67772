//! What one text shows: its first stages alone, and columns of an encoding that need its texts, which are offsets in other
//! units and the text of unknown tokens.

use std::collections::hash_map::Entry;

use foldhash::{HashMap, HashMapExt};

use crate::encoding::{Token, NONE};
use crate::engine::{Input, Scratch, Tokenizer};
use crate::error::Error;
use crate::interrupt;
use crate::spec::Direction;
use crate::text::{units_before_chars, CharIndex, PreTokenizedText};

/// Return the span of each token in other units of its text, given the units of a character; (0, 0) for template
/// tokens.
pub fn offsets_in(
    tokens: &[Token],
    texts: &[Input<'_>],
    units: impl Fn(char) -> usize,
) -> Vec<(usize, usize)> {
    let counts_of = |input: &Input<'_>| -> Vec<Vec<usize>> {
        input.texts().map(|text| units_before_chars(text, &units)).collect()
    };
    let counts: Vec<_> = texts.iter().map(counts_of).collect();
    let offsets = |token: &Token| {
        let sequence = token.sequence as usize;
        let counts = counts.get(sequence)?.get(text_index(texts[sequence], token))?;
        let count = |char: u32| counts.get(char as usize).copied().unwrap_or_default();
        Some((count(token.start), count(token.end)))
    };
    tokens.iter().map(|token| offsets(token).unwrap_or_default()).collect()
}

/// Return the index of the text that the offsets of a token refer to.
fn text_index(input: Input<'_>, token: &Token) -> usize {
    match input {
        Input::Words(_) if token.word != NONE => token.word as usize,
        _ => 0,
    }
}

impl Tokenizer {
    /// Return the normalized text of each unknown token; `None` for other tokens, and if it is empty.
    ///
    /// Each text that has an unknown token is segmented again, as [`Self::pieces`] does.
    pub fn texts_of_unknown(
        &self,
        tokens: &[Token],
        texts: &[Input<'_>],
        scratch: &mut Scratch,
    ) -> Result<Vec<Option<String>>, Error> {
        let is_unknown = |token: &Token| Some(token.id) == self.unk_id();
        let truncates_left =
            self.truncation().is_some_and(|truncation| truncation.direction == Direction::Left);
        let mut numbers = PieceNumbers::of(tokens, texts, is_unknown, truncates_left);
        let mut found = HashMap::new();
        let mut text_of = |token: &Token| {
            let span = TextSpan::of(token, texts).filter(|_| is_unknown(token));
            let Some(span) = span else { return Ok(None) };
            let text = texts[span.sequence].texts().nth(span.index).unwrap_or_default();
            let by_span = match found.entry((span.sequence, span.index)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(free) => free.insert(self.unknown_pieces(text, scratch)?),
            };
            let pieces = by_span.get(&(token.start, token.end)).map_or(&[][..], Vec::as_slice);
            // Beside an added token the whole text can have other pieces.
            let piece = numbers.next(span, pieces.len()).map(|number| pieces[number].clone());
            let (start, len) = (token.start as usize, token.end.saturating_sub(token.start) as usize);
            let shown = piece.unwrap_or_else(|| text.chars().skip(start).take(len).collect());
            Ok(Some(shown).filter(|shown| !shown.is_empty()))
        };
        tokens.iter().map(&mut text_of).collect()
    }

    /// Return the normalized texts of the unknown pieces of a text by their characters. One character can become several
    /// pieces.
    fn unknown_pieces(
        &self,
        text: &str,
        scratch: &mut Scratch,
    ) -> Result<HashMap<(u32, u32), Vec<String>>, Error> {
        let mut by_span: HashMap<(u32, u32), Vec<String>> = HashMap::new();
        for (id, piece, span) in self.pieces(text, None, scratch)? {
            if Some(id) == self.unk_id() {
                by_span.entry(span).or_default().push(piece);
            }
        }
        Ok(by_span)
    }
}

/// The characters of a token in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct TextSpan {
    sequence: usize,
    index: usize,
    start: u32,
    end: u32,
}

impl TextSpan {
    /// Return the span of a token; `None` if it is of no text.
    fn of(token: &Token, texts: &[Input<'_>]) -> Option<Self> {
        let sequence = token.sequence as usize;
        let index = text_index(*texts.get(sequence)?, token);
        Some(Self { sequence, index, start: token.start, end: token.end })
    }
}

/// Counts the unknown tokens of each span: a character can become several pieces, and truncation can leave some of them.
struct PieceNumbers {
    /// The unknown tokens of each span, and those that were numbered.
    counts: HashMap<TextSpan, (usize, usize)>,
    /// The span of each text whose first pieces may be cut off.
    cut_before: Vec<TextSpan>,
}

impl PieceNumbers {
    fn of(
        tokens: &[Token],
        texts: &[Input<'_>],
        is_unknown: impl Fn(&Token) -> bool,
        truncates_left: bool,
    ) -> Self {
        let span_of = |token| TextSpan::of(token, texts);
        let mut counts: HashMap<TextSpan, (usize, usize)> = HashMap::new();
        let unknown = tokens.iter().filter(|token| is_unknown(token)).filter_map(span_of);
        unknown.for_each(|span| counts.entry(span).or_default().0 += 1);
        let first_if_cut = |sequence: usize| {
            let spans = tokens.iter().filter_map(span_of);
            let mut own = spans.filter(|span| span.sequence == sequence);
            let first = own.next()?;
            let is_last = own.next_back().is_none_or(|last| last == first);
            (truncates_left || !is_last).then_some(first)
        };
        Self { counts, cut_before: (0..texts.len()).filter_map(first_if_cut).collect() }
    }

    /// Return which of the `pieces` of a span its next token is; `None` if there are more tokens than pieces.
    fn next(&mut self, span: TextSpan, pieces: usize) -> Option<usize> {
        let (count, numbered) = self.counts.get_mut(&span)?;
        let left_out = pieces.checked_sub(*count)?;
        *numbered += 1;
        Some(if self.cut_before.contains(&span) { left_out } else { 0 } + *numbered - 1)
    }
}

/// A word, and its characters in the original text.
pub type SpannedWord = (String, (u32, u32));

impl Tokenizer {
    /// Normalize a text.
    pub fn normalize(&self, text: &str) -> Result<String, Error> {
        let mut normalized = String::new();
        self.splitter().normalizer().run(text, 0, &mut normalized)?;
        Ok(normalized)
    }

    /// Normalize a text. Also return, for the start of each normalized character and for the end, the
    /// character offset in the original.
    pub fn normalize_with_offsets(
        &self,
        text: &str,
        scratch: &mut Scratch,
    ) -> Result<(String, Vec<u32>), Error> {
        let normalized = &mut scratch.split.words.text;
        normalized.clear();
        self.splitter().normalizer().run(text, 0, normalized)?;
        let chars = normalized.text().char_indices();
        let mut offsets: Vec<u32> =
            chars.map(|(at, c)| normalized.source_of(at, at + c.len_utf8()).0).collect();
        offsets.extend(match normalized.text().len() {
            0 => self.splitter().normalizer().end_of_empty(text).map(|at| at as u32),
            end => Some(normalized.source_of(end - 1, end).1),
        });
        let index = CharIndex::new(text);
        offsets.iter_mut().for_each(|offset| *offset = index.chars_before(*offset));
        Ok((normalized.text().to_owned(), offsets))
    }

    /// Normalize and split a text; return words with their characters in the original text.
    pub fn pre_tokenize(&self, text: &str) -> Result<Vec<SpannedWord>, Error> {
        let mut words = PreTokenizedText::default();
        self.splitter().pre_tokenize(text, 0, &mut words)?;
        let chars = CharIndex::new(text);
        let word = |&(start, end): &(usize, usize)| {
            interrupt::check(1);
            let span = chars.span_of(words.text.source_of(start, end));
            (words.text.text()[start..end].to_owned(), span)
        };
        Ok(words.spans.iter().map(word).collect())
    }
}
