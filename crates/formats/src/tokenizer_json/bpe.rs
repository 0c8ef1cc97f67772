//! The BPE model, and the character model, which is one without merges.

use piecework_core::error::Error;
use piecework_core::spec::{BpeSpec, CharSpec, MergeList, ModelSpec, VocabSpec};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::shared::optional;
use super::vocab::{read_vocab, VocabJson};
use crate::json::Field;

const FIELDS: [&str; 10] = [
    "type",
    "dropout",
    "unk_token",
    "continuing_subword_prefix",
    "end_of_word_suffix",
    "fuse_unk",
    "byte_fallback",
    "ignore_merges",
    "vocab",
    "merges",
];

/// Read a BPE model; flags are optional, because older files do not have all of them.
pub(super) fn read_bpe(field: &Field, extra: &[&str]) -> Result<BpeSpec, Error> {
    field.fields(&[&FIELDS, extra].concat())?;
    let text = |name| optional(field, name, |value| value.text().map(str::to_owned));
    let flag = |name| field.find(name)?.map_or(Ok(false), |value| value.flag());
    Ok(BpeSpec {
        vocab: read_vocab(&field.get("vocab")?)?,
        merges: read_merges(&field.get("merges")?)?,
        dropout: optional(field, "dropout", read_share)?,
        unk_token: text("unk_token")?,
        continuing_subword_prefix: text("continuing_subword_prefix")?,
        end_of_word_suffix: text("end_of_word_suffix")?,
        fuse_unk: flag("fuse_unk")?,
        byte_fallback: flag("byte_fallback")?,
        ignore_merges: flag("ignore_merges")?,
    })
}

/// Return the model, as a character model if it has an unknown token, no merges and default settings.
pub(super) fn without_merges_as_char(spec: BpeSpec) -> ModelSpec {
    let is_plain = spec.merges.is_empty()
        && spec.dropout.is_none()
        && spec.continuing_subword_prefix.is_none()
        && spec.end_of_word_suffix.is_none()
        && !(spec.fuse_unk || spec.byte_fallback || spec.ignore_merges);
    match spec {
        BpeSpec { vocab, unk_token: Some(unk_token), .. } if is_plain => {
            ModelSpec::Char(CharSpec { vocab, unk_token })
        }
        spec => ModelSpec::Bpe(spec),
    }
}

/// Read a probability from 0 to 1, in single precision as in `tokenizers`.
fn read_share(field: &Field) -> Result<f64, Error> {
    let share = field.number()?;
    if !(0.0..=1.0).contains(&share) {
        return Err(field.error("a share from 0 to 1"));
    }
    Ok(shortest(share as f32))
}

/// Return the double with the shortest digits of a single-precision number.
fn shortest(single: f32) -> f64 {
    single.to_string().parse().unwrap_or(single.into())
}

/// Read merges: all pairs, or all in the older form `"a b"`, which may include `#version` lines.
fn read_merges(field: &Field) -> Result<MergeList, Error> {
    let are_texts = field.items()?.next().is_some_and(|first| first.is_text());
    let mut merges = MergeList::with_capacity(field.items()?.len(), 0);
    for merge in field.items()? {
        if are_texts {
            push_line(&merge, &mut merges)?;
        } else {
            let [left, right] = merge.pair("a pair of entries, as the merges before it")?;
            merges.push(left.text()?, right.text()?);
        }
    }
    Ok(merges)
}

fn push_line(field: &Field, merges: &mut MergeList) -> Result<(), Error> {
    let expected = "two entries with one space between them, as the merges before it";
    if !field.is_text() {
        return Err(field.error(expected));
    }
    let line = field.text()?;
    if line.starts_with("#version") {
        return Ok(());
    }
    match line.split_once(' ') {
        Some((left, right)) if !right.contains(' ') => merges.push(left, right),
        _ => return Err(field.error(expected)),
    }
    Ok(())
}

/// A BPE model for writing; fields in the order of the file.
#[derive(Default)]
pub(super) struct BpeJson<'a> {
    dropout: Option<f64>,
    unk_token: Option<&'a str>,
    continuing_subword_prefix: Option<&'a str>,
    end_of_word_suffix: Option<&'a str>,
    fuse_unk: bool,
    byte_fallback: bool,
    ignore_merges: bool,
    vocab: &'a [(String, u32)],
    merges: MergesJson<'a>,
}

/// Merges for writing; `None` for a model that has none.
#[derive(Default)]
struct MergesJson<'a>(Option<&'a MergeList>);

impl Serialize for MergesJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.into_iter().flat_map(MergeList::iter))
    }
}

impl<'a> BpeJson<'a> {
    pub(super) fn of(spec: &'a BpeSpec) -> Self {
        Self {
            dropout: spec.dropout,
            unk_token: spec.unk_token.as_deref(),
            continuing_subword_prefix: spec.continuing_subword_prefix.as_deref(),
            end_of_word_suffix: spec.end_of_word_suffix.as_deref(),
            fuse_unk: spec.fuse_unk,
            byte_fallback: spec.byte_fallback,
            ignore_merges: spec.ignore_merges,
            vocab: &spec.vocab,
            merges: MergesJson(Some(&spec.merges)),
        }
    }

    pub(super) fn of_char(vocab: &'a VocabSpec, unk_token: &'a str) -> Self {
        Self { unk_token: Some(unk_token), vocab, ..Self::default() }
    }
}

impl Serialize for BpeJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(Some(FIELDS.len()))?;
        fields.serialize_entry("type", "BPE")?;
        match self.dropout {
            // Small ones are written with other digits than doubles are.
            Some(share) if shortest(share as f32) == share => {
                fields.serialize_entry("dropout", &(share as f32))?;
            }
            share => fields.serialize_entry("dropout", &share)?,
        }
        fields.serialize_entry("unk_token", &self.unk_token)?;
        fields.serialize_entry("continuing_subword_prefix", &self.continuing_subword_prefix)?;
        fields.serialize_entry("end_of_word_suffix", &self.end_of_word_suffix)?;
        fields.serialize_entry("fuse_unk", &self.fuse_unk)?;
        fields.serialize_entry("byte_fallback", &self.byte_fallback)?;
        fields.serialize_entry("ignore_merges", &self.ignore_merges)?;
        fields.serialize_entry("vocab", &VocabJson(self.vocab))?;
        fields.serialize_entry("merges", &self.merges)?;
        fields.end()
    }
}
