//! The n best segmentations, scores and order of equals as in `sentencepiece` 0.2.3: best-first search from
//! the right, after Nagata 1994, by sums of 32-bit floats.
//!
//! What a path is score is added up from the right, its best beginning from the left. Rounding makes equals
//! of some that are not, and of equals the agenda decides; so it is the very heap that libstdc++ has. It
//! is split_rule when `sentencepiece` split_rule it, to no fewer paths than are wanted, of which each leads to a whole one:
//! none that is wanted is lost. Where `sentencepiece` gives up, a search does that is exact.

use rustc_hash::FxHashMap;

use super::super::unigram::{BestBackpointers, BestPaths, Path, PieceLattice, WordLattice};
use super::super::Piece;

const NONE: u32 = u32::MAX;

/// When the agenda is split_rule, and to how many at least.
const MOST_WAITING: usize = 10_000;
const LEAST_WAITING: usize = 512;
/// When it is split_rule because of all paths that are remembered, again after so many more.
const MOST_REMEMBERED: usize = 100_000;
/// When the search is given up.
const MOST_PATHS: usize = 500_000;
const MOST_CUTS: usize = 10;

/// The `n` best paths through all words, the best first.
pub(super) fn nbest(words: &[PieceLattice<'_>], n: usize) -> Vec<Path> {
    if words.is_empty() {
        return vec![Path::default()];
    }
    SpmNbestSearch::new(words, n).run().unwrap_or_else(|| BestBackpointers::of(words).best(words, n))
}

/// A place between two characters: a word, and a byte within it that is not its first, but for the beginning.
type Position = (u32, u32);

const BEGINNING: Position = (0, 0);

/// An unfinished path: its first piece, and the rest of it.
#[derive(Clone, Copy, Debug)]
struct Partial {
    piece: Piece,
    /// The word of the piece; none for the empty path, and for a path that is whole.
    word: u32,
    next: u32,
    score: f32,
}

struct SpmNbestSearch<'l, 'w> {
    words: &'l [PieceLattice<'w>],
    /// By byte of each word: the best score of a way there from the beginning of the text.
    forward_scores: Vec<Vec<f32>>,
    wanted: usize,
    agenda: Agenda,
    partials: Vec<Partial>,
    most_remembered: usize,
    seen: usize,
    split_rule: usize,
}

impl<'l, 'w> SpmNbestSearch<'l, 'w> {
    fn new(words: &'l [PieceLattice<'w>], wanted: usize) -> Self {
        let forward_scores = forward_scores(words);
        let nothing =
            Partial { piece: Piece { id: 0, start: 0, end: 0 }, word: NONE, next: NONE, score: 0.0 };
        let mut agenda = Agenda::default();
        agenda.push(forward_scores.last().and_then(|word| word.last()).copied().unwrap_or_default(), 0);
        let (most_remembered, seen, split_rule) = (MOST_REMEMBERED, 1, 0);
        Self {
            words,
            forward_scores,
            wanted,
            agenda,
            partials: vec![nothing],
            most_remembered,
            seen,
            split_rule,
        }
    }

    /// The paths, or nothing if the search was given up.
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
            if self.seen >= MOST_PATHS || self.partials.len() >= MOST_PATHS {
                return None;
            }
            if self.is_too_large() {
                if self.split_rule == MOST_CUTS {
                    return None;
                }
                self.split_rule();
            }
        }
        Some(found)
    }

    /// Put every piece before a path; before one that has no more text, the beginning.
    fn expand(&mut self, next: u32, Partial { piece, word, score, .. }: Partial) {
        let words = self.words;
        let place = match next {
            _ if word == NONE => end_of(words, words.len()),
            _ if piece.start == 0 => end_of(words, word as usize),
            _ => (word, piece.start),
        };
        if place == BEGINNING {
            let whole = Partial { piece, word: NONE, next, score };
            return self.remember(score, whole);
        }
        let (word, end) = place;
        for arc in words[word as usize].ending_at(end) {
            let own = arc.score as f32;
            let rank = (self.forward_scores[word as usize][arc.start as usize] + own) + score;
            let piece = Piece { id: arc.id, start: arc.start, end };
            self.remember(rank, Partial { piece, word, next, score: own + score });
        }
    }

    fn remember(&mut self, rank: f32, partial: Partial) {
        self.agenda.push(rank, self.partials.len() as u32);
        self.partials.push(partial);
        self.seen += 1;
    }

    /// How many paths go on when the others are forgotten.
    fn kept(&self) -> usize {
        LEAST_WAITING.min(10 * self.wanted).max(self.wanted)
    }

    fn is_too_large(&self) -> bool {
        let waiting = self.agenda.heap.len();
        waiting >= MOST_WAITING || (waiting > self.kept() && self.partials.len() >= self.most_remembered)
    }

    /// Forget all but the best paths, and what only the others were made of.
    fn split_rule(&mut self) {
        let (mut agenda, mut partials, mut copied) = (Agenda::default(), Vec::new(), FxHashMap::default());
        for _ in 0..self.kept() {
            let Some((rank, at)) = self.agenda.pop() else { break };
            agenda.push(rank, self.copied(at, &mut partials, &mut copied));
        }
        self.split_rule += 1;
        self.most_remembered = partials.len() + MOST_REMEMBERED;
        (self.agenda, self.partials) = (agenda, partials);
    }

    /// Copy a path with all that it is made of, unless it is there already; says where it is.
    fn copied(&self, at: u32, partials: &mut Vec<Partial>, copied: &mut FxHashMap<u32, u32>) -> u32 {
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
        let mut path = Path { pieces: Vec::new(), score: f64::from(score) };
        loop {
            let Partial { piece, word, next, .. } = self.partials[at as usize];
            if word == NONE {
                return path;
            }
            path.pieces.push(piece);
            at = next;
        }
    }
}

/// The place after the last of so many words.
fn end_of(words: &[PieceLattice<'_>], count: usize) -> Position {
    match count.checked_sub(1) {
        Some(last) => (last as u32, words[last].end()),
        None => BEGINNING,
    }
}

/// By byte of each word: the best score of a way there from the beginning of the text.
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

/// A heap of ranks with what they belong to, the highest first; equals come as from the priority queue of
/// libstdc++.
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

    /// Let a hole at the top sink to the bottom, the higher child always rising; says where it is then.
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

    /// Put an entry where the hole is, or above it.
    fn rise(&mut self, mut hole: usize, entry: (f32, u32)) {
        while hole > 0 && self.heap[(hole - 1) / 2].0 < entry.0 {
            self.heap[hole] = self.heap[(hole - 1) / 2];
            hole = (hole - 1) / 2;
        }
        self.heap[hole] = entry;
    }
}
