//! The training settings in a `.model`: named settings to the bytes that a specification keeps as `rest`.

use piecework_core::error::{Error, ErrorKind};
use serde::Deserialize;

use super::message::{
    put_field, Field, Message, WireValue, DENORMALIZER, NORMALIZER, NORMALIZER_SETTINGS, TRAINER,
    TRAINER_SETTINGS,
};

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// A flag.
    Flag(bool),
    /// An enumeration or an integer; negative ones take ten bytes.
    Integer(i64),
    /// A 32-bit float.
    Float(f32),
    /// A text.
    Text(String),
    /// Texts, each a value of the field.
    Texts(Vec<String>),
}

/// A setting and its name in the schema.
pub type NamedSetting = (String, Setting);

/// Write settings of the trainer, the normalizer and the denormalizer, if there is one.
///
/// The rules of both normalizers are not included; the components have them. Empty fields reserve their
/// positions, so that a file that is written and read has the same bytes.
pub fn settings(
    trainer: &[NamedSetting],
    normalizer: &[NamedSetting],
    denormalizer: Option<&[NamedSetting]>,
) -> Result<Vec<u8>, Error> {
    let mut file = Message::default();
    file.set(TRAINER, WireValue::Bytes(message(trainer, &TRAINER_SETTINGS, TRAINER.1)?.into()));
    file.set(NORMALIZER, WireValue::Bytes(message(normalizer, &NORMALIZER_SETTINGS, NORMALIZER.1)?.into()));
    if let Some(given) = denormalizer {
        let written = message(given, &NORMALIZER_SETTINGS, DENORMALIZER.1)?;
        file.set(DENORMALIZER, WireValue::Bytes(written.into()));
    }
    Ok(file.bytes())
}

fn message(given: &[NamedSetting], known: &[Field], place: &str) -> Result<Vec<u8>, Error> {
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
    let mut put = |value: &WireValue<'_>| put_field(number, value, out);
    match setting {
        Setting::Flag(value) => put(&WireValue::Varint((*value).into())),
        Setting::Integer(value) => put(&WireValue::Varint(*value as u64)),
        Setting::Float(value) => put(&WireValue::Fixed32(value.to_le_bytes())),
        Setting::Text(text) => put(&WireValue::Bytes(text.as_bytes().into())),
        Setting::Texts(texts) => {
            texts.iter().for_each(|text| put(&WireValue::Bytes(text.as_bytes().into())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_in_the_order_of_their_numbers() {
        let named = |name: &str, setting| (name.to_owned(), setting);
        let trainer = [
            named("pad_id", Setting::Integer(-1)),
            named("control_symbols", Setting::Texts(vec!["a".into(), "b".into()])),
            named("character_coverage", Setting::Float(0.5)),
        ];
        let written = settings(&trainer, &[named("name", Setting::Text("nfkc".into()))], None).unwrap();
        let expected = b"\x12\x18\x55\0\0\0\x3F\xF2\x01\x01a\xF2\x01\x01b\xD8\x02\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x1A\x06\x0A\x04nfkc";
        let length = expected.len() - 2 - 8;
        assert_eq!(usize::from(written[1]), length);
        assert_eq!(written[2..], expected[2..]);
    }

    #[test]
    fn unknown_settings_are_named() {
        let given = [("colour".to_owned(), Setting::Integer(1))];
        let error = settings(&given, &[], None).unwrap_err().to_string();
        assert_eq!(error, "trainer_spec.colour: must be one of the schema, not an unknown setting");
    }
}
