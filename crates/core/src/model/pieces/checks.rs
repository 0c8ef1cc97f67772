//! Checks of a specification.

use crate::error::{Error, ErrorKind};
use crate::spec::{PieceType, ScoredPiece, SentencePieceSpec};
use crate::text::{byte_entry, byte_of_entry};

/// Check the pieces; return the id of the unknown piece.
pub(super) fn check(spec: &SentencePieceSpec) -> Result<u32, Error> {
    for (at, piece) in spec.pieces.iter().enumerate() {
        check_piece(at, piece, spec.byte_fallback)?;
    }
    if let Some(score) = spec.lowest_score.filter(|score| !score.is_finite()) {
        return Err(bad("model.lowest_score".into(), score.to_string(), "a finite score"));
    }
    if spec.byte_fallback {
        check_bytes(&spec.pieces)?;
    }
    unknown(&spec.pieces)
}

fn check_piece(at: usize, piece: &ScoredPiece, byte_fallback: bool) -> Result<(), Error> {
    let place = || format!("model.pieces[{at}]");
    if piece.text.is_empty() {
        return Err(bad(place(), "an empty piece".into(), "a text"));
    }
    if !piece.score.is_finite() {
        return Err(bad(place(), format!("score {} of {:?}", piece.score, piece.text), "a finite score"));
    }
    match piece.kind {
        PieceType::Byte if !byte_fallback => {
            let found = format!("the byte piece {:?}, but no byte_fallback", piece.text);
            Err(bad(place(), found, "byte_fallback, or no byte pieces"))
        }
        PieceType::Byte if byte_of_entry(&piece.text).is_none() => {
            Err(bad(place(), format!("the byte piece {:?}", piece.text), "<0x00> to <0xFF>"))
        }
        _ => Ok(()),
    }
}

fn check_bytes(pieces: &[ScoredPiece]) -> Result<(), Error> {
    let mut is_there = [false; 256];
    let bytes = pieces.iter().filter(|piece| piece.kind == PieceType::Byte);
    bytes
        .filter_map(|piece| byte_of_entry(&piece.text))
        .for_each(|byte| is_there[usize::from(byte)] = true);
    match is_there.iter().position(|is_there| !is_there) {
        Some(byte) => {
            let found = format!("byte_fallback, but no byte piece {}", byte_entry(byte as u8));
            Err(bad("model.pieces".into(), found, "byte pieces <0x00> to <0xFF>"))
        }
        None => Ok(()),
    }
}

fn unknown(pieces: &[ScoredPiece]) -> Result<u32, Error> {
    let mut unknown = (0..).zip(pieces).filter(|(_, piece)| piece.kind == PieceType::Unknown);
    let Some((id, _)) = unknown.next() else {
        return Err(bad("model.pieces".into(), "no unknown piece".into(), "one of the type unknown"));
    };
    match unknown.next() {
        Some((other, piece)) => {
            let found = format!("the unknown piece {:?}, as [{id}] is", piece.text);
            Err(bad(format!("model.pieces[{other}]"), found, "one unknown piece"))
        }
        None => Ok(id),
    }
}

fn bad(place: String, found: String, expected: &str) -> Error {
    Error::new(ErrorKind::Vocabulary, place, found, expected)
}
