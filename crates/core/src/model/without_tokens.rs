//! Models that never make some tokens from text. All other ids, merges and scores stay.

use foldhash::HashSet;

use super::{Model, Unigram};
use crate::error::Error;
use crate::spec::{BpeSpec, ModelSpec, PieceType, SentencePieceSpec, VocabSpec};
use crate::table_sections::TableSections;
use crate::text::byte_entry;
use crate::vocab::Vocab;

/// A character that no text uses. The unknown token gets a name of these: a text with that name is an unknown word too.
const NONCHARACTER: &str = "\u{10FFFF}";

impl Model {
    /// Compile a model that never makes the tokens `ids` from their text, with its specification and the vocabulary that it
    /// looks words up in; `None` for a model of characters.
    ///
    /// The unknown token and byte tokens may be among `ids`: they still represent unknown text. A token of one character
    /// stays, because its character would have no other.
    pub(crate) fn compile_without(
        spec: &ModelSpec,
        vocab: &Vocab,
        ids: &HashSet<u32>,
    ) -> Result<Option<(Self, ModelSpec, Vocab)>, Error> {
        if let ModelSpec::Unigram(unigram) = spec {
            let model = Self::Unigram(Unigram::compile(unigram, vocab, &TableSections::default(), ids)?);
            // Runs of unknown characters are looked up, and byte tokens are compiled.
            let kept = vocab.iter().filter(|(_, id)| !ids.contains(id));
            let kept: VocabSpec = kept.map(|(token, id)| (token.to_owned(), id)).collect();
            return Ok(Some((model, spec.clone(), Vocab::compile(&kept)?)));
        }
        let mut spec = spec.clone();
        match &mut spec {
            ModelSpec::WordPiece(spec) => {
                remove(&mut spec.vocab, Some(&mut spec.unk_token), ids, &spec.continuing_subword_prefix);
            }
            ModelSpec::Word(spec) => remove(&mut spec.vocab, Some(&mut spec.unk_token), ids, ""),
            ModelSpec::Bpe(spec) => remove_merged(spec, ids),
            ModelSpec::SentencePiece(spec) => make_control(spec, ids),
            ModelSpec::Unigram(_) | ModelSpec::Char(_) => return Ok(None),
        }
        let vocab = Vocab::of_model(&spec)?;
        let model = Self::compile(&spec, &vocab, &TableSections::default())?;
        Ok(Some((model, spec, vocab)))
    }
}

/// Remove tokens from a vocabulary, and rename the unknown token if it is among them.
fn remove(vocab: &mut VocabSpec, unk_token: Option<&mut String>, ids: &HashSet<u32>, prefix: &str) {
    let unk_token = unk_token.filter(|unk| {
        let is_unk = |(token, id): &(String, u32)| token == *unk && ids.contains(id);
        vocab.iter().any(is_unk)
    });
    if let Some(unk) = unk_token {
        let mut name = NONCHARACTER.to_owned();
        while vocab.iter().any(|(token, _)| *token == name) {
            name.push_str(NONCHARACTER);
        }
        if let Some((token, _)) = vocab.iter_mut().find(|(token, _)| token == unk) {
            token.clone_from(&name);
        }
        *unk = name;
    }
    let is_char = |token: &str| token.strip_prefix(prefix).unwrap_or(token).chars().nth(1).is_none();
    let is_renamed = |token: &str| token.starts_with(NONCHARACTER);
    vocab.retain(|(token, id)| !ids.contains(id) || is_char(token) || is_renamed(token));
}

/// Remove tokens of a BPE model, and the merges that make or need them.
///
/// Byte tokens stay for unknown characters. Merges do not make them, but whole words match them.
fn remove_merged(spec: &mut BpeSpec, ids: &HashSet<u32>) {
    let bytes: HashSet<String> = (0..=u8::MAX).filter(|_| spec.byte_fallback).map(byte_entry).collect();
    let is_byte = |(token, id): &&(String, u32)| ids.contains(id) && bytes.contains(token);
    let byte_ids: HashSet<u32> = spec.vocab.iter().filter(is_byte).map(|&(_, id)| id).collect();
    spec.ignore_merges &= byte_ids.is_empty();
    let ids = &ids.difference(&byte_ids).copied().collect();
    remove(&mut spec.vocab, spec.unk_token.as_mut(), ids, "");
    let kept: HashSet<&str> = spec.vocab.iter().map(|(token, _)| token.as_str()).collect();
    let prefix = spec.continuing_subword_prefix.as_deref().unwrap_or_default();
    let has_merged = |left: &str, right: &str| {
        let right = right.strip_prefix(prefix).unwrap_or(right);
        kept.contains(format!("{left}{right}").as_str())
    };
    let is_kept = |&(left, right): &(&str, &str)| {
        kept.contains(left) && kept.contains(right) && has_merged(left, right)
    };
    let merges = spec.merges.iter().filter(is_kept).collect();
    spec.merges = merges;
}

/// Make pieces of SentencePiece control pieces, which no text matches.
fn make_control(spec: &mut SentencePieceSpec, ids: &HashSet<u32>) {
    let normal = spec.pieces.iter().filter(|piece| piece.kind == PieceType::Normal);
    let lowest = normal.map(|piece| piece.score).reduce(f32::min);
    spec.lowest_score = spec.lowest_score.or(lowest);
    for (piece, id) in spec.pieces.iter_mut().zip(0..) {
        let is_text = matches!(piece.kind, PieceType::Normal | PieceType::UserDefined | PieceType::Unused);
        if is_text && ids.contains(&id) {
            piece.kind = PieceType::Control;
        }
    }
}
