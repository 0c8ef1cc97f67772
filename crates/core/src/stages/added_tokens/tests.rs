use super::*;

fn token(content: &str, id: u32) -> AddedToken {
    AddedToken {
        id,
        content: content.into(),
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: true,
    }
}

fn compiled(tokens: &[AddedToken]) -> AddedTokens {
    AddedTokens::compile(tokens, |text| Ok(text.to_lowercase())).unwrap()
}

fn split_by(tokens: &[AddedToken], selector: &Selector, text: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    segments.extend(compiled(tokens).raw_segments(text, selector));
    segments
}

fn split(tokens: &[AddedToken], text: &str) -> Vec<Segment> {
    split_by(tokens, &Selector::All, text)
}

use Segment::{Text, Token};

#[test]
fn the_leftmost_longest_token_matches() {
    let tokens = [token("[A]", 1), token("[A][B]", 2)];
    assert_eq!(split(&tokens, "x[A][B]"), [Text(0, 1), Token(2, 1, 7)]);
}

#[test]
fn lstrip_rstrip_and_single_word_are_applied() {
    let stripping = AddedToken { lstrip: true, rstrip: true, ..token("<m>", 1) };
    assert_eq!(split(&[stripping], "a <m> b"), [Text(0, 1), Token(1, 1, 6), Text(6, 7)]);
    let whole = AddedToken { single_word: true, ..token("ab", 1) };
    assert_eq!(split(std::slice::from_ref(&whole), "abc"), [Text(0, 3)]);
    // A superscript is no word character, a letter number is one.
    assert_eq!(split(std::slice::from_ref(&whole), "ab²"), [Token(1, 0, 2), Text(2, 4)]);
    assert_eq!(split(&[whole], "abⅷ"), [Text(0, 5)]);
}

#[test]
fn a_token_within_stripped_whitespace_is_found() {
    let tokens = [AddedToken { rstrip: true, ..token("<m>", 1) }, token("  ", 2)];
    assert_eq!(
        split(&tokens, "<m>   x"),
        [Token(1, 0, 6), Token(2, 3, 5), Text(5, 7)],
        "as tokenizers gives it"
    );
    let both = [tokens[0].clone(), AddedToken { lstrip: true, ..token(" ", 2) }];
    assert_eq!(split(&both, "<m>  x"), [Token(1, 0, 5), Text(5, 6)], "but not one that swallows it too");
}

#[test]
fn whitespace_between_stripping_tokens_is_read_once() {
    let count = 1 << 20;
    let expected = |at| if at % 2 == 0 { Token(1, at, count) } else { Token(2, at, at + 1) };
    for lstrip in [false, true] {
        let tokens = [AddedToken { lstrip, rstrip: true, ..token(" ", 1) }, token("\t", 2)];
        let segments = split(&tokens, &" \t".repeat(count / 2));
        assert_eq!(segments, (0..count).map(expected).collect::<Vec<_>>());
    }
}

#[test]
fn a_token_that_is_not_parsed_is_text_and_hides_no_other() {
    let ordinary = AddedToken { special: false, ..token("[A", 3) };
    let tokens = [token("[A]", 1), token("[A][B]", 2), ordinary, token("]", 4)];
    assert_eq!(split_by(&tokens, &Selector::only(vec![]), "[A][B]"), [Token(3, 0, 2), Text(2, 6)]);
    assert_eq!(
        split_by(&tokens, &Selector::only(vec![1]), "[A][B]"),
        [Token(1, 0, 3), Text(3, 6)],
        "the longest of those recognised"
    );
    assert_eq!(
        split_by(&tokens, &Selector::only(vec![4]), "[A][B]"),
        [Token(3, 0, 2), Token(4, 2, 3), Text(3, 5), Token(4, 5, 6)]
    );
}

#[test]
fn normalized_tokens_match_in_normalized_text() {
    let normalized = |content, id| AddedToken { normalized: true, ..token(content, id) };
    let special = compiled(&[normalized("Foo", 1), normalized("FOO", 2), token("foo", 3)]);
    let mut segments = Vec::new();
    segments.extend(special.normalized_segments("a foo", &Selector::All));
    assert_eq!(segments, [Text(0, 2), Token(1, 2, 5)], "the first of two with the same form");
    segments.clear();
    segments.extend(special.normalized_segments("foo", &Selector::only(vec![2])));
    assert_eq!(segments, [Token(2, 0, 3)]);
    assert!(special.has_normalized());
    assert_eq!((special.normalized_form(2), special.normalized_form(3)), (Some("foo"), None));
}

#[test]
fn positions_do_not_matter_where_no_token_matches_normalized_text() {
    let raw_only = compiled(&[token("foo", 1)]);
    let selector = Selector::within(vec![(0, 1)], Vec::new()).unwrap();
    assert_eq!(raw_only.normalized_segments("foo", &selector).collect::<Vec<_>>(), [Text(0, 3)]);
}

#[test]
fn duplicate_and_huge_tokens_are_refused() {
    let compile = |tokens: &[AddedToken]| AddedTokens::compile(tokens, |text| Ok(text.into()));
    assert!(compile(&[token("a", 1), token("a", 2)]).is_err());
    assert!(compile(&[token("", 1)]).is_err());
    assert!(compile(&[token(&"a".repeat(1025), 1)]).is_err());
}

#[test]
fn tokens_match_within_permitted_spans_only() {
    let tokens = [token("[A]", 1), token("[A][B]", 2), token("]", 4)];
    let within = |spans: &[(u32, u32)], text| {
        split_by(&tokens, &Selector::within(spans.to_vec(), vec![]).unwrap(), text)
    };
    assert_eq!(within(&[(0, 3)], "[A][B]"), [Token(1, 0, 3), Text(3, 6)], "the longest within one span");
    assert_eq!(within(&[(0, 2), (2, 3)], "[A]"), [Text(0, 2), Token(4, 2, 3)], "not across two spans");
    assert_eq!(within(&[(3, 7)], "[A]x[A]"), [Text(0, 4), Token(1, 4, 7)]);
    assert_eq!(within(&[], "[A]"), [Text(0, 3)]);
    let everywhere = Selector::within(vec![], vec![4]).unwrap();
    assert_eq!(split_by(&tokens, &everywhere, "[A]"), [Text(0, 2), Token(4, 2, 3)]);
    for spans in [[(0, 3), (2, 4)], [(3, 4), (0, 3)], [(0, 1), (3, 2)]] {
        assert!(Selector::within(spans.to_vec(), vec![]).is_err());
    }
}

#[test]
fn tokens_of_normalized_text_are_permitted_by_their_source() {
    use crate::text::NormalizedSink;

    let added = compiled(&[AddedToken { normalized: true, ..token("ab", 1) }]);
    let mut text = Aligned::default();
    text.push_unchanged("ab", 10);
    text.push_unchanged("ab", 20);
    let mut segments = Vec::new();
    let selector = Selector::within(vec![(20, 22)], vec![]).unwrap();
    segments.extend(added.aligned_segments(&text, &selector));
    assert_eq!(segments, [Text(0, 2), Token(1, 2, 4)]);
}
