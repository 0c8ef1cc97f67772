//! Which special tokens are parsed where they are written in a text.

/// Which special tokens are parsed where they are written in a text: a setting of a tokenizer and of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParseSpecial {
    /// All special tokens, as `tokenizers` does.
    #[default]
    All,
    /// No special token: each is encoded as text, which is safe for text of users.
    Nothing,
    /// A text that contains a special token is an error, as with tiktoken.
    Refuse,
}

impl ParseSpecial {
    /// Return the value as JSON text, as files store it: `true`, `false` or `"refuse"`.
    #[must_use]
    pub fn as_json(self) -> &'static str {
        match self {
            Self::All => "true",
            Self::Nothing => "false",
            Self::Refuse => "\"refuse\"",
        }
    }

    /// Return the value of a JSON text.
    #[must_use]
    pub fn from_json(text: &str) -> Option<Self> {
        [Self::All, Self::Nothing, Self::Refuse].into_iter().find(|value| value.as_json() == text)
    }
}
