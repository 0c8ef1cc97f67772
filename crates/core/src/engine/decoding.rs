//! Decodes ids to text, with one table lookup per token if the decoder allows it.
//!
//! A table is built at the first call with enough ids, or after enough small calls. No thread waits for it: while one thread builds the table, others
//! run the stages of the decoder.

use super::Tokenizer;
use crate::error::Error;
use crate::interrupt;
use crate::stages::decode::{cleaned_up, DecodeInput, DecodeTable};
use crate::stages::normalize::Normalizer;

/// The number of ids that are decoded into bytes at once, before the bytes are converted into strings.
const IDS_PER_CHUNK: usize = 1 << 15;

/// Split rows into chunks of at most 32,768 ids or of one row, whose decoded bytes fit into the CPU caches.
pub fn decoding_chunks<'r, 'i>(mut rows: &'r [&'i [u32]]) -> impl Iterator<Item = &'r [&'i [u32]]> {
    std::iter::from_fn(move || {
        let mut ids = 0;
        let is_within = |row: &&&[u32]| {
            ids += row.len();
            ids <= IDS_PER_CHUNK
        };
        let count = rows.iter().take_while(is_within).count().max(1);
        let (chunk, rest) = rows.split_at_checked(count)?;
        rows = rest;
        Some(chunk)
    })
}

/// The concatenated texts of many rows.
#[derive(Clone, Debug, Default)]
pub struct DecodedRows {
    bytes: Vec<u8>,
    /// The end of each row's text.
    ends: Vec<usize>,
}

impl DecodedRows {
    /// Return the texts in order, as bytes that may be invalid UTF-8. The caller replaces invalid bytes when it makes
    /// strings, as [`text_of`] does.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.ends.len()).map(|row| {
            let start = if row > 0 { self.ends[row - 1] } else { 0 };
            &self.bytes[start..self.ends[row]]
        })
    }
}

impl Tokenizer {
    /// Decodes ids to text; ids without a token are skipped.
    pub fn decode(
        &self,
        ids: &[u32],
        skip_special_tokens: bool,
        clean_up: Option<bool>,
    ) -> Result<String, Error> {
        self.decode_rows(&[ids], skip_special_tokens, clean_up).map(|rows| text_of(rows.bytes))
    }

    /// Decodes every row of ids to text.
    pub fn decode_rows(
        &self,
        rows: &[&[u32]],
        skip_special_tokens: bool,
        clean_up: Option<bool>,
    ) -> Result<DecodedRows, Error> {
        self.decode_rows_by(rows, skip_special_tokens, clean_up, self.cleans_text(clean_up))
    }

    /// Decodes ids to a text that is not cleaned up yet, as streams need it.
    pub(super) fn decode_before_clean_up(
        &self,
        ids: &[u32],
        skip_special_tokens: bool,
        clean_up: Option<bool>,
    ) -> Result<String, Error> {
        self.decode_rows_by(&[ids], skip_special_tokens, clean_up, false).map(|rows| text_of(rows.bytes))
    }

    /// Return whether the decoder cleans up whole texts.
    pub(super) fn cleans_text(&self, clean_up: Option<bool>) -> bool {
        self.stages().decoder.cleans_text(clean_up)
    }

    fn decode_rows_by(
        &self,
        rows: &[&[u32]],
        skip_special_tokens: bool,
        clean_up: Option<bool>,
        cleans: bool,
    ) -> Result<DecodedRows, Error> {
        let ids = rows.iter().map(|row| row.len()).sum();
        let clean_up = self.stages().decoder.own_clean_up(clean_up);
        let decode_table = self.decode_tables().get(clean_up, ids, || self.build_decode_table(clean_up));
        let (mut text, mut ends) = (Vec::with_capacity(4 * ids), Vec::with_capacity(rows.len()));
        for row in rows {
            let from = text.len();
            match decode_table {
                Some(decode_table) => {
                    let tokens = DecodeInput {
                        ids: row,
                        skips_special: skip_special_tokens,
                        token_of: |id| self.decoded_token(id),
                    };
                    decode_table.run(&self.stages().decoder, tokens, clean_up, &mut text)?;
                }
                None => {
                    text.extend_from_slice(
                        self.decode_by_stages(row, skip_special_tokens, clean_up)?.as_bytes(),
                    );
                }
            }
            self.denormalize(&mut text, from)?;
            if cleans {
                let cleaned = cleaned_up(text_of(text.split_off(from)));
                text.extend_from_slice(cleaned.as_bytes());
            }
            ends.push(text.len());
        }
        Ok(DecodedRows { bytes: text, ends })
    }

    /// Decodes ids with the stages of the decoder, to a text that is not cleaned up yet.
    fn decode_by_stages(
        &self,
        ids: &[u32],
        skip_special_tokens: bool,
        clean_up: Option<bool>,
    ) -> Result<String, Error> {
        let kept =
            ids.iter().filter(|&&id| !(skip_special_tokens && self.stages().added_tokens.is_special(id)));
        let kept = kept.inspect(|_| interrupt::check(1));
        self.stages().decoder.run_stages(kept.filter_map(|&id| self.decoded_token(id)), clean_up)
    }

    /// Return the smallest number above all ids of the vocabulary and the added tokens.
    #[must_use]
    pub fn id_bound(&self) -> u32 {
        let added = self.stages().added.keys().map(|id| id + 1).max().unwrap_or(0);
        added.max(self.stages().vocab.id_bound() as u32)
    }

    /// Return the token that the decoder receives for an id.
    fn decoded_token(&self, id: u32) -> Option<&str> {
        self.stages().added_tokens.normalized_form(id).or_else(|| self.token_of(id))
    }

    /// Make the table that [`Self::decode_rows`] makes when it pays for itself.
    pub(super) fn make_decode_table(&self, clean_up: Option<bool>) {
        let clean_up = self.stages().decoder.own_clean_up(clean_up);
        self.decode_tables().warm_up(clean_up, || self.build_decode_table(clean_up));
    }

    fn build_decode_table(&self, clean_up: Option<bool>) -> Option<DecodeTable> {
        let ids = 0..self.id_bound();
        let token_of = |id| Some((self.decoded_token(id)?, self.stages().added_tokens.is_special(id)));
        self.stages().decoder.decode_table(ids, token_of, clean_up)
    }

    /// Run the decoder's denormalizer on the text after byte `from`.
    fn denormalize(&self, text: &mut Vec<u8>, from: usize) -> Result<(), Error> {
        if matches!(self.stages().denormalizer, Normalizer::Identity) {
            return Ok(());
        }
        let row = text_of(text.split_off(from));
        let mut denormalized = String::new();
        self.stages()
            .denormalizer
            .run(&row, 0, &mut denormalized)
            .map_err(|error| error.within("decoder.denormalizer"))?;
        text.extend_from_slice(denormalized.as_bytes());
        Ok(())
    }
}

/// Converts bytes to text; invalid UTF-8 is replaced by U+FFFD.
#[must_use]
pub fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests;
