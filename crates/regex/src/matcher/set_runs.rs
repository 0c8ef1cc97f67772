//! Runs of characters of one set. A run takes one instruction and at most one frame, whatever its length.

use piecework_unicode::{next_char_start, previous_char_start};

use crate::matcher::{Frame, Matcher, Outcome};
use crate::program::{Greediness, Inst, Pc, SetRun};

impl Matcher<'_> {
    /// Run `Inst::SetRun` without a memo.
    #[inline]
    pub(crate) fn match_run(&mut self, run: &SetRun, pc: Pc, at: usize) -> Outcome {
        let set = &self.program.sets[run.set as usize];
        let most = if run.greediness == Greediness::Lazy { run.min } else { run.max };
        let (end, count) = set.run(self.bytes, at, most);
        self.steps += count as usize / 2;
        if count < run.min {
            return Outcome::Fail;
        }
        self.finish_run(run, pc, at, end, count)
    }

    /// Push the frame of a run that ends at `end` after `count` characters, and continue after it.
    #[inline]
    pub(crate) fn finish_run(
        &mut self,
        run: &SetRun,
        pc: Pc,
        at: usize,
        end: usize,
        count: u32,
    ) -> Outcome {
        match run.greediness {
            Greediness::Possessive => Outcome::Next(end),
            Greediness::Lazy => {
                self.stack.push(Frame::LazyRun { pc, count, end });
                Outcome::Next(end)
            }
            Greediness::Greedy if count == run.min => Outcome::Next(end),
            Greediness::Greedy => {
                let min_end = match run.min {
                    0 => at,
                    1 => next_char_start(self.bytes, at),
                    min => self.program.sets[run.set as usize].run(self.bytes, at, min).0,
                };
                if self.program.lead_bytes[run.follow as usize].matches(self.bytes, end) {
                    self.stack.push(Frame::GreedyRun { pc, min_end, end });
                    return Outcome::Next(end);
                }
                match self.shorten_run(pc, min_end, end) {
                    Some((pc, at)) => Outcome::Jump(pc, at),
                    None => Outcome::Fail,
                }
            }
        }
    }

    /// Shorten a run to the next position where what follows can start.
    pub(crate) fn shorten_run(&mut self, pc: Pc, min_end: usize, end: usize) -> Option<(Pc, usize)> {
        let Some(&Inst::SetRun { follow, .. }) = self.program.code.get(pc as usize) else { return None };
        let lead_bytes = &self.program.lead_bytes[follow as usize];
        let mut at = end;
        while at > min_end {
            at = previous_char_start(self.bytes, at)?;
            if lead_bytes.matches(self.bytes, at) {
                self.steps += (end - at) / 2;
                if at > min_end {
                    self.stack.push(Frame::GreedyRun { pc, min_end, end: at });
                }
                return Some((pc + 1, at));
            }
        }
        self.steps += (end - at) / 2;
        None
    }

    /// Lengthen a run to the next position where what follows can start.
    pub(crate) fn lengthen_run(&mut self, pc: Pc, mut count: u32, start: usize) -> Option<(Pc, usize)> {
        let Some(&Inst::SetRun { set, min, max, follow, memo_point, .. }) =
            self.program.code.get(pc as usize)
        else {
            return None;
        };
        let covers_run = self.memo_covers_run(min, max, memo_point);
        let set = &self.program.sets[set as usize];
        let mut at = start;
        while count < max {
            let Some(len) = set.len_at(self.bytes, at) else { break };
            if covers_run && self.run_fails_from(memo_point, at) {
                break;
            }
            (at, count) = (at + len, count + 1);
            if self.program.lead_bytes[follow as usize].matches(self.bytes, at) {
                self.steps += (at - start) / 2;
                self.stack.push(Frame::LazyRun { pc, count, end: at });
                return Some((pc + 1, at));
            }
        }
        self.steps += (at - start) / 2;
        if let Some(Frame::MemoizeRunFailure { end, .. }) = self.stack.last_mut().filter(|_| covers_run) {
            *end = at;
        }
        None
    }
}
