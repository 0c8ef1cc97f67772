//! What tiktoken's API needs: tokens as bytes, bytes as one word, and special tokens that a text contains.

use crate::engine::Tokenizer;
use crate::error::{Error, ErrorKind};
use crate::model::ModelScratch;
use crate::stages::added_tokens::{Segment, Selector};
use crate::stages::normalize::Normalizer;
use crate::text::{printable_of, push_bytes_of_printable};

impl Tokenizer {
    /// Append the bytes of a token; return `false` for an unknown id.
    ///
    /// The bytes of an entry of a byte-level vocabulary are those that its characters stand for; others are UTF-8.
    pub fn token_bytes_into(&self, id: u32, out: &mut Vec<u8>) -> bool {
        if let Some(content) = self.stages().added.get(&id) {
            out.extend_from_slice(content.as_bytes());
            return true;
        }
        let Some(token) = self.stages().vocab.token_of(id) else { return false };
        if self.stages().decoder.is_byte_level() {
            push_bytes_of_printable(token, out);
        } else {
            out.extend_from_slice(token.as_bytes());
        }
        true
    }

    /// Decode ids to bytes. Fails for an unknown id.
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

    /// Segment bytes as one word of a byte-level model, without pre-tokenization.
    #[must_use]
    pub fn encode_word_of_bytes(&self, bytes: &[u8]) -> Vec<u32> {
        let mut ids = Vec::new();
        let word: String = bytes.iter().map(|&byte| printable_of(byte)).collect();
        if !word.is_empty() {
            self.stages().model.run(&word, &self.stages().vocab, &mut ModelScratch::default(), &mut ids);
        }
        ids
    }

    /// Return the id of the first special token that encoding with `selector` recognizes in a text.
    ///
    /// Fails only where the normalizer fails.
    pub fn find_special(&self, text: &str, selector: &Selector) -> Result<Option<u32>, Error> {
        let added_tokens = &self.stages().added_tokens;
        let seeks_normalized = added_tokens.recognizes_normalized_special(selector);
        for segment in added_tokens.raw_segments(text, selector) {
            let found = match segment {
                Segment::Token(id, ..) => Some(id).filter(|&id| added_tokens.is_special(id)),
                Segment::Text(start, end) if seeks_normalized => {
                    self.find_normalized_special(&text[start..end], selector)?
                }
                Segment::Text(..) => None,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Return the id of the first special token in the normalized form of a raw text.
    fn find_normalized_special(&self, raw: &str, selector: &Selector) -> Result<Option<u32>, Error> {
        let added_tokens = &self.stages().added_tokens;
        let mut normalized = String::new();
        let text = match self.stages().splitter.normalizer() {
            Normalizer::Identity => raw,
            normalizer => {
                normalizer.run(raw, 0, &mut normalized)?;
                normalized.as_str()
            }
        };
        let mut segments = added_tokens.normalized_segments(text, selector);
        Ok(segments.find_map(|segment| match segment {
            Segment::Token(id, ..) => Some(id).filter(|&id| added_tokens.is_special(id)),
            Segment::Text(..) => None,
        }))
    }
}
