//! Alternatives, atomic regions and backtracking.

use piecework_unicode::previous_char_start;

use crate::matcher::memo::MemoEntry;
use crate::matcher::{Frame, Matcher, Outcome};
use crate::program::{AtomicKind, Greediness, Inst, MemoPoint, Pc, SetRun, NO_MEMO_POINT};

impl Matcher<'_> {
    /// Run `Inst::Split`. Push a frame only if both branches can match.
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

    /// Run `Inst::Alternation`. Push a frame only if several alternatives can match.
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

impl Matcher<'_> {
    /// Return the memoized outcome of an instruction. If there is none, push a frame that records a failure.
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

    /// Return a memoized entry.
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
