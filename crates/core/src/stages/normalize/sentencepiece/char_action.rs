//! What SentencePiece's rules do with single characters, where no rule depends on neighbours.

use foldhash::HashMap;

use super::SentencePieceNormalizer;
use crate::stages::normalize::charsmap::Charsmap;
use crate::stages::normalize::rule_chars::{is_gap, LaterChars};
use crate::text::METASPACE;

/// What the rules do with a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CharAction<'r> {
    /// Its replacement where it stands alone, if a rule changes it.
    pub replacement: Option<&'r str>,
    /// Whether a rule of several characters begins with it.
    pub begins_rule: bool,
    /// Whether a rule contains it after the first character.
    pub continues_rule: bool,
    /// Whether a user-defined symbol of several characters contains it, or it is a space that is a symbol.
    pub is_in_symbol: bool,
}

impl CharAction<'_> {
    /// Return whether its replacement is empty or contains a space.
    pub(crate) fn is_gap(&self) -> bool {
        self.replacement.is_some_and(is_gap)
    }
}

/// The characters that rules or symbols contain.
pub type CharActions<'r> = HashMap<char, CharAction<'r>>;

impl SentencePieceNormalizer {
    /// Return the action of the rules on each character that they contain. `None` if a rule continues with
    /// an ASCII character, if a rule writes nothing or a space where its first character alone does not, or
    /// if there are too many rules.
    pub(crate) fn char_actions(&self) -> Option<CharActions<'_>> {
        let mut char_actions = self.rules().map_or(Some(CharActions::default()), char_actions_of)?;
        for symbol in &self.spec().user_defined_symbols {
            let mut chars = symbol.chars();
            match (chars.next(), chars.next()) {
                // A symbol takes precedence over all rules.
                (Some(c), None) if c != ' ' && c != METASPACE => {
                    let action = char_actions.entry(c).or_default();
                    (action.replacement, action.begins_rule) = (None, false);
                }
                _ => symbol.chars().for_each(|c| char_actions.entry(c).or_default().is_in_symbol = true),
            }
        }
        Some(char_actions)
    }
}

fn char_actions_of(rules: &Charsmap) -> Option<CharActions<'_>> {
    let (mut prefix, mut later) = (Vec::new(), LaterChars::new());
    rules.each_char(rules.root(), &mut later.steps, &mut |c, below, value| prefix.push((c, below, value)));
    let mut char_actions = CharActions::default();
    for (c, below, value) in prefix {
        let action = CharAction {
            replacement: value.and_then(|value| rules.replacement(value)),
            ..CharAction::default()
        };
        let begins_rule = later.add(rules, (below, action.is_gap()));
        char_actions.insert(c, CharAction { begins_rule, ..action });
    }
    later.add_pending(rules);
    later.chars.iter().for_each(|&c| char_actions.entry(c).or_default().continues_rule = true);
    (later.steps > 0 && !later.writes_gaps && !rules.continues_with_ascii()).then_some(char_actions)
}

#[cfg(test)]
mod tests {
    use piecework_formats::normalization_rules::compile_named;

    use crate::spec::SentencePieceNormalizerSpec;
    use crate::stages::normalize::SentencePieceNormalizer;

    fn compiled(name: &str, symbols: &[&str]) -> SentencePieceNormalizer {
        let spec = SentencePieceNormalizerSpec {
            charsmap: compile_named(name).unwrap(),
            add_dummy_prefix: true,
            remove_extra_whitespaces: true,
            escape_whitespaces: true,
            treat_whitespace_as_suffix: false,
            user_defined_symbols: symbols.iter().map(|&symbol| symbol.to_owned()).collect(),
        };
        SentencePieceNormalizer::compile(&spec, "normalizer").unwrap()
    }

    #[test]
    fn actions_of_characters_equal_the_rules() {
        let symbols = ["\u{e9}", "\u{2013}", "\u{301}", "<\u{e8}>", "\u{ff21}"];
        for (name, symbols) in [("nmt_nfkc", &symbols[..]), ("nmt_nfkc_cf", &[])] {
            let normalizer = compiled(name, symbols);
            let char_actions = normalizer.char_actions().unwrap();
            let seconds: Vec<char> = char_actions
                .keys()
                .copied()
                .filter(|c| !char_actions[c].continues_rule)
                .step_by(50)
                .collect();
            for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
                let (action, alone) = (char_actions.get(&c).copied().unwrap_or_default(), c.to_string());
                let replacement = action.replacement.unwrap_or(&alone);
                assert_eq!(normalizer.prefix(&alone, 0), (replacement, c.len_utf8()), "{c:?}");
                let step = if action.begins_rule { 1 } else { 97 };
                for next in seconds.iter().step_by(step) {
                    let pair = format!("{c}{next}");
                    assert_eq!(normalizer.prefix(&pair, 0), (replacement, c.len_utf8()), "{pair:?}");
                }
                if !action.begins_rule {
                    let pair = format!("{c}\u{301}");
                    assert_eq!(normalizer.prefix(&pair, 0), (replacement, c.len_utf8()), "{pair:?}");
                }
            }
        }
    }
}
