//! A model as table sections: settings as JSON, entries as ids, merges as pairs of ids, scores as floats.
//!
//! The tokens of the entries are those of the compiled vocabulary, which has sections of its own.

use piecework_core::error::{Error, ErrorKind};
use piecework_core::ranks::ranked_model;
use piecework_core::spec::{
    BpeSpec, CharSpec, MergeList, ModelSpec, PieceType, ScoredPiece, SentencePieceSpec, UnigramSpec,
    VocabSpec, WordPieceSpec, WordSpec,
};
use piecework_core::table_sections::{damaged, TableSections, MERGES, RANKS};
use piecework_core::vocab::Vocab;

use crate::json::all;
use crate::tokenizer_json::{read_model, write_model};

const MODEL: &str = "model";
const IDS: &str = "model.ids";
const UNK_ID: &str = "model.unk_id";
const SCORES: &str = "model.scores";
const PIECE_SCORES: &str = "model.piece_scores";
const PIECE_TYPES: &str = "model.piece_types";

/// Add the sections of a valid model: both tokens of every merge are entries.
///
/// The entries and merges of a model by ranks are those of its vocabulary.
pub(super) fn add(model: &ModelSpec, by_ranks: bool, sections: &mut TableSections) -> Result<(), Error> {
    sections.put(MODEL, &write_model(&settings_of(model)).into_bytes().into());
    match model {
        ModelSpec::Bpe(_) if by_ranks => return Ok(()),
        ModelSpec::Unigram(spec) => {
            let unk_id = spec.unk_id.map_or(vec![], |id| vec![id as u64]);
            sections.put(UNK_ID, &unk_id.into());
            sections.put(SCORES, &spec.vocab.iter().map(|(_, score)| *score).collect::<Vec<f64>>().into());
        }
        ModelSpec::SentencePiece(spec) => {
            let types = spec.pieces.iter().map(|piece| piece.kind as u8);
            sections.put(PIECE_TYPES, &types.collect::<Vec<u8>>().into());
            let scores = spec.pieces.iter().map(|piece| piece.score);
            sections.put(PIECE_SCORES, &scores.collect::<Vec<f32>>().into());
        }
        _ => {
            sections.put(IDS, &model.vocab().iter().map(|(_, id)| *id).collect::<Vec<u32>>().into());
        }
    }
    if let ModelSpec::Bpe(spec) = model {
        sections.put(MERGES, &merges_as_ids(spec)?.into());
    }
    Ok(())
}

/// Read the settings of a model, without its entries.
pub(super) fn settings(sections: &TableSections) -> Result<ModelSpec, Error> {
    read_model(&sections.get::<u8>(MODEL)?)
}

/// Return the model of these settings with the entries of its sections and its vocabulary.
pub(super) fn with_entries(
    settings: &ModelSpec,
    vocab: &Vocab,
    sections: &TableSections,
) -> Result<ModelSpec, Error> {
    let mut model = settings.clone();
    match &mut model {
        ModelSpec::Bpe(spec) if sections.has(RANKS) => *spec = ranked_model(spec, vocab),
        ModelSpec::WordPiece(WordPieceSpec { vocab: entries, .. })
        | ModelSpec::Word(WordSpec { vocab: entries, .. })
        | ModelSpec::Char(CharSpec { vocab: entries, .. }) => *entries = entries_of_ids(vocab, sections)?,
        ModelSpec::Bpe(spec) => {
            spec.vocab = entries_of_ids(vocab, sections)?;
            spec.merges = merges(vocab, sections)?;
        }
        ModelSpec::Unigram(spec) => {
            let scores = sections.get::<f64>(SCORES)?;
            check_len(SCORES, scores.len(), vocab)?;
            spec.vocab = listed(vocab, &scores)?;
            spec.unk_id = sections.get::<u64>(UNK_ID)?.first().map(|&id| id as usize);
        }
        ModelSpec::SentencePiece(spec) => spec.pieces = pieces(vocab, sections)?,
    }
    Ok(model)
}

/// Return the model without its entries.
fn settings_of(model: &ModelSpec) -> ModelSpec {
    let vocab = VocabSpec::new();
    match model {
        ModelSpec::WordPiece(spec) => ModelSpec::WordPiece(WordPieceSpec {
            vocab,
            unk_token: spec.unk_token.clone(),
            continuing_subword_prefix: spec.continuing_subword_prefix.clone(),
            ..*spec
        }),
        ModelSpec::Word(spec) => ModelSpec::Word(WordSpec { vocab, unk_token: spec.unk_token.clone() }),
        ModelSpec::Char(spec) => ModelSpec::Char(CharSpec { vocab, unk_token: spec.unk_token.clone() }),
        // A merge keeps a model without any from being read as one of characters.
        ModelSpec::Bpe(spec) => ModelSpec::Bpe(BpeSpec {
            vocab,
            merges: MergeList::from_iter([("", "")]),
            unk_token: spec.unk_token.clone(),
            continuing_subword_prefix: spec.continuing_subword_prefix.clone(),
            end_of_word_suffix: spec.end_of_word_suffix.clone(),
            ..*spec
        }),
        ModelSpec::Unigram(spec) => {
            ModelSpec::Unigram(UnigramSpec { vocab: Vec::new(), unk_id: None, ..*spec })
        }
        ModelSpec::SentencePiece(spec) => ModelSpec::SentencePiece(SentencePieceSpec {
            pieces: Vec::new(),
            bos_piece: spec.bos_piece.clone(),
            eos_piece: spec.eos_piece.clone(),
            pad_piece: spec.pad_piece.clone(),
            self_test: spec.self_test.clone(),
            rest: spec.rest.clone(),
            ..*spec
        }),
    }
}

fn merges_as_ids(spec: &BpeSpec) -> Result<Vec<[u32; 2]>, Error> {
    let vocab = Vocab::compile(&spec.vocab)?;
    let id_of = |token: &str| vocab.require(token, "model.merges");
    spec.merges.iter().map(|(left, right)| Ok([id_of(left)?, id_of(right)?])).collect()
}

fn merges(vocab: &Vocab, sections: &TableSections) -> Result<MergeList, Error> {
    let ids = sections.get::<[u32; 2]>(MERGES)?;
    let mut merges = MergeList::with_capacity(ids.len(), 0);
    for &[left, right] in ids.iter() {
        merges.push(token(vocab, left)?, token(vocab, right)?);
    }
    Ok(merges)
}

/// Return the entries in the order of the file they come from.
fn entries_of_ids(vocab: &Vocab, sections: &TableSections) -> Result<VocabSpec, Error> {
    let ids = sections.get::<u32>(IDS)?;
    check_ids(vocab, sections)?;
    all(ids.iter().map(|&id| Ok((token(vocab, id)?.to_owned(), id))))
}

/// Check that every id of the vocabulary is listed once; those of ranks are not listed.
pub(super) fn check_ids(vocab: &Vocab, sections: &TableSections) -> Result<(), Error> {
    if sections.has(RANKS) {
        return Ok(());
    }
    let ids = sections.get::<u32>(IDS)?;
    let mut is_listed = vec![false; vocab.id_bound()];
    let is_new =
        |&id: &u32| is_listed.get_mut(id as usize).is_some_and(|listed| !std::mem::replace(listed, true));
    if ids.len() != vocab.len() || !ids.iter().all(is_new) {
        return Err(damaged(IDS, format!("{} ids for {} entries", ids.len(), vocab.len())));
    }
    Ok(())
}

fn listed(vocab: &Vocab, scores: &[f64]) -> Result<Vec<(String, f64)>, Error> {
    all(scores.iter().enumerate().map(|(id, score)| Ok((token(vocab, id as u32)?.to_owned(), *score))))
}

/// Check that a list has a value for every id.
fn check_len(name: &str, len: usize, vocab: &Vocab) -> Result<(), Error> {
    if len == vocab.id_bound() {
        return Ok(());
    }
    Err(damaged(name, format!("{len} values for {} ids", vocab.id_bound())))
}

fn pieces(vocab: &Vocab, sections: &TableSections) -> Result<Vec<ScoredPiece>, Error> {
    let (scores, types) = (sections.get::<f32>(PIECE_SCORES)?, sections.get::<u8>(PIECE_TYPES)?);
    let piece = |(id, (&score, &kind)): (usize, (&f32, &u8))| {
        let known = PieceType::ALL.get(usize::from(kind));
        let kind = *known.ok_or_else(|| damaged(PIECE_TYPES, kind.to_string()))?;
        Ok(ScoredPiece { text: token(vocab, id as u32)?.to_owned(), score, kind })
    };
    check_len(PIECE_SCORES, scores.len(), vocab)?;
    check_len(PIECE_TYPES, types.len(), vocab)?;
    all(scores.iter().zip(types.iter()).enumerate().map(piece))
}

fn token(vocab: &Vocab, id: u32) -> Result<&str, Error> {
    let token = vocab.token_of(id);
    token.ok_or_else(|| Error::new(ErrorKind::Format, MODEL, format!("id {id}"), "the id of an entry"))
}
