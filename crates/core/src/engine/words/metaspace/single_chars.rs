//! Single characters: those that are one token in every segmentation, because no longer piece contains them. A table maps
//! them to ids in the raw text, without the word cache and without the lattice.
//!
//! A character is single if it normalizes to one character, and no piece of several characters contains the result. It
//! must also normalize independently of its neighbours: no rule of several characters spans the boundary before or after
//! it. Unknown characters are single too. In most vocabularies, most characters of many scripts are single.
//!
//! `model/unigram/float32/margin.rs` has the argument why a run needs no margin.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use piecework_unicode::{wide_char_at, CodePointMap, CodePointMapBuilder};

use super::spans::{Preceding, ScannedSpan, SpanKind, SpanWriter, WordSpan};
use crate::engine::stages::{ModelSource, Stages};
use crate::locks::Late;
use crate::model::{Model, UnigramF32};
use crate::spec::{ModelSpec, PieceType, ScoredPiece, SentencePieceSpec};
use crate::stages::normalize::{CharAction, SentencePieceNormalizer};
use crate::text::METASPACE;

/// The maximum length of a run, in bytes; the character that reaches it is included.
const MAX_RUN: usize = 1 << 12;

/// The flags and the id of a character, and the cost of its score as in [`UnigramF32::cost`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CharEntry {
    flags: u32,
    cost: u32,
}

/// The entry of a character that is not single.
const NOT_SINGLE: CharEntry = CharEntry { flags: 0, cost: 0 };

/// The character is single, and the low bits are its id.
const SINGLE: u32 = 1 << 31;
/// A rule of several characters begins with the character.
const BEGINS_RULE: u32 = 1 << 30;
/// A rule contains the character after the first.
const CONTINUES: u32 = 1 << 29;
/// The character normalizes to a space, so it separates words.
const SEPARATES: u32 = 1 << 28;
/// The character normalizes to nothing, or to a text that contains a space.
const IS_GAP: u32 = 1 << 27;
/// The bits of the id.
const ID: u32 = (1 << 24) - 1;

/// Looks up single characters, in a table that it makes for the first non-ASCII character: ASCII text needs none.
#[derive(Clone, Debug)]
pub(super) struct LateSingleChars {
    normalizer: Arc<SentencePieceNormalizer>,
    model: Arc<Model>,
    source: Arc<ModelSource>,
    table: Late<Option<SingleChars>>,
}

impl LateSingleChars {
    /// Return the table for a pipeline with this normalizer.
    pub(super) fn of(normalizer: &Arc<SentencePieceNormalizer>, stages: &Stages) -> Self {
        Self {
            normalizer: Arc::clone(normalizer),
            model: Arc::clone(&stages.model),
            source: Arc::clone(&stages.model_spec),
            table: Late::unbuilt(),
        }
    }

    /// Return the table; `None` if the model has none, and while another thread makes it.
    #[inline]
    pub(super) fn get(&self) -> Option<&SingleChars> {
        self.table.get_or_build(|| self.make())?.as_ref()
    }

    /// Make the table.
    pub(super) fn warm_up(&self) {
        self.table.get_or_make(|| self.make());
    }

    fn make(&self) -> Option<SingleChars> {
        match (&*self.model, self.source.whole()) {
            (Model::UnigramF32(model), ModelSpec::SentencePiece(spec)) => {
                SingleChars::of(&self.normalizer, model, spec)
            }
            _ => None,
        }
    }
}

/// The table of single characters.
#[derive(Clone, Debug)]
pub(super) struct SingleChars {
    entries: CodePointMap<CharEntry>,
    metaspace: CharEntry,
    unk_id: u32,
    /// The cost of one unknown character.
    unknown_cost: u32,
    /// By ASCII character: whether it always normalizes to one character that is no space.
    maps_to_char: [bool; 128],
}

/// The ids written for a run, and their score.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super::super) struct WrittenIds {
    /// The number of ids.
    pub(in super::super::super) count: usize,
    /// An upper bound of what the ids add to the absolute score, in 64ths.
    pub(in super::super::super) cost: u32,
    pub(in super::super::super) has_unknown: bool,
    /// Whether the last id is that of unknown characters; the id before the run if there is none yet.
    ends_with_unknown: bool,
}

impl SingleChars {
    /// Return the table of a model.
    ///
    /// `None` for models with byte fallback, without a `▁` piece, with too many pieces or rules, or with rules that
    /// [`SentencePieceNormalizer::char_actions`] rejects.
    fn of(
        normalizer: &SentencePieceNormalizer,
        model: &UnigramF32,
        spec: &SentencePieceSpec,
    ) -> Option<Self> {
        if spec.byte_fallback || spec.pieces.len() > ID as usize {
            return None;
        }
        let actions = normalizer.char_actions()?;
        let PieceChars { single, in_longer } = PieceChars::of(&spec.pieces);
        let entry = |id| Some(CharEntry { flags: SINGLE | id, cost: model.cost(id)? });
        let unk_id = model.pieces().unk_id();
        let unknown = entry(unk_id)?;
        let metaspace = entry(*single.get(&METASPACE)?)?;
        let mut entries = CodePointMapBuilder::new(unknown);
        for &c in actions.keys().chain(single.keys()).chain(&in_longer) {
            let action = actions.get(&c).copied().unwrap_or_default();
            let new = normalized_char(c, action).filter(|new| !in_longer.contains(new));
            let entry = new
                .map_or(Some(NOT_SINGLE), |new| single.get(&new).map_or(Some(unknown), |&id| entry(id)))?;
            entries.set(c, CharEntry { flags: entry.flags | flags_of(action), ..entry });
        }
        Some(Self {
            entries: entries.build(),
            metaspace,
            unk_id,
            unknown_cost: unknown.cost,
            maps_to_char: normalizer.ascii_alone().map(|new| new.is_some()),
        })
    }

    /// Write the runs of single characters among the non-ASCII characters from byte `at` on, and end the open span at
    /// each separator among them.
    #[inline]
    pub(super) fn split_runs(
        &self,
        text: &[u8],
        mut at: usize,
        spans: &mut SpanWriter<'_, impl FnMut(ScannedSpan, &mut Vec<WordSpan>)>,
    ) {
        // An ASCII character that may normalize to nothing or to a space must stay with the text after it.
        spans.open.is_unsplit |=
            at > spans.open.start && !self.maps_to_char[usize::from(text[at - 1] & 0x7F)];
        // The start of the run, its last character and the flags of that; the number of characters, and the bits in which
        // any id differs from the unknown id.
        let (mut start, mut last, mut before, mut count, mut id_differences) = (at, at, 0, 0, 0);
        let kind = |count, id_differences| {
            if id_differences == 0 {
                SpanKind::UnknownChars(count)
            } else {
                SpanKind::SingleChars
            }
        };
        while let Some((code, len)) = wide_char_at(text, at) {
            let flags = self.entries.get_code(code).flags;
            let is_independent = flags & CONTINUES == 0 || at > start && before & BEGINS_RULE == 0;
            if flags & SINGLE == 0 || !is_independent || at - start > MAX_RUN {
                let (end, excluded) = if is_independent { (at, 0) } else { (last, 1) };
                if start < end && !spans.open.is_unsplit {
                    spans.emit_run(start, end, kind(count - excluded, id_differences));
                }
                let is_included = flags & SINGLE != 0 && is_independent;
                (start, count, id_differences) = (if is_included { at } else { at + len }, 0, 0);
                if flags & SEPARATES != 0 {
                    spans.end(at);
                    spans.begin(start, Preceding::WideSeparator);
                }
                spans.open.is_unsplit |= flags & IS_GAP != 0;
            }
            if start <= at {
                count += 1;
                id_differences |= flags & ID ^ self.unk_id;
            }
            (last, before) = (at, flags);
            at += len;
        }
        if start < at && !spans.open.is_unsplit {
            spans.emit_run(start, at, kind(count, id_differences));
        }
    }

    /// Write the `▁` of a run, if it has one.
    #[inline]
    pub(super) fn write_prefix(
        &self,
        has_prefix: bool,
        is_after_unknown: bool,
        out: &mut [u32],
    ) -> WrittenIds {
        if !has_prefix {
            return WrittenIds { ends_with_unknown: is_after_unknown, ..WrittenIds::default() };
        }
        out[0] = self.metaspace.flags & ID;
        WrittenIds { count: 1, cost: self.metaspace.cost, ..WrittenIds::default() }
    }

    /// Write the ids of a run after those in `written`, with adjacent unknown characters fused.
    #[inline]
    pub(super) fn write(&self, run: &[u8], mut written: WrittenIds, out: &mut [u32]) -> WrittenIds {
        let mut at = 0;
        while let Some((code, len)) = wide_char_at(run, at) {
            let CharEntry { flags, cost } = self.entries.get_code(code);
            let id = flags & ID;
            let is_unknown = id == self.unk_id;
            out[written.count] = id;
            written.count += usize::from(!(is_unknown && written.ends_with_unknown));
            written.cost += cost;
            written.has_unknown |= is_unknown;
            written.ends_with_unknown = is_unknown;
            at += len;
        }
        written
    }

    /// Write the id of a run of `count` unknown characters after those in `written`.
    #[inline]
    pub(super) fn write_unknown(&self, count: u32, written: WrittenIds, out: &mut [u32]) -> WrittenIds {
        out[written.count] = self.unk_id;
        let cost = written.cost + count * self.unknown_cost;
        WrittenIds {
            count: written.count + usize::from(!written.ends_with_unknown),
            cost,
            has_unknown: true,
            ends_with_unknown: true,
        }
    }

    /// Append the id of every character of a run, and that of its `▁`, without fusing unknown characters.
    pub(super) fn push_char_ids(&self, run: &[u8], has_prefix: bool, out: &mut Vec<u32>) {
        out.extend(has_prefix.then_some(self.metaspace.flags & ID));
        let mut at = 0;
        while let Some((code, len)) = wide_char_at(run, at) {
            out.push(self.entries.get_code(code).flags & ID);
            at += len;
        }
    }
}

/// Return the flags of a character with this action of the rules.
fn flags_of(action: CharAction<'_>) -> u32 {
    let is_space = action.replacement == Some(" ")
        && !(action.begins_rule || action.continues_rule || action.is_in_symbol);
    let flags = [
        (action.begins_rule, BEGINS_RULE),
        (action.continues_rule, CONTINUES),
        (is_space, SEPARATES),
        (action.is_gap() && !is_space, IS_GAP),
    ];
    flags.iter().filter(|(is, _)| *is).fold(0, |flags, (_, flag)| flags | flag)
}

/// Return the one character, no space, that `c` alone normalizes to; `None` if there is none.
fn normalized_char(c: char, action: CharAction<'_>) -> Option<char> {
    let Some(new) = action.replacement else { return Some(c).filter(|_| !action.is_in_symbol) };
    let mut chars = new.chars();
    let first = chars.next().filter(|&first| first != ' ' && first != METASPACE);
    first.filter(|_| chars.next().is_none() && !action.is_in_symbol)
}

/// The characters of normal and user-defined pieces.
struct PieceChars {
    /// The characters that are pieces, and their ids.
    single: HashMap<char, u32>,
    /// The characters of longer pieces.
    in_longer: HashSet<char>,
}

impl PieceChars {
    fn of(pieces: &[ScoredPiece]) -> Self {
        let (mut single, mut in_longer, mut ascii) = (HashMap::default(), HashSet::default(), [false; 128]);
        let is_found =
            |piece: &ScoredPiece| matches!(piece.kind, PieceType::Normal | PieceType::UserDefined);
        for (id, piece) in (0..).zip(pieces).filter(|(_, piece)| is_found(piece)) {
            let mut chars = piece.text.chars();
            match (chars.next(), chars.next()) {
                (Some(only), None) => drop(single.insert(only, id)),
                // Most characters are ASCII, and the array is faster than the set.
                _ => piece.text.chars().for_each(|c| match ascii.get_mut(c as usize) {
                    Some(is_in_longer) => *is_in_longer = true,
                    None => drop(in_longer.insert(c)),
                }),
            }
        }
        in_longer.extend((0..128u8).map(char::from).filter(|&c| ascii[c as usize]));
        Self { single, in_longer }
    }
}
