//! How far the segmentation of a part holds: the margin by which its decisions are made, against what
//! rounding can do.
//!
//! SentencePiece sums 32-bit floats from the beginning of the text, so all that stands before a word takes
//! part in the rounding of its sums. Let a part have `n` characters, so that no path through it has more than
//! `n` pieces, and let all sums stay below a power of two, `P = 2^p`, by size. Floats below `P` are at most
//! `2^(p - 24)` apart, a sum is rounded by at most half of that, and the sums of two paths that part and meet
//! again differ by at most `2n * 2^(p - 25)` from what exact numbers give. A lead of more than that decides as
//! exact numbers do, and so whatever the text before: with up to 15 characters a lead of `2^(p - 20)` is
//! enough, with up to 31 one of `2^(p - 19)`, with up to 63 one of `2^(p - 18)`. (The 64-bit sums that the
//! lead is taken of are not exact either, by less than `2^-35`; what is left over, at least a 64th of the lead,
//! is more than that.) The score of the text before the part may then have any size below `P`, less what the
//! part itself may add.

use super::super::Piece;
use super::unigram::{Unigram, MAX_SCORE};

/// How much a text may score, by size, before a part for that to be segmented as it is alone: the higher the
/// more. 0 is for parts that must be segmented where they stand.
pub type Grade = u32;

/// The highest grade: nothing but the bound of all scores.
pub(super) const MAX_GRADE: Grade = 8;
/// The longest part, in characters, that is graded.
const MAX_CHARS: usize = 63;
/// The score that grade 1 allows, less than twice; every further one allows twice as much.
const LEAST_LIMIT: f64 = 1024.0;

/// What the segmentation of a part is worth elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worth {
    /// After which texts it holds.
    pub grade: Grade,
    /// At least what it adds to the size of the score, in 64ths.
    pub cost: u32,
    /// Its ids do not tell its score, since unknown characters stand together or are given out as bytes.
    pub has_unknown: bool,
}

impl Default for Worth {
    /// What no part at all is worth.
    fn default() -> Self {
        Self { grade: MAX_GRADE, cost: 0, has_unknown: false }
    }
}

impl Worth {
    /// What two parts, one after the other, are worth.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        Self {
            grade: self.grade.min(next.grade),
            cost: self.cost.saturating_add(next.cost),
            has_unknown: self.has_unknown || next.has_unknown,
        }
    }
}

/// The best way to a byte of a part, in 64-bit numbers, and by how much it leads the next best.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    score: f64,
    lead: f64,
    id: u32,
    start: u32,
}

/// By grade, in 64ths: what the score of the text before must stay below.
pub(super) fn limits(worst: f64) -> [u64; MAX_GRADE as usize + 1] {
    let most = f64::from(MAX_SCORE) - reach(worst, MAX_CHARS);
    std::array::from_fn(|grade| match grade as Grade {
        0 => 0,
        MAX_GRADE => (most * 64.0) as u64,
        _ => ((LEAST_LIMIT * 2f64.powi(grade as i32 - 1)).min(most) * 64.0) as u64,
    })
}

/// What a size is in 64ths, rounded up.
pub(super) fn in_64ths(score: f64) -> u64 {
    (score.abs() * 64.0).ceil() as u64
}

impl Unigram {
    /// Segment a part by 64-bit numbers into `path`; `None` for one that is too long.
    pub(super) fn weigh(
        &self,
        part: &str,
        places: &mut Vec<Place>,
        path: &mut Vec<Piece>,
    ) -> Option<Worth> {
        if part.len() > 4 * MAX_CHARS {
            return None;
        }
        let char_count = part.chars().count();
        self.place_all(part, places);
        path.clear();
        let (mut lead, mut end) = (f64::INFINITY, part.len() as u32);
        let mut has_unknown = false;
        while end > 0 {
            let Place { lead: here, id, start, .. } = places[end as usize];
            lead = lead.min(here);
            has_unknown |= id == self.unk_id;
            path.push(Piece { id, start, end });
            end = start;
        }
        path.reverse();
        let score: f64 = path.iter().map(|piece| self.scores[piece.id as usize].abs()).sum();
        // Rounding adds less than a 64th for each piece.
        let cost = in_64ths(score) as u32 + path.len() as u32;
        (char_count <= MAX_CHARS).then(|| Worth {
            grade: self.grade_of(lead, char_count),
            cost,
            has_unknown,
        })
    }

    fn place_all(&self, part: &str, places: &mut Vec<Place>) {
        places.clear();
        places.resize(part.len() + 1, Place::default());
        let (mut state, mut start) = (self.pieces.start(), 0);
        for (at, &byte) in part.as_bytes().iter().enumerate() {
            state = self.pieces.step(state, byte);
            if part.is_char_boundary(at + 1) {
                places[at + 1] = self.place(state, start, at as u32 + 1, places);
                start = at as u32 + 1;
            }
        }
    }

    fn place(&self, state: u32, start: u32, end: u32, places: &[Place]) -> Place {
        let mut best = Place { score: f64::NEG_INFINITY, lead: f64::INFINITY, ..Place::default() };
        let mut shortest = end;
        let mut consider = |id: u32, from: u32, score: f64| {
            let score = score + places[from as usize].score;
            let lead = (score - best.score).abs();
            if score > best.score {
                best = Place { score, lead, id, start: from };
            } else {
                best.lead = best.lead.min(lead);
            }
        };
        for (id, piece) in self.pieces.ending_at(state) {
            shortest = end - piece.byte_len;
            consider(id, shortest, piece.score);
        }
        if shortest != start {
            consider(self.unk_id, start, self.scores[self.unk_id as usize]);
        }
        best
    }

    fn grade_of(&self, lead: f64, char_count: usize) -> Grade {
        let enough = match char_count {
            0..=15 => 20,
            16..=31 => 19,
            _ => 18,
        };
        let below = (lead.log2().floor() + f64::from(enough)).exp2().min(MAX_SCORE.into());
        let limit = (below - reach(self.worst, char_count)).max(0.0) * 64.0;
        (1..=MAX_GRADE).rev().find(|&grade| self.limits[grade as usize] as f64 <= limit).unwrap_or(0)
    }
}

/// How far sums within a part get from the score before it, with what rounding adds.
fn reach(worst: f64, char_count: usize) -> f64 {
    worst * (char_count + 1) as f64 + 1.0
}
