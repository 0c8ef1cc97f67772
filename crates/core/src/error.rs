//! One error type for the whole core: where, what was found, what was expected.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What went wrong. Bindings map each kind to the error class of their language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// An argument has a value that cannot be used.
    Argument,
    /// A tokenizer file is malformed, unknown or contradicts itself.
    Format,
    /// A text contains a special token, and neither tokenizer nor call says how to treat it.
    SpecialToken,
    /// A vocabulary has duplicates, lacks its unknown token, or is otherwise unusable.
    Vocabulary,
    /// The training text is empty or cannot be read as asked.
    Corpus,
    /// The training text holds bytes that are not UTF-8.
    Utf8,
    /// The training settings cannot be met by the corpus.
    Training,
    /// An operation needs more memory than its budget, or than the system provides.
    Memory,
    /// A file cannot be read or written.
    File,
    /// A custom stage failed, or gave what cannot be used.
    Stage,
    /// The caller asked to stop.
    Interrupted,
}

/// A problem by its place, what was found there and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of the problem.
    pub kind: ErrorKind,
    /// The argument, file, line or field at fault.
    pub place: String,
    /// What was found there.
    pub found: String,
    /// What was expected there; may be empty.
    pub expected: String,
    /// What went wrong outside the core and led to this.
    pub cause: Option<Cause>,
    advice: Option<Box<Advice>>,
}

/// What few errors have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Advice {
    hint: String,
    limit: Option<u64>,
    fault: &'static str,
}

/// An error from outside, shared because errors are cloned; equal to itself alone.
#[derive(Clone, Debug)]
pub struct Cause(Arc<dyn std::error::Error + Send + Sync>);

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Cause {}

/// The most characters of a part of an error, so that a fault in a long token gives a short message.
const MAX_CHARS: usize = 1000;
/// The most characters of a token or a line that are shown.
const MAX_SHOWN_CHARS: usize = 60;

impl Error {
    /// Make an error from its parts; each is cut after 1,000 characters.
    pub fn new(
        kind: ErrorKind,
        place: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let part = |text: String| match text.char_indices().nth(MAX_CHARS) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text,
        };
        Self {
            kind,
            place: part(place.into()),
            found: part(found.into()),
            expected: part(expected.into()),
            cause: None,
            advice: None,
        }
    }

    /// Add what to do, or why.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.advice.get_or_insert_default().hint = hint.into();
        self
    }

    /// Add the nearest number that would be accepted, for callers that try again.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.advice.get_or_insert_default().limit = Some(limit as u64);
        self
    }

    /// Add the name of the fault, for callers that tell faults of one kind apart.
    #[must_use]
    pub fn with_fault(mut self, fault: &'static str) -> Self {
        self.advice.get_or_insert_default().fault = fault;
        self
    }

    /// Return what to do, or why; "" if nothing is known.
    #[must_use]
    pub fn hint(&self) -> &str {
        self.advice.as_ref().map_or("", |advice| &advice.hint)
    }

    /// Return the nearest number that would be accepted.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        self.advice.as_ref()?.limit
    }

    /// Return the name of the fault, usually "".
    #[must_use]
    pub fn fault(&self) -> &'static str {
        self.advice.as_ref().map_or("", |advice| advice.fault)
    }

    /// Return what is wrong, without the place and the hint.
    #[must_use]
    pub fn message(&self) -> String {
        let Self { kind, found, expected, .. } = self;
        let is_argument =
            matches!(kind, ErrorKind::Argument | ErrorKind::SpecialToken | ErrorKind::Training);
        match (expected.is_empty(), is_argument) {
            (true, _) => format!("found {found}"),
            (false, true) => format!("must be {expected}, not {found}"),
            (false, false) => format!("found {found}, expected {expected}"),
        }
    }

    /// Say what led to it.
    #[must_use]
    pub fn because(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Cause(Arc::new(cause)));
        self
    }

    /// Name another place.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = place.into();
        self
    }

    /// Put the name of a file, or of an enclosing field, before the place.
    #[must_use]
    pub fn within(mut self, outer: &str) -> Self {
        self.place = format!("{outer}: {}", self.place);
        self
    }
}

/// Return the first characters of a text of the user's, as many as a message has room for.
#[must_use]
pub fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message())?;
        if !self.hint().is_empty() {
            write!(f, "; {}", self.hint())?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| &*cause.0 as &(dyn std::error::Error + 'static))
    }
}
