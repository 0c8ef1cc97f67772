//! Makes a program of a tree.

pub(crate) mod expansion;
mod first_chars;
mod groups;
mod repeats;

use std::collections::{BTreeSet, HashMap};

use crate::ast::{Anchor, Node};
use crate::char_classes;
use crate::char_set::CharSet;
use crate::compile::first_chars::FirstChars;
use crate::error::CompileError;
use crate::parse::ParsedExpression;
use crate::program::{
    Alternation, DispatchTable, Inst, LeadBytes, MemoLayout, MemoPoint, Pc, Program, NO_MEMO_POINT,
};

/// Most instructions that a program may have: hundreds of times what real ones need.
const MAX_INSTRUCTIONS: usize = 100_000;

/// Most bytes that the texts in instructions may have together.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Alternatives of one alternation; of more, some are alternations of their own.
const MAX_ALTERNATIVES: usize = 64;

/// SetInterner that get a table of their own.
const MAX_TABLES: usize = 64;

/// What comes after a node.
#[derive(Clone, Debug)]
pub(crate) struct Continuation {
    pub(crate) first: FirstChars,
    /// It matches whatever comes, so that nothing before it is ever tried again.
    pub(crate) accepts: bool,
}

impl Continuation {
    pub(crate) const UNKNOWN: Self = Self { first: FirstChars::UNKNOWN, accepts: false };
    pub(crate) const ACCEPT: Self = Self { first: FirstChars::UNKNOWN, accepts: true };
}

/// Compile an expression that was read.
pub(crate) fn compile(mut parsed: ParsedExpression) -> Result<Program, CompileError> {
    let root = std::mem::replace(&mut parsed.root, Node::Empty);
    let first = FirstChars::of(&root, &mut parsed.sets);
    let mut compiler = Compiler::new(parsed, &root);
    compiler.node(&root, &Continuation::ACCEPT)?;
    compiler.emit(Inst::Match)?;
    let searches_anywhere = !root.any(&|node| *node == Node::Anchor(Anchor::SearchStart));
    Ok(compiler.finish(&first, searches_anywhere))
}

pub(crate) struct Compiler {
    pub(crate) parsed: ParsedExpression,
    pub(crate) code: Vec<Inst>,
    text_bytes: usize,
    lead_bytes: Vec<LeadBytes>,
    lead_byte_ids: HashMap<LeadBytes, u32>,
    alternations: Vec<Alternation>,
    dispatch_tables: Vec<DispatchTable>,
    dispatch_table_ids: HashMap<DispatchTable, u32>,
    disjoint: HashMap<(u32, u32), bool>,
    memo_layout: MemoLayout,
    /// Registers so far; those of groups that are referenced to come first, two each.
    pub(crate) registers: u32,
    pub(crate) referenced: BTreeSet<usize>,
    /// The registers of the loops around, outermost first.
    pub(crate) loops: Vec<u32>,
    pub(crate) memoizes: bool,
    /// Whether text is read from its end, in look-behind.
    pub(crate) backward: bool,
}

impl Compiler {
    fn new(parsed: ParsedExpression, root: &Node) -> Self {
        let mut referenced = BTreeSet::new();
        collect_references(root, &mut referenced);
        Self {
            parsed,
            code: Vec::new(),
            text_bytes: 0,
            lead_bytes: Vec::new(),
            lead_byte_ids: HashMap::new(),
            alternations: Vec::new(),
            dispatch_tables: Vec::new(),
            dispatch_table_ids: HashMap::new(),
            disjoint: HashMap::new(),
            memo_layout: MemoLayout { loops: vec![Vec::new()], ..MemoLayout::default() },
            registers: 2 * referenced.len() as u32,
            memoizes: referenced.is_empty(),
            referenced,
            loops: Vec::new(),
            backward: false,
        }
    }

    fn finish(mut self, first: &FirstChars, searches_anywhere: bool) -> Program {
        // Where a jump leads only to the end, the end comes at once.
        for pc in 0..self.code.len() {
            if let Inst::Jump(to) = self.code[pc] {
                if matches!(self.code.get(to as usize), Some(Inst::Match)) {
                    self.code[pc] = Inst::Match;
                }
            }
        }
        let mut tables = 0;
        let sets = self.parsed.sets.all().iter().map(|set| {
            tables += usize::from(set.ranges().len() > 4);
            CharSet::new(set, tables <= MAX_TABLES)
        });
        let program = Program {
            sets: sets.collect(),
            word: CharSet::new(&char_classes::word(), true),
            first: first.union(&self.parsed.sets).map(|set| CharSet::new(&set, true)),
            is_memoizable: self.referenced.is_empty() && searches_anywhere,
            code: self.code,
            lead_bytes: self.lead_bytes,
            alternations: self.alternations,
            dispatch_tables: self.dispatch_tables,
            memo_layout: self.memo_layout,
            registers: self.registers as usize,
        };
        assert!(program.is_valid(), "a compiled pattern names what it does not have");
        program
    }

    pub(crate) fn pc(&self) -> Pc {
        self.code.len() as Pc
    }

    pub(crate) fn emit(&mut self, inst: Inst) -> Result<Pc, CompileError> {
        if self.code.len() >= MAX_INSTRUCTIONS {
            return Err(CompileError::too_large());
        }
        self.code.push(inst);
        Ok(self.pc() - 1)
    }

    /// A node, given what comes after it.
    pub(crate) fn node(&mut self, node: &Node, next: &Continuation) -> Result<(), CompileError> {
        match node {
            Node::Empty => Ok(()),
            Node::Set(set) => self.emit(self.set_inst(*set)).map(drop),
            Node::Text(text) => self.text(text),
            Node::Concat(nodes) => self.concat(nodes, next),
            Node::Alternate(nodes) => self.alternate(nodes, next),
            Node::Repeat(repeat) => self.repeat(repeat, next),
            Node::Capture(group, body) => self.capture(*group, body, next),
            Node::Atomic(body) => self.atomic(body),
            Node::Look(look) => self.look(look),
            Node::Anchor(anchor) => self.emit(Inst::Assert(*anchor)).map(drop),
            Node::Reference(group) => {
                let register = self.register_of(*group).unwrap_or(0);
                self.emit(Inst::Reference { register }).map(drop)
            }
        }
    }

    pub(crate) fn set_inst(&self, set: u32) -> Inst {
        if self.backward {
            Inst::SetBack(set)
        } else {
            Inst::Set(set)
        }
    }

    fn text(&mut self, text: &[char]) -> Result<(), CompileError> {
        if self.backward {
            for &c in text.iter().rev() {
                let set = self.parsed.sets.id_of_char(c);
                self.emit(Inst::SetBack(set))?;
            }
            return Ok(());
        }
        if let [c] = text {
            if c.is_ascii() {
                return self.emit(Inst::Byte(*c as u8)).map(drop);
            }
        }
        let text: String = text.iter().collect();
        self.text_bytes += text.len();
        if self.text_bytes > MAX_TEXT_BYTES {
            return Err(CompileError::too_large());
        }
        self.emit(Inst::Text(text.into())).map(drop)
    }

    fn concat(&mut self, nodes: &[Node], next: &Continuation) -> Result<(), CompileError> {
        if self.backward {
            return nodes.iter().rev().try_for_each(|node| self.node(node, &Continuation::UNKNOWN));
        }
        let mut nexts = vec![next.clone()];
        for node in nodes.iter().skip(1).rev() {
            let first = FirstChars::of(node, &mut self.parsed.sets);
            let after = nexts.last().unwrap_or(next);
            nexts.push(Continuation { first: first.then(&after.first), accepts: false });
        }
        nodes.iter().zip(nexts.iter().rev()).try_for_each(|(node, next)| self.node(node, next))
    }

    fn alternate(&mut self, nodes: &[Node], next: &Continuation) -> Result<(), CompileError> {
        let branches: Vec<&[Node]> = nodes.chunks(nodes.len().div_ceil(MAX_ALTERNATIVES).max(1)).collect();
        let memo_point = self.memo_point();
        let alternation = self.alternations.len() as u32;
        let table = self.dispatch_table(&branches, next);
        self.alternations.push(Alternation { table, targets: Box::default() });
        self.emit(Inst::Alternation { alternation, memo_point })?;
        let (mut targets, mut jumps) = (Vec::new(), Vec::new());
        for (index, &branch) in branches.iter().enumerate() {
            targets.push(self.pc());
            match branch {
                [node] => self.node(node, next)?,
                nodes => self.alternate(nodes, next)?,
            }
            if index + 1 < branches.len() {
                jumps.push(self.emit(Inst::Jump(0))?);
            }
        }
        self.alternations[alternation as usize].targets = targets.into();
        self.patch_jumps(&jumps);
        Ok(())
    }

    /// Let jumps lead to here.
    pub(crate) fn patch_jumps(&mut self, jumps: &[Pc]) {
        let here = self.pc();
        for &jump in jumps {
            match &mut self.code[jump as usize] {
                Inst::Jump(to)
                | Inst::IterationEnd { exit: to, .. }
                | Inst::AtomicStart { end: to, .. } => *to = here,
                Inst::Split { first, .. } if *first == Pc::MAX => *first = here,
                Inst::Split { second, .. } => *second = here,
                _ => {}
            }
        }
    }

    /// Which alternatives can match by the byte that is next.
    fn dispatch_table(&mut self, branches: &[&[Node]], next: &Continuation) -> u32 {
        let mut table = Box::new([0; 130]);
        for (index, branch) in branches.iter().enumerate() {
            let lead_bytes = match self.backward {
                true => LeadBytes::ANY,
                false => FirstChars::of_any(branch, &mut self.parsed.sets)
                    .then(&next.first)
                    .lead_bytes(&self.parsed.sets),
            };
            (0..128).for_each(|byte| table[byte] |= ((lead_bytes.ascii >> byte & 1) as u64) << index);
            table[128] |= u64::from(lead_bytes.non_ascii) << index;
            table[129] |= u64::from(lead_bytes.text_end) << index;
        }
        let Self { dispatch_tables, dispatch_table_ids, .. } = self;
        *dispatch_table_ids.entry(table).or_insert_with_key(|table| {
            dispatch_tables.push(table.clone());
            dispatch_tables.len() as u32 - 1
        })
    }

    pub(crate) fn lead_bytes(&mut self, first: &FirstChars) -> u32 {
        let lead_bytes = if self.backward { LeadBytes::ANY } else { first.lead_bytes(&self.parsed.sets) };
        let Self { lead_bytes: all, lead_byte_ids, .. } = self;
        *lead_byte_ids.entry(lead_bytes).or_insert_with(|| {
            all.push(lead_bytes);
            all.len() as u32 - 1
        })
    }

    /// A number for what is remembered about the next instruction.
    pub(crate) fn memo_point(&mut self) -> MemoPoint {
        if !self.memoizes {
            return NO_MEMO_POINT;
        }
        if self.memo_layout.loops.last() != Some(&self.loops) {
            self.memo_layout.loops.push(self.loops.clone());
        }
        self.memo_layout.points.push((self.memo_layout.slots, self.memo_layout.loops.len() as u32 - 1));
        self.memo_layout.slots += self.loops.len() as u32 + 1;
        self.memo_layout.points.len() as MemoPoint - 1
    }

    /// Whether nothing that comes next is in a set.
    pub(crate) fn excludes(&mut self, set: u32, next: &Continuation) -> bool {
        let Some(sets) = next.first.sets.as_ref().filter(|_| !next.first.nullable) else { return false };
        let Self { disjoint, parsed, .. } = self;
        sets.iter().all(|&other| {
            *disjoint.entry((set, other)).or_insert_with(|| !parsed.sets.intersect(set, other))
        })
    }
}

fn collect_references(node: &Node, found: &mut BTreeSet<usize>) {
    if let Node::Reference(group) = node {
        found.insert(*group);
    }
    node.children().iter().for_each(|node| collect_references(node, found));
}
