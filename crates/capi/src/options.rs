//! The structures of `piecework.h` that hold settings, and the settings of the crate `piecework` that they become.

use std::borrow::Cow;

use piecework::{
    ChunkOptions, ChunkUnit, DecodeOptions, EncodeOptions, LoadOptions, OffsetUnit, Padding, ParseSpecial,
    Truncation,
};

use crate::error::Error;
use crate::pointers::{Flag, In, Str, Versioned};

/// `piecework_load_options`.
pub(crate) type LoadSettings = Versioned<LoadFields>;
/// `piecework_encode_options`.
pub(crate) type EncodeSettings = Versioned<EncodeFields>;
/// `piecework_chunk_options`.
pub(crate) type ChunkSettings = Versioned<ChunkFields>;
/// `piecework_decode_options`.
pub(crate) type DecodeSettings = Versioned<DecodeFields>;
/// `piecework_truncation`.
pub(crate) type TruncationSettings = Versioned<TruncationFields>;
/// `piecework_padding`.
pub(crate) type PaddingSettings = Versioned<PaddingFields>;

#[repr(C)]
pub(crate) struct LoadFields {
    merges: Str,
    patterns: In<Str>,
    pattern_count: usize,
    special_tokens: In<SpecialToken>,
    special_token_count: usize,
    lowercase: u32,
}

/// `piecework_special_token`.
#[repr(C)]
pub(crate) struct SpecialToken {
    token: Str,
    id: u32,
}

#[repr(C)]
pub(crate) struct EncodeFields {
    parsed_tokens: In<Str>,
    parsed_token_count: usize,
    add_special_tokens: u32,
    parse_special: u32,
    invalid_utf8: u32,
    offset_unit: u32,
    offsets: u32,
    overflow: u32,
    num_threads: u32,
    cancel: Flag,
}

#[repr(C)]
pub(crate) struct ChunkFields {
    max_tokens: usize,
    overlap: usize,
    unit: u32,
}

#[repr(C)]
pub(crate) struct DecodeFields {
    skip_special_tokens: u32,
    clean_up: u32,
}

#[repr(C)]
pub(crate) struct TruncationFields {
    max_length: usize,
    stride: usize,
    strategy: u32,
    side: u32,
}

#[repr(C)]
pub(crate) struct PaddingFields {
    pad_token: Str,
    length: usize,
    multiple_of: usize,
    pad_id: u32,
    pad_type_id: u32,
    side: u32,
}

/// The settings of encoding, and how texts enter and offsets leave.
#[derive(Default)]
pub(crate) struct Encoding {
    pub(crate) options: EncodeOptions,
    pub(crate) unit: OffsetUnit,
    pub(crate) texts: Texts,
    pub(crate) cancel: Cancel,
}

/// The flag of the caller that ends a call early.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cancel(Option<Flag>);

impl Cancel {
    /// Run a call of the crate.
    pub(crate) fn run<R>(self, work: impl FnOnce() -> Result<R, piecework::Error>) -> Result<R, Error> {
        Ok(match self.0 {
            Some(flag) => piecework::cancellable(move || flag.is_set(), work)?,
            None => work()?,
        })
    }
}

/// What happens to bytes that are not UTF-8.
#[derive(Clone, Copy, Default)]
pub(crate) struct Texts {
    replace: bool,
}

impl Texts {
    /// Return a text of the caller.
    pub(crate) fn read<'t>(self, bytes: &'t [u8], name: &str) -> Result<Cow<'t, str>, Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(_) if self.replace => Ok(String::from_utf8_lossy(bytes)),
            Err(error) => Err(Error::utf8(name, error)),
        }
    }
}

/// Return a string that must be UTF-8.
pub(crate) fn string<'t>(string: &'t Str, name: &str) -> Result<&'t str, Error> {
    std::str::from_utf8(string.bytes(name)?).map_err(|error| Error::utf8(name, error))
}

/// Return the setting of an `enum piecework_choice`; `None` for the default.
fn choice(value: u32, name: &str) -> Result<Option<bool>, Error> {
    one_of([None, Some(true), Some(false)], value, name)
}

/// Return the value with a number.
fn one_of<T: Copy, const N: usize>(values: [T; N], number: u32, name: &str) -> Result<T, Error> {
    let value = values.get(number as usize).copied();
    value.ok_or_else(|| Error::argument(name, &format!("{number}, expected a number below {N}")))
}

pub(crate) fn load(settings: &In<LoadSettings>) -> Result<LoadOptions, Error> {
    let mut options = LoadOptions::new();
    let Some(fields) = settings.fields("options")? else { return Ok(options) };
    if let Some(lowercase) = choice(fields.lowercase, "options.lowercase")? {
        options = options.lowercase(lowercase);
    }
    if !fields.merges.is_null() {
        options = options.merges(fields.merges.bytes("options.merges")?);
    }
    for pattern in fields.patterns.slice(fields.pattern_count, "options.patterns")? {
        options = options.pattern(string(pattern, "options.patterns")?);
    }
    let name = "options.special_tokens";
    for special in fields.special_tokens.slice(fields.special_token_count, name)? {
        options = options.special_token(string(&special.token, name)?, special.id);
    }
    Ok(options)
}

pub(crate) fn encoding(settings: &In<EncodeSettings>) -> Result<Encoding, Error> {
    let Some(fields) = settings.fields("options")? else { return Ok(Encoding::default()) };
    let on = |value, name| Ok::<_, Error>(choice(value, name)?.unwrap_or(false));
    let mut options = EncodeOptions::new()
        .add_special_tokens(
            choice(fields.add_special_tokens, "options.add_special_tokens")?.unwrap_or(true),
        )
        .offsets(on(fields.offsets, "options.offsets")?)
        .overflow(on(fields.overflow, "options.overflow")?);
    if fields.num_threads != 0 {
        options = options.num_threads(fields.num_threads as usize);
    }
    let options = parsing(options, &fields)?;
    let units = [OffsetUnit::Bytes, OffsetUnit::Chars, OffsetUnit::Utf16];
    Ok(Encoding {
        options,
        unit: one_of(units, fields.offset_unit, "options.offset_unit")?,
        texts: Texts { replace: one_of([false, true], fields.invalid_utf8, "options.invalid_utf8")? },
        cancel: Cancel(fields.cancel.get("options.cancel")?),
    })
}

/// Set which special tokens are parsed in text.
fn parsing(mut options: EncodeOptions, fields: &EncodeFields) -> Result<EncodeOptions, Error> {
    let parsed = [None, Some(ParseSpecial::All), Some(ParseSpecial::Nothing), Some(ParseSpecial::Refuse)];
    if let Some(parsed) = one_of(parsed, fields.parse_special, "options.parse_special")? {
        options = options.parse_special(parsed);
    }
    if !fields.parsed_tokens.is_null() {
        let name = "options.parsed_tokens";
        let tokens = fields.parsed_tokens.slice(fields.parsed_token_count, name)?.iter();
        let tokens: Vec<&str> = tokens.map(|token| string(token, name)).collect::<Result<_, _>>()?;
        options = options.parse_special_only(tokens);
    }
    Ok(options)
}

/// Return the settings that segments use; the others must have their defaults.
pub(crate) fn of_segments(settings: &In<EncodeSettings>) -> Result<Encoding, Error> {
    let encoding = encoding(settings)?;
    if encoding.options != EncodeOptions::new() {
        return Err(Error::argument("options", "a setting that segments do not use"));
    }
    Ok(encoding)
}

/// Return the settings that growing text uses; the others must have their defaults.
pub(crate) fn of_growing_text(settings: &In<EncodeSettings>) -> Result<Encoding, Error> {
    let encoding = encoding(settings)?;
    let Some(fields) = settings.fields("options")? else { return Ok(encoding) };
    let other = encoding.options != parsing(EncodeOptions::new(), &fields)?;
    if other || encoding.unit != OffsetUnit::Bytes || encoding.cancel.0.is_some() {
        return Err(Error::argument("options", "a setting that growing text does not use"));
    }
    Ok(encoding)
}

pub(crate) fn chunking(settings: &In<ChunkSettings>) -> Result<ChunkOptions, Error> {
    let Some(fields) = settings.fields("chunking")? else { return Ok(ChunkOptions::new(0)) };
    let units = [ChunkUnit::Sentence, ChunkUnit::Paragraph, ChunkUnit::Word, ChunkUnit::Character];
    let unit = one_of(units, fields.unit, "chunking.unit")?;
    Ok(ChunkOptions::new(fields.max_tokens).overlap(fields.overlap).at(unit))
}

pub(crate) fn decoding(settings: &In<DecodeSettings>) -> Result<DecodeOptions, Error> {
    let mut options = DecodeOptions::new();
    let Some(fields) = settings.fields("options")? else { return Ok(options) };
    if let Some(skip) = choice(fields.skip_special_tokens, "options.skip_special_tokens")? {
        options = options.skip_special_tokens(skip);
    }
    if let Some(clean_up) = choice(fields.clean_up, "options.clean_up")? {
        options = options.clean_up(clean_up);
    }
    Ok(options)
}

pub(crate) fn truncation(settings: &In<TruncationSettings>) -> Result<Option<Truncation>, Error> {
    let Some(fields) = settings.fields("truncation")? else { return Ok(None) };
    let truncation = Truncation::to(fields.max_length).stride(fields.stride);
    let truncation = match one_of([0, 1, 2], fields.strategy, "truncation.strategy")? {
        1 => truncation.only_first(),
        2 => truncation.only_second(),
        _ => truncation,
    };
    let is_left = one_of([false, true], fields.side, "truncation.side")?;
    Ok(Some(if is_left { truncation.left() } else { truncation }))
}

pub(crate) fn padding(settings: &In<PaddingSettings>) -> Result<Option<Padding>, Error> {
    let Some(fields) = settings.fields("padding")? else { return Ok(None) };
    let token = string(&fields.pad_token, "padding.pad_token")?;
    let mut padding = Padding::with(token, fields.pad_id).type_id(fields.pad_type_id);
    if fields.length != 0 {
        padding = padding.length(fields.length);
    }
    if fields.multiple_of != 0 {
        padding = padding.multiple_of(fields.multiple_of);
    }
    let is_left = one_of([false, true], fields.side, "padding.side")?;
    Ok(Some(if is_left { padding.left() } else { padding }))
}
