//! `.piecework`: a `tokenizer.json` with the settings that it lacks.

use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{SpecialInText, TokenizerSpec};

use crate::tokenizer_json;

/// The first bytes, which no reader of a `tokenizer.json` accepts; the number of the layout follows.
const HEAD: &[u8] = b"{\"piecework\":";
const LAYOUT: &[u8] = b"1";
const AFTER_LAYOUT: &[u8] = b",\"special_in_text\":\"";
const MIDDLE: &[u8] = b"\",\"tokenizer\":";

/// Read a file. Fails for the layout of a later version.
pub fn read(bytes: &[u8]) -> Result<(TokenizerSpec, SpecialInText), Error> {
    if let Some((layout, _)) = layout(bytes).filter(|(layout, _)| *layout != LAYOUT) {
        let found = format!("layout {}", String::from_utf8_lossy(layout));
        let expected = "layout 1: the file is of a later version; update piecework";
        return Err(Error::new(ErrorKind::Format, "piecework", found, expected));
    }
    let (special_in_text, tokenizer) = parts(bytes).ok_or_else(|| {
        let expected = "the beginning of a .piecework file that `save` wrote";
        Error::new(ErrorKind::Format, "byte 0", "another beginning", expected)
    })?;
    Ok((tokenizer_json::read(tokenizer)?, special_in_text))
}

/// Return the settings and the `tokenizer.json` of a file.
fn parts(bytes: &[u8]) -> Option<(SpecialInText, &[u8])> {
    let (_, rest) = layout(bytes)?;
    let (treatment, rest) = rest.split_at(rest.iter().position(|&byte| byte == b'"')?);
    let treatment = SpecialInText::named(std::str::from_utf8(treatment).ok()?)?;
    Some((treatment, rest.strip_prefix(MIDDLE)?.trim_ascii_end().strip_suffix(b"}")?))
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
pub fn write(spec: &TokenizerSpec, special_in_text: SpecialInText) -> Vec<u8> {
    let text = tokenizer_json::write(spec, false);
    [HEAD, LAYOUT, AFTER_LAYOUT, special_in_text.name().as_bytes(), MIDDLE, text.as_bytes(), b"}\n"]
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
        for treatment in SpecialInText::ALL {
            assert_eq!(read(&write(&spec, treatment)).unwrap(), (spec.clone(), treatment));
        }
    }

    #[test]
    fn a_later_layout_is_named() {
        let error = read(b"{\"piecework\":12,\"special_in_text\":\"new\"").unwrap_err();
        assert!(error.to_string().starts_with("piecework: found layout 12, expected layout 1"), "{error}");
        assert!(layout(b"{\"piecework\":,\"special_in_text\":\"text\"").is_none());
    }

    #[test]
    fn a_damaged_beginning_is_an_error() {
        let spec = vocab_txt::read(b"[UNK]\nhug\n", None).unwrap();
        let text = String::from_utf8(write(&spec, SpecialInText::Text)).unwrap();
        for damaged in [
            text.replace("\"text\"", "\"txt\""),
            text.replace(",\"tokenizer\"", ",\"model\""),
            text.trim_end().trim_end_matches('}').to_owned(),
        ] {
            let error = read(damaged.as_bytes()).unwrap_err();
            assert_eq!((error.kind, &*error.place), (ErrorKind::Format, "byte 0"), "{damaged}");
        }
    }
}
