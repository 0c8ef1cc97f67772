//! What a tokenizer contains: its tokens with their ids, and how it fills rows.

use super::Tokenizer;
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
    #[must_use]
    pub fn symbol_ids(&self) -> Vec<u32> {
        let Some(spec) = self.sentencepiece_spec() else { return Vec::new() };
        let is_symbol =
            |piece: &ScoredPiece| matches!(piece.kind, PieceType::Control | PieceType::UserDefined);
        let ids = spec.pieces.iter().zip(0..);
        ids.filter(|(piece, _)| is_symbol(piece)).map(|(_, id)| id).collect()
    }

    /// Return the control pieces of a SentencePiece model, in order.
    #[must_use]
    pub fn control_pieces(&self) -> Vec<String> {
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
