//! Alternatives, atomic regions and backtracking.

use piecework_unicode::previous_char_start;

use crate::matcher::memo::MemoEntry;
use crate::matcher::{Frame, Matcher, Outcome};
use crate::program::{AtomicKind, Inst, MemoPoint, Pc};

impl Matcher<'_> {
    /// Run `Inst::Split`. Pushes a frame only if both branches can match.
    #[inline]
    pub(crate) fn split(
        &mut self,
        first: Pc,
        second: Pc,
        lead_bytes: (u32, u32),
        memo_point: MemoPoint,
        at: usize,
    ) -> Outcome {
        let can_match = |index: u32| self.program.lead_bytes[index as usize].matches(self.bytes, at);
        match (can_match(lead_bytes.0), can_match(lead_bytes.1)) {
            (true, false) => self.memo_lookup(memo_point, at).unwrap_or(Outcome::Jump(first, at)),
            (false, true) => self.memo_lookup(memo_point, at).unwrap_or(Outcome::Jump(second, at)),
            (false, false) => Outcome::Fail,
            (true, true) => match self.memo_lookup(memo_point, at) {
                Some(outcome) => outcome,
                None => {
                    self.stack.push(Frame::Branch { pc: second, at });
                    Outcome::Jump(first, at)
                }
            },
        }
    }

    /// Run `Inst::Alternation`. Pushes a frame only if several alternatives can match.
    #[inline]
    pub(crate) fn alternation(&mut self, alternation: u32, memo_point: MemoPoint, at: usize) -> Outcome {
        let program = self.program;
        let this = &program.alternations[alternation as usize];
        let table = &program.dispatch_tables[this.table as usize];
        let remaining = table[self.bytes.get(at).map_or(129, |&byte| usize::from(byte.min(128)))];
        if remaining == 0 {
            return Outcome::Fail;
        }
        if let Some(outcome) = self.memo_lookup(memo_point, at) {
            return outcome;
        }
        let rest = remaining & (remaining - 1);
        if rest != 0 {
            self.stack.push(Frame::Alternatives { alternation, at, remaining: rest });
        }
        Outcome::Jump(this.targets[remaining.trailing_zeros() as usize], at)
    }

    /// Run `Inst::AtomicStart`.
    pub(crate) fn enter_atomic(&mut self, pc: Pc, memo_point: MemoPoint, at: usize) -> Outcome {
        if let Some(outcome) = self.memo_lookup(memo_point, at) {
            return outcome;
        }
        self.atomic_starts.push(self.stack.len());
        self.stack.push(Frame::AtomicStart { pc, at });
        Outcome::Next(at)
    }

    /// Run `Inst::AtomicEnd`: discard the other alternatives of the region.
    pub(crate) fn leave_atomic(&mut self, kind: AtomicKind, at: usize) -> Outcome {
        let Some(index) = self.atomic_starts.pop() else { return Outcome::Fail };
        let Some(&Frame::AtomicStart { at: start, .. }) = self.stack.get(index) else {
            return Outcome::Fail;
        };
        if kind != AtomicKind::Group && self.memo.is_some() {
            self.memo_insert_matches(index + 1);
        }
        match kind {
            AtomicKind::NegatedLookAround => {
                self.restore_state(index);
                Outcome::Fail
            }
            AtomicKind::LookAround => {
                self.discard_alternatives(index);
                Outcome::Next(start)
            }
            AtomicKind::Group => {
                self.discard_alternatives(index);
                Outcome::Next(at)
            }
        }
    }

    /// Remove the frames from `index` on, except those that restore registers.
    fn discard_alternatives(&mut self, index: usize) {
        if let Some(&Frame::TextEnd { end }) = self.stack.get(index + 1) {
            self.set_text_end(end);
        }
        if self.registers.is_empty() {
            self.stack.truncate(index);
            return;
        }
        let mut kept = index;
        for from in index..self.stack.len() {
            if let frame @ Frame::Register { .. } = self.stack[from] {
                self.stack[kept] = frame;
                kept += 1;
            }
        }
        self.steps += (self.stack.len() - index) / 4;
        self.stack.truncate(kept);
    }

    /// Remove the frames from `index` on, and restore registers and the end of the text from them.
    fn restore_state(&mut self, index: usize) {
        while self.stack.len() > index {
            match self.stack.pop() {
                Some(Frame::Register { register, position }) => {
                    self.registers[register as usize] = position;
                }
                Some(Frame::TextEnd { end }) => {
                    self.set_text_end(end);
                }
                _ => {}
            }
        }
    }

    /// Store a position in a register, with a frame that restores it.
    pub(crate) fn set_register(&mut self, register: u32, at: usize) {
        let position = std::mem::replace(&mut self.registers[register as usize], at);
        self.stack.push(Frame::Register { register, position });
    }

    /// Return the position where the innermost atomic region started.
    pub(crate) fn atomic_start(&self) -> Option<usize> {
        match self.stack.get(*self.atomic_starts.last()?)? {
            Frame::AtomicStart { at, .. } => Some(*at),
            _ => None,
        }
    }

    /// Run `Inst::StepBack`: step back `min` characters, and push a frame for further ones.
    pub(crate) fn step_back(&mut self, pc: Pc, min: u32, max: u32, at: usize) -> Outcome {
        let end = self.set_text_end(at);
        self.stack.push(Frame::TextEnd { end });
        let mut start = at;
        for _ in 0..min {
            let Some(before) = previous_char_start(self.bytes, start) else { return Outcome::Fail };
            start = before;
        }
        self.steps += min as usize / 4;
        if max > min {
            self.stack.push(Frame::LookBehindStart { pc: pc + 1, at: start, remaining: max - min });
        }
        Outcome::Next(start)
    }

    /// Return to the latest alternative. `None` if there is none.
    #[inline]
    pub(crate) fn backtrack(&mut self) -> Option<(Pc, usize)> {
        loop {
            self.steps += 1;
            match self.stack.pop()? {
                Frame::Branch { pc, at } => return Some((pc, at)),
                Frame::Alternatives { alternation, at, remaining } => {
                    let rest = remaining & (remaining - 1);
                    if rest != 0 {
                        self.stack.push(Frame::Alternatives { alternation, at, remaining: rest });
                    }
                    let targets = &self.program.alternations[alternation as usize].targets;
                    return Some((targets[remaining.trailing_zeros() as usize], at));
                }
                Frame::GreedyRun { pc, min_end, end } => {
                    if let Some(there) = self.shorten_run(pc, min_end, end) {
                        return Some(there);
                    }
                }
                Frame::LazyRun { pc, count, end } => {
                    if let Some(there) = self.lengthen_run(pc, count, end) {
                        return Some(there);
                    }
                }
                Frame::LookBehindStart { pc, at, remaining } => {
                    if let Some(start) = previous_char_start(self.bytes, at) {
                        if remaining > 1 {
                            self.stack.push(Frame::LookBehindStart {
                                pc,
                                at: start,
                                remaining: remaining - 1,
                            });
                        }
                        return Some((pc, start));
                    }
                }
                Frame::TextEnd { end } => {
                    self.set_text_end(end);
                }
                Frame::Register { register, position } => self.registers[register as usize] = position,
                Frame::AtomicStart { pc, at } => {
                    self.atomic_starts.pop();
                    if let Some(&Inst::AtomicStart { kind: AtomicKind::NegatedLookAround, end, .. }) =
                        self.program.code.get(pc as usize)
                    {
                        return Some((end + 1, at));
                    }
                }
                Frame::MemoizeFailure { slot, at } => self.memo_insert(slot, at, at, MemoEntry::Fails),
                Frame::MemoizeRunFailure { slot, start, end } => {
                    self.memo_insert(slot, start + 1, end, MemoEntry::Fails);
                }
            }
        }
    }
}
