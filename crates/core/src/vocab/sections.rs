//! A vocabulary as table sections of a compiled cache.

use piecework_kernels::array::{Array, Text};

use super::limits::MAX_ID;
use super::table::{has_short_runs, TokenHash, Vocab, EMPTY, GAP};
use crate::error::Error;
use crate::table_sections::{damaged, TableSections};

/// The names of the table sections.
const TEXT: &str = "vocab.text";
const SPANS: &str = "vocab.spans";
const SLOTS: &str = "vocab.slots";
const SEED: &str = "vocab.seed";

impl Vocab {
    /// Add the tables as sections.
    pub fn store(&self, sections: &mut TableSections) {
        sections.put(TEXT, self.text.bytes());
        sections.put(SPANS, &self.spans);
        sections.put(SLOTS, &self.slots);
        if self.hash.seed() != 0 {
            sections.put(SEED, &Array::from(vec![self.hash.seed()]));
        }
    }

    /// Restore a vocabulary from its sections; checks them in time linear in the vocabulary.
    pub fn restore(sections: &TableSections) -> Result<Self, Error> {
        let text = Text::new(sections.get(TEXT)?).map_err(|error| damaged(TEXT, error.to_string()))?;
        let (spans, slots) = (sections.get::<[u32; 2]>(SPANS)?, sections.get::<[u32; 2]>(SLOTS)?);
        let is_token = |&[start, end]: &[u32; 2]| text.get(start as usize..end as usize).is_some();
        if let Some(span) = spans.iter().find(|&span| *span != GAP && !is_token(span)) {
            return Err(damaged(SPANS, format!("{span:?}")));
        }
        let is_slot = |&[_, id]: &[u32; 2]| id == EMPTY[1] || (id as usize) < spans.len();
        let len = slots.iter().filter(|slot| slot[1] != EMPTY[1]).count();
        let has_room = slots.len().is_power_of_two() && 2 * len <= slots.len().max(1);
        if !has_room || !slots.iter().all(is_slot) || spans.len() > MAX_ID as usize + 1 {
            return Err(damaged(SLOTS, format!("{} slots for {} ids", slots.len(), spans.len())));
        }
        let seeds = if sections.has(SEED) { sections.get(SEED)? } else { Array::from(vec![0]) };
        let [seed] = *seeds else { return Err(damaged(SEED, format!("{} numbers", seeds.len()))) };
        // Whoever forges a cache chooses the seed as well.
        if !has_short_runs(&slots, len) {
            return Err(damaged(SLOTS, "a long run of full slots"));
        }
        let vocab = Self { text, spans, slots, hash: TokenHash::with_seed(seed), len };
        match vocab.is_found() {
            true => Ok(vocab),
            false => Err(damaged(SLOTS, "a hash table of other tokens")),
        }
    }

    /// Return whether the hash table contains every token once. Its runs of full slots are short.
    fn is_found(&self) -> bool {
        let mask = self.slots.len().wrapping_sub(1);
        let mut tokens = 0;
        for (token, id) in self.iter() {
            let hash = self.hash.of(token);
            let mut slot = hash as usize & mask;
            loop {
                let [tag, other] = self.slots[slot];
                let is_tagged = tag == (hash >> 32) as u32;
                if other == id && is_tagged {
                    break;
                }
                let is_twice = is_tagged && self.token_of(other) == Some(token);
                if other == EMPTY[1] || is_twice {
                    return false;
                }
                slot = (slot + 1) & mask;
            }
            tokens += 1;
        }
        tokens == self.len
    }
}
