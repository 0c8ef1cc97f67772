//! A bounded reader of little-endian values.

use std::fmt::Display;
use std::io::{Read, Seek};

use piecework_core::error::{Error, ErrorKind};

/// A position in a file or in bytes. Checks each length against the remaining bytes before it allocates.
pub(super) struct Cursor<R> {
    reader: R,
    at: u64,
    len: u64,
}

impl<R: Read + Seek> Cursor<R> {
    /// Begin at the start of `reader`, which has `len` bytes.
    pub(super) fn new(reader: R, len: u64) -> Self {
        Self { reader, at: 0, len }
    }

    /// Return the number of bytes before the position.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Return the number of bytes after the position.
    pub(super) fn remaining(&self) -> u64 {
        self.len - self.at
    }

    /// Read an unsigned integer of 32 bits; `place` names it in errors.
    pub(super) fn u32(&mut self, place: impl Display + Copy) -> Result<u32, Error> {
        self.array(place).map(u32::from_le_bytes)
    }

    /// Read an unsigned integer of 64 bits.
    pub(super) fn u64(&mut self, place: impl Display + Copy) -> Result<u64, Error> {
        self.array(place).map(u64::from_le_bytes)
    }

    /// Read a fixed number of bytes.
    pub(super) fn array<const N: usize>(&mut self, place: impl Display + Copy) -> Result<[u8; N], Error> {
        self.check(N as u64, place)?;
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes).map_err(|error| self.failed(error, place))?;
        self.at += N as u64;
        Ok(bytes)
    }

    /// Read `len` bytes.
    pub(super) fn bytes(&mut self, len: u64, place: impl Display + Copy) -> Result<Vec<u8>, Error> {
        self.check(len, place)?;
        let mut bytes = vec![0; usize::try_from(len).map_err(|_| self.cut_short(len, place))?];
        self.reader.read_exact(&mut bytes).map_err(|error| self.failed(error, place))?;
        self.at += len;
        Ok(bytes)
    }

    /// Read a string: its length in bytes and its bytes.
    pub(super) fn text(&mut self, place: impl Display + Copy, max_len: u64) -> Result<String, Error> {
        let at = self.at;
        let len = self.u64(place)?;
        if len > max_len {
            let found = format!("a string of {len} bytes");
            return Err(Error::new(
                ErrorKind::Format,
                placed(place, at),
                found,
                format!("at most {max_len}"),
            ));
        }
        String::from_utf8(self.bytes(len, place)?).map_err(|error| {
            let at = at + 8 + error.utf8_error().valid_up_to() as u64;
            let found = "a string with bytes that are not UTF-8";
            Error::new(ErrorKind::Format, placed(place, at), found, "UTF-8")
        })
    }

    /// Skip a string.
    pub(super) fn skip_text(&mut self, place: impl Display + Copy) -> Result<(), Error> {
        let len = self.u64(place)?;
        self.skip(len, place)
    }

    /// Skip `len` bytes.
    pub(super) fn skip(&mut self, len: u64, place: impl Display + Copy) -> Result<(), Error> {
        self.check(len, place)?;
        let offset = i64::try_from(len).map_err(|_| self.cut_short(len, place))?;
        self.reader.seek_relative(offset).map_err(|error| self.failed(error, place))?;
        self.at += len;
        Ok(())
    }

    /// Reject `count` items of at least `min_bytes` each if they do not fit into the remaining bytes.
    pub(super) fn check_count(
        &self,
        count: u64,
        min_bytes: u64,
        place: impl Display + Copy,
    ) -> Result<(), Error> {
        match count.checked_mul(min_bytes) {
            Some(len) if len <= self.remaining() => Ok(()),
            _ => {
                let found = format!("{count} items in the {} bytes before the end", self.remaining());
                Err(Error::new(ErrorKind::Format, placed(place, self.at), found, "a complete file"))
            }
        }
    }

    fn check(&self, len: u64, place: impl Display + Copy) -> Result<(), Error> {
        if len <= self.remaining() {
            return Ok(());
        }
        Err(self.cut_short(len, place))
    }

    fn cut_short(&self, len: u64, place: impl Display + Copy) -> Error {
        let found = format!("{} bytes before the end, {len} needed", self.remaining());
        Error::new(ErrorKind::Format, placed(place, self.at), found, "a complete file")
    }

    /// Return the error of a read: of kind `File` if the operating system failed, else the file became shorter.
    fn failed(&self, error: std::io::Error, place: impl Display + Copy) -> Error {
        let kind = if error.raw_os_error().is_some() { ErrorKind::File } else { ErrorKind::Format };
        let expected = "a file that can be read and does not change";
        Error::new(kind, placed(place, self.at), error.to_string(), expected).because(error)
    }
}

/// Return a key or field with its byte offset, for errors.
pub(super) fn placed(place: impl Display + Copy, at: u64) -> String {
    format!("{place} (byte {at})")
}
