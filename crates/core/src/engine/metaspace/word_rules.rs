//! How the text of a pipeline splits into words; there are no rules if a token may cross every boundary.

use memchr::memmem::Finder;

use super::super::stages::Stages;
use super::scanner::{AsciiSplits, MetaspaceScanner};
use super::single_chars::SingleChars;
use super::space_runs::{self, RankedMerge, SpaceRuns};
use crate::model::{CharAdjacency, Model, SplitRule};
use crate::spec::{
    BpeSpec, MetaspaceSpec, ModelSpec, NormalizerSpec, PatternSpec, PieceType, PreTokenizerSpec,
    PrependScheme,
};
use crate::stages::normalize::{Boundaries, Normalizer};
use crate::text::{byte_of_entry, METASPACE, METASPACE_STR};

/// How a text splits into words.
#[derive(Clone, Debug)]
pub(super) struct WordRules {
    pub(super) layout: WordLayout,
    /// Finds the words.
    pub(super) scanner: MetaspaceScanner,
    /// By ASCII character: it is not whitespace, and normalization leaves it unchanged among such characters.
    unchanged: Boundaries,
    /// Decides where escaped misses split into parts; `None` if they must not split.
    pub(super) pairs: Option<CharAdjacency>,
    /// Decides where runs of spaces split from the next word; `None` if they must not split.
    pub(super) spaces: Option<SpaceRuns>,
    /// Finds `▁` in raw text.
    metaspace: Finder<'static>,
}

/// What a word consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordLayout {
    /// The text between whitespace. It is normalized, split at new whitespace, prefixed with `▁` and split before each
    /// `▁`.
    WhitespaceSplit,
    /// One space and the text up to the next. Extra spaces are removed, and the first word gets a `▁`.
    SingleSpace,
    /// A run of spaces and the text up to the next. Normalization only escapes spaces.
    SpaceRuns(DummyPrefix),
    /// A word of text that is escaped already.
    Escaped(SplitRule),
}

/// When a `▁` is added before the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DummyPrefix {
    Never,
    Always,
    /// Unless the text begins with a space.
    UnlessSpace,
    /// Only at the start of the original, unless that begins with a space.
    FirstUnlessSpace,
}

impl WordRules {
    /// Returns the rules of a pipeline, or `None` if it does not split into words.
    pub(super) fn of(stages: &Stages) -> Option<Self> {
        let (layout, separators) = match (stages.model.pieces(), &stages.splitter.pre_tokenizer().spec()) {
            (Some(pieces), None) if pieces.split_rule() == Some(SplitRule::BeforeSpace) => {
                sentencepiece(stages.splitter.normalizer())?
            }
            (Some(_), _) => return None,
            (_, Some(pre_tokenizer)) if splits_at_whitespace(pre_tokenizer) => {
                (WordLayout::WhitespaceSplit, stages.splitter.normalizer().boundary_whitespace())
            }
            _ => (
                WordLayout::SpaceRuns(bpe_dummy_prefix(stages)?),
                std::array::from_fn(|byte| byte == usize::from(b' ')),
            ),
        };
        separators[usize::from(b' ')].then(|| {
            let pairs = adjacency_of(stages);
            let splits = match (&pairs, layout) {
                (Some(pairs), WordLayout::SingleSpace | WordLayout::SpaceRuns(_)) => {
                    ascii_splits_of(pairs, stages.splitter.normalizer())
                }
                _ => AsciiSplits::none(),
            };
            // SentencePiece's Unigram splits a miss into parts itself.
            let pairs = pairs.filter(|_| !matches!(&*stages.model, Model::UnigramF32(_)));
            let unchanged = stages.splitter.normalizer().kept_among_ascii();
            let spaces = match (&pairs, layout) {
                (Some(pairs), WordLayout::SpaceRuns(_)) => {
                    Some(SpaceRuns::of(&merges_of(&stages.model_spec), pairs))
                }
                _ => None,
            };
            let mut rules = Self { pairs, spaces, ..Self::new(layout, separators, splits, unchanged) };
            rules.scanner.single_chars = single_chars_of(layout, stages);
            rules
        })
    }

    /// Returns the rules for text that is escaped already.
    pub(super) fn escaped(rule: SplitRule) -> Self {
        Self::new(WordLayout::Escaped(rule), [false; 128], AsciiSplits::none(), [false; 128])
    }

    fn new(layout: WordLayout, separators: Boundaries, splits: AsciiSplits, unchanged: Boundaries) -> Self {
        let scanner = MetaspaceScanner::new(|byte| separators[usize::from(byte)], splits);
        let unchanged =
            std::array::from_fn(|byte| unchanged[byte] && !char::from(byte as u8).is_whitespace());
        Self {
            layout,
            scanner,
            unchanged,
            pairs: None,
            spaces: None,
            metaspace: Finder::new(METASPACE_STR),
        }
    }

    /// Returns whether raw text can be split. A `▁` in it is a space to the model, but not to the normalizer.
    pub(super) fn supports(&self, text: &str) -> bool {
        self.layout == WordLayout::WhitespaceSplit || self.metaspace.find(text.as_bytes()).is_none()
    }

    /// Returns whether normalization leaves a span unchanged. It may return `false` for a span that is unchanged too.
    pub(super) fn is_unchanged(&self, span: &str) -> bool {
        span.bytes().all(|byte| self.unchanged.get(usize::from(byte)).is_some_and(|&unchanged| unchanged))
    }
}

fn sentencepiece(normalizer: &Normalizer) -> Option<(WordLayout, Boundaries)> {
    let Normalizer::SentencePiece(normalizer) = normalizer else { return None };
    let spec = normalizer.spec();
    let layout = match (spec.remove_extra_whitespaces, spec.add_dummy_prefix) {
        _ if !spec.escape_whitespaces || spec.treat_whitespace_as_suffix => return None,
        (true, true) => WordLayout::SingleSpace,
        (true, false) => return None,
        (false, _) if normalizer.has_rules() => return None,
        (false, true) => WordLayout::SpaceRuns(DummyPrefix::Always),
        (false, false) => WordLayout::SpaceRuns(DummyPrefix::Never),
    };
    Some((layout, normalizer.boundary_spaces()))
}

fn splits_at_whitespace(pre_tokenizer: &PreTokenizerSpec) -> bool {
    use PreTokenizerSpec::{Metaspace, Sequence, WhitespaceSplit};
    let metaspace =
        MetaspaceSpec { replacement: METASPACE, prepend_scheme: PrependScheme::Always, split: true };
    *pre_tokenizer == Sequence(vec![WhitespaceSplit, Metaspace(metaspace)])
}

/// Returns when BPE over whole escaped texts adds a `▁`; `None` for other pipelines, and if a merge crosses the
/// boundary before a `▁`.
fn bpe_dummy_prefix(stages: &Stages) -> Option<DummyPrefix> {
    let ModelSpec::Bpe(model) = &*stages.model_spec else { return None };
    if !splits_at_metaspace(model) {
        return None;
    }
    match (stages.splitter.normalizer().spec(), &stages.splitter.pre_tokenizer().spec()) {
        (
            None,
            Some(PreTokenizerSpec::Metaspace(MetaspaceSpec {
                replacement: METASPACE,
                prepend_scheme,
                split: false,
            })),
        ) => Some(match prepend_scheme {
            PrependScheme::Always => DummyPrefix::UnlessSpace,
            PrependScheme::First => DummyPrefix::FirstUnlessSpace,
            PrependScheme::Never => DummyPrefix::Never,
        }),
        (Some(normalizer), pre_tokenizer) if pre_tokenizer.as_ref().is_none_or(is_noop) => {
            escaping_prefix(&normalizer)
        }
        _ => None,
    }
}

/// Returns whether a pre-tokenizer leaves text without spaces whole.
fn is_noop(pre_tokenizer: &PreTokenizerSpec) -> bool {
    matches!(pre_tokenizer, PreTokenizerSpec::Split { pattern: PatternSpec::Text(text), invert: false, .. } if text == " ")
}

/// Returns when a normalizer that escapes spaces adds a `▁`; `None` for other normalizers.
fn escaping_prefix(normalizer: &NormalizerSpec) -> Option<DummyPrefix> {
    let replaces = |spec: &NormalizerSpec| matches!(spec, NormalizerSpec::Replace { pattern: PatternSpec::Text(text), content } if text == " " && content == METASPACE_STR);
    let prepends = |spec: &NormalizerSpec| matches!(spec, NormalizerSpec::Prepend { prepend } if prepend == METASPACE_STR);
    match normalizer {
        NormalizerSpec::Sequence(stages) => match stages.as_slice() {
            [first, second] if prepends(first) && replaces(second) => Some(DummyPrefix::Always),
            [only] if replaces(only) => Some(DummyPrefix::Never),
            _ => None,
        },
        only => replaces(only).then_some(DummyPrefix::Never),
    }
}

/// Returns whether no merge crosses the boundary before a `▁`, except between two `▁`.
///
/// `▁` must be in the vocabulary, because otherwise unknown characters on both sides of it would be fused.
fn splits_at_metaspace(model: &BpeSpec) -> bool {
    let pairs = |text: &str| {
        text.chars().zip(text.chars().skip(1)).any(|(one, next)| one != METASPACE && next == METASPACE)
    };
    has_plain_merges(model)
        && model.vocab.iter().any(|(entry, _)| entry == METASPACE_STR)
        && !model.merges.iter().any(|(left, right)| pairs(&format!("{left}{right}")))
}

/// Returns whether merges apply to the text as it is, and tokens result from merges only.
fn has_plain_merges(model: &BpeSpec) -> bool {
    let is_plain = |affix: &Option<String>| affix.as_deref().is_none_or(str::is_empty);
    let is_not_text =
        |entry: &String| byte_of_entry(entry).is_some() || Some(entry) == model.unk_token.as_ref();
    !model.ignore_merges
        && has_all_unknown(model)
        && is_plain(&model.continuing_subword_prefix)
        && is_plain(&model.end_of_word_suffix)
        && !model.merges.iter().any(|(left, right)| is_not_text(left) || is_not_text(right))
}

/// Returns whether every unknown character has tokens. One without tokens is dropped, and its neighbors merge.
fn has_all_unknown(model: &BpeSpec) -> bool {
    let mut bytes = [false; 256];
    let entries = model.vocab.iter().filter_map(|(entry, _)| byte_of_entry(entry));
    entries.for_each(|byte| bytes[usize::from(byte)] = true);
    model.unk_token.is_some() || model.byte_fallback && bytes == [true; 256]
}

/// Returns the table of single characters, for SentencePiece's Unigram.
fn single_chars_of(layout: WordLayout, stages: &Stages) -> Option<SingleChars> {
    match (stages.splitter.normalizer(), &*stages.model, &*stages.model_spec) {
        (
            Normalizer::SentencePiece(normalizer),
            Model::UnigramF32(model),
            ModelSpec::SentencePiece(spec),
        ) if layout == WordLayout::SingleSpace => SingleChars::of(normalizer, model, spec),
        _ => None,
    }
}

/// Returns the ASCII pairs between which raw text may split: both characters normalize independently, and no piece
/// contains the normalized pair.
fn ascii_splits_of(pairs: &CharAdjacency, normalizer: &Normalizer) -> AsciiSplits {
    let normalized = normalizer.ascii_alone().map(|new| new.map(char::from));
    AsciiSplits::of(|one, next| match (normalized[usize::from(one)], normalized[usize::from(next)]) {
        (Some(one), Some(next)) => pairs.can_split(one, next),
        _ => false,
    })
}

/// Returns the merges of a model that segments each word independently.
fn merges_of(model: &ModelSpec) -> Vec<RankedMerge<'_>> {
    match model {
        ModelSpec::SentencePiece(model) => space_runs::of_pieces(model),
        ModelSpec::Bpe(model) => space_runs::of_merges(model),
        _ => Vec::new(),
    }
}

fn symbols_of(normalizer: &Normalizer) -> &[String] {
    match normalizer {
        Normalizer::SentencePiece(normalizer) => &normalizer.spec().user_defined_symbols,
        _ => &[],
    }
}

/// Returns the pairs of characters that are adjacent in a piece; `None` if segmentations of parts cannot be joined.
fn adjacency_of(stages: &Stages) -> Option<CharAdjacency> {
    match &*stages.model_spec {
        ModelSpec::SentencePiece(model) => {
            // Unigram ignores unused pieces, and BPE with such pieces has no split rule.
            let is_found = |kind| matches!(kind, PieceType::Normal | PieceType::UserDefined);
            let found = model.pieces.iter().filter(|piece| is_found(piece.kind));
            // The normalizer matches user-defined symbols, whether they are pieces or not.
            let symbols =
                symbols_of(stages.splitter.normalizer()).iter().filter(|symbol| symbol.chars().count() > 1);
            Some(CharAdjacency::of(
                found.map(|piece| piece.text.as_str()).chain(symbols.map(String::as_str)),
            ))
        }
        ModelSpec::Unigram(model) => {
            Some(CharAdjacency::of(model.vocab.iter().map(|(entry, _)| entry.as_str())))
        }
        ModelSpec::Bpe(model) if has_plain_merges(model) => {
            let merged: Vec<String> =
                model.merges.iter().map(|(left, right)| format!("{left}{right}")).collect();
            let is_char = |entry: &&str| entry.chars().nth(1).is_none();
            let chars = model.vocab.iter().map(|(entry, _)| entry.as_str()).filter(is_char);
            Some(CharAdjacency::of(merged.iter().map(String::as_str).chain(chars)))
        }
        _ => None,
    }
}
