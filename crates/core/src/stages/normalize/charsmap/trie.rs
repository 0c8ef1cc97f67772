//! The double-array trie of a charsmap, in the format of darts-clone.
//!
//! A unit of the trie is 32 bits: bit 8 says that the node has a value, bits 0..8 and 31 are the label, bits
//! 10..31 the offset, in steps of 256 where bit 9 is set. The child of a node whose children begin at `base`
//! is the unit at `base ^ byte`, if that is its label; the value is the unit at `base`, bit 31 set.

/// Why bytes are no charsmap: what was found, and what was expected.
pub(super) type InvalidCharsmap = (String, &'static str);

/// The number of units that are compared at once.
const GROUP: usize = 32;

/// The units of a trie. Once [`Self::check`] has passed, lookups stay inside the array.
#[derive(Clone, Debug)]
pub(super) struct CharsmapTrie {
    units: Vec<u32>,
}

impl CharsmapTrie {
    /// Read the units, four bytes each.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let unit = |unit: &[u8]| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]]);
        Self { units: bytes.chunks_exact(4).map(unit).collect() }
    }

    /// Return the base of the root's children.
    pub(super) fn root(&self) -> usize {
        self.units.first().map_or(0, |&root| offset(root))
    }

    /// Return the base of the children of the child by `byte`, and its value if it ends a rule.
    #[inline]
    pub(super) fn child(&self, base: usize, byte: u8) -> Option<(usize, Option<usize>)> {
        let at = base ^ usize::from(byte);
        let unit = *self.units.get(at).filter(|&&unit| label(unit) == u32::from(byte))?;
        let below = at ^ offset(unit);
        let value = if has_value(unit) { Some(value(*self.units.get(below)?)) } else { None };
        Some((below, value))
    }

    /// Visit every node that a key can reach, each once, and check that its children are inside the trie and its
    /// value inside the replacements. Return the bytes that rules have after their first one.
    pub(super) fn check(&self, replacements: &str) -> Result<[bool; 256], InvalidCharsmap> {
        let root = *self.units.first().ok_or(("an empty trie".to_owned(), "a trie with a root"))?;
        let mut visited = vec![false; self.units.len()];
        let mut after_first = [false; 256];
        let mut pending = vec![offset(root)];
        let mut is_root = true;
        while let Some(base) = pending.pop() {
            let block = base & !0xFF;
            if block + 0xFF >= self.units.len() {
                let found = format!("a trie of {} units with a node at {base}", self.units.len());
                return Err((found, "nodes inside the trie"));
            }
            if std::mem::replace(&mut visited[base], true) {
                continue;
            }
            for at in (block..block + 0x100).step_by(GROUP).filter(|&at| self.has_child(at, base)) {
                for at in at..at + GROUP {
                    let (unit, byte) = (self.units[at], (at ^ base) as u32);
                    if byte == 0 || label(unit) != byte {
                        continue;
                    }
                    let below = at ^ offset(unit);
                    if has_value(unit) {
                        self.check_value(below, replacements)?;
                    }
                    after_first[byte as usize] |= !is_root;
                    pending.push(below);
                }
            }
            is_root = false;
        }
        Ok(after_first)
    }

    /// Return whether a unit of the group that begins at `start` may be a child: most groups have none, and these are
    /// passed over without a branch for each unit.
    fn has_child(&self, start: usize, base: usize) -> bool {
        let units = self.units[start..start + GROUP].iter().zip(start..);
        units.fold(false, |any, (&unit, at)| any | (label(unit) == (at ^ base) as u32))
    }

    fn check_value(&self, at: usize, replacements: &str) -> Result<(), InvalidCharsmap> {
        let unit = self.units.get(at).filter(|&&unit| unit >> 31 == 1);
        let inside = unit.is_some_and(|&unit| {
            value(unit) < replacements.len() && replacements.is_char_boundary(value(unit))
        });
        if inside {
            return Ok(());
        }
        let found = format!("a value at unit {at} that is no replacement");
        Err((found, "values that point into the replacements"))
    }
}

const fn has_value(unit: u32) -> bool {
    unit >> 8 & 1 == 1
}

const fn value(unit: u32) -> usize {
    (unit & 0x7FFF_FFFF) as usize
}

const fn label(unit: u32) -> u32 {
    unit & 0x8000_00FF
}

const fn offset(unit: u32) -> usize {
    ((unit >> 10) as usize) << ((unit & 1 << 9) >> 6)
}
