//! The instructions that an expression becomes.

use super::ast::Anchor;
use super::char_set::CharSet;

/// The place of an instruction.
pub(super) type Pc = u32;

/// The number of an instruction about which verdicts are remembered, see `memo`.
pub(super) type Slot = u32;

/// Of an instruction about which nothing is remembered.
pub(super) const NO_SLOT: Slot = Slot::MAX;

/// A compiled expression.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) code: Vec<Inst>,
    pub(super) sets: Vec<CharSet>,
    pub(super) word: CharSet,
    pub(super) starts: Vec<Starts>,
    pub(super) choices: Vec<Choice>,
    pub(super) tables: Vec<ChoiceTable>,
    pub(super) points: Points,
    /// The characters with which a match begins; `None` where it can be anything.
    pub(super) first: Option<CharSet>,
    /// Places of text that groups and rounds of loops keep.
    pub(super) registers: usize,
    /// Whether what fails once at a place fails there always, in every search of one text.
    pub(super) can_remember: bool,
}

/// The instructions about which verdicts are remembered.
#[derive(Clone, Debug, Default)]
pub(super) struct Points {
    /// For each instruction, its first slot and the number of its list of loops.
    pub(super) bases: Vec<(u32, u32)>,
    /// How many slots there are.
    pub(super) slots: u32,
    /// The registers of the loops around an instruction.
    pub(super) loops: Vec<Vec<u32>>,
}

/// Alternatives: which of them can match by the byte that is next.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) table: u32,
    pub(super) targets: Box<[Pc]>,
}

/// For every ASCII byte, for all other bytes and for the end of the text, one bit for each alternative.
pub(super) type ChoiceTable = Box<[u64; 130]>;

/// Bytes that can be next where something matches; all from 128 on are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Starts {
    pub(super) ascii: u128,
    pub(super) other: bool,
    pub(super) end: bool,
}

impl Starts {
    pub(super) const ANY: Self = Self { ascii: u128::MAX, other: true, end: true };

    #[inline]
    pub(super) fn allow(&self, bytes: &[u8], at: usize) -> bool {
        match bytes.get(at) {
            Some(&byte) if byte < 128 => self.ascii >> byte & 1 == 1,
            Some(_) => self.other,
            None => self.end,
        }
    }
}

/// What a run of characters of one set does when the rest does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Giving {
    /// Keeps all.
    Nothing,
    /// Gives back one after the other.
    Back,
    /// Takes as few as it must, then one more after the other.
    Forth,
}

/// What ends look-around and atomic groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fence {
    Atomic,
    Look,
    NegatedLook,
}

#[derive(Clone, Debug)]
pub(super) enum Inst {
    Match,
    Set(u32),
    /// The character before, going backwards.
    SetBack(u32),
    Byte(u8),
    Text(Box<str>),
    Jump(Pc),
    /// Try one way, then the other; `starts` of both say which can match at all.
    Split {
        first: Pc,
        second: Pc,
        starts: (u32, u32),
        slot: Slot,
    },
    Choose {
        choice: u32,
        slot: Slot,
    },
    Run {
        set: u32,
        min: u32,
        max: u32,
        giving: Giving,
        follow: u32,
        slot: Slot,
    },
    Peek {
        set: u32,
        behind: bool,
        negate: bool,
    },
    Assert(Anchor),
    /// Begins what ends with the `Close` at `end`.
    Open {
        fence: Fence,
        end: Pc,
        slot: Slot,
    },
    Close(Fence),
    /// Goes back from 0 characters on: to every start of look-behind, nearest first.
    StepBack {
        min: u32,
        max: u32,
    },
    /// Only where look-behind began.
    Return,
    /// A round of a loop begins.
    Begin {
        register: u32,
    },
    /// A round ends; if it was empty, so does the loop.
    End {
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
