//! The texts of a block of lines, within one string.

use std::ops::Range;
use std::sync::Arc;

/// Texts within one string, which copies and selections share.
#[derive(Clone, Debug, Default)]
pub struct TextRows {
    data: Arc<str>,
    spans: Vec<Range<usize>>,
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
            start..end - usize::from(has_cr)
        };
        for end in memchr::memchr_iter(b'\n', bytes) {
            spans.push(without_cr(start, end));
            start = end + 1;
        }
        if start < bytes.len() {
            spans.push(without_cr(start, bytes.len()));
        }
        Self { data: block.into(), spans }
    }

    /// Copy texts into one string.
    #[must_use]
    pub fn collect<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        let mut data = String::new();
        let mut spans = Vec::new();
        for text in texts {
            let start = data.len();
            data.push_str(text.as_ref());
            spans.push(start..data.len());
        }
        Self { data: data.into(), spans }
    }

    /// The number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Return a text; panics if there is none.
    #[must_use]
    pub fn row(&self, row: usize) -> &str {
        &self.data[self.spans[row].clone()]
    }

    /// The texts, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.spans.iter().map(|span| &self.data[span.clone()])
    }

    /// The size of each text in bytes.
    pub fn sizes(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.spans.iter().map(Range::len)
    }

    /// Return consecutive texts; panics if they do not exist.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> Self {
        Self { data: self.data.clone(), spans: self.spans[rows].to_vec() }
    }

    /// Return the texts that have a character other than whitespace.
    #[must_use]
    pub fn without_blank(&self) -> Self {
        let is_kept = |span: &&Range<usize>| !is_blank(&self.data[(*span).clone()]);
        Self { data: self.data.clone(), spans: self.spans.iter().filter(is_kept).cloned().collect() }
    }
}

/// Whether a text is empty or whitespace only, as Python's `str.isspace` defines whitespace.
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
    fn selections_share_the_string() {
        let rows = TextRows::of_lines("a\n \n\u{3000}\n\u{1C}\nb\n");
        assert_eq!(texts(&rows.without_blank()), ["a", "b"]);
        assert_eq!(texts(&rows.slice(1..3)), [" ", "\u{3000}"]);
        assert_eq!(texts(&TextRows::collect(rows.slice(0..2).iter())), ["a", " "]);
        assert_eq!(rows.sizes().collect::<Vec<_>>(), [1, 1, 3, 1, 1]);
    }
}
