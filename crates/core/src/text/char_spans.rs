//! Check character spans of a user and convert them to byte spans of a text.

/// Converts spans in rising order: neither end may be less than in the span before.
///
/// Linear in the text for any number of spans.
#[derive(Debug)]
pub struct CharSpans<'t> {
    start: CharCursor<'t>,
    end: CharCursor<'t>,
    chars: i64,
}

/// A position in the text, in characters and in bytes.
#[derive(Clone, Debug)]
struct CharCursor<'t> {
    text: &'t str,
    chars: i64,
    bytes: usize,
}

impl<'t> CharSpans<'t> {
    /// Start at the beginning of `text`.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        let place = CharCursor { text, chars: 0, bytes: 0 };
        Self { start: place.clone(), end: place, chars: text.chars().count() as i64 }
    }

    /// Return the byte span of the next character span, or what was expected instead.
    ///
    /// An empty span is an insertion and becomes the span of the character before it, if there is one.
    pub fn rising(&mut self, span: (i64, i64)) -> Result<(usize, usize), String> {
        let (start, end) = span;
        if start > end || start < 0 || end > self.chars {
            return Err(format!("start <= end, both from 0 to {}", self.chars));
        }
        let start = if start == end { (start - 1).max(0) } else { start };
        if start < self.start.chars || end < self.end.chars {
            let before = format!("({}, {})", self.start.chars, self.end.chars);
            return Err(format!("neither end less than in the span before, {before}"));
        }
        Ok((self.start.move_to(start), self.end.move_to(end)))
    }

    /// Return the byte span of the next character span, which must not overlap the one before.
    pub fn apart(&mut self, span: (i64, i64)) -> Result<(usize, usize), String> {
        let (start, end) = span;
        if start > end || start < self.end.chars || end > self.chars {
            let from = self.end.chars;
            return Err(format!("start <= end, both from {from}, where the last ended, to {}", self.chars));
        }
        Ok((self.end.move_to(start), self.end.move_to(end)))
    }
}

impl CharCursor<'_> {
    /// Move forward to a character; return its byte.
    fn move_to(&mut self, chars: i64) -> usize {
        let steps = (chars - self.chars) as usize;
        let rest = &self.text[self.bytes..];
        self.bytes += rest.char_indices().nth(steps).map_or(rest.len(), |(at, _)| at);
        self.chars = chars;
        self.bytes
    }
}
