//! From a stretch of plain text to ids: normalize and split in one pass, word by word through the memo.
//!
//! ASCII words take a fast path: 16 bytes are classed at once, lowered in register, and are the key of
//! the memo. A word with anything else in it is normalized and split alone, up to the next ASCII space or
//! punctuation: those are never touched by normalization and never joined by it, so a cut there is safe.

use piecework_kernels::ascii::{alphanumeric_prefix_len, lowercase_16};

use crate::error::Error;
use crate::memo::{self, Key, Memo, MAX_KEY_BYTES};
use crate::model::{Model, ModelScratch};
use crate::normalize::Normalizer;
use crate::pretokenize::{PreTokenizer, ScanScratch};
use crate::text::{class_of, Class, Pieces};
use crate::vocab::Vocab;

/// Normalizer and pre-tokenizer together.
#[derive(Clone, Debug)]
pub struct Splitter {
    normalizer: Normalizer,
    pre_tokenizer: PreTokenizer,
    /// What they make of ASCII, where that is simple enough.
    ascii: Option<Box<AsciiRoles>>,
    /// Words are stretches of the normalized text, spelled by their bytes.
    spells_bytes: bool,
}

/// What the fast path knows of a normalizer and a pre-tokenizer.
#[derive(Clone, Debug)]
struct AsciiRoles {
    of_byte: [ByteRole; 256],
    lowercases: bool,
}

/// Working memory of a splitter.
#[derive(Clone, Debug, Default)]
pub struct SplitScratch {
    pub(super) normalized: String,
    pub(super) pieces: Pieces,
    pub(super) scan: ScanScratch,
}

/// What a byte is to the fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteRole {
    /// Part of a word as it stands, but for its case.
    Word,
    /// Ends a word and is dropped.
    Space,
    /// A word of its own.
    Alone,
    /// Anything that needs the tables.
    Other,
}

impl Splitter {
    /// Put two compiled stages together.
    #[must_use]
    pub fn new(normalizer: Normalizer, pre_tokenizer: PreTokenizer) -> Self {
        let ascii = AsciiRoles::of(&normalizer, &pre_tokenizer).map(Box::new);
        let spells_bytes = pre_tokenizer.cuts_raw();
        Self { normalizer, pre_tokenizer, ascii, spells_bytes }
    }

    /// The normalizer.
    #[must_use]
    pub fn normalizer(&self) -> &Normalizer {
        &self.normalizer
    }

    /// The pre-tokenizer.
    #[must_use]
    pub fn pre_tokenizer(&self) -> &PreTokenizer {
        &self.pre_tokenizer
    }

    /// Whether words are stretches of the normalized text, spelled by their bytes.
    #[must_use]
    pub fn spells_bytes(&self) -> bool {
        self.spells_bytes
    }

    /// Give every word of a stretch of text, which stands at byte `start` of the original, to `sink`.
    ///
    /// Fails only where a regular expression gives up.
    pub fn run(
        &self,
        text: &str,
        start: u32,
        scratch: &mut SplitScratch,
        sink: &mut impl WordSink,
    ) -> Result<(), Error> {
        match &self.ascii {
            Some(ascii) => self.run_by_stretches(ascii, text, &mut scratch.normalized, sink),
            None => {
                self.pieces_into(text, start, &mut scratch.pieces)?;
                let Pieces { text, spans } = &scratch.pieces;
                for &(from, to) in spans {
                    sink.word(
                        &text.text()[from..to],
                        text.source_of(from, to).0.saturating_sub(start) as usize,
                    );
                }
                Ok(())
            }
        }
    }

    /// Whether `run_raw` gives the words of `run` but for `pretokenize::write_printable`.
    #[must_use]
    pub fn cuts_raw(&self) -> bool {
        matches!(self.normalizer, Normalizer::Identity) && self.spells_bytes
    }

    /// Give every word of a text as it stands there to `sink`; only where `cuts_raw`.
    ///
    /// Fails only where a regular expression gives up.
    pub fn run_raw(
        &self,
        text: &str,
        scratch: &mut SplitScratch,
        sink: &mut impl WordSink,
    ) -> Result<(), Error> {
        self.pre_tokenizer.cut_raw(text, &mut scratch.scan, |stretch, from, words| {
            words.spans().for_each(|(start, end)| match Key::at(stretch.as_bytes(), start, end) {
                Some(key) => sink.short_word(key, from + start),
                None => sink.word(&stretch[start..end], from + start),
            });
        })
    }

    /// Normalize and cut a stretch of text, which stands at byte `start` of the original.
    pub fn pieces_into(&self, text: &str, start: u32, pieces: &mut Pieces) -> Result<(), Error> {
        pieces.clear();
        self.normalizer.run(text, start, &mut pieces.text)?;
        pieces.set_whole();
        self.pre_tokenizer.run_pieces(pieces)
    }

    fn run_by_stretches(
        &self,
        ascii: &AsciiRoles,
        text: &str,
        normalized: &mut String,
        sink: &mut impl WordSink,
    ) -> Result<(), Error> {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match ascii.of_byte[bytes[at] as usize] {
                ByteRole::Space => at += 1,
                ByteRole::Alone => {
                    sink.word(&text[at..=at], at);
                    at += 1;
                }
                ByteRole::Word | ByteRole::Other => {
                    at = self.stretch(ascii, text, at, normalized, sink)?;
                }
            }
        }
        Ok(())
    }

    /// Give the word, or words, that begin at byte `at`; returns where they end.
    #[inline]
    fn stretch(
        &self,
        ascii: &AsciiRoles,
        text: &str,
        at: usize,
        normalized: &mut String,
        sink: &mut impl WordSink,
    ) -> Result<usize, Error> {
        let bytes = text.as_bytes();
        let block = block_at(bytes, at);
        let len = alphanumeric_prefix_len(&block);
        let next = bytes.get(at + len).map_or(ByteRole::Space, |&byte| ascii.of_byte[byte as usize]);
        if (1..=MAX_KEY_BYTES).contains(&len) && matches!(next, ByteRole::Space | ByteRole::Alone) {
            let mut word = u128::from_le_bytes(block) & ((1 << (8 * len)) - 1);
            if ascii.lowercases {
                word = lowercase_16(word);
            }
            sink.short_word(Key::from_low_bytes(word, len), at);
            return Ok(at + len);
        }
        let end = ascii.stretch_end(bytes, at);
        self.slow_words(&text[at..end], normalized, |word| sink.word(word, at))?;
        Ok(end)
    }

    /// The table path: normalize and split a stretch that ASCII spaces and punctuation enclose.
    fn slow_words(
        &self,
        stretch: &str,
        normalized: &mut String,
        mut emit: impl FnMut(&str),
    ) -> Result<(), Error> {
        if matches!(self.normalizer, Normalizer::Identity) {
            self.pre_tokenizer.run(stretch, |start, end| emit(&stretch[start..end]));
            return Ok(());
        }
        normalized.clear();
        self.normalizer.run(stretch, 0, normalized)?;
        self.pre_tokenizer.run(normalized, |start, end| emit(&normalized[start..end]));
        Ok(())
    }
}

impl AsciiRoles {
    /// The roles, if words never reach across ASCII space and the normalizer looks at one character at a
    /// time.
    fn of(normalizer: &Normalizer, pre_tokenizer: &PreTokenizer) -> Option<Self> {
        let PreTokenizer::Classes { removed: Some(Class::WHITESPACE), isolated } = *pre_tokenizer else {
            return None;
        };
        let lowercases = match normalizer {
            Normalizer::Identity => false,
            Normalizer::Bert(bert) => bert.lowercases(),
            _ => return None,
        };
        let mut of_byte = [ByteRole::Other; 256];
        for byte in 0..128u8 {
            of_byte[byte as usize] = role_of(byte, normalizer, isolated);
        }
        Some(Self { of_byte, lowercases })
    }

    fn stretch_end(&self, bytes: &[u8], from: usize) -> usize {
        let ends = |&byte: &u8| matches!(self.of_byte[byte as usize], ByteRole::Space | ByteRole::Alone);
        bytes[from..].iter().position(ends).map_or(bytes.len(), |offset| from + offset)
    }
}

fn role_of(byte: u8, normalizer: &Normalizer, isolated: Option<Class>) -> ByteRole {
    let c = char::from(byte);
    let class = class_of(c);
    let mut normalized = String::new();
    if normalizer.run(c.encode_utf8(&mut [0; 4]), 0, &mut normalized).is_err() {
        return ByteRole::Other;
    }
    if class.has(Class::WHITESPACE) && !normalized.is_empty() {
        ByteRole::Space
    } else if isolated.is_some_and(|isolated| class.has(isolated)) {
        ByteRole::Alone
    } else if c.is_ascii_alphanumeric() {
        ByteRole::Word
    } else {
        ByteRole::Other
    }
}

/// The 16 bytes from `at` on, zeros after the end.
#[inline]
fn block_at(bytes: &[u8], at: usize) -> [u8; 16] {
    match bytes[at..].first_chunk::<16>() {
        Some(block) => *block,
        None => {
            let mut block = [0; 16];
            block[..bytes.len() - at].copy_from_slice(&bytes[at..]);
            block
        }
    }
}

/// Takes the words of a text; `at` is the byte of the text where the word's stretch begins.
pub trait WordSink {
    /// Take a word.
    fn word(&mut self, word: &str, at: usize);

    /// Take a word of up to 15 bytes by its key.
    #[inline]
    fn short_word(&mut self, key: Key, at: usize) {
        let (bytes, len) = key.bytes();
        if let Ok(word) = std::str::from_utf8(&bytes[..len]) {
            self.word(word, at);
        }
    }
}

/// How many words wait for their cache line to arrive.
const WAITING: usize = 16;

/// Words to ids, through the memo unless they are drawn at random.
///
/// Short words are looked up a few words late: their line of the memo is asked for when they are found,
/// and by the time it is read it has come.
pub(super) struct WordIds<'s> {
    model: &'s Model,
    vocab: &'s Vocab,
    memo: &'s mut Memo,
    scratch: &'s mut ModelScratch,
    out: &'s mut Vec<u32>,
    waiting: [Key; WAITING],
    waiting_count: usize,
}

impl<'s> WordIds<'s> {
    pub(super) fn new(
        model: &'s Model,
        vocab: &'s Vocab,
        memo: &'s mut Memo,
        scratch: &'s mut ModelScratch,
        out: &'s mut Vec<u32>,
    ) -> Self {
        let waiting = [Key::from_low_bytes(0, 0); WAITING];
        Self { model, vocab, memo, scratch, out, waiting, waiting_count: 0 }
    }

    /// Append an id that is no word's.
    pub(super) fn push(&mut self, id: u32) {
        self.finish();
        self.out.push(id);
    }

    /// Append the ids of all waiting words.
    #[inline]
    pub(super) fn finish(&mut self) {
        if self.scratch.draws.is_some() {
            return self.draw();
        }
        for i in 0..std::mem::take(&mut self.waiting_count) {
            let key = self.waiting[i];
            match self.memo.get(key) {
                Some(ids) => memo::append(ids, self.out),
                None => self.append_new(key),
            }
        }
    }

    #[cold]
    fn draw(&mut self) {
        for i in 0..std::mem::take(&mut self.waiting_count) {
            let (bytes, len) = self.waiting[i].bytes();
            let Ok(word) = std::str::from_utf8(&bytes[..len]) else { continue };
            self.segment(word);
        }
    }

    #[cold]
    fn append_new(&mut self, key: Key) {
        let (bytes, len) = key.bytes();
        let Ok(word) = std::str::from_utf8(&bytes[..len]) else { return };
        let start = self.out.len();
        self.segment(word);
        if let Some(packed) = memo::pack(&self.out[start..]) {
            self.memo.insert(key, packed);
        }
    }
}

impl WordIds<'_> {
    fn segment(&mut self, word: &str) {
        self.model.run(word, self.vocab, self.scratch, self.out);
    }
}

impl WordSink for WordIds<'_> {
    #[inline]
    fn word(&mut self, word: &str, at: usize) {
        match Key::of(word.as_bytes()) {
            Some(key) => self.short_word(key, at),
            None => {
                self.finish();
                self.segment(word);
            }
        }
    }

    #[inline]
    fn short_word(&mut self, key: Key, _at: usize) {
        self.memo.prefetch(key);
        if self.waiting_count == WAITING {
            self.finish();
        }
        self.waiting[self.waiting_count] = key;
        self.waiting_count += 1;
    }
}
