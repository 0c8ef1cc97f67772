//! Decodes ids to text, with one table lookup per token if the decoder allows it.
//!
//! A table is built at the first call with enough ids, or after enough small calls. No thread waits for it: while one
//! thread builds the table, others run the stages of the decoder.
//!
//! ```text
//! tables  the decode tables, built when they pay for themselves
//! ```

mod tables;
#[cfg(test)]
mod tests;

pub(super) use tables::DecodeTables;

use super::Tokenizer;
use crate::error::{Error, ErrorKind};
use crate::interrupt;
use crate::stages::decode::{
    cleaned_up, CleanUpStream, DecodeInput, DecodeStream, DecodeTable, StreamState,
};
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
    /// Decode ids to text; skip ids without a token.
    pub fn decode(
        &self,
        ids: &[u32],
        skip_special_tokens: bool,
        clean_up: Option<bool>,
    ) -> Result<String, Error> {
        self.decode_rows(&[ids], skip_special_tokens, clean_up).map(|rows| text_of(rows.bytes))
    }

    /// Decode every row of ids to text.
    pub fn decode_rows(
        &self,
        rows: &[&[u32]],
        skip_special_tokens: bool,
        clean_up: Option<bool>,
    ) -> Result<DecodedRows, Error> {
        self.decode_rows_by(rows, skip_special_tokens, clean_up, self.cleans_text(clean_up))
    }

    /// Decode ids to a text that is not cleaned up yet, as streams need it.
    fn decode_before_clean_up(
        &self,
        ids: &[u32],
        skip_special_tokens: bool,
        clean_up: Option<bool>,
    ) -> Result<String, Error> {
        self.decode_rows_by(&[ids], skip_special_tokens, clean_up, false).map(|rows| text_of(rows.bytes))
    }

    /// Return whether the decoder cleans up whole texts.
    fn cleans_text(&self, clean_up: Option<bool>) -> bool {
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

    /// Decode ids with the stages of the decoder, to a text that is not cleaned up yet.
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

/// Convert bytes to text; replace invalid UTF-8 by U+FFFD.
#[must_use]
pub fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The decoding streams of several sequences of one tokenizer, which every call takes.
#[derive(Clone, Debug)]
pub struct DecodeStreams {
    streams: Vec<DecodeStream>,
    /// What cleans up the text of each stream, if the decoder cleans up whole texts.
    cleaners: Vec<CleanUpStream>,
    skip_special_tokens: bool,
    clean_up: Option<bool>,
}

impl DecodeStreams {
    /// Make a stream for each list of ids in `prefill`, positioned after these ids.
    pub fn begin(
        tokenizer: &Tokenizer,
        prefill: &[Vec<u32>],
        skip_special_tokens: bool,
        clean_up: Option<bool>,
    ) -> Result<Self, Error> {
        let mut streams = vec![DecodeStream::new(skip_special_tokens); prefill.len()];
        for (stream, ids) in streams.iter_mut().zip(prefill) {
            stream.prefill(ids, |ids, skip| tokenizer.decode_before_clean_up(ids, skip, clean_up))?;
        }
        let cleaners = vec![CleanUpStream::default(); prefill.len()];
        Ok(Self { streams, cleaners, skip_special_tokens, clean_up })
    }

    /// Continue from the states of other streams and the texts in `pending`; `None` for a state that no stream
    /// has.
    #[must_use]
    pub fn continued(
        states: Vec<StreamState>,
        pending: Vec<String>,
        skip_special_tokens: bool,
        clean_up: Option<bool>,
    ) -> Option<Self> {
        let stream = |state| DecodeStream::of_state(skip_special_tokens, state);
        let streams = states.into_iter().map(stream).collect::<Option<Vec<_>>>()?;
        let cleaners = pending.into_iter().map(CleanUpStream::of_pending).collect::<Vec<_>>();
        (cleaners.len() == streams.len()).then_some(Self {
            streams,
            cleaners,
            skip_special_tokens,
            clean_up,
        })
    }

    /// Decode the next id of each sequence (`None` for a finished one); return the text that each adds.
    ///
    /// Unknown ids add no text. Fails for another number of ids; the streams are then unchanged.
    pub fn step(
        &mut self,
        tokenizer: &Tokenizer,
        ids: &[Option<u32>],
    ) -> Result<Vec<Option<String>>, Error> {
        if ids.len() != self.streams.len() {
            let expected = format!("{}, one for each sequence", self.streams.len());
            return Err(Error::new(ErrorKind::Argument, "ids", format!("{} ids", ids.len()), expected));
        }
        let clean_up = self.clean_up;
        let is_known = |id: &u32| tokenizer.token_of(*id).is_some();
        let step = |(stream, id): (&mut DecodeStream, &Option<u32>)| match id.filter(is_known) {
            Some(id) => stream.step(id, |ids, skip| tokenizer.decode_before_clean_up(ids, skip, clean_up)),
            None => Ok(None),
        };
        let texts = self.streams.iter_mut().zip(ids).map(step).collect::<Result<Vec<_>, _>>()?;
        if !tokenizer.cleans_text(clean_up) {
            return Ok(texts);
        }
        let cleaned = |(text, cleaner): (Option<String>, &mut CleanUpStream)| {
            text.map(|text| cleaner.push(&text)).filter(|text| !text.is_empty())
        };
        Ok(texts.into_iter().zip(&mut self.cleaners).map(cleaned).collect())
    }

    /// Return the text that each sequence still buffers, and reset the streams.
    pub fn finish(&mut self, tokenizer: &Tokenizer) -> Result<Vec<Option<String>>, Error> {
        let clean_up = self.clean_up;
        let finish = |stream: &mut DecodeStream| {
            stream.finish(|ids, skip| tokenizer.decode_before_clean_up(ids, skip, clean_up))
        };
        let texts = self.streams.iter_mut().map(finish).collect::<Result<Vec<_>, _>>()?;
        if !tokenizer.cleans_text(clean_up) {
            return Ok(texts);
        }
        let cleaned = |(text, cleaner): (Option<String>, &mut CleanUpStream)| {
            let certain = cleaner.push(&text.unwrap_or_default());
            Some(certain + &cleaner.finish()).filter(|text| !text.is_empty())
        };
        Ok(texts.into_iter().zip(&mut self.cleaners).map(cleaned).collect())
    }

    /// Return what each stream remembers, the settings of all, and the texts that wait to be cleaned up.
    #[must_use]
    pub fn state(&self) -> (Vec<StreamState>, bool, Option<bool>, Vec<String>) {
        let states = self.streams.iter().map(DecodeStream::state).collect();
        let pending = self.cleaners.iter().map(|cleaner| cleaner.pending().to_owned()).collect();
        (states, self.skip_special_tokens, self.clean_up, pending)
    }
}
