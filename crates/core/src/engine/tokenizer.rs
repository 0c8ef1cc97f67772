//! The compiled tokenizer.

use std::sync::Arc;

use foldhash::HashSet;

use super::checks::{check_added_tokens, check_lengths, check_padding_id, check_post_processor};
use super::decoding::DecodeTables;
use super::encode::Scratch;
use super::excerpts::Cuts;
use super::route::Route;
use super::stages::{read_ranks, CompiledModel, Options, ReadEntries, Stages};
use crate::error::Error;
use crate::model::Model;
use crate::ranks::RanksSpec;
use crate::spec::{AddedToken, BpeSpec, ModelSpec, Padding, PostProcessorSpec, TokenizerSpec, Truncation};
use crate::stages::split::Splitter;
use crate::table_sections::{TableSections, RANKS};
use crate::vocab::Vocab;

/// A compiled tokenizer: immutable and shared by all threads. A clone shares its tables.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    compiled: Arc<Compiled>,
    pub(super) truncation: Option<Truncation>,
    pub(super) padding: Option<Padding>,
    /// The limit of the word cache of one thread, in bytes.
    cache_budget: usize,
    /// Encodes stage by stage, whatever the route.
    is_plain: bool,
}

/// What does not depend on truncation, padding and cache sizes.
#[derive(Debug)]
struct Compiled {
    stages: Stages,
    route: Route,
    cuts: Option<Cuts>,
    decode_tables: DecodeTables,
}

/// Memory in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The tables of the vocabulary and the model, which all threads share.
    pub tables: usize,
    /// The word cache of each thread that encodes, at first.
    pub caches: usize,
    /// The limit of each word cache.
    pub budget: usize,
}

/// The default limit of the word cache of a thread, in bytes.
const DEFAULT_CACHE_BUDGET: usize = 64 << 20;

impl Tokenizer {
    /// Check a specification and build every table.
    pub fn compile(spec: impl Into<TokenizerSpec>) -> Result<Self, Error> {
        let spec = spec.into();
        let vocab = Vocab::of_model(&spec.model)?;
        Self::with_tables(vocab, spec, &TableSections::default())
    }

    /// Check a specification by ranks and build the tables that its first texts need.
    pub fn compile_ranks(spec: RanksSpec) -> Result<Self, Error> {
        let mut tables = TableSections::default();
        tables.put(RANKS, &Vec::<u8>::new().into());
        let settings = BpeSpec { ignore_merges: true, ..BpeSpec::default() };
        let stages = TokenizerSpec { model: ModelSpec::Bpe(settings), ..spec.stages };
        Self::restore(stages, spec.vocab, &tables, Some(read_ranks))
    }

    /// Rebuild a tokenizer from the tables of [`Tokenizer::store`] and the specification it was compiled from.
    ///
    /// The model of `spec` may lack its entries; then `read` adds them, and does not fail for these tables.
    pub fn restore(
        mut spec: TokenizerSpec,
        vocab: Vocab,
        tables: &TableSections,
        read: Option<ReadEntries>,
    ) -> Result<Self, Error> {
        let Some(read) = read else { return Self::with_tables(vocab, spec, tables) };
        check_added_tokens(&spec.added_tokens, &vocab)?;
        let settings = std::mem::replace(&mut spec.model, ModelSpec::empty());
        Self::assemble(spec, CompiledModel::restore(settings, vocab, tables, read)?)
    }

    /// Return the tables that take long to build.
    #[must_use]
    pub fn store(&self) -> TableSections {
        let mut tables = TableSections::default();
        let Stages { vocab, model, .. } = self.stages();
        vocab.store(&mut tables);
        model.store(vocab, &mut tables);
        tables
    }

    fn with_tables(vocab: Vocab, mut spec: TokenizerSpec, tables: &TableSections) -> Result<Self, Error> {
        check_added_tokens(&spec.added_tokens, &vocab)?;
        let model = std::mem::replace(&mut spec.model, ModelSpec::empty());
        Self::assemble(spec, CompiledModel::compile(model, vocab, tables)?)
    }

    /// Return a tokenizer that shares the model and the vocabulary of this one and has the other stages of `spec`.
    ///
    /// The model of `spec` is ignored.
    pub fn with_stages(&self, spec: TokenizerSpec) -> Result<Self, Error> {
        let model = self.stages().compiled_model();
        check_added_tokens(&spec.added_tokens, model.vocab())?;
        Ok(Self::assemble(spec, model)?.with_cache_budget(self.cache_budget))
    }

    /// Return a tokenizer whose model never makes some tokens from text; `None` for a model of characters.
    ///
    /// Other ids and scores stay, and so do added tokens. Control pieces of SentencePiece behave like this; a
    /// `tokenizer.json` does not distinguish them from other pieces. The vocabulary may lack the tokens.
    pub(crate) fn without_tokens(&self, ids: &HashSet<u32>) -> Result<Option<Self>, Error> {
        let Some(model) = self.stages().compiled_model().without_tokens(ids)? else { return Ok(None) };
        let spec = self.spec_with(ModelSpec::empty());
        Ok(Some(Self::assemble_unchecked(spec, model)?.with_cache_budget(self.cache_budget)))
    }

    fn assemble(spec: TokenizerSpec, model: CompiledModel) -> Result<Self, Error> {
        let post_processor = spec.post_processor.clone();
        let tokenizer = Self::assemble_unchecked(spec, model)?;
        tokenizer.check_ids(post_processor.as_ref())?;
        Ok(tokenizer)
    }

    /// Return the tokenizer without a comparison of the ids of its stages with the vocabulary.
    fn assemble_unchecked(mut spec: TokenizerSpec, model: CompiledModel) -> Result<Self, Error> {
        let (truncation, padding) = (spec.truncation.take(), spec.padding.take());
        let stages = Stages::compile(&spec, model)?;
        check_lengths(truncation.as_ref(), padding.as_ref(), &stages.post_processor)?;
        let route = Route::compile(&stages);
        let cuts = route.cuts(&stages);
        Ok(Self {
            compiled: Arc::new(Compiled { stages, route, cuts, decode_tables: DecodeTables::default() }),
            truncation,
            padding,
            cache_budget: DEFAULT_CACHE_BUDGET,
            is_plain: false,
        })
    }

    /// Return a tokenizer that shares the compiled tables and truncates and pads by other settings.
    pub fn with_lengths(
        &self,
        truncation: Option<Truncation>,
        padding: Option<Padding>,
    ) -> Result<Self, Error> {
        check_lengths(truncation.as_ref(), padding.as_ref(), &self.stages().post_processor)?;
        let tokenizer = Self { truncation, padding, ..self.clone() };
        tokenizer.check_ids(None)?;
        Ok(tokenizer)
    }

    /// Return the tokenizer with another budget for the word cache of each thread, in bytes.
    #[must_use]
    pub fn with_cache_budget(self, cache_budget: usize) -> Self {
        Self { cache_budget, ..self }
    }

    /// Return a tokenizer with the same tables that encodes by the definition: stage by stage, without a cache.
    #[must_use]
    pub fn plain(&self) -> Self {
        Self { is_plain: true, ..self.clone() }
    }

    /// Return whether both tokenizers use the same compiled tables in memory.
    #[must_use]
    pub fn shares_tables_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.compiled, &other.compiled)
    }

    /// Reject ids of the post-processor and of padding that stand for no token, or for another one.
    fn check_ids(&self, post_processor: Option<&PostProcessorSpec>) -> Result<(), Error> {
        if let Some(post_processor) = post_processor {
            check_post_processor(post_processor, |id| self.token_of(id))?;
        }
        self.padding.as_ref().map_or(Ok(()), |padding| check_padding_id(padding, |id| self.token_of(id)))
    }

    pub(super) fn stages(&self) -> &Stages {
        &self.compiled.stages
    }

    pub(super) fn decode_tables(&self) -> &DecodeTables {
        &self.compiled.decode_tables
    }

    /// Return where texts can be cut, if they can.
    pub(super) fn cuts(&self) -> Option<&Cuts> {
        self.compiled.cuts.as_ref()
    }

    /// Return the compiled route, unless the definition is forced.
    pub(super) fn route(&self) -> Option<&Route> {
        (!self.is_plain).then_some(&self.compiled.route)
    }

    /// Return the route of a call; `None` if it is encoded by `plain`.
    pub(super) fn route_for(&self, options: Options<'_>) -> Option<&Route> {
        self.route().and_then(|route| route.for_call(self.stages(), options))
    }

    /// Return the route of a call if it can align ids with their text.
    pub(super) fn aligning_route(&self, options: Options<'_>) -> Option<&Route> {
        self.route_for(options).filter(|route| route.aligns())
    }

    /// Return the name of the route: `byte-level`, `bert`, `metaspace`, `sentencepiece-unigram`, `generic`, or `plain` if that is forced.
    #[must_use]
    pub fn route_name(&self) -> &'static str {
        self.route().map_or("plain", Route::name)
    }

    /// Return the specification that the tokenizer was compiled from.
    #[must_use]
    pub fn spec(&self) -> TokenizerSpec {
        self.spec_with(self.stages().model_spec.whole().clone())
    }

    /// Return the specification of the other stages, with a model that has no entries.
    #[must_use]
    pub fn stages_spec(&self) -> TokenizerSpec {
        self.spec_with(ModelSpec::empty())
    }

    fn spec_with(&self, model: ModelSpec) -> TokenizerSpec {
        TokenizerSpec {
            truncation: self.truncation.clone(),
            padding: self.padding.clone(),
            ..self.stages().spec_with(model)
        }
    }

    /// Return the budget of the word cache of each thread, in bytes.
    #[must_use]
    pub fn cache_budget(&self) -> usize {
        self.cache_budget
    }

    /// Return the memory in use.
    #[must_use]
    pub fn memory(&self) -> Memory {
        Memory {
            tables: self.store().iter().map(|(_, values)| values.len()).sum::<usize>()
                + self.stages().model.derived_bytes(),
            caches: self.scratch().cache_memory(),
            budget: self.cache_budget,
        }
    }

    /// Build every table that calls build late, so that no call waits for one: those of the model, of the route, of the
    /// normalizer, of the pre-tokenizer, of offsets and of decoding.
    pub fn warm_up(&self) {
        let Compiled { stages, route, .. } = &*self.compiled;
        stages.warm_up(route.aligns());
        route.warm_up();
        for clean_up in [None, Some(false), Some(true)] {
            self.make_decode_table(clean_up);
        }
        stages.splitter.normalizer().warm_up();
        stages.splitter.pre_tokenizer().warm_up();
    }

    /// Return the mutable state for one thread.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        Scratch::new(self.cache_budget, self.compiled.route.initial_cache_bits())
    }

    /// Return the normalizer and the pre-tokenizer.
    #[must_use]
    pub fn splitter(&self) -> &Splitter {
        &self.stages().splitter
    }

    /// Return the model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.stages().model
    }

    /// Return the vocabulary of the model.
    #[must_use]
    pub fn vocab(&self) -> &Vocab {
        &self.stages().vocab
    }

    /// Return the id of the unknown token, if the model has one.
    #[must_use]
    pub fn unk_id(&self) -> Option<u32> {
        self.stages().model.unk_id()
    }

    /// Return the added tokens in their order.
    #[must_use]
    pub fn added_tokens(&self) -> &[AddedToken] {
        self.stages().added_tokens.tokens()
    }

    /// Return whether long encodings are truncated.
    #[must_use]
    pub fn truncates(&self) -> bool {
        self.truncation.is_some()
    }

    /// Return the truncation settings.
    #[must_use]
    pub fn truncation(&self) -> Option<&Truncation> {
        self.truncation.as_ref()
    }

    /// Return the padding settings.
    #[must_use]
    pub fn padding(&self) -> Option<&Padding> {
        self.padding.as_ref()
    }

    /// Return whether rows can have type ids other than 0.
    pub(crate) fn has_type_ids(&self, is_pair: bool) -> bool {
        self.stages().post_processor.has_type_ids(is_pair)
    }

    /// Return the dropout of a BPE model, if it has one.
    #[must_use]
    pub fn dropout(&self) -> Option<f64> {
        match self.stages().model_spec.settings() {
            ModelSpec::Bpe(spec) => spec.dropout,
            _ => None,
        }
    }

    /// Return whether the model is BPE of a `tokenizer.json`.
    #[must_use]
    pub fn is_bpe(&self) -> bool {
        matches!(self.stages().model_spec.settings(), ModelSpec::Bpe(_))
    }

    /// Return whether rows are neither truncated nor padded, and no merge is dropped at random.
    #[must_use]
    pub fn keeps_rows(&self) -> bool {
        self.truncation.is_none() && self.has_late_fields()
    }

    /// Return whether rows are not padded, and no merge is dropped at random.
    #[must_use]
    pub fn has_late_fields(&self) -> bool {
        self.padding.is_none() && !self.dropout().is_some_and(|share| share > 0.0)
    }

    /// Return the id of a token, added tokens first.
    #[must_use]
    pub fn id_of(&self, token: &str) -> Option<u32> {
        self.stages().id_of(token)
    }

    /// Return the token of an id, added tokens first.
    #[must_use]
    pub fn token_of(&self, id: u32) -> Option<&str> {
        self.stages().token_of(id)
    }
}
