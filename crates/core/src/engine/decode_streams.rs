//! Incremental decoding of several sequences, one id of each at a time.

use super::Tokenizer;
use crate::error::{Error, ErrorKind};
use crate::stages::decode::{CleanUpStream, DecodeStream, StreamState};

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
