//! `model`. In older files without a `type`, other fields show the kind of the model.

use piecework_core::error::Error;
use piecework_core::spec::{
    CharSpec, ModelSpec, Segmentation, UnigramSpec, UnknownUnit, WordPieceSpec, WordSpec,
};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::bpe::{self, read_bpe, BpeJson};
use super::sentencepiece::{self, SentencePieceJson};
use super::shared::optional;
use super::vocab::{read_vocab, VocabJson};
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
        "BPE" => read_bpe(field, extra).map(bpe::without_merges_as_char),
        "WordPiece" => read_wordpiece(field).map(ModelSpec::WordPiece),
        "WordLevel" => read_word(field).map(ModelSpec::Word),
        "SentencePiece" => sentencepiece::read_model(field).map(ModelSpec::SentencePiece),
        _ => read_unigram(field).map(ModelSpec::Unigram),
    }
}

/// Fields that only one kind of model has, those that `tokenizers` checks first.
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
