//! Normalization rules as `spm_train --normalization_rule_tsv` reads them.
//!
//! A line is a rule: the source and the replacement as hexadecimal code points separated by spaces
//! (`49 27 6D<TAB>49 20 61 6D`), then an optional comment after another tab. An empty replacement removes the
//! source.

use std::fmt::Write;

use piecework_core::error::{Error, ErrorKind};

use crate::text::unmarked_utf8;

const EXPECTED: &str = "code points in hexadecimal, such as 49 or U+1F600, parted by spaces";

/// Read rules; the rule at index `i` is that of line `i + 1`.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<(String, String)>, Error> {
    let text = unmarked_utf8(bytes)?;
    let rule = |(at, line)| {
        read_line(line)
            .map_err(|found| Error::new(ErrorKind::Format, format!("line {}", at + 1), found, EXPECTED))
    };
    text.lines().enumerate().map(rule).collect()
}

/// Write rules in order, each with a comment that shows its text.
pub(super) fn write(rules: &[(String, String)]) -> Vec<u8> {
    let mut text = String::new();
    for (source, replacement) in rules {
        let _ = writeln!(text, "{}\t{}\t# {source:?} => {replacement:?}", hex(source), hex(replacement));
    }
    text.into_bytes()
}

fn read_line(line: &str) -> Result<(String, String), String> {
    let mut fields = line.split('\t');
    let mut field = || fields.next().unwrap_or_default().split(' ').filter(|code| !code.is_empty());
    let source = field().map(character).collect::<Result<_, _>>()?;
    Ok((source, field().map(character).collect::<Result<_, _>>()?))
}

fn character(code: &str) -> Result<char, String> {
    let digits = code.strip_prefix("U+").unwrap_or(code);
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex && digits.len() <= 8);
    let number = number.ok_or_else(|| format!("{:?}", code.chars().take(40).collect::<String>()))?;
    char::from_u32(number).ok_or_else(|| match number {
        0xD800..=0xDFFF => format!("the surrogate {number:X}"),
        _ => format!("{number:X}, which is above 10FFFF"),
    })
}

fn hex(text: &str) -> String {
    let codes: Vec<String> = text.chars().map(|c| format!("{:X}", u32::from(c))).collect();
    codes.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(source: &str, replacement: &str) -> (String, String) {
        (source.to_owned(), replacement.to_owned())
    }

    #[test]
    fn round_trips() {
        let rules = [pair("I'm", "I am"), pair("\n", ""), pair("\t", " "), pair("😀", ":)")];
        assert_eq!(read(&write(&rules)).unwrap(), rules);
    }

    #[test]
    fn reads_what_sentencepiece_reads() {
        let rules = read(b"49 27 6D\t49 20 61 6D\r\nU+41\tU+61\t# A\n9\n0041  0042\t\n").unwrap();
        assert_eq!(rules, [pair("I'm", "I am"), pair("A", "a"), pair("\t", ""), pair("AB", "")]);
    }

    #[test]
    fn names_the_line_at_fault() {
        let message = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert!(message(b"41\t42\nxyz\t41").starts_with("line 2: found \"xyz\", expected code points"));
        assert!(message(b"41\tD800").starts_with("line 1: found the surrogate D800"));
        assert!(message(b"110000\t41").starts_with("line 1: found 110000, which is above 10FFFF"));
        assert!(message(b"41\t+1").starts_with("line 1: found \"+1\""));
        assert!(message(b"U+\t41").starts_with("line 1: found \"U+\""));
        assert!(message(b"000000041\t41").starts_with("line 1: found \"000000041\""));
        assert!(message(b"\xFF").starts_with("byte 0: found bytes that are not UTF-8"));
    }
}
