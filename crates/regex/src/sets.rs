//! The sets of characters of one expression, each kept once.

use std::collections::HashMap;

use regex_syntax::hir::ClassUnicode;

use super::ast::SetId;
use super::class;

#[derive(Debug, Default)]
pub(super) struct Sets {
    sets: Vec<ClassUnicode>,
    ids: HashMap<Vec<(char, char)>, SetId>,
    /// Sets by the spelling they had in the expression: looking them up anew takes long.
    named: HashMap<String, Option<ClassUnicode>>,
}

impl Sets {
    /// The number of a set.
    pub(super) fn id(&mut self, set: &ClassUnicode) -> SetId {
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

    /// The number of the set of one character.
    pub(super) fn id_of_char(&mut self, c: char) -> SetId {
        self.id(&class::single(c))
    }

    pub(super) fn get(&self, id: SetId) -> &ClassUnicode {
        &self.sets[id as usize]
    }

    pub(super) fn all(&self) -> &[ClassUnicode] {
        &self.sets
    }

    /// The set that has a name, found by `make` the first time.
    pub(super) fn named(
        &mut self,
        name: &str,
        make: impl FnOnce() -> Option<ClassUnicode>,
    ) -> Option<ClassUnicode> {
        if !self.named.contains_key(name) {
            self.named.insert(name.to_owned(), make());
        }
        self.named.get(name).cloned().flatten()
    }

    /// Whether two sets share a character.
    pub(super) fn intersect(&self, one: SetId, other: SetId) -> bool {
        let mut both = self.get(one).clone();
        both.intersect(self.get(other));
        !both.ranges().is_empty()
    }
}
