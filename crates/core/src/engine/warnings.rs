//! Warns about settings of a tokenizer file that are valid but probably mistakes.

use super::Tokenizer;
use crate::error::{Error, ErrorKind};
use crate::spec::ModelSpec;

/// The file format of a specification. It determines how a warning names a setting, and which settings are usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A `tokenizer.json`.
    Document,
    /// A `vocab.txt`, whose line numbers are the ids plus one. A line of non-ASCII whitespace is an empty token too, but
    /// no mistake: bert-base-chinese has U+2028.
    Lines {
        /// Whether a line is empty, or ASCII whitespace.
        has_blank: bool,
    },
    /// Ranks, in a file without special tokens.
    Ranks,
}

impl Tokenizer {
    /// Return a warning for each setting that is probably a mistake, in the order of the file.
    #[must_use]
    pub fn warnings(&self, origin: Origin) -> Vec<Error> {
        let gap = || if origin == Origin::Ranks { self.first_gap() } else { None };
        [
            self.absent_padding_token(),
            self.empty_token(origin),
            self.duplicate_merge(),
            self.no_word(),
            gap(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn absent_padding_token(&self) -> Option<Error> {
        let padding = self.padding.as_ref()?;
        let id = padding.pad_id;
        let token = self.token_of(id).filter(|token| *token != padding.pad_token)?;
        let known = match self.id_of(&padding.pad_token) {
            Some(other) => format!("the token with id {other}"),
            None => "not in the vocabulary".to_owned(),
        };
        let found = format!("{:?}, which is {known}, with pad_id {id}", padding.pad_token);
        Some(warning("padding.pad_token", found, format!("{token:?}, the token with id {id}")))
    }

    /// Return a warning for an empty token, which no text contains. Some byte-level vocabularies fill a gap in the ids
    /// with one (Whisper), so they are excluded.
    fn empty_token(&self, origin: Origin) -> Option<Error> {
        let is_usual = matches!(self.stages().model_spec.settings(), ModelSpec::Bpe(_));
        let id = self.stages().vocab.id_of("").filter(|_| !is_usual)?;
        Some(match origin {
            Origin::Lines { has_blank: false } => return None,
            Origin::Lines { .. } => {
                let found = format!("a blank line, which is the empty token with id {id}");
                warning(format!("line {}", id + 1), found, "a token")
            }
            _ => warning("model.vocab[\"\"]", format!("the empty token with id {id}"), "tokens of text"),
        })
    }

    fn duplicate_merge(&self) -> Option<Error> {
        let (first, second) = self.stages().model.duplicate_merge()?;
        let found = format!("the merge of model.merges[{first}] again; the later one counts");
        Some(warning(format!("model.merges[{second}]"), found, "each merge once"))
    }

    fn no_word(&self) -> Option<Error> {
        match self.stages().model_spec.settings() {
            ModelSpec::WordPiece(spec) if spec.max_input_chars_per_word == 0 => {
                let found = "0, which makes every word unknown";
                Some(warning("model.max_input_chars_per_word", found, "at least 1"))
            }
            _ => None,
        }
    }

    /// Return a warning for the first gap in the ids of the vocabulary and the special tokens.
    fn first_gap(&self) -> Option<Error> {
        let bound = self.stages().vocab.id_bound() as u32;
        let first = (0..bound).find(|&id| self.token_of(id).is_none())?;
        let after = (first..bound).find(|&id| self.token_of(id).is_some())?;
        let found = if after - first == 1 {
            format!("no token with rank {first}")
        } else {
            format!("no tokens with the ranks {first} to {}", after - 1)
        };
        Some(warning("ranks", found, "ranks without a gap, or special_tokens with these ids"))
    }
}

fn warning(place: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Error {
    Error::new(ErrorKind::Format, place, found, expected)
}
