//! Compiles repetitions. Iterations that match the empty text end as in Oniguruma.

use crate::ast::{Node, Repeat};
use crate::compile::first_chars::FirstChars;
use crate::compile::{Compiler, Continuation};
use crate::program::{Greediness, Inst, Pc};
use crate::CompileError;

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

// How Oniguruma expands repetitions.
//
// The expansion decides what an iteration that matches the empty text does. Oniguruma chooses it by the
// number of instructions that it would generate.

/// Oniguruma unrolls repetitions up to this many instructions.
const EXPAND_LIMIT: u64 = 10;

/// The forms that Oniguruma gives to a repetition. They differ where the body matches the empty text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expansion {
    /// It is dropped.
    Empty,
    /// `min` copies, then a loop.
    CopiesThenLoop,
    /// `min` copies, then optional copies within each other.
    NestedOptional,
    /// A counted loop. An iteration that matches the empty text leaves it.
    Counted,
}

/// Return the form of a repetition.
pub(crate) fn expansion(repeat: &Repeat) -> Expansion {
    expansion_of_size(repeat, instruction_count(&repeat.body))
}

/// Return the form of a repetition whose body has `size` instructions.
fn expansion_of_size(repeat: &Repeat, size: u64) -> Expansion {
    let min = u64::from(repeat.min);
    match repeat.max {
        _ if size == 0 => Expansion::Empty,
        None if repeat.min == 1 && size > EXPAND_LIMIT => Expansion::Counted,
        None if repeat.min <= 1 || size.saturating_mul(min) <= EXPAND_LIMIT => Expansion::CopiesThenLoop,
        Some(0) => Expansion::Empty,
        Some(1) if repeat.greedy || repeat.min == 0 => Expansion::NestedOptional,
        Some(max) if repeat.greedy && (size + 1).saturating_mul(u64::from(max)) <= EXPAND_LIMIT => {
            Expansion::NestedOptional
        }
        None | Some(_) => Expansion::Counted,
    }
}

/// Return the number of instructions that Oniguruma generates for a node.
fn instruction_count(node: &Node) -> u64 {
    match node {
        Node::Empty => 0,
        Node::Set(_) | Node::Anchor(_) | Node::Reference(_) => 1,
        Node::Text(text) => text.chunk_by(|one, next| one.len_utf8() == next.len_utf8()).map(|_| 1).sum(),
        Node::Concat(nodes) => {
            nodes.iter().fold(0, |sum, node| sum.saturating_add(instruction_count(node)))
        }
        Node::Alternate(nodes) => nodes
            .iter()
            .fold(2 * (nodes.len() as u64 - 1), |sum, node| sum.saturating_add(instruction_count(node))),
        Node::Repeat(repeat) => repeat_instruction_count(repeat),
        Node::Capture(_, body) | Node::Atomic(body) => instruction_count(body).saturating_add(2),
        Node::Look(look) => {
            let around = match (look.behind, look.negate, look.length.1 == Some(look.length.0)) {
                (false, false, _) => 2,
                (false, true, _) => 5,
                (true, false, true) => 3,
                (true, true, true) => 6,
                (true, false, false) => 12,
                (true, true, false) => 14,
            };
            instruction_count(&look.body).saturating_add(around)
        }
    }
}

/// Return the number of instructions that Oniguruma generates for a repetition.
fn repeat_instruction_count(repeat: &Repeat) -> u64 {
    let body = instruction_count(&repeat.body);
    let checked = body.saturating_add(if repeat.body.is_nullable(&[]) { 2 } else { 0 });
    let min = u64::from(repeat.min);
    match expansion_of_size(repeat, body) {
        Expansion::Empty => 0,
        Expansion::CopiesThenLoop => body.saturating_mul(min).saturating_add(checked + 2),
        Expansion::NestedOptional if repeat.greedy => {
            let most = u64::from(repeat.max.unwrap_or(0));
            body.saturating_mul(min).saturating_add((body + 1).saturating_mul(most - min))
        }
        Expansion::NestedOptional => body.saturating_add(2),
        Expansion::Counted if repeat.max.is_none() && repeat.min == 1 => checked.saturating_add(3),
        Expansion::Counted => checked.saturating_add(2),
    }
}
