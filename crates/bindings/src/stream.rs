//! Incremental decoding: token by token, for one or more sequences.

use std::sync::{Arc, Mutex};

use piecework_catch_panics::python;
use piecework_core::engine::{DecodeStreams, Tokenizer};
use piecework_core::error::Error;
use piecework_core::interrupt;
use piecework_core::stages::decode::StreamState;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::panics::lock;
use crate::release::ReleaseGil;
use crate::shared_tokenizer::SharedTokenizer;

/// What `RawDecodeStream.state` returns.
type StreamsState = (Vec<StreamState>, bool, Option<bool>, Vec<String>);

/// The decoding streams of several sequences.
#[pyclass(frozen, module = "piecework._internal._core")]
pub struct RawDecodeStream {
    streams: Mutex<DecodeStreams>,
    tokenizer: Arc<SharedTokenizer>,
}

impl RawDecodeStream {
    /// Wrap the streams of a tokenizer.
    pub(crate) fn of(streams: DecodeStreams, tokenizer: &Arc<SharedTokenizer>) -> Self {
        Self { streams: Mutex::new(streams), tokenizer: Arc::clone(tokenizer) }
    }

    /// Change the streams, without an end by a signal.
    fn change<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut DecodeStreams, &Tokenizer) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        py.release(|| {
            let mut streams = lock(&self.streams)?;
            interrupt::defer(|| work(&mut streams, self.tokenizer.tokenizer())).map_err(raise)
        })
    }
}

#[python]
impl RawDecodeStream {
    /// Decode the next id of each sequence (None for a finished one); return the text that each adds.
    fn step(&self, py: Python<'_>, ids: Vec<Option<u32>>) -> PyResult<Vec<Option<String>>> {
        self.change(py, |streams, tokenizer| streams.step(tokenizer, &ids))
    }

    /// Return streams that continue independently of these.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let streams = py.release(|| lock(&self.streams).map(|streams| streams.clone()))?;
        Ok(Self::of(streams, &self.tokenizer))
    }

    /// Return what each stream remembers, the settings of all, and the texts that wait to be cleaned up.
    fn state(&self, py: Python<'_>) -> PyResult<StreamsState> {
        py.release(|| lock(&self.streams).map(|streams| streams.state()))
    }

    /// Return the text that each sequence still buffers.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<Option<String>>> {
        self.change(py, DecodeStreams::finish)
    }
}
