//! Runs of characters of one set: one frame for each, however long it is.

use super::machine::{Frame, Machine, Step};
use super::program::{Giving, Inst, Pc, Slot};
use super::utf8;

/// What a run is, as the instruction says it.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) set: u32,
    pub(super) min: u32,
    pub(super) max: u32,
    pub(super) giving: Giving,
    pub(super) follow: u32,
    pub(super) slot: Slot,
}

impl Machine<'_> {
    #[inline]
    pub(super) fn run_of_set(&mut self, run: &Run, pc: Pc, at: usize) -> Step {
        let set = &self.program.sets[run.set as usize];
        let most = if run.giving == Giving::Forth { run.min } else { run.max };
        let (end, count) = set.run(self.bytes, at, most);
        self.steps += count as usize / 2;
        if count < run.min {
            return Step::Fail;
        }
        self.settle(run, pc, at, end, count)
    }

    /// A run that has its characters: leave what it could do otherwise.
    #[inline]
    pub(super) fn settle(&mut self, run: &Run, pc: Pc, at: usize, end: usize, count: u32) -> Step {
        match run.giving {
            Giving::Nothing => Step::Next(end),
            Giving::Forth => {
                self.stack.push(Frame::Forth { pc, count, at: end });
                Step::Next(end)
            }
            Giving::Back if count == run.min => Step::Next(end),
            Giving::Back => {
                let low = match run.min {
                    0 => at,
                    1 => utf8::after(self.bytes, at),
                    min => self.program.sets[run.set as usize].run(self.bytes, at, min).0,
                };
                if self.program.starts[run.follow as usize].allow(self.bytes, end) {
                    self.stack.push(Frame::Back { pc, low, at: end });
                    return Step::Next(end);
                }
                match self.give_back(pc, low, end) {
                    Some((pc, at)) => Step::To(pc, at),
                    None => Step::Fail,
                }
            }
        }
    }

    /// Shorten a run to the next place where the rest can match.
    pub(super) fn give_back(&mut self, pc: Pc, low: usize, end: usize) -> Option<(Pc, usize)> {
        let Some(&Inst::Run { follow, .. }) = self.program.code.get(pc as usize) else { return None };
        let starts = &self.program.starts[follow as usize];
        let mut at = end;
        while at > low {
            at = utf8::before(self.bytes, at)?;
            if starts.allow(self.bytes, at) {
                self.steps += (end - at) / 2;
                if at > low {
                    self.stack.push(Frame::Back { pc, low, at });
                }
                return Some((pc + 1, at));
            }
        }
        self.steps += (end - at) / 2;
        None
    }

    /// Lengthen a run to the next place where the rest can match.
    pub(super) fn take_more(&mut self, pc: Pc, mut count: u32, start: usize) -> Option<(Pc, usize)> {
        let Some(&Inst::Run { set, min, max, follow, slot, .. }) = self.program.code.get(pc as usize)
        else {
            return None;
        };
        let spreads = self.spreads(min, max, slot);
        let set = &self.program.sets[set as usize];
        let mut at = start;
        while count < max {
            let Some(len) = set.len_at(self.bytes, at) else { break };
            if spreads && self.fails_within(slot, at) {
                break;
            }
            (at, count) = (at + len, count + 1);
            if self.program.starts[follow as usize].allow(self.bytes, at) {
                self.steps += (at - start) / 2;
                self.stack.push(Frame::Forth { pc, count, at });
                return Some((pc + 1, at));
            }
        }
        self.steps += (at - start) / 2;
        if let Some(Frame::RunMark { end, .. }) = self.stack.last_mut().filter(|_| spreads) {
            *end = at;
        }
        None
    }
}
