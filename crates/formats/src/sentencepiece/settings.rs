//! How a model was trained, as a `.model` says it: settings by name to the bytes of what a specification keeps
//! as `rest`.

use piecework_core::error::{Error, ErrorKind};

use super::message::{Message, Value};
use super::schema::{NORMALIZER, NORMALIZER_SETTINGS, TRAINER, TRAINER_SETTINGS};

/// The value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A flag, an enumeration or an integer; negative ones take ten bytes.
    Integer(i64),
    /// A 32-bit float.
    Float(f32),
    /// A text.
    Text(String),
    /// Texts, each a value of the field.
    Texts(Vec<String>),
}

/// Write settings of the trainer and of the normalizer under the names of SentencePiece's schema.
pub fn settings(trainer: &[(String, Setting)], normalizer: &[(String, Setting)]) -> Result<Vec<u8>, Error> {
    let mut file = Message::default();
    file.set(TRAINER, Value::Bytes(message(trainer, &TRAINER_SETTINGS, TRAINER.1)?.into()));
    file.set(NORMALIZER, Value::Bytes(message(normalizer, &NORMALIZER_SETTINGS, NORMALIZER.1)?.into()));
    Ok(file.bytes())
}

fn message(
    given: &[(String, Setting)],
    known: &[(u32, &'static str)],
    place: &str,
) -> Result<Vec<u8>, Error> {
    let mut numbered = Vec::with_capacity(given.len());
    for (name, setting) in given {
        let field = known.iter().find(|(_, known)| known == name).ok_or_else(|| {
            Error::new(
                ErrorKind::Argument,
                format!("{place}.{name}"),
                "an unknown setting",
                "one of the schema",
            )
        })?;
        numbered.push((field.0, setting));
    }
    numbered.sort_by_key(|(number, _)| *number);
    let mut out = Vec::new();
    for (number, setting) in numbered {
        put(number, setting, &mut out);
    }
    Ok(out)
}

fn put(number: u32, setting: &Setting, out: &mut Vec<u8>) {
    let mut put = |value: &Value<'_>| super::message::put_field(number, value, out);
    match setting {
        Setting::Integer(value) => put(&Value::Varint(*value as u64)),
        Setting::Float(value) => put(&Value::Fixed32(value.to_le_bytes())),
        Setting::Text(text) => put(&Value::Bytes(text.as_bytes().into())),
        Setting::Texts(texts) => texts.iter().for_each(|text| put(&Value::Bytes(text.as_bytes().into()))),
    }
}
