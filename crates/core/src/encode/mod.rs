//! The compiled tokenizer: every stage in the order of the data. The only module that names them all.

mod byte_words;
mod bytes;
mod checks;
mod decoding;
mod held;
mod input;
mod known_ids;
mod laid;
mod later;
mod locks;
mod marked;
mod pieces;
mod row_tokens;
mod segmentations;
mod sentences;
mod spelled_tokens;
mod stretches;
mod tokens;
mod warnings;
mod words;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::added_tokens::{AddedTokens, Segment};
use crate::decode::Decoder;
use crate::encoding::{self, Encoding};
use crate::error::{Error, ErrorKind};
use crate::model::{Model, ModelScratch, Piece};
use crate::normalize::Normalizer;
use crate::postprocess::PostProcessor;
use crate::pretokenize::PreTokenizer;
use crate::spec::{
    AddedToken, DecoderSpec, ModelSpec, NormalizerSpec, Padding, PieceType, PostProcessorSpec, ScoredPiece,
    TokenizerSpec, Truncation,
};
use crate::table_sections::TableSections;
use crate::text::PreTokenizedText;
use crate::vocab::Vocab;
use crate::word_cache::{LongWords, ShortWords};

use byte_words::Batch;
use checks::{
    check_added_tokens, check_padding, check_padding_id, check_post_processor, check_truncation, cut,
};
use decoding::DecodeTables;
pub use decoding::{text_of, DecodedRows};
pub use input::{room_for, Input, Options};
use laid::{Laid, Lengths};
use later::Held;
pub(crate) use locks::try_lock;
use marked::{Marked, MarkedScratch};
pub use pieces::{PieceSegmentation, SpannedPiece};
pub use row_tokens::Row;
pub use segmentations::{Choice, Segmentation};
use tokens::{Part, Swallowed};
pub use warnings::Origin;
use words::WordIds;
pub use words::{SplitScratch, Splitter, WordSink};

/// A compiled tokenizer: immutable, shared by all threads. A clone shares its tables.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    tables: Arc<Tables>,
    truncation: Option<Truncation>,
    padding: Option<Padding>,
    /// The memory limit of the caches of one thread, in bytes.
    cache_bytes: usize,
}

/// The compiled stages, which do not depend on truncation, padding and cache sizes.
#[derive(Debug)]
struct Tables {
    special: AddedTokens,
    splitter: Splitter,
    /// How words are told in raw text, where they begin with marks.
    marked: Option<Marked>,
    model: Model,
    model_spec: ModelSpec,
    vocab: Vocab,
    post_processor: PostProcessor,
    decoder: Decoder,
    /// The normalizer that a SentencePiece decoder applies to the decoded text.
    denormalizer: Normalizer,
    gathers: DecodeTables,
    added: FxHashMap<u32, String>,
    added_ids: FxHashMap<String, u32>,
    lengths: Lengths,
}

/// What one thread works with; made by [`Tokenizer::scratch`].
#[derive(Clone, Debug)]
pub struct Scratch {
    memo: ShortWords,
    texts: LongWords,
    batch: Batch,
    held: Held,
    model: ModelScratch,
    split: SplitScratch,
    marked: MarkedScratch,
    first: Vec<u32>,
    second: Vec<u32>,
    row: Vec<u32>,
    /// Ids on their way to be laid along words,
    unlaid: Vec<u32>,
    /// and where they then come from.
    laid: Laid,
    pieces: Vec<Piece>,
    swallowed: Swallowed,
}

impl Scratch {
    /// What the caches take, whatever was encoded.
    fn cache_bytes(&self) -> usize {
        self.memo.bytes() + self.texts.memory()
    }
}

/// Memory in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The tables of the vocabulary and the model, which all threads share.
    pub tables: usize,
    /// The caches of each thread that encodes.
    pub caches: usize,
    /// What these caches may take at the most.
    pub budget: usize,
}

/// What the caches of a thread may take unless told otherwise.
const DEFAULT_CACHE_BYTES: usize = 64 << 20;

/// The most tokens that padding may make of one text and its overflowing windows.
const MAX_PADDED_IN_ALL: usize = 1 << 22;

/// 4 MB for each thread: about as many different words as some 10 MB of English have.
const MEMO_BITS: u32 = 17;
/// 1 MB to begin with where words are spelled by their bytes.
const SPELLED_MEMO_BITS: u32 = 15;

impl Tokenizer {
    /// Check a specification and build every table; one that is given away is not copied.
    pub fn compile(spec: impl Into<TokenizerSpec>) -> Result<Self, Error> {
        let spec = spec.into();
        let vocab = Vocab::of_model(&spec.model)?;
        Self::over(vocab, spec, &TableSections::default())
    }

    /// Put together again what [`Tokenizer::store`] took apart; `spec` is what it was compiled from.
    pub fn restore(spec: TokenizerSpec, vocab: Vocab, parts: &TableSections) -> Result<Self, Error> {
        Self::over(vocab, spec, parts)
    }

    /// Take apart the tables that take long to build.
    #[must_use]
    pub fn store(&self) -> TableSections {
        let mut parts = TableSections::default();
        self.tables.vocab.store(&mut parts);
        self.tables.model.store(&mut parts);
        parts
    }

    fn over(vocab: Vocab, spec: TokenizerSpec, parts: &TableSections) -> Result<Self, Error> {
        check_added_tokens(&spec.added_tokens, &vocab)?;
        let post_processor = PostProcessor::compile(spec.post_processor.as_ref())?;
        check_lengths(spec.truncation.as_ref(), spec.padding.as_ref(), &post_processor)?;
        let added = spec.added_tokens.iter().map(|token| (token.id, token.content.clone()));
        let normalizer = Normalizer::compile(spec.normalizer.as_ref())?;
        let normalized = |text: &str| {
            let mut out = String::new();
            normalizer.run(text, 0, &mut out).map(|()| out)
        };
        let mut tables = Tables {
            special: AddedTokens::compile(&spec.added_tokens, normalized)?,
            splitter: Splitter::new(normalizer, PreTokenizer::compile(spec.pre_tokenizer.as_ref())?),
            marked: None,
            model: Model::compile(&spec.model, &vocab, parts)?,
            added_ids: added.clone().map(|(id, content)| (content, id)).collect(),
            added: added.collect(),
            vocab,
            post_processor,
            decoder: Decoder::compile(spec.decoder.as_ref())?,
            denormalizer: denormalizer(spec.decoder.as_ref())?,
            gathers: DecodeTables::default(),
            model_spec: spec.model,
            lengths: Lengths::default(),
        };
        tables.marked = tables.marked_words();
        let pipeline = Self {
            tables: Arc::new(tables),
            truncation: spec.truncation,
            padding: spec.padding,
            cache_bytes: DEFAULT_CACHE_BYTES,
        };
        pipeline.check_ids(spec.post_processor.as_ref())?;
        Ok(pipeline)
    }

    /// Return a pipeline that shares the compiled tables and truncates and pads by other settings.
    pub fn with_lengths(
        &self,
        truncation: Option<Truncation>,
        padding: Option<Padding>,
    ) -> Result<Self, Error> {
        check_lengths(truncation.as_ref(), padding.as_ref(), &self.tables.post_processor)?;
        let pipeline = Self { truncation, padding, ..self.clone() };
        pipeline.check_ids(None)?;
        Ok(pipeline)
    }

    /// Whether both pipelines use the same compiled tables in memory.
    #[must_use]
    pub fn shares_tables_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tables, &other.tables)
    }

    /// Refuse ids of other stages that stand for nothing here.
    fn check_ids(&self, post_processor: Option<&PostProcessorSpec>) -> Result<(), Error> {
        if let Some(post_processor) = post_processor {
            check_post_processor(post_processor, |id| self.token_of(id))?;
        }
        self.padding.as_ref().map_or(Ok(()), |padding| check_padding_id(padding, |id| self.token_of(id)))
    }

    /// The specification it was compiled from.
    #[must_use]
    pub fn spec(&self) -> TokenizerSpec {
        TokenizerSpec {
            truncation: self.truncation.clone(),
            padding: self.padding.clone(),
            added_tokens: self.tables.special.tokens().to_vec(),
            normalizer: self.tables.splitter.normalizer().spec(),
            pre_tokenizer: self.tables.splitter.pre_tokenizer().spec(),
            post_processor: self.tables.post_processor.spec(),
            decoder: self.tables.decoder.spec(),
            model: self.tables.model_spec.clone(),
        }
    }

    /// The same with another budget for the caches of each thread.
    #[must_use]
    pub fn with_cache_bytes(self, cache_bytes: usize) -> Self {
        Self { cache_bytes, ..self }
    }

    /// What the caches of each thread may take.
    #[must_use]
    pub fn cache_bytes(&self) -> usize {
        self.cache_bytes
    }

    /// What there is in memory.
    #[must_use]
    pub fn memory(&self) -> Memory {
        Memory {
            tables: self.store().iter().map(|(_, values)| values.len()).sum::<usize>()
                + self.tables.model.derived_bytes(),
            caches: self.scratch().cache_bytes(),
            budget: self.cache_bytes,
        }
    }

    /// Working memory for one thread.
    ///
    /// Half of what caches may take goes to the memo and three eighths to the one beside it.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        let spells_bytes = self.tables.splitter.spells_bytes();
        Scratch {
            memo: ShortWords::within(
                self.cache_bytes / 2,
                if spells_bytes { SPELLED_MEMO_BITS } else { MEMO_BITS },
            ),
            texts: LongWords::within(self.cache_bytes / 8 * 3),
            batch: Batch::default(),
            held: Held::default(),
            model: ModelScratch::default(),
            split: SplitScratch::default(),
            marked: MarkedScratch::default(),
            first: Vec::new(),
            second: Vec::new(),
            row: Vec::new(),
            unlaid: Vec::new(),
            laid: Laid::default(),
            pieces: Vec::new(),
            swallowed: Swallowed::default(),
        }
    }

    /// The words that normalization and pre-tokenization make.
    #[must_use]
    pub fn splitter(&self) -> &Splitter {
        &self.tables.splitter
    }

    /// What segments words.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.tables.model
    }

    /// The vocabulary of the model.
    #[must_use]
    pub fn vocab(&self) -> &Vocab {
        &self.tables.vocab
    }

    /// Added tokens in their order.
    #[must_use]
    pub fn added_tokens(&self) -> &[AddedToken] {
        self.tables.special.tokens()
    }

    /// Whether long encodings are cut.
    #[must_use]
    pub fn truncates(&self) -> bool {
        self.truncation.is_some()
    }

    /// The truncation settings.
    #[must_use]
    pub fn truncation(&self) -> Option<&Truncation> {
        self.truncation.as_ref()
    }

    /// The padding settings.
    #[must_use]
    pub fn padding(&self) -> Option<&Padding> {
        self.padding.as_ref()
    }

    /// The id that fills short rows: of the padding setting, of the padding piece that a SentencePiece model
    /// declares, or of the special token with one of the customary `names`, where there is exactly one.
    #[must_use]
    pub fn pad_id(&self, names: &[String]) -> Option<u32> {
        if let Some(padding) = &self.padding {
            return Some(padding.pad_id);
        }
        if let ModelSpec::SentencePiece(spec) = &self.tables.model_spec {
            let is_pad =
                |piece: &ScoredPiece| piece.kind == PieceType::Control && piece.text == spec.pad_piece;
            if let Some(id) = spec.pieces.iter().position(is_pad) {
                return Some(id as u32);
            }
        }
        let mut special =
            self.added_tokens().iter().filter(|token| token.special && names.contains(&token.content));
        special.next().filter(|_| special.next().is_none()).map(|token| token.id)
    }

    /// Whether rows can hold type ids other than 0.
    #[must_use]
    pub fn has_type_ids(&self, is_pair: bool) -> bool {
        self.tables.post_processor.has_type_ids(is_pair)
    }

    /// The share of merges that the model says to leave out, if it does.
    #[must_use]
    pub fn dropout(&self) -> Option<f64> {
        match &self.tables.model_spec {
            ModelSpec::Bpe(spec) => spec.dropout,
            _ => None,
        }
    }

    /// Whether nothing is cut, filled up or left out at random.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.truncation.is_none()
            && self.padding.is_none()
            && !self.dropout().is_some_and(|share| share > 0.0)
    }

    /// The id of a token, added tokens first.
    #[must_use]
    pub fn id_of(&self, token: &str) -> Option<u32> {
        self.tables.added_ids.get(token).copied().or_else(|| self.tables.vocab.id_of(token))
    }

    /// The token of an id, added tokens first.
    #[must_use]
    pub fn token_of(&self, id: u32) -> Option<&str> {
        self.tables.added.get(&id).map(String::as_str).or_else(|| self.tables.vocab.token_of(id))
    }

    /// Append the ids of one input, the first (0) or second (1) of its row, without template and
    /// truncation.
    pub fn ids_into(
        &self,
        input: Input<'_>,
        index: u32,
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        if options.sampling.is_some_and(|sampling| sampling.nbest.is_some()) {
            let tokens = self.sequence(input, index, options, scratch)?.tokens;
            out.extend(tokens.iter().map(|token| token.id));
            return Ok(());
        }
        self.tables.model.begin(options.sampling, index.into(), &mut scratch.model)?;
        if options.sampling.is_none() && self.has_sentences() {
            for text in input.texts() {
                self.sentence_ids(text, options, scratch, out)?;
            }
            return scratch.model.check();
        }
        if let Some(result) = self.hold_into(input, options, scratch, out) {
            self.settle(scratch, out);
            return result.and_then(|()| scratch.model.check());
        }
        let Scratch { memo, model, split, .. } = scratch;
        let mut words = WordIds::new(&self.tables.model, &self.tables.vocab, memo, model, out);
        for text in input.texts() {
            self.text_ids(text, options, split, &mut words)?;
        }
        words.finish();
        scratch.model.check()
    }

    /// The ids of one input as `encode` gives them, in the scratch.
    pub fn row<'s>(
        &self,
        input: Input<'_>,
        options: Options<'_>,
        scratch: &'s mut Scratch,
    ) -> Result<&'s [u32], Error> {
        let mut row = std::mem::take(&mut scratch.row);
        row.clear();
        let result = self.row_into(input, None, options, scratch, &mut row, None);
        scratch.row = row;
        result.map(|()| scratch.row.as_slice())
    }

    /// Append the ids of one input or pair as `encode` gives them, and their type ids where wanted.
    pub fn row_into(
        &self,
        input: Input<'_>,
        pair: Option<Input<'_>>,
        options: Options<'_>,
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
        mut type_ids: Option<&mut Vec<u8>>,
    ) -> Result<(), Error> {
        let mut first = std::mem::take(&mut scratch.first);
        let mut second = std::mem::take(&mut scratch.second);
        first.clear();
        second.clear();
        self.ids_into(input, 0, options, scratch, &mut first)?;
        if let Some(pair) = pair {
            self.ids_into(pair, 1, options, scratch, &mut second)?;
        }
        let add_special_tokens = options.add_special_tokens;
        self.truncate(&mut first, pair.is_some().then_some(&mut second), add_special_tokens)?;
        let second_ids = pair.is_some().then_some(second.as_slice());
        self.tables.post_processor.frame_ids(&first, second_ids, add_special_tokens, |run, type_id| {
            ids.extend_from_slice(run);
            if let Some(type_ids) = &mut type_ids {
                type_ids.extend(std::iter::repeat_n(type_id as u8, run.len()));
            }
        });
        (scratch.first, scratch.second) = (first, second);
        Ok(())
    }

    /// Encode one input or pair with every field.
    pub fn encode(
        &self,
        input: Input<'_>,
        pair: Option<Input<'_>>,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Encoding, Error> {
        let sequences = self.sequences(input, pair, options, scratch)?;
        self.finished(sequences, options, scratch)
    }

    /// Encode one input or pair with the windows that truncation cuts off, without padding.
    pub fn windows(
        &self,
        input: Input<'_>,
        pair: Option<Input<'_>>,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Encoding, Error> {
        let sequences = self.sequences(input, pair, options, scratch)?;
        let framed = self.truncated(sequences, options, scratch)?;
        self.padding.as_ref().map_or(Ok(0), |padding| padded_windows(&framed, padding))?;
        Ok(framed)
    }

    /// Truncate one or two sequences, frame them and fill them up.
    fn finished(
        &self,
        sequences: Vec<Encoding>,
        options: Options<'_>,
        scratch: &Scratch,
    ) -> Result<Encoding, Error> {
        let mut framed = self.truncated(sequences, options, scratch)?;
        if let Some(padding) = &self.padding {
            framed.pad(padded_windows(&framed, padding)?, padding);
        }
        Ok(framed)
    }

    /// Truncate one or two sequences and frame them.
    fn truncated(
        &self,
        mut sequences: Vec<Encoding>,
        options: Options<'_>,
        scratch: &Scratch,
    ) -> Result<Encoding, Error> {
        if let Some(truncation) = &self.truncation {
            let reserved = self.reserved(sequences.len() > 1, options.add_special_tokens);
            let (first, rest) = sequences.split_at_mut(1);
            encoding::truncate(&mut first[0], rest.first_mut(), truncation, reserved)?;
        }
        self.framed(&sequences, options, scratch)
    }

    /// Append the ids of one text.
    fn text_ids(
        &self,
        text: &str,
        options: Options<'_>,
        split: &mut SplitScratch,
        words: &mut WordIds<'_>,
    ) -> Result<(), Error> {
        let mut result = Ok(());
        self.tables.special.split_raw(text, options.parse_special, |segment| match segment {
            _ if result.is_err() => {}
            Segment::Token(id, ..) => words.push(id),
            Segment::Text(start, end) if self.tables.special.has_normalized() => {
                result =
                    self.visit_pieces(&text[start..end], start as u32, options, split, |part| match part {
                        Part::Token(id, _) => words.push(id),
                        Part::Pieces(PreTokenizedText { text, spans }) => {
                            spans.iter().for_each(|&(from, to)| words.word(&text.text()[from..to], 0));
                        }
                    });
            }
            Segment::Text(start, end) => {
                result = self.tables.splitter.run(&text[start..end], start as u32, split, words);
            }
        });
        result
    }

    fn truncate<T>(
        &self,
        first: &mut Vec<T>,
        second: Option<&mut Vec<T>>,
        add_special_tokens: bool,
    ) -> Result<(), Error> {
        let Some(truncation) = &self.truncation else { return Ok(()) };
        let reserved = self.reserved(second.is_some(), add_special_tokens);
        let max = truncation.max_length.saturating_sub(reserved);
        let second_len = second.as_ref().map(|row| row.len());
        let kept = encoding::kept_lengths(first.len(), second_len, max, truncation.strategy)
            .ok_or_else(|| encoding::too_short(truncation))?;
        cut(first, kept.0, truncation);
        if let Some(second) = second {
            cut(second, kept.1, truncation);
        }
        Ok(())
    }

    fn reserved(&self, is_pair: bool, add_special_tokens: bool) -> usize {
        if add_special_tokens {
            self.tables.post_processor.inserted(is_pair)
        } else {
            0
        }
    }
}

/// Reject settings that leave no room for the special tokens, and those that need too much memory.
fn check_lengths(
    truncation: Option<&Truncation>,
    padding: Option<&Padding>,
    post_processor: &PostProcessor,
) -> Result<(), Error> {
    truncation.map_or(Ok(()), |truncation| check_truncation(truncation, post_processor))?;
    padding.map_or(Ok(()), check_padding)
}

/// The length that `padding` asks for; windows that would then take too much memory are an error.
fn padded_windows(framed: &Encoding, padding: &Padding) -> Result<usize, Error> {
    let length = encoding::padded_length(framed.tokens.len(), padding);
    let windows = 1 + framed.overflowing.len();
    if windows > 1 && length.saturating_mul(windows) > MAX_PADDED_IN_ALL {
        let found = format!("{windows} windows of {length} tokens");
        let expected = format!("at most {MAX_PADDED_IN_ALL} tokens in all");
        return Err(Error::new(ErrorKind::Argument, "padding", found, expected));
    }
    Ok(length)
}

/// The normalizer that a decoder asks for.
fn denormalizer(decoder: Option<&DecoderSpec>) -> Result<Normalizer, Error> {
    let spec = match decoder {
        Some(DecoderSpec::SentencePiece(spec)) => spec.denormalizer.clone(),
        _ => None,
    };
    let compiled = Normalizer::compile(spec.map(NormalizerSpec::SentencePiece).as_ref());
    compiled.map_err(|error| error.within("decoder.denormalizer"))
}
