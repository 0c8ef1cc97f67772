//! A memo of which instructions fail at which positions and, in look-around, which match.
//!
//! It makes matching linear in the length of the text where backtracking alone is exponential. An entry
//! holds for every search of a text, provided that the rest of the match does not depend on groups. It
//! depends on which enclosing loops have made progress in their current iteration, so each instruction has
//! one slot for each number of such loops.

use piecework_unicode::previous_char_start;

use crate::matcher::{Frame, Matcher, Outcome};
use crate::program::{Greediness, Inst, MemoPoint, Pc, SetRun, NO_MEMO_POINT};

/// The largest memo: 32 MiB. It covers a window of a longer text.
const MAX_BITS: usize = 1 << 28;

/// What the memo has about an instruction at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoEntry {
    Unknown,
    Fails,
    Matches,
}

/// Two bits for each slot and position.
#[derive(Debug)]
pub(crate) struct Memo {
    slots: usize,
    /// The first position of the window.
    base: usize,
    /// The number of positions in the window.
    positions: usize,
    words: Vec<u64>,
}

impl Memo {
    /// Create an empty memo for the text from `base` to `end`, as far as it fits.
    pub(crate) fn new(slots: u32, base: usize, end: usize) -> Self {
        let slots = (slots as usize).max(1);
        let positions = (MAX_BITS / 2 / slots).min(end - base + 1);
        Self { slots, base, positions, words: vec![0; (positions * slots * 2).div_ceil(64)] }
    }

    /// Return the index of the first bit of an entry, if the position is in the window.
    fn bit(&self, slot: u32, at: usize) -> Option<usize> {
        let position = at.checked_sub(self.base).filter(|&position| position < self.positions)?;
        Some((position * self.slots + slot as usize) * 2)
    }

    /// Return an entry.
    pub(crate) fn get(&self, slot: u32, at: usize) -> MemoEntry {
        let bit = self.bit(slot, at);
        match bit.and_then(|bit| Some(self.words.get(bit / 64)? >> (bit % 64) & 3)) {
            Some(1) => MemoEntry::Fails,
            Some(2) => MemoEntry::Matches,
            _ => MemoEntry::Unknown,
        }
    }

    /// Store an entry. Positions outside of the window are ignored.
    pub(crate) fn set(&mut self, slot: u32, at: usize, entry: MemoEntry) {
        let Some(bit) = self.bit(slot, at) else { return };
        if let Some(word) = self.words.get_mut(bit / 64) {
            *word &= !(3 << (bit % 64));
            *word |= u64::from(entry == MemoEntry::Fails) << (bit % 64);
            *word |= u64::from(entry == MemoEntry::Matches) << (bit % 64 + 1);
        }
    }

    /// Move the window to `at` if a search has left it. Return the number of words that were cleared.
    pub(crate) fn move_to(&mut self, at: usize) -> usize {
        if at < self.base + self.positions {
            return 0;
        }
        self.base = at;
        self.words.fill(0);
        self.words.len()
    }
}

impl Matcher<'_> {
    /// Return the outcome that the memo has for an instruction. If it has none, pushes a frame that
    /// records a failure.
    #[inline]
    pub(crate) fn memo_lookup(&mut self, point: MemoPoint, at: usize) -> Option<Outcome> {
        if self.memo.is_none() || point == NO_MEMO_POINT {
            return None;
        }
        self.memo_lookup_slow(point, at)
    }

    /// Look up a memoized instruction.
    #[inline(never)]
    fn memo_lookup_slow(&mut self, point: MemoPoint, at: usize) -> Option<Outcome> {
        let (base, loops) = self.program.memo_layout.points[point as usize];
        let loops = &self.program.memo_layout.loops[loops as usize];
        let progressed = loops.iter().filter(|&&register| self.registers[register as usize] != at).count();
        let slot = base + progressed as u32;
        match self.memo_entry(slot, at) {
            MemoEntry::Fails => Some(Outcome::Fail),
            MemoEntry::Matches => Some(self.jump_to_atomic_end(at)),
            MemoEntry::Unknown => {
                self.stack.push(Frame::MemoizeFailure { slot, at });
                None
            }
        }
    }

    /// Return an entry of the memo.
    fn memo_entry(&self, slot: u32, at: usize) -> MemoEntry {
        self.memo.as_ref().map_or(MemoEntry::Unknown, |memo| memo.get(slot, at))
    }

    /// Continue at the end of the innermost look-around, which is known to match.
    fn jump_to_atomic_end(&self, at: usize) -> Outcome {
        let start = self.atomic_starts.last().and_then(|&index| self.stack.get(index));
        let Some(Frame::AtomicStart { pc, .. }) = start else { return Outcome::Fail };
        match self.program.code.get(*pc as usize) {
            Some(&Inst::AtomicStart { end, .. }) => Outcome::Jump(end, at),
            _ => Outcome::Fail,
        }
    }

    /// Store an entry for the positions `from` to `to`.
    pub(crate) fn memo_insert(&mut self, slot: u32, from: usize, to: usize, entry: MemoEntry) {
        let Some(memo) = &mut self.memo else { return };
        (from..=to).for_each(|at| memo.set(slot, at, entry));
        self.steps += to.saturating_sub(from) / 4;
    }

    /// Store matches for the frames from `index` on, because the look-around that they belong to has
    /// matched.
    pub(crate) fn memo_insert_matches(&mut self, index: usize) {
        for index in index..self.stack.len() {
            self.steps += 1;
            match self.stack[index] {
                Frame::MemoizeFailure { slot, at } => self.memo_insert(slot, at, at, MemoEntry::Matches),
                Frame::MemoizeRunFailure { slot, start, end } => {
                    let end = match self.stack.get(index + 1) {
                        Some(&(Frame::GreedyRun { end, .. } | Frame::LazyRun { end, .. })) => end,
                        _ => end,
                    };
                    self.memo_insert(slot, start + 1, end.saturating_sub(1), MemoEntry::Matches);
                }
                _ => {}
            }
        }
    }

    /// Return whether an entry for a run holds for a run from any position within it: a run from an
    /// earlier position can reach everything that one from a later position can.
    pub(crate) fn memo_covers_run(&self, min: u32, max: u32, point: MemoPoint) -> bool {
        self.memo.is_some() && max == u32::MAX && min <= 1 && point != NO_MEMO_POINT
    }

    /// Return whether a run that reaches `at` is known to fail with every end from there on.
    pub(crate) fn run_fails_from(&self, point: MemoPoint, at: usize) -> bool {
        self.memo_entry(self.slot_of_progress(point), at) == MemoEntry::Fails
    }

    /// Return the slot for the case that all enclosing loops have made progress.
    fn slot_of_progress(&self, point: MemoPoint) -> u32 {
        let (base, loops) = self.program.memo_layout.points[point as usize];
        base + self.program.memo_layout.loops[loops as usize].len() as u32
    }

    /// Run `Inst::SetRun` with a memo. The run stops where a run from there has an entry.
    #[inline(never)]
    pub(crate) fn match_run_with_memo(&mut self, run: &SetRun, pc: Pc, at: usize) -> Outcome {
        if let Some(outcome) = self.memo_lookup(run.memo_point, at) {
            return outcome;
        }
        if !self.memo_covers_run(run.min, run.max, run.memo_point) {
            return self.match_run(run, pc, at);
        }
        let slot = self.slot_of_progress(run.memo_point);
        if run.greediness == Greediness::Lazy {
            self.stack.push(Frame::MemoizeRunFailure { slot, start: at, end: at });
            return self.match_run(run, pc, at);
        }
        let (mut end, mut count, mut entry) = (at, 0, MemoEntry::Unknown);
        while let Some(len) = self.program.sets[run.set as usize].len_at(self.bytes, end) {
            if end > at {
                entry = self.memo_entry(slot, end);
            }
            if entry != MemoEntry::Unknown {
                break;
            }
            (end, count) = (end + len, count + 1);
        }
        self.steps += count as usize / 2;
        match (entry, run.greediness) {
            (MemoEntry::Matches, _) => return self.jump_to_atomic_end(at),
            (MemoEntry::Fails, Greediness::Possessive) => return Outcome::Fail,
            // A run from `end` fails with all its ends, so this run needs to try only ends before it.
            (MemoEntry::Fails, _) if run.min == 0 => {
                (end, count) = (previous_char_start(self.bytes, end).unwrap_or(at), count - 1);
            }
            _ if count < run.min => return Outcome::Fail,
            _ => {}
        }
        self.stack.push(Frame::MemoizeRunFailure { slot, start: at, end });
        self.finish_run(run, pc, at, end, count)
    }
}
