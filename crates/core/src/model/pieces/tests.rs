use super::test_models::{segmented, spec, texts, NORMAL, SPACE};
use super::*;
use crate::spec::{ScoredPiece, SentencePieceKind};

#[test]
fn user_defined_pieces_are_never_split() {
    for kind in [SentencePieceKind::Unigram, SentencePieceKind::Bpe, SentencePieceKind::Char] {
        let pieces = [("<a>", 0.0, PieceType::UserDefined), ("<", -1.0, NORMAL), ("<a", -0.5, NORMAL)];
        assert_eq!(texts(&spec(kind, &pieces), "<a>"), ["<a>"]);
    }
}

#[test]
fn words_begin_with_their_space() {
    let spec = spec(SentencePieceKind::Word, &[("\u{2581}a", -1.0, NORMAL), (SPACE, -1.0, NORMAL)]);
    assert_eq!(texts(&spec, "\u{2581}a\u{2581}\u{2581}b"), ["\u{2581}a", SPACE, "\u{2581}b"]);
}

#[test]
fn the_last_byte_token_covers_the_unknown_character() {
    let names: Vec<String> = (0..=255).map(|byte| format!("<0x{byte:02X}>")).collect();
    let mut spec = spec(SentencePieceKind::Unigram, &[("a", -1.0, NORMAL)]);
    spec.byte_fallback = true;
    let byte = |name: &String| ScoredPiece { text: name.clone(), score: 0.0, kind: PieceType::Byte };
    spec.pieces.extend(names.iter().map(byte));
    let ids: Vec<u32> = segmented(&spec, "\u{e9}a").iter().map(|token| token.id).collect();
    assert_eq!(ids, [2 + 0xC3, 2 + 0xA9, 1]);
    assert_eq!(texts(&spec, "\u{e9}a"), ["", "\u{e9}", "a"]);
}

#[test]
fn invalid_pieces_are_refused() {
    let refused = |edit: fn(&mut SentencePieceSpec)| {
        let mut spec = spec(SentencePieceKind::Unigram, &[("a", -1.0, NORMAL)]);
        edit(&mut spec);
        checks::check(&spec).unwrap_err().to_string()
    };
    assert!(refused(|spec| spec.pieces[1].score = f32::NAN).starts_with("model.pieces[1]: found score NaN"));
    assert!(
        refused(|spec| spec.pieces[1].text.clear()).starts_with("model.pieces[1]: found an empty piece")
    );
    assert!(refused(|spec| drop(spec.pieces.remove(0))).starts_with("model.pieces: found no unknown piece"));
    assert!(refused(|spec| spec.byte_fallback = true).contains("no byte piece <0x00>"));
    assert!(refused(|spec| spec.pieces[1].kind = PieceType::Byte).contains("no byte_fallback"));
    assert!(refused(|spec| spec.pieces[1].kind = PieceType::Unknown).contains("as [0] is"));
}
