//! Expected values are those of tokenizers 0.23.3.

use super::*;
use crate::encoding::{Encoding, Token};
use crate::spec::{ByteLevelSpec, PostProcessorSpec, TemplatePiece, TemplateSpec, TemplateToken};

fn bert() -> PostProcessorSpec {
    PostProcessorSpec::Bert { sep: ("[SEP]".into(), 2), cls: ("[CLS]".into(), 1) }
}

fn roberta(trim_offsets: bool, add_prefix_space: bool) -> PostProcessorSpec {
    let (sep, cls) = (("</s>".into(), 2), ("<s>".into(), 1));
    PostProcessorSpec::Roberta { sep, cls, trim_offsets, add_prefix_space }
}

fn byte_level(add_prefix_space: bool) -> PostProcessorSpec {
    PostProcessorSpec::ByteLevel(ByteLevelSpec { add_prefix_space, trim_offsets: true, use_regex: true })
}

fn template(single: Vec<TemplatePiece>, pair: Vec<TemplatePiece>) -> PostProcessorSpec {
    let token = TemplateToken { name: "X".into(), ids: vec![3, 4], tokens: vec!["x".into(), "y".into()] };
    PostProcessorSpec::Template(TemplateSpec { single, pair, special_tokens: vec![token] })
}

fn framed(spec: &PostProcessorSpec, second: Option<&[u32]>, specials: bool) -> (Vec<u32>, Vec<u32>) {
    let processor = PostProcessor::compile(Some(spec)).unwrap();
    let (mut ids, mut type_ids) = (Vec::new(), Vec::new());
    processor.frame_ids(&[10, 11], second, specials, |run, type_id| {
        ids.extend(run);
        type_ids.extend(run.iter().map(|_| type_id));
    });
    (ids, type_ids)
}

#[test]
fn bert_and_roberta_frame_pairs() {
    let pair = Some([20].as_slice());
    assert_eq!(framed(&bert(), pair, true), (vec![1, 10, 11, 2, 20, 2], vec![0, 0, 0, 0, 1, 1]));
    assert_eq!(framed(&bert(), pair, false), (vec![10, 11, 20], vec![0, 0, 1]));
    assert_eq!(framed(&roberta(true, true), pair, true), (vec![1, 10, 11, 2, 2, 20, 2], vec![0; 7]));
    assert_eq!(framed(&roberta(true, true), pair, false), (vec![10, 11, 20], vec![0; 3]));
    let processor = PostProcessor::compile(Some(&roberta(true, true))).unwrap();
    assert_eq!((processor.inserted(false), processor.inserted(true)), (2, 4));
    assert!(!processor.has_type_ids(true));
    let processor = PostProcessor::compile(Some(&bert())).unwrap();
    assert!(processor.has_type_ids(true) && !processor.has_type_ids(false));
}

#[test]
fn type_ids_of_special_tokens_and_of_rows_without_them_count() {
    use TemplatePiece::{Sequence, Special};
    let has_type_ids = |single: Vec<TemplatePiece>| {
        let pair = vec![Sequence(0, 0), Sequence(1, 0)];
        let processor = PostProcessor::compile(Some(&template(single, pair))).unwrap();
        [processor.has_type_ids(false), processor.has_type_ids(true)]
    };
    assert_eq!(has_type_ids(vec![Sequence(0, 0), Special("X".into(), 0)]), [false, false]);
    assert_eq!(has_type_ids(vec![Sequence(0, 0), Special("X".into(), 1)]), [true, false]);
    assert_eq!(has_type_ids(vec![Sequence(0, 1)]), [true, false]);
}

#[test]
fn a_frame_is_the_ids_around_a_single_sequence() {
    use TemplatePiece::{Sequence, Special};
    let frame = |spec: &PostProcessorSpec, specials: bool| {
        let processor = PostProcessor::compile(Some(spec)).unwrap();
        let frame = processor.frame_of_one(specials)?;
        Some((frame.before.clone(), frame.after.clone()))
    };
    assert_eq!(frame(&bert(), true), Some((vec![1], vec![2])));
    assert_eq!(frame(&bert(), false), Some((vec![], vec![])));
    let pair = vec![Sequence(0, 0), Sequence(1, 0)];
    let around =
        template(vec![Special("X".into(), 0), Sequence(0, 0), Special("X".into(), 0)], pair.clone());
    assert_eq!(frame(&around, true), Some((vec![3, 4], vec![3, 4])));
    assert_eq!(frame(&template(vec![Sequence(0, 0), Sequence(0, 0)], pair), true), None);
    assert_eq!(
        PostProcessor::compile(None).unwrap().frame_of_one(true).map(|frame| frame.before.clone()),
        Some(vec![])
    );
}

#[test]
fn each_post_processor_of_a_sequence_gets_the_last_result() {
    use TemplatePiece::{Sequence, Special};
    let sandwich =
        template(vec![Special("X".into(), 1), Sequence(0, 0)], vec![Sequence(0, 0), Sequence(1, 3)]);
    let both = PostProcessorSpec::Sequence(vec![byte_level(true), sandwich.clone(), bert()]);
    // The template makes two encodings of one sequence: each gets its separator.
    assert_eq!(framed(&both, None, true), (vec![1, 3, 4, 2, 10, 11, 2], vec![0, 1, 1, 0, 0, 0, 1]));
    assert_eq!(PostProcessor::compile(Some(&both)).unwrap().inserted(false), 5);
    let twice = PostProcessorSpec::Sequence(vec![sandwich.clone(), sandwich]);
    assert_eq!(framed(&twice, None, true), (vec![3, 4, 10, 11], vec![0, 0, 3, 3]));
    assert_eq!(framed(&twice, None, false), (vec![10, 11], vec![0, 0]));
}

#[test]
fn invalid_templates_are_refused() {
    use TemplatePiece::{Sequence, Special};
    let place = |spec: &PostProcessorSpec| PostProcessor::compile(Some(spec)).unwrap_err().place;
    let pair = vec![Sequence(0, 0), Sequence(1, 1)];
    assert_eq!(place(&template(vec![Sequence(1, 0)], pair.clone())), "post_processor.single");
    assert_eq!(place(&template(vec![Sequence(0, 256)], pair.clone())), "post_processor.single[0]");
    let undefined = vec![Sequence(0, 0), Special("Y".into(), 0)];
    assert_eq!(place(&template(undefined, pair.clone())), "post_processor.single[1]");
    let three = template(vec![Sequence(0, 0), Sequence(0, 0), Sequence(0, 0)], pair);
    let place = place(&PostProcessorSpec::Sequence(vec![three.clone(), three]));
    assert_eq!(place, "post_processor.processors[1]");
}

/// Trimmed spans of tokens given with their text and span.
fn trimmed(spec: &PostProcessorSpec, tokens: &[(&'static str, u32, u32)]) -> Vec<(u32, u32)> {
    let token = |(id, &(_, start, end)): (usize, &(&str, u32, u32))| Token {
        start,
        end,
        sequence: 0,
        word: 0,
        special: false,
        ..Token::inserted(id as u32, 0, true)
    };
    let encoding = Encoding::new(tokens.iter().enumerate().map(token).collect());
    let texts: Vec<&'static str> = tokens.iter().map(|token| token.0).collect();
    let processor = PostProcessor::compile(Some(spec)).unwrap();
    let framed =
        processor.frame(vec![encoding], false, |token| EdgeSpaces::of(texts[token.id as usize])).unwrap();
    framed.tokens.iter().map(|token| (token.start, token.end)).collect()
}

#[test]
fn trimming_excludes_spaces_but_not_the_added_one() {
    let tokens = [("Ġa", 0, 1), ("Ġb", 1, 3), ("ĠĠ", 3, 5), ("ĊcĠ\n", 5, 9), ("ĠĠd", 9, 12)];
    let spans = [(0, 1), (2, 3), (5, 5), (5, 7), (11, 12)];
    assert_eq!(trimmed(&byte_level(true), &tokens), spans);
    let without = [(1, 1), (2, 3), (5, 5), (5, 7), (11, 12)];
    assert_eq!(trimmed(&byte_level(false), &tokens), without);
    assert_eq!(trimmed(&roberta(true, false), &tokens), without);
    assert_eq!(trimmed(&roberta(false, false), &tokens), tokens.map(|(_, start, end)| (start, end)));
}

#[test]
fn trimmed_spaces_are_those_of_each_text() {
    let text = "x <m> \t\u{3000} \u{3000}y \t";
    let after = text.find('>').unwrap() + 1;
    let (blank, end) = (text.find('y').unwrap(), text.len());
    let mut reader = EdgeSpaceReader::default();
    let tokens = [
        (1, blank),
        (after + 1, blank),
        (after + 1, after + 2),
        (after + 2, blank),
        (blank, end),
        (end - 1, end),
    ];
    for (start, end) in tokens {
        assert_eq!(reader.read(text, start, end), EdgeSpaces::of(&text[start..end]), "{start} {end}");
    }
}

#[test]
fn windows_are_combined_up_to_a_limit() {
    let tokens = vec![Token::inserted(7, 0, true); 1 << 10];
    let mut long = Encoding::new(tokens);
    long.truncate(1 << 9, (1 << 9) - 1, crate::spec::Direction::Right);
    let processor = PostProcessor::compile(None).unwrap();
    let frame = |sequences: Vec<Encoding>| processor.frame(sequences, true, |_| EdgeSpaces::of(""));
    assert_eq!(frame(vec![long.clone()]).unwrap().overflowing.len(), 512);
    assert_eq!(frame(vec![long.clone(), long]).unwrap_err().place, "truncation");
}

#[test]
fn too_many_processors_or_pieces_are_rejected() {
    let many = |spec: PostProcessorSpec, count| PostProcessorSpec::Sequence(vec![spec; count]);
    assert!(PostProcessor::compile(Some(&many(byte_level(true), 1024))).is_ok());
    let doubling = template(vec![TemplatePiece::Sequence(0, 0); 2], vec![TemplatePiece::Sequence(0, 0); 2]);
    let pieces = template(vec![TemplatePiece::Special("X".into(), 0); 5000], Vec::new());
    for spec in [many(byte_level(true), 1025), many(bert(), 300_000), many(doubling, 40), pieces] {
        let error = PostProcessor::compile(Some(&spec)).map(|_| ()).unwrap_err();
        assert!(error.place.starts_with("post_processor"), "{}", error.place);
    }
}
