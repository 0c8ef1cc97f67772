//! Whether the numbers in a program are those of things that it has. The matcher relies on it.

use super::program::{Choice, Inst, Pc, Program, Slot, NO_SLOT};

impl Program {
    /// Whether every number is in range. Asserted of every compiled program; linear in its size.
    pub(super) fn is_sound(&self) -> bool {
        let has_match = self.code.iter().any(|inst| matches!(inst, Inst::Match));
        let points = &self.points;
        has_match
            && self.code.iter().all(|inst| self.is_inst_sound(inst))
            && self.choices.iter().all(|choice| self.is_choice_sound(choice))
            && points.bases.iter().all(|&(base, loops)| {
                let around = points.loops.get(loops as usize);
                around.is_some_and(|around| base as usize + around.len() < points.slots as usize)
            })
            && points.loops.iter().flatten().all(|&register| self.has_register(register))
    }

    fn is_inst_sound(&self, inst: &Inst) -> bool {
        match *inst {
            Inst::Match
            | Inst::Byte(_)
            | Inst::Text(_)
            | Inst::Assert(_)
            | Inst::Close(_)
            | Inst::Return => true,
            Inst::Set(set) | Inst::SetBack(set) | Inst::Peek { set, .. } => self.has_set(set),
            Inst::Jump(to) => self.has_code(to),
            Inst::Split { first, second, starts, slot } => {
                self.has_code(first)
                    && self.has_code(second)
                    && self.has_starts(starts.0)
                    && self.has_starts(starts.1)
                    && self.has_slot(slot)
            }
            Inst::Choose { choice, slot } => self.choices.len() > choice as usize && self.has_slot(slot),
            Inst::Run { set, follow, slot, .. } => {
                self.has_set(set) && self.has_starts(follow) && self.has_slot(slot)
            }
            Inst::Open { end, slot, .. } => self.has_fence_end(end) && self.has_slot(slot),
            Inst::StepBack { min, max } => min <= max,
            Inst::Begin { register } | Inst::Save { register } => self.has_register(register),
            Inst::End { register, exit } => self.has_register(register) && self.has_code(exit),
            Inst::Reference { register } => self.has_register(register + 1),
        }
    }

    /// A table names no alternative that is not there.
    fn is_choice_sound(&self, choice: &Choice) -> bool {
        let table = self.tables.get(choice.table as usize);
        table.is_some_and(|table| {
            let named = table.iter().fold(0, |all, bits| all | bits);
            u64::BITS - named.leading_zeros() <= choice.targets.len() as u32
        }) && choice.targets.iter().all(|&target| self.has_code(target))
    }

    fn has_code(&self, pc: Pc) -> bool {
        self.code.len() > pc as usize
    }

    fn has_fence_end(&self, pc: Pc) -> bool {
        matches!(self.code.get(pc as usize), Some(Inst::Close(_)))
    }

    fn has_set(&self, set: u32) -> bool {
        self.sets.len() > set as usize
    }

    fn has_starts(&self, starts: u32) -> bool {
        self.starts.len() > starts as usize
    }

    fn has_slot(&self, slot: Slot) -> bool {
        slot == NO_SLOT || self.points.bases.len() > slot as usize
    }

    fn has_register(&self, register: u32) -> bool {
        self.registers > register as usize
    }
}

#[cfg(test)]
mod tests {
    use crate::program::Inst;
    use crate::{compile, oniguruma};

    #[test]
    fn a_program_that_jumps_beyond_its_end_is_not_sound() {
        let source = r"(x)(?:ab|c+|[^d])*(?=e)\1?";
        let mut program = compile::compile(oniguruma::read(source).unwrap()).unwrap();
        assert!(program.is_sound());
        let end = program.code.len();
        program.code[0] = Inst::Jump(end as u32);
        assert!(!program.is_sound());
    }
}
