//! `gemma4`: BPE over characters, in which a space is `▁` and a character without a token becomes bytes.
//!
//! The text is not split: merges cross spaces. Source: the `tokenizer.json` of Gemma 3, and `llama-vocab.cpp`.

use piecework_core::error::Error;
use piecework_core::spec::{BpeSpec, DecoderSpec, ModelSpec, NormalizerSpec, PatternSpec, TokenizerSpec};

use super::byte_level::read_merges;
use super::framing::{self, Defaults};
use super::keys::Keys;
use super::roles::Role;
use super::tokenizer_model::TokenizerModel;
use super::vocabulary::Vocabulary;

const SPACE: &str = " ";
const METASPACE: &str = "\u{2581}";

pub(super) fn read(keys: &Keys, vocabulary: &Vocabulary) -> Result<TokenizerSpec, Error> {
    let defaults = Defaults { bos: false, eos: false, sep: false };
    let unknown = vocabulary.id_of(Role::Unknown);
    let model = BpeSpec {
        vocab: vocabulary.iter().map(|(token, id, _)| (token.to_owned(), id)).collect(),
        merges: read_merges(keys)?,
        unk_token: unknown.map(|id| vocabulary.tokens[id as usize].clone()),
        fuse_unk: true,
        byte_fallback: true,
        ..BpeSpec::default()
    };
    let space = PatternSpec::Text(SPACE.to_owned());
    let metaspace = PatternSpec::Text(METASPACE.to_owned());
    let to_spaces = DecoderSpec::Replace { pattern: metaspace, content: SPACE.to_owned() };
    Ok(TokenizerSpec {
        truncation: None,
        padding: None,
        added_tokens: vocabulary.added_tokens(false),
        normalizer: Some(NormalizerSpec::Replace { pattern: space, content: METASPACE.to_owned() }),
        pre_tokenizer: None,
        post_processor: framing::read(keys, vocabulary, TokenizerModel::Gemma4, &defaults)?,
        decoder: Some(DecoderSpec::Sequence(vec![to_spaces, DecoderSpec::ByteFallback, DecoderSpec::Fuse])),
        model: ModelSpec::Bpe(model),
    })
}
