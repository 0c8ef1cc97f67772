//! The error of every call.

use std::fmt;

use piecework_core::error::{Error as CoreError, ErrorKind as CoreKind};

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument or option has a value that cannot be used.
    Argument,
    /// A tokenizer file is malformed, of an unknown format or contradicts itself.
    Format,
    /// A text contains a special token, and the tokenizer refuses them.
    SpecialToken,
    /// A vocabulary has duplicates, lacks its unknown token, or is otherwise unusable.
    Vocabulary,
    /// The training texts contain no words, or the settings of the trainer do not fit them.
    Training,
    /// The system does not provide the memory that an operation needs.
    Memory,
    /// A file cannot be read; [`source`](std::error::Error::source) is the [`std::io::Error`].
    File,
    /// The caller of [`cancellable`](crate::cancellable) ended the work.
    Cancelled,
    /// Something else.
    Other,
}

impl ErrorKind {
    fn of(kind: CoreKind) -> Self {
        match kind {
            CoreKind::Argument => Self::Argument,
            CoreKind::Format => Self::Format,
            CoreKind::SpecialToken => Self::SpecialToken,
            CoreKind::Vocabulary => Self::Vocabulary,
            CoreKind::Corpus | CoreKind::Training => Self::Training,
            CoreKind::Memory => Self::Memory,
            CoreKind::File => Self::File,
            CoreKind::Interrupted => Self::Cancelled,
            CoreKind::Utf8 | CoreKind::Stage => Self::Other,
        }
    }
}

/// What went wrong, and where.
///
/// ```
/// use piecework::{ErrorKind, Tokenizer};
///
/// let error = Tokenizer::from_bytes(b"[UNK]\nto\nto\n").unwrap_err();
/// assert_eq!((error.kind(), error.place()), (ErrorKind::Vocabulary, "line 3"));
/// assert_eq!(error.message(), "found \"to\", which line 2 has too, expected each token once");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<CoreError>);

impl Error {
    /// Return the kind, which decides what a program can do.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::of(self.0.kind)
    }

    /// Return the argument, file, line or field that is wrong.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// Return what is wrong, for people: the text changes between versions.
    #[must_use]
    pub fn message(&self) -> String {
        self.0.message()
    }
}

#[doc(hidden)]
impl From<CoreError> for Error {
    fn from(error: CoreError) -> Self {
        Self(Box::new(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}
