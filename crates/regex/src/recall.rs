//! Matching with a memory, see `memo`.

use super::machine::{Frame, Machine, Step};
use super::memo::Verdict;
use super::program::{Giving, Inst, Pc, Slot, NO_SLOT};
use super::runs::Run;
use super::utf8;

impl Machine<'_> {
    /// What is remembered of an instruction at a place; if nothing, its failure will be.
    #[inline]
    pub(super) fn recall(&mut self, slot: Slot, at: usize) -> Option<Step> {
        if self.memo.is_none() || slot == NO_SLOT {
            return None;
        }
        self.recall_here(slot, at)
    }

    #[inline(never)]
    fn recall_here(&mut self, slot: Slot, at: usize) -> Option<Step> {
        let (base, loops) = self.program.points.bases[slot as usize];
        let loops = &self.program.points.loops[loops as usize];
        let moved = loops.iter().filter(|&&register| self.registers[register as usize] != at).count();
        let slot = base + moved as u32;
        match self.verdict(slot, at) {
            Verdict::Fails => Some(Step::Fail),
            Verdict::Matches => Some(self.to_fence_end(at)),
            Verdict::Unknown => {
                self.stack.push(Frame::Mark { slot, at });
                None
            }
        }
    }

    fn verdict(&self, slot: u32, at: usize) -> Verdict {
        self.memo.as_ref().map_or(Verdict::Unknown, |memo| memo.get(slot, at))
    }

    /// To the end of the look-around that we are in, which is known to match.
    fn to_fence_end(&self, at: usize) -> Step {
        let fence = self.fences.last().and_then(|&fence| self.stack.get(fence));
        let Some(Frame::Fence { pc, .. }) = fence else { return Step::Fail };
        match self.program.code.get(*pc as usize) {
            Some(&Inst::Open { end, .. }) => Step::To(end, at),
            _ => Step::Fail,
        }
    }

    pub(super) fn remember(&mut self, slot: u32, from: usize, to: usize, verdict: Verdict) {
        let Some(memo) = &mut self.memo else { return };
        (from..=to).for_each(|at| memo.set(slot, at, verdict));
        self.steps += to.saturating_sub(from) / 4;
    }

    /// The inside of look-around matches: all places on the way, from a frame on, led there.
    pub(super) fn remember_matches(&mut self, index: usize) {
        for index in index..self.stack.len() {
            self.steps += 1;
            match self.stack[index] {
                Frame::Mark { slot, at } => self.remember(slot, at, at, Verdict::Matches),
                Frame::RunMark { slot, at, end } => {
                    let end = match self.stack.get(index + 1) {
                        Some(&(Frame::Back { at, .. } | Frame::Forth { at, .. })) => at,
                        _ => end,
                    };
                    self.remember(slot, at + 1, end.saturating_sub(1), Verdict::Matches);
                }
                _ => {}
            }
        }
    }

    /// Whether the verdict on a run holds for a run from any place within it: what a run from later on can
    /// reach, a run from earlier on can as well.
    pub(super) fn spreads(&self, min: u32, max: u32, slot: Slot) -> bool {
        self.memo.is_some() && max == u32::MAX && min <= 1 && slot != NO_SLOT
    }

    /// Whether a run that passes a place is known to fail with every end from there on.
    pub(super) fn fails_within(&self, slot: Slot, at: usize) -> bool {
        self.verdict(self.slot_of_moved(slot), at) == Verdict::Fails
    }

    /// The slot for all loops around having read something.
    fn slot_of_moved(&self, slot: Slot) -> u32 {
        let (base, loops) = self.program.points.bases[slot as usize];
        base + self.program.points.loops[loops as usize].len() as u32
    }

    #[inline(never)]
    pub(super) fn run_with_memo(&mut self, run: &Run, pc: Pc, at: usize) -> Step {
        if let Some(step) = self.recall(run.slot, at) {
            return step;
        }
        if !self.spreads(run.min, run.max, run.slot) {
            return self.run_of_set(run, pc, at);
        }
        let slot = self.slot_of_moved(run.slot);
        if run.giving == Giving::Forth {
            self.stack.push(Frame::RunMark { slot, at, end: at });
            return self.run_of_set(run, pc, at);
        }
        let (mut end, mut count, mut verdict) = (at, 0, Verdict::Unknown);
        while let Some(len) = self.program.sets[run.set as usize].len_at(self.bytes, end) {
            if end > at {
                verdict = self.verdict(slot, end);
            }
            if verdict != Verdict::Unknown {
                break;
            }
            (end, count) = (end + len, count + 1);
        }
        self.steps += count as usize / 2;
        match (verdict, run.giving) {
            (Verdict::Matches, _) => return self.to_fence_end(at),
            (Verdict::Fails, Giving::Nothing) => return Step::Fail,
            // A run from there on fails with all ends that it can have, its least length further on.
            (Verdict::Fails, _) if run.min == 0 => {
                (end, count) = (utf8::before(self.bytes, end).unwrap_or(at), count - 1);
            }
            _ if count < run.min => return Step::Fail,
            _ => {}
        }
        self.stack.push(Frame::RunMark { slot, at, end });
        self.settle(run, pc, at, end, count)
    }
}
