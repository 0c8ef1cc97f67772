//! Text from ids that arrive one by one.

use piecework_core::engine::{self, DecodeStreams};
use wasm_bindgen::prelude::*;

use crate::errors::thrown;
use crate::tokenizer::Tokenizer;

/// Decodes one id at a time; it outlives its tokenizer.
#[wasm_bindgen]
pub struct DecodeStream {
    tokenizer: engine::Tokenizer,
    streams: DecodeStreams,
}

#[wasm_bindgen]
impl Tokenizer {
    /// Return a stream that continues after the ids of `prefill`.
    #[wasm_bindgen(js_name = decodeStream)]
    pub fn decode_stream(
        &self,
        prefill: Vec<u32>,
        #[wasm_bindgen(js_name = skipSpecialTokens)] skip_special_tokens: bool,
        #[wasm_bindgen(js_name = cleanUp)] clean_up: Option<bool>,
    ) -> Result<DecodeStream, JsValue> {
        let tokenizer = self.tokenizer().clone();
        let streams = DecodeStreams::begin(&tokenizer, &[prefill], skip_special_tokens, clean_up);
        Ok(DecodeStream { streams: streams.map_err(thrown)?, tokenizer })
    }
}

#[wasm_bindgen]
impl DecodeStream {
    /// Return the text that the next id adds; undefined while a character is incomplete.
    pub fn step(&mut self, id: u32) -> Result<Option<String>, JsValue> {
        let texts = self.streams.step(&self.tokenizer, &[Some(id)]).map_err(thrown)?;
        Ok(texts.into_iter().next().flatten())
    }

    /// Return the text of incomplete characters, undefined without one, and reset the stream.
    pub fn finish(&mut self) -> Result<Option<String>, JsValue> {
        let texts = self.streams.finish(&self.tokenizer).map_err(thrown)?;
        Ok(texts.into_iter().next().flatten())
    }
}
