//! Matches a program: back-tracking with a stack of its own, every step counted.
//!
//! What takes longer than an instruction should (long texts, runs, many registers) counts as several steps.
//! Numbers in instructions index the tables of the program without being asked for: the compiler alone makes
//! them, and `Program::is_valid` is asserted of every program. Places in the text are asked for.

mod assertions;
mod backtracking;
mod memo;
mod memoization;
mod set_runs;

use piecework_unicode::next_char_start;

use crate::error::StepLimitExceeded;
use crate::matcher::memo::Memo;
use crate::matcher::set_runs::SetRun;
use crate::program::{Inst, Pc, Program};

/// A place that no text has.
pub(crate) const UNSET: usize = usize::MAX;

/// Steps after which verdicts begin to be remembered: so many, and so many for each byte.
const MEMO_THRESHOLD: (usize, usize) = (100_000, 16);

/// Frames that may wait: so many, and one for each byte.
const MAX_FRAMES: usize = 3 << 20;

/// What is done when a way fails, the latest first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Frame {
    /// Try another way.
    Branch { pc: Pc, at: usize },
    /// Try the alternatives whose bits are left.
    Alternatives { alternation: u32, at: usize, remaining: u64 },
    /// Let a run that ends at a place give back a character.
    GreedyRun { pc: Pc, min_end: usize, end: usize },
    /// Let a run of so many characters take one more.
    LazyRun { pc: Pc, count: u32, end: usize },
    /// Look-behind begins a character further back, at most so many times.
    LookBehindStart { pc: Pc, at: usize, remaining: u32 },
    /// Let the text end again where it did before look-behind.
    TextEnd { end: usize },
    /// Give a register the place it had.
    Register { register: u32, position: usize },
    /// Where a group that is group_body as one began.
    AtomicStart { pc: Pc, at: usize },
    /// Every way from a place has failed.
    MemoizeFailure { slot: u32, at: usize },
    /// Every way of a run has failed, and so would a run from any place within it.
    MemoizeRunFailure { slot: u32, start: usize, end: usize },
}

/// Where to go on.
pub(crate) enum Outcome {
    Next(usize),
    Jump(Pc, usize),
    Fail,
    Match(usize),
}

/// The state of matching one text.
pub(crate) struct Matcher<'a> {
    pub(crate) program: &'a Program,
    pub(crate) text: &'a [u8],
    /// The text as far as it may be read: in look-behind, to where that began.
    pub(crate) bytes: &'a [u8],
    pub(crate) stack: Vec<Frame>,
    /// Where in the stack the atomic_starts are.
    pub(crate) atomic_starts: Vec<usize>,
    pub(crate) registers: Vec<usize>,
    pub(crate) memo: Option<Memo>,
    pub(crate) search_start: usize,
    pub(crate) steps: usize,
    limit: usize,
}

impl<'a> Matcher<'a> {
    /// For all searches of one text, which may together take so many steps.
    pub(crate) fn new(program: &'a Program, text: &'a str, limit: usize) -> Self {
        Self {
            program,
            text: text.as_bytes(),
            bytes: text.as_bytes(),
            stack: Vec::new(),
            atomic_starts: Vec::new(),
            registers: vec![UNSET; program.registers],
            memo: None,
            search_start: 0,
            steps: 0,
            limit,
        }
    }

    /// The first match that begins at a place or later.
    pub(crate) fn find(&mut self, from: usize) -> Result<Option<(usize, usize)>, StepLimitExceeded> {
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
            at = next_char_start(self.text, at);
        }
        Ok(None)
    }

    /// Match from a place; where it takes long, begin anew with a memory.
    fn match_at(&mut self, start: usize) -> Result<Option<usize>, StepLimitExceeded> {
        if self.memo.is_none() && self.program.is_memoizable {
            let limit = (MEMO_THRESHOLD.0 + MEMO_THRESHOLD.1 * start).min(self.limit);
            if let Ok(end) = self.run(start, limit) {
                return Ok(end);
            }
            self.start_memo();
        }
        self.run(start, self.limit)
    }

    /// Begin to remember verdicts.
    pub(crate) fn start_memo(&mut self) {
        let slots = self.program.memo_layout.slots;
        self.memo = Some(Memo::new(slots, self.search_start, self.text.len()));
    }

    /// Let the text end here; gives where it ended.
    pub(crate) fn set_text_end(&mut self, end: usize) -> usize {
        let before = self.bytes.len();
        self.bytes = self.text.get(..end).unwrap_or(self.text);
        before
    }

    fn run(&mut self, start: usize, limit: usize) -> Result<Option<usize>, StepLimitExceeded> {
        self.stack.clear();
        self.atomic_starts.clear();
        self.bytes = self.text;
        self.registers.iter_mut().for_each(|position| *position = UNSET);
        self.steps += self.registers.len() / 8;
        let program = self.program;
        let most_frames = MAX_FRAMES + self.text.len();
        let (mut pc, mut at) = (0, start);
        loop {
            self.steps += 1;
            if self.steps > limit || self.stack.len() > most_frames {
                return Err(StepLimitExceeded);
            }
            let outcome = match program.code.get(pc as usize) {
                Some(inst) => self.step(inst, pc, at),
                None => Outcome::Fail,
            };
            match outcome {
                Outcome::Next(to) => (pc, at) = (pc + 1, to),
                Outcome::Jump(next, to) => (pc, at) = (next, to),
                Outcome::Match(end) => return Ok(Some(end)),
                Outcome::Fail => match self.backtrack() {
                    Some(there) => (pc, at) = there,
                    None => return Ok(None),
                },
            }
        }
    }

    #[inline(always)]
    fn step(&mut self, inst: &Inst, pc: Pc, at: usize) -> Outcome {
        let next_if = |yes: bool, to: usize| if yes { Outcome::Next(to) } else { Outcome::Fail };
        match *inst {
            Inst::Match => Outcome::Match(at),
            Inst::Set(set) => match self.program.sets[set as usize].len_at(self.bytes, at) {
                Some(len) => Outcome::Next(at + len),
                None => Outcome::Fail,
            },
            Inst::SetBack(set) => match self.char_before_in_set(set, at) {
                Some(start) => Outcome::Next(start),
                None => Outcome::Fail,
            },
            Inst::Byte(byte) => next_if(self.bytes.get(at) == Some(&byte), at + 1),
            Inst::Text(ref text) => {
                let end = at + text.len();
                self.steps += text.len() / 32;
                next_if(self.bytes.get(at..end) == Some(text.as_bytes()), end)
            }
            Inst::Jump(to) => Outcome::Jump(to, at),
            Inst::Split { first, second, lead_bytes, memo_point } => {
                self.split(first, second, lead_bytes, memo_point, at)
            }
            Inst::Alternation { alternation, memo_point } => self.alternation(alternation, memo_point, at),
            Inst::SetRun { set, min, max, greediness, follow, memo_point } => {
                let run = SetRun { set, min, max, greediness, follow, memo_point };
                match self.memo.is_some() {
                    true => self.match_run_with_memo(&run, pc, at),
                    false => self.match_run(&run, pc, at),
                }
            }
            Inst::Peek { set, behind, negate } => {
                let found = match behind {
                    true => self.char_before_in_set(set, at).is_some(),
                    false => self.program.sets[set as usize].len_at(self.bytes, at).is_some(),
                };
                next_if(found != negate, at)
            }
            Inst::Assert(anchor) => next_if(self.anchor_matches(anchor, at), at),
            Inst::AtomicStart { memo_point, .. } => self.enter_atomic(pc, memo_point, at),
            Inst::AtomicEnd(kind) => self.leave_atomic(kind, at),
            Inst::StepBack { min, max } => self.step_back(pc, min, max, at),
            Inst::LookBehindEnd => next_if(self.atomic_start() == Some(at), at),
            Inst::IterationStart { register } | Inst::Save { register } => {
                self.set_register(register, at);
                Outcome::Next(at)
            }
            Inst::IterationEnd { register, exit } => match self.registers[register as usize] == at {
                true => Outcome::Jump(exit, at),
                false => Outcome::Next(at),
            },
            Inst::Reference { register } => self.reference(register, at),
        }
    }
}
