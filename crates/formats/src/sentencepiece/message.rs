//! A protobuf message as a list of numbered values, unknown fields included.
//!
//! Source: the wire format of protocol buffers, without groups, which no version of the schema has. Nested
//! messages are bytes until they are read, so memory is proportional to the size of the file.

use std::borrow::Cow;

use piecework_core::error::{Error, ErrorKind};

/// The most bytes of a varint.
const MAX_VARINT: usize = 10;

/// The fields in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Message<'a> {
    /// The path of the message, for errors.
    place: String,
    fields: Vec<(u32, WireValue<'a>)>,
}

/// A value by its wire type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum WireValue<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(Cow<'a, [u8]>),
    Fixed32([u8; 4]),
}

/// A field by its number and its name, the latter for errors.
pub(super) type Field = (u32, &'static str);

impl<'a> Message<'a> {
    /// Read the bytes of a message.
    pub(super) fn parse(bytes: &'a [u8], place: &str) -> Result<Self, Error> {
        let mut message = Self { place: place.to_owned(), fields: Vec::new() };
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = bytes.len() - rest.len();
            let field = take_field(&mut rest).ok_or_else(|| {
                let place = message.at(&format!("byte {at}"));
                let found = "a field that is cut off or malformed";
                Error::new(ErrorKind::Format, place, found, "a protobuf")
            })?;
            message.fields.push(field);
        }
        Ok(message)
    }

    /// Append the bytes of the message.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        self.fields.iter().for_each(|(number, value)| put_field(*number, value, out));
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// All values of a field.
    pub(super) fn all(&self, number: u32) -> impl Iterator<Item = &WireValue<'a>> {
        self.fields.iter().filter(move |(known, _)| *known == number).map(|(_, value)| value)
    }

    /// Return the numbers of the fields, in file order.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.fields.iter().map(|(number, _)| *number)
    }

    /// Whether the message has a field.
    pub(super) fn has(&self, (number, _): Field) -> bool {
        self.all(number).next().is_some()
    }

    /// Return a flag or a number that is not negative; the last value of the field.
    pub(super) fn number(&self, field: Field, default: u64) -> Result<u64, Error> {
        match self.all(field.0).last() {
            None => Ok(default),
            Some(WireValue::Varint(number)) => Ok(*number),
            Some(other) => Err(self.unexpected(field, other, "an integer")),
        }
    }

    /// Return a flag.
    pub(super) fn flag(&self, field: Field, default: bool) -> Result<bool, Error> {
        Ok(self.number(field, default.into())? != 0)
    }

    /// Return a 32-bit float; 0 if absent.
    pub(super) fn float(&self, field: Field) -> Result<f32, Error> {
        match self.all(field.0).last() {
            None => Ok(0.0),
            Some(WireValue::Fixed32(bytes)) => Ok(f32::from_le_bytes(*bytes)),
            Some(other) => Err(self.unexpected(field, other, "a 32-bit float")),
        }
    }

    /// Return a text.
    pub(super) fn text(&self, field: Field, default: &str) -> Result<String, Error> {
        let Some(value) = self.all(field.0).last() else { return Ok(default.to_owned()) };
        let WireValue::Bytes(bytes) = value else { return Err(self.unexpected(field, value, "a text")) };
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let found = format!("bytes that are not UTF-8 at {}", error.valid_up_to());
            Error::new(ErrorKind::Format, self.at(field.1), found, "a text")
        })?;
        Ok(text.to_owned())
    }

    /// Return the bytes of a field; repeated values of a message are concatenated, which merges them.
    pub(super) fn merged(&self, field: Field) -> Result<Vec<u8>, Error> {
        let mut merged = Vec::new();
        for value in self.all(field.0) {
            let WireValue::Bytes(bytes) = value else { return Err(self.unexpected(field, value, "bytes")) };
            merged.extend_from_slice(bytes);
        }
        Ok(merged)
    }

    /// Return the message without the fields of some numbers.
    pub(super) fn without(&self, numbers: &[u32]) -> Self {
        let others = self.fields.iter().filter(|(number, _)| !numbers.contains(number));
        Self { place: self.place.clone(), fields: others.cloned().collect() }
    }

    /// Remove all values of a field.
    fn remove(&mut self, (number, _): Field) {
        self.fields.retain(|(known, _)| *known != number);
    }

    /// Set a field to one value; a new field is inserted before those with greater numbers.
    pub(super) fn set(&mut self, field: Field, value: WireValue<'a>) {
        let present = self.fields.iter().position(|(known, _)| *known == field.0);
        let later = || self.fields.iter().position(|(known, _)| *known > field.0);
        let at = present.or_else(later).unwrap_or(self.fields.len());
        self.remove(field);
        self.fields.insert(at, (field.0, value));
    }

    /// Return the path of a field of the message.
    pub(super) fn at(&self, name: &str) -> String {
        if self.place.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.place)
        }
    }

    pub(super) fn unexpected(&self, (_, name): Field, found: &WireValue<'_>, expected: &str) -> Error {
        let found = match found {
            WireValue::Varint(number) => format!("the integer {number}"),
            WireValue::Fixed64(_) => "a 64-bit value".to_owned(),
            WireValue::Bytes(bytes) => format!("{} bytes", bytes.len()),
            WireValue::Fixed32(_) => "a 32-bit value".to_owned(),
        };
        Error::new(ErrorKind::Format, self.at(name), found, expected)
    }
}

/// Append one field.
pub(super) fn put_field(number: u32, value: &WireValue<'_>, out: &mut Vec<u8>) {
    let kind = match value {
        WireValue::Varint(_) => 0,
        WireValue::Fixed64(_) => 1,
        WireValue::Bytes(_) => 2,
        WireValue::Fixed32(_) => 5,
    };
    put_varint(u64::from(number) << 3 | kind, out);
    match value {
        WireValue::Varint(number) => put_varint(*number, out),
        WireValue::Fixed64(bytes) => out.extend_from_slice(bytes),
        WireValue::Bytes(bytes) => {
            put_varint(bytes.len() as u64, out);
            out.extend_from_slice(bytes);
        }
        WireValue::Fixed32(bytes) => out.extend_from_slice(bytes),
    }
}

/// Read the first field, if it is complete.
pub(super) fn take_field<'a>(rest: &mut &'a [u8]) -> Option<(u32, WireValue<'a>)> {
    let key = take_varint(rest)?;
    let number = u32::try_from(key >> 3).ok().filter(|&number| number > 0)?;
    let value = match key & 7 {
        0 => WireValue::Varint(take_varint(rest)?),
        1 => WireValue::Fixed64(take(rest, 8)?.try_into().ok()?),
        2 => {
            let len = usize::try_from(take_varint(rest)?).ok()?;
            WireValue::Bytes(Cow::Borrowed(take(rest, len)?))
        }
        5 => WireValue::Fixed32(take(rest, 4)?.try_into().ok()?),
        _ => return None,
    };
    Some((number, value))
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(len)?;
    *rest = after;
    Some(taken)
}

/// Read seven bits a byte, the lowest first.
fn take_varint(rest: &mut &[u8]) -> Option<u64> {
    let len = rest.iter().take(MAX_VARINT).position(|byte| byte & 0x80 == 0)? + 1;
    let bytes = take(rest, len)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7F)))
}

fn put_varint(mut number: u64, out: &mut Vec<u8>) {
    while number > 0x7F {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
