//! Small models of SentencePiece for tests.

use proptest::prelude::*;

use crate::model::bpe::ScoredBpe;
use crate::model::unigram::UnigramF32;
use crate::model::{Model, ModelScratch, TokenSpan};
use crate::spec::{ModelSpec, PieceType, ScoredPiece, SentencePieceKind, SentencePieceSpec};
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

pub(in crate::model) const SPACE: &str = "\u{2581}";
pub(in crate::model) const NORMAL: PieceType = PieceType::Normal;

/// Return a model of these pieces, after the unknown one.
pub(in crate::model) fn spec(
    kind: SentencePieceKind,
    pieces: &[(&str, f32, PieceType)],
) -> SentencePieceSpec {
    let unknown = ("<unk>", 0.0, PieceType::Unknown);
    let all = std::iter::once(&unknown).chain(pieces);
    SentencePieceSpec {
        kind,
        pieces: all.map(|&(text, score, kind)| ScoredPiece { text: text.into(), score, kind }).collect(),
        ..SentencePieceSpec::default()
    }
}

/// Pieces of letters, with scores that make ties and near ties, and whether a metaspace comes first.
pub(in crate::model) fn any_pieces() -> impl Strategy<Value = Vec<(String, f32, bool)>> {
    let text = prop::collection::vec(prop::sample::select(vec!["a", "b", "\u{e9}"]), 1..4)
        .prop_map(|parts| parts.concat());
    let score = prop_oneof![
        (-40i32..1).prop_map(|quarter| quarter as f32 / 4.0),
        (-1000f32..0.0),
        (-1.001f32..-1.0),
    ];
    prop::collection::vec((text, score, any::<bool>()), 1..12)
}

pub(in crate::model) fn random_spec(
    kind: SentencePieceKind,
    pieces: Vec<(String, f32, bool)>,
) -> SentencePieceSpec {
    let mut all = spec(kind, &[(SPACE, -2.0, NORMAL)]);
    for (text, score, follows_space) in pieces {
        let text = if follows_space { format!("{SPACE}{text}") } else { text };
        if all.pieces.iter().all(|piece| piece.text != text) {
            all.pieces.push(ScoredPiece { text, score, kind: NORMAL });
        }
    }
    all
}

/// Compile a model with its vocabulary.
pub(in crate::model) fn compiled(spec: &SentencePieceSpec) -> (Model, Vocab) {
    let spec = ModelSpec::SentencePiece(spec.clone());
    let vocab = Vocab::of_model(&spec).unwrap();
    (Model::compile(&spec, &vocab, &TableSections::default()).unwrap(), vocab)
}

/// Compile a BPE model and build all its tables.
pub(in crate::model) fn scored_bpe(spec: &SentencePieceSpec) -> (ScoredBpe, Vocab) {
    match compiled(spec) {
        (Model::ScoredBpe(model), vocab) => {
            model.store(&vocab, &mut TableSections::default());
            (*model, vocab)
        }
        _ => panic!("no BPE model"),
    }
}

/// Compile a Unigram model.
pub(in crate::model) fn unigram(spec: &SentencePieceSpec) -> UnigramF32 {
    match compiled(spec) {
        (Model::UnigramF32(model), _) => *model,
        _ => panic!("no Unigram model"),
    }
}

/// Return the tokens of a text, which are the same before and after tables are built late.
pub(in crate::model) fn segmented(spec: &SentencePieceSpec, text: &str) -> Vec<TokenSpan> {
    let (model, vocab) = compiled(spec);
    let (mut first, mut out): (Vec<TokenSpan>, Vec<TokenSpan>) = Default::default();
    model.run(text, &vocab, &mut ModelScratch::default(), &mut first);
    model.store(&vocab, &mut TableSections::default());
    model.run(text, &vocab, &mut ModelScratch::default(), &mut out);
    assert_eq!(first, out, "before and after the tables are built");
    out
}

/// Return the texts that the tokens of a text cover.
pub(in crate::model) fn texts(spec: &SentencePieceSpec, text: &str) -> Vec<String> {
    let covered = |token: TokenSpan| text[token.start as usize..token.end as usize].to_owned();
    segmented(spec, text).into_iter().map(covered).collect()
}
