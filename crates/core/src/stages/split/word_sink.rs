//! What receives the words of a text.

use crate::word_key::WordKey;

/// Receives the words of a text.
///
/// `at` is the byte of the text where the word begins; for a word that normalization rewrites, where the span around it
/// begins.
pub trait WordSink {
    /// Receive a word.
    fn word(&mut self, word: &str, at: usize);

    /// Receive a word of up to 15 bytes by its key.
    #[inline]
    fn short_word(&mut self, key: WordKey, at: usize) {
        let (bytes, len) = key.bytes();
        if let Ok(word) = std::str::from_utf8(&bytes[..len]) {
            self.word(word, at);
        }
    }
}
