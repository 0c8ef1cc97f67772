//! The characters that compiled rules contain, and the text that no rule touches.

use foldhash::{HashMap, HashSet};
use piecework_unicode::{class_of, previous_char_start, Class, CodePointMap, CodePointMapBuilder};

use super::charsmap::Charsmap;
use crate::locks::Late;
use crate::text::METASPACE;

/// The most trie nodes that are visited; the rules of NFKC take a tenth.
const MAX_STEPS: usize = 1 << 18;

/// A rule changes the character alone; or it is `▁` or whitespace beyond ASCII, which pipelines treat apart.
const CHANGES: u8 = 1;
/// A rule of several characters begins with the character.
const BEGINS: u8 = 1 << 1;
/// A rule contains the character after the first.
const CONTINUES: u8 = BEGINS << 1;

/// The last whitespace.
const LAST_SPACE: char = '\u{3000}';

/// Finds text that no rule touches, by a table of characters that is made for the first text.
#[derive(Clone, Debug, Default)]
pub(super) struct UntouchedText(Late<CodePointMap<u8>>);

impl UntouchedText {
    /// Return the end of the characters from byte `from` on that certainly stay unchanged: the position of the first
    /// character that a rule changes alone, or of the first two with which a rule may begin. No character is certain while
    /// another thread makes the table.
    #[inline]
    pub(super) fn end(&self, rules: &Charsmap, text: &str, from: usize) -> usize {
        let Some(flags) = self.0.get_or_build(|| flags_of(rules)) else { return from };
        let (mut chars, mut before) = (text[from..].chars(), 0);
        while let Some(c) = chars.next() {
            let now = flags.get(c);
            if now & (CHANGES | (before & BEGINS) << 1) != 0 {
                let at = text.len() - chars.as_str().len() - c.len_utf8();
                let is_second = now & (before & BEGINS) << 1 != 0;
                return if is_second { previous_char_start(text.as_bytes(), at).unwrap_or(at) } else { at };
            }
            before = now;
        }
        text.len()
    }

    /// Make the table.
    pub(super) fn warm_up(&self, rules: &Charsmap) {
        self.0.get_or_make(|| flags_of(rules));
    }
}

/// Return the flags of each character; all characters are changed if there are too many rules, or some end within
/// characters.
fn flags_of(rules: &Charsmap) -> CodePointMap<u8> {
    let mut later = LaterChars::new();
    let (mut first, mut flags) = (Vec::new(), HashMap::<char, u8>::default());
    rules.each_char(rules.root(), &mut later.steps, &mut |c, below, value| first.push((c, below, value)));
    for (c, below, value) in first {
        let begins = if later.add(rules, (below, false)) { BEGINS } else { 0 };
        flags.insert(c, begins | if value.is_some() { CHANGES } else { 0 });
    }
    later.add_pending(rules);
    if later.steps == 0 || rules.ends_within_chars() {
        return CodePointMapBuilder::new(CHANGES).build();
    }
    later.chars.iter().for_each(|&c| *flags.entry(c).or_default() |= CONTINUES);
    let spaces = ('\u{80}'..=LAST_SPACE).filter(|&c| class_of(c).has(Class::WHITESPACE));
    // A vertical tab is no ASCII whitespace.
    spaces.chain([METASPACE, '\u{b}']).for_each(|c| *flags.entry(c).or_default() |= CHANGES);
    let mut map = CodePointMapBuilder::new(0);
    flags.into_iter().for_each(|(c, flags)| map.set(c, flags));
    map.build()
}

/// The base of a trie node, and whether the first character of its rules is a gap.
type RuleNode = (usize, bool);

/// The characters after the first ones of rules.
pub(super) struct LaterChars {
    pub(super) chars: HashSet<char>,
    /// Whether a rule writes a gap where its first character alone does not.
    pub(super) writes_gaps: bool,
    /// Visited nodes, and whether characters follow them.
    visited: HashMap<RuleNode, bool>,
    pending: Vec<RuleNode>,
    /// How many more nodes may be visited.
    pub(super) steps: usize,
}

impl LaterChars {
    pub(super) fn new() -> Self {
        let (chars, visited) = (HashSet::default(), HashMap::default());
        Self { chars, writes_gaps: false, visited, pending: Vec::new(), steps: MAX_STEPS }
    }

    /// Add the characters that follow a node; return whether there are any.
    pub(super) fn add(&mut self, rules: &Charsmap, node: RuleNode) -> bool {
        if let Some(&has_next) = self.visited.get(&node) {
            return has_next;
        }
        let (base, is_gap_first) = node;
        let Self { chars, writes_gaps, pending, steps, .. } = self;
        let count = pending.len();
        rules.each_char(base, steps, &mut |c, below, value| {
            chars.insert(c);
            *writes_gaps |=
                !is_gap_first && value.and_then(|value| rules.replacement(value)).is_some_and(is_gap);
            pending.push((below, is_gap_first));
        });
        let has_next = pending.len() > count;
        self.visited.insert(node, has_next);
        has_next
    }

    /// Add the characters after those that are added already.
    pub(super) fn add_pending(&mut self, rules: &Charsmap) {
        while let Some(node) = self.pending.pop() {
            self.add(rules, node);
        }
    }
}

/// Return whether a replacement is empty or contains a space.
pub(super) fn is_gap(text: &str) -> bool {
    text.is_empty() || text.contains(' ')
}
