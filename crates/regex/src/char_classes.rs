//! Character classes as Oniguruma defines them (its manual, doc/RE, sections 3 and 5), with Unicode 16.0.

use std::collections::HashMap;
use std::sync::LazyLock;

use piecework_unicode::{char_class, find_char_class};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::ast::SetId;
use crate::char_classes;

/// Return the set of one character.
pub(crate) fn single(c: char) -> ClassUnicode {
    range(c, c)
}

/// Return the set of the characters from `first` to `last`.
pub(crate) fn range(first: char, last: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(first, last)])
}

/// Add the characters that differ from those of a set only in case.
///
/// Folding goes through all characters of a set; most of them have no case.
pub(crate) fn fold_case(set: &mut ClassUnicode) {
    let mut cased = set.clone();
    cased.intersect(&CASED);
    cased.case_fold_simple();
    set.union(&cased);
}

/// The characters that may differ from others only in case.
static CASED: LazyLock<ClassUnicode> =
    LazyLock::new(|| char_class(r"[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]"));

/// Return the complement of a set if `yes`, else the set.
pub(crate) fn negate_if(mut set: ClassUnicode, yes: bool) -> ClassUnicode {
    if yes {
        set.negate();
    }
    set
}

/// Return `\w`: the POSIX word characters and the numbers of Latin-1.
pub(crate) fn word() -> ClassUnicode {
    char_class(r"[[\w&&[^\u200C\u200D]]\xB2\xB3\xB9\xBC-\xBE]")
}

/// Return the set of an escape such as `\d`, or `None` if `letter` has none. In brackets, `\w` lacks the
/// numbers of Latin-1.
pub(crate) fn escape(letter: char, in_brackets: bool) -> Option<ClassUnicode> {
    let set = match letter.to_ascii_lowercase() {
        'w' if in_brackets => posix("word")?,
        'w' => word(),
        'd' => char_class(r"\d"),
        's' => char_class(r"\s"),
        'h' => char_class("[0-9A-Fa-f]"),
        _ => return None,
    };
    Some(negate_if(set, letter.is_ascii_uppercase()))
}

/// Return the set of the bracket expression `[:name:]`.
pub(crate) fn posix(name: &str) -> Option<ClassUnicode> {
    Some(char_class(match name {
        "alnum" => r"[\p{Alphabetic}\p{Nd}]",
        "alpha" => r"\p{Alphabetic}",
        "ascii" => r"[\x00-\x7F]",
        "blank" => r"[\p{Zs}\t]",
        "cntrl" => r"\p{Cc}",
        "digit" => r"\d",
        "graph" => r"[^\s\p{Cc}\p{Cn}]",
        "lower" => r"\p{Lowercase}",
        "print" => r"[[^\s\p{Cc}\p{Cn}]\p{Zs}]",
        "punct" => r"[\p{P}\p{S}]",
        "space" => r"\s",
        "upper" => r"\p{Uppercase}",
        "xdigit" => "[0-9A-Fa-f]",
        "word" => r"[\w&&[^\u200C\u200D]]",
        _ => return None,
    }))
}

/// Return the set of `\p{name}`: a POSIX class, a general category, a script or a binary property, by its
/// long or short name. Case, spaces, hyphens and underscores do not matter.
pub(crate) fn property(name: &str) -> Option<ClassUnicode> {
    let plain: String =
        name.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).map(|c| c.to_ascii_lowercase()).collect();
    if plain.is_empty() || !plain.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    match plain.as_str() {
        "any" => return Some(char_class(r"[\x00-\x{10FFFF}]")),
        "punct" => return Some(char_class(r"\p{P}")),
        name if posix(name).is_some() => return posix(name),
        _ => {}
    }
    [format!(r"\p{{gc={plain}}}"), format!(r"\p{{sc={plain}}}"), format!(r"\p{{{plain}}}")]
        .iter()
        .filter_map(|class| find_char_class(class))
        .find(|set| !set.ranges().is_empty())
}

/// Numbers character sets, and caches the sets of class names.
#[derive(Debug, Default)]
pub(crate) struct SetInterner {
    sets: Vec<ClassUnicode>,
    ids: HashMap<Vec<(char, char)>, SetId>,
    /// Sets by their spelling in the expression, because deriving a set from Unicode data is slow.
    named: HashMap<String, Option<ClassUnicode>>,
}

impl SetInterner {
    /// Return the id of a set, which is added if it is new.
    pub(crate) fn id(&mut self, set: &ClassUnicode) -> SetId {
        let key: Vec<(char, char)> =
            set.ranges().iter().map(|range| (range.start(), range.end())).collect();
        if let Some(&id) = self.ids.get(&key) {
            return id;
        }
        let id = SetId::try_from(self.sets.len()).unwrap_or(SetId::MAX);
        self.sets.push(set.clone());
        self.ids.insert(key, id);
        id
    }

    /// Return the id of the set of one character.
    pub(crate) fn id_of_char(&mut self, c: char) -> SetId {
        self.id(&char_classes::single(c))
    }

    /// Return the set with an id.
    pub(crate) fn get(&self, id: SetId) -> &ClassUnicode {
        &self.sets[id as usize]
    }

    /// Return all sets, in the order of their ids.
    pub(crate) fn all(&self) -> &[ClassUnicode] {
        &self.sets
    }

    /// Return the set of a class name. `make` derives it the first time.
    pub(crate) fn named(
        &mut self,
        name: &str,
        make: impl FnOnce() -> Option<ClassUnicode>,
    ) -> Option<ClassUnicode> {
        if !self.named.contains_key(name) {
            self.named.insert(name.to_owned(), make());
        }
        self.named.get(name).cloned().flatten()
    }

    /// Return whether two sets share a character.
    pub(crate) fn intersect(&self, one: SetId, other: SetId) -> bool {
        let mut both = self.get(one).clone();
        both.intersect(self.get(other));
        !both.ranges().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_equals_that_of_every_character() {
        for c in '\0'..=char::MAX {
            let (mut folded, mut expected) = (single(c), single(c));
            fold_case(&mut folded);
            expected.case_fold_simple();
            assert_eq!(folded, expected, "{c:?}");
        }
        let (mut folded, mut expected) = (char_class(r"\S"), char_class(r"\S"));
        fold_case(&mut folded);
        expected.case_fold_simple();
        assert_eq!(folded, expected);
    }
}
