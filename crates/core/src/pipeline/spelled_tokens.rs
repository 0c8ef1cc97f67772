//! Tokens of byte-level pipelines with the characters behind them: the ids as they are made when nothing else is
//! asked for, then laid along the words by the number of bytes that each spells.

use std::sync::OnceLock;

use super::tokens::TokenWriter;
use super::{Options, Pipeline, Scratch};
use crate::error::Error;
use crate::pretokenize::Words;
use crate::spec::ModelSpec;
use crate::special::Segment;
use crate::text::{begins_char, byte_of_printable, char_count};

/// How many bytes each entry spells, by its id; 0 for what spells none. Made at first use.
#[derive(Clone, Debug, Default)]
pub(super) struct SpelledLengths(OnceLock<Vec<u32>>);

impl Pipeline {
    /// How many bytes each id spells, where tokens are the bytes of the text in their order and nothing is drawn.
    pub(super) fn spelled_lengths(&self, options: Options<'_>) -> Option<&[u32]> {
        let ModelSpec::Bpe(spec) = &self.model_spec else { return None };
        let is_spelled = self.splitter.cuts_raw() && !spec.has_affixes();
        let is_fixed = options.sampling.is_none() && !spec.byte_fallback;
        (is_spelled && is_fixed)
            .then(|| self.spelled_lengths.0.get_or_init(|| self.count_spelled()).as_slice())
    }

    fn count_spelled(&self) -> Vec<u32> {
        let unknown = match &self.model_spec {
            ModelSpec::Bpe(spec) => spec.unk_token.as_deref(),
            _ => None,
        };
        let is_spelled = |token: &str| token.chars().all(|c| byte_of_printable(c).is_some());
        let mut lengths = Vec::new();
        for (token, id) in self.vocab.iter().filter(|&(token, _)| Some(token) != unknown) {
            lengths.resize(lengths.len().max(id as usize + 1), 0);
            lengths[id as usize] = if is_spelled(token) { token.chars().count() as u32 } else { 0 };
        }
        lengths
    }

    /// Write the tokens of a text.
    pub(super) fn spelled_tokens(
        &self,
        lengths: &[u32],
        text: &str,
        options: Options<'_>,
        scratch: &mut Scratch,
        writer: &mut TokenWriter<'_>,
    ) -> Result<(), Error> {
        self.tokens_by(text, options, scratch, writer, |segment, start, scratch, writer| {
            self.laid_along(lengths, (segment, start), options, scratch, writer)
        })
    }

    /// Write the tokens of a segment that stands at a byte of the text; false where ids do not spell its words.
    fn laid_along(
        &self,
        lengths: &[u32],
        (segment, start): (&str, u32),
        options: Options<'_>,
        scratch: &mut Scratch,
        writer: &mut TokenWriter<'_>,
    ) -> Result<bool, Error> {
        let mut ids = std::mem::take(&mut scratch.spelled);
        ids.clear();
        let made = self.spelled_ids(segment, options, scratch, &mut ids);
        let (chars, is_ascii) = (writer.chars_before(start), segment.is_ascii());
        let mut line = Line { lengths, ids: ids.as_slice(), chars, is_ascii };
        let mut fits = true;
        let mut result = made;
        // There is no normalizer: what is sought in normalized text stands in the segment.
        self.special.split_normalized(segment, options.parse_special, |found| match found {
            _ if result.is_err() || !fits => {}
            Segment::Token(id, from, to) => {
                fits = line.pass_token(id, &segment[from..to]);
                writer.added(id, (start + from as u32, start + to as u32));
            }
            Segment::Text(from, to) => {
                let (cut, scan) = (self.splitter.pre_tokenizer(), &mut scratch.split.scan);
                result = cut.cut_raw(&segment[from..to], scan, |stretch, _, words| {
                    fits = fits && line.lay_words(stretch, words, writer);
                });
            }
        });
        let is_whole = fits && line.ids.is_empty();
        scratch.spelled = ids;
        result.map(|()| is_whole)
    }
}

/// Ids that are still to be laid along words, and the characters of the text before them.
struct Line<'l> {
    lengths: &'l [u32],
    ids: &'l [u32],
    chars: u32,
    is_ascii: bool,
}

impl Line<'_> {
    /// Pass by a token that was found whole; false where it is not the next.
    fn pass_token(&mut self, id: u32, text: &str) -> bool {
        let Some((&next, rest)) = self.ids.split_first() else { return false };
        self.ids = rest;
        self.chars += text.chars().count() as u32;
        next == id
    }

    /// Write the tokens of the words of a stretch; false where ids do not spell them.
    fn lay_words(&mut self, stretch: &str, words: Words<'_>, writer: &mut TokenWriter<'_>) -> bool {
        let mut done = 0;
        for (start, end) in words.spans() {
            self.pass_dropped(&stretch[done..start]);
            if !self.lay_word(&stretch.as_bytes()[start..end], writer) {
                return false;
            }
            done = end;
        }
        self.pass_dropped(&stretch[done..]);
        true
    }

    /// Pass by what belongs to no word.
    #[inline]
    fn pass_dropped(&mut self, text: &str) {
        if !text.is_empty() {
            self.chars += char_count(text.as_bytes());
        }
    }

    #[inline]
    fn lay_word(&mut self, word: &[u8], writer: &mut TokenWriter<'_>) -> bool {
        let number = writer.next_word();
        let is_ascii = self.is_ascii || word.is_ascii();
        let mut at = 0;
        while at < word.len() {
            let Some((&id, rest)) = self.ids.split_first() else { return false };
            let length = self.lengths.get(id as usize).map_or(0, |&length| length as usize);
            let Some(spelled) = word.get(at..at + length).filter(|spelled| !spelled.is_empty()) else {
                return false;
            };
            let chars = if is_ascii { self.pass_ascii(spelled) } else { self.pass(spelled) };
            writer.push_chars(id, chars, number);
            (self.ids, at) = (rest, at + length);
        }
        true
    }

    #[inline]
    fn pass_ascii(&mut self, bytes: &[u8]) -> (u32, u32) {
        let start = self.chars;
        self.chars += bytes.len() as u32;
        (start, self.chars)
    }

    /// The characters that bytes are of, the first and the last whole.
    fn pass(&mut self, bytes: &[u8]) -> (u32, u32) {
        let start = self.chars - u32::from(!begins_char(bytes[0]));
        self.chars += char_count(bytes);
        (start, self.chars)
    }
}
