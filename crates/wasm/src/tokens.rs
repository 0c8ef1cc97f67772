//! The tokens of a text as columns of numbers.

use std::collections::BTreeMap;

use piecework_core::engine::batch::BatchIds;
use piecework_core::engine::Tokenizer;
use piecework_core::text::units_before_chars;
use wasm_bindgen::prelude::*;

use crate::json::to_js;
use crate::readable::ReadableTokens;

const UNKNOWN: u8 = 2;
const TEMPLATE: u8 = 4;

/// The tokens of one text: columns of equal length, one item a token.
#[wasm_bindgen]
pub struct Tokens {
    ids: Vec<u32>,
    starts: Vec<u32>,
    ends: Vec<u32>,
    flags: Vec<u8>,
    names: JsValue,
    distinct: usize,
    unknown: usize,
}

#[wasm_bindgen]
impl Tokens {
    /// Vocabulary ids.
    #[wasm_bindgen(getter)]
    pub fn ids(&self) -> Vec<u32> {
        self.ids.clone()
    }

    /// Where each token starts, in UTF-16 units of the text; 0 for tokens that the post-processor added.
    #[wasm_bindgen(getter)]
    pub fn starts(&self) -> Vec<u32> {
        self.starts.clone()
    }

    /// Where each token ends, in UTF-16 units of the text.
    #[wasm_bindgen(getter)]
    pub fn ends(&self) -> Vec<u32> {
        self.ends.clone()
    }

    /// Bits of each token: 2 for the unknown token, 4 for one that the post-processor added.
    #[wasm_bindgen(getter)]
    pub fn flags(&self) -> Vec<u8> {
        self.flags.clone()
    }

    /// The tokens by id: as in the vocabulary, as text, and in hexadecimal the bytes of one that is no text.
    #[wasm_bindgen(getter, unchecked_return_type = "Record<number, [string, string, string]>")]
    pub fn tokens(&self) -> JsValue {
        self.names.clone()
    }

    /// The number of different ids.
    #[wasm_bindgen(getter)]
    pub fn distinct(&self) -> usize {
        self.distinct
    }

    /// The number of unknown tokens.
    #[wasm_bindgen(getter)]
    pub fn unknown(&self) -> usize {
        self.unknown
    }
}

impl Tokens {
    /// Return the columns of a batch of one text.
    pub(crate) fn of(
        batch: BatchIds,
        text: &str,
        tokenizer: &Tokenizer,
        readable: &ReadableTokens,
    ) -> Result<Self, JsValue> {
        let spans = batch.spans.unwrap_or_default();
        let units = units_before_chars(text, char::len_utf16);
        let before = |chars: u32| units[chars as usize] as u32;
        let is_added: Vec<bool> = match &spans.sequence_ids {
            Some(sequences) => sequences.iter().map(|&sequence| sequence < 0).collect(),
            None => spans.word_ids.iter().map(|&word| word < 0).collect(),
        };
        let unknown_id = tokenizer.unk_id();
        let flag = |(&id, &is_added): (&u32, &bool)| {
            u8::from(Some(id) == unknown_id) * UNKNOWN + u8::from(is_added) * TEMPLATE
        };
        let flags: Vec<u8> = batch.ids.iter().zip(&is_added).map(flag).collect();
        let names = names_of(&batch.ids, tokenizer, readable);
        Ok(Self {
            starts: spans.offsets.iter().map(|span| before(span[0])).collect(),
            ends: spans.offsets.iter().map(|span| before(span[1])).collect(),
            unknown: flags.iter().filter(|&flag| flag & UNKNOWN != 0).count(),
            distinct: names.len(),
            names: to_js(&names)?,
            ids: batch.ids,
            flags,
        })
    }
}

fn names_of(
    ids: &[u32],
    tokenizer: &Tokenizer,
    readable: &ReadableTokens,
) -> BTreeMap<u32, crate::readable::ReadableToken> {
    let mut is_used = vec![false; tokenizer.id_bound() as usize];
    ids.iter().for_each(|&id| is_used[id as usize] = true);
    let used = (0_u32..).zip(is_used).filter(|(_, is_used)| *is_used);
    used.map(|(id, _)| (id, readable.of_token(tokenizer.token_of(id).unwrap_or_default()))).collect()
}
