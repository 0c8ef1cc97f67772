//! Which pipelines make marked words, and how: read off their stages when they are compiled.

use memchr::memmem::Finder;

use super::super::stages::Stages;
use super::scanner::{AsciiSplits, Scanner};
use super::single_chars::SingleChars;
use super::space_runs::{self, RankedMerge, SpaceRuns};
use crate::model::{CharAdjacency, Model, SplitRule};
use crate::normalize::{Boundaries, Normalizer};
use crate::spec::{
    BpeSpec, MetaspaceSpec, ModelSpec, NormalizerSpec, PatternSpec, PieceType, PreTokenizerSpec,
    PrependScheme,
};
use crate::text::byte_of_entry;

/// What stands for a space.
pub(super) const METASPACE: char = '\u{2581}';
pub(super) const METASPACE_STR: &str = "\u{2581}";

/// How a text becomes words.
#[derive(Clone, Debug)]
pub(super) struct WordRules {
    pub(super) layout: WordLayout,
    /// Where words are.
    pub(super) scanner: Scanner,
    /// By ASCII character: it stays as it is among others that do, and is no whitespace.
    unchanged: Boundaries,
    /// Where marked words are taken apart when they are new, if they may be.
    pub(super) pairs: Option<CharAdjacency>,
    /// Where runs of spaces are words by themselves, if they may be.
    pub(super) spaces: Option<SpaceRuns>,
    metaspace: Finder<'static>,
}

/// What is a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordLayout {
    /// What stands between whitespace, normalized and cut again at the whitespace that this makes; each
    /// gets a mark and is cut before each mark in it.
    WhitespaceSplit,
    /// A space and what follows it; further spaces go, and the first word gets one.
    SingleSpace,
    /// A run of spaces and what follows it, nothing changed but that spaces become marks.
    SpaceRuns(DummyPrefix),
    /// A part of a marked text.
    Escaped(SplitRule),
}

/// Whether a mark comes before the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DummyPrefix {
    Never,
    Always,
    /// Unless it begins with a space.
    UnlessSpace,
    /// The same, but only at the beginning of the original.
    FirstUnlessSpace,
}

impl WordRules {
    /// The form of a pipeline, if it has one.
    pub(super) fn of(stages: &Stages) -> Option<Self> {
        let (layout, separators) = match (&stages.model, &stages.splitter.pre_tokenizer().spec()) {
            (Model::SentencePiece(model), None) if model.split_rule() == Some(SplitRule::BeforeSpace) => {
                sentencepiece(stages.splitter.normalizer())?
            }
            (Model::SentencePiece(_), _) => return None,
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
            // Unigram finds the parts of new words itself.
            let pairs = pairs.filter(|_| !is_contextual(&stages.model));
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

    /// The form of a text that is marked already.
    pub(super) fn escaped(rule: SplitRule) -> Self {
        Self::new(WordLayout::Escaped(rule), [false; 128], AsciiSplits::none(), [false; 128])
    }

    fn new(layout: WordLayout, separators: Boundaries, splits: AsciiSplits, unchanged: Boundaries) -> Self {
        let scanner = Scanner::new(|byte| separators[usize::from(byte)], splits);
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

    /// Whether the words of this text can be told. Marks in the text itself are spaces to the model, but not
    /// to the normalizer.
    pub(super) fn supports(&self, text: &str) -> bool {
        self.layout == WordLayout::WhitespaceSplit || self.metaspace.find(text.as_bytes()).is_none()
    }

    /// Whether normalizing leaves a stretch as it is, as far as that is easily told.
    pub(super) fn is_unchanged(&self, stretch: &str) -> bool {
        stretch
            .bytes()
            .all(|byte| self.unchanged.get(usize::from(byte)).is_some_and(|&unchanged| unchanged))
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

/// How a text begins where BPE gets it whole with marks for spaces, and no merge joins what a mark parts.
fn bpe_dummy_prefix(stages: &Stages) -> Option<DummyPrefix> {
    let ModelSpec::Bpe(model) = &stages.model_spec else { return None };
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

/// Whether a pre-tokenizer finds nothing where there are no spaces.
fn is_noop(pre_tokenizer: &PreTokenizerSpec) -> bool {
    matches!(pre_tokenizer, PreTokenizerSpec::Split { pattern: PatternSpec::Text(text), invert: false, .. } if text == " ")
}

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

/// Whether no merge joins a mark to what stands before it, unless that ends with a mark too; and a mark is an
/// entry, so that unknown characters on both sides of it stay apart.
fn splits_at_metaspace(model: &BpeSpec) -> bool {
    let pairs = |text: &str| {
        text.chars().zip(text.chars().skip(1)).any(|(one, next)| one != METASPACE && next == METASPACE)
    };
    has_plain_merges(model)
        && model.vocab.iter().any(|(entry, _)| entry == METASPACE_STR)
        && !model.merges.iter().any(|(left, right)| pairs(&format!("{left}{right}")))
}

/// Whether merges join what stands in the text, and nothing but merges makes entries.
fn has_plain_merges(model: &BpeSpec) -> bool {
    let is_plain = |affix: &Option<String>| affix.as_deref().is_none_or(str::is_empty);
    let is_not_text =
        |entry: &String| byte_of_entry(entry).is_some() || Some(entry) == model.unk_token.as_ref();
    !model.ignore_merges
        && is_plain(&model.continuing_subword_prefix)
        && is_plain(&model.end_of_word_suffix)
        && !model.merges.iter().any(|(left, right)| is_not_text(left) || is_not_text(right))
}

/// The characters that are told one by one, for Unigram.
fn single_chars_of(layout: WordLayout, stages: &Stages) -> Option<SingleChars> {
    match (stages.splitter.normalizer(), &stages.model, &stages.model_spec) {
        (
            Normalizer::SentencePiece(normalizer),
            Model::SentencePiece(model),
            ModelSpec::SentencePiece(spec),
        ) if layout == WordLayout::SingleSpace => SingleChars::of(normalizer, model, spec),
        _ => None,
    }
}

fn is_contextual(model: &Model) -> bool {
    matches!(model, Model::SentencePiece(model) if model.is_contextual())
}

/// The ASCII neighbours that a text may be cut between before it is normalized: what becomes of each is easily
/// told, and that may be parted.
fn ascii_splits_of(pairs: &CharAdjacency, normalizer: &Normalizer) -> AsciiSplits {
    let normalized = normalizer.ascii_alone().map(|new| new.map(char::from));
    AsciiSplits::of(|one, next| match (normalized[usize::from(one)], normalized[usize::from(next)]) {
        (Some(one), Some(next)) => pairs.can_split(one, next),
        _ => false,
    })
}

/// The joins of a model that sees each word alone.
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

/// The neighbours that are in one piece, for models whose segmentations are those of their parts.
fn adjacency_of(stages: &Stages) -> Option<CharAdjacency> {
    match &stages.model_spec {
        ModelSpec::SentencePiece(model) => {
            // An unused piece is an unknown character to Unigram, and BPE with such pieces is not cut.
            let is_found = |kind| matches!(kind, PieceType::Normal | PieceType::UserDefined);
            let found = model.pieces.iter().filter(|piece| is_found(piece.kind));
            // A symbol is found before it is normalized, piece or not.
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
