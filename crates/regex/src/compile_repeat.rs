//! Makes instructions of repetitions, so that rounds that match the empty text end as in Oniguruma.

use super::ast::{Node, Repeat};
use super::compile::{Compiler, Next};
use super::error::CompileError;
use super::first::First;
use super::measure::{plan, Plan};
use super::program::{Giving, Inst, Pc};

/// Characters that a run must have and that are instructions of their own, at most.
const MAX_SINGLES: u32 = 8;

impl Compiler {
    pub(super) fn repeat(&mut self, repeat: &Repeat, next: &Next) -> Result<(), CompileError> {
        if self.is_run(repeat) {
            return self.run(repeat, next);
        }
        let plan = plan(repeat);
        if plan == Plan::Nothing {
            return Ok(());
        }
        let body = First::of(&repeat.body, &mut self.parsed.sets);
        let round = Round {
            checked: repeat.body.is_nullable(&self.parsed.nullable_groups),
            register: self.registers,
            starts: (self.starts(&body.then(&next.first)), self.starts(&next.first)),
            next: Next { first: body.or(&next.first), accepts: false },
        };
        self.registers += u32::from(round.checked);
        match plan {
            Plan::Nothing => Ok(()),
            Plan::CopiesAndLoop => {
                self.copies(repeat, &round)?;
                let mut exits = Vec::new();
                self.endless(repeat, &round, &mut exits)?;
                self.land(&exits);
                Ok(())
            }
            Plan::Copies => self.optional_copies(repeat, &round),
            Plan::Counted => self.counted(repeat, &round),
        }
    }

    /// Whether one set is repeated, reading forward.
    pub(super) fn is_run(&self, repeat: &Repeat) -> bool {
        let single = match &repeat.body {
            Node::Set(_) => true,
            Node::Text(text) => text.len() == 1,
            _ => false,
        };
        single && !self.backward
    }

    pub(super) fn run(&mut self, repeat: &Repeat, next: &Next) -> Result<(), CompileError> {
        let set = match &repeat.body {
            Node::Set(set) => *set,
            Node::Text(text) => self.parsed.sets.id_of_char(text.first().copied().unwrap_or('\0')),
            _ => return Ok(()),
        };
        let (mut min, mut max) = (repeat.min, repeat.max.unwrap_or(u32::MAX));
        while max == u32::MAX && (2..=MAX_SINGLES).contains(&min) {
            self.emit(Inst::Set(set))?;
            min -= 1;
        }
        let giving = match (repeat.greedy, next.accepts) {
            (false, true) => {
                max = min;
                Giving::Nothing
            }
            _ if min == max || next.accepts || self.excludes(set, next) => Giving::Nothing,
            (true, _) => Giving::Back,
            (false, _) => Giving::Forth,
        };
        if max == 0 {
            return Ok(());
        }
        let follow = self.starts(&next.first);
        let slot = self.slot();
        self.emit(Inst::Run { set, min, max, giving, follow, slot }).map(drop)
    }

    /// As many plain copies as there must be.
    fn copies(&mut self, repeat: &Repeat, round: &Round) -> Result<(), CompileError> {
        for _ in 0..repeat.min {
            let start = self.pc();
            self.node(&repeat.body, &round.next)?;
            if self.pc() == start {
                break;
            }
        }
        Ok(())
    }

    /// Copies that must be, then each of the others only if the one before it was taken.
    fn optional_copies(&mut self, repeat: &Repeat, round: &Round) -> Result<(), CompileError> {
        self.copies(repeat, round)?;
        let mut exits = Vec::new();
        for _ in repeat.min..repeat.max.unwrap_or(0) {
            exits.push(self.split(repeat.greedy, round)?);
            self.node(&repeat.body, &round.next)?;
        }
        self.land(&exits);
        Ok(())
    }

    /// Rounds that end the whole when they match the empty text.
    fn counted(&mut self, repeat: &Repeat, round: &Round) -> Result<(), CompileError> {
        let mut exits = Vec::new();
        for count in 0..repeat.max.unwrap_or(repeat.min) {
            let start = self.pc();
            if count >= repeat.min {
                exits.push(self.split(repeat.greedy, round)?);
            }
            self.round(repeat, round, &mut exits)?;
            if self.pc() == start {
                break;
            }
        }
        if repeat.max.is_none() {
            self.endless(repeat, round, &mut exits)?;
        }
        self.land(&exits);
        Ok(())
    }

    /// A loop.
    fn endless(&mut self, repeat: &Repeat, round: &Round, exits: &mut Vec<Pc>) -> Result<(), CompileError> {
        let start = self.split(repeat.greedy, round)?;
        exits.push(start);
        self.round(repeat, round, exits)?;
        self.emit(Inst::Jump(start)).map(drop)
    }

    fn round(&mut self, repeat: &Repeat, round: &Round, exits: &mut Vec<Pc>) -> Result<(), CompileError> {
        if !round.checked {
            return self.node(&repeat.body, &round.next);
        }
        let register = round.register;
        self.emit(Inst::Begin { register })?;
        self.loops.push(register);
        self.node(&repeat.body, &round.next)?;
        self.loops.pop();
        exits.push(self.emit(Inst::End { register, exit: 0 })?);
        Ok(())
    }

    /// One more round, or out to where the jump will land.
    fn split(&mut self, greedy: bool, round: &Round) -> Result<Pc, CompileError> {
        let slot = self.slot();
        let body = self.pc() + 1;
        let (inside, outside) = round.starts;
        self.emit(match greedy {
            true => Inst::Split { first: body, second: Pc::MAX, starts: (inside, outside), slot },
            false => Inst::Split { first: Pc::MAX, second: body, starts: (outside, inside), slot },
        })
    }
}

/// What all rounds of a repetition share.
struct Round {
    /// Whether a round can match the empty text.
    checked: bool,
    register: u32,
    /// What can come first inside and outside.
    starts: (u32, u32),
    next: Next,
}
