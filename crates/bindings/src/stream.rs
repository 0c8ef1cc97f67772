//! Incremental decoding: token by token, for one or more sequences.

use std::sync::{Arc, Mutex};

use piecework_catch_panics::python;
use piecework_core::engine::DecodeStreams;
use piecework_core::stages::decode::StreamState;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::panics::lock;
use crate::release::ReleaseGil;
use crate::shared_tokenizer::SharedTokenizer;

/// The decoding streams of several sequences.
#[pyclass(frozen, module = "piecework._core")]
pub struct RawDecodeStream {
    streams: Mutex<DecodeStreams>,
    tokenizer: Arc<SharedTokenizer>,
}

impl RawDecodeStream {
    /// Wrap the streams of a tokenizer.
    pub(crate) fn of(streams: DecodeStreams, tokenizer: &Arc<SharedTokenizer>) -> Self {
        Self { streams: Mutex::new(streams), tokenizer: Arc::clone(tokenizer) }
    }
}

#[python]
impl RawDecodeStream {
    /// Decode the next id of each sequence (None for a finished one); return the text that each adds.
    fn step(&self, py: Python<'_>, ids: Vec<Option<u32>>) -> PyResult<Vec<Option<String>>> {
        py.release(|| lock(&self.streams)?.step(self.tokenizer.tokenizer(), &ids).map_err(raise))
    }

    /// Return streams that continue independently of these.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let streams = py.release(|| lock(&self.streams).map(|streams| streams.clone()))?;
        Ok(Self::of(streams, &self.tokenizer))
    }

    /// Return what each stream remembers, and the settings of all.
    fn state(&self, py: Python<'_>) -> PyResult<(Vec<StreamState>, bool, Option<bool>)> {
        py.release(|| lock(&self.streams).map(|streams| streams.state()))
    }

    /// Return the text that each sequence still buffers.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<Option<String>>> {
        py.release(|| lock(&self.streams)?.finish(self.tokenizer.tokenizer()).map_err(raise))
    }
}
