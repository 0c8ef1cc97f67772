//! Characters that every segmentation takes alone: pieces that no other piece holds, and those that no piece holds at
//! all. Runs of them are told in the raw text by a table, without the memo and without weighing.
//!
//! A character is lone if, normalized alone, it is one character that is in no piece of several. Nothing crosses the
//! place before or after it, so its path is the same in every text. That it is normalized alone is told from its
//! neighbours: no rule goes on from the one before, nor with the one after. Many scripts are little but such characters
//! to most vocabularies.

use piecework_unicode::wide_char_at;
use rustc_hash::{FxHashMap, FxHashSet};

use super::scanner::{Preceding, ScannedSpan, SpanEmitter, SpanKind};
use super::word_rules::METASPACE;
use crate::model::SentencePiece;
use crate::normalize::{self, CharAction};
use crate::spec::{PieceType, ScoredPiece, SentencePieceSpec};

const PAGE: usize = 64;
/// The most bytes of a run, give or take a character.
const MAX_RUN: usize = 1 << 12;

/// What is known of a character, and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CharEntry {
    flags: u32,
    cost: u32,
}

/// One that is not lone.
const NOT_SINGLE: CharEntry = CharEntry { flags: 0, cost: 0 };

/// It is lone; below stands its id.
const SINGLE: u32 = 1 << 31;
/// A rule of several characters begins with it.
const BEGINS_RULE: u32 = 1 << 30;
/// A rule goes on with it.
const CONTINUES: u32 = 1 << 29;
/// It becomes a space, and parts a text.
const SEPARATES: u32 = 1 << 28;
/// It becomes nothing, or something with a space.
const IS_GAP: u32 = 1 << 27;
const ID: u32 = (1 << 24) - 1;

/// The table of characters.
#[derive(Clone, Debug)]
pub(super) struct SingleChars {
    /// By code point over `PAGE`: the number of a page.
    pages: Vec<u16>,
    entries: Vec<[CharEntry; PAGE]>,
    metaspace: CharEntry,
    unk_id: u32,
    /// By ASCII character: whether it becomes one that is no space, whatever stands beside it.
    maps_to_char: [bool; 128],
}

/// What was put of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WrittenIds {
    /// How many ids.
    pub(super) count: usize,
    /// At least what they add to the size of the score, in 64ths.
    pub(super) cost: u32,
    pub(super) has_unknown: bool,
    /// Whether it ends with an unknown character, or what is before does where nothing was put.
    ends_with_unknown: bool,
}

impl SingleChars {
    /// The table of a model, if unknown characters are one token and not bytes; nothing where rules or pieces are too
    /// many or too odd.
    pub(super) fn of(
        normalizer: &normalize::SentencePieceNormalizer,
        model: &SentencePiece,
        spec: &SentencePieceSpec,
    ) -> Option<Self> {
        if spec.byte_fallback || spec.pieces.len() > ID as usize {
            return None;
        }
        let actions = normalizer.char_actions()?;
        let PieceChars { single, in_longer } = PieceChars::of(&spec.pieces);
        let entry = |id| Some(CharEntry { flags: SINGLE | id, cost: model.cost(id)? });
        let unk_id = model.unk_id();
        let unknown = entry(unk_id)?;
        let metaspace = entry(*single.get(&METASPACE)?)?;
        let mut single_chars = Self {
            pages: vec![0; (char::MAX as usize + 1) / PAGE],
            entries: vec![[unknown; PAGE]],
            metaspace,
            unk_id,
            maps_to_char: normalizer.ascii_alone().map(|new| new.is_some()),
        };
        for &c in actions.keys().chain(single.keys()).chain(&in_longer) {
            let action = actions.get(&c).copied().unwrap_or_default();
            let new = normalized_char(c, action).filter(|new| !in_longer.contains(new));
            let entry = new
                .map_or(Some(NOT_SINGLE), |new| single.get(&new).map_or(Some(unknown), |&id| entry(id)))?;
            single_chars.set_entry(c, CharEntry { flags: entry.flags | flags_of(action), ..entry });
        }
        Some(single_chars)
    }

    fn set_entry(&mut self, c: char, entry: CharEntry) {
        let page = &mut self.pages[c as usize / PAGE];
        if *page == 0 {
            *page = self.entries.len() as u16;
            self.entries.push(self.entries[0]);
        }
        self.entries[usize::from(*page)][c as usize % PAGE] = entry;
    }

    #[inline]
    fn entry(&self, code: u32) -> CharEntry {
        let code = code as usize;
        self.entries[usize::from(self.pages[code / PAGE])][code % PAGE]
    }

    /// Take the runs out of the characters beyond ASCII that stand together from byte `at` on, and end the stretch where
    /// one of them parts the text.
    #[inline]
    pub(super) fn split_runs(
        &self,
        text: &[u8],
        mut at: usize,
        spans: &mut SpanEmitter<impl FnMut(ScannedSpan)>,
    ) {
        // What may vanish, or end with a space, stays with what follows.
        spans.is_unsplit |= at > spans.start && !self.maps_to_char[usize::from(text[at - 1] & 0x7F)];
        // Where the run so far begins, and its last character; what is known of that, and the ids of all that differ
        // from the unknown one.
        let (mut start, mut last, mut before, mut count, mut id_differences) = (at, at, 0, 0, 0);
        let kind = |count, id_differences| {
            if id_differences == 0 {
                SpanKind::UnknownChars(count)
            } else {
                SpanKind::SingleChars
            }
        };
        while let Some((code, len)) = wide_char_at(text, at) {
            let flags = self.entry(code).flags;
            let is_independent = flags & CONTINUES == 0 || at > start && before & BEGINS_RULE == 0;
            if flags & SINGLE == 0 || !is_independent || at - start > MAX_RUN {
                let (end, excluded) = if is_independent { (at, 0) } else { (last, 1) };
                if start < end && !spans.is_unsplit {
                    spans.emit_run(start, end, kind(count - excluded, id_differences));
                }
                let is_included = flags & SINGLE != 0 && is_independent;
                (start, count, id_differences) = (if is_included { at } else { at + len }, 0, 0);
                if flags & SEPARATES != 0 {
                    spans.end(at);
                    spans.begin(start, Preceding::WideSeparator);
                }
                spans.is_unsplit |= flags & IS_GAP != 0;
            }
            if start <= at {
                count += 1;
                id_differences |= flags & ID ^ self.unk_id;
            }
            (last, before) = (at, flags);
            at += len;
        }
        if start < at && !spans.is_unsplit {
            spans.emit_run(start, at, kind(count, id_differences));
        }
    }

    /// Write the mark of a run, if it has one, where there is room for it and for one id a character.
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

    /// Write the ids of a run.
    #[inline]
    pub(super) fn write(&self, run: &[u8], mut written: WrittenIds, out: &mut [u32]) -> WrittenIds {
        let mut at = 0;
        while let Some((code, len)) = wide_char_at(run, at) {
            let CharEntry { flags, cost } = self.entry(code);
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

    /// The same for one of so many unknown characters.
    #[inline]
    pub(super) fn write_unknown(&self, count: u32, written: WrittenIds, out: &mut [u32]) -> WrittenIds {
        out[written.count] = self.unk_id;
        let cost = written.cost + count * self.entries[0][0].cost;
        WrittenIds {
            count: written.count + usize::from(!written.ends_with_unknown),
            cost,
            has_unknown: true,
            ends_with_unknown: true,
        }
    }

    /// Append the id of every single character of a run, and of its mark.
    pub(super) fn push_char_ids(&self, run: &[u8], has_prefix: bool, out: &mut Vec<u32>) {
        out.extend(has_prefix.then_some(self.metaspace.flags & ID));
        let mut at = 0;
        while let Some((code, len)) = wide_char_at(run, at) {
            out.push(self.entry(code).flags & ID);
            at += len;
        }
    }
}

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

/// The single character that another one becomes alone, if it does.
fn normalized_char(c: char, action: CharAction<'_>) -> Option<char> {
    let Some(new) = action.replacement else { return Some(c).filter(|_| !action.is_in_symbol) };
    let mut chars = new.chars();
    let first = chars.next().filter(|&first| first != ' ' && first != METASPACE);
    first.filter(|_| chars.next().is_none() && !action.is_in_symbol)
}

/// The characters of pieces that are found in texts.
struct PieceChars {
    /// Those that are pieces, and their ids.
    single: FxHashMap<char, u32>,
    /// Those of longer ones.
    in_longer: FxHashSet<char>,
}

impl PieceChars {
    fn of(pieces: &[ScoredPiece]) -> Self {
        let (mut single, mut in_longer, mut ascii) =
            (FxHashMap::default(), FxHashSet::default(), [false; 128]);
        let is_found =
            |piece: &ScoredPiece| matches!(piece.kind, PieceType::Normal | PieceType::UserDefined);
        for (id, piece) in (0..).zip(pieces).filter(|(_, piece)| is_found(piece)) {
            let mut chars = piece.text.chars();
            match (chars.next(), chars.next()) {
                (Some(only), None) => drop(single.insert(only, id)),
                // Most characters of most pieces, and told faster.
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
