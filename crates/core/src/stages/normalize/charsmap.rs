//! SentencePiece's compiled rules: a little-endian u32 length, a double-array trie of that many bytes (the
//! format of darts-clone), then the replacements, each terminated by NUL.
//!
//! Parsing checks every reachable node, so that a lookup stays inside the arrays.

use piecework_unicode::{CodePointMap, CodePointMapBuilder};

use crate::error::{Error, ErrorKind};

/// The longest rule in bytes that a longest match finds; it bounds the work for each character.
pub(in crate::stages::normalize) const MAX_SOURCE_BYTES: usize = 256;

/// Checked rules.
#[derive(Clone, Debug)]
pub(in crate::stages::normalize) struct Charsmap {
    trie: CharsmapTrie,
    replacements: String,
    /// Whether a rule ends within a character.
    ends_within_chars: bool,
    /// For each ASCII character, whether a rule of several characters contains it.
    is_within_longer: [bool; 128],
    /// The first bytes of the first characters of rules, and of the other characters.
    first_bytes: Vec<u8>,
    next_bytes: Vec<u8>,
    /// The nodes of the first characters of rules.
    first_chars: CodePointMap<Option<FirstChar>>,
}

/// The node of a first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FirstChar {
    /// The base of its children.
    below: u32,
    /// The position of the replacement of the character alone.
    value: Option<u32>,
}

impl Charsmap {
    /// Parse and check a blob at `place` in its file; O(units).
    pub(in crate::stages::normalize) fn parse(blob: &[u8], place: &str) -> Result<Self, Error> {
        Self::parse_parts(blob)
            .map_err(|(found, expected)| Error::new(ErrorKind::Format, place, found, expected))
    }

    fn parse_parts(blob: &[u8]) -> Result<Self, InvalidCharsmap> {
        let (units, replacements) = parts(blob)?;
        let replacements = String::from_utf8(replacements.to_vec()).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            (format!("replacements that are not UTF-8 at byte {at}"), "UTF-8")
        })?;
        if !replacements.ends_with('\0') {
            return Err(("replacements without an end".to_owned(), "NUL after each replacement"));
        }
        let trie = CharsmapTrie::of(units);
        let (next, ends_within_chars) = trie.check(&replacements)?;
        let root = trie.root();
        let bytes = |is_among: &dyn Fn(u8) -> bool| (1..=0xF4).filter(|&byte| is_among(byte)).collect();
        let mut charsmap = Self {
            ends_within_chars,
            is_within_longer: std::array::from_fn(|byte| next[byte] || begins_longer(&trie, byte as u8)),
            first_bytes: bytes(&|byte| trie.child(root, byte).is_some()),
            next_bytes: bytes(&|byte| next[usize::from(byte)]),
            first_chars: CodePointMapBuilder::new(None).build(),
            trie,
            replacements,
        };
        charsmap.first_chars = charsmap.first_nodes();
        Ok(charsmap)
    }

    /// Look up the nodes of all first characters.
    fn first_nodes(&self) -> CodePointMap<Option<FirstChar>> {
        let (mut first_chars, mut steps) = (CodePointMapBuilder::new(None), usize::MAX);
        self.each_char(self.root(), &mut steps, &mut |c, below, value| {
            first_chars
                .set(c, Some(FirstChar { below: below as u32, value: value.map(|value| value as u32) }));
        });
        first_chars.build()
    }

    /// Return the replacement of the shortest prefix of `key` that has one.
    pub(in crate::stages::normalize) fn shortest_match(&self, key: &[u8]) -> Option<&str> {
        let mut base = self.root();
        for &byte in key.iter().take_while(|&&byte| byte != 0) {
            let (below, value) = self.child(base, byte)?;
            if let Some(value) = value {
                return self.replacement(value);
            }
            base = below;
        }
        None
    }

    /// Return whether a rule is this byte, or begins with it alone or before another ASCII character.
    pub(in crate::stages::normalize) fn touches_ascii(&self, byte: u8) -> bool {
        let Some((below, value)) = self.child(self.root(), byte) else { return false };
        value.is_some() || (1..=0x7F).any(|next| self.child(below, next).is_some())
    }

    /// Return whether a rule of several characters contains this ASCII character.
    pub(in crate::stages::normalize) fn is_within_longer(&self, byte: u8) -> bool {
        self.is_within_longer[usize::from(byte & 0x7F)]
    }

    /// Return whether a rule contains an ASCII character after its first character.
    pub(in crate::stages::normalize) fn continues_with_ascii(&self) -> bool {
        self.next_bytes.first().is_some_and(u8::is_ascii)
    }

    /// Return whether a rule ends within a character, so that it never is a longest match.
    pub(in crate::stages::normalize) fn ends_within_chars(&self) -> bool {
        self.ends_within_chars
    }

    /// Return whether a replacement contains this character.
    pub(in crate::stages::normalize) fn writes(&self, c: char) -> bool {
        self.replacements.contains(c)
    }

    /// Return the length of the longest rule that begins `text`, and its replacement.
    ///
    /// A rule that ends within a character, or is longer than `MAX_SOURCE_BYTES`, never matches.
    pub(in crate::stages::normalize) fn longest_match<'a>(
        &'a self,
        text: &str,
    ) -> Option<(usize, &'a str)> {
        let (first, len) = self.first_at(text)?;
        let mut base = first.below as usize;
        let mut longest = first.value.map(|value| (len, value as usize));
        let rest = text.bytes().enumerate().take(MAX_SOURCE_BYTES).skip(len);
        for (at, byte) in rest.take_while(|&(_, byte)| byte != 0) {
            let Some((below, value)) = self.child(base, byte) else { break };
            base = below;
            if let Some(value) = value.filter(|_| text.is_char_boundary(at + 1)) {
                longest = Some((at + 1, value));
            }
        }
        longest.and_then(|(len, value)| Some((len, self.replacement(value)?)))
    }

    /// Return whether a rule begins with a character.
    #[inline]
    pub(in crate::stages::normalize) fn begin_with(&self, c: char) -> bool {
        self.first_chars.get(c).is_some()
    }

    /// Return the node of the first character of a text and its length, if a rule begins with it.
    #[inline]
    fn first_at(&self, text: &str) -> Option<(FirstChar, usize)> {
        let c = text.chars().next()?;
        Some((self.first_chars.get(c)?, c.len_utf8()))
    }

    /// Visit every character after a node in at most `steps` steps, with the base of its node's children
    /// and its value if it ends a rule.
    pub(in crate::stages::normalize) fn each_char(
        &self,
        base: usize,
        steps: &mut usize,
        visit: &mut impl FnMut(char, usize, Option<usize>),
    ) {
        let lead_bytes = if base == self.root() { &self.first_bytes } else { &self.next_bytes };
        for &lead in lead_bytes {
            let (prefix, tail) = match lead {
                0..=0x7F => (u32::from(lead), 0),
                0x80..=0xC1 => continue,
                0xC2..=0xDF => (u32::from(lead & 0x1F), 1),
                0xE0..=0xEF => (u32::from(lead & 0xF), 2),
                _ => (u32::from(lead & 7), 3),
            };
            self.each_ending((base, lead), (prefix, tail), steps, visit);
        }
    }

    /// Visit the characters that continue with a byte: `prefix` holds the bits so far, `tail` the number of
    /// bytes after it.
    fn each_ending(
        &self,
        (base, byte): (usize, u8),
        (prefix, tail): (u32, u32),
        steps: &mut usize,
        visit: &mut impl FnMut(char, usize, Option<usize>),
    ) {
        let Some((below, value)) = self.child(base, byte).filter(|_| *steps > 0) else { return };
        *steps -= 1;
        if tail == 0 {
            return char::from_u32(prefix).into_iter().for_each(|c| visit(c, below, value));
        }
        for byte in 0x80..=0xBF {
            self.each_ending((below, byte), (prefix << 6 | u32::from(byte & 0x3F), tail - 1), steps, visit);
        }
    }

    /// Return the base of the root's children.
    pub(in crate::stages::normalize) fn root(&self) -> usize {
        self.trie.root()
    }

    /// Return the base of the children of the child by `byte`, and its value if it ends a rule.
    pub(in crate::stages::normalize) fn child(
        &self,
        base: usize,
        byte: u8,
    ) -> Option<(usize, Option<usize>)> {
        self.trie.child(base, byte)
    }

    /// Return the replacement at byte `from`.
    pub(in crate::stages::normalize) fn replacement(&self, from: usize) -> Option<&str> {
        self.replacements.get(from..)?.split('\0').next()
    }
}

/// Split a blob into trie and replacements.
fn parts(blob: &[u8]) -> Result<(&[u8], &[u8]), InvalidCharsmap> {
    const EXPECTED: &str = "the length of the trie, the trie and its replacements";
    let short = || (format!("{} bytes", blob.len()), EXPECTED);
    let (len, rest) = blob.split_first_chunk::<4>().ok_or_else(short)?;
    let len = u32::from_le_bytes(*len) as usize;
    if len > rest.len() || !len.is_multiple_of(4) {
        return Err((format!("a trie of {len} bytes in a blob of {}", blob.len()), EXPECTED));
    }
    Ok(rest.split_at(len))
}

/// Return whether a rule of several characters begins with an ASCII character.
fn begins_longer(trie: &CharsmapTrie, byte: u8) -> bool {
    let node = trie.child(trie.root(), byte);
    node.is_some_and(|(below, _)| (1..=255).any(|next| trie.child(below, next).is_some()))
}

// The double-array trie of a charsmap, in the format of darts-clone.
//
// A unit of the trie is 32 bits: bit 8 says that the node has a value, bits 0..8 and 31 are the label, bits
// 10..31 the offset, in steps of 256 where bit 9 is set. The child of a node whose children begin at `base`
// is the unit at `base ^ byte`, if that is its label; the value is the unit at `base`, bit 31 set.

/// Why bytes are no charsmap: what was found, and what was expected.
type InvalidCharsmap = (String, &'static str);

/// The number of units that are compared at once.
const GROUP: usize = 32;

/// The units of a trie. Once [`Self::check`] has passed, lookups stay inside the array.
#[derive(Clone, Debug)]
struct CharsmapTrie {
    units: Vec<u32>,
}

impl CharsmapTrie {
    /// Read the units, four bytes each.
    fn of(bytes: &[u8]) -> Self {
        let unit = |unit: &[u8]| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]]);
        Self { units: bytes.chunks_exact(4).map(unit).collect() }
    }

    /// Return the base of the root's children.
    fn root(&self) -> usize {
        self.units.first().map_or(0, |&root| offset(root))
    }

    /// Return the base of the children of the child by `byte`, and its value if it ends a rule.
    #[inline]
    fn child(&self, base: usize, byte: u8) -> Option<(usize, Option<usize>)> {
        let at = base ^ usize::from(byte);
        let unit = *self.units.get(at).filter(|&&unit| label(unit) == u32::from(byte))?;
        let below = at ^ offset(unit);
        let value = if has_value(unit) { Some(value(*self.units.get(below)?)) } else { None };
        Some((below, value))
    }

    /// Visit every node that a key can reach, each once for each number of bytes that its character lacks, and check that
    /// its children are inside the trie and its value inside the replacements. Return the bytes that rules have after
    /// their first one, and whether a rule ends within a character.
    fn check(&self, replacements: &str) -> Result<([bool; 256], bool), InvalidCharsmap> {
        let root = *self.units.first().ok_or(("an empty trie".to_owned(), "a trie with a root"))?;
        let mut visited = vec![0u8; self.units.len()];
        let (mut after_first, mut ends_within_chars) = ([false; 256], false);
        let mut pending = vec![(offset(root), 0)];
        let mut is_root = true;
        while let Some((base, lacking)) = pending.pop() {
            let block = base & !0xFF;
            if block + 0xFF >= self.units.len() {
                let found = format!("a trie of {} units with a node at {base}", self.units.len());
                return Err((found, "nodes inside the trie"));
            }
            if visited[base] >> lacking & 1 == 1 {
                continue;
            }
            visited[base] |= 1 << lacking;
            for at in (block..block + 0x100).step_by(GROUP).filter(|&at| self.has_child(at, base)) {
                for at in at..at + GROUP {
                    let (unit, byte) = (self.units[at], (at ^ base) as u32);
                    if byte == 0 || label(unit) != byte {
                        continue;
                    }
                    let below = at ^ offset(unit);
                    let lacking = lacking_after(lacking, byte as u8);
                    if has_value(unit) {
                        self.check_value(below, replacements)?;
                        ends_within_chars |= lacking > 0;
                    }
                    after_first[byte as usize] |= !is_root;
                    pending.push((below, lacking));
                }
            }
            is_root = false;
        }
        Ok((after_first, ends_within_chars))
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

/// Return how many bytes a character lacks after one more byte, where it lacked `before`. A byte that does not continue
/// a character begins one.
fn lacking_after(before: u32, byte: u8) -> u32 {
    match byte {
        0x80..=0xBF => before.saturating_sub(1),
        _ => (byte.leading_ones().min(4)).saturating_sub(1),
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

#[cfg(test)]
mod tests {
    use piecework_formats::normalization_rules::compile_named;

    use super::*;

    /// Return the longest match by definition, node by node.
    fn naive<'r>(rules: &'r Charsmap, text: &str) -> Option<(usize, &'r str)> {
        let (mut base, mut longest) = (rules.root(), None);
        for (at, byte) in text.bytes().enumerate().take_while(|&(_, byte)| byte != 0) {
            let Some((below, value)) = rules.child(base, byte) else { break };
            base = below;
            if let Some(value) = value.filter(|_| text.is_char_boundary(at + 1)) {
                longest = Some((at + 1, value));
            }
        }
        longest.and_then(|(len, value)| Some((len, rules.replacement(value)?)))
    }

    #[test]
    fn each_character_has_the_rules_that_begin_with_it() {
        for name in ["nmt_nfkc", "nmt_nfkc_cf"] {
            let rules = Charsmap::parse(&compile_named(name).unwrap(), "rules").unwrap();
            for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
                for text in [String::from(c), format!("{c}\u{301}"), format!("{c}\u{3099}x")] {
                    assert_eq!(rules.longest_match(&text), naive(&rules, &text), "{text:?}");
                }
            }
            assert_eq!(rules.longest_match(""), None);
        }
    }
}
