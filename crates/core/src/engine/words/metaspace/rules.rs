//! How the text of a pipeline splits into words; there are no rules if a token may cross every boundary.

use std::sync::Arc;

use memchr::memmem::Finder;

use super::layout::{DummyPrefix, Layout, WordRules};
use super::scanner::{AsciiSplits, MetaspaceScanner};
use super::single_chars::LateSingleChars;
use super::space_runs::LateSpaceRuns;
use crate::engine::stages::Stages;
use crate::model::{CharAdjacency, Model};
use crate::spec::{
    BpeSpec, MetaspaceSpec, ModelSpec, NormalizerSpec, PatternSpec, PieceType, PreTokenizerSpec,
    PrependScheme,
};
use crate::stages::normalize::{Boundaries, Normalizer, SentencePieceNormalizer};
use crate::text::{byte_of_entry, METASPACE, METASPACE_STR};

impl WordRules {
    /// Return the rules of raw text, or `None` if it does not split into words.
    pub(in super::super::super) fn of(stages: &Stages) -> Option<Self> {
        match (stages.model.pieces(), &stages.pre_tokenizer_spec) {
            (Some(pieces), None) if pieces.splits() => of_sentencepiece(stages),
            (Some(_), _) => None,
            (_, Some(pre_tokenizer)) if splits_at_whitespace(pre_tokenizer) => {
                let separators = stages.splitter.normalizer().boundary_whitespace();
                let rules = Self::new(Layout::WhitespaceSplit, separators, AsciiSplits::none(), stages);
                rules.map(|rules| Self { pairs: adjacency_of(stages), ..rules })
            }
            _ => with_spaces_before(bpe_dummy_prefix(stages)?, only_space(), stages),
        }
    }

    /// Return rules by which misses do not split, or `None` if a space does not separate words.
    fn new(layout: Layout, separators: Boundaries, splits: AsciiSplits, stages: &Stages) -> Option<Self> {
        let scanner = MetaspaceScanner::new(|byte| separators[usize::from(byte)], splits);
        let kept = stages.splitter.normalizer().kept_among_ascii();
        let unchanged = std::array::from_fn(|byte| kept[byte] && !char::from(byte as u8).is_whitespace());
        let rules = Self { layout, scanner, unchanged, pairs: None, metaspace: Finder::new(METASPACE_STR) };
        separators[usize::from(b' ')].then_some(rules)
    }
}

/// Return the rules of a SentencePiece model.
fn of_sentencepiece(stages: &Stages) -> Option<WordRules> {
    let Normalizer::SentencePiece(normalizer) = stages.splitter.normalizer() else { return None };
    let spec = normalizer.spec();
    let separators = normalizer.boundary_spaces();
    match (spec.remove_extra_whitespaces, spec.add_dummy_prefix) {
        _ if !spec.escape_whitespaces || spec.treat_whitespace_as_suffix => None,
        (true, true) => with_single_space(normalizer, stages),
        (true, false) => None,
        (false, _) if normalizer.has_rules() => None,
        (false, true) => with_spaces_before(DummyPrefix::Always, separators, stages),
        (false, false) => with_spaces_before(DummyPrefix::Never, separators, stages),
    }
}

/// Return the rules of text whose words have one space before them.
fn with_single_space(normalizer: &Arc<SentencePieceNormalizer>, stages: &Stages) -> Option<WordRules> {
    let (pairs, separators) = (adjacency_of(stages), normalizer.boundary_spaces());
    let splits = ascii_splits_of(pairs.as_ref(), stages);
    let mut rules = WordRules::new(Layout::SingleSpace, separators, splits, stages)?;
    match &*stages.model {
        // The model splits a miss into parts itself.
        Model::UnigramF32(_) => {
            rules.scanner.late_single_chars = Some(LateSingleChars::of(normalizer, stages));
        }
        _ => rules.pairs = pairs,
    }
    Some(rules)
}

/// Return the rules of text whose words have all the spaces before them.
fn with_spaces_before(
    dummy_prefix: DummyPrefix,
    separators: Boundaries,
    stages: &Stages,
) -> Option<WordRules> {
    let pairs = adjacency_of(stages);
    let splits = ascii_splits_of(pairs.as_ref(), stages);
    let pairs = pairs.filter(|_| !matches!(&*stages.model, Model::UnigramF32(_)));
    let runs = pairs.as_ref().map(|pairs| Arc::new(LateSpaceRuns::of(&stages.model_spec, pairs)));
    let layout = Layout::SpacesBefore { dummy_prefix, runs };
    let rules = WordRules::new(layout, separators, splits, stages)?;
    Some(WordRules { pairs, ..rules })
}

fn only_space() -> Boundaries {
    std::array::from_fn(|byte| byte == usize::from(b' '))
}

fn splits_at_whitespace(pre_tokenizer: &PreTokenizerSpec) -> bool {
    use PreTokenizerSpec::{Metaspace, Sequence, WhitespaceSplit};
    let metaspace =
        MetaspaceSpec { replacement: METASPACE, prepend_scheme: PrependScheme::Always, split: true };
    *pre_tokenizer == Sequence(vec![WhitespaceSplit, Metaspace(metaspace)])
}

/// Return when BPE over whole escaped texts adds a `▁`; `None` for other pipelines, and if a merge crosses the
/// boundary before a `▁`.
fn bpe_dummy_prefix(stages: &Stages) -> Option<DummyPrefix> {
    let ModelSpec::Bpe(model) = stages.model_spec.whole() else { return None };
    if !splits_at_metaspace(model) {
        return None;
    }
    match (&stages.normalizer_spec, &stages.pre_tokenizer_spec) {
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
            escaping_prefix(normalizer)
        }
        _ => None,
    }
}

/// Return whether a pre-tokenizer leaves text without spaces whole.
fn is_noop(pre_tokenizer: &PreTokenizerSpec) -> bool {
    matches!(pre_tokenizer, PreTokenizerSpec::Split { pattern: PatternSpec::Text(text), invert: false, .. } if text == " ")
}

/// Return when a normalizer that escapes spaces adds a `▁`; `None` for other normalizers.
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

/// Return whether no merge crosses the boundary before a `▁`, except between two `▁`.
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

/// Return whether merges apply to the text as it is, and tokens result from merges only.
fn has_plain_merges(model: &BpeSpec) -> bool {
    let is_plain = |affix: &Option<String>| affix.as_deref().is_none_or(str::is_empty);
    let is_not_text =
        |entry: &str| byte_of_entry(entry).is_some() || Some(entry) == model.unk_token.as_deref();
    !model.ignore_merges
        && has_all_unknown(model)
        && is_plain(&model.continuing_subword_prefix)
        && is_plain(&model.end_of_word_suffix)
        && !model.merges.iter().any(|(left, right)| is_not_text(left) || is_not_text(right))
}

/// Return whether every unknown character has tokens. One without tokens is dropped, and its neighbors merge.
fn has_all_unknown(model: &BpeSpec) -> bool {
    let mut bytes = [false; 256];
    let entries = model.vocab.iter().filter_map(|(entry, _)| byte_of_entry(entry));
    entries.for_each(|byte| bytes[usize::from(byte)] = true);
    model.unk_token.is_some() || model.byte_fallback && bytes == [true; 256]
}

/// Return the ASCII pairs between which raw text may split: both characters normalize independently, and no piece
/// contains the normalized pair.
fn ascii_splits_of(pairs: Option<&CharAdjacency>, stages: &Stages) -> AsciiSplits {
    let Some(pairs) = pairs else { return AsciiSplits::none() };
    let normalized = stages.splitter.normalizer().ascii_alone().map(|new| new.map(char::from));
    AsciiSplits::of(|one, next| match (normalized[usize::from(one)], normalized[usize::from(next)]) {
        (Some(one), Some(next)) => pairs.can_split(one, next),
        _ => false,
    })
}

fn symbols_of(normalizer: &Normalizer) -> &[String] {
    match normalizer {
        Normalizer::SentencePiece(normalizer) => &normalizer.spec().user_defined_symbols,
        _ => &[],
    }
}

/// Return the pairs of characters that are adjacent in a piece; `None` if segmentations of parts cannot be joined.
fn adjacency_of(stages: &Stages) -> Option<CharAdjacency> {
    match stages.model_spec.whole() {
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
