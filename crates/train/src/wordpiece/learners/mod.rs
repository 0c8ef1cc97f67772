//! The learners: how entries besides special tokens and alphabet are learned.
//!
//! A learner has its row in `learners!` of `spec`, and here a file or folder of its name with its
//! [`Learn`](super::spec::Learn). It gets a [`Start`](super::spec::Start) and returns its entries, those of
//! substrings by `fill`; `resume::Choices` records what it decides, so that a checkpoint can repeat it. `seeds` has
//! the frequent substrings of a corpus.

mod merges;
mod pruning;
mod top_down;
