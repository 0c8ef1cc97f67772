//! The merges of a BPE model.

/// Pairs of tokens to merge, by merge rank.
///
/// All tokens are in one text: a list of two strings a merge takes most of the time of loading a large model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeList {
    text: String,
    /// Where the left and the right token of each merge end in the text.
    ends: Vec<[usize; 2]>,
}

impl MergeList {
    /// Return an empty list with capacity for a number of merges, and for the bytes of their tokens.
    #[must_use]
    pub fn with_capacity(merges: usize, bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), ends: Vec::with_capacity(merges) }
    }

    /// Append a merge of two tokens.
    pub fn push(&mut self, left: &str, right: &str) {
        self.text.push_str(left);
        let middle = self.text.len();
        self.text.push_str(right);
        self.ends.push([middle, self.text.len()]);
    }

    /// Return the number of merges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Return whether there are no merges.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Return the two tokens of the merge with a rank.
    #[must_use]
    pub fn get(&self, rank: usize) -> Option<(&str, &str)> {
        let &[middle, end] = self.ends.get(rank)?;
        let start = rank.checked_sub(1).map_or(0, |before| self.ends[before][1]);
        Some((&self.text[start..middle], &self.text[middle..end]))
    }

    /// Return the tokens of all merges, by rank.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> + Clone {
        let mut start = 0;
        self.ends.iter().map(move |&[middle, end]| {
            let left = &self.text[start..middle];
            start = end;
            (left, &self.text[middle..end])
        })
    }
}

impl<L: AsRef<str>, R: AsRef<str>> FromIterator<(L, R)> for MergeList {
    fn from_iter<I: IntoIterator<Item = (L, R)>>(merges: I) -> Self {
        let merges = merges.into_iter();
        let mut list = Self::with_capacity(merges.size_hint().0, 0);
        merges.for_each(|(left, right)| list.push(left.as_ref(), right.as_ref()));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_list_has_the_pairs_it_was_made_of(pairs in prop::collection::vec(("[a-cé]{0,3}", "[a-cé]{0,3}"), 0..20)) {
            let list: MergeList = pairs.iter().map(|(left, right)| (left, right)).collect();
            let expected: Vec<(&str, &str)> =
                pairs.iter().map(|(left, right)| (left.as_str(), right.as_str())).collect();
            prop_assert_eq!(list.iter().collect::<Vec<_>>(), expected.clone());
            prop_assert_eq!((list.len(), list.is_empty()), (expected.len(), expected.is_empty()));
            for rank in 0..=expected.len() {
                prop_assert_eq!(list.get(rank), expected.get(rank).copied());
            }
        }
    }

    #[test]
    fn lists_of_the_same_text_differ_by_their_tokens() {
        let [one, other] = [[("a", "bc")], [("ab", "c")]].map(MergeList::from_iter);
        assert_ne!(one, other);
    }
}
