//! The backtracking matcher.
//!
//! It has an explicit stack and counts every step. An instruction that takes long (a long text, a run,
//! many registers) counts as several steps. Indices in instructions are not checked, because
//! `Program::is_valid` is asserted for every program. Positions in the text are checked.

mod backtracking;
mod memo;

use piecework_unicode::{next_char_start, previous_char_start};

use crate::ast::Anchor;
use crate::matcher::memo::Memo;
use crate::program::{Greediness, Inst, Pc, Program, SetRun};
use crate::StepLimitExceeded;

/// The value of a register that has no position.
pub(crate) const UNSET: usize = usize::MAX;

/// Steps after which memoization starts: a constant, and a number for each byte.
const MEMO_THRESHOLD: (usize, usize) = (100_000, 16);

/// The most backtrack frames, in addition to one for each byte of the text.
const MAX_FRAMES: usize = 3 << 20;

/// A backtrack frame: what to do when matching fails after it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Frame {
    /// Continue at another instruction.
    Branch { pc: Pc, at: usize },
    /// Try the remaining alternatives, given as bits.
    Alternatives { alternation: u32, at: usize, remaining: u64 },
    /// Shorten a run that ends at `end`, down to `min_end`.
    GreedyRun { pc: Pc, min_end: usize, end: usize },
    /// Lengthen a run of `count` characters that ends at `end`.
    LazyRun { pc: Pc, count: u32, end: usize },
    /// Start look-behind one character earlier, at most `remaining` times.
    LookBehindStart { pc: Pc, at: usize, remaining: u32 },
    /// Restore the end of the text after look-behind.
    TextEnd { end: usize },
    /// Restore a register.
    Register { register: u32, position: usize },
    /// Marks the start of an atomic region. A negated look-around matches when this frame is reached.
    AtomicStart { pc: Pc, at: usize },
    /// Record that the instruction of a slot fails at a position.
    MemoizeFailure { slot: u32, at: usize },
    /// Record that a run fails, and so does a run from any position within it.
    MemoizeRunFailure { slot: u32, start: usize, end: usize },
}

/// The result of one instruction.
pub(crate) enum Outcome {
    /// Continue with the next instruction at a position.
    Next(usize),
    /// Continue with another instruction at a position.
    Jump(Pc, usize),
    /// Backtrack.
    Fail,
    /// The expression matches up to a position.
    Match(usize),
}

/// The state of matching one text.
pub(crate) struct Matcher<'a> {
    pub(crate) program: &'a Program,
    pub(crate) text: &'a [u8],
    /// The readable part of the text. In look-behind that reads forward, it ends where look-behind
    /// started.
    pub(crate) bytes: &'a [u8],
    pub(crate) stack: Vec<Frame>,
    /// The indices of the open `AtomicStart` frames.
    pub(crate) atomic_starts: Vec<usize>,
    pub(crate) registers: Vec<usize>,
    pub(crate) memo: Option<Memo>,
    pub(crate) search_start: usize,
    pub(crate) steps: usize,
    /// The most steps for all searches of the text.
    limit: usize,
}

impl<'a> Matcher<'a> {
    /// Start matching a text. All searches together may take `limit` steps.
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

    /// Return the first match that starts at byte `from` or later.
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

    /// Match at a position. Above the threshold, start again with a memo.
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

    /// Start to memoize, from the current search on.
    pub(crate) fn start_memo(&mut self) {
        let slots = self.program.memo_layout.slots;
        self.memo = Some(Memo::new(slots, self.search_start, self.text.len()));
    }

    /// Set the end of the readable text. Return the previous end.
    pub(crate) fn set_text_end(&mut self, end: usize) -> usize {
        let before = self.bytes.len();
        self.bytes = self.text.get(..end).unwrap_or(self.text);
        before
    }

    /// Run the program at a position, up to `limit` steps in total. Return the end of the match.
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

    /// Run one instruction.
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

impl Matcher<'_> {
    /// Run `Inst::SetRun` without a memo.
    #[inline]
    pub(crate) fn match_run(&mut self, run: &SetRun, pc: Pc, at: usize) -> Outcome {
        let set = &self.program.sets[run.set as usize];
        let most = if run.greediness == Greediness::Lazy { run.min } else { run.max };
        let (end, count) = set.run(self.bytes, at, most);
        self.steps += count as usize / 2;
        if count < run.min {
            return Outcome::Fail;
        }
        self.finish_run(run, pc, at, end, count)
    }

    /// Push the frame of a run that ends at `end` after `count` characters, and continue after it.
    #[inline]
    pub(crate) fn finish_run(
        &mut self,
        run: &SetRun,
        pc: Pc,
        at: usize,
        end: usize,
        count: u32,
    ) -> Outcome {
        match run.greediness {
            Greediness::Possessive => Outcome::Next(end),
            Greediness::Lazy => {
                self.stack.push(Frame::LazyRun { pc, count, end });
                Outcome::Next(end)
            }
            Greediness::Greedy if count == run.min => Outcome::Next(end),
            Greediness::Greedy => {
                let min_end = match run.min {
                    0 => at,
                    1 => next_char_start(self.bytes, at),
                    min => self.program.sets[run.set as usize].run(self.bytes, at, min).0,
                };
                if self.program.lead_bytes[run.follow as usize].matches(self.bytes, end) {
                    self.stack.push(Frame::GreedyRun { pc, min_end, end });
                    return Outcome::Next(end);
                }
                match self.shorten_run(pc, min_end, end) {
                    Some((pc, at)) => Outcome::Jump(pc, at),
                    None => Outcome::Fail,
                }
            }
        }
    }

    /// Shorten a run to the next position where what follows can start.
    pub(crate) fn shorten_run(&mut self, pc: Pc, min_end: usize, end: usize) -> Option<(Pc, usize)> {
        let Some(&Inst::SetRun { follow, .. }) = self.program.code.get(pc as usize) else { return None };
        let lead_bytes = &self.program.lead_bytes[follow as usize];
        let mut at = end;
        while at > min_end {
            at = previous_char_start(self.bytes, at)?;
            if lead_bytes.matches(self.bytes, at) {
                self.steps += (end - at) / 2;
                if at > min_end {
                    self.stack.push(Frame::GreedyRun { pc, min_end, end: at });
                }
                return Some((pc + 1, at));
            }
        }
        self.steps += (end - at) / 2;
        None
    }

    /// Lengthen a run to the next position where what follows can start.
    pub(crate) fn lengthen_run(&mut self, pc: Pc, mut count: u32, start: usize) -> Option<(Pc, usize)> {
        let Some(&Inst::SetRun { set, min, max, follow, memo_point, .. }) =
            self.program.code.get(pc as usize)
        else {
            return None;
        };
        let covers_run = self.memo_covers_run(min, max, memo_point);
        let set = &self.program.sets[set as usize];
        let mut at = start;
        while count < max {
            let Some(len) = set.len_at(self.bytes, at) else { break };
            if covers_run && self.run_fails_from(memo_point, at) {
                break;
            }
            (at, count) = (at + len, count + 1);
            if self.program.lead_bytes[follow as usize].matches(self.bytes, at) {
                self.steps += (at - start) / 2;
                self.stack.push(Frame::LazyRun { pc, count, end: at });
                return Some((pc + 1, at));
            }
        }
        self.steps += (at - start) / 2;
        if let Some(Frame::MemoizeRunFailure { end, .. }) = self.stack.last_mut().filter(|_| covers_run) {
            *end = at;
        }
        None
    }
}

impl Matcher<'_> {
    /// Return the start of the character before `at`, if it is in a set.
    #[inline]
    pub(crate) fn char_before_in_set(&self, set: u32, at: usize) -> Option<usize> {
        let start = previous_char_start(self.bytes, at)?;
        self.program.sets[set as usize].len_at(self.bytes, start).map(|_| start)
    }

    /// Return whether an anchor matches at a position.
    pub(crate) fn anchor_matches(&self, anchor: Anchor, at: usize) -> bool {
        let next = self.text.get(at);
        match anchor {
            Anchor::TextStart => at == 0,
            Anchor::TextEnd => next.is_none(),
            Anchor::TextEndOrLastLine => next.is_none() || self.text.get(at..) == Some(b"\n"),
            Anchor::LineStart => at == 0 || (next.is_some() && self.text.get(at - 1) == Some(&b'\n')),
            Anchor::LineEnd => next.is_none_or(|&byte| byte == b'\n'),
            Anchor::SearchStart => at == self.search_start,
            Anchor::WordBoundary => self.is_word_boundary(at),
            Anchor::NotWordBoundary => !self.is_word_boundary(at),
        }
    }

    /// Return whether exactly one of the characters around a position is a word character.
    fn is_word_boundary(&self, at: usize) -> bool {
        let word = &self.program.word;
        let before = previous_char_start(self.text, at).and_then(|start| word.len_at(self.text, start));
        before.is_some() != word.len_at(self.text, at).is_some()
    }

    /// Run `Inst::Reference`. A group that has not matched fails.
    pub(crate) fn reference(&mut self, register: u32, at: usize) -> Outcome {
        let register = register as usize;
        let (start, end) = (self.registers[register], self.registers[register + 1]);
        if start == UNSET || end == UNSET {
            return Outcome::Fail;
        }
        let Some(group) = self.bytes.get(start..end) else { return Outcome::Fail };
        self.steps += group.len() / 8;
        match self.bytes.get(at..at + group.len()) == Some(group) {
            true => Outcome::Next(at + group.len()),
            false => Outcome::Fail,
        }
    }
}
