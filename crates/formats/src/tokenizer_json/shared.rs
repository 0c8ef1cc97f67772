//! Helpers that several stages share.

use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use piecework_core::error::Error;
use piecework_core::spec::{ByteLevelSpec, MetaspaceSpec, PatternSpec, PrependScheme, SplitBehavior};
use serde_json::{json, Value};

use crate::json::Field;

/// Base64 that is written with padding and read with or without it.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

const BEHAVIORS: [(&str, SplitBehavior); 5] = [
    ("Removed", SplitBehavior::Removed),
    ("Isolated", SplitBehavior::Isolated),
    ("MergedWithPrevious", SplitBehavior::MergedWithPrevious),
    ("MergedWithNext", SplitBehavior::MergedWithNext),
    ("Contiguous", SplitBehavior::Contiguous),
];
const SCHEMES: [(&str, PrependScheme); 3] =
    [("first", PrependScheme::First), ("never", PrependScheme::Never), ("always", PrependScheme::Always)];

/// The fields of a document.
pub(super) const FIELDS: [&str; 9] = [
    "version",
    "truncation",
    "padding",
    "added_tokens",
    "normalizer",
    "pre_tokenizer",
    "post_processor",
    "decoder",
    "model",
];

/// Return a component without settings.
pub(super) fn bare<T>(field: &Field, component: T) -> Result<T, Error> {
    field.fields(&["type"]).map(|()| component)
}

/// Return a member that may be absent or null, read by `read`.
pub(super) fn optional<'a, T>(
    field: &'a Field<'a>,
    name: &'a str,
    read: impl Fn(&Field<'a>) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    field.find(name)?.map(|found| read(&found)).transpose()
}

/// Return the name of a value in a table of choices.
pub(super) fn name_of<T: Copy + PartialEq>(choices: &[(&'static str, T)], value: T) -> &'static str {
    choices.iter().find(|(_, choice)| *choice == value).map_or("", |(name, _)| *name)
}

/// Read the members of a Sequence, which may be empty.
pub(super) fn sequence<T>(
    field: &Field,
    name: &str,
    read: impl Fn(&Field) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    field.fields(&["type", name])?;
    field.get(name)?.items()?.map(|member| read(&member)).collect()
}

pub(super) fn read_pattern(field: &Field) -> Result<PatternSpec, Error> {
    field.fields(&["String", "Regex"])?;
    match (field.find("String")?, field.find("Regex")?) {
        (Some(text), None) => Ok(PatternSpec::Text(text.text()?.to_owned())),
        (None, Some(regex)) => Ok(PatternSpec::Regex(regex.text()?.to_owned())),
        _ => Err(field.error("either {\"String\": ...} or {\"Regex\": ...}")),
    }
}

pub(super) fn write_pattern(pattern: &PatternSpec) -> Value {
    match pattern {
        PatternSpec::Text(text) => json!({ "String": text }),
        PatternSpec::Regex(regex) => json!({ "Regex": regex }),
    }
}

pub(super) fn read_replace(field: &Field) -> Result<(PatternSpec, String), Error> {
    field.fields(&["type", "pattern", "content"])?;
    Ok((read_pattern(&field.get("pattern")?)?, field.get("content")?.text()?.to_owned()))
}

pub(super) fn write_replace(pattern: &PatternSpec, content: &str) -> Value {
    json!({ "type": "Replace", "pattern": write_pattern(pattern), "content": content })
}

pub(super) fn read_behavior(field: &Field) -> Result<SplitBehavior, Error> {
    field.choice(&BEHAVIORS)
}

pub(super) fn write_behavior(behavior: SplitBehavior) -> &'static str {
    name_of(&BEHAVIORS, behavior)
}

/// Read `use_regex`, which is true in older files without it.
pub(super) fn read_byte_level(field: &Field) -> Result<ByteLevelSpec, Error> {
    field.fields(&["type", "add_prefix_space", "trim_offsets", "use_regex"])?;
    Ok(ByteLevelSpec {
        add_prefix_space: field.get("add_prefix_space")?.flag()?,
        trim_offsets: field.get("trim_offsets")?.flag()?,
        use_regex: field.member("use_regex")?.map_or(Ok(true), |value| value.flag())?,
    })
}

pub(super) fn write_byte_level(spec: ByteLevelSpec) -> Value {
    json!({
        "type": "ByteLevel",
        "add_prefix_space": spec.add_prefix_space,
        "trim_offsets": spec.trim_offsets,
        "use_regex": spec.use_regex,
    })
}

/// Older files have `add_prefix_space` instead of `prepend_scheme`, and repeat the replacement as `str_rep`.
/// With a scheme, `add_prefix_space: true` has no effect, and `false` must agree with the scheme.
pub(super) fn read_metaspace(field: &Field) -> Result<MetaspaceSpec, Error> {
    field.fields(&["type", "replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"])?;
    let replacement = field.get("replacement")?;
    if let Some(text) = field.find("str_rep")? {
        if text.text()? != replacement.text()? {
            return Err(text.error("the same as the replacement"));
        }
    }
    let scheme = field.member("prepend_scheme")?;
    let prepend_scheme = scheme.map_or(Ok(PrependScheme::Always), |scheme| scheme.choice(&SCHEMES))?;
    if let Some(prefix) = field.find("add_prefix_space")? {
        if !prefix.flag()? && prepend_scheme != PrependScheme::Never {
            return Err(prefix.error("\"prepend_scheme\": \"never\" with it"));
        }
    }
    let split = field.find("split")?;
    Ok(MetaspaceSpec {
        replacement: replacement.char()?,
        prepend_scheme,
        split: split.map_or(Ok(true), |split| split.flag())?,
    })
}

pub(super) fn write_metaspace(spec: MetaspaceSpec) -> Value {
    json!({
        "type": "Metaspace",
        "replacement": spec.replacement,
        "prepend_scheme": name_of(&SCHEMES, spec.prepend_scheme),
        "split": spec.split,
    })
}
