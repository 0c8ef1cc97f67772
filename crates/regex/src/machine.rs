//! Matches a program: back-tracking with a stack of its own, every step counted.
//!
//! What takes longer than an instruction should (long texts, runs, many registers) counts as several steps.
//! Numbers in instructions index the tables of the program without being asked for: the compiler alone makes
//! them, and `Program::is_sound` is asserted of every program. Places in the text are asked for.

use super::error::StepLimitExceeded;
use super::memo::Memo;
use super::program::{Inst, Pc, Program};
use super::runs::Run;
use super::utf8;

/// A place that no text has.
pub(super) const NOWHERE: usize = usize::MAX;

/// Steps after which verdicts begin to be remembered: so many, and so many for each byte.
const UNREMEMBERED: (usize, usize) = (100_000, 16);

/// Frames that may wait: so many, and one for each byte.
const MAX_FRAMES: usize = 3 << 20;

/// What is done when a way fails, the latest first.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// Try another way.
    Branch { pc: Pc, at: usize },
    /// Try the alternatives whose bits are left.
    Branches { choice: u32, at: usize, left: u64 },
    /// Let a run that ends at a place give back a character.
    Back { pc: Pc, low: usize, at: usize },
    /// Let a run of so many characters take one more.
    Forth { pc: Pc, count: u32, at: usize },
    /// Look-behind begins a character further back, at most so many times.
    Further { pc: Pc, at: usize, left: u32 },
    /// Let the text end again where it did before look-behind.
    Limit { end: usize },
    /// Give a register the place it had.
    Register { register: u32, place: usize },
    /// Where a group that is closed as one began.
    Fence { pc: Pc, at: usize },
    /// Every way from a place has failed.
    Mark { slot: u32, at: usize },
    /// Every way of a run has failed, and so would a run from any place within it.
    RunMark { slot: u32, at: usize, end: usize },
}

/// Where to go on.
pub(super) enum Step {
    Next(usize),
    To(Pc, usize),
    Fail,
    Done(usize),
}

/// The state of matching one text.
pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) text: &'a [u8],
    /// The text as far as it may be read: in look-behind, to where that began.
    pub(super) bytes: &'a [u8],
    pub(super) stack: Vec<Frame>,
    /// Where in the stack the fences are.
    pub(super) fences: Vec<usize>,
    pub(super) registers: Vec<usize>,
    pub(super) memo: Option<Memo>,
    pub(super) search_start: usize,
    pub(super) steps: usize,
    limit: usize,
}

impl<'a> Machine<'a> {
    /// For all searches of one text, which may together take so many steps.
    pub(super) fn new(program: &'a Program, text: &'a str, limit: usize) -> Self {
        Self {
            program,
            text: text.as_bytes(),
            bytes: text.as_bytes(),
            stack: Vec::new(),
            fences: Vec::new(),
            registers: vec![NOWHERE; program.registers],
            memo: None,
            search_start: 0,
            steps: 0,
            limit,
        }
    }

    /// The first match that begins at a place or later.
    pub(super) fn find(&mut self, from: usize) -> Result<Option<(usize, usize)>, StepLimitExceeded> {
        self.search_start = from;
        if let Some(memo) = &mut self.memo {
            self.steps += memo.move_to(from) / 8;
        }
        let mut at = from;
        while at <= self.text.len() {
            if self.program.first.as_ref().is_none_or(|set| set.len_at(self.text, at).is_some()) {
                if let Some(end) = self.match_at(at)? {
                    return Ok(Some((at, end)));
                }
            }
            at = utf8::after(self.text, at);
        }
        Ok(None)
    }

    /// Match from a place; where it takes long, begin anew with a memory.
    fn match_at(&mut self, start: usize) -> Result<Option<usize>, StepLimitExceeded> {
        if self.memo.is_none() && self.program.can_remember {
            let limit = (UNREMEMBERED.0 + UNREMEMBERED.1 * start).min(self.limit);
            if let Ok(end) = self.run(start, limit) {
                return Ok(end);
            }
            self.remember_from_here();
        }
        self.run(start, self.limit)
    }

    /// Begin to remember verdicts.
    pub(super) fn remember_from_here(&mut self) {
        let slots = self.program.points.slots;
        self.memo = Some(Memo::new(slots, self.search_start, self.text.len()));
    }

    /// Let the text end here; gives where it ended.
    pub(super) fn limit_to(&mut self, end: usize) -> usize {
        let before = self.bytes.len();
        self.bytes = self.text.get(..end).unwrap_or(self.text);
        before
    }

    fn run(&mut self, start: usize, limit: usize) -> Result<Option<usize>, StepLimitExceeded> {
        self.stack.clear();
        self.fences.clear();
        self.bytes = self.text;
        self.registers.iter_mut().for_each(|place| *place = NOWHERE);
        self.steps += self.registers.len() / 8;
        let program = self.program;
        let most_frames = MAX_FRAMES + self.text.len();
        let (mut pc, mut at) = (0, start);
        loop {
            self.steps += 1;
            if self.steps > limit || self.stack.len() > most_frames {
                return Err(StepLimitExceeded);
            }
            let step = match program.code.get(pc as usize) {
                Some(inst) => self.step(inst, pc, at),
                None => Step::Fail,
            };
            match step {
                Step::Next(to) => (pc, at) = (pc + 1, to),
                Step::To(next, to) => (pc, at) = (next, to),
                Step::Done(end) => return Ok(Some(end)),
                Step::Fail => match self.back() {
                    Some(there) => (pc, at) = there,
                    None => return Ok(None),
                },
            }
        }
    }

    #[inline(always)]
    fn step(&mut self, inst: &Inst, pc: Pc, at: usize) -> Step {
        let next_if = |yes: bool, to: usize| if yes { Step::Next(to) } else { Step::Fail };
        match *inst {
            Inst::Match => Step::Done(at),
            Inst::Set(set) => match self.program.sets[set as usize].len_at(self.bytes, at) {
                Some(len) => Step::Next(at + len),
                None => Step::Fail,
            },
            Inst::SetBack(set) => match self.before_in(set, at) {
                Some(start) => Step::Next(start),
                None => Step::Fail,
            },
            Inst::Byte(byte) => next_if(self.bytes.get(at) == Some(&byte), at + 1),
            Inst::Text(ref text) => {
                let end = at + text.len();
                self.steps += text.len() / 32;
                next_if(self.bytes.get(at..end) == Some(text.as_bytes()), end)
            }
            Inst::Jump(to) => Step::To(to, at),
            Inst::Split { first, second, starts, slot } => self.split(first, second, starts, slot, at),
            Inst::Choose { choice, slot } => self.choose(choice, slot, at),
            Inst::Run { set, min, max, giving, follow, slot } => {
                let run = Run { set, min, max, giving, follow, slot };
                match self.memo.is_some() {
                    true => self.run_with_memo(&run, pc, at),
                    false => self.run_of_set(&run, pc, at),
                }
            }
            Inst::Peek { set, behind, negate } => {
                let found = match behind {
                    true => self.before_in(set, at).is_some(),
                    false => self.program.sets[set as usize].len_at(self.bytes, at).is_some(),
                };
                next_if(found != negate, at)
            }
            Inst::Assert(anchor) => next_if(self.holds(anchor, at), at),
            Inst::Open { slot, .. } => self.open(pc, slot, at),
            Inst::Close(fence) => self.close(fence, at),
            Inst::StepBack { min, max } => self.step_back(pc, min, max, at),
            Inst::Return => next_if(self.fence_start() == Some(at), at),
            Inst::Begin { register } | Inst::Save { register } => {
                self.set_register(register, at);
                Step::Next(at)
            }
            Inst::End { register, exit } => match self.registers[register as usize] == at {
                true => Step::To(exit, at),
                false => Step::Next(at),
            },
            Inst::Reference { register } => self.reference(register, at),
        }
    }
}
