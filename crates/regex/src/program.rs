//! The instructions and tables that an expression compiles to.

use crate::ast::Anchor;
use crate::char_set::CharSet;

/// The index of an instruction.
pub(crate) type Pc = u32;

/// The number of a memoized instruction: an index of `MemoLayout::points`.
pub(crate) type MemoPoint = u32;

/// Marks an instruction that is not memoized.
pub(crate) const NO_MEMO_POINT: MemoPoint = MemoPoint::MAX;

/// A compiled expression.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) code: Vec<Inst>,
    pub(crate) sets: Vec<CharSet>,
    /// `\w`, for word boundaries.
    pub(crate) word: CharSet,
    /// Lead byte sets, which instructions refer to by index.
    pub(crate) lead_bytes: Vec<LeadBytes>,
    pub(crate) alternations: Vec<Alternation>,
    pub(crate) dispatch_tables: Vec<DispatchTable>,
    pub(crate) memo_layout: MemoLayout,
    /// The characters that can start a match. `None` means that any can, or that a match can be empty.
    pub(crate) first: Option<CharSet>,
    /// The number of registers. They hold positions: two for each referenced group, one for each loop that
    /// can iterate without progress.
    pub(crate) registers: usize,
    /// Whether a failure at a position holds for every search of the same text. Backreferences and `\G`
    /// prevent this.
    pub(crate) is_memoizable: bool,
}

/// The slots of the memo: one instruction has a slot for each number of enclosing loops that have made
/// progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoLayout {
    /// For each memoized instruction: its first slot, and the index of its enclosing loops in `loops`.
    pub(crate) points: Vec<(u32, u32)>,
    /// The number of slots.
    pub(crate) slots: u32,
    /// Lists of enclosing loops, each loop by its register.
    pub(crate) loops: Vec<Vec<u32>>,
}

/// The alternatives of one alternation.
#[derive(Clone, Debug)]
pub(crate) struct Alternation {
    /// The index of its dispatch table.
    pub(crate) table: u32,
    /// The first instruction of each alternative.
    pub(crate) targets: Box<[Pc]>,
}

/// The alternatives that can match, as bits, by the next byte: 128 ASCII bytes, then all other bytes, then
/// the end of the text.
pub(crate) type DispatchTable = Box<[u64; 130]>;

/// The bytes with which a match can start. All bytes from 128 count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LeadBytes {
    pub(crate) ascii: u128,
    /// Whether it can start with a non-ASCII character.
    pub(crate) non_ascii: bool,
    /// Whether it can start at the end of the text.
    pub(crate) text_end: bool,
}

impl LeadBytes {
    /// Every byte, and the end of the text.
    pub(crate) const ANY: Self = Self { ascii: u128::MAX, non_ascii: true, text_end: true };

    /// Return whether the byte at `at` is in the set.
    #[inline]
    pub(crate) fn matches(&self, bytes: &[u8], at: usize) -> bool {
        match bytes.get(at) {
            Some(&byte) if byte < 128 => self.ascii >> byte & 1 == 1,
            Some(_) => self.non_ascii,
            None => self.text_end,
        }
    }
}

/// How a run of characters of one set backtracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Greediness {
    /// Never changes its length.
    Possessive,
    /// Starts with the longest run and shortens it.
    Greedy,
    /// Starts with the shortest run and lengthens it.
    Lazy,
}

/// What an atomic region is. Its alternatives are discarded when it has matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicKind {
    /// `(?>...)`: matching continues after it.
    Group,
    /// Look-around: matching continues where it started.
    LookAround,
    /// Negated look-around: matching continues where it started, if it has failed.
    NegatedLookAround,
}

/// The fields of `Inst::SetRun`.
#[derive(Clone, Copy)]
pub(crate) struct SetRun {
    pub(crate) set: u32,
    pub(crate) min: u32,
    pub(crate) max: u32,
    pub(crate) greediness: Greediness,
    pub(crate) follow: u32,
    pub(crate) memo_point: MemoPoint,
}

/// One instruction. Numbers in it are indices of the tables of `Program`.
#[derive(Clone, Debug)]
pub(crate) enum Inst {
    /// Ends the match.
    Match,
    /// Reads one character of a set.
    Set(u32),
    /// Reads the character before the position, in backward look-behind.
    SetBack(u32),
    /// Reads one ASCII byte.
    Byte(u8),
    /// Reads a literal text.
    Text(Box<str>),
    /// Continues at another instruction.
    Jump(Pc),
    /// Tries `first`, then `second`, each only if the next byte is in its lead byte set.
    Split { first: Pc, second: Pc, lead_bytes: (u32, u32), memo_point: MemoPoint },
    /// Tries the alternatives that the dispatch table allows, in order.
    Alternation { alternation: u32, memo_point: MemoPoint },
    /// Reads `min` to `max` characters of one set. `follow` is the lead byte set of what follows.
    SetRun { set: u32, min: u32, max: u32, greediness: Greediness, follow: u32, memo_point: MemoPoint },
    /// Tests whether the next or the previous character is in a set.
    Peek { set: u32, behind: bool, negate: bool },
    /// Tests the position.
    Assert(Anchor),
    /// Enters an atomic region. `end` is its `AtomicEnd`.
    AtomicStart { kind: AtomicKind, end: Pc, memo_point: MemoPoint },
    /// Leaves an atomic region that has matched.
    AtomicEnd(AtomicKind),
    /// Steps back `min` characters, and on backtracking up to `max`: tries every start of a look-behind,
    /// the nearest first.
    StepBack { min: u32, max: u32 },
    /// Fails unless look-behind has read up to where it started.
    LookBehindEnd,
    /// Stores the start of an iteration of a loop.
    IterationStart { register: u32 },
    /// Ends an iteration. An iteration that matched the empty text leaves the loop at `exit`.
    IterationEnd { register: u32, exit: Pc },
    /// Stores the start or the end of a group.
    Save { register: u32 },
    /// Reads the text of a group. Its end is in the next register.
    Reference { register: u32 },
}

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
