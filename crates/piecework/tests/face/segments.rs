//! Segments of prompts: permissions, borders, markers, models that make special tokens themselves.

use piecework::{ErrorKind, Tokenizer};
use piecework_core::spec::{
    AddedToken, CharSpec, ModelSpec, NormalizerSpec, ParseSpecial, PieceType, ScoredPiece,
    SentencePieceNormalizerSpec, SentencePieceSpec, TokenizerSpec, UnigramSpec,
};
use piecework_formats::piecework_file;

/// Load a specification.
fn load(spec: &TokenizerSpec) -> Tokenizer {
    Tokenizer::from_bytes(piecework_file::write(spec, ParseSpecial::All)).expect("a tokenizer")
}

fn chars(added_tokens: Vec<AddedToken>) -> Tokenizer {
    let entries = ["[UNK]", "a", "b", "<", "e", ">"];
    let vocab = entries.iter().zip(0..).map(|(entry, id)| ((*entry).to_owned(), id)).collect();
    let model = ModelSpec::Char(CharSpec { vocab, unk_token: "[UNK]".into() });
    load(&TokenizerSpec { added_tokens, ..TokenizerSpec::of(model) })
}

fn ids<'t>(tokenizer: &Tokenizer, segments: impl IntoIterator<Item = (&'t str, bool)>) -> Vec<u32> {
    tokenizer.encode_segments(segments).expect("an encoding").ids().to_vec()
}

#[test]
fn special_tokens_match_inside_one_permitted_segment() {
    let tokenizer = chars(vec![AddedToken::special("<e>", 6)]);
    assert_eq!(ids(&tokenizer, [("a<e>", true), ("<e>", false)]), [1, 6, 3, 4, 5]);
    assert_eq!(ids(&tokenizer, [("<e", true), (">", true)]), [3, 4, 5], "across a border");
    assert_eq!(ids(&tokenizer, [("\u{E9}", false), ("<e>", true), ("", true)]), [0, 6]);
    assert_eq!(ids(&tokenizer, []), [0_u32; 0]);
    let spans = tokenizer.encode_segments([("ab", false), ("", true), ("<e>", true)]).unwrap();
    assert_eq!(spans.token_spans(), [0..2, 2..2, 2..3]);
}

#[test]
fn whitespace_around_a_token_is_not_its_text() {
    let token = AddedToken { lstrip: true, rstrip: true, ..AddedToken::special("<e>", 6) };
    let tokenizer = chars(vec![token]);
    assert_eq!(ids(&tokenizer, [("<e>", true), (" a", false)]), [6, 1]);
    assert_eq!(ids(&tokenizer, [(" <e> ", true), ("a", false)]), [6, 1]);
}

#[test]
fn markers_are_guarded_and_other_added_tokens_match_everywhere() {
    let token = |content: &str, id| AddedToken { special: false, ..AddedToken::special(content, id) };
    let tokenizer = chars(vec![token("<e>", 6), token("ab", 7), token("  ", 8)]);
    let segments = [("ab<e>  ", false)];
    assert_eq!(ids(&tokenizer, segments), [1, 2, 3, 4, 5, 8]);
    let marked = |marker: &str| tokenizer.encode_segments_with_markers(segments, [marker]);
    assert_eq!(marked("<e>").unwrap().ids(), [7, 3, 4, 5, 8]);
    assert_eq!(tokenizer.encode_segments_with_markers(segments, [""; 0]).unwrap().ids(), [7, 6, 8]);
    let error = marked("b").unwrap_err();
    assert_eq!((error.kind(), error.place()), (ErrorKind::Argument, "markers"));
}

#[test]
fn a_unigram_model_leaves_out_pieces_with_the_names_of_special_tokens() {
    let pieces = [("<unk>", 0.0), ("</s>", -1.0), ("<", -2.0), ("/", -2.0), ("s", -2.0), (">", -2.0)];
    let vocab = pieces.iter().map(|&(piece, score)| (piece.to_owned(), score)).collect();
    let model = ModelSpec::Unigram(UnigramSpec { vocab, unk_id: Some(0), byte_fallback: false });
    let tokenizer = load(&TokenizerSpec::of(model));
    assert_eq!(tokenizer.encode_ids("</s>").unwrap(), [1], "the piece is text to the model");
    assert_eq!(ids(&tokenizer, [("</s>", false), ("</s>", true)]), [2, 3, 4, 5, 1]);
}

#[test]
fn another_model_that_makes_a_special_token_is_an_error() {
    let tokenizer = chars(vec![AddedToken::special("a", 1)]);
    let error = tokenizer.encode_segments([("b", true), ("ba", false)]).unwrap_err();
    assert_eq!((error.kind(), error.place()), (ErrorKind::SpecialToken, "segments"));
    assert!(error.to_string().contains("the token \"a\""), "{error}");
    assert_eq!(ids(&tokenizer, [("ba", true)]), [2, 1]);
}

#[test]
fn a_prompt_has_one_dummy_prefix_and_control_pieces() {
    let piece = |(text, kind): (&str, PieceType)| ScoredPiece { text: text.into(), score: -1.0, kind };
    let pieces = [
        ("<unk>", PieceType::Unknown),
        ("<s>", PieceType::Control),
        ("\u{2581}a", PieceType::Normal),
        ("a", PieceType::Normal),
    ];
    let model = SentencePieceSpec { pieces: pieces.map(piece).to_vec(), ..SentencePieceSpec::default() };
    let normalizer = SentencePieceNormalizerSpec {
        charsmap: Vec::new(),
        add_dummy_prefix: true,
        remove_extra_whitespaces: false,
        escape_whitespaces: true,
        treat_whitespace_as_suffix: false,
        user_defined_symbols: Vec::new(),
    };
    let spec = TokenizerSpec {
        normalizer: Some(NormalizerSpec::SentencePiece(normalizer)),
        ..TokenizerSpec::of(ModelSpec::SentencePiece(model))
    };
    let tokenizer = load(&spec);
    assert_eq!(ids(&tokenizer, [("a<s>", true), ("a", false)]), [2, 1, 3]);
    assert_eq!(ids(&tokenizer, [("a", false)]), [2]);
}
