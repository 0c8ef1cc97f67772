//! The model that a file names, its tokens with their types, and the tokens that have a role.

use foldhash::{HashMap, HashMapExt};
use piecework_core::error::{shortened, Error, ErrorKind};
use piecework_core::spec::{AddedToken, NormalizerSpec, PieceType, PreTokenizerSpec};
use piecework_core::text::byte_of_entry;

use super::keys::{Keys, MODEL, PRE, TOKENS, TOKEN_TYPES};

/// The models that can be read.
pub(super) const MODELS: [(&str, TokenizerModel); 5] = [
    ("gpt2", TokenizerModel::Gpt2),
    ("llama", TokenizerModel::Llama),
    ("bert", TokenizerModel::Bert),
    ("t5", TokenizerModel::T5),
    ("gemma4", TokenizerModel::Gemma4),
];

/// Names of pre-tokenizers with which a file of the model `gpt2` is one of `gemma4`.
const METASPACE_NAMES: [&str; 3] = ["gemma4", "granite-embed-multi-311m", "sarvam-moe"];

/// A value of `tokenizer.ggml.model`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenizerModel {
    /// Byte-level BPE.
    Gpt2,
    /// SentencePiece's BPE.
    Llama,
    /// WordPiece.
    Bert,
    /// SentencePiece's Unigram.
    T5,
    /// BPE over characters, without a split.
    Gemma4,
}

impl TokenizerModel {
    /// Read the name of the model, and of the pre-tokenizer where that changes the model.
    pub(super) fn read(keys: &Keys) -> Result<Self, Error> {
        let known = MODELS.map(|(name, _)| name).join(", ");
        let expected = format!("one of {known}");
        let name = keys.text(MODEL)?.ok_or_else(|| keys.missing(MODEL, &expected))?;
        let is_metaspace = keys.text(PRE)?.is_some_and(|pre| METASPACE_NAMES.contains(&pre));
        let model = MODELS.iter().find(|(known, _)| *known == name).map(|(_, model)| *model);
        match model.ok_or_else(|| keys.error(MODEL, format!("{name:?}"), expected))? {
            Self::Gpt2 if is_metaspace => Ok(Self::Gemma4),
            model => Ok(model),
        }
    }

    /// Return the id that a role has in files that do not state it.
    pub(super) fn default_id(self, role: Role) -> Option<u32> {
        let ids: &[(Role, u32)] = match self {
            Self::Gpt2 | Self::Gemma4 => &[],
            Self::Llama => &[(Role::Unknown, 0), (Role::Bos, 1), (Role::Eos, 2)],
            Self::Bert => &[
                (Role::Pad, 0),
                (Role::Unknown, 100),
                (Role::Cls, 101),
                (Role::Sep, 102),
                (Role::Mask, 103),
            ],
            Self::T5 => &[(Role::Pad, 0), (Role::Eos, 1), (Role::Unknown, 2)],
        };
        ids.iter().find(|(known, _)| *known == role).map(|&(_, id)| id)
    }
}

/// What the name in `tokenizer.ggml.pre` stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPipeline {
    /// The normalizer.
    pub normalizer: Option<NormalizerSpec>,
    /// The pre-tokenizer, which maps bytes to characters.
    pub pre_tokenizer: PreTokenizerSpec,
    /// A word in the vocabulary becomes its token without merging.
    pub ignore_merges: bool,
    /// The first token of a text is `bos`, unless the file states it.
    pub add_bos: bool,
    /// A separator is between the texts of a pair, unless the file states it.
    pub add_sep: bool,
    /// The mask token takes the spaces before it.
    pub strips_mask: bool,
}

/// A role of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Unknown,
    Bos,
    Eos,
    Sep,
    Pad,
    Cls,
    Mask,
}

/// The roles: the name in transformers, and the keys with the id. One key has two spellings.
pub(super) const ROLES: [(Role, &str, &[&str]); 7] = [
    (Role::Unknown, "unk_token", &["tokenizer.ggml.unknown_token_id"]),
    (Role::Bos, "bos_token", &["tokenizer.ggml.bos_token_id"]),
    (Role::Eos, "eos_token", &["tokenizer.ggml.eos_token_id"]),
    (Role::Sep, "sep_token", &["tokenizer.ggml.seperator_token_id", "tokenizer.ggml.separator_token_id"]),
    (Role::Pad, "pad_token", &["tokenizer.ggml.padding_token_id"]),
    (Role::Cls, "cls_token", &["tokenizer.ggml.cls_token_id"]),
    (Role::Mask, "mask_token", &["tokenizer.ggml.mask_token_id"]),
];

impl Role {
    /// Return the key with the id of the token.
    pub(super) fn key(self) -> &'static str {
        ROLES.iter().find(|(role, _, _)| *role == self).map_or("", |(_, _, keys)| keys[0])
    }
}

/// The tokens, their types and their roles; the id of a token is its position.
pub(super) struct Vocabulary {
    pub(super) tokens: Vec<String>,
    pub(super) types: Vec<PieceType>,
    roles: Vec<(Role, u32)>,
}

impl Vocabulary {
    /// Read the tokens of a model.
    pub(super) fn read(keys: &Keys, model: TokenizerModel) -> Result<Self, Error> {
        let listed = keys.texts(TOKENS)?.ok_or_else(|| keys.missing(TOKENS, "the tokens"))?;
        // llama.cpp gives empty tokens these names too.
        let name = |(id, token): (usize, &String)| match token.as_str() {
            "" => format!("[EMPTY_{id}]"),
            _ => token.clone(),
        };
        let tokens: Vec<String> = listed.iter().enumerate().map(name).collect();
        check_once(keys, &tokens)?;
        let typed = read_types(keys, tokens.len())?;
        let roles = read_roles(keys, model, tokens.len(), typed.as_deref())?;
        let types = typed.unwrap_or_else(|| inferred_types(model, &tokens, &roles));
        Ok(Self { tokens, types, roles })
    }

    /// Return the id of the token of a role.
    pub(super) fn id_of(&self, role: Role) -> Option<u32> {
        self.roles.iter().find(|(known, _)| *known == role).map(|&(_, id)| id)
    }

    /// Return the token of a role with its id; an error names the key.
    pub(super) fn required(&self, role: Role, keys: &Keys, reason: &str) -> Result<(String, u32), Error> {
        let id = self.id_of(role).ok_or_else(|| keys.missing(role.key(), reason))?;
        Ok((self.tokens[id as usize].clone(), id))
    }

    /// Return the names of the roles with their tokens.
    pub(super) fn roles(&self) -> Vec<(&'static str, &str)> {
        let token = |role| self.id_of(role).map(|id| self.tokens[id as usize].as_str());
        ROLES.iter().filter_map(|(role, name, _)| Some((*name, token(*role)?))).collect()
    }

    /// Return the tokens with their ids and types.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u32, PieceType)> {
        let each = self.tokens.iter().zip(&self.types);
        each.zip(0..).map(|((token, kind), id)| (token.as_str(), id, *kind))
    }

    /// Return the tokens that are matched in text before the model runs, as the library that made the vocabulary does.
    ///
    /// A file does not state that a mask takes the spaces before it; `strips_mask` does.
    pub(super) fn added_tokens(&self, strips_mask: bool) -> Vec<AddedToken> {
        let mask = self.id_of(Role::Mask).filter(|_| strips_mask);
        let added = |(token, id, kind)| {
            let special = match kind {
                PieceType::Control | PieceType::Unknown => true,
                PieceType::UserDefined => false,
                PieceType::Normal | PieceType::Unused | PieceType::Byte => return None,
            };
            Some(AddedToken { special, lstrip: mask == Some(id), ..AddedToken::special(token, id) })
        };
        self.iter().filter_map(added).collect()
    }
}

fn check_once(keys: &Keys, tokens: &[String]) -> Result<(), Error> {
    let mut first_with = HashMap::with_capacity(tokens.len());
    for (id, token) in tokens.iter().enumerate() {
        if let Some(first) = first_with.insert(token.as_str(), id) {
            let found = format!("{:?}, which [{first}] is too", shortened(token));
            let mut error = keys.error_at(TOKENS, &format!("[{id}]"), found, "each token once");
            error.kind = ErrorKind::Vocabulary;
            return Err(error);
        }
    }
    Ok(())
}

fn read_types(keys: &Keys, count: usize) -> Result<Option<Vec<PieceType>>, Error> {
    let Some(numbers) = keys.integers(TOKEN_TYPES)? else { return Ok(None) };
    check_len(keys, TOKEN_TYPES, numbers.len(), count)?;
    let kind = |(at, &number): (usize, &i32)| {
        // A type that is undefined, 0, is a normal one.
        let kind = usize::try_from(number).ok().and_then(|number| PieceType::ALL.get(number.max(1) - 1));
        let part = format!("[{at}]");
        let error = || keys.error_at(TOKEN_TYPES, &part, number.to_string(), "a type from 0 to 6");
        kind.copied().ok_or_else(error)
    };
    numbers.iter().enumerate().map(kind).collect::<Result<_, _>>().map(Some)
}

/// Reject a list that has not one item for each token.
pub(super) fn check_len(keys: &Keys, key: &str, found: usize, count: usize) -> Result<(), Error> {
    if found == count {
        return Ok(());
    }
    Err(keys.error(key, format!("{found} items"), format!("{count}, one for each token")))
}

/// Return the ids of the file, then the defaults of llama.cpp, which hold only for tokens that are no text.
fn read_roles(
    keys: &Keys,
    model: TokenizerModel,
    count: usize,
    types: Option<&[PieceType]>,
) -> Result<Vec<(Role, u32)>, Error> {
    let mut roles = Vec::new();
    for (role, _, names) in ROLES {
        let mut id = None;
        for name in names {
            id = id.or(read_id(keys, name, count)?);
        }
        let is_special = |id: &u32| match types {
            Some(types) => {
                matches!(types.get(*id as usize), Some(PieceType::Control | PieceType::Unknown))
            }
            None => (*id as usize) < count,
        };
        // BERT's `bos` is [CLS], so a file that states it leaves no default for the latter.
        let is_stated = role == Role::Cls && roles.iter().any(|(known, _)| *known == Role::Bos);
        let default = model.default_id(role).filter(|id| !is_stated && is_special(id));
        let typed_unknown = types
            .filter(|_| role == Role::Unknown)
            .and_then(|types| types.iter().position(|kind| *kind == PieceType::Unknown))
            .map(|id| id as u32);
        if let Some(id) = id.or(typed_unknown).or(default) {
            roles.push((role, id));
        }
    }
    Ok(roles)
}

fn read_id(keys: &Keys, key: &str, count: usize) -> Result<Option<u32>, Error> {
    let Some(number) = keys.integer(key)? else { return Ok(None) };
    match u32::try_from(number) {
        Ok(id) if (id as usize) < count => Ok(Some(id)),
        _ => Err(keys.error(key, number.to_string(), format!("the id of a token, below {count}"))),
    }
}

/// Return the types of a file without them: tokens with a role are special, and `<0x0A>` is a byte.
fn inferred_types(model: TokenizerModel, tokens: &[String], roles: &[(Role, u32)]) -> Vec<PieceType> {
    let has_bytes = model == TokenizerModel::Llama;
    let kind = |token: &String| match byte_of_entry(token) {
        Some(_) if has_bytes => PieceType::Byte,
        _ => PieceType::Normal,
    };
    let mut types: Vec<PieceType> = tokens.iter().map(kind).collect();
    for &(role, id) in roles {
        let is_unknown = role == Role::Unknown;
        types[id as usize] = if is_unknown { PieceType::Unknown } else { PieceType::Control };
    }
    types
}
