//! What a tokenizer does with special tokens that are written in a text.

/// What a tokenizer does with special tokens in text if a call does not say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpecialInText {
    /// Recognizes them, as `tokenizers` does.
    #[default]
    Parse,
    /// Encodes them as text, which is safe for text of users.
    Text,
    /// Rejects texts that contain one, as tiktoken does.
    Refuse,
}

impl SpecialInText {
    /// Every treatment.
    pub const ALL: [Self; 3] = [Self::Parse, Self::Text, Self::Refuse];

    /// Return the name in files and in Python: `parse`, `text` or `refuse`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Text => "text",
            Self::Refuse => "refuse",
        }
    }

    /// Return the treatment with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|treatment| treatment.name() == name)
    }
}
