//! A `.model` to a specification.

use piecework_core::error::Error;
use piecework_core::spec::{
    DecoderSpec, ModelSpec, NormalizerSpec, PieceType, ScoredPiece, SentencePieceDecoderSpec,
    SentencePieceNormalizerSpec, SentencePieceSpec, TokenizerSpec,
};

use super::message::{
    take_field, Field, Message, WireValue, ADD_DUMMY_PREFIX, BOS_PIECE, BYTE_FALLBACK, CHARSMAP,
    DEFAULT_BOS, DEFAULT_EOS, DEFAULT_PAD, DEFAULT_UNK_SURFACE, DENORMALIZER, EOS_PIECE,
    ESCAPE_WHITESPACES, EXPECTED, EXTENSIONS, INPUT, KINDS, MODEL_TYPE, NORMALIZER, PAD_PIECE, PIECE,
    PIECES, REMOVE_EXTRA_WHITESPACES, SAMPLES, SCORE, SELF_TEST, TRAINER, TYPE, UNK_SURFACE,
    WHITESPACE_AS_SUFFIX,
};

/// Return whether a file is a SentencePiece model, with its fields in any order.
///
/// SentencePiece writes the pieces first. A truncated file is recognized if its first field is complete. A
/// `vocab.txt` whose first lines are empty may begin alike, but its bytes are not lengths that fit.
#[must_use]
pub fn is_model(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    match take_field(&mut rest) {
        Some((number, WireValue::Bytes(piece))) if number == PIECES.0 => is_piece(&piece),
        Some((number, WireValue::Bytes(inner))) if [TRAINER.0, NORMALIZER.0].contains(&number) => {
            Message::parse(&inner, "").is_ok()
        }
        // Text does not parse to its end.
        Some(_) => Message::parse(rest, "").is_ok_and(|file| file.all(PIECES.0).any(is_piece_field)),
        None => false,
    }
}

fn is_piece_field(value: &WireValue<'_>) -> bool {
    matches!(value, WireValue::Bytes(bytes) if is_piece(bytes))
}

fn is_piece(bytes: &[u8]) -> bool {
    let is_known = |number| [PIECE, SCORE, TYPE].iter().any(|(known, _)| *known == number);
    Message::parse(bytes, "")
        .is_ok_and(|piece| piece.has(PIECE) && piece.numbers().all(|n| is_known(n) || n >= EXTENSIONS))
}

/// Read a `.model`. Errors name the field, such as `pieces[7]`.
pub fn read(bytes: &[u8]) -> Result<TokenizerSpec, Error> {
    let file = Message::parse(bytes, "")?;
    let trainer_bytes = file.merged(TRAINER)?;
    let trainer = Message::parse(&trainer_bytes, TRAINER.1)?;
    let pieces = read_pieces(&file)?;
    let normalizer = read_normalizer(&file, NORMALIZER, &trainer, &pieces)?;
    let decoder = read_decoder(&file, &trainer, &normalizer, &pieces)?;
    let model = read_model(&file, &trainer, pieces)?;
    Ok(TokenizerSpec {
        normalizer: Some(NormalizerSpec::SentencePiece(normalizer)),
        decoder: Some(DecoderSpec::SentencePiece(decoder)),
        ..TokenizerSpec::of(ModelSpec::SentencePiece(model))
    })
}

/// Read the normalizer of a `.model` only: its rules and flags.
pub fn read_rules(bytes: &[u8]) -> Result<SentencePieceNormalizerSpec, Error> {
    read_normalizer(&Message::parse(bytes, "")?, NORMALIZER, &Message::default(), &[])
}

fn read_pieces(file: &Message<'_>) -> Result<Vec<ScoredPiece>, Error> {
    let read = |(at, value): (usize, &WireValue<'_>)| {
        let WireValue::Bytes(bytes) = value else { return Err(file.unexpected(PIECES, value, "a piece")) };
        if let Some(piece) = valid_piece(bytes) {
            return Ok(piece);
        }
        let piece = Message::parse(bytes, &format!("pieces[{at}]"))?;
        Ok(ScoredPiece {
            text: piece.text(PIECE, "")?,
            score: piece.float(SCORE)?,
            kind: choice(&piece, TYPE, &PieceType::ALL)?,
        })
    };
    file.all(PIECES.0).enumerate().map(read).collect()
}

/// Read a piece without a list of its fields; `None` for an invalid one.
fn valid_piece(bytes: &[u8]) -> Option<ScoredPiece> {
    let (mut text, mut score, mut kind, mut rest) = (None, 0.0, 1, bytes);
    while !rest.is_empty() {
        match take_field(&mut rest)? {
            (number, WireValue::Bytes(value)) if number == PIECE.0 => text = Some(value),
            (number, WireValue::Fixed32(value)) if number == SCORE.0 => score = f32::from_le_bytes(value),
            (number, WireValue::Varint(value)) if number == TYPE.0 => kind = value,
            (number, _) if [PIECE.0, SCORE.0, TYPE.0].contains(&number) => return None,
            _ => {}
        }
    }
    let kind = *numbered(&PieceType::ALL, kind)?;
    let text = text.unwrap_or_default();
    Some(ScoredPiece { text: std::str::from_utf8(&text).ok()?.to_owned(), score, kind })
}

fn read_model(
    file: &Message<'_>,
    trainer: &Message<'_>,
    pieces: Vec<ScoredPiece>,
) -> Result<SentencePieceSpec, Error> {
    let mut rest = file.without(&[PIECES.0, SELF_TEST.0]);
    // The rules are the normalizer's; here they would be there twice.
    for field in [NORMALIZER, DENORMALIZER] {
        if file.has(field) {
            let bytes = file.merged(field)?;
            let mut spec = Message::parse(&bytes, field.1)?;
            if spec.has(CHARSMAP) {
                spec.set(CHARSMAP, WireValue::Bytes(Vec::new().into()));
            }
            rest.set(field, WireValue::Bytes(spec.bytes().into()));
        }
    }
    Ok(SentencePieceSpec {
        kind: choice(trainer, MODEL_TYPE, &KINDS)?,
        pieces,
        byte_fallback: trainer.flag(BYTE_FALLBACK, false)?,
        bos_piece: name(trainer, BOS_PIECE, DEFAULT_BOS)?,
        eos_piece: name(trainer, EOS_PIECE, DEFAULT_EOS)?,
        pad_piece: name(trainer, PAD_PIECE, DEFAULT_PAD)?,
        lowest_score: None,
        self_test: read_self_test(file)?,
        rest: rest.bytes(),
    })
}

fn read_normalizer(
    file: &Message<'_>,
    field: Field,
    trainer: &Message<'_>,
    pieces: &[ScoredPiece],
) -> Result<SentencePieceNormalizerSpec, Error> {
    let bytes = file.merged(field)?;
    let spec = Message::parse(&bytes, field.1)?;
    let user_defined = pieces.iter().filter(|piece| piece.kind == PieceType::UserDefined);
    Ok(SentencePieceNormalizerSpec {
        charsmap: spec.merged(CHARSMAP)?,
        add_dummy_prefix: spec.flag(ADD_DUMMY_PREFIX, true)?,
        remove_extra_whitespaces: spec.flag(REMOVE_EXTRA_WHITESPACES, true)?,
        escape_whitespaces: spec.flag(ESCAPE_WHITESPACES, true)?,
        treat_whitespace_as_suffix: trainer.flag(WHITESPACE_AS_SUFFIX, false)?,
        user_defined_symbols: user_defined.map(|piece| piece.text.clone()).collect(),
    })
}

fn read_decoder(
    file: &Message<'_>,
    trainer: &Message<'_>,
    normalizer: &SentencePieceNormalizerSpec,
    pieces: &[ScoredPiece],
) -> Result<SentencePieceDecoderSpec, Error> {
    let of_kind = |kind| pieces.iter().filter(move |piece| piece.kind == kind).map(|piece| &piece.text);
    let denormalizer = read_normalizer(file, DENORMALIZER, &Message::default(), &[])?;
    Ok(SentencePieceDecoderSpec {
        add_dummy_prefix: normalizer.add_dummy_prefix,
        remove_extra_whitespaces: normalizer.remove_extra_whitespaces,
        unk_piece: of_kind(PieceType::Unknown).next().cloned().unwrap_or_default(),
        unk_surface: trainer.text(UNK_SURFACE, DEFAULT_UNK_SURFACE)?,
        control_symbols: of_kind(PieceType::Control).cloned().collect(),
        byte_fallback: trainer.flag(BYTE_FALLBACK, false)?,
        denormalizer: Some(denormalizer).filter(|spec| !spec.charsmap.is_empty()),
    })
}

fn read_self_test(file: &Message<'_>) -> Result<Vec<(String, String)>, Error> {
    let bytes = file.merged(SELF_TEST)?;
    let test = Message::parse(&bytes, SELF_TEST.1)?;
    let read = |(at, value): (usize, &WireValue<'_>)| {
        let WireValue::Bytes(bytes) = value else {
            return Err(test.unexpected(SAMPLES, value, "a sample"));
        };
        let sample = Message::parse(bytes, &format!("{}.samples[{at}]", SELF_TEST.1))?;
        Ok((sample.text(INPUT, "")?, sample.text(EXPECTED, "")?))
    };
    test.all(SAMPLES.0).enumerate().map(read).collect()
}

/// Return the name of a special piece; empty means the default.
fn name(trainer: &Message<'_>, field: Field, default: &str) -> Result<String, Error> {
    let name = trainer.text(field, default)?;
    Ok(if name.is_empty() { default.to_owned() } else { name })
}

/// Return the value with a number, the first one without a number.
fn choice<T: Copy>(message: &Message<'_>, field: Field, known: &[T]) -> Result<T, Error> {
    let number = message.number(field, 1)?;
    let expected = || format!("1 to {}", known.len());
    numbered(known, number)
        .copied()
        .ok_or_else(|| message.unexpected(field, &WireValue::Varint(number), &expected()))
}

/// Return the value with a number, from 1.
fn numbered<T>(known: &[T], number: u64) -> Option<&T> {
    known.get(usize::try_from(number.checked_sub(1)?).ok()?)
}
