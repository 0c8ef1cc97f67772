//! From a stretch of plain text to words, and from words to ids through the memo.

use crate::error::Error;
use crate::model::{Model, ModelScratch};
use crate::normalize::Normalizer;
use crate::pretokenize::{PreTokenizer, ScanScratch};
use crate::text::PreTokenizedText;
use crate::vocab::Vocab;
use crate::word_cache::{self, Key, ShortWords};

use super::stretches::{StretchScratch, Stretches};

/// Normalizer and pre-tokenizer together.
#[derive(Clone, Debug)]
pub struct Splitter {
    normalizer: Normalizer,
    pre_tokenizer: PreTokenizer,
    /// What they make of every character, where that is simple enough.
    stretches: Option<Box<Stretches>>,
    /// Words are stretches of the normalized text, spelled by their bytes.
    spells_bytes: bool,
}

/// Working memory of a splitter.
#[derive(Clone, Debug, Default)]
pub struct SplitScratch {
    pub(super) normalized: String,
    pub(super) pieces: PreTokenizedText,
    pub(super) scan: ScanScratch,
    pub(super) stretches: StretchScratch,
}

impl Splitter {
    /// Put two compiled stages together.
    #[must_use]
    pub fn new(normalizer: Normalizer, pre_tokenizer: PreTokenizer) -> Self {
        let stretches = Stretches::of(&normalizer, &pre_tokenizer).map(Box::new);
        let spells_bytes = pre_tokenizer.is_byte_level();
        Self { normalizer, pre_tokenizer, stretches, spells_bytes }
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

    /// Whether words are stretches of the normalized text, spelled by their bytes, perhaps with a space before it.
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
        match &self.stretches {
            Some(stretches) => {
                stretches.run(text, self, &mut scratch.stretches, &mut scratch.normalized, sink)
            }
            None => {
                self.pieces_into(text, start, &mut scratch.pieces)?;
                let PreTokenizedText { text, spans } = &scratch.pieces;
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
        matches!(self.normalizer, Normalizer::Identity) && self.pre_tokenizer.splits_raw()
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
        self.pre_tokenizer.split_raw(text, &mut scratch.scan, |stretch, from, words| {
            words.spans().for_each(|(start, end)| match Key::at(stretch.as_bytes(), start, end) {
                Some(key) => sink.short_word(key, from + start),
                None => sink.word(&stretch[start..end], from + start),
            });
        })
    }

    /// Normalize and cut a stretch of text, which stands at byte `start` of the original.
    pub fn pieces_into(&self, text: &str, start: u32, pieces: &mut PreTokenizedText) -> Result<(), Error> {
        pieces.clear();
        self.normalizer.run(text, start, &mut pieces.text)?;
        pieces.set_whole();
        self.pre_tokenizer.run_pieces(pieces)
    }

    /// How words are found by classes of characters, where they are.
    #[must_use]
    pub(super) fn stretches(&self) -> Option<&Stretches> {
        self.stretches.as_deref()
    }

    /// Normalize and split a stretch that ASCII spaces and punctuation enclose.
    pub(super) fn slow_words(
        &self,
        stretch: &str,
        normalized: &mut String,
        mut emit: impl FnMut(&str),
    ) -> Result<(), Error> {
        normalized.clear();
        self.normalizer.run(stretch, 0, normalized)?;
        self.pre_tokenizer.run(normalized, |start, end| emit(&normalized[start..end]));
        Ok(())
    }
}

/// Takes the words of a text; `at` is the byte of the text where the word begins or, of one that is
/// rewritten, where the stretch around it does.
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
    memo: &'s mut ShortWords,
    scratch: &'s mut ModelScratch,
    out: &'s mut Vec<u32>,
    waiting: [Key; WAITING],
    waiting_count: usize,
}

impl<'s> WordIds<'s> {
    pub(super) fn new(
        model: &'s Model,
        vocab: &'s Vocab,
        memo: &'s mut ShortWords,
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
            match self.memo.get(key).filter(word_cache::are_ids) {
                Some(ids) => word_cache::append(ids, self.out),
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
        if let Some(packed) = word_cache::pack(&self.out[start..]) {
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
