//! What is new in a chunk: segmented at its end, many words at once, remembered, and put in between the others.

use super::edges::Stretch;
use super::ids::{note, WORD};
use super::one_by_one::{asked, WordIds};
use super::Chunk;
use crate::memo::{Asked, Kept};
use crate::model::Among;
use crate::pipeline::later::{put_in, Later, Way};

/// Stretches on their way to their ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Fresh {
    /// All, with those that came before in the chunk.
    later: Vec<Later>,
    /// Those that did not.
    stretches: Vec<FreshStretch>,
    /// Those of `later` that are known, in memory far away.
    kept: Vec<Kept>,
    /// The ids of their words that are known, one after the other.
    known: Vec<u32>,
    /// Their words that are not, or may be,
    words: Vec<Among>,
    /// how many known ids are before each,
    known_before: Vec<usize>,
    /// and their bytes.
    bytes: Vec<u8>,
    /// Those of the words that may be known, or are to be remembered, apart from their stretches.
    asked: Vec<(usize, Asked)>,
    ids: Vec<u32>,
}

/// A stretch that is new.
#[derive(Clone, Copy, Debug)]
struct FreshStretch {
    stretch: Stretch,
    asked: Asked,
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
    pub(super) fn is_empty(&self) -> bool {
        self.later.is_empty()
    }

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
        self.words.push(Among { bytes: (from, self.bytes.len()), ids: (0, 0) });
        self.known_before.push(self.known.len());
    }

    /// Add the stretch that has been taken apart since `from`, with ids to go to `at`; gives its number.
    pub(super) fn stretch(&mut self, stretch: Stretch, asked: Asked, at: usize, from: Mark) -> u32 {
        let number = self.later.len();
        self.later.push(Later { number: self.stretches.len(), at, way: Way::New, ids: (0, 0) });
        self.stretches.push(FreshStretch { stretch, asked, from, to: self.mark() });
        number as u32
    }

    /// Add a stretch whose ids are kept, which had better not be waited for.
    pub(super) fn kept(&mut self, kept: Kept, at: usize) {
        self.later.push(Later { number: self.kept.len(), at, way: Way::Kept, ids: (0, 0) });
        self.kept.push(kept);
    }

    /// Add a stretch that is the same as the one with a number.
    pub(super) fn again(&mut self, number: usize, at: usize) {
        self.later.push(Later { number, at, way: Way::Again(number), ids: (0, 0) });
    }

    /// Find the ids of all stretches, remember them and put them in.
    #[cold]
    #[inline(never)]
    pub(super) fn finish(&mut self, chunk: &Chunk<'_>, words: &mut WordIds<'_>) {
        self.ids.clear();
        self.look_up(words);
        words.model.run_all(&self.bytes, &mut self.words, words.vocab, words.scratch, &mut self.ids);
        for at in 0..self.later.len() {
            let Later { way, number, .. } = self.later[at];
            match way {
                Way::New => self.later[at].ids = self.gather(self.stretches[number]),
                Way::Kept => self.later[at].ids = self.copy(words.texts.kept(self.kept[number])),
                Way::Again(_) => {}
            }
        }
        self.remember(chunk, words);
        put_in(&mut self.later, &self.ids, words.out);
        self.clear();
    }

    /// Find the ids of words that are known: they are not segmented.
    fn look_up(&mut self, words: &WordIds<'_>) {
        let Self { asked, words: among, bytes, ids, .. } = self;
        asked.iter().for_each(|&(_, asked)| words.prefetch_found(asked));
        asked.retain(|&(number, asked)| {
            let word = &mut among[number];
            let start = ids.len();
            let is_known = words.extend_known(asked, &bytes[word.bytes.0..word.bytes.1], ids);
            if is_known {
                *word = Among { bytes: (0, 0), ids: (start, ids.len()) };
            }
            !is_known
        });
    }

    /// Where the ids of a stretch lie one after the other.
    #[inline]
    fn gather(&mut self, FreshStretch { from, to, .. }: FreshStretch) -> (usize, usize) {
        if let ([word], true) = (&self.words[from.words..to.words], from.known == to.known) {
            return word.ids;
        }
        let (start, mut known) = (self.ids.len(), from.known);
        for number in from.words..to.words {
            let before = self.known_before[number];
            self.ids.extend_from_slice(&self.known[known..before]);
            known = before;
            let (from, to) = self.words[number].ids;
            self.ids.extend_from_within(from..to);
        }
        self.ids.extend_from_slice(&self.known[known..to.known]);
        (start, self.ids.len())
    }

    fn copy(&mut self, ids: Option<&[u32]>) -> (usize, usize) {
        let start = self.ids.len();
        self.ids.extend_from_slice(ids.unwrap_or_default());
        (start, self.ids.len())
    }

    fn remember(&self, chunk: &Chunk<'_>, words: &mut WordIds<'_>) {
        for later in self.later.iter().filter(|later| later.way == Way::New) {
            let FreshStretch { stretch, asked, .. } = self.stretches[later.number];
            let ids = &self.ids[later.ids.0..later.ids.1];
            words.remember(chunk.lowered(stretch), asked, note(stretch), ids);
        }
        for &(number, asked) in &self.asked {
            let Among { bytes, ids } = self.words[number];
            words.remember(&self.bytes[bytes.0..bytes.1], asked, WORD, &self.ids[ids.0..ids.1]);
        }
    }

    fn clear(&mut self) {
        self.later.clear();
        self.stretches.clear();
        self.kept.clear();
        self.known.clear();
        self.words.clear();
        self.known_before.clear();
        self.bytes.clear();
        self.asked.clear();
    }
}
