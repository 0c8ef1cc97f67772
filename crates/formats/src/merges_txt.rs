//! `merges.txt`: one merge a line, in the order of ranks.

use piecework_core::error::{Error, ErrorKind};

use crate::text::utf8_after_mark;

/// The start of the first line if it is not a merge.
const HEADER: &str = "#version";

/// A merge with the number of its line, from 1.
pub(crate) type Merge<'t> = (usize, &'t str, &'t str);

/// Read merges; skips empty lines and a version line at the start.
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
