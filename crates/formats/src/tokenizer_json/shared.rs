//! TableSections that several stages write alike.

use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use piecework_core::error::Error;
use piecework_core::spec::{ByteLevelSpec, MetaspaceSpec, PatternSpec, PrependScheme, SplitBehavior};
use serde_json::{json, Value};

use crate::json::Field;

/// Padding is written; files without it are read.
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

/// A component without settings.
pub(super) fn bare<T>(field: &Field, component: T) -> Result<T, Error> {
    field.fields(&["type"]).map(|()| component)
}

/// The name that stands for a value in a table of choices.
pub(super) fn name_of<T: Copy + PartialEq>(choices: &[(&'static str, T)], value: T) -> &'static str {
    choices.iter().find(|(_, choice)| *choice == value).map_or("", |(name, _)| *name)
}

/// The members of a Sequence, each read by `read`; there may be none.
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

/// Files from before `use_regex` split by the pattern.
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

/// Old files say `add_prefix_space` instead of `prepend_scheme`, and give `str_rep`, the replacement
/// once more. `add_prefix_space: true` says nothing when there is a scheme; `false` must agree with it.
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
