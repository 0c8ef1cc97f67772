//! The input of a call, and the compiled stages that it goes through up to the words that reach the model.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use piecework_unicode::char_count;

use crate::error::Error;
use crate::locks::Late;
use crate::model::{Model, Sampling};
use crate::ranks::ranked_model;
use crate::spec::{
    BpeSpec, DecoderSpec, ModelSpec, NormalizerSpec, PreTokenizerSpec, TokenizerSpec, UnknownUnit,
    WordPieceSpec,
};
use crate::stages::added_tokens::{AddedTokens, Segment, Selector};
use crate::stages::decode::Decoder;
use crate::stages::normalize::Normalizer;
use crate::stages::postprocess::{EdgeSpaceReader, EdgeSpaces, PostProcessor};
use crate::stages::pretokenize::PreTokenizer;
use crate::stages::split::{SplitScratch, Splitter};
use crate::table_sections::TableSections;
use crate::text::{max_grown_len, Aligned, PreTokenizedText};
use crate::vocab::Vocab;

/// An input to encode: a text, or the words of a pre-tokenized text.
#[derive(Clone, Copy, Debug)]
pub enum Input<'t> {
    /// A text.
    Text(&'t str),
    /// Words. Each is normalized and may be split further; its tokens have its word index.
    Words(&'t [&'t str]),
}

impl<'t> Input<'t> {
    /// Return the text, or every word.
    pub fn texts(self) -> impl Iterator<Item = &'t str> {
        let (one, many): (Option<&str>, &[&str]) = match self {
            Self::Text(text) => (Some(text), &[]),
            Self::Words(words) => (None, words),
        };
        one.into_iter().chain(many.iter().copied())
    }

    /// Return the size in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.texts().map(str::len).sum()
    }
}

/// Return the number of tokens to reserve for a text of `bytes` bytes, estimated for English.
pub(crate) fn estimated_tokens(bytes: usize) -> usize {
    bytes / 4 + 16
}

/// The options of one call.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// Whether the post-processor inserts special tokens.
    pub add_special_tokens: bool,
    /// The special tokens that are recognized in the text.
    pub parse_special: &'o Selector,
    /// Draws segmentations at random, if set.
    pub sampling: Option<Sampling>,
}

impl Options<'_> {
    /// Return the options for one row of a batch, with random numbers of its own.
    #[must_use]
    pub fn at_row(self, row: usize) -> Self {
        Self { sampling: self.sampling.map(|sampling| sampling.at_row(row)), ..self }
    }
}

/// The number of a word: the next one, or the number of the caller's word.
#[derive(Clone, Copy)]
pub(super) enum WordNumber {
    Next(u32),
    Fixed(u32),
}

impl WordNumber {
    /// Return the number of the first word of a text; `number` is the index of the text in its input.
    pub(super) fn of(input: Input<'_>, number: usize) -> Self {
        match input {
            Input::Text(_) => Self::Next(0),
            Input::Words(_) => Self::Fixed(number as u32),
        }
    }

    /// Return the number and go to the next word.
    #[inline]
    pub(super) fn take(&mut self) -> u32 {
        match self {
            Self::Fixed(number) => *number,
            Self::Next(number) => {
                *number += 1;
                *number - 1
            }
        }
    }
}

/// Every stage, compiled.
#[derive(Debug)]
pub(super) struct Stages {
    pub(super) added_tokens: AddedTokens,
    pub(super) splitter: Splitter,
    pub(super) normalizer_spec: Option<NormalizerSpec>,
    pub(super) pre_tokenizer_spec: Option<PreTokenizerSpec>,
    pub(super) model: Arc<Model>,
    pub(super) model_spec: Arc<ModelSource>,
    pub(super) vocab: Arc<Vocab>,
    pub(super) post_processor: PostProcessor,
    pub(super) decoder: Decoder,
    /// The normalizer that a SentencePiece decoder applies to the decoded text.
    pub(super) denormalizer: Normalizer,
    pub(super) added: HashMap<u32, String>,
    pub(super) added_ids: HashMap<String, u32>,
    token_lengths: TokenLengths,
    /// Whether the post-processor trims offsets.
    pub(super) trims: bool,
}

/// A compiled model with its vocabulary and its specification. A clone shares them.
#[derive(Clone)]
pub(super) struct CompiledModel {
    model: Arc<Model>,
    spec: Arc<ModelSource>,
    vocab: Arc<Vocab>,
}

impl CompiledModel {
    /// Compile a model, with the tables that `tables` has.
    pub(super) fn compile(spec: ModelSpec, vocab: Vocab, tables: &TableSections) -> Result<Self, Error> {
        let model = Model::compile(&spec, &vocab, tables)?;
        Ok(Self { model: Arc::new(model), spec: Arc::new(ModelSource::of(spec)), vocab: Arc::new(vocab) })
    }

    /// Compile a model of a compiled cache, whose specification `read` completes.
    pub(super) fn restore(
        settings: ModelSpec,
        vocab: Vocab,
        tables: &TableSections,
        read: ReadEntries,
    ) -> Result<Self, Error> {
        let model = Arc::new(Model::compile(&settings, &vocab, tables)?);
        let vocab = Arc::new(vocab);
        let spec = Arc::new(ModelSource::stored(settings, read, &vocab, tables));
        Ok(Self { model, spec, vocab })
    }

    /// Return a model that never makes some tokens from text; `None` for a model of characters.
    pub(super) fn without_tokens(&self, ids: &HashSet<u32>) -> Result<Option<Self>, Error> {
        let made = Model::compile_without(self.spec.whole(), &self.vocab, ids)?;
        Ok(made.map(|(model, spec, vocab)| Self {
            model: Arc::new(model),
            spec: Arc::new(ModelSource::of(spec)),
            vocab: Arc::new(vocab),
        }))
    }

    /// Return the vocabulary of the model.
    pub(super) fn vocab(&self) -> &Vocab {
        &self.vocab
    }
}

/// A part of a text: an added token, or words for the model.
#[derive(Clone, Copy)]
pub(super) enum Part<'p> {
    Token(FoundToken),
    Words(&'p PreTokenizedText),
}

/// An added token that was found in a text.
#[derive(Clone, Copy)]
pub(super) struct FoundToken {
    pub(super) id: u32,
    /// Its bytes in the original.
    pub(super) source: (u32, u32),
    /// The spaces of its text, as the search found it: normalized or not, with the whitespace that it includes. `None` if
    /// no post-processor trims offsets.
    pub(super) spaces: Option<EdgeSpaces>,
}

/// The spaces of the added tokens of a row, in order.
pub(super) type AddedSpaces = Vec<EdgeSpaces>;

impl Stages {
    /// Compile the stages of a specification around a compiled model; the model of `spec` is ignored.
    pub(super) fn compile(spec: &TokenizerSpec, model: CompiledModel) -> Result<Self, Error> {
        let added = spec.added_tokens.iter().map(|token| (token.id, token.content.clone()));
        let normalizer = Normalizer::compile(spec.normalizer.as_ref())?;
        let normalized = |text: &str| {
            let mut out = String::new();
            normalizer.run(text, 0, &mut out).map(|()| out)
        };
        let added_tokens = AddedTokens::compile(&spec.added_tokens, normalized)?;
        let post_processor = PostProcessor::compile(spec.post_processor.as_ref())?;
        Ok(Self {
            added_tokens,
            trims: post_processor.trims(),
            post_processor,
            splitter: Splitter::new(normalizer, PreTokenizer::compile(spec.pre_tokenizer.as_ref())?),
            normalizer_spec: spec.normalizer.clone(),
            pre_tokenizer_spec: spec.pre_tokenizer.clone(),
            model: model.model,
            added_ids: added.clone().map(|(id, content)| (content, id)).collect(),
            added: added.collect(),
            vocab: model.vocab,
            decoder: Decoder::compile(spec.decoder.as_ref())?,
            denormalizer: denormalizer(spec.decoder.as_ref())?,
            model_spec: model.spec,
            token_lengths: TokenLengths::default(),
        })
    }

    /// Return the compiled model, shared.
    pub(super) fn compiled_model(&self) -> CompiledModel {
        CompiledModel {
            model: Arc::clone(&self.model),
            spec: Arc::clone(&self.model_spec),
            vocab: Arc::clone(&self.vocab),
        }
    }

    /// Return the specification with `model`, without truncation and padding.
    pub(super) fn spec_with(&self, model: ModelSpec) -> TokenizerSpec {
        TokenizerSpec {
            truncation: None,
            padding: None,
            added_tokens: self.added_tokens.tokens().to_vec(),
            normalizer: self.normalizer_spec.clone(),
            pre_tokenizer: self.pre_tokenizer_spec.clone(),
            post_processor: self.post_processor.spec(),
            decoder: self.decoder.spec(),
            model,
        }
    }

    /// Return the id of a token, added tokens first.
    pub(super) fn id_of(&self, token: &str) -> Option<u32> {
        self.added_ids.get(token).copied().or_else(|| self.vocab.id_of(token))
    }

    /// Return the token of an id, added tokens first.
    pub(super) fn token_of(&self, id: u32) -> Option<&str> {
        self.added.get(&id).map(String::as_str).or_else(|| self.vocab.token_of(id))
    }

    /// Return how many bytes of a word each entry covers, by id; empty if entries do not say so.
    pub(super) fn token_lengths(&self) -> &[u16] {
        self.token_lengths.get(self.model_spec.settings(), &self.splitter, &self.vocab)
    }

    /// Build every table that is built late; those of alignment only if ids can be aligned with their text.
    pub(super) fn warm_up(&self, aligns: bool) {
        self.model.warm_up(&self.vocab);
        if aligns {
            self.token_lengths.warm_up(self.model_spec.settings(), &self.splitter, &self.vocab);
        }
    }

    /// Return the spaces of an added token at a span of the text where it was found; `None` if nothing is trimmed.
    pub(super) fn found_spaces(
        &self,
        reader: &mut EdgeSpaceReader,
        text: &str,
        (start, end): (usize, usize),
    ) -> Option<EdgeSpaces> {
        self.trims.then(|| reader.read(text, start, end))
    }

    /// Emit the added tokens of a text, and the words between them.
    pub(super) fn visit_text(
        &self,
        text: &str,
        options: Options<'_>,
        split: &mut SplitScratch,
        mut visit: impl FnMut(Part<'_>),
    ) -> Result<(), Error> {
        let mut reader = EdgeSpaceReader::default();
        for segment in self.added_tokens.raw_segments(text, options.parse_special) {
            match segment {
                Segment::Token(id, start, end) => {
                    let spaces = self.found_spaces(&mut reader, text, (start, end));
                    visit(Part::Token(FoundToken { id, source: (start as u32, end as u32), spaces }));
                }
                Segment::Text(start, end) => {
                    let mut parts = self.parts(&text[start..end], start as u32, options)?;
                    while let Some(part) = parts.next(split)? {
                        visit(part);
                    }
                }
            }
        }
        Ok(())
    }

    /// Return the parts of a span of raw text that begins at byte `start` of the original: its words, and the added tokens
    /// that are found in normalized text.
    pub(super) fn parts<'p>(
        &'p self,
        span: &'p str,
        start: u32,
        options: Options<'_>,
    ) -> Result<SpanParts<'p>, Error> {
        let mut normalized = Aligned::default();
        let mut segments = vec![Segment::Text(0, span.len())];
        if self.added_tokens.has_normalized() {
            self.splitter.normalizer().run(span, start, &mut normalized)?;
            segments = self.added_tokens.aligned_segments(&normalized, options.parse_special).collect();
        }
        let (segments, reader) = (segments.into_iter(), EdgeSpaceReader::default());
        Ok(SpanParts { stages: self, span, start, normalized, segments, reader })
    }
}

/// The parts of a span of raw text that are not reached yet.
pub(super) struct SpanParts<'p> {
    stages: &'p Stages,
    span: &'p str,
    start: u32,
    /// The normalized span, if added tokens are found in it.
    normalized: Aligned,
    segments: std::vec::IntoIter<Segment>,
    reader: EdgeSpaceReader,
}

impl SpanParts<'_> {
    /// Return the next part.
    pub(super) fn next<'s>(&mut self, split: &'s mut SplitScratch) -> Result<Option<Part<'s>>, Error> {
        let Self { stages, span, start, normalized, segments, reader } = self;
        let words = &mut split.words;
        match segments.next() {
            None => return Ok(None),
            Some(Segment::Token(id, from, to)) => {
                let spaces = stages.found_spaces(reader, normalized.text(), (from, to));
                let source = normalized.source_of(from, to);
                return Ok(Some(Part::Token(FoundToken { id, source, spaces })));
            }
            Some(Segment::Text(..)) if !stages.added_tokens.has_normalized() => {
                stages.splitter.pre_tokenize(span, *start, words)?;
            }
            Some(Segment::Text(from, to)) => {
                words.clear();
                words.text.push_part(normalized, from, to);
                words.set_whole();
                stages.splitter.pre_tokenizer().split_words(words, max_grown_len(span.len()))?;
            }
        }
        Ok(Some(Part::Words(words)))
    }
}

/// Return the normalizer of a decoder, if it has one.
fn denormalizer(decoder: Option<&DecoderSpec>) -> Result<Normalizer, Error> {
    let spec = match decoder {
        Some(DecoderSpec::SentencePiece(spec)) => spec.denormalizer.clone(),
        _ => None,
    };
    let compiled = Normalizer::compile(spec.map(NormalizerSpec::SentencePiece).as_ref());
    compiled.map_err(|error| error.within("decoder.denormalizer"))
}

/// Adds the entries of a compiled cache to the settings of its model.
pub type ReadEntries = fn(&ModelSpec, &Vocab, &TableSections) -> Result<ModelSpec, Error>;

/// The specification of a model. In a compiled cache, the entries are read when they are first needed: encoding needs
/// only the compiled tables.
#[derive(Debug)]
pub(super) struct ModelSource {
    settings: ModelSpec,
    stored: Option<(ReadEntries, Arc<Vocab>, TableSections)>,
    whole: Late<ModelSpec>,
}

impl ModelSource {
    /// Return a specification that is whole.
    pub(super) fn of(spec: ModelSpec) -> Self {
        Self { settings: spec, stored: None, whole: Late::unbuilt() }
    }

    /// Return the specification that `read` makes of these settings, without errors.
    pub(super) fn stored(
        settings: ModelSpec,
        read: ReadEntries,
        vocab: &Arc<Vocab>,
        tables: &TableSections,
    ) -> Self {
        let stored = (read, Arc::clone(vocab), tables.clone());
        Self { settings, stored: Some(stored), whole: Late::unbuilt() }
    }

    /// Return the kind and the settings; the entries may be missing.
    pub(super) fn settings(&self) -> &ModelSpec {
        &self.settings
    }

    /// Return whether the entries are read.
    #[cfg(test)]
    pub(super) fn is_whole(&self) -> bool {
        self.stored.is_none() || self.whole.get().is_some()
    }

    /// Return the whole specification.
    pub(super) fn whole(&self) -> &ModelSpec {
        let Some((read, vocab, tables)) = &self.stored else { return &self.settings };
        self.whole
            .get_or_make(|| read(&self.settings, vocab, tables).unwrap_or_else(|_| self.settings.clone()))
    }
}

/// Return the settings of a model by ranks with its entries and merges.
pub(super) fn read_ranks(
    settings: &ModelSpec,
    vocab: &Vocab,
    _: &TableSections,
) -> Result<ModelSpec, Error> {
    Ok(match settings {
        ModelSpec::Bpe(settings) => ModelSpec::Bpe(ranked_model(settings, vocab)),
        other => other.clone(),
    })
}

/// For each id the number of bytes of a normalized word that it covers, and where in a word it may be; computed at first
/// use.
#[derive(Clone, Debug, Default)]
struct TokenLengths(Late<Vec<u16>>);

/// Set in the length of an entry that may begin a word.
pub(super) const FIRST: u16 = 1 << 15;
/// Set in the length of an entry that may continue a word.
pub(super) const CONTINUING: u16 = 1 << 14;
/// The bits of a length that hold the number of bytes.
pub(super) const LENGTH: u16 = CONTINUING - 1;

impl TokenLengths {
    /// Return the lengths of all entries by id; empty if entries do not say what they cover, and while another thread
    /// computes them.
    fn get(&self, model: &ModelSpec, splitter: &Splitter, vocab: &Vocab) -> &[u16] {
        self.0.get_or_build(|| compute(model, splitter, vocab)).map_or(&[], Vec::as_slice)
    }

    /// Compute the lengths if they are not computed.
    fn warm_up(&self, model: &ModelSpec, splitter: &Splitter, vocab: &Vocab) {
        self.0.get_or_make(|| compute(model, splitter, vocab));
    }
}

fn compute(model: &ModelSpec, splitter: &Splitter, vocab: &Vocab) -> Vec<u16> {
    match model {
        ModelSpec::Bpe(spec) if splitter.splits_raw() => byte_level_lengths(spec, vocab),
        ModelSpec::WordPiece(spec) if spec.unk == UnknownUnit::Word => wordpiece_lengths(spec, vocab),
        _ => Vec::new(),
    }
}

/// Return the lengths of byte-level entries.
fn byte_level_lengths(spec: &BpeSpec, vocab: &Vocab) -> Vec<u16> {
    by_id(vocab, spec.unk_token.as_deref(), |token| {
        (char_count(token.as_bytes()) as usize, FIRST | CONTINUING)
    })
}

/// Return the lengths of WordPiece entries.
fn wordpiece_lengths(spec: &WordPieceSpec, vocab: &Vocab) -> Vec<u16> {
    let prefix = spec.continuing_subword_prefix.as_str();
    by_id(vocab, Some(&spec.unk_token), |token| match token.strip_prefix(prefix) {
        Some(rest) if prefix.is_empty() => (rest.len(), FIRST | CONTINUING),
        Some(rest) => (rest.len(), CONTINUING),
        None => (token.len(), FIRST),
    })
}

/// Return the lengths of all entries; 0 for the unknown token and for entries that are too long.
fn by_id(vocab: &Vocab, unknown: Option<&str>, length_of: impl Fn(&str) -> (usize, u16)) -> Vec<u16> {
    let mut lengths = Vec::new();
    for (token, id) in vocab.iter().filter(|&(token, _)| Some(token) != unknown) {
        let (length, places) = length_of(token);
        if (1..=usize::from(LENGTH)).contains(&length) {
            lengths.resize(id as usize + 1, 0);
            lengths[id as usize] = length as u16 | places;
        }
    }
    lengths
}
