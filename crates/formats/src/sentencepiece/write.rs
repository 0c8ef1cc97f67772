//! A specification to a `.model`.

use std::borrow::Cow;

use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{
    DecoderSpec, ModelSpec, NormalizerSpec, PieceType, ScoredPiece, SentencePieceDecoderSpec,
    SentencePieceNormalizerSpec, SentencePieceSpec, TokenizerSpec,
};

use super::message::{
    put_field, Field, Message, WireValue, ADD_DUMMY_PREFIX, BOS_PIECE, BYTE_FALLBACK, CHARSMAP,
    DEFAULT_BOS, DEFAULT_EOS, DEFAULT_PAD, DEFAULT_UNK, DEFAULT_UNK_SURFACE, DENORMALIZER, EOS_PIECE,
    ESCAPE_WHITESPACES, EXPECTED, INPUT, KINDS, MODEL_TYPE, NORMALIZER, PAD_PIECE, PIECE, PIECES,
    REMOVE_EXTRA_WHITESPACES, SAMPLES, SCORE, SELF_TEST, TRAINER, TYPE, UNK_PIECE, UNK_SURFACE, VOCAB_SIZE,
    WHITESPACE_AS_SUFFIX,
};

/// Write a `.model`; fails unless the stages are SentencePiece's normalizer, model and decoder only.
pub fn write(spec: &TokenizerSpec) -> Result<Vec<u8>, Error> {
    let (normalizer, model, decoder) = stages_of(spec)?;
    let rest = Message::parse(&model.rest, "model.rest")?;
    let trainer = trainer(&rest, normalizer, model, decoder)?;
    let mut file = rest.clone();
    file.set(TRAINER, WireValue::Bytes(trainer.into()));
    file.set(NORMALIZER, WireValue::Bytes(normalizer_message(&rest, NORMALIZER, normalizer)?.into()));
    if let Some(denormalizer) = &decoder.denormalizer {
        let message = normalizer_message(&rest, DENORMALIZER, denormalizer)?;
        file.set(DENORMALIZER, WireValue::Bytes(message.into()));
    }
    if !model.self_test.is_empty() {
        file.set(SELF_TEST, WireValue::Bytes(self_test(&model.self_test).into()));
    }
    let mut out = Vec::new();
    for piece in &model.pieces {
        put_field(PIECES.0, &WireValue::Bytes(piece_bytes(piece).into()), &mut out);
    }
    file.write(&mut out);
    Ok(out)
}

type SentencePieceStages<'s> =
    (&'s SentencePieceNormalizerSpec, &'s SentencePieceSpec, &'s SentencePieceDecoderSpec);

fn stages_of(spec: &TokenizerSpec) -> Result<SentencePieceStages<'_>, Error> {
    let unsupported = |place: &str, found: &str| {
        let error = Error::new(ErrorKind::Argument, place, found, "what SentencePiece has");
        Err(error.with_hint("write a tokenizer.json, or convert to its stages"))
    };
    let Some(NormalizerSpec::SentencePiece(normalizer)) = &spec.normalizer else {
        return unsupported("normalizer", "another normalizer than SentencePiece's");
    };
    let ModelSpec::SentencePiece(model) = &spec.model else {
        return unsupported("model", "another model than SentencePiece's");
    };
    let Some(DecoderSpec::SentencePiece(decoder)) = &spec.decoder else {
        return unsupported("decoder", "another decoder than SentencePiece's");
    };
    if !spec.added_tokens.is_empty() {
        return unsupported("added_tokens", "tokens that are not pieces");
    }
    if spec.pre_tokenizer.is_some() {
        return unsupported("pre_tokenizer", "a pre-tokenizer");
    }
    Ok((normalizer, model, decoder))
}

fn trainer(
    rest: &Message<'_>,
    normalizer: &SentencePieceNormalizerSpec,
    model: &SentencePieceSpec,
    decoder: &SentencePieceDecoderSpec,
) -> Result<Vec<u8>, Error> {
    let bytes = rest.merged(TRAINER)?;
    let mut trainer = Message::parse(&bytes, TRAINER.1)?;
    let is_new = bytes.is_empty();
    let kind = KINDS.iter().position(|kind| *kind == model.kind).map_or(1, |at| at as u64 + 1);
    set_number(&mut trainer, MODEL_TYPE, kind, 1)?;
    if is_new {
        trainer.set(VOCAB_SIZE, WireValue::Varint(model.pieces.len() as u64));
        set_text(&mut trainer, UNK_PIECE, &decoder.unk_piece, DEFAULT_UNK)?;
    }
    set_flag(&mut trainer, WHITESPACE_AS_SUFFIX, normalizer.treat_whitespace_as_suffix, false)?;
    set_flag(&mut trainer, BYTE_FALLBACK, model.byte_fallback, false)?;
    set_text(&mut trainer, UNK_SURFACE, &decoder.unk_surface, DEFAULT_UNK_SURFACE)?;
    set_text(&mut trainer, BOS_PIECE, &model.bos_piece, DEFAULT_BOS)?;
    set_text(&mut trainer, EOS_PIECE, &model.eos_piece, DEFAULT_EOS)?;
    set_text(&mut trainer, PAD_PIECE, &model.pad_piece, DEFAULT_PAD)?;
    Ok(trainer.bytes())
}

fn normalizer_message(
    rest: &Message<'_>,
    field: Field,
    spec: &SentencePieceNormalizerSpec,
) -> Result<Vec<u8>, Error> {
    let bytes = rest.merged(field)?;
    let mut message = Message::parse(&bytes, field.1)?;
    if !spec.charsmap.is_empty() || message.has(CHARSMAP) {
        message.set(CHARSMAP, WireValue::Bytes(Cow::Borrowed(&spec.charsmap)));
    }
    set_flag(&mut message, ADD_DUMMY_PREFIX, spec.add_dummy_prefix, true)?;
    set_flag(&mut message, REMOVE_EXTRA_WHITESPACES, spec.remove_extra_whitespaces, true)?;
    set_flag(&mut message, ESCAPE_WHITESPACES, spec.escape_whitespaces, true)?;
    Ok(message.bytes())
}

fn piece_bytes(piece: &ScoredPiece) -> Vec<u8> {
    let mut out = Vec::with_capacity(piece.text.len() + 9);
    put_field(PIECE.0, &WireValue::Bytes(piece.text.as_bytes().into()), &mut out);
    put_field(SCORE.0, &WireValue::Fixed32(piece.score.to_le_bytes()), &mut out);
    if piece.kind != PieceType::Normal {
        put_field(TYPE.0, &WireValue::Varint(piece.kind as u64 + 1), &mut out);
    }
    out
}

fn self_test(samples: &[(String, String)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (input, expected) in samples {
        let mut sample = Vec::new();
        put_field(INPUT.0, &WireValue::Bytes(input.as_bytes().into()), &mut sample);
        put_field(EXPECTED.0, &WireValue::Bytes(expected.as_bytes().into()), &mut sample);
        put_field(SAMPLES.0, &WireValue::Bytes(sample.into()), &mut out);
    }
    out
}

/// Set a field unless it has the value already; an absent field has the value `default`.
fn set_number(message: &mut Message<'_>, field: Field, value: u64, default: u64) -> Result<(), Error> {
    if message.number(field, default)? != value {
        message.set(field, WireValue::Varint(value));
    }
    Ok(())
}

fn set_flag(message: &mut Message<'_>, field: Field, value: bool, default: bool) -> Result<(), Error> {
    set_number(message, field, value.into(), default.into())
}

fn set_text<'a>(
    message: &mut Message<'a>,
    field: Field,
    value: &'a str,
    default: &str,
) -> Result<(), Error> {
    if message.text(field, default)? != value {
        message.set(field, WireValue::Bytes(value.as_bytes().into()));
    }
    Ok(())
}
