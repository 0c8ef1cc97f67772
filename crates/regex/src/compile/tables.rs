//! The tables of a program: lead byte sets, dispatch tables and memo points.

use crate::ast::Node;
use crate::compile::first_chars::FirstChars;
use crate::compile::{Compiler, Continuation};
use crate::program::{LeadBytes, MemoPoint, NO_MEMO_POINT};

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
