//! Compiles a syntax tree into a program.

mod first_chars;
pub(crate) mod repeats;

use std::collections::{BTreeSet, HashMap};

use crate::ast::{Anchor, Look, Node};
use crate::char_set::CharSet;
use crate::compile::first_chars::FirstChars;
use crate::parse::ParsedExpression;
use crate::program::{
    Alternation, AtomicKind, DispatchTable, Inst, LeadBytes, MemoLayout, MemoPoint, Pc, Program,
    NO_MEMO_POINT,
};
use crate::{char_classes, CompileError};

/// The most instructions in a program: hundreds of times what published split patterns need.
const MAX_INSTRUCTIONS: usize = 100_000;

/// The most bytes of literal text in a program.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// The most alternatives in one `Alternation`, whose dispatch table has 64 bits. Larger ones are nested.
const MAX_ALTERNATIVES: usize = 64;

/// The most character sets with a bitmap of their own.
const MAX_TABLES: usize = 64;

/// What follows a node.
#[derive(Clone, Debug)]
pub(crate) struct Continuation {
    /// The characters that it can start with.
    pub(crate) first: FirstChars,
    /// Whether it always matches, so that the matcher never backtracks into the node.
    pub(crate) accepts: bool,
}

impl Continuation {
    pub(crate) const UNKNOWN: Self = Self { first: FirstChars::UNKNOWN, accepts: false };
    pub(crate) const ACCEPT: Self = Self { first: FirstChars::UNKNOWN, accepts: true };
}

/// Compile a parsed expression.
pub(crate) fn compile(mut parsed: ParsedExpression) -> Result<Program, CompileError> {
    let root = std::mem::replace(&mut parsed.root, Node::Empty);
    let first = FirstChars::of(&root, &mut parsed.sets);
    let mut compiler = Compiler::new(parsed, &root);
    compiler.node(&root, &Continuation::ACCEPT)?;
    compiler.emit(Inst::Match)?;
    let searches_anywhere = !root.any(&|node| *node == Node::Anchor(Anchor::SearchStart));
    Ok(compiler.finish(&first, searches_anywhere))
}

/// The program so far.
pub(crate) struct Compiler {
    pub(crate) parsed: ParsedExpression,
    pub(crate) code: Vec<Inst>,
    text_bytes: usize,
    lead_bytes: Vec<LeadBytes>,
    lead_byte_ids: HashMap<LeadBytes, u32>,
    alternations: Vec<Alternation>,
    dispatch_tables: Vec<DispatchTable>,
    dispatch_table_ids: HashMap<DispatchTable, u32>,
    /// Whether two sets are disjoint, as computed so far.
    disjoint: HashMap<(u32, u32), bool>,
    memo_layout: MemoLayout,
    /// The number of registers so far. Those of referenced groups come first, two each.
    pub(crate) registers: u32,
    /// The groups that backreferences refer to. Others are not recorded.
    pub(crate) referenced: BTreeSet<usize>,
    /// The registers of the enclosing loops, outermost first.
    pub(crate) loops: Vec<u32>,
    /// Whether the current instructions are memoized.
    pub(crate) memoizes: bool,
    /// Whether the current instructions read backward, in look-behind.
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

    /// Build the program.
    fn finish(mut self, first: &FirstChars, searches_anywhere: bool) -> Program {
        // A jump to `Match` becomes `Match`.
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

    /// Return the index of the next instruction.
    pub(crate) fn pc(&self) -> Pc {
        self.code.len() as Pc
    }

    /// Append an instruction and return its index.
    pub(crate) fn emit(&mut self, inst: Inst) -> Result<Pc, CompileError> {
        if self.code.len() >= MAX_INSTRUCTIONS {
            return Err(CompileError::too_large());
        }
        self.code.push(inst);
        Ok(self.pc() - 1)
    }

    /// Compile a node. `next` is what follows it.
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

    /// Return the instruction that reads one character of a set in the current direction.
    pub(crate) fn set_inst(&self, set: u32) -> Inst {
        if self.backward {
            Inst::SetBack(set)
        } else {
            Inst::Set(set)
        }
    }

    /// Compile a literal text.
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

    /// Compile nodes in order; in reverse order when reading backward.
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

    /// Compile alternatives. More than `MAX_ALTERNATIVES` become nested alternations.
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

    /// Set the targets of jumps to the next instruction.
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
}

/// Collect the groups that backreferences in a node refer to.
fn collect_references(node: &Node, found: &mut BTreeSet<usize>) {
    if let Node::Reference(group) = node {
        found.insert(*group);
    }
    node.children().iter().for_each(|node| collect_references(node, found));
}

impl Compiler {
    /// Return the first of the two registers of a group, if a backreference refers to it.
    pub(crate) fn register_of(&self, group: usize) -> Option<u32> {
        self.referenced.iter().position(|&referenced| referenced == group).map(|index| 2 * index as u32)
    }

    /// Compile a capturing group. It is recorded only if it is referenced.
    pub(crate) fn capture(
        &mut self,
        group: usize,
        body: &Node,
        next: &Continuation,
    ) -> Result<(), CompileError> {
        let Some(register) = self.register_of(group) else { return self.node(body, next) };
        self.emit(Inst::Save { register })?;
        self.node(body, &Continuation { accepts: false, ..next.clone() })?;
        self.emit(Inst::Save { register: register + 1 }).map(drop)
    }

    /// Compile an atomic group. A run of one set becomes a single possessive instruction.
    pub(crate) fn atomic(&mut self, body: &Node) -> Result<(), CompileError> {
        match body {
            Node::Repeat(repeat) if self.is_set_run(repeat) => self.set_run(repeat, &Continuation::ACCEPT),
            body => {
                self.atomic_region(AtomicKind::Group, |compiler| compiler.node(body, &Continuation::ACCEPT))
            }
        }
    }

    /// Compile look-around. A single set becomes `Peek`.
    ///
    /// Look-behind is compiled to read backward if that matches the same. Otherwise it reads forward from
    /// every possible start, and is not memoized.
    pub(crate) fn look(&mut self, look: &Look) -> Result<(), CompileError> {
        if let Node::Set(set) = look.body {
            let (behind, negate) = (look.behind, look.negate);
            return self.emit(Inst::Peek { set, behind, negate }).map(drop);
        }
        let kind = if look.negate { AtomicKind::NegatedLookAround } else { AtomicKind::LookAround };
        let backward = look.behind && self.is_reversible(&look.body);
        let before = (self.backward, self.memoizes);
        self.backward = backward;
        self.memoizes &= backward || !look.behind;
        self.atomic_region(kind, |compiler| match look.behind && !backward {
            true => compiler.forward_look_behind(look),
            false => compiler.node(&look.body, &Continuation::ACCEPT),
        })?;
        (self.backward, self.memoizes) = before;
        Ok(())
    }

    /// Compile look-behind that reads forward from every possible start.
    fn forward_look_behind(&mut self, look: &Look) -> Result<(), CompileError> {
        let (min, max) = look.length;
        self.emit(Inst::StepBack { min, max: max.unwrap_or(u32::MAX) })?;
        self.node(&look.body, &Continuation::UNKNOWN)?;
        self.emit(Inst::LookBehindEnd).map(drop)
    }

    /// Return whether a node matches the same texts forward and backward.
    fn is_reversible(&self, node: &Node) -> bool {
        !node.any(&|node| match node {
            Node::Atomic(_) | Node::Reference(_) => true,
            Node::Capture(group, _) => self.referenced.contains(group),
            Node::Look(look) => !look.behind,
            _ => false,
        })
    }

    /// Compile an atomic region. Its inside does not depend on the enclosing loops.
    fn atomic_region(
        &mut self,
        kind: AtomicKind,
        inside: impl FnOnce(&mut Self) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        let memo_point = self.memo_point();
        let start = self.emit(Inst::AtomicStart { kind, end: 0, memo_point })?;
        let loops = std::mem::take(&mut self.loops);
        inside(self)?;
        self.loops = loops;
        self.patch_jumps(&[start]);
        self.emit(Inst::AtomicEnd(kind)).map(drop)
    }
}

impl Compiler {
    /// Return the index of the dispatch table for some alternatives.
    pub(crate) fn dispatch_table(&mut self, branches: &[&[Node]], next: &Continuation) -> u32 {
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

    /// Return the index of the lead byte set of some first characters.
    pub(crate) fn lead_bytes(&mut self, first: &FirstChars) -> u32 {
        let lead_bytes = if self.backward { LeadBytes::ANY } else { first.lead_bytes(&self.parsed.sets) };
        let Self { lead_bytes: all, lead_byte_ids, .. } = self;
        *lead_byte_ids.entry(lead_bytes).or_insert_with(|| {
            all.push(lead_bytes);
            all.len() as u32 - 1
        })
    }

    /// Return a memo point for the next instruction, with a slot for each count of enclosing loops.
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

    /// Return whether what follows cannot start with a character of a set.
    pub(crate) fn excludes(&mut self, set: u32, next: &Continuation) -> bool {
        let Some(sets) = next.first.sets.as_ref().filter(|_| !next.first.nullable) else { return false };
        let Self { disjoint, parsed, .. } = self;
        sets.iter().all(|&other| {
            *disjoint.entry((set, other)).or_insert_with(|| !parsed.sets.intersect(set, other))
        })
    }
}
