//! BPE from left to right, by the joins that a model has in fact: see [`super::super::bpe::BacktrackingBpe`].
//!
//! Any two neighbours may be merged whose text is a piece, so the merges are all ways to cut a piece in two, by
//! its score. No two pieces of more than one character may have the same one, unless it is the lowest (see
//! [`super::equals`]): of equals the leftmost would come first, whichever it is. Of the ways to cut one piece all
//! have the same score, and one at most ever comes up: the two parts that higher scores alone leave of the
//! piece. An unused piece is taken apart by what stands in the text around it, so a model has none. User-defined
//! pieces are cut out of the text before.
//!
//! A character that is no piece may be merged if a piece contains it; left alone, it is unknown.

use piecework_kernels::merges::ShortRows;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) use super::super::bpe::{BacktrackingBpe, BacktrackingScratch, Merge, MergeRules};
use super::super::PieceSink;
use super::emit::Emitter;
use super::equals::{self, Equals, Waiting};
use super::interleaved::Abreast;
use super::piece_trie::PieceTrie;
use super::SentencePiece;
use crate::spec::{PieceType, ScoredPiece};
use crate::table_sections::TableSections;
use crate::text::char_len;
use crate::vocab::Vocab;

/// The most bytes that are looked at, about, to cut all pieces in two in all ways.
const MOST_LOOKS: usize = 1 << 26;

/// The joins.
#[derive(Clone, Debug)]
pub(super) struct FromLeft {
    linear: BacktrackingBpe,
    equals: Equals,
    /// For short words; none where pieces are cut out of a text before.
    abreast: Option<Abreast>,
    /// Entries below are pieces, others characters that are none.
    piece_count: u32,
}

/// Memory for one text.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    walk: BacktrackingScratch,
    waiting: Waiting,
    /// Made when the first words are merged at once.
    rows: Option<Box<ShortRows>>,
}

impl FromLeft {
    /// The joins of these pieces, if they are in order.
    pub(super) fn compile(
        pieces: &[ScoredPiece],
        ranks: &[u32],
        found: &PieceTrie,
        stored: &TableSections,
    ) -> Option<Self> {
        let symbols = Symbols::of(pieces)?;
        let (order, equals) = by_rank(pieces, ranks)?;
        let cut = |merged: &[u32]| merges(merged, pieces, &symbols, found);
        let (merges, equals) = (cut(&order), cut(&equals));
        if join_one(&merges, &equals) {
            return None;
        }
        let id_bound = pieces.len() + symbols.others.len();
        let rules =
            MergeRules { id_bound, symbols: &symbols.entries, merges: &merges, whole_words: &[], stored };
        let linear = BacktrackingBpe::compile(&rules, |entry, bytes| match pieces.get(entry as usize) {
            Some(piece) => bytes.extend_from_slice(piece.text.as_bytes()),
            None => {
                let c = symbols.others[entry as usize - pieces.len()];
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        })?;
        let equals = Equals::of(&equals, id_bound);
        let has_symbols = pieces.iter().any(|piece| piece.kind == PieceType::UserDefined);
        let abreast = (!has_symbols).then(|| Abreast::of(symbols.chars(pieces), &merges, id_bound));
        Some(Self { linear, equals, abreast, piece_count: pieces.len() as u32 })
    }

    /// Take the tables apart that take long to make.
    pub(super) fn store(&self, parts: &mut TableSections) {
        self.linear.store(parts);
    }

    /// Segment a text; says how many bytes of it, which are fewer where it takes too long.
    pub(super) fn run(
        &self,
        text: &str,
        (model, vocab): (&SentencePiece, &Vocab),
        memory: &mut Memory,
        emitter: &mut Emitter<'_, impl PieceSink>,
    ) -> usize {
        let mut out = Out { text, model, vocab, emitter, at: 0 };
        while out.at < text.len() {
            let (stop, after) = model.next_symbol(text, out.at);
            if !self.run_up_to(stop, memory, &mut out) {
                break;
            }
            if stop < after {
                out.push_text(after - stop);
            }
        }
        out.at
    }

    /// Go on with a text up to a byte; false where it takes too long.
    fn run_up_to(&self, stop: usize, memory: &mut Memory, out: &mut Out<'_, '_, impl PieceSink>) -> bool {
        let Memory { walk, waiting, .. } = memory;
        while out.at < stop {
            let rest = &out.text.as_bytes()[out.at..stop];
            let mut give = |entry, len| match entry < self.piece_count {
                true => out.push(entry, len),
                false => out.push_text(len),
            };
            let done = self.linear.segment(rest, walk, |entry, len| {
                self.equals.take(entry, len, waiting, &mut give);
            });
            if done < rest.len() && self.linear.starts_with_symbol(&rest[done..]) {
                waiting.clear();
                return false;
            }
            equals::finish(waiting, give);
            if done < rest.len() {
                out.push_text(char_len(rest[done]));
            }
        }
        true
    }

    /// Whether short words are merged at once.
    pub(super) fn joins(&self) -> bool {
        self.abreast.is_some()
    }

    /// Join up to `ABREAST` short words at once, given as ASCII with spaces for marks.
    pub(super) fn join(&self, words: &[&[u8]], memory: &mut Memory) {
        if let Some(abreast) = &self.abreast {
            abreast.join(words, memory.rows.get_or_insert_with(Box::default));
        }
    }

    /// Append the ids of one of the words that were merged last; false where it cannot be told from them.
    pub(super) fn append_joined(&self, row: usize, memory: &mut Memory, out: &mut Vec<u32>) -> bool {
        let (mark, Memory { rows, waiting, .. }) = (out.len(), memory);
        let (Some(abreast), Some(rows)) = (&self.abreast, rows) else { return false };
        let is_told = abreast.entries(rows, row, |entry| {
            self.equals.take(entry, 0, waiting, |id, _| out.push(id));
        });
        equals::finish(waiting, |id, _| out.push(id));
        let is_told = is_told && out[mark..].iter().all(|&id| id < self.piece_count);
        if !is_told {
            out.truncate(mark);
        }
        is_told
    }

    /// The memory they take.
    pub(super) fn bytes(&self) -> usize {
        self.linear.bytes() + self.abreast.as_ref().map_or(0, Abreast::bytes)
    }
}

/// Where pieces go, and how far they have come.
struct Out<'a, 'e, S> {
    text: &'a str,
    model: &'a SentencePiece,
    vocab: &'a Vocab,
    emitter: &'a mut Emitter<'e, S>,
    at: usize,
}

impl<S: PieceSink> Out<'_, '_, S> {
    #[inline]
    fn push(&mut self, id: u32, len: usize) {
        self.emitter.push(id, self.at, self.at + len);
        self.at += len;
    }

    /// Give out what text stands for that may be no piece.
    fn push_text(&mut self, len: usize) {
        self.push(self.model.id_of(&self.text[self.at..self.at + len], self.vocab), len);
    }
}

/// The characters that pieces are made of.
struct Symbols {
    /// Those that are pieces, and then the others, numbered after the pieces.
    entries: Vec<u32>,
    others: Vec<char>,
    /// By character, the entries of the others.
    other_entries: FxHashMap<char, u32>,
}

impl Symbols {
    /// The characters of the pieces; none if there are unused pieces.
    fn of(pieces: &[ScoredPiece]) -> Option<Self> {
        if pieces.iter().any(|piece| piece.kind == PieceType::Unused) {
            return None;
        }
        let (mut entries, mut is_known) = (Vec::new(), vec![false; 1 << 21]);
        for (id, piece) in (0..).zip(pieces).filter(|(_, piece)| is_normal(piece)) {
            let c = piece.text.chars().next()?;
            if c.len_utf8() == piece.text.len() {
                entries.push(id);
                is_known[c as usize] = true;
            }
        }
        let mut others = Vec::new();
        for c in pieces.iter().filter(|piece| is_normal(piece)).flat_map(|piece| piece.text.chars()) {
            if !std::mem::replace(&mut is_known[c as usize], true) {
                others.push(c);
            }
        }
        let numbered = others.iter().copied().zip(pieces.len() as u32..);
        entries.extend(numbered.clone().map(|(_, entry)| entry));
        let other_entries = numbered.collect();
        Some(Self { entries, others, other_entries })
    }

    /// The entry of each.
    fn chars<'s>(&'s self, pieces: &'s [ScoredPiece]) -> impl Iterator<Item = (u32, char)> + 's {
        self.entries.iter().filter_map(|&entry| match pieces.get(entry as usize) {
            Some(piece) => Some((entry, piece.text.chars().next()?)),
            None => Some((entry, self.others[entry as usize - pieces.len()])),
        })
    }
}

fn is_normal(piece: &ScoredPiece) -> bool {
    piece.kind == PieceType::Normal
}

/// The pieces of more than one character, the highest score first, and apart from them those of the lowest one
/// where they are several. None if others have the same, or if they are so long that it would take long to cut
/// them.
fn by_rank(pieces: &[ScoredPiece], ranks: &[u32]) -> Option<(Vec<u32>, Vec<u32>)> {
    let is_joined = |piece: &ScoredPiece| is_normal(piece) && piece.text.chars().nth(1).is_some();
    let merged = (0..).zip(pieces).filter(|(_, piece)| is_joined(piece));
    let mut order: Vec<u32> = merged.map(|(id, _)| id).collect();
    let rank = |id: &u32| ranks[*id as usize];
    order.sort_unstable_by_key(rank);
    let lowest = order.last().map_or(0, rank);
    let mut equals = order.split_off(order.partition_point(|id| rank(id) < lowest));
    if equals.len() == 1 {
        order.append(&mut equals);
    }
    let are_apart = order.windows(2).all(|two| rank(&two[0]) < rank(&two[1]));
    let looks = pieces.iter().fold(0usize, |sum, piece| sum.saturating_add(piece.text.len().pow(2)));
    (are_apart && looks <= MOST_LOOKS).then_some((order, equals))
}

/// Whether one of the first merges joins what others make.
fn join_one(merges: &[Merge], others: &[Merge]) -> bool {
    let made: FxHashSet<u32> = others.iter().map(|merge| merge.merged).collect();
    merges.iter().any(|merge| made.contains(&merge.left) || made.contains(&merge.right))
}

/// All ways to cut these pieces in two.
fn merges(order: &[u32], pieces: &[ScoredPiece], symbols: &Symbols, found: &PieceTrie) -> Vec<Merge> {
    let other = |text: &str| {
        let c = text.chars().next().filter(|c| c.len_utf8() == text.len());
        symbols.other_entries.get(&c?).copied()
    };
    let mut merges = Vec::with_capacity(4 * order.len());
    for &merged in order {
        let text = pieces[merged as usize].text.as_str();
        let mut cut = |left, at| {
            let right = &text[at..];
            let right = if right.is_empty() { None } else { found.id_of(right).or_else(|| other(right)) };
            merges.extend(right.map(|right| Merge { left, right, merged }));
        };
        let first_end = char_len(text.as_bytes()[0]);
        if let Some(first) = other(&text[..first_end]) {
            cut(first, first_end);
        }
        found.each_prefix(text, cut);
    }
    merges
}
