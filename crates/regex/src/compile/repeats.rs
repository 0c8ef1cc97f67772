//! Compiles repetitions. Iterations that match the empty text end as in Oniguruma.

use crate::ast::{Node, Repeat};
use crate::compile::expansion::{expansion, Expansion};
use crate::compile::first_chars::FirstChars;
use crate::compile::{Compiler, Continuation};
use crate::error::CompileError;
use crate::program::{Greediness, Inst, Pc};

/// The largest least count of a run that is unrolled into single `Set` instructions.
const MAX_UNROLLED: u32 = 8;

impl Compiler {
    /// Compile a repetition.
    pub(crate) fn repeat(&mut self, repeat: &Repeat, next: &Continuation) -> Result<(), CompileError> {
        if self.is_set_run(repeat) {
            return self.set_run(repeat, next);
        }
        let expansion = expansion(repeat);
        if expansion == Expansion::Empty {
            return Ok(());
        }
        let body = FirstChars::of(&repeat.body, &mut self.parsed.sets);
        let iteration = Iteration {
            may_be_empty: repeat.body.is_nullable(&self.parsed.nullable_groups),
            register: self.registers,
            lead_bytes: (self.lead_bytes(&body.then(&next.first)), self.lead_bytes(&next.first)),
            next: Continuation { first: body.or(&next.first), accepts: false },
        };
        self.registers += u32::from(iteration.may_be_empty);
        match expansion {
            Expansion::Empty => Ok(()),
            Expansion::CopiesThenLoop => {
                self.required_copies(repeat, &iteration)?;
                let mut exits = Vec::new();
                self.unbounded_loop(repeat, &iteration, &mut exits)?;
                self.patch_jumps(&exits);
                Ok(())
            }
            Expansion::NestedOptional => self.optional_copies(repeat, &iteration),
            Expansion::Counted => self.counted(repeat, &iteration),
        }
    }

    /// Return whether a repetition reads a run of one set, forward.
    pub(crate) fn is_set_run(&self, repeat: &Repeat) -> bool {
        let single = match &repeat.body {
            Node::Set(_) => true,
            Node::Text(text) => text.len() == 1,
            _ => false,
        };
        single && !self.backward
    }

    /// Compile a run of one set. It is possessive when what follows cannot start with a character of the
    /// set.
    pub(crate) fn set_run(&mut self, repeat: &Repeat, next: &Continuation) -> Result<(), CompileError> {
        let set = match &repeat.body {
            Node::Set(set) => *set,
            Node::Text(text) => self.parsed.sets.id_of_char(text.first().copied().unwrap_or('\0')),
            _ => return Ok(()),
        };
        let (mut min, mut max) = (repeat.min, repeat.max.unwrap_or(u32::MAX));
        while max == u32::MAX && (2..=MAX_UNROLLED).contains(&min) {
            self.emit(Inst::Set(set))?;
            min -= 1;
        }
        let greediness = match (repeat.greedy, next.accepts) {
            (false, true) => {
                max = min;
                Greediness::Possessive
            }
            _ if min == max || next.accepts || self.excludes(set, next) => Greediness::Possessive,
            (true, _) => Greediness::Greedy,
            (false, _) => Greediness::Lazy,
        };
        if max == 0 {
            return Ok(());
        }
        let follow = self.lead_bytes(&next.first);
        let memo_point = self.memo_point();
        self.emit(Inst::SetRun { set, min, max, greediness, follow, memo_point }).map(drop)
    }

    /// Compile `min` copies of the body.
    fn required_copies(&mut self, repeat: &Repeat, iteration: &Iteration) -> Result<(), CompileError> {
        for _ in 0..repeat.min {
            let start = self.pc();
            self.node(&repeat.body, &iteration.next)?;
            if self.pc() == start {
                break;
            }
        }
        Ok(())
    }

    /// Compile the required copies, then optional ones, each tried only after the one before it.
    fn optional_copies(&mut self, repeat: &Repeat, iteration: &Iteration) -> Result<(), CompileError> {
        self.required_copies(repeat, iteration)?;
        let mut exits = Vec::new();
        for _ in repeat.min..repeat.max.unwrap_or(0) {
            exits.push(self.split(repeat.greedy, iteration)?);
            self.node(&repeat.body, &iteration.next)?;
        }
        self.patch_jumps(&exits);
        Ok(())
    }

    /// Compile copies of which each leaves the repetition when it matches the empty text.
    fn counted(&mut self, repeat: &Repeat, iteration: &Iteration) -> Result<(), CompileError> {
        let mut exits = Vec::new();
        for count in 0..repeat.max.unwrap_or(repeat.min) {
            let start = self.pc();
            if count >= repeat.min {
                exits.push(self.split(repeat.greedy, iteration)?);
            }
            self.iteration(repeat, iteration, &mut exits)?;
            if self.pc() == start {
                break;
            }
        }
        if repeat.max.is_none() {
            self.unbounded_loop(repeat, iteration, &mut exits)?;
        }
        self.patch_jumps(&exits);
        Ok(())
    }

    /// Compile a loop. Its exits are added to `exits`.
    fn unbounded_loop(
        &mut self,
        repeat: &Repeat,
        iteration: &Iteration,
        exits: &mut Vec<Pc>,
    ) -> Result<(), CompileError> {
        let start = self.split(repeat.greedy, iteration)?;
        exits.push(start);
        self.iteration(repeat, iteration, exits)?;
        self.emit(Inst::Jump(start)).map(drop)
    }

    /// Compile one iteration, with a check for progress if it can match the empty text.
    fn iteration(
        &mut self,
        repeat: &Repeat,
        iteration: &Iteration,
        exits: &mut Vec<Pc>,
    ) -> Result<(), CompileError> {
        if !iteration.may_be_empty {
            return self.node(&repeat.body, &iteration.next);
        }
        let register = iteration.register;
        self.emit(Inst::IterationStart { register })?;
        self.loops.push(register);
        self.node(&repeat.body, &iteration.next)?;
        self.loops.pop();
        exits.push(self.emit(Inst::IterationEnd { register, exit: 0 })?);
        Ok(())
    }

    /// Emit the choice between one more iteration and leaving the repetition.
    fn split(&mut self, greedy: bool, iteration: &Iteration) -> Result<Pc, CompileError> {
        let memo_point = self.memo_point();
        let body = self.pc() + 1;
        let (inside, outside) = iteration.lead_bytes;
        self.emit(match greedy {
            true => Inst::Split { first: body, second: Pc::MAX, lead_bytes: (inside, outside), memo_point },
            false => {
                Inst::Split { first: Pc::MAX, second: body, lead_bytes: (outside, inside), memo_point }
            }
        })
    }
}

/// What all iterations of a repetition share.
struct Iteration {
    /// Whether an iteration can match the empty text.
    may_be_empty: bool,
    /// The register for the start of an iteration.
    register: u32,
    /// The lead byte sets of one more iteration and of what follows the repetition.
    lead_bytes: (u32, u32),
    /// What follows an iteration: another one, or what follows the repetition.
    next: Continuation,
}
