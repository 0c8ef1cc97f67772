//! `.vocab`: one piece a line, with a tab and its score; for people and for other tools.

use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{ModelSpec, ScoredPiece, TokenizerSpec};
use piecework_core::text::six_digits;

use super::message::{Message, OUTPUT_PIECE_SCORE, TRAINER};
use crate::text::unmarked_utf8;

/// Write the pieces with scores in six digits, as C++ streams write floats, or without scores, by the model.
pub fn write_vocab(spec: &TokenizerSpec) -> Result<Vec<u8>, Error> {
    let ModelSpec::SentencePiece(model) = &spec.model else {
        let found = "another model than SentencePiece's";
        return Err(Error::new(ErrorKind::Argument, "model", found, "pieces with scores"));
    };
    let rest = Message::parse(&model.rest, "model.rest")?;
    let trainer = rest.merged(TRAINER)?;
    let scored = Message::parse(&trainer, TRAINER.1)?.flag(OUTPUT_PIECE_SCORE, true)?;
    Ok(if scored { written(&model.pieces) } else { listed(&model.pieces) }.into_bytes())
}

fn written(pieces: &[ScoredPiece]) -> String {
    let line = |piece: &ScoredPiece| format!("{}\t{}\n", piece.text, six_digits(piece.score.into()));
    pieces.iter().map(line).collect()
}

fn listed(pieces: &[ScoredPiece]) -> String {
    pieces.iter().map(|piece| format!("{}\n", piece.text)).collect()
}

/// Read texts with scores, or with counts as `spm_encode --generate_vocabulary` writes them. A line without a
/// number has 1.
pub fn read_vocab(bytes: &[u8]) -> Result<Vec<(String, f64)>, Error> {
    let text = unmarked_utf8(bytes)?;
    let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
    lines.enumerate().filter(|_| !text.is_empty()).map(|(at, line)| read_line(at + 1, line)).collect()
}

fn read_line(number: usize, line: &str) -> Result<(String, f64), Error> {
    let invalid = |found: String, expected| {
        Err(Error::new(ErrorKind::Format, format!("line {number}"), found, expected))
    };
    let mut fields = line.split('\t');
    let piece = fields.next().unwrap_or_default();
    if piece.is_empty() {
        return invalid("no piece".into(), "a piece, a tab and a number");
    }
    match fields.next().map(|score| (score, score.parse::<f64>())) {
        None => Ok((piece.to_owned(), 1.0)),
        Some((_, Ok(score))) if score.is_finite() => Ok((piece.to_owned(), score)),
        Some((score, _)) => invalid(format!("{score:?}"), "a finite number after the tab"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use piecework_core::spec::PieceType;

    #[test]
    fn reads_what_it_writes_and_names_lines() {
        let piece = ScoredPiece { text: "▁a".into(), score: -2.5, kind: PieceType::Normal };
        let text = written(&[piece]);
        assert_eq!(text, "▁a\t-2.5\n");
        assert_eq!(read_vocab(text.as_bytes()).unwrap(), [("▁a".to_owned(), -2.5)]);
        assert_eq!(read_vocab(b"").unwrap(), []);
        let error = read_vocab(b"a\t1\nb\tx\n").unwrap_err();
        assert_eq!(error.to_string(), r#"line 2: found "x", expected a finite number after the tab"#);
    }
}
