//! What a tokenizer contains: its tokens with their ids, how it fills rows, and settings of its file that are valid but
//! probably mistakes.

use crate::engine::Tokenizer;
use crate::error::{Error, ErrorKind};
use crate::spec::{Direction, ModelSpec, PieceType, ScoredPiece, SentencePieceSpec};

/// How short rows are padded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filling<'t> {
    /// The id that pads, if there is one.
    pub id: Option<u32>,
    /// Its token.
    pub token: &'t str,
    /// The type id of the padding.
    pub type_id: u32,
    /// The end that is padded.
    pub direction: Direction,
}

impl Tokenizer {
    /// Return the entries of the vocabulary with their ids, followed by the added tokens if `with_added_tokens`.
    pub fn entries(&self, with_added_tokens: bool) -> impl Iterator<Item = (&str, u32)> {
        let added = self.added_tokens().iter().filter(move |_| with_added_tokens);
        self.vocab().iter().chain(added.map(|token| (token.content.as_str(), token.id)))
    }

    /// Return the special tokens with their ids.
    pub fn special_tokens(&self) -> impl Iterator<Item = (&str, u32)> {
        let special = self.added_tokens().iter().filter(|token| token.special);
        special.map(|token| (token.content.as_str(), token.id))
    }

    /// Return the number of entries of the vocabulary; with `with_added_tokens`, the number of distinct tokens.
    #[must_use]
    pub fn entry_count(&self, with_added_tokens: bool) -> usize {
        let is_new = |content: &str| self.vocab().id_of(content).is_none();
        let added = self.added_tokens().iter().filter(|token| with_added_tokens && is_new(&token.content));
        self.vocab().len() + added.count()
    }

    /// Return the ids of the control and user-defined pieces of a SentencePiece model, in order.
    pub(crate) fn symbol_ids(&self) -> Vec<u32> {
        let Some(spec) = self.sentencepiece_spec() else { return Vec::new() };
        let is_symbol =
            |piece: &ScoredPiece| matches!(piece.kind, PieceType::Control | PieceType::UserDefined);
        let ids = spec.pieces.iter().zip(0..);
        ids.filter(|(piece, _)| is_symbol(piece)).map(|(_, id)| id).collect()
    }

    /// Return the control pieces of a SentencePiece model, in order.
    pub(crate) fn control_pieces(&self) -> Vec<String> {
        let Some(spec) = self.sentencepiece_spec() else { return Vec::new() };
        let control = spec.pieces.iter().filter(|piece| piece.kind == PieceType::Control);
        control.map(|piece| piece.text.clone()).collect()
    }

    /// Return how short rows are padded: by the settings of padding, else with the id of `pad_id`.
    #[must_use]
    pub fn filling(&self, names: &[String]) -> Filling<'_> {
        let id = self.pad_id(names);
        match self.padding() {
            Some(padding) => Filling {
                id,
                token: &padding.pad_token,
                type_id: padding.pad_type_id,
                direction: padding.direction,
            },
            None => {
                let token = id.and_then(|id| self.token_of(id)).unwrap_or_default();
                Filling { id, token, type_id: 0, direction: Direction::Right }
            }
        }
    }

    /// Return the id that pads short rows.
    ///
    /// It is that of the padding settings, of the padding piece that a SentencePiece model declares, or of the special
    /// token with one of the customary `names` if there is exactly one.
    fn pad_id(&self, names: &[String]) -> Option<u32> {
        if let Some(padding) = &self.padding {
            return Some(padding.pad_id);
        }
        if let Some(spec) = self.sentencepiece_spec() {
            let is_pad =
                |piece: &ScoredPiece| piece.kind == PieceType::Control && piece.text == spec.pad_piece;
            if let Some(id) = spec.pieces.iter().position(is_pad) {
                return Some(id as u32);
            }
        }
        let mut special =
            self.added_tokens().iter().filter(|token| token.special && names.contains(&token.content));
        special.next().filter(|_| special.next().is_none()).map(|token| token.id)
    }

    /// Return the specification of a SentencePiece model. Other models need not read their entries for that.
    fn sentencepiece_spec(&self) -> Option<&SentencePieceSpec> {
        let source = &self.stages().model_spec;
        let is_sentencepiece = matches!(source.settings(), ModelSpec::SentencePiece(_));
        match is_sentencepiece.then(|| source.whole())? {
            ModelSpec::SentencePiece(spec) => Some(spec),
            _ => None,
        }
    }
}

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
