//! Compiles capturing groups, atomic groups and look-around.

use crate::ast::{Look, Node};
use crate::compile::{Compiler, Continuation};
use crate::error::CompileError;
use crate::program::{AtomicKind, Inst};

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
