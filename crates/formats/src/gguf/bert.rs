//! `bert`: WordPiece. Files mark the tokens that begin a word with `▁`, and not those inside a word with `##`.

use piecework_core::error::Error;
use piecework_core::spec::{BertNormalizerSpec, NormalizerSpec, PieceType, TokenizerSpec, VocabSpec};

use super::framing::{self, Defaults};
use super::keys::{Keys, LOWERCASE, STRIP_ACCENTS};
use super::roles::Role;
use super::tokenizer_model::TokenizerModel;
use super::vocabulary::Vocabulary;
use crate::vocab_txt;

const WORD_START: char = '▁';
const CONTINUATION: &str = "##";

pub(super) fn read(
    keys: &Keys,
    vocabulary: &Vocabulary,
    lowercase: Option<bool>,
) -> Result<TokenizerSpec, Error> {
    let entry = |(token, id, kind)| (original(token, kind), id);
    let entries: VocabSpec = vocabulary.iter().map(entry).collect();
    let (unk_token, _) = vocabulary.required(Role::Unknown, keys, "the id of the unknown token")?;
    let lowercase = match lowercase {
        Some(lowercase) => lowercase,
        // llama.cpp lowercases unless the file states it; cased vocabularies exist without the key.
        None => keys.flag(LOWERCASE)?.unwrap_or_else(|| !vocab_txt::is_cased(&entries)),
    };
    let normalizer = BertNormalizerSpec {
        strip_accents: keys.flag(STRIP_ACCENTS)?,
        ..BertNormalizerSpec::with_lowercase(lowercase)
    };
    let defaults = Defaults { bos: true, eos: false, sep: true };
    Ok(TokenizerSpec {
        added_tokens: vocabulary.added_tokens(false),
        normalizer: Some(NormalizerSpec::Bert(normalizer)),
        post_processor: framing::read(keys, vocabulary, TokenizerModel::Bert, &defaults)?,
        ..vocab_txt::tokenizer(entries, unk_token)
    })
}

/// Return the token as in a `vocab.txt`.
fn original(token: &str, kind: PieceType) -> String {
    let is_special = matches!(kind, PieceType::Control | PieceType::Unknown);
    // Older files leave tokens in brackets unmarked, such as [unused1].
    let is_in_brackets = token.len() > 2 && token.starts_with('[') && token.ends_with(']');
    match token.strip_prefix(WORD_START).filter(|rest| !rest.is_empty()) {
        _ if is_special => token.to_owned(),
        Some(rest) => rest.to_owned(),
        None if is_in_brackets || kind == PieceType::UserDefined => token.to_owned(),
        None => format!("{CONTINUATION}{token}"),
    }
}
