//! Pruning: removal of the pieces with the least loss of corpus likelihood (Kudo 2018, section 3.2).
//!
//! The loss is approximate, as in SentencePiece: the corpus has its best segmentation, and each occurrence of
//! a removed piece is replaced by the best segmentation of its text without it.

use super::piece_set::{PieceSet, NONE};
use super::segment_text::SegmentText;
use super::text_lattice::{LatticeScratch, TextLattice};
use crate::thread_team::{total, ThreadTeam};
use piecework_core::error::Error;

/// The loss of a single character: it cannot be replaced.
const NEEDED: f64 = f64::INFINITY;
/// The loss of a piece that does not occur in the best segmentation of the corpus, or of its own text.
const UNUSED: f64 = f64::NEG_INFINITY;

/// What pruning computed, by piece.
pub(super) struct Pruned {
    counts: Vec<u64>,
    losses: Vec<f64>,
    pub(super) is_kept: Vec<bool>,
}

impl Pruned {
    /// Return the count of each piece in the best segmentations, and its loss: infinite for a single character in use,
    /// minus infinity for a piece that is not needed.
    pub(super) fn values(&self, corpus: &SegmentText) -> impl Iterator<Item = (f64, f64)> + '_ {
        let one = corpus.one_use;
        self.counts.iter().zip(&self.losses).map(move |(&count, &loss)| (count as f64 / one, loss))
    }
}

/// Keep about `size` pieces, but at least `wanted`.
pub(super) fn prune(
    pieces: &mut PieceSet,
    corpus: &SegmentText,
    size: usize,
    wanted: usize,
    team: &mut ThreadTeam<'_, '_>,
) -> Result<Pruned, Error> {
    let counts = counts_in_best(pieces, corpus, team)?;
    let losses = losses(pieces, corpus, &counts, team)?;
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by(|&one, &two| {
        losses[two].total_cmp(&losses[one]).then_with(|| match losses[one] {
            UNUSED => pieces.links[two].value.total_cmp(&pieces.links[one].value),
            _ => std::cmp::Ordering::Equal,
        })
    });
    let needed = losses.iter().filter(|&&loss| loss == NEEDED).count();
    let useful = losses.iter().filter(|&&loss| loss != UNUSED).count();
    order.truncate(useful.min(size).max(needed).max(wanted));
    let mut is_kept = vec![false; pieces.len()];
    order.into_iter().for_each(|piece| is_kept[piece] = true);
    pieces.retain(|piece| is_kept[piece]);
    Ok(Pruned { counts, losses, is_kept })
}

/// Count each piece in the best segmentations of all segments, in units of `1 / one_use`.
fn counts_in_best(
    pieces: &PieceSet,
    corpus: &SegmentText,
    team: &mut ThreadTeam<'_, '_>,
) -> Result<Vec<u64>, Error> {
    let unknown = pieces.unknown_score();
    let new_state = || (LatticeScratch::default(), vec![0_u64; pieces.len()]);
    let counts = team.run(corpus.len(), new_state, |(scratch, counts), _, segments| {
        for segment in corpus.segments(segments) {
            let lattice = TextLattice::new(pieces, &pieces.links, unknown, segment.range);
            let uses = (segment.weight * corpus.one_use) as u64;
            lattice.best(
                scratch,
                |_, _| true,
                |piece| {
                    if let Some(count) = counts.get_mut(piece as usize) {
                        *count += uses;
                    }
                },
            );
        }
    })?;
    Ok(total(counts.into_iter().map(|(_, counts)| counts)))
}

/// Estimate the losses of all pieces.
fn losses(
    pieces: &PieceSet,
    corpus: &SegmentText,
    counts: &[u64],
    team: &mut ThreadTeam<'_, '_>,
) -> Result<Vec<f64>, Error> {
    let estimator = LossEstimator {
        pieces,
        corpus,
        counts,
        total: counts.iter().sum::<u64>() as f64 / corpus.one_use,
        unknown: pieces.unknown_score(),
    };
    let new_state = || (LatticeScratch::default(), Vec::new());
    let parts = team.run(pieces.len(), new_state, |(scratch, parts), _, numbers| {
        parts.extend(numbers.map(|piece| (piece, estimator.loss(piece, scratch))));
    })?;
    let mut losses = vec![UNUSED; pieces.len()];
    for (piece, loss) in parts.into_iter().flat_map(|(_, parts)| parts) {
        losses[piece] = loss;
    }
    Ok(losses)
}

struct LossEstimator<'a> {
    pieces: &'a PieceSet,
    corpus: &'a SegmentText,
    counts: &'a [u64],
    total: f64,
    unknown: f64,
}

impl LossEstimator<'_> {
    fn loss(&self, piece: usize, scratch: &mut LatticeScratch) -> f64 {
        if self.counts[piece] == 0 {
            return UNUSED;
        }
        let chars = self.pieces.links[piece].chars as usize;
        if chars == 1 {
            return NEEDED;
        }
        let start = self.pieces.positions[piece] as usize;
        let lattice = TextLattice::new(self.pieces, &self.pieces.links, self.unknown, start..start + chars);
        let mut parts = Vec::new();
        let without =
            lattice.best(scratch, |start, end| (start, end) != (0, chars), |part| parts.push(part));
        if without > self.pieces.links[piece].value {
            return UNUSED;
        }
        self.loss_by_parts(self.uses(piece), &parts)
    }

    fn uses(&self, piece: usize) -> f64 {
        self.counts[piece] as f64 / self.corpus.one_use
    }

    /// Return the loss of likelihood when all `count` occurrences of a piece are replaced by `parts`.
    fn loss_by_parts(&self, count: f64, parts: &[u32]) -> f64 {
        let total = self.total;
        let log_total_after = (total + count * (parts.len() as f64 - 1.0)).ln();
        let mut after = 0.0;
        for &part in parts.iter().rev() {
            let own = if part == NONE { 0.0 } else { self.uses(part as usize) };
            after += (own + count).ln() - log_total_after;
        }
        count * (count.ln() - total.ln() - after)
    }
}
