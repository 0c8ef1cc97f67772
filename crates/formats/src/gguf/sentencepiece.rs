//! `llama` and `t5`: SentencePiece's BPE and Unigram.

use piecework_core::error::Error;
use piecework_core::spec::{
    DecoderSpec, ModelSpec, NormalizerSpec, PieceType, ScoredPiece, SentencePieceDecoderSpec,
    SentencePieceKind, SentencePieceNormalizerSpec, SentencePieceSpec, TokenizerSpec,
};

use super::framing::{self, Defaults};
use super::keys::{Keys, ADD_SPACE_PREFIX, CHARSMAP, REMOVE_EXTRA_WHITESPACES, SCORES};
use super::roles::Role;
use super::tokenizer_model::TokenizerModel;
use super::vocabulary::{check_len, Vocabulary};

pub(super) fn read(
    keys: &Keys,
    mut vocabulary: Vocabulary,
    model: TokenizerModel,
) -> Result<TokenizerSpec, Error> {
    let is_bpe = model == TokenizerModel::Llama;
    let unknown = mark_unknown(keys, &mut vocabulary)?;
    let normalizer = read_normalizer(keys, &vocabulary, is_bpe)?;
    let byte_fallback = vocabulary.types.contains(&PieceType::Byte);
    let decoder = SentencePieceDecoderSpec {
        add_dummy_prefix: normalizer.add_dummy_prefix,
        remove_extra_whitespaces: normalizer.remove_extra_whitespaces,
        unk_surface: unknown.clone(),
        unk_piece: unknown,
        // Control symbols are special tokens, which decoding skips unless asked not to.
        control_symbols: Vec::new(),
        byte_fallback,
        denormalizer: None,
    };
    let defaults = Defaults { bos: is_bpe, eos: !is_bpe, sep: false };
    let name = |role, default: &str| {
        vocabulary.id_of(role).map_or(default.to_owned(), |id| vocabulary.tokens[id as usize].clone())
    };
    let spec = SentencePieceSpec {
        kind: if is_bpe { SentencePieceKind::Bpe } else { SentencePieceKind::Unigram },
        pieces: read_pieces(keys, &vocabulary)?,
        byte_fallback,
        bos_piece: name(Role::Bos, "<s>"),
        eos_piece: name(Role::Eos, "</s>"),
        pad_piece: name(Role::Pad, "<pad>"),
        lowest_score: None,
        self_test: Vec::new(),
        rest: Vec::new(),
    };
    Ok(TokenizerSpec {
        truncation: None,
        padding: None,
        // The mask of XLM-RoBERTa, whose files are of the model t5, takes the spaces before it.
        added_tokens: vocabulary.added_tokens(!is_bpe),
        normalizer: Some(NormalizerSpec::SentencePiece(normalizer)),
        pre_tokenizer: None,
        post_processor: framing::read(keys, &vocabulary, model, &defaults)?,
        decoder: Some(DecoderSpec::SentencePiece(decoder)),
        model: ModelSpec::SentencePiece(spec),
    })
}

/// Make the unknown token a piece of the type unknown; return it.
fn mark_unknown(keys: &Keys, vocabulary: &mut Vocabulary) -> Result<String, Error> {
    let (unknown, id) = vocabulary.required(Role::Unknown, keys, "the id of the unknown token")?;
    vocabulary.types[id as usize] = PieceType::Unknown;
    Ok(unknown)
}

fn read_pieces(keys: &Keys, vocabulary: &Vocabulary) -> Result<Vec<ScoredPiece>, Error> {
    let scores = keys.floats(SCORES)?.ok_or_else(|| keys.missing(SCORES, "a score for each token"))?;
    check_len(keys, SCORES, scores.len(), vocabulary.tokens.len())?;
    if let Some(at) = scores.iter().position(|score| !score.is_finite()) {
        let found = scores[at].to_string();
        return Err(keys.error_at(SCORES, &format!("[{at}]"), found, "a finite score"));
    }
    let piece = |((text, _, kind), &score): ((&str, u32, PieceType), &f32)| ScoredPiece {
        text: text.to_owned(),
        score,
        kind,
    };
    Ok(vocabulary.iter().zip(scores).map(piece).collect())
}

fn read_normalizer(
    keys: &Keys,
    vocabulary: &Vocabulary,
    is_bpe: bool,
) -> Result<SentencePieceNormalizerSpec, Error> {
    let user_defined = vocabulary.iter().filter(|(_, _, kind)| *kind == PieceType::UserDefined);
    Ok(SentencePieceNormalizerSpec {
        charsmap: keys.bytes(CHARSMAP)?.unwrap_or_default().to_vec(),
        add_dummy_prefix: keys.flag(ADD_SPACE_PREFIX)?.unwrap_or(is_bpe),
        remove_extra_whitespaces: keys.flag(REMOVE_EXTRA_WHITESPACES)?.unwrap_or(false),
        escape_whitespaces: true,
        treat_whitespace_as_suffix: false,
        user_defined_symbols: user_defined.map(|(token, _, _)| token.to_owned()).collect(),
    })
}
