//! Choices between ways, what closes them, and going back to the latest that is left.

use super::machine::{Frame, Machine, Step};
use super::memo::Verdict;
use super::program::{Fence, Inst, Pc, Slot};
use super::utf8;

impl Machine<'_> {
    #[inline]
    pub(super) fn split(
        &mut self,
        first: Pc,
        second: Pc,
        starts: (u32, u32),
        slot: Slot,
        at: usize,
    ) -> Step {
        let allow = |index: u32| self.program.starts[index as usize].allow(self.bytes, at);
        match (allow(starts.0), allow(starts.1)) {
            (true, false) => self.recall(slot, at).unwrap_or(Step::To(first, at)),
            (false, true) => self.recall(slot, at).unwrap_or(Step::To(second, at)),
            (false, false) => Step::Fail,
            (true, true) => match self.recall(slot, at) {
                Some(step) => step,
                None => {
                    self.stack.push(Frame::Branch { pc: second, at });
                    Step::To(first, at)
                }
            },
        }
    }

    #[inline]
    pub(super) fn choose(&mut self, choice: u32, slot: Slot, at: usize) -> Step {
        let program = self.program;
        let this = &program.choices[choice as usize];
        let table = &program.tables[this.table as usize];
        let left = table[self.bytes.get(at).map_or(129, |&byte| usize::from(byte.min(128)))];
        if left == 0 {
            return Step::Fail;
        }
        if let Some(step) = self.recall(slot, at) {
            return step;
        }
        let rest = left & (left - 1);
        if rest != 0 {
            self.stack.push(Frame::Branches { choice, at, left: rest });
        }
        Step::To(this.targets[left.trailing_zeros() as usize], at)
    }

    pub(super) fn open(&mut self, pc: Pc, slot: Slot, at: usize) -> Step {
        if let Some(step) = self.recall(slot, at) {
            return step;
        }
        self.fences.push(self.stack.len());
        self.stack.push(Frame::Fence { pc, at });
        Step::Next(at)
    }

    /// The inside of a fence matches: forget its other ways.
    pub(super) fn close(&mut self, fence: Fence, at: usize) -> Step {
        let Some(index) = self.fences.pop() else { return Step::Fail };
        let Some(&Frame::Fence { at: start, .. }) = self.stack.get(index) else { return Step::Fail };
        if fence != Fence::Atomic && self.memo.is_some() {
            self.remember_matches(index + 1);
        }
        match fence {
            Fence::NegatedLook => {
                self.undo_registers(index);
                Step::Fail
            }
            Fence::Look => {
                self.cut(index);
                Step::Next(start)
            }
            Fence::Atomic => {
                self.cut(index);
                Step::Next(at)
            }
        }
    }

    /// Take ways from the stack; what undoes registers stays.
    fn cut(&mut self, index: usize) {
        if let Some(&Frame::Limit { end }) = self.stack.get(index + 1) {
            self.limit_to(end);
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

    fn undo_registers(&mut self, index: usize) {
        while self.stack.len() > index {
            match self.stack.pop() {
                Some(Frame::Register { register, place }) => self.registers[register as usize] = place,
                Some(Frame::Limit { end }) => {
                    self.limit_to(end);
                }
                _ => {}
            }
        }
    }

    pub(super) fn set_register(&mut self, register: u32, at: usize) {
        let place = std::mem::replace(&mut self.registers[register as usize], at);
        self.stack.push(Frame::Register { register, place });
    }

    pub(super) fn fence_start(&self) -> Option<usize> {
        match self.stack.get(*self.fences.last()?)? {
            Frame::Fence { at, .. } => Some(*at),
            _ => None,
        }
    }

    /// Go `min` characters back, and later up to `max`.
    pub(super) fn step_back(&mut self, pc: Pc, min: u32, max: u32, at: usize) -> Step {
        let end = self.limit_to(at);
        self.stack.push(Frame::Limit { end });
        let mut start = at;
        for _ in 0..min {
            let Some(before) = utf8::before(self.bytes, start) else { return Step::Fail };
            start = before;
        }
        self.steps += min as usize / 4;
        if max > min {
            self.stack.push(Frame::Further { pc: pc + 1, at: start, left: max - min });
        }
        Step::Next(start)
    }

    /// The latest way that is left.
    #[inline]
    pub(super) fn back(&mut self) -> Option<(Pc, usize)> {
        loop {
            self.steps += 1;
            match self.stack.pop()? {
                Frame::Branch { pc, at } => return Some((pc, at)),
                Frame::Branches { choice, at, left } => {
                    let rest = left & (left - 1);
                    if rest != 0 {
                        self.stack.push(Frame::Branches { choice, at, left: rest });
                    }
                    let targets = &self.program.choices[choice as usize].targets;
                    return Some((targets[left.trailing_zeros() as usize], at));
                }
                Frame::Back { pc, low, at } => {
                    if let Some(there) = self.give_back(pc, low, at) {
                        return Some(there);
                    }
                }
                Frame::Forth { pc, count, at } => {
                    if let Some(there) = self.take_more(pc, count, at) {
                        return Some(there);
                    }
                }
                Frame::Further { pc, at, left } => {
                    if let Some(start) = utf8::before(self.bytes, at) {
                        if left > 1 {
                            self.stack.push(Frame::Further { pc, at: start, left: left - 1 });
                        }
                        return Some((pc, start));
                    }
                }
                Frame::Limit { end } => {
                    self.limit_to(end);
                }
                Frame::Register { register, place } => self.registers[register as usize] = place,
                Frame::Fence { pc, at } => {
                    self.fences.pop();
                    if let Some(&Inst::Open { fence: Fence::NegatedLook, end, .. }) =
                        self.program.code.get(pc as usize)
                    {
                        return Some((end + 1, at));
                    }
                }
                Frame::Mark { slot, at } => self.remember(slot, at, at, Verdict::Fails),
                Frame::RunMark { slot, at, end } => self.remember(slot, at + 1, end, Verdict::Fails),
            }
        }
    }
}
