//! The special tokens around texts, as a template.

use piecework_core::error::Error;
use piecework_core::spec::{PostProcessorSpec, TemplatePiece, TemplateSpec, TemplateToken};

use super::keys::{Keys, ADD_BOS, ADD_EOS, ADD_SEP};
use super::roles::Role;
use super::tokenizer_model::TokenizerModel;
use super::vocabulary::Vocabulary;

const ADDED: &str = "the id of a token, which the tokenizer adds to each text";

/// Which tokens are added where the file does not state it.
pub(super) struct Defaults {
    pub(super) bos: bool,
    pub(super) eos: bool,
    pub(super) sep: bool,
}

/// A special token with its id.
type Token = (String, u32);

/// Return the post-processor of a file: `bos A eos`, and for pairs the form of the library that made the vocabulary.
pub(super) fn read(
    keys: &Keys,
    vocabulary: &Vocabulary,
    model: TokenizerModel,
    defaults: &Defaults,
) -> Result<Option<PostProcessorSpec>, Error> {
    let is_added = |key, default| Ok(keys.flag(key)?.unwrap_or(default));
    let token = |is_added: bool, role| is_added.then(|| vocabulary.required(role, keys, ADDED)).transpose();
    let is_bert = model == TokenizerModel::Bert;
    // Older files of RoBERTa state no separator, which only pairs need.
    let has_sep = is_bert || vocabulary.id_of(Role::Sep).is_some();
    let adds_sep = is_added(ADD_SEP, defaults.sep && has_sep)?;
    // In BERT's files, `bos` is [CLS], and [SEP] ends each text.
    let first = if is_bert && vocabulary.id_of(Role::Cls).is_some() { Role::Cls } else { Role::Bos };
    let before = token(is_added(ADD_BOS, defaults.bos)?, first)?;
    let adds_eos = is_added(ADD_EOS, defaults.eos)?;
    let (after, between) = if is_bert {
        let last = if adds_sep { Role::Sep } else { Role::Eos };
        (token(adds_sep || adds_eos, last)?, None)
    } else {
        (token(adds_eos, Role::Eos)?, token(adds_sep, Role::Sep)?)
    };
    if before.is_none() && after.is_none() && between.is_none() {
        return Ok(None);
    }
    Ok(Some(template(model, before.as_ref(), after.as_ref(), between.as_ref())))
}

fn template(
    model: TokenizerModel,
    before: Option<&Token>,
    after: Option<&Token>,
    between: Option<&Token>,
) -> PostProcessorSpec {
    // Before the second text: the separator (RoBERTa), nothing (BERT), or the first token again (Llama).
    let again = match (between, model) {
        (Some(separator), _) => Some(separator),
        (None, TokenizerModel::Bert) => None,
        (None, _) => before,
    };
    let second_type = u32::from(between.is_none() && model != TokenizerModel::T5);
    let piece = |token: Option<&Token>, type_id| {
        token.map(|(content, _)| TemplatePiece::Special(content.clone(), type_id))
    };
    let frame = |first: Option<&Token>, sequence, type_id| {
        let pieces = [
            piece(first, type_id),
            Some(TemplatePiece::Sequence(sequence, type_id)),
            piece(after, type_id),
        ];
        pieces.into_iter().flatten().collect::<Vec<_>>()
    };
    let single = frame(before, 0, 0);
    let mut pair = single.clone();
    pair.extend(frame(again, 1, second_type));
    let mut special_tokens: Vec<TemplateToken> = Vec::new();
    for (content, id) in [before, after, between].into_iter().flatten() {
        if special_tokens.iter().all(|known| known.name != *content) {
            let (name, ids, tokens) = (content.clone(), vec![*id], vec![content.clone()]);
            special_tokens.push(TemplateToken { name, ids, tokens });
        }
    }
    PostProcessorSpec::Template(TemplateSpec { single, pair, special_tokens })
}
