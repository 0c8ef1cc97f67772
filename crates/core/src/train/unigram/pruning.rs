//! Pruning: the pieces without which the likelihood of the corpus would lose least are dropped.
//!
//! The loss is approximate, as in SentencePiece: the segmentation of the corpus is the best one, and where a
//! piece stood there would stand the best segmentation of its own text without it.

use piecework_unicode::char_len;

use super::corpus::Corpus;
use super::lattice::{Scratch, Stretch};
use super::pieces::{Pieces, NONE};
use super::threads::Workers;
use crate::error::Error;

/// What becomes of a piece.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    /// Nothing could take its place.
    Needed,
    /// What the likelihood would lose without it.
    Loss(f64),
    /// The best segmentation of the corpus, or of itself, does without it.
    Useless,
}

/// Keep about `size` of the pieces, but no fewer than `wanted`.
pub(super) fn prune(
    pieces: &mut Pieces,
    corpus: &Corpus,
    size: usize,
    wanted: usize,
    workers: &mut Workers<'_, '_>,
) -> Result<(), Error> {
    let counts = counts_in_best(pieces, corpus, workers)?;
    let fates = fates(pieces, corpus, &counts, workers)?;
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by(|&one, &two| {
        rank(fates[two]).total_cmp(&rank(fates[one])).then_with(|| match fates[one] {
            Fate::Useless => pieces.links[two].value.total_cmp(&pieces.links[one].value),
            _ => std::cmp::Ordering::Equal,
        })
    });
    let count = |wanted: fn(&Fate) -> bool| fates.iter().filter(|fate| wanted(fate)).count();
    let needed = count(|fate| *fate == Fate::Needed);
    let useful = count(|fate| *fate != Fate::Useless);
    order.truncate(useful.min(size).max(needed).max(wanted));
    let mut kept = vec![false; pieces.len()];
    order.into_iter().for_each(|piece| kept[piece] = true);
    pieces.retain(|piece| kept[piece]);
    Ok(())
}

fn rank(fate: Fate) -> f64 {
    match fate {
        Fate::Needed => f64::INFINITY,
        Fate::Loss(loss) => loss,
        Fate::Useless => f64::NEG_INFINITY,
    }
}

/// How often each piece stands in the best segmentations of all words.
fn counts_in_best(
    pieces: &Pieces,
    corpus: &Corpus,
    workers: &mut Workers<'_, '_>,
) -> Result<Vec<u64>, Error> {
    let unknown = pieces.unknown_score();
    let fresh = || (Scratch::default(), vec![0_u64; pieces.len()]);
    let counts = workers.run(&corpus.segments, fresh, |(scratch, counts), _, segments| {
        for segment in segments {
            let stretch = Stretch::new(&corpus.text, pieces, &pieces.links, unknown, segment.range());
            stretch.best(
                scratch,
                |_, _| true,
                |piece| {
                    if let Some(count) = counts.get_mut(piece as usize) {
                        *count += segment.count;
                    }
                },
            );
        }
    })?;
    let added = counts.into_iter().map(|(_, counts)| counts).reduce(|mut counts, more| {
        counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        counts
    });
    Ok(added.unwrap_or_default())
}

/// Judge all pieces.
fn fates(
    pieces: &Pieces,
    corpus: &Corpus,
    counts: &[u64],
    workers: &mut Workers<'_, '_>,
) -> Result<Vec<Fate>, Error> {
    let judge =
        Judge { pieces, corpus, counts, total: counts.iter().sum(), unknown: pieces.unknown_score() };
    let numbers: Vec<u32> = (0..pieces.len() as u32).collect();
    let fresh = || (Scratch::default(), Vec::new());
    let parts = workers.run(&numbers, fresh, |(scratch, parts), _, numbers| {
        parts.extend(numbers.iter().map(|&piece| (piece, judge.fate(piece as usize, scratch))));
    })?;
    let mut fates = vec![Fate::Useless; pieces.len()];
    for (piece, fate) in parts.into_iter().flat_map(|(_, parts)| parts) {
        fates[piece as usize] = fate;
    }
    Ok(fates)
}

struct Judge<'a> {
    pieces: &'a Pieces,
    corpus: &'a Corpus,
    counts: &'a [u64],
    total: u64,
    unknown: f64,
}

impl Judge<'_> {
    fn fate(&self, piece: usize, scratch: &mut Scratch) -> Fate {
        if self.counts[piece] == 0 {
            return Fate::Useless;
        }
        let name = self.pieces.name(self.corpus, piece);
        if name.len() == char_len(name[0]) {
            return Fate::Needed;
        }
        let start = self.pieces.places[piece] as usize;
        let range = start..start + name.len();
        let stretch = Stretch::new(&self.corpus.text, self.pieces, &self.pieces.links, self.unknown, range);
        let mut parts = Vec::new();
        let without =
            stretch.best(scratch, |start, end| (start, end) != (0, name.len()), |part| parts.push(part));
        if without > self.pieces.links[piece].value {
            return Fate::Useless;
        }
        Fate::Loss(self.loss(self.counts[piece] as f64, &parts))
    }

    /// What the likelihood loses when all `count` occurrences of a piece become `parts`.
    fn loss(&self, count: f64, parts: &[u32]) -> f64 {
        let total = self.total as f64;
        let log_total_after = (total + count * (parts.len() as f64 - 1.0)).ln();
        let mut after = 0.0;
        for &part in parts.iter().rev() {
            let own = if part == NONE { 0.0 } else { self.counts[part as usize] as f64 };
            after += (own + count).ln() - log_total_after;
        }
        count * (count.ln() - total.ln() - after)
    }
}
