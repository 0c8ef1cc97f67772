//! Helpers that several stages share: vocabularies, custom stages, fields.

use std::cell::Cell;
use std::sync::Arc;

use base64::alphabet;
use base64::engine::{DecodePaddingMode, Engine, GeneralPurpose, GeneralPurposeConfig};
use piecework_core::error::Error;
use piecework_core::spec::{
    AddedToken, ByteLevelSpec, CustomSpec, MetaspaceSpec, PatternSpec, PrependScheme, SplitBehavior,
    TextFunction, VocabSpec,
};
use serde::{Serialize, Serializer};
use serde_json::{json, Value};

use crate::json::{all, Field};

/// Base64 that is written with padding and read with or without it.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Read bytes in base64; `expected` names them in errors.
pub(super) fn read_base64(field: &Field, expected: &str) -> Result<Vec<u8>, Error> {
    let found = |error: base64::DecodeError| format!("text that is not base64 ({error})");
    BASE64.decode(field.text()?).map_err(|error| field.contradiction(found(error), expected))
}

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

/// Read the settings of a metaspace.
///
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

/// Read tokens with their ids.
pub(super) fn read_vocab(field: &Field) -> Result<VocabSpec, Error> {
    all(field.entries()?.map(|(token, id)| Ok((token.to_owned(), id.id()?))))
}

/// Entries in the order of their ids.
pub(super) struct VocabJson<'a>(pub(super) &'a [(String, u32)]);

impl Serialize for VocabJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut by_id: Vec<&(String, u32)> = self.0.iter().collect();
        by_id.sort_by_key(|(_, id)| *id);
        serializer.collect_map(by_id.into_iter().map(|(token, id)| (token, id)))
    }
}

// ---- custom stages: functions passed beside the document, in the order of its stages; files have none

const CUSTOM: &str = "Custom";

/// The functions of the custom stages that are not read yet.
#[derive(Default)]
pub(super) struct Functions<'f>(Cell<&'f [Arc<dyn TextFunction>]>);

impl<'f> Functions<'f> {
    pub(super) fn new(functions: &'f [Arc<dyn TextFunction>]) -> Self {
        Self(Cell::new(functions))
    }

    fn take(&self) -> Option<Arc<dyn TextFunction>> {
        let (next, rest) = self.0.get().split_first()?;
        self.0.set(rest);
        Some(Arc::clone(next))
    }
}

/// Read a component that is a custom stage.
pub(super) fn read_custom(field: &Field, functions: &Functions<'_>) -> Result<Option<CustomSpec>, Error> {
    let Some(kind) = field.find("type")?.filter(|kind| kind.is(CUSTOM)) else { return Ok(None) };
    let Some(function) = functions.take() else {
        let expected = "a component of this format: custom stages are functions, which files do not hold";
        return Err(kind.error(expected));
    };
    field.fields(&["type", "name"])?;
    Ok(Some(CustomSpec { name: field.get("name")?.text()?.to_owned(), function }))
}

pub(super) fn write_custom(custom: &CustomSpec) -> Value {
    json!({ "type": CUSTOM, "name": custom.name })
}

// ---- `added_tokens`

pub(super) fn read_added_tokens(root: &Field) -> Result<Vec<AddedToken>, Error> {
    match root.member("added_tokens")? {
        Some(tokens) => tokens.items()?.map(|token| read_added_token(&token)).collect(),
        None => Ok(Vec::new()),
    }
}

fn read_added_token(field: &Field) -> Result<AddedToken, Error> {
    field.fields(&["id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"])?;
    Ok(AddedToken {
        id: field.get("id")?.id()?,
        content: field.get("content")?.text()?.to_owned(),
        single_word: field.get("single_word")?.flag()?,
        lstrip: field.get("lstrip")?.flag()?,
        rstrip: field.get("rstrip")?.flag()?,
        normalized: field.get("normalized")?.flag()?,
        special: field.get("special")?.flag()?,
    })
}

/// Return the added tokens in the order of their ids.
pub(super) fn write_added_tokens(tokens: &[AddedToken]) -> Vec<Value> {
    let mut by_id: Vec<&AddedToken> = tokens.iter().collect();
    by_id.sort_by_key(|token| token.id);
    by_id.into_iter().map(write_added_token).collect()
}

fn write_added_token(token: &AddedToken) -> Value {
    json!({
        "id": token.id,
        "content": token.content,
        "single_word": token.single_word,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "normalized": token.normalized,
        "special": token.special,
    })
}
