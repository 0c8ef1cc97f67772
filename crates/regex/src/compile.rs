//! Makes a program of a tree.

use std::collections::{BTreeSet, HashMap};

use super::ast::{Anchor, Node};
use super::char_set::CharSet;
use super::class;
use super::error::CompileError;
use super::first::First;
use super::oniguruma::Parsed;
use super::program::{Choice, ChoiceTable, Inst, Pc, Points, Program, Slot, Starts, NO_SLOT};

/// Most instructions that a program may have: hundreds of times what real ones need.
const MAX_INSTRUCTIONS: usize = 100_000;

/// Most bytes that the texts in instructions may have together.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Alternatives of one choice; of more, some are choices of their own.
const MAX_WAYS: usize = 64;

/// Sets that get a table of their own.
const MAX_TABLES: usize = 64;

/// What comes after a node.
#[derive(Clone, Debug)]
pub(super) struct Next {
    pub(super) first: First,
    /// It matches whatever comes, so that nothing before it is ever tried again.
    pub(super) accepts: bool,
}

impl Next {
    pub(super) const UNKNOWN: Self = Self { first: First::UNKNOWN, accepts: false };
    pub(super) const ACCEPTS: Self = Self { first: First::UNKNOWN, accepts: true };
}

/// Compile an expression that was read.
pub(super) fn compile(mut parsed: Parsed) -> Result<Program, CompileError> {
    let root = std::mem::replace(&mut parsed.root, Node::Empty);
    let first = First::of(&root, &mut parsed.sets);
    let mut compiler = Compiler::new(parsed, &root);
    compiler.node(&root, &Next::ACCEPTS)?;
    compiler.emit(Inst::Match)?;
    let searches_anywhere = !root.any(&|node| *node == Node::Anchor(Anchor::SearchStart));
    Ok(compiler.finish(&first, searches_anywhere))
}

pub(super) struct Compiler {
    pub(super) parsed: Parsed,
    pub(super) code: Vec<Inst>,
    text_bytes: usize,
    starts: Vec<Starts>,
    start_ids: HashMap<Starts, u32>,
    choices: Vec<Choice>,
    tables: Vec<ChoiceTable>,
    table_ids: HashMap<ChoiceTable, u32>,
    disjoint: HashMap<(u32, u32), bool>,
    points: Points,
    /// Registers so far; those of groups that are referred to come first, two each.
    pub(super) registers: u32,
    pub(super) referred: BTreeSet<usize>,
    /// The registers of the loops around, outermost first.
    pub(super) loops: Vec<u32>,
    pub(super) remembers: bool,
    /// Whether text is read from its end, in look-behind.
    pub(super) backward: bool,
}

impl Compiler {
    fn new(parsed: Parsed, root: &Node) -> Self {
        let mut referred = BTreeSet::new();
        collect_references(root, &mut referred);
        Self {
            parsed,
            code: Vec::new(),
            text_bytes: 0,
            starts: Vec::new(),
            start_ids: HashMap::new(),
            choices: Vec::new(),
            tables: Vec::new(),
            table_ids: HashMap::new(),
            disjoint: HashMap::new(),
            points: Points { loops: vec![Vec::new()], ..Points::default() },
            registers: 2 * referred.len() as u32,
            remembers: referred.is_empty(),
            referred,
            loops: Vec::new(),
            backward: false,
        }
    }

    fn finish(mut self, first: &First, searches_anywhere: bool) -> Program {
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
            word: CharSet::new(&class::word(), true),
            first: first.union(&self.parsed.sets).map(|set| CharSet::new(&set, true)),
            can_remember: self.referred.is_empty() && searches_anywhere,
            code: self.code,
            starts: self.starts,
            choices: self.choices,
            tables: self.tables,
            points: self.points,
            registers: self.registers as usize,
        };
        assert!(program.is_sound(), "a compiled pattern names what it does not have");
        program
    }

    pub(super) fn pc(&self) -> Pc {
        self.code.len() as Pc
    }

    pub(super) fn emit(&mut self, inst: Inst) -> Result<Pc, CompileError> {
        if self.code.len() >= MAX_INSTRUCTIONS {
            return Err(CompileError::too_large());
        }
        self.code.push(inst);
        Ok(self.pc() - 1)
    }

    /// A node, given what comes after it.
    pub(super) fn node(&mut self, node: &Node, next: &Next) -> Result<(), CompileError> {
        match node {
            Node::Empty => Ok(()),
            Node::Set(set) => self.emit(self.one(*set)).map(drop),
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

    pub(super) fn one(&self, set: u32) -> Inst {
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

    fn concat(&mut self, nodes: &[Node], next: &Next) -> Result<(), CompileError> {
        if self.backward {
            return nodes.iter().rev().try_for_each(|node| self.node(node, &Next::UNKNOWN));
        }
        let mut nexts = vec![next.clone()];
        for node in nodes.iter().skip(1).rev() {
            let first = First::of(node, &mut self.parsed.sets);
            let after = nexts.last().unwrap_or(next);
            nexts.push(Next { first: first.then(&after.first), accepts: false });
        }
        nodes.iter().zip(nexts.iter().rev()).try_for_each(|(node, next)| self.node(node, next))
    }

    fn alternate(&mut self, nodes: &[Node], next: &Next) -> Result<(), CompileError> {
        let parts: Vec<&[Node]> = nodes.chunks(nodes.len().div_ceil(MAX_WAYS).max(1)).collect();
        let slot = self.slot();
        let choice = self.choices.len() as u32;
        let table = self.table(&parts, next);
        self.choices.push(Choice { table, targets: Box::default() });
        self.emit(Inst::Choose { choice, slot })?;
        let (mut targets, mut jumps) = (Vec::new(), Vec::new());
        for (index, &part) in parts.iter().enumerate() {
            targets.push(self.pc());
            match part {
                [node] => self.node(node, next)?,
                nodes => self.alternate(nodes, next)?,
            }
            if index + 1 < parts.len() {
                jumps.push(self.emit(Inst::Jump(0))?);
            }
        }
        self.choices[choice as usize].targets = targets.into();
        self.land(&jumps);
        Ok(())
    }

    /// Let jumps lead to here.
    pub(super) fn land(&mut self, jumps: &[Pc]) {
        let here = self.pc();
        for &jump in jumps {
            match &mut self.code[jump as usize] {
                Inst::Jump(to) | Inst::End { exit: to, .. } | Inst::Open { end: to, .. } => *to = here,
                Inst::Split { first, .. } if *first == Pc::MAX => *first = here,
                Inst::Split { second, .. } => *second = here,
                _ => {}
            }
        }
    }

    /// Which alternatives can match by the byte that is next.
    fn table(&mut self, parts: &[&[Node]], next: &Next) -> u32 {
        let mut table = Box::new([0; 130]);
        for (index, part) in parts.iter().enumerate() {
            let starts = match self.backward {
                true => Starts::ANY,
                false => {
                    First::of_any(part, &mut self.parsed.sets).then(&next.first).starts(&self.parsed.sets)
                }
            };
            (0..128).for_each(|byte| table[byte] |= ((starts.ascii >> byte & 1) as u64) << index);
            table[128] |= u64::from(starts.other) << index;
            table[129] |= u64::from(starts.end) << index;
        }
        let Self { tables, table_ids, .. } = self;
        *table_ids.entry(table).or_insert_with_key(|table| {
            tables.push(table.clone());
            tables.len() as u32 - 1
        })
    }

    pub(super) fn starts(&mut self, first: &First) -> u32 {
        let starts = if self.backward { Starts::ANY } else { first.starts(&self.parsed.sets) };
        let Self { starts: all, start_ids, .. } = self;
        *start_ids.entry(starts).or_insert_with(|| {
            all.push(starts);
            all.len() as u32 - 1
        })
    }

    /// A number for what is remembered about the next instruction.
    pub(super) fn slot(&mut self) -> Slot {
        if !self.remembers {
            return NO_SLOT;
        }
        if self.points.loops.last() != Some(&self.loops) {
            self.points.loops.push(self.loops.clone());
        }
        self.points.bases.push((self.points.slots, self.points.loops.len() as u32 - 1));
        self.points.slots += self.loops.len() as u32 + 1;
        self.points.bases.len() as Slot - 1
    }

    /// Whether nothing that comes next is in a set.
    pub(super) fn excludes(&mut self, set: u32, next: &Next) -> bool {
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
