//! Makes instructions of groups: captured ones, atomic ones and look-around.

use super::ast::{Look, Node};
use super::compile::{Compiler, Next};
use super::error::CompileError;
use super::program::{Fence, Inst};

impl Compiler {
    pub(super) fn register_of(&self, group: usize) -> Option<u32> {
        self.referred.iter().position(|&referred| referred == group).map(|index| 2 * index as u32)
    }

    pub(super) fn capture(&mut self, group: usize, body: &Node, next: &Next) -> Result<(), CompileError> {
        let Some(register) = self.register_of(group) else { return self.node(body, next) };
        self.emit(Inst::Save { register })?;
        self.node(body, &Next { accepts: false, ..next.clone() })?;
        self.emit(Inst::Save { register: register + 1 }).map(drop)
    }

    pub(super) fn atomic(&mut self, body: &Node) -> Result<(), CompileError> {
        match body {
            Node::Repeat(repeat) if self.is_run(repeat) => self.run(repeat, &Next::ACCEPTS),
            body => self.fenced(Fence::Atomic, |compiler| compiler.node(body, &Next::ACCEPTS)),
        }
    }

    pub(super) fn look(&mut self, look: &Look) -> Result<(), CompileError> {
        if let Node::Set(set) = look.body {
            let (behind, negate) = (look.behind, look.negate);
            return self.emit(Inst::Peek { set, behind, negate }).map(drop);
        }
        let fence = if look.negate { Fence::NegatedLook } else { Fence::Look };
        let backward = look.behind && self.is_reversible(&look.body);
        let before = (self.backward, self.remembers);
        self.backward = backward;
        self.remembers &= backward || !look.behind;
        self.fenced(fence, |compiler| match look.behind && !backward {
            true => compiler.stepping_back(look),
            false => compiler.node(&look.body, &Next::ACCEPTS),
        })?;
        (self.backward, self.remembers) = before;
        Ok(())
    }

    /// Look-behind from every place where it could begin.
    fn stepping_back(&mut self, look: &Look) -> Result<(), CompileError> {
        let (min, max) = look.chars;
        self.emit(Inst::StepBack { min, max: max.unwrap_or(u32::MAX) })?;
        self.node(&look.body, &Next::UNKNOWN)?;
        self.emit(Inst::Return).map(drop)
    }

    /// Whether it is the same forwards and backwards what a node matches.
    fn is_reversible(&self, node: &Node) -> bool {
        !node.any(&|node| match node {
            Node::Atomic(_) | Node::Reference(_) => true,
            Node::Capture(group, _) => self.referred.contains(group),
            Node::Look(look) => !look.behind,
            _ => false,
        })
    }

    /// What is inside does not depend on the loops around.
    fn fenced(
        &mut self,
        fence: Fence,
        inside: impl FnOnce(&mut Self) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        let slot = self.slot();
        let open = self.emit(Inst::Open { fence, end: 0, slot })?;
        let loops = std::mem::take(&mut self.loops);
        inside(self)?;
        self.loops = loops;
        self.land(&[open]);
        self.emit(Inst::Close(fence)).map(drop)
    }
}
