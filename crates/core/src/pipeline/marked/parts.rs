//! New words for models that see each alone, part by part through the memo. A part that would be a word as well is
//! remembered as that.

use super::source::Source;
use crate::memo::{self, Key, Memo};

/// How many parts wait for their lines of the memo.
const WAITING: usize = 64;

/// Parts of one word: the span of each in its marked text, and its key if it is short.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts(Vec<(usize, usize, Option<Key>)>);

impl Parts {
    /// Cut a marked word, some parts at a time, and append the ids of all; `run` does those of a new one and says
    /// whether they may be remembered.
    pub(super) fn append(
        &mut self,
        marked: &str,
        source: Source<'_>,
        memo: &mut Memo,
        out: &mut Vec<u32>,
        mut run: impl FnMut(&str, &mut Vec<u32>) -> bool,
    ) {
        source.parts(marked, |start, end| {
            if self.0.len() == WAITING {
                self.look_up(marked, memo, out, &mut run);
            }
            let key = source.key_of_part(marked, start, end);
            if let Some(key) = key {
                memo.prefetch(key);
            }
            self.0.push((start, end, key));
        });
        self.look_up(marked, memo, out, &mut run);
    }

    /// Append the ids of the parts that wait.
    fn look_up(
        &mut self,
        marked: &str,
        memo: &mut Memo,
        out: &mut Vec<u32>,
        mut run: impl FnMut(&str, &mut Vec<u32>) -> bool,
    ) {
        for (start, end, key) in self.0.drain(..) {
            let known = key.and_then(|key| memo.get(key));
            if let Some(remembered) = known.filter(memo::are_ids) {
                memo::append(remembered, out);
                continue;
            }
            let from = out.len();
            let is_sure = run(&marked[start..end], out);
            // What is on its way as a word is remembered as that.
            if let (Some(key), Some(packed), true) =
                (key.filter(|_| known.is_none()), memo::pack(&out[from..]), is_sure)
            {
                memo.insert(key, packed);
            }
        }
    }
}
