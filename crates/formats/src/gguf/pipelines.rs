//! The pipelines of the models, and the special tokens around texts.

use foldhash::HashSet;
use piecework_core::error::{shortened, Error};
use piecework_core::spec::{
    BertNormalizerSpec, BpeSpec, DecoderSpec, MergeList, ModelSpec, NormalizerSpec, PatternSpec, PieceType,
    PostProcessorSpec, ScoredPiece, SentencePieceDecoderSpec, SentencePieceKind,
    SentencePieceNormalizerSpec, SentencePieceSpec, TemplatePiece, TemplateSpec, TemplateToken,
    TokenizerSpec, VocabSpec,
};

use super::keys::{
    Keys, ADD_BOS, ADD_EOS, ADD_SEP, ADD_SPACE_PREFIX, CHARSMAP, LOWERCASE, MERGES,
    REMOVE_EXTRA_WHITESPACES, SCORES, STRIP_ACCENTS,
};
use super::vocabulary::{check_len, NamedPipeline, Role, TokenizerModel, Vocabulary};
use crate::bytes::tokenizer;
use crate::vocab_txt;

/// Read `gpt2`: byte-level BPE with the pipeline of a name.
pub(super) fn read_byte_level(
    keys: &Keys,
    vocabulary: &Vocabulary,
    pipeline: NamedPipeline,
) -> Result<TokenizerSpec, Error> {
    let merges = read_merges(keys)?;
    let defaults = Defaults { bos: pipeline.add_bos, eos: false, sep: pipeline.add_sep };
    let post_processor = read_framing(keys, vocabulary, TokenizerModel::Gpt2, &defaults)?;
    let model = BpeSpec {
        vocab: model_entries(vocabulary, &merges),
        merges,
        ignore_merges: pipeline.ignore_merges,
        ..BpeSpec::default()
    };
    Ok(TokenizerSpec {
        normalizer: pipeline.normalizer,
        post_processor,
        ..tokenizer(model, pipeline.pre_tokenizer, vocabulary.added_tokens(pipeline.strips_mask))
    })
}

/// Read the merges, two tokens a line.
fn read_merges(keys: &Keys) -> Result<MergeList, Error> {
    let lines = keys.texts(MERGES)?.ok_or_else(|| keys.missing(MERGES, "the merges"))?;
    let mut merges = MergeList::with_capacity(lines.len(), 0);
    for (at, line) in lines.iter().enumerate() {
        // A token may begin with a space, so the first character is part of the left one.
        let first = line.chars().next().map_or(0, char::len_utf8);
        let space = line[first..].find(' ').map(|space| first + space);
        match space.map(|space| (&line[..space], &line[space + 1..])) {
            Some((left, right)) if !right.is_empty() => merges.push(left, right),
            _ => {
                let found = format!("{:?}", shortened(line));
                let expected = "two tokens with a space between them";
                return Err(keys.error_at(MERGES, &format!("[{at}]"), found, expected));
            }
        }
    }
    Ok(merges)
}

/// Return the entries of the model: all tokens but those that only added tokens match.
///
/// A special token that is an entry would be emitted for a word of the same text, with `ignore_merges`.
fn model_entries(vocabulary: &Vocabulary, merges: &MergeList) -> Vec<(String, u32)> {
    let is_added = |kind| matches!(kind, PieceType::Control | PieceType::UserDefined | PieceType::Unknown);
    let added: HashSet<&str> =
        vocabulary.iter().filter(|&(_, _, kind)| is_added(kind)).map(|(token, _, _)| token).collect();
    let mut of_merges: HashSet<&str> = HashSet::default();
    let mut merged = String::new();
    for (left, right) in merges.iter() {
        merged.clear();
        merged.extend([left, right]);
        let parts = [left, right, &merged];
        of_merges.extend(parts.into_iter().filter_map(|part| added.get(part)));
    }
    let is_entry = |token: &str| !added.contains(token) || of_merges.contains(token);
    let entries = vocabulary.iter().filter(|(token, _, _)| is_entry(token));
    entries.map(|(token, id, _)| (token.to_owned(), id)).collect()
}

const WORD_START: char = '▁';
const CONTINUATION: &str = "##";

/// Read `bert`: WordPiece. Files mark the tokens that begin a word with `▁`, and not those inside a word with `##`.
pub(super) fn read_bert(
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
        post_processor: read_framing(keys, vocabulary, TokenizerModel::Bert, &defaults)?,
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

/// Read `llama` and `t5`: SentencePiece's BPE and Unigram.
pub(super) fn read_sentencepiece(
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
        ..SentencePieceSpec::default()
    };
    Ok(TokenizerSpec {
        // The mask of XLM-RoBERTa, whose files are of the model t5, takes the spaces before it.
        added_tokens: vocabulary.added_tokens(!is_bpe),
        normalizer: Some(NormalizerSpec::SentencePiece(normalizer)),
        post_processor: read_framing(keys, &vocabulary, model, &defaults)?,
        decoder: Some(DecoderSpec::SentencePiece(decoder)),
        ..TokenizerSpec::of(ModelSpec::SentencePiece(spec))
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

const SPACE: &str = " ";
const METASPACE: &str = "\u{2581}";

/// Read `gemma4`: BPE over characters, in which a space is `▁` and a character without a token becomes bytes.
///
/// The text is not split: merges cross spaces. Source: the `tokenizer.json` of Gemma 3, and `llama-vocab.cpp`.
pub(super) fn read_metaspace_bpe(keys: &Keys, vocabulary: &Vocabulary) -> Result<TokenizerSpec, Error> {
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
        added_tokens: vocabulary.added_tokens(false),
        normalizer: Some(NormalizerSpec::Replace { pattern: space, content: METASPACE.to_owned() }),
        post_processor: read_framing(keys, vocabulary, TokenizerModel::Gemma4, &defaults)?,
        decoder: Some(DecoderSpec::Sequence(vec![to_spaces, DecoderSpec::ByteFallback, DecoderSpec::Fuse])),
        ..TokenizerSpec::of(ModelSpec::Bpe(model))
    })
}

const ADDED: &str = "the id of a token, which the tokenizer adds to each text";

/// Which tokens are added where the file does not state it.
struct Defaults {
    bos: bool,
    eos: bool,
    sep: bool,
}

/// A special token with its id.
type Token = (String, u32);

/// Return the post-processor of a file: `bos A eos`, and for pairs the form of the library that made the vocabulary.
fn read_framing(
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
