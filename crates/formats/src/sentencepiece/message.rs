//! A protobuf message as a list of numbered values, unknown fields included.
//!
//! Source: the wire format of protocol buffers, without groups, which no version of the schema has. Nested
//! messages are bytes until they are read, so memory is proportional to the size of the file.
//!
//! The fields of SentencePiece's schema that tokenizing depends on: numbers, names and what they are when
//! they are not there.

use std::borrow::Cow;

use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::SentencePieceKind;

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

    /// Return the bytes of the message.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// Iterate over all values of a field.
    pub(super) fn all(&self, number: u32) -> impl Iterator<Item = &WireValue<'a>> {
        self.fields.iter().filter(move |(known, _)| *known == number).map(|(_, value)| value)
    }

    /// Return the numbers of the fields, in file order.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.fields.iter().map(|(number, _)| *number)
    }

    /// Return whether the message has a field.
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

pub(super) const PIECES: Field = (1, "pieces");
pub(super) const TRAINER: Field = (2, "trainer_spec");
pub(super) const NORMALIZER: Field = (3, "normalizer_spec");
pub(super) const SELF_TEST: Field = (4, "self_test_data");
pub(super) const DENORMALIZER: Field = (5, "denormalizer_spec");

/// Fields from this number on are left to extensions by others.
pub(super) const EXTENSIONS: u32 = 200;

/// The fields of a piece.
pub(super) const PIECE: Field = (1, "piece");
pub(super) const SCORE: Field = (2, "score");
pub(super) const TYPE: Field = (3, "type");

/// The fields of the trainer's settings.
pub(super) const MODEL_TYPE: Field = (3, "model_type");
pub(super) const VOCAB_SIZE: Field = (4, "vocab_size");
pub(super) const WHITESPACE_AS_SUFFIX: Field = (24, "treat_whitespace_as_suffix");
pub(super) const BYTE_FALLBACK: Field = (35, "byte_fallback");
pub(super) const UNK_SURFACE: Field = (44, "unk_surface");
pub(super) const UNK_PIECE: Field = (45, "unk_piece");
pub(super) const BOS_PIECE: Field = (46, "bos_piece");
pub(super) const EOS_PIECE: Field = (47, "eos_piece");
pub(super) const PAD_PIECE: Field = (48, "pad_piece");

pub(super) const OUTPUT_PIECE_SCORE: Field = (32, "vocabulary_output_piece_score");

/// The fields of a normalizer's settings.
pub(super) const CHARSMAP: Field = (2, "precompiled_charsmap");
pub(super) const ADD_DUMMY_PREFIX: Field = (3, "add_dummy_prefix");
pub(super) const REMOVE_EXTRA_WHITESPACES: Field = (4, "remove_extra_whitespaces");
pub(super) const ESCAPE_WHITESPACES: Field = (5, "escape_whitespaces");

/// The fields of the self-test and its samples.
pub(super) const SAMPLES: Field = (1, "samples");
pub(super) const INPUT: Field = (1, "input");
pub(super) const EXPECTED: Field = (2, "expected");

/// All settings of the trainer that are written: not files and threads, which describe the machine.
pub(super) const TRAINER_SETTINGS: [Field; 36] = [
    (3, "model_type"),
    (4, "vocab_size"),
    (5, "accept_language"),
    (6, "self_test_sample_size"),
    (7, "input_format"),
    (10, "character_coverage"),
    (11, "input_sentence_size"),
    (14, "seed_sentencepiece_size"),
    (15, "shrinking_factor"),
    (17, "num_sub_iterations"),
    (18, "max_sentence_length"),
    (19, "shuffle_input_sentence"),
    (20, "max_sentencepiece_length"),
    (21, "split_by_unicode_script"),
    (22, "split_by_whitespace"),
    (23, "split_by_number"),
    (24, "treat_whitespace_as_suffix"),
    (25, "split_digits"),
    (26, "allow_whitespace_only_pieces"),
    (30, "control_symbols"),
    (31, "user_defined_symbols"),
    (32, "vocabulary_output_piece_score"),
    (33, "hard_vocab_limit"),
    (34, "use_all_vocab"),
    (35, "byte_fallback"),
    (36, "required_chars"),
    (40, "unk_id"),
    (41, "bos_id"),
    (42, "eos_id"),
    (43, "pad_id"),
    (44, "unk_surface"),
    (45, "unk_piece"),
    (46, "bos_piece"),
    (47, "eos_piece"),
    (48, "pad_piece"),
    (53, "pretokenization_delimiter"),
];

/// All settings of a normalizer but where its rules were read.
pub(super) const NORMALIZER_SETTINGS: [Field; 5] =
    [(1, "name"), CHARSMAP, ADD_DUMMY_PREFIX, REMOVE_EXTRA_WHITESPACES, ESCAPE_WHITESPACES];

pub(super) const DEFAULT_UNK_SURFACE: &str = " \u{2047} ";
pub(super) const DEFAULT_BOS: &str = "<s>";
pub(super) const DEFAULT_EOS: &str = "</s>";
pub(super) const DEFAULT_PAD: &str = "<pad>";
pub(super) const DEFAULT_UNK: &str = "<unk>";

/// The kinds in the order of their numbers, which begin at 1 as those of the types of pieces do.
pub(super) const KINDS: [SentencePieceKind; 4] =
    [SentencePieceKind::Unigram, SentencePieceKind::Bpe, SentencePieceKind::Word, SentencePieceKind::Char];
