//! The output of a model: vocabulary entries with byte spans, and the ids of each word of a batch.

/// A vocabulary entry with the byte span of the word that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenSpan {
    /// Vocabulary id.
    pub id: u32,
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

/// A word of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchWord {
    /// The byte span of the word.
    pub bytes: (usize, usize),
    /// The span of its ids in the output.
    pub ids: (usize, usize),
}

/// Receives the output of a model: ids alone, or ids with spans.
pub trait TokenSink {
    /// Append one piece.
    fn push(&mut self, piece: TokenSpan);
    /// Return the number of pieces so far.
    fn checkpoint(&self) -> usize;
    /// Remove all pieces after a checkpoint.
    fn rollback(&mut self, checkpoint: usize);
}

impl TokenSink for Vec<u32> {
    #[inline]
    fn push(&mut self, piece: TokenSpan) {
        self.push(piece.id);
    }

    fn checkpoint(&self) -> usize {
        self.len()
    }

    fn rollback(&mut self, checkpoint: usize) {
        self.truncate(checkpoint);
    }
}

impl TokenSink for Vec<TokenSpan> {
    #[inline]
    fn push(&mut self, piece: TokenSpan) {
        self.push(piece);
    }

    fn checkpoint(&self) -> usize {
        self.len()
    }

    fn rollback(&mut self, checkpoint: usize) {
        self.truncate(checkpoint);
    }
}
