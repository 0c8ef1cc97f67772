//! Segmentations drawn with their probabilities.
//!
//! Forward filtering, backward sampling (Scott 2002): the last arc by its share of all paths, then the last
//! before it, as Kudo 2018, "Subword Regularization", section 3.1, draws from the whole lattice.
//!
//! Without replacement, the Gumbel-top-k of Kool, van Hoof and Welling 2019, "Stochastic Beams and Where to
//! Find Them": give every path its log-probability plus Gumbel noise and take the greatest. No path is made
//! for that but those taken: a path's beginning is not yet decided while others promise more, and what the
//! greatest of all paths with the same rest has is drawn as one number.

use super::lattice::{log_share, log_sums, sums_of, Arc, PieceLattice, WordLattice};
use super::nbest::{Child, Parent, Search};
use super::{Found, Path};
use crate::model::sampling::Draws;
use crate::model::Piece;

/// Memory for a path that is drawn.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct Drawing {
    /// By byte, as the sums.
    states: Vec<u32>,
    sums: Vec<f64>,
    path: Vec<Piece>,
}

impl Drawing {
    /// Draw a path through a word; `lattice` makes the lattice of the word in the memory it is given.
    pub(in crate::model) fn draw<'w>(
        &mut self,
        draws: &mut Draws,
        lattice: impl FnOnce(Vec<u32>) -> PieceLattice<'w>,
    ) -> &[Piece] {
        let Self { states, sums, path } = self;
        let lattice = lattice(std::mem::take(states));
        log_sums(&lattice, draws.alpha(), sums);
        path.clear();
        draw(&lattice, sums, draws, |Arc { id, start, .. }, end| path.push(Piece { id, start, end }));
        path.reverse();
        *states = lattice.into_states();
        path
    }
}

/// Draw one path; its arcs from right to left, each with where it ends.
fn draw(word: &impl WordLattice, sums: &[f64], draws: &mut Draws, mut take: impl FnMut(Arc, u32)) {
    let mut end = word.end();
    while end > 0 {
        let Some(arc) = draw_arc(word, end, sums, draws) else { return };
        take(arc, end);
        end = arc.start;
    }
}

/// Draw one path through all words.
pub(super) fn draw_through<W: WordLattice>(words: &[W], sums: &[Vec<f64>], draws: &mut Draws) -> Path {
    let mut path = Path::default();
    let mut of_word = Vec::new();
    for (word, sums) in words.iter().zip(sums) {
        draw(word, sums, draws, |arc, end| of_word.push((arc, end)));
        for (Arc { id, start, score }, end) in of_word.drain(..).rev() {
            path.pieces.push(Piece { id, start, end });
            path.score += score;
        }
    }
    path
}

fn draw_arc(word: &impl WordLattice, end: u32, sums: &[f64], draws: &mut Draws) -> Option<Arc> {
    let (alpha, mut left) = (draws.alpha(), draws.unit());
    let mut likeliest: Option<(f64, Arc)> = None;
    for arc in word.ending_at(end) {
        let share = log_share(&arc, end, alpha, sums).exp();
        left -= share;
        if left <= 0.0 {
            return Some(arc);
        }
        if likeliest.is_none_or(|(most, _)| share > most) {
            likeliest = Some((share, arc));
        }
    }
    // The shares were rounded to less than one.
    likeliest.map(|(_, arc)| arc)
}

/// Draw up to `n` different paths through all words, in the order in which they would come by drawing one
/// after the other without replacement; with each the logarithm of the probability to be among them, given
/// what was drawn besides. With `best` that path is always the first.
pub(super) fn draw_apart<W: WordLattice>(
    words: &[W],
    n: usize,
    best: Option<Path>,
    draws: &mut Draws,
) -> Vec<Found> {
    let sums: Vec<Vec<f64>> = words.iter().map(|word| sums_of(word, draws.alpha())).collect();
    // One more than is wanted says how much noise it took to be left out.
    let mut search = Search::new(words, gumbel(0.0, draws), n + 1);
    let mut drawn: Vec<(Path, f64, f64)> = Vec::new();
    while let Some(end) = search.next(|parent, children| expand(parent, words, &sums, draws, children)) {
        let path = search.path(&end);
        if best.as_ref().is_none_or(|best| best.pieces != path.pieces) {
            drawn.push((path, end.weight, end.rank));
        }
        if drawn.len() + usize::from(best.is_some()) > n {
            break;
        }
    }
    let wanted = n - usize::from(best.is_some());
    let threshold = drawn.get(wanted).map_or(f64::NEG_INFINITY, |&(.., rank)| rank);
    drawn.truncate(wanted);
    let sure = best.map(|path| Found { path, log_inclusion: 0.0 });
    let rest = drawn.into_iter().map(|(path, log_probability, _)| Found {
        path,
        log_inclusion: log_inclusion(log_probability, threshold),
    });
    sure.into_iter().chain(rest).collect()
}

/// Noise for each arc that may come before, on the condition that the greatest has what the parent has.
fn expand<W: WordLattice>(
    parent: Parent,
    words: &[W],
    sums: &[Vec<f64>],
    draws: &mut Draws,
    children: &mut Vec<Child>,
) {
    let Parent { word, end, rank, weight } = parent;
    let mut greatest = f64::NEG_INFINITY;
    for arc in words[word].ending_at(end) {
        let weight = weight + log_share(&arc, end, draws.alpha(), &sums[word]);
        let rank = gumbel(weight, draws);
        if rank > f64::NEG_INFINITY {
            greatest = rank.max(greatest);
            children.push(Child { arc, rank, weight });
        }
    }
    for child in children {
        child.rank = conditioned(child.rank, greatest, rank);
    }
}

/// Move noise whose greatest is `greatest` so that the greatest is `wanted` (Kool et al., appendix B.3).
fn conditioned(rank: f64, greatest: f64, wanted: f64) -> f64 {
    let moved = wanted - rank + (-(rank - greatest).exp()).ln_1p();
    wanted - moved.max(0.0) - (-moved.abs()).exp().ln_1p()
}

/// A number from the Gumbel distribution around `location`.
fn gumbel(location: f64, draws: &mut Draws) -> f64 {
    location - (-draws.open_unit().ln()).ln()
}

/// ln of the probability that a path with this log-probability gets noise above the threshold.
fn log_inclusion(log_probability: f64, threshold: f64) -> f64 {
    let expected = (log_probability - threshold).exp();
    if expected > 0.0 {
        (-(-expected).exp_m1()).ln()
    } else {
        log_probability - threshold
    }
}
