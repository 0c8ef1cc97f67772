//! Which pipelines make marked words, and how: read off their stages when they are compiled.

use memchr::memmem::Finder;

use super::super::stages::Stages;
use super::scanner::{Cuts, Scanner};
use super::single_chars::Lone;
use super::spaces::{self, Join, Spaces};
use crate::model::{CharAdjacency, Model, SplitRule};
use crate::normalize::{Boundaries, Normalizer};
use crate::spec::{
    BpeSpec, MetaspaceSpec, ModelSpec, NormalizerSpec, PatternSpec, PieceType, PreTokenizerSpec,
    PrependScheme,
};
use crate::text::byte_of_entry;

/// What stands for a space.
pub(super) const MARK: char = '\u{2581}';
pub(super) const MARK_TEXT: &str = "\u{2581}";

/// How a text becomes words.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) layout: Layout,
    /// Where words are.
    pub(super) scanner: Scanner,
    /// By ASCII character: it stays as it is among others that do, and is no whitespace.
    kept: Boundaries,
    /// Where marked words are taken apart when they are new, if they may be.
    pub(super) pairs: Option<CharAdjacency>,
    /// Where runs of spaces are words by themselves, if they may be.
    pub(super) spaces: Option<Spaces>,
    mark: Finder<'static>,
}

/// What is a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// What stands between whitespace, normalized and cut again at the whitespace that this makes; each
    /// gets a mark and is cut before each mark in it.
    Apart,
    /// A space and what follows it; further spaces go, and the first word gets one.
    Single,
    /// A run of spaces and what follows it, nothing changed but that spaces become marks.
    Runs(Begins),
    /// A part of a marked text.
    Marked(SplitRule),
}

/// Whether a mark comes before the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begins {
    Never,
    Always,
    /// Unless it begins with a space.
    UnlessSpace,
    /// The same, but only at the beginning of the original.
    FirstUnlessSpace,
}

impl Form {
    /// The form of a pipeline, if it has one.
    pub(super) fn of(stages: &Stages) -> Option<Self> {
        let (layout, parting) = match (&stages.model, &stages.splitter.pre_tokenizer().spec()) {
            (Model::SentencePiece(model), None) if model.split_rule() == Some(SplitRule::BeforeSpace) => {
                sentencepiece(stages.splitter.normalizer())?
            }
            (Model::SentencePiece(_), _) => return None,
            (_, Some(pre_tokenizer)) if cuts_at_whitespace(pre_tokenizer) => {
                (Layout::Apart, stages.splitter.normalizer().boundary_whitespace())
            }
            _ => (Layout::Runs(whole_text(stages)?), std::array::from_fn(|byte| byte == usize::from(b' '))),
        };
        parting[usize::from(b' ')].then(|| {
            let pairs = pairs_of(stages);
            let cuts = match (&pairs, layout) {
                (Some(pairs), Layout::Single | Layout::Runs(_)) => {
                    cuts_of(pairs, stages.splitter.normalizer())
                }
                _ => Cuts::none(),
            };
            // Unigram finds the parts of new words itself.
            let pairs = pairs.filter(|_| !is_contextual(&stages.model));
            let kept = stages.splitter.normalizer().kept_among_ascii();
            let spaces = match (&pairs, layout) {
                (Some(pairs), Layout::Runs(_)) => Some(Spaces::of(&joins_of(&stages.model_spec), pairs)),
                _ => None,
            };
            let mut form = Self { pairs, spaces, ..Self::new(layout, parting, cuts, kept) };
            form.scanner.lone = lone_of(layout, stages);
            form
        })
    }

    /// The form of a text that is marked already.
    pub(super) fn marked(cut: SplitRule) -> Self {
        Self::new(Layout::Marked(cut), [false; 128], Cuts::none(), [false; 128])
    }

    fn new(layout: Layout, parting: Boundaries, cuts: Cuts, kept: Boundaries) -> Self {
        let scanner = Scanner::new(|byte| parting[usize::from(byte)], cuts);
        let kept = std::array::from_fn(|byte| kept[byte] && !char::from(byte as u8).is_whitespace());
        Self { layout, scanner, kept, pairs: None, spaces: None, mark: Finder::new(MARK_TEXT) }
    }

    /// Whether the words of this text can be told. Marks in the text itself are spaces to the model, but not
    /// to the normalizer.
    pub(super) fn takes(&self, text: &str) -> bool {
        self.layout == Layout::Apart || self.mark.find(text.as_bytes()).is_none()
    }

    /// Whether normalizing leaves a stretch as it is, as far as that is easily told.
    pub(super) fn keeps(&self, stretch: &str) -> bool {
        stretch.bytes().all(|byte| self.kept.get(usize::from(byte)).is_some_and(|&kept| kept))
    }
}

fn sentencepiece(normalizer: &Normalizer) -> Option<(Layout, Boundaries)> {
    let Normalizer::SentencePiece(normalizer) = normalizer else { return None };
    let spec = normalizer.spec();
    let layout = match (spec.remove_extra_whitespaces, spec.add_dummy_prefix) {
        _ if !spec.escape_whitespaces || spec.treat_whitespace_as_suffix => return None,
        (true, true) => Layout::Single,
        (true, false) => return None,
        (false, _) if normalizer.has_rules() => return None,
        (false, true) => Layout::Runs(Begins::Always),
        (false, false) => Layout::Runs(Begins::Never),
    };
    Some((layout, normalizer.boundary_spaces()))
}

fn cuts_at_whitespace(pre_tokenizer: &PreTokenizerSpec) -> bool {
    use PreTokenizerSpec::{Metaspace, Sequence, WhitespaceSplit};
    let marks = MetaspaceSpec { replacement: MARK, prepend_scheme: PrependScheme::Always, split: true };
    *pre_tokenizer == Sequence(vec![WhitespaceSplit, Metaspace(marks)])
}

/// How a text begins where BPE gets it whole with marks for spaces, and no merge joins what a mark parts.
fn whole_text(stages: &Stages) -> Option<Begins> {
    let ModelSpec::Bpe(model) = &stages.model_spec else { return None };
    if !parts_at_marks(model) {
        return None;
    }
    match (stages.splitter.normalizer().spec(), &stages.splitter.pre_tokenizer().spec()) {
        (
            None,
            Some(PreTokenizerSpec::Metaspace(MetaspaceSpec {
                replacement: MARK,
                prepend_scheme,
                split: false,
            })),
        ) => Some(match prepend_scheme {
            PrependScheme::Always => Begins::UnlessSpace,
            PrependScheme::First => Begins::FirstUnlessSpace,
            PrependScheme::Never => Begins::Never,
        }),
        (Some(normalizer), pre_tokenizer) if pre_tokenizer.as_ref().is_none_or(is_idle) => {
            marking(&normalizer)
        }
        _ => None,
    }
}

/// Whether a pre-tokenizer finds nothing where there are no spaces.
fn is_idle(pre_tokenizer: &PreTokenizerSpec) -> bool {
    matches!(pre_tokenizer, PreTokenizerSpec::Split { pattern: PatternSpec::Text(text), invert: false, .. } if text == " ")
}

fn marking(normalizer: &NormalizerSpec) -> Option<Begins> {
    let replaces = |spec: &NormalizerSpec| matches!(spec, NormalizerSpec::Replace { pattern: PatternSpec::Text(text), content } if text == " " && content == MARK_TEXT);
    let prepends =
        |spec: &NormalizerSpec| matches!(spec, NormalizerSpec::Prepend { prepend } if prepend == MARK_TEXT);
    match normalizer {
        NormalizerSpec::Sequence(stages) => match stages.as_slice() {
            [first, second] if prepends(first) && replaces(second) => Some(Begins::Always),
            [only] if replaces(only) => Some(Begins::Never),
            _ => None,
        },
        only => replaces(only).then_some(Begins::Never),
    }
}

/// Whether no merge joins a mark to what stands before it, unless that ends with a mark too; and a mark is an
/// entry, so that unknown characters on both sides of it stay apart.
fn parts_at_marks(model: &BpeSpec) -> bool {
    let pairs =
        |text: &str| text.chars().zip(text.chars().skip(1)).any(|(one, next)| one != MARK && next == MARK);
    has_plain_merges(model)
        && model.vocab.iter().any(|(entry, _)| entry == MARK_TEXT)
        && !model.merges.iter().any(|(left, right)| pairs(&format!("{left}{right}")))
}

/// Whether merges join what stands in the text, and nothing but merges makes entries.
fn has_plain_merges(model: &BpeSpec) -> bool {
    let is_plain = |affix: &Option<String>| affix.as_deref().is_none_or(str::is_empty);
    let stands_for_else =
        |entry: &String| byte_of_entry(entry).is_some() || Some(entry) == model.unk_token.as_ref();
    !model.ignore_merges
        && is_plain(&model.continuing_subword_prefix)
        && is_plain(&model.end_of_word_suffix)
        && !model.merges.iter().any(|(left, right)| stands_for_else(left) || stands_for_else(right))
}

/// The characters that are told one by one, for Unigram.
fn lone_of(layout: Layout, stages: &Stages) -> Option<Lone> {
    match (stages.splitter.normalizer(), &stages.model, &stages.model_spec) {
        (
            Normalizer::SentencePiece(normalizer),
            Model::SentencePiece(model),
            ModelSpec::SentencePiece(spec),
        ) if layout == Layout::Single => Lone::of(normalizer, model, spec),
        _ => None,
    }
}

fn is_contextual(model: &Model) -> bool {
    matches!(model, Model::SentencePiece(model) if model.is_contextual())
}

/// The ASCII neighbours that a text may be cut between before it is normalized: what becomes of each is easily
/// told, and that may be parted.
fn cuts_of(pairs: &CharAdjacency, normalizer: &Normalizer) -> Cuts {
    let becomes = normalizer.ascii_alone().map(|new| new.map(char::from));
    Cuts::of(|one, next| match (becomes[usize::from(one)], becomes[usize::from(next)]) {
        (Some(one), Some(next)) => pairs.can_split(one, next),
        _ => false,
    })
}

/// The joins of a model that sees each word alone.
fn joins_of(model: &ModelSpec) -> Vec<Join<'_>> {
    match model {
        ModelSpec::SentencePiece(model) => spaces::of_pieces(model),
        ModelSpec::Bpe(model) => spaces::of_merges(model),
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
fn pairs_of(stages: &Stages) -> Option<CharAdjacency> {
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
            let joined: Vec<String> =
                model.merges.iter().map(|(left, right)| format!("{left}{right}")).collect();
            let is_char = |entry: &&str| entry.chars().nth(1).is_none();
            let chars = model.vocab.iter().map(|(entry, _)| entry.as_str()).filter(is_char);
            Some(CharAdjacency::of(joined.iter().map(String::as_str).chain(chars)))
        }
        _ => None,
    }
}
