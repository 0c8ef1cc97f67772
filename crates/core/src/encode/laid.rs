//! Tokens with the characters behind them: the ids as they are made when nothing else is asked for, then laid along the
//! words of the text by what each of them covers.

use std::iter::Zip;
use std::slice::{Iter, IterMut};
use std::sync::OnceLock;

use piecework_unicode::char_count;

use super::tokens::{Swallowed, WordNumber};
use super::{Input, Options, Scratch, Tokenizer};
use crate::added_tokens::Segment;
use crate::encoding::Token;
use crate::error::Error;
use crate::model::Piece;
use crate::spec::{BpeSpec, ModelSpec, UnknownUnit, WordPieceSpec};
use crate::vocab::Vocab;

/// Where the tokens of an input come from; one item a token.
#[derive(Clone, Debug, Default)]
pub(super) struct Laid {
    /// The first character and the one after the last.
    offsets: Vec<[u32; 2]>,
    /// The number of the word.
    words: Vec<u32>,
}

/// How many bytes of a normalized word an entry covers, and where in it, by its id. Made at first use.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths(OnceLock<Vec<u16>>);

/// Set in the length of an entry that words begin with,
const FIRST: u16 = 1 << 15;
/// and of one that comes later in them.
const LATER: u16 = 1 << 14;
const LENGTH: u16 = LATER - 1;

impl Tokenizer {
    /// Whether there is a way to lay ids along words.
    pub(super) fn is_laid(&self, options: Options<'_>) -> bool {
        self.stretches(options).is_some() || self.spells_text(options)
    }

    /// Append the tokens of an input; false where its ids do not tell how they cover it.
    pub(super) fn laid_tokens(
        &self,
        input: Input<'_>,
        index: u32,
        options: Options<'_>,
        scratch: &mut Scratch,
        tokens: &mut Vec<Token>,
    ) -> Result<bool, Error> {
        let mut ids = std::mem::take(&mut scratch.unlaid);
        ids.clear();
        let held = self.hold_into(input, options, scratch, &mut ids).unwrap_or(Ok(()));
        self.settle(scratch, &mut ids);
        let made = held.and_then(|()| scratch.model.check());
        let laid = made.and_then(|()| self.lay(input, index, &ids, options, scratch));
        if let Ok(true) = laid {
            let (offsets, words) = scratch.laid.columns();
            let spans = ids.iter().zip(offsets).zip(words);
            tokens.extend(spans.map(|((&id, &chars), &word)| Token::of_word(id, chars, word, index)));
        }
        scratch.unlaid = ids;
        laid
    }

    /// Lay the ids of an input along its words, into the scratch; false where they do not tell how they cover it.
    pub(super) fn lay(
        &self,
        input: Input<'_>,
        index: u32,
        ids: &[u32],
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<bool, Error> {
        let mut laid = std::mem::take(&mut scratch.laid);
        let mut line = Line::new(self.lengths(), ids, &mut laid);
        let mut result = Ok(true);
        for (number, text) in input.texts().enumerate() {
            line.begin_text(WordNumber::of(input, number));
            self.tables.special.split_raw(text, options.parse_special, |segment| match segment {
                _ if !matches!(result, Ok(true)) => {}
                Segment::Token(id, start, end) => {
                    let found = (&text[start..end], start);
                    result = Ok(self.lay_token(id, found, index, &mut scratch.swallowed, &mut line));
                }
                Segment::Text(start, end) => {
                    let segment = (&text[start..end], start);
                    result = match self.stretches(options) {
                        Some(stretches) => self.lay_stretches(stretches, segment, scratch, &mut line),
                        None => self.lay_spelled(segment, index, options, scratch, &mut line),
                    };
                }
            });
        }
        let is_whole = line.is_done();
        scratch.laid = laid;
        result.map(|fits| fits && is_whole)
    }

    /// Lay the id of a token that was found whole, at a byte of the text.
    pub(super) fn lay_token(
        &self,
        id: u32,
        (found, at): (&str, usize),
        index: u32,
        swallowed: &mut Swallowed,
        line: &mut Line<'_>,
    ) -> bool {
        let word = line.number.take();
        self.note_swallowed(id, found, (index, word, line.char_at(at)), swallowed);
        line.token(id, found, at, word)
    }

    fn lengths(&self) -> &[u16] {
        let count = || match &self.tables.model_spec {
            ModelSpec::Bpe(spec) if self.tables.splitter.cuts_raw() => {
                spelled_lengths(spec, &self.tables.vocab)
            }
            ModelSpec::WordPiece(spec) if spec.unk == UnknownUnit::Word => {
                piece_lengths(spec, &self.tables.vocab)
            }
            _ => Vec::new(),
        };
        self.tables.lengths.0.get_or_init(count)
    }
}

/// What entries cover that are spelled by printable characters, anywhere in a word.
fn spelled_lengths(spec: &BpeSpec, vocab: &Vocab) -> Vec<u16> {
    by_id(vocab, spec.unk_token.as_deref(), |token| (char_count(token.as_bytes()) as usize, FIRST | LATER))
}

/// What entries cover that words begin with, or, if they are marked, go on with.
fn piece_lengths(spec: &WordPieceSpec, vocab: &Vocab) -> Vec<u16> {
    let prefix = spec.continuing_subword_prefix.as_str();
    by_id(vocab, Some(&spec.unk_token), |token| match token.strip_prefix(prefix) {
        Some(rest) if prefix.is_empty() => (rest.len(), FIRST | LATER),
        Some(rest) => (rest.len(), LATER),
        None => (token.len(), FIRST),
    })
}

/// The lengths of all entries but the one for what is unknown, and of those that are too long: 0.
fn by_id(vocab: &Vocab, unknown: Option<&str>, length_of: impl Fn(&str) -> (usize, u16)) -> Vec<u16> {
    let mut lengths = Vec::new();
    for (token, id) in vocab.iter().filter(|&(token, _)| Some(token) != unknown) {
        let (length, places) = length_of(token);
        if (1..=usize::from(LENGTH)).contains(&length) {
            lengths.resize(id as usize + 1, 0);
            lengths[id as usize] = length as u16 | places;
        }
    }
    lengths
}

impl Laid {
    /// The columns, as long as the ids that were laid last.
    pub(super) fn columns(&self) -> (&[[u32; 2]], &[u32]) {
        (&self.offsets, &self.words)
    }
}

/// Ids that are not laid, with room for where they come from.
type Left<'l> = Zip<Iter<'l, u32>, Zip<IterMut<'l, [u32; 2]>, IterMut<'l, u32>>>;

/// Ids on their way along the words that they were made of.
pub(super) struct Line<'l> {
    lengths: &'l [u16],
    ids: &'l [u32],
    laid: &'l mut Laid,
    /// How many ids are laid.
    done: usize,
    number: WordNumber,
    /// What added to a byte of the text gives the characters before it.
    shift: u32,
}

impl<'l> Line<'l> {
    fn new(lengths: &'l [u16], ids: &'l [u32], laid: &'l mut Laid) -> Self {
        laid.offsets.resize(ids.len(), [0; 2]);
        laid.words.resize(ids.len(), 0);
        Self { lengths, ids, laid, done: 0, number: WordNumber::Next(0), shift: 0 }
    }

    fn begin_text(&mut self, number: WordNumber) {
        (self.number, self.shift) = (number, 0);
    }

    fn is_done(&self) -> bool {
        self.done == self.ids.len()
    }

    /// The characters before a byte of the text; all before it is passed or ASCII.
    #[inline]
    pub(super) fn char_at(&self, byte: usize) -> u32 {
        (byte as u32).wrapping_add(self.shift)
    }

    /// Pass by text, which may be not only ASCII.
    #[inline]
    pub(super) fn pass(&mut self, bytes: usize, chars: u32) {
        self.shift = self.shift.wrapping_add(chars).wrapping_sub(bytes as u32);
    }

    /// Pass by text whose characters are still to be counted.
    #[inline]
    pub(super) fn pass_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.pass(text.len(), char_count(text.as_bytes()));
        }
    }

    /// Lay ids along words as long as they are of ASCII, whose bytes in the text are then given by `span_of`, and ids
    /// tell how they cover them; gives the first word of which one is not so.
    #[inline]
    pub(super) fn plain_words<W: Copy>(
        &mut self,
        mut words: impl Iterator<Item = W>,
        span_of: impl Fn(W) -> Option<(usize, usize)>,
    ) -> Option<W> {
        let (shift, lengths, mut number) = (self.shift, self.lengths, self.number);
        let mut left = self.left();
        let mut count = left.len();
        let other = words.find(|&word| {
            let Some((start, end)) = span_of(word) else { return true };
            let first = (start as u32).wrapping_add(shift);
            let chars_of = |from: usize, to: usize| [first + from as u32, first + to as u32];
            let mut next = number;
            let is_laid = lay_word(&mut left, lengths, end - start, next.take(), chars_of);
            if is_laid {
                (count, number) = (left.len(), next);
            }
            !is_laid
        });
        (self.done, self.number) = (self.ids.len() - count, number);
        other
    }

    /// Lay ids along a word of so many bytes; false where they do not tell how they cover it, and nothing is done.
    #[inline]
    pub(super) fn word(&mut self, bytes: usize, chars_of: impl FnMut(usize, usize) -> [u32; 2]) -> bool {
        let (lengths, mut number) = (self.lengths, self.number);
        let mut left = self.left();
        let is_laid = lay_word(&mut left, lengths, bytes, number.take(), chars_of);
        let count = left.len();
        if is_laid {
            (self.done, self.number) = (self.ids.len() - count, number);
        }
        is_laid
    }

    /// Lay ids along a word by its pieces; false where it has others.
    pub(super) fn pieces(&mut self, pieces: &[Piece], chars_of: impl Fn(usize, usize) -> [u32; 2]) -> bool {
        let number = self.number.take();
        pieces
            .iter()
            .all(|piece| self.put(piece.id, chars_of(piece.start as usize, piece.end as usize), number))
    }

    /// Lay the id of a token that stands whole at a byte of the text; false where it is not the next.
    fn token(&mut self, id: u32, text: &str, at: usize, number: u32) -> bool {
        let first = self.char_at(at);
        self.pass_text(text);
        self.put(id, [first, self.char_at(at + text.len())], number)
    }

    /// Lay an id; false where it is not the next.
    fn put(&mut self, id: u32, offsets: [u32; 2], number: u32) -> bool {
        let is_next = self.ids.get(self.done) == Some(&id);
        if is_next {
            (self.laid.offsets[self.done], self.laid.words[self.done]) = (offsets, number);
            self.done += 1;
        }
        is_next
    }

    /// The ids that are not laid, with room for where they come from.
    fn left(&mut self) -> Left<'_> {
        let Laid { offsets, words } = &mut *self.laid;
        let room = offsets[self.done..].iter_mut().zip(&mut words[self.done..]);
        self.ids[self.done..].iter().zip(room)
    }
}

/// Lay ids along a word of so many bytes; false where they do not tell how they cover it.
#[inline(always)]
fn lay_word(
    left: &mut Left<'_>,
    lengths: &[u16],
    bytes: usize,
    number: u32,
    mut chars_of: impl FnMut(usize, usize) -> [u32; 2],
) -> bool {
    let (mut at, mut place) = (0, FIRST);
    while at < bytes {
        let Some((&id, (chars, word))) = left.next() else { return false };
        let length = lengths.get(id as usize).map_or(0, |&length| length);
        let end = at + usize::from(length & LENGTH);
        if length & place == 0 || end > bytes {
            return false;
        }
        (*chars, *word) = (chars_of(at, end), number);
        (at, place) = (end, LATER);
    }
    true
}
