//! `.piecework`: a `tokenizer.json` with the settings that it lacks.

use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{ParseSpecial, TokenizerSpec};

use crate::tokenizer_json;

/// The first bytes, which no reader of a `tokenizer.json` accepts; the number of the layout follows.
const HEAD: &[u8] = b"{\"piecework\":";
const LAYOUT: &[u8] = b"1";
const AFTER_LAYOUT: &[u8] = b",\"parse_special\":";
const MIDDLE: &[u8] = b",\"tokenizer\":";

/// Read a file. Fails for the layout of a later version.
pub fn read(bytes: &[u8]) -> Result<(TokenizerSpec, ParseSpecial), Error> {
    if let Some((layout, _)) = layout(bytes).filter(|(layout, _)| *layout != LAYOUT) {
        let found = format!("layout {}", String::from_utf8_lossy(layout));
        let expected = "layout 1: the file is of a later version; update piecework";
        return Err(Error::new(ErrorKind::Format, "piecework", found, expected));
    }
    let (parse_special, tokenizer) = parts(bytes).ok_or_else(|| {
        let expected = "the beginning of a .piecework file that `save` wrote";
        Error::new(ErrorKind::Format, "byte 0", "another beginning", expected)
    })?;
    Ok((tokenizer_json::read(tokenizer)?, parse_special))
}

/// Return the settings and the `tokenizer.json` of a file.
fn parts(bytes: &[u8]) -> Option<(ParseSpecial, &[u8])> {
    let (_, rest) = layout(bytes)?;
    let (value, rest) = rest.split_at(rest.iter().position(|&byte| byte == b',')?);
    let parse_special = ParseSpecial::from_json(std::str::from_utf8(value).ok()?)?;
    Some((parse_special, rest.strip_prefix(MIDDLE)?.trim_ascii_end().strip_suffix(b"}")?))
}

/// Return the number of the layout and the bytes after the head; `None` if a file does not begin as a `.piecework` file.
pub(crate) fn layout(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = unmarked(bytes).strip_prefix(HEAD)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (layout, rest) = rest.split_at(digits);
    Some((layout, rest.strip_prefix(AFTER_LAYOUT)?)).filter(|_| digits > 0)
}

/// Write a file.
#[must_use]
pub fn write(spec: &TokenizerSpec, parse_special: ParseSpecial) -> Vec<u8> {
    let text = tokenizer_json::write(spec, false);
    [HEAD, LAYOUT, AFTER_LAYOUT, parse_special.as_json().as_bytes(), MIDDLE, text.as_bytes(), b"}\n"]
        .concat()
}

/// Return a JSON text without a byte order mark and without leading whitespace.
pub(crate) fn unmarked(bytes: &[u8]) -> &[u8] {
    let skipped = |byte: &u8| matches!(byte, 0xEF | 0xBB | 0xBF | b' ' | b'\t' | b'\r' | b'\n');
    &bytes[bytes.iter().take_while(|byte| skipped(byte)).count()..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab_txt;

    #[test]
    fn round_trips() {
        let spec = vocab_txt::read(b"[UNK]\nhug\n", None).unwrap();
        for parse_special in [ParseSpecial::All, ParseSpecial::Nothing, ParseSpecial::Refuse] {
            assert_eq!(read(&write(&spec, parse_special)).unwrap(), (spec.clone(), parse_special));
        }
    }

    #[test]
    fn a_later_layout_is_named() {
        let error = read(b"{\"piecework\":12,\"parse_special\":\"new\"").unwrap_err();
        assert!(error.to_string().starts_with("piecework: found layout 12, expected layout 1"), "{error}");
        assert!(layout(b"{\"piecework\":,\"parse_special\":false").is_none());
    }

    #[test]
    fn a_damaged_beginning_is_an_error() {
        let spec = vocab_txt::read(b"[UNK]\nhug\n", None).unwrap();
        let text = String::from_utf8(write(&spec, ParseSpecial::Nothing)).unwrap();
        for damaged in [
            text.replace(":false", ":none"),
            text.replace(",\"tokenizer\"", ",\"model\""),
            text.trim_end().trim_end_matches('}').to_owned(),
        ] {
            let error = read(damaged.as_bytes()).unwrap_err();
            assert_eq!((error.kind, &*error.place), (ErrorKind::Format, "byte 0"), "{damaged}");
        }
    }
}
