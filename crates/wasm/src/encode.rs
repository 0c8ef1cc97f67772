//! Texts, pairs and prompts to columns of a batch.
//!
//! `parse` has the special tokens that are parsed in text, undefined for all of them; with `refuse`, a text that contains
//! one is an error. Columns are `[ids, rowOffsets, typeIds, samples, offsets, wordIds, sequenceIds]`; those that a batch
//! lacks are undefined.

use std::ops::Range;

use js_sys::{Array, Int32Array, Int8Array, Uint32Array, Uint8Array};
use piecework_core::encoding::{Encoding, NONE};
use piecework_core::engine::batch::{BatchIds, ExtraColumns, Prompts, Source, Spans};
use piecework_core::engine::{Input, Options};
use piecework_core::error::{shortened, Error, ErrorKind};
use piecework_core::spec::{Direction, ParseSpecial, Truncation, TruncationStrategy};
use piecework_core::stages::added_tokens::Selector;
use piecework_core::text::units_before_chars;
use wasm_bindgen::prelude::*;

use crate::errors::thrown;
use crate::tokenizer::Tokenizer;

/// The first byte of UTF-8 of characters with two UTF-16 units.
const FIRST_BYTE_OF_TWO_UNITS: u8 = 0xF0;

#[wasm_bindgen]
#[expect(clippy::needless_pass_by_value, reason = "strings of JavaScript are passed by value only")]
impl Tokenizer {
    /// Return the number of tokens: entries of the model and added tokens.
    #[wasm_bindgen(js_name = vocabSize)]
    #[must_use]
    pub fn vocab_size(&self) -> usize {
        self.tokenizer().entry_count(true)
    }

    /// Return whether special tokens are parsed in text by default; undefined if a text that contains one is an error.
    #[wasm_bindgen(js_name = parseSpecial)]
    #[must_use]
    pub fn parse_special(&self) -> Option<bool> {
        match self.parse_special {
            ParseSpecial::All => Some(true),
            ParseSpecial::Nothing => Some(false),
            ParseSpecial::Refuse => None,
        }
    }

    /// Return a tokenizer that truncates; it shares the tables.
    #[wasm_bindgen(js_name = withTruncation)]
    pub fn with_truncation(
        &self,
        #[wasm_bindgen(js_name = maxLength)] max_length: usize,
        stride: usize,
        #[wasm_bindgen(js_name = isLeft)] is_left: bool,
        strategy: &str,
    ) -> Result<Tokenizer, JsValue> {
        let truncation = Truncation {
            direction: if is_left { Direction::Left } else { Direction::Right },
            max_length,
            strategy: match strategy {
                "only_first" => TruncationStrategy::OnlyFirst,
                "only_second" => TruncationStrategy::OnlySecond,
                _ => TruncationStrategy::LongestFirst,
            },
            stride,
        };
        let tokenizer = self.tokenizer().with_lengths(Some(truncation), None).map_err(thrown)?;
        Ok(Self::around(tokenizer, self.parse_special))
    }

    /// Encode texts, or pairs if there are second texts.
    #[expect(clippy::too_many_arguments, reason = "an object of options costs a call for each")]
    #[wasm_bindgen(js_name = encodeRows)]
    pub fn encode_rows(
        &self,
        texts: Vec<String>,
        pairs: Option<Vec<String>>,
        #[wasm_bindgen(js_name = addSpecialTokens)] add_special_tokens: bool,
        parse: Option<Vec<String>>,
        refuse: bool,
        offsets: bool,
        overflow: bool,
    ) -> Result<Array, JsValue> {
        let selector = self.selector(parse, refuse, texts.iter().chain(pairs.iter().flatten()));
        let parse_special = &selector.map_err(thrown)?;
        let options = Options { add_special_tokens, parse_special, sampling: None };
        let seconds: Option<Vec<_>> =
            pairs.as_ref().map(|pairs| pairs.iter().map(|pair| Input::Text(pair)).collect());
        let extra = ExtraColumns { spans: offsets, overflow };
        let sources: Vec<_> = texts.iter().map(|text| Source::Input(Input::Text(text))).collect();
        let batch = self.encoder.encode(&sources, seconds.as_deref(), options, extra, 1);
        let mut batch = batch.map_err(thrown)?;
        count_in_utf16(&mut batch, &texts, pairs.as_deref());
        Ok(columns(&batch))
    }

    /// Encode the segments of one text; `allowed` is 1 for those that may contain special tokens.
    #[wasm_bindgen(js_name = encodeSegments)]
    pub fn encode_segments(
        &self,
        segments: Vec<String>,
        allowed: &[u8],
        #[wasm_bindgen(js_name = addSpecialTokens)] add_special_tokens: bool,
        markers: Option<Vec<String>>,
    ) -> Result<Array, JsValue> {
        let permitted = permitted_spans(&segments, allowed);
        let text = segments.concat();
        let encode =
            |prompts: &Prompts| prompts.encode(&self.encoder, &text, &permitted, add_special_tokens);
        let encoding = match markers {
            Some(markers) => {
                Prompts::new(self.tokenizer(), &[], Some(&markers)).and_then(|prompts| encode(&prompts))
            }
            None => self.prompts().and_then(encode),
        };
        let mut batch = row_of(&encoding.map_err(thrown)?);
        count_in_utf16(&mut batch, &[text], None);
        Ok(columns(&batch))
    }
}

impl Tokenizer {
    fn prompts(&self) -> Result<&Prompts, Error> {
        if let Some(prompts) = self.prompts.get() {
            return Ok(prompts);
        }
        let made = Prompts::new(self.tokenizer(), &[], None)?;
        Ok(self.prompts.get_or_init(|| made))
    }

    /// Return the special tokens to parse; fail for an unknown one, and for texts with one that is refused.
    fn selector<'t>(
        &self,
        parse: Option<Vec<String>>,
        refuse: bool,
        mut texts: impl Iterator<Item = &'t String>,
    ) -> Result<Selector, Error> {
        if refuse {
            texts.try_for_each(|text| self.refuse_special(text))?;
        }
        let Some(tokens) = parse else { return Ok(Selector::All) };
        let id = |token: &String| {
            let mut special = self.tokenizer().special_tokens();
            special.find(|(content, _)| content == token).map(|(_, id)| id).ok_or_else(|| {
                let found = format!("{:?}", shortened(token));
                Error::new(ErrorKind::Argument, "parseSpecial", found, "special tokens of the tokenizer")
            })
        };
        Ok(Selector::only(tokens.iter().map(id).collect::<Result<_, _>>()?))
    }

    fn refuse_special(&self, text: &str) -> Result<(), Error> {
        let Some(id) = self.tokenizer().find_special(text, &Selector::All)? else { return Ok(()) };
        let token = self.tokenizer().token_of(id).unwrap_or_default();
        let found = format!("the special token {token:?}");
        let error = Error::new(ErrorKind::SpecialToken, "text", found, "");
        Err(error.with_hint("parseSpecial: true parses it, false encodes it as text"))
    }
}

/// Return the byte spans of the segments that may contain special tokens, in their concatenation.
fn permitted_spans(segments: &[String], allowed: &[u8]) -> Vec<Range<usize>> {
    let mut end = 0;
    let spans = segments.iter().map(|segment| {
        let start = end;
        end += segment.len();
        start..end
    });
    let permitted = spans.zip(allowed).filter(|(span, allowed)| **allowed != 0 && !span.is_empty());
    permitted.map(|(span, _)| span).collect()
}

/// Return an encoding as a batch of one row.
fn row_of(encoding: &Encoding) -> BatchIds {
    let tokens = &encoding.tokens;
    BatchIds {
        ids: tokens.iter().map(|token| token.id).collect(),
        row_offsets: vec![0, tokens.len() as i64],
        type_ids: Some(tokens.iter().map(|token| token.type_id as u8).collect()),
        spans: Some(Spans {
            offsets: tokens.iter().map(|token| [token.start, token.end]).collect(),
            word_ids: tokens.iter().map(|token| token.word as i32).collect(),
            sequence_ids: Some(
                tokens.iter().map(|token| if token.sequence == NONE { -1 } else { 0 }).collect(),
            ),
        }),
        ..BatchIds::default()
    }
}

/// Convert the offsets of a batch from characters to UTF-16 units of its texts.
fn count_in_utf16(batch: &mut BatchIds, texts: &[String], pairs: Option<&[String]>) {
    let Some(spans) = &mut batch.spans else { return };
    let mut units = (usize::MAX, [None, None]);
    for (row, range) in batch.row_offsets.windows(2).enumerate() {
        let sample = batch.samples.as_ref().map_or(row, |samples| samples[row] as usize);
        if units.0 != sample {
            let second = pairs.and_then(|pairs| units_of(&pairs[sample]));
            units = (sample, [units_of(&texts[sample]), second]);
        }
        for token in range[0] as usize..range[1] as usize {
            let sequence = spans.sequence_ids.as_ref().map_or(0, |sequences| sequences[token]);
            let Some(Some(before)) = units.1.get(sequence as usize) else { continue };
            spans.offsets[token] = spans.offsets[token].map(|char| before[char as usize] as u32);
        }
    }
}

/// Return the UTF-16 units before each character; `None` if every character is one unit.
fn units_of(text: &str) -> Option<Vec<usize>> {
    let has_two = text.bytes().any(|byte| byte >= FIRST_BYTE_OF_TWO_UNITS);
    has_two.then(|| units_before_chars(text, char::len_utf16))
}

fn columns(batch: &BatchIds) -> Array {
    let numbers = |numbers: &[i64]| {
        let numbers: Vec<u32> = numbers.iter().map(|&number| number as u32).collect();
        JsValue::from(Uint32Array::from(&numbers[..]))
    };
    let spans = batch.spans.as_ref();
    let columns = [
        Some(Uint32Array::from(&batch.ids[..]).into()),
        Some(numbers(&batch.row_offsets)),
        batch.type_ids.as_ref().map(|types| Uint8Array::from(&types[..]).into()),
        batch.samples.as_ref().map(|samples| numbers(samples)),
        spans.map(|spans| Uint32Array::from(spans.offsets.as_flattened()).into()),
        spans.map(|spans| Int32Array::from(&spans.word_ids[..]).into()),
        spans
            .and_then(|spans| spans.sequence_ids.as_ref())
            .map(|sequences| Int8Array::from(&sequences[..]).into()),
    ];
    columns.into_iter().map(|column| column.unwrap_or(JsValue::UNDEFINED)).collect()
}
