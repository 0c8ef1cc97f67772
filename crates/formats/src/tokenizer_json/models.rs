//! `model`. In older files without a `type`, other fields show the kind of the model.
//!
//! The character model is a BPE model without merges.

use piecework_core::error::Error;
use piecework_core::spec::{
    BpeSpec, CharSpec, MergeList, ModelSpec, Segmentation, UnigramSpec, UnknownUnit, VocabSpec,
    WordPieceSpec, WordSpec,
};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::sentencepiece::{self, SentencePieceJson};
use super::shared::{optional, read_vocab, VocabJson};
use crate::json::{all, parse, Field};

pub(super) const KINDS: [&str; 5] = ["BPE", "WordPiece", "WordLevel", "Unigram", "SentencePiece"];

pub(super) fn read(field: &Field) -> Result<ModelSpec, Error> {
    let kind = if field.has("type")? { field.kind(&KINDS)? } else { kind_by_fields(field)? };
    read_kind(field, kind, &[])
}

/// Read a model only.
pub(crate) fn read_model(bytes: &[u8]) -> Result<ModelSpec, Error> {
    read(&Field::root(&parse(bytes)?))
}

/// Write a model only.
pub(crate) fn write_model(model: &ModelSpec) -> String {
    // Serialization to a string cannot fail, as for a whole document.
    serde_json::to_string(&ModelJson(model)).unwrap_or_default()
}

/// Read a model of a kind; a BPE model may also have the fields in `extra`.
pub(super) fn read_kind(field: &Field, kind: &str, extra: &[&str]) -> Result<ModelSpec, Error> {
    match kind {
        "BPE" => read_bpe(field, extra).map(without_merges_as_char),
        "WordPiece" => read_wordpiece(field).map(ModelSpec::WordPiece),
        "WordLevel" => read_word(field).map(ModelSpec::Word),
        "SentencePiece" => sentencepiece::read_model(field).map(ModelSpec::SentencePiece),
        _ => read_unigram(field).map(ModelSpec::Unigram),
    }
}

/// Return the kind of a model by fields that no other kind has; `tokenizers` checks them first.
fn kind_by_fields(field: &Field) -> Result<&'static str, Error> {
    let is_list = field.member("vocab")?.is_some_and(|vocab| vocab.is_array());
    Ok(match () {
        () if field.has("merges")? || field.has("dropout")? => "BPE",
        () if field.has("max_input_chars_per_word")? => "WordPiece",
        () if field.has("continuing_subword_prefix")? => "WordPiece",
        () if is_list || field.has("unk_id")? => "Unigram",
        () => "WordLevel",
    })
}

fn read_wordpiece(field: &Field) -> Result<WordPieceSpec, Error> {
    field.fields(&[
        "type",
        "unk_token",
        "continuing_subword_prefix",
        "max_input_chars_per_word",
        "unk",
        "segmentation",
        "vocab",
    ])?;
    let unk = [("word", UnknownUnit::Word), ("char", UnknownUnit::Char)];
    let segmentation = [("greedy", Segmentation::Greedy), ("shortest", Segmentation::Shortest)];
    Ok(WordPieceSpec {
        vocab: read_vocab(&field.get("vocab")?)?,
        unk_token: field.get("unk_token")?.text()?.to_owned(),
        continuing_subword_prefix: field.get("continuing_subword_prefix")?.text()?.to_owned(),
        max_input_chars_per_word: field.get("max_input_chars_per_word")?.size()?,
        unk: field.member("unk")?.map_or(Ok(UnknownUnit::Word), |value| value.choice(&unk))?,
        segmentation: field
            .member("segmentation")?
            .map_or(Ok(Segmentation::Greedy), |value| value.choice(&segmentation))?,
    })
}

fn read_word(field: &Field) -> Result<WordSpec, Error> {
    field.fields(&["type", "vocab", "unk_token"])?;
    Ok(WordSpec {
        vocab: read_vocab(&field.get("vocab")?)?,
        unk_token: field.get("unk_token")?.text()?.to_owned(),
    })
}

fn read_unigram(field: &Field) -> Result<UnigramSpec, Error> {
    field.fields(&["type", "unk_id", "vocab", "byte_fallback"])?;
    let vocab = field.get("vocab")?;
    let scored = |entry: Field| {
        let [token, score] = entry.pair("a token and its score")?;
        Ok((token.text()?.to_owned(), score.number()?))
    };
    let vocab = all(vocab.items()?.map(scored))?;
    let unk_id = field.find("unk_id")?;
    if let Some(id) = unk_id.filter(|id| id.size().is_ok_and(|id| id >= vocab.len())) {
        return Err(id.error(format!("one of the {} places of the vocabulary", vocab.len())));
    }
    Ok(UnigramSpec {
        vocab,
        unk_id: optional(field, "unk_id", Field::size)?,
        byte_fallback: field.member("byte_fallback")?.map_or(Ok(false), |value| value.flag())?,
    })
}

/// A model for writing, without a copy of its vocabulary.
pub(super) struct ModelJson<'a>(pub(super) &'a ModelSpec);

impl Serialize for ModelJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            ModelSpec::WordPiece(spec) => write_wordpiece(spec, serializer),
            ModelSpec::Word(spec) => {
                let mut fields = serializer.serialize_map(None)?;
                fields.serialize_entry("type", "WordLevel")?;
                fields.serialize_entry("vocab", &VocabJson(&spec.vocab))?;
                fields.serialize_entry("unk_token", &spec.unk_token)?;
                fields.end()
            }
            ModelSpec::Char(CharSpec { vocab, unk_token }) => {
                BpeJson::of_char(vocab, unk_token).serialize(serializer)
            }
            ModelSpec::Bpe(spec) => BpeJson::of(spec).serialize(serializer),
            ModelSpec::SentencePiece(spec) => SentencePieceJson(spec).serialize(serializer),
            ModelSpec::Unigram(spec) => {
                let mut fields = serializer.serialize_map(None)?;
                fields.serialize_entry("type", "Unigram")?;
                fields.serialize_entry("unk_id", &spec.unk_id)?;
                fields.serialize_entry("vocab", &spec.vocab)?;
                fields.serialize_entry("byte_fallback", &spec.byte_fallback)?;
                fields.end()
            }
        }
    }
}

/// Write `unk` and `segmentation` only if they differ from the defaults.
fn write_wordpiece<S: Serializer>(spec: &WordPieceSpec, serializer: S) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_map(None)?;
    fields.serialize_entry("type", "WordPiece")?;
    fields.serialize_entry("unk_token", &spec.unk_token)?;
    fields.serialize_entry("continuing_subword_prefix", &spec.continuing_subword_prefix)?;
    fields.serialize_entry("max_input_chars_per_word", &spec.max_input_chars_per_word)?;
    if spec.unk == UnknownUnit::Char {
        fields.serialize_entry("unk", "char")?;
    }
    if spec.segmentation == Segmentation::Shortest {
        fields.serialize_entry("segmentation", "shortest")?;
    }
    fields.serialize_entry("vocab", &VocabJson(&spec.vocab))?;
    fields.end()
}

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
fn read_bpe(field: &Field, extra: &[&str]) -> Result<BpeSpec, Error> {
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
fn without_merges_as_char(spec: BpeSpec) -> ModelSpec {
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
struct BpeJson<'a> {
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
    fn of(spec: &'a BpeSpec) -> Self {
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

    fn of_char(vocab: &'a VocabSpec, unk_token: &'a str) -> Self {
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
