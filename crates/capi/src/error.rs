//! The error of every call: a kind, a place and a text. No panic leaves this file.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::Utf8Error;

use piecework::ErrorKind;

/// The length that a failing function returns: `PIECEWORK_FAILED`.
pub(crate) const FAILED: usize = usize::MAX;

// `enum piecework_kind`.
const ARGUMENT: u32 = 1;
const UTF8: u32 = 2;
const SPECIAL_TOKEN: u32 = 3;
const FILE: u32 = 4;
const FORMAT: u32 = 5;
const VOCABULARY: u32 = 6;
const MEMORY: u32 = 7;
const INTERNAL: u32 = 8;
const OTHER: u32 = 9;
const CANCELLED: u32 = 10;

/// `piecework_error`.
#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) kind: u32,
    pub(crate) place: String,
    /// Ends with NUL.
    pub(crate) message: String,
    pub(crate) position: usize,
}

impl Error {
    fn new(kind: u32, place: &str, message: &str) -> Self {
        Self { kind, place: place.to_owned(), message: format!("{message}\0"), position: FAILED }
    }

    /// Return the error for an argument that cannot be used.
    pub(crate) fn argument(name: &str, found: &str) -> Self {
        Self::new(ARGUMENT, name, &format!("{name}: found {found}"))
    }

    /// Return the error for a text with bytes that are not UTF-8.
    pub(crate) fn utf8(name: &str, error: Utf8Error) -> Self {
        let position = error.valid_up_to();
        let message = format!("{name}: found a byte that is not UTF-8 at byte {position}");
        Self { position, ..Self::new(UTF8, name, &message) }
    }

    /// Return the error of an item of an array, whose name begins the message.
    pub(crate) fn of_item(self, at: usize) -> Self {
        let place = format!("{}[{at}]", self.place);
        let message = format!("{place}{}", &self.message[self.place.len()..]);
        Self { place, message, ..self }
    }

    fn of_panic(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text =
            text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic");
        Self::new(INTERNAL, "piecework", &format!("a bug in piecework, please report it: {text}"))
    }
}

impl From<piecework::Error> for Error {
    fn from(error: piecework::Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::Argument => ARGUMENT,
            ErrorKind::SpecialToken => SPECIAL_TOKEN,
            ErrorKind::File => FILE,
            ErrorKind::Format => FORMAT,
            ErrorKind::Vocabulary => VOCABULARY,
            ErrorKind::Memory => MEMORY,
            ErrorKind::Cancelled => CANCELLED,
            _ => OTHER,
        };
        Self::new(kind, error.place(), &error.to_string())
    }
}

/// Return the result of `work`, or an error if it panics.
pub(crate) fn caught<R>(work: impl FnOnce() -> R) -> Result<R, Error> {
    // Objects that a panic leaves half changed are streams and scratches, whose next calls begin anew or return other text.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Error::of_panic(&*payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let found = caught(|| -> usize { panic!("row {}", 7) }).unwrap_err();
        assert_eq!(found.kind, INTERNAL);
        assert!(found.message.ends_with("row 7\0"), "{}", found.message);
        assert!(caught(|| std::panic::panic_any(7_u32)).unwrap_err().message.ends_with("a panic\0"));
    }

    #[test]
    fn every_kind_of_the_crate_has_a_number() {
        let of = |bytes: &[u8]| Error::from(piecework::Tokenizer::from_bytes(bytes).unwrap_err()).kind;
        assert_eq!(of(b"{}"), FORMAT);
        assert_eq!(of(b"[UNK]\nto\nto\n"), VOCABULARY);
    }
}
