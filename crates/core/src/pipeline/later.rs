//! Words whose ids come later than those of the words after them: where they go, and putting them in.

/// A word whose ids are not in the memo, on its way to them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Later {
    /// Its number among those that wait.
    pub(super) number: usize,
    /// Where its ids go, if those of all others that come later are left out.
    pub(super) at: usize,
    pub(super) way: Way,
    /// Where its ids are.
    pub(super) ids: (usize, usize),
}

/// Where the ids of a word come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The model.
    New,
    /// Where they are kept.
    Kept,
    /// The same word came before, as the one with this number of those that come later.
    Again(usize),
}

/// Put in the ids of words that come later, from the last on; those of the new ones are found.
pub(super) fn put_in(later: &mut [Later], ids: &[u32], out: &mut Vec<u32>) {
    for at in 0..later.len() {
        if let Way::Again(number) = later[at].way {
            later[at].ids = later[number].ids;
        }
    }
    let mut from = out.len();
    let all: usize = later.iter().map(|word| word.ids.1 - word.ids.0).sum();
    out.resize(from + all, 0);
    let mut to = out.len();
    for word in later.iter().rev() {
        let ids = &ids[word.ids.0..word.ids.1];
        out.copy_within(word.at..from, to - (from - word.at));
        to -= from - word.at;
        from = word.at;
        out[to - ids.len()..to].copy_from_slice(ids);
        to -= ids.len();
    }
}
