//! What is new: waits until there is enough of it, is segmented, many words at once, remembered, and put in between
//! the others.

use super::ids::WORD;
use super::one_by_one::{asked, is_long, WordIds};
use crate::encode::later::{Held, Later, Way};
use crate::model::BatchWord;
use crate::word_cache::{Lookup, StoredIds};

/// Stretches on their way to their ids, beside those that are the same as others of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Fresh {
    /// Those that are new,
    stretches: Vec<FreshStretch>,
    /// and the text of those that are remembered by it.
    texts: Vec<u8>,
    /// Those that are known, in memory far away.
    kept: Vec<StoredIds>,
    /// The ids of their words that are known, one after the other.
    known: Vec<u32>,
    /// Their words that are not, or may be,
    words: Vec<BatchWord>,
    /// how many known ids are before each,
    known_before: Vec<usize>,
    /// and their bytes.
    bytes: Vec<u8>,
    /// Those of the words that may be known, or are to be remembered, apart from their stretches.
    asked: Vec<(usize, Lookup)>,
}

/// A stretch that is new.
#[derive(Clone, Copy, Debug)]
struct FreshStretch {
    asked: Lookup,
    note: u32,
    text: (usize, usize),
    /// What there was before it was taken apart, and after.
    from: Mark,
    to: Mark,
}

/// So many known ids and new words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    known: usize,
    words: usize,
}

impl Fresh {
    /// What there is so far.
    pub(super) fn mark(&self) -> Mark {
        Mark { known: self.known.len(), words: self.words.len() }
    }

    /// Add an id to the stretch that is being taken apart.
    #[inline]
    pub(super) fn push(&mut self, id: u32) {
        self.known.push(id);
    }

    /// Add a word to it that may be known, and ask for it.
    pub(super) fn word(&mut self, word: &[u8], words: &WordIds<'_>) {
        let asked = asked(word);
        words.prefetch(asked);
        self.asked.push((self.words.len(), asked));
        self.walk(word);
    }

    /// Add a word to it that is not known.
    #[inline]
    pub(super) fn walk(&mut self, word: &[u8]) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(word);
        self.words.push(BatchWord { bytes: (from, self.bytes.len()), ids: (0, 0) });
        self.known_before.push(self.known.len());
    }

    /// Add the stretch that has been taken apart since `from`, with its text and what is noted with it; gives its
    /// number.
    pub(super) fn stretch(&mut self, (text, note): (&[u8], u32), asked: Lookup, from: Mark) -> usize {
        let start = self.texts.len();
        if is_long(text) {
            self.texts.extend_from_slice(text);
        }
        let text = (start, self.texts.len());
        self.stretches.push(FreshStretch { asked, note, text, from, to: self.mark() });
        self.stretches.len() - 1
    }

    /// Add a stretch whose ids are kept, which had better not be waited for; gives its number.
    pub(super) fn kept(&mut self, kept: StoredIds) -> usize {
        self.kept.push(kept);
        self.kept.len() - 1
    }

    /// Find the ids of all stretches, remember them and put them in.
    #[cold]
    #[inline(never)]
    pub(super) fn settle(&mut self, held: &mut Held, words: &mut WordIds<'_>) {
        let Held { words: later, ids, .. } = held;
        self.look_up(words, ids);
        words.model.run_batch(&self.bytes, &mut self.words, words.vocab, words.scratch, ids);
        for Later { way, number, ids: own, .. } in &mut *later {
            match way {
                Way::New => *own = self.gather(self.stretches[*number], ids),
                Way::Kept => *own = copied(words.texts.kept(self.kept[*number]), ids),
                Way::Again(_) => {}
            }
        }
        self.remember(later, ids, words);
        held.put_in(words.out);
        self.clear();
    }

    /// Find the ids of words that are known: they are not segmented.
    fn look_up(&mut self, words: &WordIds<'_>, ids: &mut Vec<u32>) {
        let Self { asked, words: among, bytes, .. } = self;
        asked.iter().for_each(|&(_, asked)| words.prefetch_found(asked));
        asked.retain(|&(number, asked)| {
            let word = &mut among[number];
            let start = ids.len();
            let is_known = words.extend_known(asked, &bytes[word.bytes.0..word.bytes.1], ids);
            if is_known {
                *word = BatchWord { bytes: (0, 0), ids: (start, ids.len()) };
            }
            !is_known
        });
    }

    /// Where the ids of a stretch lie one after the other.
    #[inline]
    fn gather(&self, FreshStretch { from, to, .. }: FreshStretch, ids: &mut Vec<u32>) -> (usize, usize) {
        if let ([word], true) = (&self.words[from.words..to.words], from.known == to.known) {
            return word.ids;
        }
        let (start, mut known) = (ids.len(), from.known);
        for number in from.words..to.words {
            let before = self.known_before[number];
            ids.extend_from_slice(&self.known[known..before]);
            known = before;
            let (from, to) = self.words[number].ids;
            ids.extend_from_within(from..to);
        }
        ids.extend_from_slice(&self.known[known..to.known]);
        (start, ids.len())
    }

    fn remember(&self, later: &[Later], ids: &[u32], words: &mut WordIds<'_>) {
        for later in later.iter().filter(|later| later.way == Way::New) {
            let FreshStretch { asked, note, text, .. } = self.stretches[later.number];
            words.remember(&self.texts[text.0..text.1], asked, note, &ids[later.ids.0..later.ids.1]);
        }
        for &(number, asked) in &self.asked {
            let BatchWord { bytes, ids: own } = self.words[number];
            words.remember(&self.bytes[bytes.0..bytes.1], asked, WORD, &ids[own.0..own.1]);
        }
    }

    fn clear(&mut self) {
        self.stretches.clear();
        self.texts.clear();
        self.kept.clear();
        self.known.clear();
        self.words.clear();
        self.known_before.clear();
        self.bytes.clear();
        self.asked.clear();
    }
}

/// Where ids lie that are copied behind others.
fn copied(kept: Option<&[u32]>, ids: &mut Vec<u32>) -> (usize, usize) {
    let start = ids.len();
    ids.extend_from_slice(kept.unwrap_or_default());
    (start, ids.len())
}
