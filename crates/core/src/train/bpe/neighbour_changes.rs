//! What one merge changes, gathered by the entry next to it, so that the table of pairs is asked once for
//! each distinct neighbour and not once for each place.

/// On which side of the merged pair an entry stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// The changes around the places of one merge.
#[derive(Default)]
pub(super) struct NeighbourChanges {
    /// By side and entry: the number of its change, from 1, while it has one.
    numbers: [Vec<u32>; 2],
    changes: Vec<NeighbourChange>,
    /// The change and the position of each pair gained.
    gains: Vec<(u32, u32)>,
}

/// What happens to the pairs that one neighbour is in.
#[derive(Clone, Copy)]
pub(super) struct NeighbourChange {
    pub(super) side: Side,
    pub(super) neighbour: u32,
    /// How often the neighbour stood next to the part that is on its side.
    pub(super) lost: u64,
    /// How often it came to stand next to the merged entry.
    pub(super) gained: u64,
    /// How often it stood there and was merged itself.
    pub(super) remerged: u64,
    /// In how many places it came to stand there.
    pub(super) positions: usize,
}

impl NeighbourChanges {
    /// Make room for `entries` entries.
    pub(super) fn grow(&mut self, entries: usize) {
        self.numbers.iter_mut().for_each(|numbers| numbers.resize(entries, 0));
    }

    /// Note that a neighbour came to stand next to the merged entry, in a pair that starts at `position`.
    #[inline]
    pub(super) fn gain(&mut self, side: Side, neighbour: u32, count: u64, position: u32) {
        let number = self.number(side, neighbour);
        let change = &mut self.changes[number as usize];
        change.gained += count;
        change.positions += 1;
        self.gains.push((number, position));
    }

    /// Note that a neighbour no longer stands next to the part that is on its side.
    #[inline]
    pub(super) fn lose(&mut self, side: Side, neighbour: u32, count: u64) {
        let number = self.number(side, neighbour);
        self.changes[number as usize].lost += count;
    }

    /// Note that what stood to the right of the merged entry has become part of a merged entry itself.
    #[inline]
    pub(super) fn remerge(&mut self, neighbour: u32, count: u64) {
        let number = self.number(Side::Right, neighbour);
        self.changes[number as usize].remerged += count;
    }

    /// How many changes there are.
    pub(super) fn len(&self) -> usize {
        self.changes.len()
    }

    pub(super) fn change(&self, number: usize) -> NeighbourChange {
        self.changes[number]
    }

    /// Visit the change and the position of each pair gained, in the order of the places.
    pub(super) fn gains(&self) -> &[(u32, u32)] {
        &self.gains
    }

    /// Forget all changes.
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
