//! Checks of a specification.

use crate::error::{Error, ErrorKind};
use crate::spec::UnigramSpec;

/// Check that there are pieces of text, that scores are finite, and that `unk_id` is a piece.
pub(super) fn check(spec: &UnigramSpec) -> Result<(), Error> {
    let bad = |place: String, found: String, expected: &str| {
        Err(Error::new(ErrorKind::Vocabulary, place, found, expected))
    };
    if spec.vocab.is_empty() {
        return bad("model.vocab".into(), "no entries".into(), "at least the unknown one");
    }
    if let Some(id) = spec.unk_id.filter(|&id| id >= spec.vocab.len()) {
        let found = format!("{id}, in a vocabulary of {}", spec.vocab.len());
        return bad("model.unk_id".into(), found, "the position of an entry");
    }
    if let Some(at) = spec.vocab.iter().position(|(token, _)| token.is_empty()) {
        return bad(format!("model.vocab[{at}]"), "an empty piece".into(), "a piece of text");
    }
    match spec.vocab.iter().position(|(_, score)| !score.is_finite()) {
        Some(at) => {
            bad(format!("model.vocab[{at}]"), format!("score {}", spec.vocab[at].1), "a finite score")
        }
        None => Ok(()),
    }
}
