//! Incremental decoding: token by token, for one or more sequences.

use std::sync::{Arc, Mutex, MutexGuard};

use piecework_catch_panics::catch_panics;
use piecework_core::error::Error;
use piecework_core::stages::decode::{DecodeStream, StreamState};
use pyo3::prelude::*;

use crate::errors::{bad_argument, raise};
use crate::panics::lock;
use crate::release::ReleaseGil;
use crate::shared_tokenizer::SharedTokenizer;

/// The decoding streams of several sequences.
#[pyclass(frozen, module = "piecework._core")]
pub struct RawDecodeStream {
    streams: Mutex<Vec<DecodeStream>>,
    tokenizer: Arc<SharedTokenizer>,
    skip_special_tokens: bool,
    clean_up: Option<bool>,
}

impl RawDecodeStream {
    /// Make a stream for each list of ids in `prefill`, positioned after these ids.
    pub(crate) fn begin(
        tokenizer: Arc<SharedTokenizer>,
        prefill: &[Vec<u32>],
        skip_special_tokens: bool,
        clean_up: Option<bool>,
    ) -> Result<Self, Error> {
        let mut streams = vec![DecodeStream::new(skip_special_tokens); prefill.len()];
        for (stream, ids) in streams.iter_mut().zip(prefill) {
            stream.prefill(ids, |ids, skip| tokenizer.encoder.tokenizer().decode(ids, skip, clean_up))?;
        }
        Ok(Self { streams: Mutex::new(streams), tokenizer, skip_special_tokens, clean_up })
    }

    /// Continue the streams with these states.
    pub(crate) fn continued(
        tokenizer: Arc<SharedTokenizer>,
        states: Vec<StreamState>,
        skip_special_tokens: bool,
        clean_up: Option<bool>,
    ) -> Option<Self> {
        let stream = |state| DecodeStream::of_state(skip_special_tokens, state);
        let streams = states.into_iter().map(stream).collect::<Option<_>>()?;
        Some(Self { streams: Mutex::new(streams), tokenizer, skip_special_tokens, clean_up })
    }

    /// Lock the streams.
    fn streams(&self) -> PyResult<MutexGuard<'_, Vec<DecodeStream>>> {
        lock(&self.streams)
    }

    fn decode(&self, ids: &[u32], skip_special_tokens: bool) -> Result<String, Error> {
        self.tokenizer.encoder.tokenizer().decode(ids, skip_special_tokens, self.clean_up)
    }
}

#[catch_panics]
#[pymethods]
impl RawDecodeStream {
    /// Decode the next id of each sequence (None for a finished one); return the text that each adds.
    ///
    /// Unknown ids add no text.
    fn step(&self, py: Python<'_>, ids: Vec<Option<u32>>) -> PyResult<Vec<Option<String>>> {
        let rows = py.release(|| self.streams().map(|streams| streams.len()))?;
        if ids.len() != rows {
            let expected = format!("{rows}, one for each sequence");
            return Err(bad_argument("ids", format!("{} ids", ids.len()), &expected));
        }
        let is_known = |id: &u32| self.tokenizer.encoder.tokenizer().token_of(*id).is_some();
        let step = |(stream, id): (&mut DecodeStream, Option<u32>)| match id.filter(is_known) {
            Some(id) => stream.step(id, |ids, skip| self.decode(ids, skip)),
            None => Ok(None),
        };
        py.release(|| {
            self.streams()?.iter_mut().zip(ids).map(step).collect::<Result<_, Error>>().map_err(raise)
        })
    }

    /// Return streams that continue independently of these.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let streams = py.release(|| self.streams().map(|streams| streams.clone()))?;
        Ok(Self {
            streams: Mutex::new(streams),
            tokenizer: Arc::clone(&self.tokenizer),
            skip_special_tokens: self.skip_special_tokens,
            clean_up: self.clean_up,
        })
    }

    /// Return what each stream remembers, and the settings of all.
    fn state(&self, py: Python<'_>) -> PyResult<(Vec<StreamState>, bool, Option<bool>)> {
        let states =
            py.release(|| self.streams().map(|streams| streams.iter().map(DecodeStream::state).collect()))?;
        Ok((states, self.skip_special_tokens, self.clean_up))
    }

    /// Return the text that each sequence still buffers.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<Option<String>>> {
        let finish = |stream: &mut DecodeStream| stream.finish(|ids, skip| self.decode(ids, skip));
        py.release(|| self.streams()?.iter_mut().map(finish).collect::<Result<_, Error>>().map_err(raise))
    }
}
