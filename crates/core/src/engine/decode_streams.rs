//! Incremental decoding of several sequences, one id of each at a time.

use super::Tokenizer;
use crate::error::{Error, ErrorKind};
use crate::stages::decode::{DecodeStream, StreamState};

/// The decoding streams of several sequences of one tokenizer, which every call takes.
#[derive(Clone, Debug)]
pub struct DecodeStreams {
    streams: Vec<DecodeStream>,
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
            stream.prefill(ids, |ids, skip| tokenizer.decode(ids, skip, clean_up))?;
        }
        Ok(Self { streams, skip_special_tokens, clean_up })
    }

    /// Continue from the states of other streams; `None` for a state that no stream has.
    #[must_use]
    pub fn continued(
        states: Vec<StreamState>,
        skip_special_tokens: bool,
        clean_up: Option<bool>,
    ) -> Option<Self> {
        let stream = |state| DecodeStream::of_state(skip_special_tokens, state);
        let streams = states.into_iter().map(stream).collect::<Option<_>>()?;
        Some(Self { streams, skip_special_tokens, clean_up })
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
            Some(id) => stream.step(id, |ids, skip| tokenizer.decode(ids, skip, clean_up)),
            None => Ok(None),
        };
        self.streams.iter_mut().zip(ids).map(step).collect()
    }

    /// Return the text that each sequence still buffers, and reset the streams.
    pub fn finish(&mut self, tokenizer: &Tokenizer) -> Result<Vec<Option<String>>, Error> {
        let clean_up = self.clean_up;
        let finish =
            |stream: &mut DecodeStream| stream.finish(|ids, skip| tokenizer.decode(ids, skip, clean_up));
        self.streams.iter_mut().map(finish).collect()
    }

    /// Return what each stream remembers, and the settings of all.
    #[must_use]
    pub fn state(&self) -> (Vec<StreamState>, bool, Option<bool>) {
        let states = self.streams.iter().map(DecodeStream::state).collect();
        (states, self.skip_special_tokens, self.clean_up)
    }
}
