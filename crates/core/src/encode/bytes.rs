//! Byte-level pipelines: words spelled by their bytes, tokens as the bytes that they stand for; and special
//! tokens that a text holds.
//!
//! When only ids are asked for, words stay stretches of the text up to the model: no text is rewritten and
//! nothing is aligned.

use super::byte_words::ByteWords;
use super::{Input, Options, Scratch, Tokenizer};
use crate::added_tokens::{Segment, Selector};
use crate::error::{Error, ErrorKind};
use crate::model::ModelScratch;
use crate::normalize::Normalizer;
use crate::text::{printable_of, push_bytes_of_printable};

impl Tokenizer {
    /// Append the ids of an input whose words are spelled by their bytes, but for those of new words, which may be
    /// left out until [`Self::settle`].
    pub(super) fn hold_spelled_into(
        &self,
        input: Input<'_>,
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let mut result = Ok(());
        for text in input.texts() {
            self.tables.special.split_raw(text, options.parse_special, |segment| match segment {
                _ if result.is_err() => {}
                Segment::Token(id, ..) => out.push(id),
                Segment::Text(start, end) => {
                    result = self.hold_spelled(&text[start..end], options, scratch, out);
                }
            });
        }
        result
    }

    /// Put in the ids of all words that wait.
    pub(super) fn settle_spelled(&self, scratch: &mut Scratch, out: &mut Vec<u32>) {
        let Scratch { memo, texts, model: scratch_of_model, batch, held, .. } = scratch;
        let (model, vocab) = (&self.tables.model, &self.tables.vocab);
        ByteWords { model, vocab, memo, texts, scratch: scratch_of_model, batch, held }.settle(out);
    }

    /// Append the ids of a stretch of raw text, but for those that may be left out.
    fn hold_spelled(
        &self,
        stretch: &str,
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let Scratch { memo, texts, model, split, batch, held, .. } = scratch;
        let normalized = &mut split.normalized;
        let text = match self.tables.splitter.normalizer() {
            Normalizer::Identity => stretch,
            normalizer => {
                normalized.clear();
                normalizer.run(stretch, 0, normalized)?;
                normalized.as_str()
            }
        };
        let mut words = ByteWords {
            model: &self.tables.model,
            vocab: &self.tables.vocab,
            memo,
            texts,
            scratch: model,
            batch,
            held,
        };
        let mut result = Ok(());
        self.tables.special.split_normalized(text, options.parse_special, |segment| match segment {
            _ if result.is_err() => {}
            Segment::Token(id, ..) => out.push(id),
            Segment::Text(start, end) => {
                let cut = self.tables.splitter.pre_tokenizer();
                result = cut.split_raw(&text[start..end], &mut split.scan, |stretch, _, found| {
                    words.write(stretch, found, out);
                });
            }
        });
        result
    }

    /// Append the bytes of a token; says whether the id is one.
    ///
    /// Entries of a byte-level vocabulary are read as bytes, everything else stands for its UTF-8.
    pub fn token_bytes_into(&self, id: u32, out: &mut Vec<u8>) -> bool {
        if let Some(content) = self.tables.added.get(&id) {
            out.extend_from_slice(content.as_bytes());
            return true;
        }
        let Some(token) = self.tables.vocab.token_of(id) else { return false };
        if self.tables.decoder.is_byte_level() {
            push_bytes_of_printable(token, out);
        } else {
            out.extend_from_slice(token.as_bytes());
        }
        true
    }

    /// Turn ids into bytes; an id of nothing is an error.
    pub fn decode_bytes(&self, ids: &[u32]) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::with_capacity(4 * ids.len());
        for (at, &id) in ids.iter().enumerate() {
            if !self.token_bytes_into(id, &mut bytes) {
                let found = format!("{id}, which is the id of no token");
                return Err(Error::new(ErrorKind::Argument, format!("ids[{at}]"), found, "ids of tokens"));
            }
        }
        Ok(bytes)
    }

    /// Segment bytes as one word of a byte-level model, without any splitting.
    #[must_use]
    pub fn encode_word_of_bytes(&self, bytes: &[u8]) -> Vec<u32> {
        let mut ids = Vec::new();
        let word: String = bytes.iter().map(|&byte| printable_of(byte)).collect();
        if !word.is_empty() {
            self.tables.model.run(&word, &self.tables.vocab, &mut ModelScratch::default(), &mut ids);
        }
        ids
    }

    /// Return the id of the first special token that encoding with `selector` recognizes in a text.
    ///
    /// Fails only where the normalizer fails.
    pub fn find_special(&self, text: &str, selector: &Selector) -> Result<Option<u32>, Error> {
        let special = &self.tables.special;
        let seeks_normalized = special.recognizes_normalized_special(selector);
        let mut found = Ok(None);
        special.split_raw(text, selector, |segment| match segment {
            _ if !matches!(found, Ok(None)) => {}
            Segment::Token(id, ..) if special.is_special(id) => found = Ok(Some(id)),
            Segment::Text(start, end) if seeks_normalized => {
                found = self.find_normalized_special(&text[start..end], selector);
            }
            Segment::Token(..) | Segment::Text(..) => {}
        });
        found
    }

    /// Return the id of the first special token in the normalized form of a raw text.
    fn find_normalized_special(&self, raw: &str, selector: &Selector) -> Result<Option<u32>, Error> {
        let special = &self.tables.special;
        let mut normalized = String::new();
        let text = match self.tables.splitter.normalizer() {
            Normalizer::Identity => raw,
            normalizer => {
                normalizer.run(raw, 0, &mut normalized)?;
                normalized.as_str()
            }
        };
        let mut found = None;
        special.split_normalized(text, selector, |segment| match segment {
            Segment::Token(id, ..) if special.is_special(id) => found = found.or(Some(id)),
            Segment::Token(..) | Segment::Text(..) => {}
        });
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
