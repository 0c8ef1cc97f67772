//! The changes of one merge, collected by neighbouring entry.
//!
//! So each distinct neighbour takes one lookup in the table of pairs, not each position.

/// The side of the merged pair on which a neighbour occurs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// The changes around the positions of one merge.
#[derive(Default)]
pub(super) struct NeighbourChanges {
    /// By side and entry: the number of its change plus 1, or 0 without one.
    numbers: [Vec<u32>; 2],
    changes: Vec<NeighbourChange>,
    /// The number of the change, and the position, of each new occurrence.
    gains: Vec<(u32, u32)>,
}

/// The changes of the pairs that contain one neighbour, weighted by word counts.
#[derive(Clone, Copy)]
pub(super) struct NeighbourChange {
    pub(super) side: Side,
    pub(super) neighbour: u32,
    /// Occurrences next to the entry of the pair on its side, which the merge has removed.
    pub(super) lost: u64,
    /// Occurrences next to the merged entry, which the merge has created.
    pub(super) gained: u64,
    /// Occurrences next to the merged entry that were merged themselves.
    pub(super) remerged: u64,
    /// The number of positions of `gained`.
    pub(super) positions: usize,
}

impl NeighbourChanges {
    /// Reserve memory for `entries` entries.
    pub(super) fn grow(&mut self, entries: usize) {
        self.numbers.iter_mut().for_each(|numbers| numbers.resize(entries, 0));
    }

    /// Record a new pair of a neighbour and the merged entry that starts at `position`.
    #[inline]
    pub(super) fn gain(&mut self, side: Side, neighbour: u32, count: u64, position: u32) {
        let number = self.number(side, neighbour);
        let change = &mut self.changes[number as usize];
        change.gained += count;
        change.positions += 1;
        self.gains.push((number, position));
    }

    /// Record that a neighbour is no longer next to the entry of the pair on its side.
    #[inline]
    pub(super) fn lose(&mut self, side: Side, neighbour: u32, count: u64) {
        let number = self.number(side, neighbour);
        self.changes[number as usize].lost += count;
    }

    /// Record that the right neighbour of a merged entry was merged itself.
    #[inline]
    pub(super) fn remerge(&mut self, neighbour: u32, count: u64) {
        let number = self.number(Side::Right, neighbour);
        self.changes[number as usize].remerged += count;
    }

    /// Return the number of changes.
    pub(super) fn len(&self) -> usize {
        self.changes.len()
    }

    pub(super) fn change(&self, number: usize) -> NeighbourChange {
        self.changes[number]
    }

    /// Return the number of the change, and the position, of each new occurrence, in corpus order.
    pub(super) fn gains(&self) -> &[(u32, u32)] {
        &self.gains
    }

    /// Remove all changes.
    pub(super) fn clear(&mut self) {
        for change in self.changes.drain(..) {
            self.numbers[change.side as usize][change.neighbour as usize] = 0;
        }
        self.gains.clear();
    }

    #[inline]
    fn number(&mut self, side: Side, neighbour: u32) -> u32 {
        let number = &mut self.numbers[side as usize][neighbour as usize];
        if *number == 0 {
            self.changes.push(NeighbourChange {
                side,
                neighbour,
                lost: 0,
                gained: 0,
                remerged: 0,
                positions: 0,
            });
            *number = self.changes.len() as u32;
        }
        *number - 1
    }
}
