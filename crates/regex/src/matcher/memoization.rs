//! Matching with a memo.

use piecework_unicode::previous_char_start;

use crate::matcher::memo::MemoEntry;
use crate::matcher::{Frame, Matcher, Outcome};
use crate::program::{Greediness, Inst, MemoPoint, Pc, SetRun, NO_MEMO_POINT};

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
