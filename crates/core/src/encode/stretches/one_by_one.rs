//! From words to ids, one by one: for long stretches, and where every word is looked at.

use super::ids::{long_hash, MAX_BYTES, WORD};
use crate::model::{Model, ModelScratch};
use crate::vocab::Vocab;
use crate::word_cache::{self, Key, LongWords, Lookup, ShortWords, StoredIds, Uncopied, MAX_KEY_BYTES};

/// Writes the ids of words.
pub(super) struct WordIds<'s> {
    pub(super) model: &'s Model,
    pub(super) vocab: &'s Vocab,
    pub(super) memo: &'s mut ShortWords,
    pub(super) texts: &'s mut LongWords,
    pub(super) scratch: &'s mut ModelScratch,
    pub(super) out: &'s mut Vec<u32>,
}

/// What a normalized word is asked for by.
pub(super) fn asked(word: &[u8]) -> Lookup {
    match Key::of(word) {
        Some(key) => key.asked(),
        None if is_long(word) => Key::asked_in_vain(long_hash(word, WORD)),
        None => Key::asked_in_vain(0),
    }
}

/// Whether text that has no key is remembered.
pub(super) fn is_long(text: &[u8]) -> bool {
    (MAX_KEY_BYTES + 1..=MAX_BYTES).contains(&text.len())
}

/// The ids of text that is noted so, if `LongWords` has them.
pub(super) fn ids_elsewhere<'t>(
    texts: &'t LongWords,
    known: Option<Uncopied>,
    asked: Lookup,
    (text, note): (&[u8], u32),
) -> Option<&'t [u32]> {
    match (known, Key::of_asked(asked)) {
        (Some(Uncopied::StoredIds(kept)), _) => texts.kept(kept),
        (_, Err(hash)) if is_long(text) => {
            let found = texts.get_hashed(text, hash).filter(|(noted, _)| *noted == note);
            found.map(|(_, ids)| ids)
        }
        _ => None,
    }
}

impl WordIds<'_> {
    /// The ids that are kept of text, and where.
    pub(super) fn kept(&self, known: Option<Uncopied>) -> Option<(StoredIds, &[u32])> {
        match known {
            Some(Uncopied::StoredIds(kept)) => Some((kept, self.texts.kept(kept)?)),
            _ => None,
        }
    }

    /// Append the id of a character that is a word.
    #[inline]
    pub(super) fn append_char(&mut self, c: char, word: &[u8]) {
        match self.model.id_of_char(c) {
            Some(id) => self.out.push(id),
            None => self.append(word),
        }
    }

    /// Append the ids of a normalized word.
    pub(super) fn append(&mut self, word: &[u8]) {
        let asked = asked(word);
        let mut out = std::mem::take(self.out);
        if !self.extend_known(asked, word, &mut out) {
            let from = out.len();
            if let Ok(word) = std::str::from_utf8(word) {
                self.model.run(word, self.vocab, self.scratch, &mut out);
            }
            self.remember(word, asked, WORD, &out[from..]);
        }
        *self.out = out;
    }

    /// Append the ids of a normalized word to others, if they are known.
    pub(super) fn extend_known(&self, asked: Lookup, word: &[u8], ids: &mut Vec<u32>) -> bool {
        let found = Key::of_asked(asked).ok().and_then(|key| self.memo.get_hashed(key, asked.hash));
        if let Some(&packed) = found.filter(|packed| word_cache::are_ids(packed)) {
            word_cache::append(packed, ids);
            return true;
        }
        let known = ids_elsewhere(self.texts, self.memo.marked(asked), asked, (word, WORD));
        known.inspect(|known| ids.extend_from_slice(known)).is_some()
    }

    /// Say that text will be looked up soon,
    pub(super) fn prefetch(&self, asked: Lookup) {
        match Key::of_asked(asked) {
            Ok(_) => self.memo.prefetch_hashed(asked.hash),
            Err(hash) => self.texts.prefetch_hashed(hash),
        }
    }

    /// and once more, when the first call has had its time.
    pub(super) fn prefetch_found(&self, asked: Lookup) {
        if let Err(hash) = Key::of_asked(asked) {
            self.texts.prefetch_found(hash);
        }
    }

    /// Remember the ids of text, if there are any: what has none for want of an unknown token, or too few, must be
    /// found so again.
    pub(super) fn remember(&mut self, text: &[u8], asked: Lookup, note: u32, ids: &[u32]) {
        let is_whole = !ids.is_empty() && !self.scratch.missing_unk;
        match Key::of_asked(asked) {
            Ok(key) => {
                let packed =
                    if is_whole { word_cache::packed(ids, self.texts) } else { word_cache::ELSEWHERE };
                match self.memo.get_hashed(key, asked.hash) {
                    Some(_) => self.memo.change_hashed(key, asked.hash, packed),
                    None => self.memo.insert_hashed(key, asked.hash, packed),
                }
            }
            Err(hash) if is_whole && is_long(text) => self.texts.insert_hashed(text, hash, note, ids),
            Err(_) => {}
        }
    }
}
