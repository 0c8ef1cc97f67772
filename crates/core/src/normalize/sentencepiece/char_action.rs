//! What becomes of characters by the rules of SentencePiece, told one by one where no rule joins neighbours.

use rustc_hash::{FxHashMap, FxHashSet};

use super::normalizer::SentencePiece;
use super::writer::MARK;
use crate::normalize::charsmap::Charsmap;

/// How the rules treat a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CharAction<'r> {
    /// What it becomes alone, if that is not what it is.
    pub becomes: Option<&'r str>,
    /// Whether a rule of several characters begins with it.
    pub begins_longer: bool,
    /// Whether a rule goes on with it.
    pub goes_on: bool,
    /// Whether it is in a user-defined symbol of several characters, or is such a space.
    pub is_in_symbol: bool,
}

impl CharAction<'_> {
    /// Whether it becomes nothing, or something with a space.
    #[must_use]
    pub fn is_gap(&self) -> bool {
        self.becomes.is_some_and(is_gap)
    }
}

/// By character.
pub type CharActions<'r> = FxHashMap<char, CharAction<'r>>;

/// How many steps through the rules are taken at most; those of NFKC have a tenth of them.
const MAX_STEPS: usize = 1 << 18;

impl SentencePiece {
    /// How the rules treat the characters that they have; all others stay as they are. Nothing where a rule goes on
    /// with an ASCII character, or writes nothing or a space where what it begins with does not, or where there are too many.
    #[must_use]
    pub fn fates(&self) -> Option<CharActions<'_>> {
        let mut fates = self.rules().map_or(Some(CharActions::default()), fates_of)?;
        for symbol in &self.spec().user_defined_symbols {
            let mut chars = symbol.chars();
            match (chars.next(), chars.next()) {
                // It is taken before any rule.
                (Some(c), None) if c != ' ' && c != MARK => {
                    let fate = fates.entry(c).or_default();
                    (fate.becomes, fate.begins_longer) = (None, false);
                }
                _ => symbol.chars().for_each(|c| fates.entry(c).or_default().is_in_symbol = true),
            }
        }
        Some(fates)
    }
}

fn fates_of(rules: &Charsmap) -> Option<CharActions<'_>> {
    let (mut begun, mut steps) = (Vec::new(), MAX_STEPS);
    rules.each_char(rules.root(), &mut steps, &mut |c, below, value| begun.push((c, below, value)));
    let (mut fates, mut after) = (CharActions::default(), After { steps, ..After::default() });
    for (c, below, value) in begun {
        let fate = CharAction {
            becomes: value.and_then(|value| rules.replacement(value)),
            ..CharAction::default()
        };
        let begins_longer = after.add(rules, (below, fate.is_gap()));
        fates.insert(c, CharAction { begins_longer, ..fate });
    }
    while let Some(node) = after.waiting.pop() {
        after.add(rules, node);
    }
    after.chars.iter().for_each(|&c| fates.entry(c).or_default().goes_on = true);
    (after.steps > 0 && !after.writes_gaps && !rules.goes_on_with_ascii()).then_some(fates)
}

/// Where what follows begins in the rules, and whether the first character is a gap.
type Node = (usize, bool);

/// What comes after the first characters of rules.
#[derive(Default)]
struct After {
    chars: FxHashSet<char>,
    /// Whether a rule writes a gap where its first character is none.
    writes_gaps: bool,
    /// Nodes that have been seen, and whether characters follow.
    seen: FxHashMap<Node, bool>,
    waiting: Vec<Node>,
    steps: usize,
}

impl After {
    /// Add what follows a node; says whether characters do.
    fn add(&mut self, rules: &Charsmap, node: Node) -> bool {
        if let Some(&has_next) = self.seen.get(&node) {
            return has_next;
        }
        let (base, is_gap_first) = node;
        let Self { chars, writes_gaps, waiting, steps, .. } = self;
        let count = waiting.len();
        rules.each_char(base, steps, &mut |c, below, value| {
            chars.insert(c);
            *writes_gaps |=
                !is_gap_first && value.and_then(|value| rules.replacement(value)).is_some_and(is_gap);
            waiting.push((below, is_gap_first));
        });
        let has_next = waiting.len() > count;
        self.seen.insert(node, has_next);
        has_next
    }
}

fn is_gap(text: &str) -> bool {
    text.is_empty() || text.contains(' ')
}

#[cfg(test)]
mod tests {
    use crate::normalize::{Rules, SentencePiece};
    use crate::spec::SentencePieceNormalizerSpec;

    fn compiled(name: &str, symbols: &[&str]) -> SentencePiece {
        let spec = SentencePieceNormalizerSpec {
            charsmap: Rules::named(name).unwrap().blob().to_vec(),
            add_dummy_prefix: true,
            remove_extra_whitespaces: true,
            escape_whitespaces: true,
            treat_whitespace_as_suffix: false,
            user_defined_symbols: symbols.iter().map(|&symbol| symbol.to_owned()).collect(),
        };
        SentencePiece::compile(&spec, "normalizer").unwrap()
    }

    #[test]
    fn what_is_told_of_characters_is_what_the_rules_do() {
        let symbols = ["\u{e9}", "\u{2013}", "\u{301}", "<\u{e8}>", "\u{ff21}"];
        for (name, symbols) in [("nmt_nfkc", &symbols[..]), ("nmt_nfkc_cf", &[])] {
            let normalizer = compiled(name, symbols);
            let fates = normalizer.fates().unwrap();
            let seconds: Vec<char> =
                fates.keys().copied().filter(|c| !fates[c].goes_on).step_by(50).collect();
            for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
                let (fate, alone) = (fates.get(&c).copied().unwrap_or_default(), c.to_string());
                let becomes = fate.becomes.unwrap_or(&alone);
                assert_eq!(normalizer.prefix(&alone, 0), (becomes, c.len_utf8()), "{c:?}");
                let step = if fate.begins_longer { 1 } else { 97 };
                for next in seconds.iter().step_by(step) {
                    let pair = format!("{c}{next}");
                    assert_eq!(normalizer.prefix(&pair, 0), (becomes, c.len_utf8()), "{pair:?}");
                }
                if !fate.begins_longer {
                    let pair = format!("{c}\u{301}");
                    assert_eq!(normalizer.prefix(&pair, 0), (becomes, c.len_utf8()), "{pair:?}");
                }
            }
        }
    }
}
