//! Normalizer and pre-tokenizer together: text to words, without a cache. Encoding and counting use it.

pub(crate) mod bert;

pub use crate::word_key::WordSink;

use std::sync::Arc;

use crate::error::Error;
use crate::stages::normalize::Normalizer;
use crate::stages::pretokenize::{PreTokenizer, ScanScratch};
use crate::text::{max_grown_len, PreTokenizedText};
use crate::word_key::WordKey;

use bert::{BertScratch, BertSplitter};

/// The compiled normalizer and pre-tokenizer.
#[derive(Clone, Debug)]
pub struct Splitter {
    normalizer: Normalizer,
    pre_tokenizer: PreTokenizer,
    /// Both stages in one pass, if they look at one character at a time.
    bert: Option<Arc<BertSplitter>>,
    is_byte_level: bool,
}

/// Memory of one thread.
#[derive(Clone, Debug, Default)]
pub struct SplitScratch {
    pub(crate) normalized: String,
    pub(crate) words: PreTokenizedText,
    pub(crate) scan: ScanScratch,
    /// A text with a space before it.
    pub(crate) prefixed: String,
    pub(crate) bert: BertScratch,
}

impl Splitter {
    /// Combine two compiled stages.
    #[must_use]
    pub fn new(normalizer: Normalizer, pre_tokenizer: PreTokenizer) -> Self {
        let bert = BertSplitter::of(&normalizer, &pre_tokenizer).map(Arc::new);
        let is_byte_level = pre_tokenizer.is_byte_level();
        Self { normalizer, pre_tokenizer, bert, is_byte_level }
    }

    /// Return the normalizer.
    #[must_use]
    pub fn normalizer(&self) -> &Normalizer {
        &self.normalizer
    }

    /// Return the pre-tokenizer.
    #[must_use]
    pub fn pre_tokenizer(&self) -> &PreTokenizer {
        &self.pre_tokenizer
    }

    /// Return the splitter that runs both stages in one pass, if there is one.
    pub(crate) fn bert(&self) -> Option<&Arc<BertSplitter>> {
        self.bert.as_ref()
    }

    /// Return whether the pre-tokenizer is byte-level. It may add a space before the text.
    #[must_use]
    pub fn is_byte_level(&self) -> bool {
        self.is_byte_level
    }

    /// Return whether text can be divided before a space that follows a letter or digit: the words of both parts are those
    /// of the text.
    pub(crate) fn divides_at_spaces(&self) -> bool {
        self.normalizer.divides_at_spaces() && self.pre_tokenizer.divides_at_spaces()
    }

    /// Return whether text can be divided before a space that follows any visible character, too: the normalizer neither adds
    /// nor drops characters before a space, or all whitespace is removed.
    pub(crate) fn divides_at_spaces_after_any(&self) -> bool {
        self.divides_at_spaces()
            && (self.normalizer.keeps_spaces() || self.pre_tokenizer.removes_whitespace())
    }

    /// Return whether words are spans of the raw text: [`Self::run_raw`] emits their bytes, [`Self::run`] their printable
    /// characters.
    #[must_use]
    pub fn splits_raw(&self) -> bool {
        matches!(self.normalizer, Normalizer::Identity) && self.pre_tokenizer.splits_raw()
    }

    /// Emit every word of a span of text that begins at byte `start` of the original.
    ///
    /// Fails only if a regular expression exceeds its bound or a custom stage fails.
    pub fn run(
        &self,
        text: &str,
        start: u32,
        scratch: &mut SplitScratch,
        sink: &mut impl WordSink,
    ) -> Result<(), Error> {
        if let Some(bert) = &self.bert {
            return bert.run(text, &mut scratch.bert, &mut scratch.normalized, sink);
        }
        self.pre_tokenize(text, start, &mut scratch.words)?;
        let PreTokenizedText { text, spans } = &scratch.words;
        for &(from, to) in spans {
            let at = text.source_of(from, to).0.saturating_sub(start) as usize;
            sink.word(&text.text()[from..to], at);
        }
        Ok(())
    }

    /// Emit every word of a text as raw bytes; only if [`Self::splits_raw`]. Fails as [`Self::run`] does.
    pub fn run_raw(
        &self,
        text: &str,
        scratch: &mut SplitScratch,
        sink: &mut impl WordSink,
    ) -> Result<(), Error> {
        let mut from = 0;
        while from < text.len() {
            let to = self.pre_tokenizer.find_words(text, from, &mut scratch.scan)?;
            let span = &text[from..to];
            scratch.scan.words().spans().for_each(|(start, end)| {
                match WordKey::at(span.as_bytes(), start, end) {
                    Some(key) => sink.short_word(key, from + start),
                    None => sink.word(&span[start..end], from + start),
                }
            });
            from = to;
        }
        Ok(())
    }

    /// Normalize and pre-tokenize a span of text that begins at byte `start` of the original.
    pub fn pre_tokenize(&self, text: &str, start: u32, words: &mut PreTokenizedText) -> Result<(), Error> {
        words.clear();
        self.normalizer.run(text, start, &mut words.text)?;
        words.set_whole();
        self.pre_tokenizer.split_words(words, max_grown_len(text.len()))
    }
}
