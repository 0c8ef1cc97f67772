//! The key-value section of a GGUF file.
//!
//! A file begins with a magic number, its version, the number of tensors and the number of keys. Each key has a
//! type and a value; an array has the type and the number of its items. The tensors follow, and are never read.
//! Source: the GGUF specification of ggml (`gguf.md`).

use std::fmt::Display;
use std::io::{Read, Seek};

use foldhash::HashMap;
use piecework_core::error::{Error, ErrorKind};

/// The first bytes of a file.
pub(super) const MAGIC: &[u8; 4] = b"GGUF";
const VERSIONS: [u32; 2] = [2, 3];
/// The most bytes of a key, by the specification.
const MAX_KEY_BYTES: u64 = (1 << 16) - 1;
/// The most bytes of the key-value section; published files have up to 20 MiB.
const MAX_SECTION_BYTES: u64 = 1 << 29;
/// The fewest bytes of a key and its value: the length of the key, the type and a value of one byte.
const MIN_ENTRY_BYTES: u64 = 8 + 4 + 1;
/// The most arrays inside each other; published files have one.
const MAX_DEPTH: usize = 4;

/// A type of values by its number in a file: its name, and its size in bytes unless it varies.
const TYPES: [(&str, Option<u64>); 13] = [
    ("uint8", Some(1)),
    ("int8", Some(1)),
    ("uint16", Some(2)),
    ("int16", Some(2)),
    ("uint32", Some(4)),
    ("int32", Some(4)),
    ("float32", Some(4)),
    ("bool", Some(1)),
    ("string", None),
    ("array", None),
    ("uint64", Some(8)),
    ("int64", Some(8)),
    ("float64", Some(8)),
];
const UINT8: u32 = 0;
const INT8: u32 = 1;
const INT32: u32 = 5;
const FLOAT32: u32 = 6;
const BOOL: u32 = 7;
const STRING: u32 = 8;
const ARRAY: u32 = 9;

/// A value that a tokenizer may need; all others are [`GgufValue::Other`].
#[derive(Debug)]
pub(super) enum GgufValue {
    Integer(i128),
    Flag(bool),
    Text(String),
    Texts(Vec<String>),
    Floats(Vec<f32>),
    Integers(Vec<i32>),
    Bytes(Vec<u8>),
    /// A value of another type, which is not kept.
    Other,
}

/// A value with its type and the byte offset of its key.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) at: u64,
    pub(super) type_name: String,
    pub(super) value: GgufValue,
}

/// The values of the keys that were selected, and the length of the section.
pub(super) struct Section {
    pub(super) entries: HashMap<String, Entry>,
    pub(super) len: u64,
}

impl Section {
    /// Read the section at the start of `reader`, which has `len` bytes; store the keys that `is_kept` selects.
    pub(super) fn read(
        reader: impl Read + Seek,
        len: u64,
        is_kept: impl Fn(&str) -> bool,
    ) -> Result<Self, Error> {
        let mut cursor = Cursor::new(reader, len);
        let count = read_header(&mut cursor)?;
        // Each key of the file is stored, without its value, to find keys that occur twice.
        let mut entries: HashMap<String, Entry> = HashMap::default();
        for number in 0..count {
            let at = cursor.at();
            let key = cursor.text(format_args!("key {number}"), MAX_KEY_BYTES)?;
            let (type_name, value) = read_value(&mut cursor, &key, is_kept(&key))?;
            if cursor.at() > MAX_SECTION_BYTES {
                let found = format!("over {} MiB of keys and values", MAX_SECTION_BYTES >> 20);
                return Err(Error::new(ErrorKind::Format, placed(&*key, at), found, "a tokenizer"));
            }
            if let Some(first) = entries.get(&key) {
                let found = format!("the key of byte {} again", first.at);
                return Err(Error::new(ErrorKind::Format, placed(&*key, at), found, "each key once"));
            }
            entries.insert(key, Entry { at, type_name, value });
        }
        Ok(Self { entries, len: cursor.at() })
    }
}

/// Read the header; return the number of keys.
fn read_header<R: Read + Seek>(cursor: &mut Cursor<R>) -> Result<u64, Error> {
    let magic = cursor.array::<4>("magic")?;
    if &magic != MAGIC {
        let found = format!("{:?}", String::from_utf8_lossy(&magic));
        return Err(Error::new(ErrorKind::Format, placed("magic", 0), found, "\"GGUF\""));
    }
    let version = cursor.u32("version")?;
    if !VERSIONS.contains(&version) {
        let found = match version {
            1 => "version 1, which has other lengths".to_owned(),
            _ if (1..=3).contains(&version.swap_bytes()) => "a big-endian file".to_owned(),
            other => format!("version {other}"),
        };
        let expected = "version 2 or 3 in little-endian order: convert the model again";
        return Err(Error::new(ErrorKind::Format, placed("version", 4), found, expected));
    }
    cursor.u64("tensor_count")?;
    let count = cursor.u64("metadata_kv_count")?;
    cursor.check_count(count, MIN_ENTRY_BYTES, "metadata_kv_count")?;
    Ok(count)
}

/// Read a value, or skip it; return its type.
fn read_value<R: Read + Seek>(
    cursor: &mut Cursor<R>,
    key: &str,
    is_kept: bool,
) -> Result<(String, GgufValue), Error> {
    let kind = read_type(cursor, key)?;
    let name = TYPES[kind as usize].0;
    if kind == ARRAY {
        return read_array(cursor, key, is_kept);
    }
    if !is_kept {
        skip_items(cursor, kind, 1, key, 0)?;
        return Ok((name.to_owned(), GgufValue::Other));
    }
    let value = match kind {
        STRING => GgufValue::Text(cursor.text(key, u64::MAX)?),
        BOOL => GgufValue::Flag(cursor.array::<1>(key)?[0] != 0),
        _ => {
            let size = TYPES[kind as usize].1.unwrap_or_default();
            let bytes = cursor.bytes(size, key)?;
            integer(name, &bytes).map_or(GgufValue::Other, GgufValue::Integer)
        }
    };
    Ok((name.to_owned(), value))
}

fn read_type<R: Read + Seek>(cursor: &mut Cursor<R>, key: &str) -> Result<u32, Error> {
    let at = cursor.at();
    let kind = cursor.u32(key)?;
    if kind as usize >= TYPES.len() {
        let (found, expected) = (format!("the type {kind}"), format!("0 to {}", TYPES.len() - 1));
        return Err(Error::new(ErrorKind::Format, placed(key, at), found, expected));
    }
    Ok(kind)
}

/// Return an integer of the type `name`, or `None` for a floating-point number.
fn integer(name: &str, bytes: &[u8]) -> Option<i128> {
    let is_negative = name.starts_with("int") && bytes.last().is_some_and(|&high| high >= 0x80);
    let start = if is_negative { -1 } else { 0 };
    let number = bytes.iter().rev().fold(start, |number: i128, &byte| number << 8 | i128::from(byte));
    (!name.starts_with("float")).then_some(number)
}

fn read_array<R: Read + Seek>(
    cursor: &mut Cursor<R>,
    key: &str,
    is_kept: bool,
) -> Result<(String, GgufValue), Error> {
    let kind = read_type(cursor, key)?;
    let count = cursor.u64(key)?;
    let (name, size) = TYPES[kind as usize];
    let type_name = format!("array of {name}");
    let is_known = [UINT8, INT8, INT32, FLOAT32, STRING].contains(&kind);
    if !is_kept || !is_known {
        skip_items(cursor, kind, count, key, 1)?;
        return Ok((type_name, GgufValue::Other));
    }
    cursor.check_count(count, size.unwrap_or(8), key)?;
    if kind == STRING {
        let texts = (0..count).map(|at| cursor.text(format_args!("{key}[{at}]"), u64::MAX));
        return Ok((type_name, GgufValue::Texts(texts.collect::<Result<_, _>>()?)));
    }
    let bytes = cursor.bytes(count * size.unwrap_or(1), key)?;
    let words = || bytes.chunks_exact(4).filter_map(|word| word.try_into().ok());
    let value = match kind {
        FLOAT32 => GgufValue::Floats(words().map(f32::from_le_bytes).collect()),
        INT32 => GgufValue::Integers(words().map(i32::from_le_bytes).collect()),
        _ => GgufValue::Bytes(bytes),
    };
    Ok((type_name, value))
}

/// Skip `count` values of a type, inside `depth` arrays.
fn skip_items<R: Read + Seek>(
    cursor: &mut Cursor<R>,
    kind: u32,
    count: u64,
    key: &str,
    depth: usize,
) -> Result<(), Error> {
    if let Some(size) = TYPES[kind as usize].1 {
        cursor.check_count(count, size, key)?;
        return cursor.skip(count * size, key);
    }
    if depth > MAX_DEPTH {
        let found = format!("more than {MAX_DEPTH} arrays inside each other");
        return Err(Error::new(ErrorKind::Format, placed(key, cursor.at()), found, "fewer"));
    }
    // A string has at least its length, and an array its type and its length.
    cursor.check_count(count, if kind == STRING { 8 } else { 12 }, key)?;
    for _ in 0..count {
        if kind == STRING {
            cursor.skip_text(key)?;
            continue;
        }
        let inner = read_type(cursor, key)?;
        let inner_count = cursor.u64(key)?;
        skip_items(cursor, inner, inner_count, key, depth + 1)?;
    }
    Ok(())
}

/// A position in a file or in bytes. Checks each length against the remaining bytes before it allocates.
struct Cursor<R> {
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
