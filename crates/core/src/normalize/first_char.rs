//! The characters that rules begin with: by code point, so that all others cost one look.

use super::charsmap::Charsmap;

const PAGE: usize = 256;

/// What the trie of the rules says of a character.
#[derive(Clone, Copy, Debug)]
pub(super) struct First {
    /// Where the children of its node begin.
    pub(super) below: u32,
    /// What it becomes alone.
    pub(super) value: Option<u32>,
}

/// A table of pages; most characters have none.
#[derive(Clone, Debug, Default)]
pub(super) struct Firsts {
    /// By code point over `PAGE`: the number of a page, 0 for none.
    pages: Vec<u16>,
    /// By page and place: the number of an entry, 0 for none.
    numbers: Vec<[u32; PAGE]>,
    entries: Vec<First>,
}

impl Firsts {
    /// Those of a trie that has been checked.
    pub(super) fn of(rules: &Charsmap) -> Self {
        let (mut firsts, mut steps) = (Self::default(), usize::MAX);
        rules.each_char(rules.root(), &mut steps, &mut |c, below, value| {
            firsts.put(c.into(), First { below: below as u32, value: value.map(|value| value as u32) });
        });
        firsts
    }

    fn put(&mut self, code: u32, first: First) {
        let (page, place) = (code as usize / PAGE, code as usize % PAGE);
        if self.pages.len() <= page {
            self.pages.resize(page + 1, 0);
        }
        if self.pages[page] == 0 {
            self.numbers.push([0; PAGE]);
            self.pages[page] = self.numbers.len() as u16;
        }
        self.entries.push(first);
        self.numbers[usize::from(self.pages[page]) - 1][place] = self.entries.len() as u32;
    }

    /// What is known of a character; nothing if no rule begins with it.
    #[inline]
    pub(super) fn get(&self, c: char) -> Option<First> {
        let page = usize::from(*self.pages.get(c as usize / PAGE)?);
        let number = self.numbers.get(page.wrapping_sub(1))?[c as usize % PAGE] as usize;
        self.entries.get(number.wrapping_sub(1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use crate::normalize::charsmap::Charsmap;
    use crate::normalize::Rules;

    /// The definition: one node after the other.
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
    fn every_character_begins_the_rules_that_it_begins() {
        for name in ["nmt_nfkc", "nmt_nfkc_cf"] {
            let rules = Charsmap::parse(Rules::named(name).unwrap().blob(), "rules").unwrap();
            for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
                for text in [String::from(c), format!("{c}\u{301}"), format!("{c}\u{3099}x")] {
                    assert_eq!(rules.longest_match(&text), naive(&rules, &text), "{text:?}");
                }
            }
            assert_eq!(rules.longest_match(""), None);
        }
    }
}
