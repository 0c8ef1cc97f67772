//! The distinct character sets of one expression, each stored once.

use std::collections::HashMap;

use regex_syntax::hir::ClassUnicode;

use crate::ast::SetId;
use crate::char_classes;

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
