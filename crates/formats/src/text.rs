//! Text files: UTF-8 without a byte order mark; the lines of `merges.txt`.

use piecework_core::error::{Error, ErrorKind};

const UTF8_MARK: &str = "\u{FEFF}";
/// Byte order marks of other encodings, longer ones first, because UTF-32's begins with UTF-16's.
const OTHER_MARKS: [(&[u8], &str); 4] = [
    (b"\xFF\xFE\0\0", "UTF-32"),
    (b"\0\0\xFE\xFF", "UTF-32"),
    (b"\xFF\xFE", "UTF-16"),
    (b"\xFE\xFF", "UTF-16"),
];

/// Return bytes as UTF-8; the error names the offset, and the encoding if a byte order mark shows it.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, Error> {
    if let Some((_, encoding)) = OTHER_MARKS.iter().find(|(mark, _)| bytes.starts_with(mark)) {
        let found = format!("the byte order mark of {encoding}");
        return Err(Error::new(ErrorKind::Format, "byte 0", found, "UTF-8 text"));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let place = format!("byte {}", error.valid_up_to());
        Error::new(ErrorKind::Format, place, "bytes that are not UTF-8", "UTF-8 text")
    })
}

/// Return bytes as UTF-8; reject a byte order mark, which would become part of the first entry.
pub(crate) fn unmarked_utf8(bytes: &[u8]) -> Result<&str, Error> {
    let text = utf8(bytes)?;
    if text.starts_with(UTF8_MARK) {
        let found = "the byte order mark of UTF-8, which would be part of the first entry";
        return Err(Error::new(ErrorKind::Format, "line 1", found, "UTF-8 text without a byte order mark"));
    }
    Ok(text)
}

/// Return bytes as UTF-8 without a byte order mark.
pub(crate) fn utf8_after_mark(bytes: &[u8]) -> Result<&str, Error> {
    let text = utf8(bytes)?;
    Ok(text.strip_prefix(UTF8_MARK).unwrap_or(text))
}

/// The start of the first line if it is not a merge.
const HEADER: &str = "#version";

/// A merge with the number of its line, from 1.
pub(crate) type Merge<'t> = (usize, &'t str, &'t str);

/// Read a `merges.txt`, one merge a line in the order of ranks; skip empty lines and a version line at the start.
pub(crate) fn read_merges(bytes: &[u8]) -> Result<Vec<Merge<'_>>, Error> {
    let lines =
        (1..).zip(utf8_after_mark(bytes)?.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)));
    let is_header = |number, line: &str| number == 1 && line.contains(HEADER);
    lines
        .filter(|&(number, line)| !line.is_empty() && !is_header(number, line))
        .map(|(number, line)| split_merge(number, line))
        .collect()
}

fn split_merge(number: usize, line: &str) -> Result<Merge<'_>, Error> {
    match line.split_once(' ') {
        Some((left, right)) if !left.is_empty() && !right.is_empty() && !right.contains(' ') => {
            Ok((number, left, right))
        }
        _ => {
            let shown: String = line.chars().take(60).collect();
            let expected = "two entries with one space between them";
            Err(Error::new(ErrorKind::Format, line_of(number), format!("{shown:?}"), expected))
        }
    }
}

/// Return the place of a line in errors.
pub(crate) fn line_of(number: usize) -> String {
    format!("line {number}")
}
