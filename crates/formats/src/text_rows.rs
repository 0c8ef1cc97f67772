//! Texts within shared blocks of text.

use std::ops::Range;
use std::sync::Arc;

/// Texts within blocks, which copies, selections and joined rows share.
#[derive(Clone, Debug, Default)]
pub struct TextRows {
    blocks: Vec<Arc<str>>,
    spans: Vec<Span>,
}

/// The bytes of one text in a block.
#[derive(Clone, Debug)]
struct Span {
    block: usize,
    bytes: Range<usize>,
}

impl TextRows {
    /// Split a block into lines, which end at LF or CRLF; a line end at the end of the block starts no further line.
    #[must_use]
    pub fn of_lines(block: &str) -> Self {
        let bytes = block.as_bytes();
        let mut spans = Vec::new();
        let mut start = 0;
        let without_cr = |start: usize, end: usize| {
            let has_cr = end > start && bytes[end - 1] == b'\r';
            Span { block: 0, bytes: start..end - usize::from(has_cr) }
        };
        for end in memchr::memchr_iter(b'\n', bytes) {
            spans.push(without_cr(start, end));
            start = end + 1;
        }
        if start < bytes.len() {
            spans.push(without_cr(start, bytes.len()));
        }
        Self { blocks: vec![block.into()], spans }
    }

    /// Copy texts into one block.
    #[must_use]
    pub fn collect<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        let mut block = String::new();
        let mut spans = Vec::new();
        for text in texts {
            let start = block.len();
            block.push_str(text.as_ref());
            spans.push(Span { block: 0, bytes: start..block.len() });
        }
        Self { blocks: vec![block.into()], spans }
    }

    /// Put the rows of all parts one after the other; the parts share their blocks with the result.
    #[must_use]
    pub fn joined<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut joined = Self::default();
        for part in parts {
            let before = joined.blocks.len();
            joined.blocks.extend_from_slice(&part.blocks);
            joined.spans.extend(
                part.spans
                    .iter()
                    .map(|span| Span { block: before + span.block, bytes: span.bytes.clone() }),
            );
        }
        joined
    }

    /// Return the number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Return whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Return a text; panics if there is none.
    #[must_use]
    pub fn row(&self, row: usize) -> &str {
        self.text(&self.spans[row])
    }

    /// Return the texts, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.spans.iter().map(|span| self.text(span))
    }

    /// Return the size of each text in bytes.
    pub fn sizes(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.spans.iter().map(|span| span.bytes.len())
    }

    /// Return consecutive texts; panics if they do not exist.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> Self {
        Self { blocks: self.blocks.clone(), spans: self.spans[rows].to_vec() }
    }

    /// Return the texts that have a character other than whitespace.
    #[must_use]
    pub fn without_blank(&self) -> Self {
        let is_kept = |span: &&Span| !is_blank(self.text(span));
        Self { blocks: self.blocks.clone(), spans: self.spans.iter().filter(is_kept).cloned().collect() }
    }

    fn text(&self, span: &Span) -> &str {
        &self.blocks[span.block][span.bytes.clone()]
    }
}

/// Return whether a text is empty or whitespace only, as Python's `str.isspace` defines whitespace.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || ('\x1C'..='\x1F').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::TextRows;

    fn texts(rows: &TextRows) -> Vec<&str> {
        rows.iter().collect()
    }

    #[test]
    fn lines_end_at_lf_and_crlf() {
        for (block, lines) in [
            ("", &[][..]),
            ("\n", &[""]),
            ("\r\n", &[""]),
            ("a\nb", &["a", "b"]),
            ("a\r\nb\n", &["a", "b"]),
            ("a\rb\r\r\n\n", &["a\rb\r", ""]),
            ("a\r", &["a"]),
        ] {
            assert_eq!(texts(&TextRows::of_lines(block)), lines, "{block:?}");
        }
    }

    #[test]
    fn joined_rows_are_those_of_the_parts_in_order() {
        let parts = [TextRows::of_lines("a\nbc"), TextRows::default(), TextRows::collect(["", "\u{e9}"])];
        let joined = TextRows::joined(&parts);
        assert_eq!(texts(&joined), ["a", "bc", "", "\u{e9}"]);
        assert_eq!(joined.row(3), "\u{e9}");
        assert_eq!(
            texts(&TextRows::joined([&joined, &parts[0]]).slice(1..6)),
            ["bc", "", "\u{e9}", "a", "bc"]
        );
        assert_eq!(texts(&joined.without_blank()), ["a", "bc", "\u{e9}"]);
    }

    #[test]
    fn selections_are_in_order() {
        let rows = TextRows::of_lines("a\n \n\u{3000}\n\u{1C}\nb\n");
        assert_eq!(texts(&rows.without_blank()), ["a", "b"]);
        assert_eq!(texts(&rows.slice(1..3)), [" ", "\u{3000}"]);
        assert_eq!(texts(&TextRows::collect(rows.slice(0..2).iter())), ["a", " "]);
        assert_eq!(rows.sizes().collect::<Vec<_>>(), [1, 1, 3, 1, 1]);
    }
}
