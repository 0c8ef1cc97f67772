//! Checks that all indices in a program are in range. The matcher relies on it.

use crate::program::{Alternation, Inst, MemoPoint, Pc, Program, NO_MEMO_POINT};

impl Program {
    /// Return whether every index is in range. The compiler asserts this for every program; linear in its
    /// size.
    pub(crate) fn is_valid(&self) -> bool {
        let has_match = self.code.iter().any(|inst| matches!(inst, Inst::Match));
        let layout = &self.memo_layout;
        has_match
            && self.code.iter().all(|inst| self.is_inst_valid(inst))
            && self.alternations.iter().all(|alternation| self.is_alternation_valid(alternation))
            && layout.points.iter().all(|&(base, loops)| {
                let around = layout.loops.get(loops as usize);
                around.is_some_and(|around| base as usize + around.len() < layout.slots as usize)
            })
            && layout.loops.iter().flatten().all(|&register| self.has_register(register))
    }

    fn is_inst_valid(&self, inst: &Inst) -> bool {
        match *inst {
            Inst::Match
            | Inst::Byte(_)
            | Inst::Text(_)
            | Inst::Assert(_)
            | Inst::AtomicEnd(_)
            | Inst::LookBehindEnd => true,
            Inst::Set(set) | Inst::SetBack(set) | Inst::Peek { set, .. } => self.has_set(set),
            Inst::Jump(to) => self.has_code(to),
            Inst::Split { first, second, lead_bytes, memo_point } => {
                self.has_code(first)
                    && self.has_code(second)
                    && self.has_lead_bytes(lead_bytes.0)
                    && self.has_lead_bytes(lead_bytes.1)
                    && self.has_memo_point(memo_point)
            }
            Inst::Alternation { alternation, memo_point } => {
                self.alternations.len() > alternation as usize && self.has_memo_point(memo_point)
            }
            Inst::SetRun { set, follow, memo_point, .. } => {
                self.has_set(set) && self.has_lead_bytes(follow) && self.has_memo_point(memo_point)
            }
            Inst::AtomicStart { end, memo_point, .. } => {
                self.has_atomic_end(end) && self.has_memo_point(memo_point)
            }
            Inst::StepBack { min, max } => min <= max,
            Inst::IterationStart { register } | Inst::Save { register } => self.has_register(register),
            Inst::IterationEnd { register, exit } => self.has_register(register) && self.has_code(exit),
            Inst::Reference { register } => self.has_register(register + 1),
        }
    }

    /// Return whether the dispatch table allows only existing alternatives.
    fn is_alternation_valid(&self, alternation: &Alternation) -> bool {
        let table = self.dispatch_tables.get(alternation.table as usize);
        table.is_some_and(|table| {
            let named = table.iter().fold(0, |all, bits| all | bits);
            u64::BITS - named.leading_zeros() <= alternation.targets.len() as u32
        }) && alternation.targets.iter().all(|&target| self.has_code(target))
    }

    fn has_code(&self, pc: Pc) -> bool {
        self.code.len() > pc as usize
    }

    fn has_atomic_end(&self, pc: Pc) -> bool {
        matches!(self.code.get(pc as usize), Some(Inst::AtomicEnd(_)))
    }

    fn has_set(&self, set: u32) -> bool {
        self.sets.len() > set as usize
    }

    fn has_lead_bytes(&self, lead_bytes: u32) -> bool {
        self.lead_bytes.len() > lead_bytes as usize
    }

    fn has_memo_point(&self, point: MemoPoint) -> bool {
        point == NO_MEMO_POINT || self.memo_layout.points.len() > point as usize
    }

    fn has_register(&self, register: u32) -> bool {
        self.registers > register as usize
    }
}

#[cfg(test)]
mod tests {
    use crate::program::Inst;
    use crate::{compile, parse};

    #[test]
    fn a_program_that_jumps_beyond_its_end_is_not_valid() {
        let source = r"(x)(?:ab|c+|[^d])*(?=e)\1?";
        let mut program = compile::compile(parse::parse(source).unwrap()).unwrap();
        assert!(program.is_valid());
        let end = program.code.len();
        program.code[0] = Inst::Jump(end as u32);
        assert!(!program.is_valid());
    }
}
