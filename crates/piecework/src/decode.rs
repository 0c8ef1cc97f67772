//! Decode.

use piecework_core::engine::{DecodeStreams, decoding_chunks, text_of};

use crate::{DecodeOptions, DecodeStream, Error, Tokenizer};

/// # Decode
impl Tokenizer {
    /// Decode ids to text, without special tokens. Ids that are not in the vocabulary are skipped; bytes that are not
    /// UTF-8 become U+FFFD.
    pub fn decode(&self, ids: &[u32]) -> Result<String, Error> {
        self.decode_with(ids, &DecodeOptions::default())
    }

    /// Decode ids with other options than the default.
    pub fn decode_with(&self, ids: &[u32], options: &DecodeOptions) -> Result<String, Error> {
        Ok(self.core().decode(ids, options.skip_special_tokens, options.clean_up)?)
    }

    /// Decode every row of ids.
    pub fn decode_batch<R: AsRef<[u32]>>(
        &self,
        rows: impl IntoIterator<Item = R>,
    ) -> Result<Vec<String>, Error> {
        self.decode_batch_with(rows, &DecodeOptions::default())
    }

    /// Decode every row of ids with other options than the default.
    pub fn decode_batch_with<R: AsRef<[u32]>>(
        &self,
        rows: impl IntoIterator<Item = R>,
        options: &DecodeOptions,
    ) -> Result<Vec<String>, Error> {
        let rows: Vec<R> = rows.into_iter().collect();
        let rows: Vec<&[u32]> = rows.iter().map(AsRef::as_ref).collect();
        let mut texts = Vec::with_capacity(rows.len());
        for chunk in decoding_chunks(&rows) {
            let decoded = self.core().decode_rows(chunk, options.skip_special_tokens, options.clean_up)?;
            texts.extend(decoded.iter().map(|bytes| text_of(bytes.to_vec())));
        }
        Ok(texts)
    }

    /// Return the bytes of ids, special tokens included; the decoder is not applied. Fails for an unknown id.
    pub fn decode_bytes(&self, ids: &[u32]) -> Result<Vec<u8>, Error> {
        Ok(self.core().decode_bytes(ids)?)
    }

    /// Return a stream that decodes one id at a time. `prefill` holds the ids before it, such as a prompt, whose text
    /// the stream does not return.
    pub fn decode_stream(&self, prefill: &[u32]) -> Result<DecodeStream, Error> {
        self.decode_stream_with(prefill, &DecodeOptions::default())
    }

    /// Return a stream with other options than the default.
    pub fn decode_stream_with(
        &self,
        prefill: &[u32],
        options: &DecodeOptions,
    ) -> Result<DecodeStream, Error> {
        let DecodeOptions { skip_special_tokens, clean_up } = *options;
        let streams =
            DecodeStreams::begin(self.core(), &[prefill.to_vec()], skip_special_tokens, clean_up)?;
        Ok(DecodeStream::new(self, streams))
    }
}
