//! Characters that every segmentation takes alone: pieces that no other piece holds, and those that no piece holds at
//! all. Runs of them are told in the raw text by a table, without the memo and without weighing.
//!
//! A character is lone if, normalized alone, it is one character that is in no piece of several. Nothing crosses the
//! place before or after it, so its path is the same in every text. That it is normalized alone is told from its
//! neighbours: no rule goes on from the one before, nor with the one after. Many scripts are little but such characters
//! to most vocabularies.

use piecework_unicode::wide_char_at;
use rustc_hash::{FxHashMap, FxHashSet};

use super::form::MARK;
use super::scanner::{Follows, Pieces, Run, Stretch};
use crate::model::SentencePiece;
use crate::normalize::{self, CharAction};
use crate::spec::{PieceType, ScoredPiece, SentencePieceSpec};

const PAGE: usize = 64;
/// The most bytes of a run, give or take a character.
const MAX_RUN: usize = 1 << 12;

/// What is known of a character, and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    flags: u32,
    cost: u32,
}

/// One that is not lone.
const OTHER: Entry = Entry { flags: 0, cost: 0 };

/// It is lone; below stands its id.
const LONE: u32 = 1 << 31;
/// A rule of several characters begins with it.
const BEGINS_LONGER: u32 = 1 << 30;
/// A rule goes on with it.
const GOES_ON: u32 = 1 << 29;
/// It becomes a space, and parts a text.
const PARTS: u32 = 1 << 28;
/// It becomes nothing, or something with a space.
const IS_GAP: u32 = 1 << 27;
const ID: u32 = (1 << 24) - 1;

/// The table of characters.
#[derive(Clone, Debug)]
pub(super) struct Lone {
    /// By code point over `PAGE`: the number of a page.
    pages: Vec<u16>,
    entries: Vec<[Entry; PAGE]>,
    mark: Entry,
    unk_id: u32,
    /// By ASCII character: whether it becomes one that is no space, whatever stands beside it.
    stays: [bool; 128],
}

/// What was put of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Put {
    /// How many ids.
    pub(super) count: usize,
    /// At least what they add to the size of the score, in 64ths.
    pub(super) cost: u32,
    pub(super) has_unknown: bool,
    /// Whether it ends with an unknown character, or what is before does where nothing was put.
    was_unknown: bool,
}

impl Lone {
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
        let fates = normalizer.char_actions()?;
        let Chars { alone, joined } = Chars::of(&spec.pieces);
        let entry = |id| Some(Entry { flags: LONE | id, cost: model.cost(id)? });
        let unk_id = model.unk_id();
        let unknown = entry(unk_id)?;
        let mark = entry(*alone.get(&MARK)?)?;
        let mut lone = Self {
            pages: vec![0; (char::MAX as usize + 1) / PAGE],
            entries: vec![[unknown; PAGE]],
            mark,
            unk_id,
            stays: normalizer.ascii_alone().map(|new| new.is_some()),
        };
        for &c in fates.keys().chain(alone.keys()).chain(&joined) {
            let fate = fates.get(&c).copied().unwrap_or_default();
            let new = becomes(c, fate).filter(|new| !joined.contains(new));
            let entry =
                new.map_or(Some(OTHER), |new| alone.get(&new).map_or(Some(unknown), |&id| entry(id)))?;
            lone.put_entry(c, Entry { flags: entry.flags | flags_of(fate), ..entry });
        }
        Some(lone)
    }

    fn put_entry(&mut self, c: char, entry: Entry) {
        let page = &mut self.pages[c as usize / PAGE];
        if *page == 0 {
            *page = self.entries.len() as u16;
            self.entries.push(self.entries[0]);
        }
        self.entries[usize::from(*page)][c as usize % PAGE] = entry;
    }

    #[inline]
    fn entry(&self, code: u32) -> Entry {
        let code = code as usize;
        self.entries[usize::from(self.pages[code / PAGE])][code % PAGE]
    }

    /// Take the runs out of the characters beyond ASCII that stand together from byte `at` on, and end the stretch where
    /// one of them parts the text.
    #[inline]
    pub(super) fn cut(&self, text: &[u8], mut at: usize, pieces: &mut Pieces<impl FnMut(Stretch)>) {
        // What may vanish, or end with a space, stays with what follows.
        pieces.is_whole |= at > pieces.start && !self.stays[usize::from(text[at - 1] & 0x7F)];
        // Where the run so far begins, and its last character; what is known of that, and the ids of all that differ
        // from the unknown one.
        let (mut start, mut last, mut before, mut count, mut differences) = (at, at, 0, 0, 0);
        let kind = |count, differences| if differences == 0 { Run::Unknown(count) } else { Run::Yes };
        while let Some((code, len)) = wide_char_at(text, at) {
            let flags = self.entry(code).flags;
            let is_apart = flags & GOES_ON == 0 || at > start && before & BEGINS_LONGER == 0;
            if flags & LONE == 0 || !is_apart || at - start > MAX_RUN {
                let (end, given_back) = if is_apart { (at, 0) } else { (last, 1) };
                if start < end && !pieces.is_whole {
                    pieces.run(start, end, kind(count - given_back, differences));
                }
                let is_taken = flags & LONE != 0 && is_apart;
                (start, count, differences) = (if is_taken { at } else { at + len }, 0, 0);
                if flags & PARTS != 0 {
                    pieces.end(at);
                    pieces.begin(start, Follows::Char);
                }
                pieces.is_whole |= flags & IS_GAP != 0;
            }
            if start <= at {
                count += 1;
                differences |= flags & ID ^ self.unk_id;
            }
            (last, before) = (at, flags);
            at += len;
        }
        if start < at && !pieces.is_whole {
            pieces.run(start, at, kind(count, differences));
        }
    }

    /// Put the mark of a run, if it has one, where there is room for it and for one id a character.
    #[inline]
    pub(super) fn put_mark(&self, is_marked: bool, is_after_unknown: bool, out: &mut [u32]) -> Put {
        if !is_marked {
            return Put { was_unknown: is_after_unknown, ..Put::default() };
        }
        out[0] = self.mark.flags & ID;
        Put { count: 1, cost: self.mark.cost, ..Put::default() }
    }

    /// Put the ids of a run.
    #[inline]
    pub(super) fn put(&self, run: &[u8], mut put: Put, out: &mut [u32]) -> Put {
        let mut at = 0;
        while let Some((code, len)) = wide_char_at(run, at) {
            let Entry { flags, cost } = self.entry(code);
            let id = flags & ID;
            let is_unknown = id == self.unk_id;
            out[put.count] = id;
            put.count += usize::from(!(is_unknown && put.was_unknown));
            put.cost += cost;
            put.has_unknown |= is_unknown;
            put.was_unknown = is_unknown;
            at += len;
        }
        put
    }

    /// The same for one of so many unknown characters.
    #[inline]
    pub(super) fn put_unknown(&self, count: u32, put: Put, out: &mut [u32]) -> Put {
        out[put.count] = self.unk_id;
        let cost = put.cost + count * self.entries[0][0].cost;
        Put { count: put.count + usize::from(!put.was_unknown), cost, has_unknown: true, was_unknown: true }
    }

    /// Append the id of every single character of a run, and of its mark.
    pub(super) fn spell(&self, run: &[u8], is_marked: bool, out: &mut Vec<u32>) {
        out.extend(is_marked.then_some(self.mark.flags & ID));
        let mut at = 0;
        while let Some((code, len)) = wide_char_at(run, at) {
            out.push(self.entry(code).flags & ID);
            at += len;
        }
    }
}

fn flags_of(fate: CharAction<'_>) -> u32 {
    let is_space =
        fate.replacement == Some(" ") && !(fate.begins_rule || fate.continues_rule || fate.is_in_symbol);
    let flags = [
        (fate.begins_rule, BEGINS_LONGER),
        (fate.continues_rule, GOES_ON),
        (is_space, PARTS),
        (fate.is_gap() && !is_space, IS_GAP),
    ];
    flags.iter().filter(|(is, _)| *is).fold(0, |flags, (_, flag)| flags | flag)
}

/// The single character that another one becomes alone, if it does.
fn becomes(c: char, fate: CharAction<'_>) -> Option<char> {
    let Some(new) = fate.replacement else { return Some(c).filter(|_| !fate.is_in_symbol) };
    let mut chars = new.chars();
    let first = chars.next().filter(|&first| first != ' ' && first != MARK);
    first.filter(|_| chars.next().is_none() && !fate.is_in_symbol)
}

/// The characters of pieces that are found in texts.
struct Chars {
    /// Those that are pieces, and their ids.
    alone: FxHashMap<char, u32>,
    /// Those of longer ones.
    joined: FxHashSet<char>,
}

impl Chars {
    fn of(pieces: &[ScoredPiece]) -> Self {
        let (mut alone, mut joined, mut ascii) = (FxHashMap::default(), FxHashSet::default(), [false; 128]);
        let is_found =
            |piece: &ScoredPiece| matches!(piece.kind, PieceType::Normal | PieceType::UserDefined);
        for (id, piece) in (0..).zip(pieces).filter(|(_, piece)| is_found(piece)) {
            let mut chars = piece.text.chars();
            match (chars.next(), chars.next()) {
                (Some(only), None) => drop(alone.insert(only, id)),
                // Most characters of most pieces, and told faster.
                _ => piece.text.chars().for_each(|c| match ascii.get_mut(c as usize) {
                    Some(is_joined) => *is_joined = true,
                    None => drop(joined.insert(c)),
                }),
            }
        }
        joined.extend((0..128u8).map(char::from).filter(|&c| ascii[c as usize]));
        Self { alone, joined }
    }
}
