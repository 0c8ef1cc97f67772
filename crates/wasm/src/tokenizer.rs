//! The class `Tokenizer`.

use std::cell::OnceCell;

use piecework_core::engine::batch::{Encoder, ExtraColumns, Prompts, Source};
use piecework_core::engine::{self, Input, Options, Selection};
use piecework_core::error::{Error, ErrorKind};
use piecework_core::model::Sampling;
use piecework_core::spec::{ModelSpec, ParseSpecial, SentencePieceKind, TokenizerSpec};
use piecework_core::stages::added_tokens::Selector;
use piecework_formats::tokenizer_json;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::errors::thrown;
use crate::explain::Explainer;
use crate::files::{format_name, read, read_merges, read_ranks};
use crate::json::to_js;
use crate::readable::ReadableTokens;
use crate::tokens::Tokens;

/// The most characters of a text that is explained, as on the page.
const EXPLAINED_CHARS: usize = 500;
const MAX_SEGMENTATIONS: usize = 64;
/// The word cache of each tokenizer, in bytes: several are open at once.
const CACHE_BYTES: usize = 16 << 20;

/// A tokenizer that was loaded or trained.
///
/// Truncation and padding of its file are not applied.
#[wasm_bindgen]
pub struct Tokenizer {
    pub(crate) encoder: Encoder,
    pub(crate) parse_special: ParseSpecial,
    /// What encodes prompts, made at first use.
    pub(crate) prompts: OnceCell<Prompts>,
    readable: OnceCell<ReadableTokens>,
    explainer: OnceCell<Explainer>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Description {
    model: String,
    vocab_size: usize,
    view: Option<&'static str>,
    samples: bool,
    added: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Segmentation {
    tokens: Vec<String>,
    score: Option<f64>,
    log_probability: Option<f64>,
}

#[wasm_bindgen]
impl Tokenizer {
    /// Read a tokenizer.json, vocab.txt, SentencePiece `.model`, tekken.json, `.piecework`, CLIP or GGUF file.
    ///
    /// Its content decides what it is; `source` names it in errors.
    pub fn load(data: &[u8], source: &str) -> Result<Tokenizer, JsValue> {
        let (spec, parse_special) = read(data, source).map_err(thrown)?;
        Ok(Self { parse_special, ..Self::compile(Ok(spec), source)? })
    }

    /// Read vocab.json with merges.txt; the two names are for errors.
    #[wasm_bindgen(js_name = loadMerges)]
    pub fn load_merges(
        vocab: &[u8],
        merges: &[u8],
        #[wasm_bindgen(js_name = vocabSource)] vocab_source: &str,
        #[wasm_bindgen(js_name = mergesSource)] merges_source: &str,
    ) -> Result<Tokenizer, JsValue> {
        Self::compile(read_merges(vocab, merges, (vocab_source, merges_source)), vocab_source)
    }

    /// Read tiktoken ranks.
    ///
    /// `pipeline` is a JSON object with a `pre_tokenizer` as in tokenizer.json. Special tokens and their ids are lists of
    /// equal length.
    #[wasm_bindgen(js_name = loadRanks)]
    pub fn load_ranks(
        data: &[u8],
        source: &str,
        pipeline: &str,
        #[wasm_bindgen(js_name = specialTokens)] special_tokens: Vec<String>,
        #[wasm_bindgen(js_name = specialIds)] special_ids: Vec<u32>,
    ) -> Result<Tokenizer, JsValue> {
        let special: Vec<_> = special_tokens.into_iter().zip(special_ids).collect();
        let tokenizer = Self::compile(read_ranks(data, source, pipeline, &special), source)?;
        Ok(Self { parse_special: ParseSpecial::Refuse, ..tokenizer })
    }

    /// Return the name of the format of a file: "tokenizer.json", "vocab.txt", ...
    #[wasm_bindgen(js_name = formatOf)]
    #[must_use]
    pub fn format_of(data: &[u8]) -> String {
        format_name(data).to_owned()
    }

    /// Return what a page shows of the tokenizer.
    #[wasm_bindgen(unchecked_return_type = "Description")]
    pub fn describe(&self) -> Result<JsValue, JsValue> {
        let (model, view) = model_and_view(&self.tokenizer().spec().model);
        to_js(&Description {
            model,
            vocab_size: self.tokenizer().entry_count(true),
            view,
            samples: matches!(view, Some("lattice" | "merges")),
            added: self.added_by_template().map_err(thrown)?,
        })
    }

    /// Encode a text for a page, which shows its special tokens; `addSpecialTokens` runs the post-processor.
    pub fn encode(
        &self,
        text: &str,
        #[wasm_bindgen(js_name = addSpecialTokens)] add_special_tokens: Option<bool>,
    ) -> Result<Tokens, JsValue> {
        let batch = self.batch(text, add_special_tokens.unwrap_or(false)).map_err(thrown)?;
        Tokens::of(batch, text, self.tokenizer(), self.readable())
    }

    /// Return the text of ids.
    pub fn decode(
        &self,
        ids: &[u32],
        #[wasm_bindgen(js_name = skipSpecialTokens)] skip_special_tokens: Option<bool>,
        #[wasm_bindgen(js_name = cleanUp)] clean_up: Option<bool>,
    ) -> Result<String, JsValue> {
        self.tokenizer().decode(ids, skip_special_tokens.unwrap_or(false), clean_up).map_err(thrown)
    }

    /// Return the token of an id; undefined for an id that is not in the vocabulary.
    #[wasm_bindgen(js_name = idToToken)]
    #[must_use]
    pub fn id_to_token(&self, id: u32) -> Option<String> {
        self.tokenizer().token_of(id).map(str::to_owned)
    }

    /// Return the id of a token; undefined for an unknown one.
    #[wasm_bindgen(js_name = tokenToId)]
    #[must_use]
    pub fn token_to_id(&self, token: &str) -> Option<u32> {
        self.tokenizer().id_of(token)
    }

    /// Return how each word of a text of at most 500 characters is segmented.
    #[wasm_bindgen(unchecked_return_type = "Explanation")]
    pub fn explain(&self, text: &str) -> Result<JsValue, JsValue> {
        check_length(text).map_err(thrown)?;
        let explainer = self.explainer.get_or_init(|| Explainer::new(self.tokenizer()));
        let words = explainer.explain(self.tokenizer(), self.readable(), text).map_err(thrown)?;
        to_js(&words)
    }

    /// Return the `n` best segmentations of a text of at most 500 characters, or `n` samples.
    ///
    /// `alpha` is the factor of the scores of a Unigram model, or the dropout of a BPE model, which has samples only.
    #[wasm_bindgen(unchecked_return_type = "Segmentation[]")]
    pub fn segmentations(
        &self,
        text: &str,
        #[wasm_bindgen(unchecked_param_type = "\"best\" | \"sample\"")] draw: &str,
        n: usize,
        alpha: f64,
        seed: u32,
    ) -> Result<JsValue, JsValue> {
        let found = self.drawn(text, draw == "best", n, alpha, seed).map_err(thrown)?;
        to_js(&found)
    }

    /// Return the tokenizer as a tokenizer.json.
    #[must_use]
    pub fn save(&self) -> String {
        tokenizer_json::write(&self.tokenizer().spec(), false)
    }
}

impl Tokenizer {
    /// Compile what was read; errors name the source. Its code is in the module once.
    #[inline(never)]
    pub(crate) fn compile(spec: Result<TokenizerSpec, Error>, source: &str) -> Result<Self, JsValue> {
        let compile = |spec| {
            let tokenizer =
                engine::Tokenizer::compile(TokenizerSpec { truncation: None, padding: None, ..spec });
            tokenizer.map_err(|error| if source.is_empty() { error } else { error.within(source) })
        };
        let tokenizer = spec.and_then(compile).map_err(thrown)?;
        Ok(Self::around(tokenizer.with_cache_budget(CACHE_BYTES), ParseSpecial::All))
    }

    /// Return a tokenizer around a compiled one.
    pub(crate) fn around(tokenizer: engine::Tokenizer, parse_special: ParseSpecial) -> Self {
        Self {
            encoder: Encoder::new(tokenizer),
            parse_special,
            prompts: OnceCell::new(),
            readable: OnceCell::new(),
            explainer: OnceCell::new(),
        }
    }

    pub(crate) fn tokenizer(&self) -> &engine::Tokenizer {
        self.encoder.tokenizer()
    }

    fn readable(&self) -> &ReadableTokens {
        self.readable.get_or_init(|| ReadableTokens::of(self.tokenizer()))
    }

    fn batch(&self, text: &str, add_special_tokens: bool) -> Result<engine::batch::BatchIds, Error> {
        let options = Options { add_special_tokens, parse_special: &Selector::All, sampling: None };
        let extra = ExtraColumns { spans: true, overflow: false };
        self.encoder.encode(&[Source::Input(Input::Text(text))], None, options, extra, 1)
    }

    fn added_by_template(&self) -> Result<Vec<String>, Error> {
        let ids = self.batch("", true)?.ids;
        let token = |id: u32| self.tokenizer().token_of(id).unwrap_or_default();
        Ok(ids.into_iter().map(|id| self.readable().text_of(token(id))).collect())
    }

    fn drawn(
        &self,
        text: &str,
        is_best: bool,
        n: usize,
        alpha: f64,
        seed: u32,
    ) -> Result<Vec<Segmentation>, Error> {
        check_length(text)?;
        if !(1..=MAX_SEGMENTATIONS).contains(&n) {
            let expected = format!("a number from 1 to {MAX_SEGMENTATIONS}");
            return Err(Error::new(ErrorKind::Argument, "n", n.to_string(), expected));
        }
        let sampling = Sampling { alpha, nbest: None, seed: u64::from(seed), row: 0 };
        let (_, view) = model_and_view(&self.tokenizer().spec().model);
        match view {
            Some("lattice") => self.scored(text, n, is_best, sampling),
            Some("merges") if !is_best => {
                (0..n).map(|row| self.sampled(text, sampling.at_row(row))).collect()
            }
            _ => Err(Error::new(
                ErrorKind::Argument,
                "draw",
                "this model",
                "a Unigram model, or samples of a BPE model",
            )),
        }
    }

    fn scored(
        &self,
        text: &str,
        n: usize,
        is_best: bool,
        sampling: Sampling,
    ) -> Result<Vec<Segmentation>, Error> {
        let selection = if is_best { Selection::Best } else { Selection::Sampled(sampling) };
        let options = Options { add_special_tokens: false, parse_special: &Selector::All, sampling: None };
        let found = self.encoder.with_scratch(|scratch| {
            self.tokenizer().segmentations(Input::Text(text), n, selection, options, scratch)
        })?;
        Ok(found
            .into_iter()
            .map(|one| Segmentation {
                tokens: self.texts(one.tokens.tokens.iter().map(|token| token.id)),
                score: Some(one.score),
                log_probability: Some(one.log_probability),
            })
            .collect())
    }

    fn sampled(&self, text: &str, sampling: Sampling) -> Result<Segmentation, Error> {
        let options =
            Options { add_special_tokens: false, parse_special: &Selector::All, sampling: Some(sampling) };
        let source = Source::Input(Input::Text(text));
        let tokens = self.encoder.ids(source, options, |ids| self.texts(ids.iter().copied()))?;
        Ok(Segmentation { tokens, score: None, log_probability: None })
    }

    fn texts(&self, ids: impl Iterator<Item = u32>) -> Vec<String> {
        ids.map(|id| self.readable().text_of(self.tokenizer().token_of(id).unwrap_or_default())).collect()
    }
}

/// Return the kind of a model, and how its words are explained.
fn model_and_view(model: &ModelSpec) -> (String, Option<&'static str>) {
    let (kind, view) = match model {
        ModelSpec::WordPiece(_) => ("WordPiece", Some("search")),
        ModelSpec::Word(_) => ("WordLevel", None),
        ModelSpec::Char(_) => ("Char", None),
        ModelSpec::Bpe(_) => ("BPE", Some("merges")),
        ModelSpec::Unigram(_) => ("Unigram", Some("lattice")),
        ModelSpec::SentencePiece(spec) => match spec.kind {
            SentencePieceKind::Unigram => ("SentencePiece unigram", Some("lattice")),
            SentencePieceKind::Bpe => ("SentencePiece bpe", Some("merges")),
            SentencePieceKind::Word => ("SentencePiece word", None),
            SentencePieceKind::Char => ("SentencePiece char", None),
        },
    };
    (kind.to_owned(), view)
}

fn check_length(text: &str) -> Result<(), Error> {
    let found = text.chars().count();
    if found <= EXPLAINED_CHARS {
        return Ok(());
    }
    let found = format!("{found} characters");
    Err(Error::new(ErrorKind::Argument, "text", found, format!("at most {EXPLAINED_CHARS}")))
}
