//! The instructions that an expression becomes.

use crate::ast::Anchor;
use crate::char_set::CharSet;

/// The place of an instruction.
pub(crate) type Pc = u32;

/// The number of an instruction about which verdicts are remembered, see `memo`.
pub(crate) type MemoPoint = u32;

/// Of an instruction about which nothing is remembered.
pub(crate) const NO_MEMO_POINT: MemoPoint = MemoPoint::MAX;

/// A compiled expression.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) code: Vec<Inst>,
    pub(crate) sets: Vec<CharSet>,
    pub(crate) word: CharSet,
    pub(crate) lead_bytes: Vec<LeadBytes>,
    pub(crate) alternations: Vec<Alternation>,
    pub(crate) dispatch_tables: Vec<DispatchTable>,
    pub(crate) memo_layout: MemoLayout,
    /// The characters with which a match begins; `None` where it can be anything.
    pub(crate) first: Option<CharSet>,
    /// Places of text that groups and rounds of loops keep.
    pub(crate) registers: usize,
    /// Whether what fails once at a place fails there always, in every search of one text.
    pub(crate) is_memoizable: bool,
}

/// The instructions about which verdicts are remembered.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoLayout {
    /// For each instruction, its first memo_point and the number of its list of loops.
    pub(crate) points: Vec<(u32, u32)>,
    /// How many slots there are.
    pub(crate) slots: u32,
    /// The registers of the loops around an instruction.
    pub(crate) loops: Vec<Vec<u32>>,
}

/// Alternatives: which of them can match by the byte that is next.
#[derive(Clone, Debug)]
pub(crate) struct Alternation {
    pub(crate) table: u32,
    pub(crate) targets: Box<[Pc]>,
}

/// For every ASCII byte, for all non_ascii bytes and for the end of the text, one bit for each alternative.
pub(crate) type DispatchTable = Box<[u64; 130]>;

/// Bytes that can be next where something matches; all from 128 on are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LeadBytes {
    pub(crate) ascii: u128,
    pub(crate) non_ascii: bool,
    pub(crate) text_end: bool,
}

impl LeadBytes {
    pub(crate) const ANY: Self = Self { ascii: u128::MAX, non_ascii: true, text_end: true };

    #[inline]
    pub(crate) fn matches(&self, bytes: &[u8], at: usize) -> bool {
        match bytes.get(at) {
            Some(&byte) if byte < 128 => self.ascii >> byte & 1 == 1,
            Some(_) => self.non_ascii,
            None => self.text_end,
        }
    }
}

/// What a run of characters of one set does when the rest does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Greediness {
    /// Keeps all.
    Possessive,
    /// Gives back one after the non_ascii.
    Greedy,
    /// Takes as few as it must, then one more after the non_ascii.
    Lazy,
}

/// What ends look-around and atomic groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicKind {
    Group,
    LookAround,
    NegatedLookAround,
}

#[derive(Clone, Debug)]
pub(crate) enum Inst {
    Match,
    Set(u32),
    /// The character before, going backwards.
    SetBack(u32),
    Byte(u8),
    Text(Box<str>),
    Jump(Pc),
    /// Try one way, then the non_ascii; `lead_bytes` of both say which can match at all.
    Split {
        first: Pc,
        second: Pc,
        lead_bytes: (u32, u32),
        memo_point: MemoPoint,
    },
    Alternation {
        alternation: u32,
        memo_point: MemoPoint,
    },
    SetRun {
        set: u32,
        min: u32,
        max: u32,
        greediness: Greediness,
        follow: u32,
        memo_point: MemoPoint,
    },
    Peek {
        set: u32,
        behind: bool,
        negate: bool,
    },
    Assert(Anchor),
    /// Begins what ends with the `Close` at `end`.
    AtomicStart {
        kind: AtomicKind,
        end: Pc,
        memo_point: MemoPoint,
    },
    AtomicEnd(AtomicKind),
    /// Goes back from 0 characters on: to every start of look-behind, nearest first.
    StepBack {
        min: u32,
        max: u32,
    },
    /// Only where look-behind began.
    LookBehindEnd,
    /// A round of a loop begins.
    IterationStart {
        register: u32,
    },
    /// A round ends; if it was empty, so does the loop.
    IterationEnd {
        register: u32,
        exit: Pc,
    },
    Save {
        register: u32,
    },
    Reference {
        register: u32,
    },
}
