//! The `model` object, read; files from before the `type` field are told by their other fields.

use piecework_core::error::Error;
use piecework_core::spec::{
    CharSpec, ModelSpec, Segmentation, UnknownUnit, VocabSpec, WordPieceSpec, WordSpec,
};

use super::field::Field;

pub(super) fn read_model(field: &Field) -> Result<ModelSpec, Error> {
    let kind = match field.find("type")? {
        Some(kind) => kind.choice(&["WordPiece", "WordLevel", "BPE"].map(|kind| (kind, kind)))?,
        None if field.map()?.contains_key("max_input_chars_per_word") => "WordPiece",
        None if field.map()?.contains_key("merges") => "BPE",
        None => "WordLevel",
    };
    match kind {
        "WordPiece" => read_wordpiece(field).map(ModelSpec::WordPiece),
        "BPE" => read_char(field).map(ModelSpec::Char),
        _ => read_word(field).map(ModelSpec::Word),
    }
}

fn read_wordpiece(field: &Field) -> Result<WordPieceSpec, Error> {
    field.object(&[
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
        unk: field.find("unk")?.map_or(Ok(UnknownUnit::Word), |value| value.choice(&unk))?,
        segmentation: field
            .find("segmentation")?
            .map_or(Ok(Segmentation::Greedy), |value| value.choice(&segmentation))?,
    })
}

fn read_word(field: &Field) -> Result<WordSpec, Error> {
    field.object(&["type", "vocab", "unk_token"])?;
    Ok(WordSpec {
        vocab: read_vocab(&field.get("vocab")?)?,
        unk_token: field.get("unk_token")?.text()?.to_owned(),
    })
}

/// A BPE model without merges makes every character a token.
fn read_char(field: &Field) -> Result<CharSpec, Error> {
    field.object(&[
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
    ])?;
    let merges = field.get("merges")?;
    if !merges.array()?.is_empty() {
        return Err(merges.error("no merges: of BPE only the character model is known"));
    }
    for name in ["fuse_unk", "byte_fallback", "ignore_merges"] {
        let set = field.find(name)?.filter(|value| !matches!(value.flag(), Ok(false)));
        if let Some(value) = set {
            return Err(value.error("false in a character model"));
        }
    }
    for name in ["dropout", "continuing_subword_prefix", "end_of_word_suffix"] {
        if let Some(value) = field.find(name)? {
            return Err(value.error("null in a character model"));
        }
    }
    Ok(CharSpec {
        vocab: read_vocab(&field.get("vocab")?)?,
        unk_token: field.get("unk_token")?.text()?.to_owned(),
    })
}

fn read_vocab(field: &Field) -> Result<VocabSpec, Error> {
    field.members()?.into_iter().map(|(token, id)| Ok((token.to_owned(), id.id()?))).collect()
}
