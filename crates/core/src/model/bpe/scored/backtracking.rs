//! SentencePiece's BPE by backtracking (see [`BacktrackingBpe`]).
//!
//! Any two adjacent symbols may be merged whose text is a piece, so the merges are all splits of pieces in two,
//! ordered by the scores of the pieces. No two pieces of more than one character may have the same score, except the
//! lowest (see [`super::equal_scores`]): of equal scores the leftmost merge would come first. All splits of one piece
//! have the same score, and at most one of them is ever applied: the two sides that higher scores make of the piece.
//! Unused pieces are split by context, so a model with unused pieces is not compiled. User-defined pieces are removed
//! from the text before.
//!
//! A character that is no piece may be merged if a piece contains it. Otherwise it is unknown.

use foldhash::{HashMap, HashSet};
use piecework_kernels::merges::ShortWordBatch;
use piecework_unicode::char_len;

use super::equal_scores::{self, EqualScoreMerges, PendingTokens};
use super::piece_trie::{PieceTexts, PieceTrie};
use super::short_words::{CharCodes, ShortWordMerges};
use crate::interrupt;
use crate::model::bpe::backtracking::{BacktrackingBpe, BacktrackingScratch, MergeRules};
use crate::model::bpe::merges::MergeIds;
use crate::model::pieces::{PieceWriter, Pieces};
use crate::model::TokenSink;
use crate::spec::PieceType;
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

/// The most bytes that listing all splits may read, approximately.
const MAX_SPLIT_BYTES: usize = 1 << 26;

/// The merges of a model.
#[derive(Clone, Debug)]
pub(super) struct ScoredBacktracking {
    bpe: BacktrackingBpe,
    equals: EqualScoreMerges,
    /// The merges of short words; `None` if the model has user-defined pieces.
    short: Option<ShortWordMerges>,
    /// Ids below are pieces; others are characters that are no pieces.
    piece_count: u32,
}

/// The buffers of one text.
#[derive(Clone, Debug, Default)]
pub(super) struct ScoredBacktrackingScratch {
    state: BacktrackingScratch,
    pending: PendingTokens,
    /// Allocated at the first batch of words.
    rows: Option<Box<ShortWordBatch>>,
}

impl ScoredBacktracking {
    /// Compile the merges of these pieces, if they are in order.
    pub(super) fn compile(
        pieces: PieceTexts<'_>,
        ranks: &[u32],
        found: &PieceTrie,
        stored: &TableSections,
    ) -> Option<Self> {
        let chars = CharTokens::of(pieces)?;
        let (order, equals) = tokens_by_rank(pieces, ranks)?;
        let splits = |merged: &[u32]| splits_of(merged, pieces, &chars, found);
        let (merges, equals) = (splits(&order), splits(&equals));
        if needs_result_of(&merges, &equals) {
            return None;
        }
        let piece_count = pieces.count();
        let id_bound = piece_count as usize + chars.extra_chars.len();
        let rules =
            MergeRules { id_bound, symbols: &chars.entries, merges: &merges, whole_words: &[], stored };
        let bpe = BacktrackingBpe::compile(&rules, |entry, bytes| match entry.checked_sub(piece_count) {
            None => bytes.extend_from_slice(pieces.text(entry).as_bytes()),
            Some(extra) => {
                let c = chars.extra_chars[extra as usize];
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        })?;
        let equals = EqualScoreMerges::of(&equals, id_bound);
        let has_symbols = pieces.has(PieceType::UserDefined);
        let short =
            if has_symbols { None } else { ShortWordMerges::of(chars.chars(pieces), &merges, id_bound) };
        Some(Self { bpe, equals, short, piece_count })
    }

    /// Add the table sections.
    pub(super) fn store(&self, sections: &mut TableSections) {
        self.bpe.store(sections);
    }

    /// Segment a text; return the segmented bytes, which are fewer if it takes too many steps.
    pub(super) fn run(
        &self,
        text: &str,
        (symbols, vocab): (&Pieces, &Vocab),
        scratch: &mut ScoredBacktrackingScratch,
        writer: &mut PieceWriter<'_, impl TokenSink>,
    ) -> usize {
        let mut out = TextCursor { text, symbols, vocab, writer, at: 0 };
        while out.at < text.len() {
            let (stop, after) = symbols.next_symbol(text, out.at);
            if !self.run_up_to(stop, scratch, &mut out) {
                break;
            }
            if stop < after {
                out.push_text(after - stop);
            }
        }
        out.at
    }

    /// Segment a text up to byte `stop`; return `false` if it takes too many steps.
    fn run_up_to(
        &self,
        stop: usize,
        scratch: &mut ScoredBacktrackingScratch,
        out: &mut TextCursor<'_, '_, impl TokenSink>,
    ) -> bool {
        let ScoredBacktrackingScratch { state, pending, .. } = scratch;
        while out.at < stop {
            let rest = &out.text.as_bytes()[out.at..stop];
            let mut give = |entry, len| match entry < self.piece_count {
                true => out.push(entry, len),
                false => out.push_text(len),
            };
            let done = self.bpe.segment(rest, state, |entry, len| {
                self.equals.push(entry, len, pending, &mut give);
            });
            if done < rest.len() && self.bpe.starts_with_symbol(&rest[done..]) {
                pending.clear();
                return false;
            }
            equal_scores::flush(pending, give);
            if done < rest.len() {
                interrupt::check(1);
                out.push_text(char_len(rest[done]));
            }
        }
        true
    }

    /// Return the bytes that stand for characters in the short words that are merged in batches, if they can be.
    #[inline]
    pub(super) fn codes(&self) -> Option<&CharCodes> {
        self.short.as_ref().map(ShortWordMerges::codes)
    }

    /// Merge up to `MAX_WORDS` short words, given by the bytes for their characters.
    pub(super) fn merge_batch(&self, words: &[&[u8]], scratch: &mut ScoredBacktrackingScratch) {
        if let Some(short) = &self.short {
            short.merge_batch(words, scratch.rows.get_or_insert_with(Box::default));
        }
    }

    /// Append the ids of one word of the last batch; return `false` if the batch cannot segment it.
    pub(super) fn push_merged(
        &self,
        row: usize,
        scratch: &mut ScoredBacktrackingScratch,
        out: &mut Vec<u32>,
    ) -> bool {
        let (start, ScoredBacktrackingScratch { rows, pending, .. }) = (out.len(), scratch);
        let (Some(short), Some(rows)) = (&self.short, rows) else { return false };
        let is_complete = short.entries(rows, row, |entry| {
            self.equals.push(entry, 0, pending, |id, _| out.push(id));
        });
        equal_scores::flush(pending, |id, _| out.push(id));
        let is_complete = is_complete && out[start..].iter().all(|&id| id < self.piece_count);
        if !is_complete {
            out.truncate(start);
        }
        is_complete
    }

    /// Return the bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.bpe.bytes() + self.short.as_ref().map_or(0, ShortWordMerges::bytes)
    }
}

/// The output, and the end of the text that is written.
struct TextCursor<'a, 'e, S> {
    text: &'a str,
    symbols: &'a Pieces,
    vocab: &'a Vocab,
    writer: &'a mut PieceWriter<'e, S>,
    at: usize,
}

impl<S: TokenSink> TextCursor<'_, '_, S> {
    #[inline]
    fn push(&mut self, id: u32, len: usize) {
        self.writer.push(id, self.at, self.at + len);
        self.at += len;
    }

    /// Write text that may be no piece.
    fn push_text(&mut self, len: usize) {
        self.push(self.symbols.id_of(&self.text[self.at..self.at + len], self.vocab), len);
    }
}

/// The characters that pieces consist of.
struct CharTokens {
    /// The characters that are pieces, then the others, numbered after the pieces.
    entries: Vec<u32>,
    extra_chars: Vec<char>,
    /// The ids of the other characters.
    extra_entries: HashMap<char, u32>,
}

impl CharTokens {
    /// Collect the characters of the pieces; `None` if there are unused pieces.
    fn of(pieces: PieceTexts<'_>) -> Option<Self> {
        if pieces.has(PieceType::Unused) {
            return None;
        }
        let (mut entries, mut is_known) = (Vec::new(), vec![false; 1 << 21]);
        let normal = || pieces.ids().filter(|&id| pieces.is_normal(id));
        for (id, c) in normal().filter_map(|id| Some((id, pieces.only_char(id)?))) {
            entries.push(id);
            is_known[c as usize] = true;
        }
        let mut extra_chars = Vec::new();
        for c in normal().flat_map(|id| pieces.text(id).chars()) {
            if !std::mem::replace(&mut is_known[c as usize], true) {
                extra_chars.push(c);
            }
        }
        let numbered = extra_chars.iter().copied().zip(pieces.count()..);
        entries.extend(numbered.clone().map(|(_, entry)| entry));
        let extra_entries = numbered.collect();
        Some(Self { entries, extra_chars, extra_entries })
    }

    /// Return the id of each character.
    fn chars<'s>(&'s self, pieces: PieceTexts<'s>) -> impl Iterator<Item = (u32, char)> + 's {
        self.entries.iter().filter_map(move |&entry| match entry.checked_sub(pieces.count()) {
            None => Some((entry, pieces.only_char(entry)?)),
            Some(extra) => Some((entry, self.extra_chars[extra as usize])),
        })
    }
}

/// Return the pieces of more than one character, the highest score first, and separately those of the lowest score if
/// there are several. `None` if other pieces have equal scores, or if all splits would take long to list.
fn tokens_by_rank(pieces: PieceTexts<'_>, ranks: &[u32]) -> Option<(Vec<u32>, Vec<u32>)> {
    let is_merged = |&id: &u32| pieces.is_normal(id) && pieces.text(id).chars().nth(1).is_some();
    let mut order: Vec<u32> = pieces.ids().filter(is_merged).collect();
    let rank = |id: &u32| ranks[*id as usize];
    order.sort_unstable_by_key(rank);
    let lowest = order.last().map_or(0, rank);
    let mut equals = order.split_off(order.partition_point(|id| rank(id) < lowest));
    if equals.len() == 1 {
        order.append(&mut equals);
    }
    let are_apart = order.windows(2).all(|two| rank(&two[0]) < rank(&two[1]));
    let lens = pieces.ids().map(|id| pieces.text(id).len());
    let bytes = lens.fold(0usize, |sum, len| sum.saturating_add(len.pow(2)));
    (are_apart && bytes <= MAX_SPLIT_BYTES).then_some((order, equals))
}

/// Return whether one of the first merges needs the result of one of the others.
fn needs_result_of(merges: &[MergeIds], others: &[MergeIds]) -> bool {
    let made: HashSet<u32> = others.iter().map(|merge| merge.merged).collect();
    merges.iter().any(|merge| made.contains(&merge.left) || made.contains(&merge.right))
}

/// Return all splits of these pieces in two.
fn splits_of(
    order: &[u32],
    pieces: PieceTexts<'_>,
    chars: &CharTokens,
    found: &PieceTrie,
) -> Vec<MergeIds> {
    let other = |text: &str| {
        let c = text.chars().next().filter(|c| c.len_utf8() == text.len());
        chars.extra_entries.get(&c?).copied()
    };
    let mut merges = Vec::with_capacity(4 * order.len());
    for &merged in order {
        let text = pieces.text(merged);
        let mut push_split = |left, at| {
            let right = &text[at..];
            let right = if right.is_empty() { None } else { found.id_of(right).or_else(|| other(right)) };
            merges.extend(right.map(|right| MergeIds { left, right, merged }));
        };
        let first_end = char_len(text.as_bytes()[0]);
        if let Some(first) = other(&text[..first_end]) {
            push_split(first, first_end);
        }
        found.each_prefix(text, push_split);
    }
    merges
}
