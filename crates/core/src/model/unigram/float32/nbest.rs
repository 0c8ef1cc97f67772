//! The n best segmentations with the scores and the tie order of `sentencepiece` 0.2.3: A* search from the right
//! (Nagata 1994) by sums of 32-bit floats.
//!
//! The score of a path is summed from the right, that of its best completion from the left. Rounding makes some paths
//! equal, and the agenda decides between equal ones, so it is the same heap as in libstdc++. The agenda is pruned
//! when `sentencepiece` prunes it, but never below the number of wanted paths: each path in it leads to a complete
//! one, so no wanted path is lost. Where `sentencepiece` fails, an exact search takes over.

use rustc_hash::FxHashMap;

use super::parts::{begin, TextScorer};
use super::UnigramF32;
use crate::model::unigram::lattice::{PieceLattice, WordLattice};
use crate::model::unigram::nbest::{BestBackpointers, BestPaths, Path};
use crate::model::unigram::segmentations::{Segmentations, WordLattices};
use crate::model::unigram::streaming::StreamingViterbi;
use crate::model::TokenSpan;
use crate::spec::PieceType;

const NONE: u32 = u32::MAX;

/// The size at which the agenda is pruned, and the least size after.
const MAX_AGENDA: usize = 10_000;
const MIN_AGENDA: usize = 512;
/// The number of stored paths at which the agenda is pruned, and the number of new ones before it is pruned again.
const MAX_PARTIALS: usize = 100_000;
/// The number of paths and of prunings at which the search fails.
const MAX_PATHS: usize = 500_000;
const MAX_PRUNINGS: usize = 10;

/// Return the `n` best paths through all words, the best first.
pub(super) fn nbest(words: &[PieceLattice<'_>], n: usize) -> Vec<Path> {
    if words.is_empty() {
        return vec![Path::default()];
    }
    AgendaSearch::new(words, n).run().unwrap_or_else(|| BestBackpointers::of(words).best(words, n))
}

/// A position between two characters: a word, and a byte offset in it that is not 0 except at the beginning.
type Position = (u32, u32);

const BEGINNING: Position = (0, 0);

/// An unfinished path: its first piece and the rest.
#[derive(Clone, Copy, Debug)]
struct Partial {
    piece: TokenSpan,
    /// The word of the piece; none for the empty path and for complete ones.
    word: u32,
    next: u32,
    score: f32,
}

struct AgendaSearch<'l, 'w> {
    words: &'l [PieceLattice<'w>],
    /// By byte of each word: the best score of a path from the beginning of the text.
    forward_scores: Vec<Vec<f32>>,
    wanted: usize,
    agenda: Agenda,
    partials: Vec<Partial>,
    max_partials: usize,
    seen: usize,
    prunings: usize,
}

impl<'l, 'w> AgendaSearch<'l, 'w> {
    fn new(words: &'l [PieceLattice<'w>], wanted: usize) -> Self {
        let forward_scores = forward_scores(words);
        let nothing =
            Partial { piece: TokenSpan { id: 0, start: 0, end: 0 }, word: NONE, next: NONE, score: 0.0 };
        let mut agenda = Agenda::default();
        agenda.push(forward_scores.last().and_then(|word| word.last()).copied().unwrap_or_default(), 0);
        let (max_partials, seen, prunings) = (MAX_PARTIALS, 1, 0);
        Self {
            words,
            forward_scores,
            wanted,
            agenda,
            partials: vec![nothing],
            max_partials,
            seen,
            prunings,
        }
    }

    /// Return the paths, or `None` if the search fails.
    fn run(mut self) -> Option<Vec<Path>> {
        let mut found = Vec::new();
        while let Some((rank, at)) = self.agenda.pop() {
            let partial = self.partials[at as usize];
            if partial.word == NONE && partial.next != NONE {
                found.push(self.path(partial.next, rank));
                if found.len() == self.wanted {
                    break;
                }
                continue;
            }
            self.expand(at, partial);
            if self.seen >= MAX_PATHS || self.partials.len() >= MAX_PATHS {
                return None;
            }
            if self.is_full() {
                if self.prunings == MAX_PRUNINGS {
                    return None;
                }
                self.prune();
            }
        }
        Some(found)
    }

    /// Push the extensions of a path by each piece before it, or by the beginning of the text.
    fn expand(&mut self, next: u32, Partial { piece, word, score, .. }: Partial) {
        let words = self.words;
        let position = match next {
            _ if word == NONE => end_of(words, words.len()),
            _ if piece.start == 0 => end_of(words, word as usize),
            _ => (word, piece.start),
        };
        if position == BEGINNING {
            let whole = Partial { piece, word: NONE, next, score };
            return self.push(score, whole);
        }
        let (word, end) = position;
        for arc in words[word as usize].ending_at(end) {
            let own = arc.score as f32;
            let rank = (self.forward_scores[word as usize][arc.start as usize] + own) + score;
            let piece = TokenSpan { id: arc.id, start: arc.start, end };
            self.push(rank, Partial { piece, word, next, score: own + score });
        }
    }

    fn push(&mut self, rank: f32, partial: Partial) {
        self.agenda.push(rank, self.partials.len() as u32);
        self.partials.push(partial);
        self.seen += 1;
    }

    /// Return the number of paths that a pruning keeps.
    fn min_agenda(&self) -> usize {
        MIN_AGENDA.min(10 * self.wanted).max(self.wanted)
    }

    fn is_full(&self) -> bool {
        let pending = self.agenda.heap.len();
        pending >= MAX_AGENDA || (pending > self.min_agenda() && self.partials.len() >= self.max_partials)
    }

    /// Drop all but the best paths, and the paths that only the dropped ones contain.
    fn prune(&mut self) {
        let (mut agenda, mut partials, mut copied) = (Agenda::default(), Vec::new(), FxHashMap::default());
        for _ in 0..self.min_agenda() {
            let Some((rank, at)) = self.agenda.pop() else { break };
            agenda.push(rank, self.copy(at, &mut partials, &mut copied));
        }
        self.prunings += 1;
        self.max_partials = partials.len() + MAX_PARTIALS;
        (self.agenda, self.partials) = (agenda, partials);
    }

    /// Copy a path with its rest unless it is copied already; return its index.
    fn copy(&self, at: u32, partials: &mut Vec<Partial>, copied: &mut FxHashMap<u32, u32>) -> u32 {
        let first = partials.len();
        let mut from = at;
        while from != NONE && !copied.contains_key(&from) {
            let to = partials.len() as u32;
            copied.insert(from, to);
            partials.push(Partial { next: to + 1, ..self.partials[from as usize] });
            from = self.partials[from as usize].next;
        }
        if let Some(last) = partials[first..].last_mut() {
            last.next = copied.get(&from).copied().unwrap_or(NONE);
        }
        copied[&at]
    }

    fn path(&self, mut at: u32, score: f32) -> Path {
        let mut path = Path { tokens: Vec::new(), score: f64::from(score) };
        loop {
            let Partial { piece, word, next, .. } = self.partials[at as usize];
            if word == NONE {
                return path;
            }
            path.tokens.push(piece);
            at = next;
        }
    }
}

/// Return the position after the first `count` words.
fn end_of(words: &[PieceLattice<'_>], count: usize) -> Position {
    match count.checked_sub(1) {
        Some(last) => (last as u32, words[last].end()),
        None => BEGINNING,
    }
}

/// Return by byte of each word the best score of a path from the beginning of the text.
fn forward_scores(words: &[PieceLattice<'_>]) -> Vec<Vec<f32>> {
    let mut before = 0.0;
    let of_word = |word: &PieceLattice<'_>| {
        let mut forward_scores = vec![before];
        for end in 1..=word.end() {
            let sums = word.ending_at(end).map(|arc| forward_scores[arc.start as usize] + arc.score as f32);
            let best = sums.fold(f32::NEG_INFINITY, f32::max);
            forward_scores.push(best);
        }
        before = forward_scores[word.end() as usize];
        forward_scores
    };
    words.iter().map(of_word).collect()
}

/// A max-heap of ranks with the pop order of libstdc++'s priority queue among equal ranks.
#[derive(Debug, Default)]
struct Agenda {
    heap: Vec<(f32, u32)>,
}

impl Agenda {
    fn push(&mut self, rank: f32, item: u32) {
        self.heap.push((rank, item));
        self.rise(self.heap.len() - 1, (rank, item));
    }

    fn pop(&mut self) -> Option<(f32, u32)> {
        let last = self.heap.pop()?;
        let Some(&first) = self.heap.first() else { return Some(last) };
        let hole = self.sink();
        self.rise(hole, last);
        Some(first)
    }

    /// Move the hole at the top to the bottom by promoting the greater child; return its index.
    fn sink(&mut self) -> usize {
        let (mut hole, len) = (0, self.heap.len());
        while 2 * hole + 2 < len {
            let right = 2 * hole + 2;
            let higher = if self.heap[right].0 < self.heap[right - 1].0 { right - 1 } else { right };
            self.heap[hole] = self.heap[higher];
            hole = higher;
        }
        if 2 * hole + 2 == len {
            self.heap[hole] = self.heap[len - 1];
            hole = len - 1;
        }
        hole
    }

    /// Insert an entry at the hole or above it.
    fn rise(&mut self, mut hole: usize, entry: (f32, u32)) {
        while hole > 0 && self.heap[(hole - 1) / 2].0 < entry.0 {
            self.heap[hole] = self.heap[(hole - 1) / 2];
            hole = (hole - 1) / 2;
        }
        self.heap[hole] = entry;
    }
}

/// The model's own segmentation first; for several, the order of `sentencepiece`.
struct ListedPaths<'w> {
    model: &'w UnigramF32,
    words: Vec<&'w str>,
}

impl<'w> BestPaths<PieceLattice<'w>> for ListedPaths<'w> {
    fn best(&self, words: &[PieceLattice<'w>], n: usize) -> Vec<Path> {
        match n {
            1 => vec![self.chosen()],
            _ => nbest(words, n),
        }
    }
}

impl ListedPaths<'_> {
    /// Return the model's own segmentation, with unknown characters apart and its score summed from the right as in
    /// lists.
    fn chosen(&self) -> Path {
        let (mut tokens, mut streaming) = (Vec::new(), StreamingViterbi::default());
        for word in &self.words {
            let sums = TextScorer::of(self.model, word);
            let _ = streaming.run(&sums, word, begin(0.0), |piece| tokens.push(piece));
        }
        let scores = tokens.iter().rev().map(|piece| self.model.listed_score(piece.id) as f32);
        let score = f64::from(scores.fold(0.0, |sum, score| score + sum));
        Path { tokens, score }
    }
}

impl UnigramF32 {
    /// Return all segmentations of the words of a text.
    pub fn segmentations<'w>(&'w self, words: &[&'w str]) -> impl Segmentations + 'w {
        let lattices = words.iter().map(|word| self.lattice(word, Vec::new())).collect();
        WordLattices { words: lattices, best: ListedPaths { model: self, words: words.to_vec() } }
    }

    /// Return the score that a piece adds to a segmentation. The bytes of a character add up to the score of an unknown
    /// character.
    #[must_use]
    pub fn score_of(&self, id: u32) -> Option<f64> {
        match self.pieces.kind(id)? {
            PieceType::Control => None,
            PieceType::Byte if self.pieces.is_continuation_byte(id) => Some(0.0),
            PieceType::Byte => Some(self.listed_score(self.pieces.unk_id())),
            _ => Some(self.listed_score(id)),
        }
    }
}
