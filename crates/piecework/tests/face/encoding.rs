//! Encodings, batches and streams of one tokenizer agree with each other.

use std::borrow::Cow;

use piecework::{
    DecodeOptions, EncodeInput, EncodeOptions, ErrorKind, OffsetUnit, Padding, ParseSpecial, Tokenizer,
    Truncation,
};

const TEXTS: [&str; 5] = ["to be", "", "bes \u{E9}\u{1F917} to", "[SEP] be", "be\u{4E2D}be"];

fn tokenizer() -> Tokenizer {
    let file = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nto\nbe\n##s\ne\n中\n";
    Tokenizer::from_bytes(file.as_bytes()).expect("a vocabulary")
}

#[test]
fn handles_are_shared_between_threads() {
    fn check<T: Clone + Send + Sync + 'static>() {}
    check::<Tokenizer>();
    check::<piecework::Encoding>();
    check::<piecework::Error>();
    let tokenizer = tokenizer();
    let expected = TEXTS.map(|text| tokenizer.encode(text).unwrap());
    let encodes = || {
        for _ in 0..50 {
            assert_eq!(TEXTS.map(|text| tokenizer.encode(text).unwrap()), expected);
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(encodes))));
    let other = tokenizer.clone();
    let in_thread = std::thread::spawn(move || other.encode(TEXTS[0]).unwrap());
    assert_eq!(in_thread.join().unwrap(), expected[0]);
}

#[test]
fn borrowed_and_owned_inputs_give_the_same_ids() {
    let tokenizer = tokenizer();
    let (text, pair) = ("to be".to_owned(), "be".to_owned());
    let cow: Cow<'_, str> = Cow::Borrowed("to be");
    let ids = |input: EncodeInput<'_>| tokenizer.encode(input).unwrap().ids().to_vec();
    let alone = ids("to be".into());
    for input in [(&text).into(), text.clone().into(), (&cow).into(), cow.clone().into(), (&"to be").into()]
    {
        assert_eq!(ids(input), alone);
    }
    let both = ids(("to be", "be").into());
    let owned = (text.clone(), pair.clone());
    for input in [(&owned).into(), owned.clone().into(), (&text, "be").into(), (cow.clone(), pair).into()] {
        assert_eq!(ids(input), both);
    }
    assert_eq!(ids((&("to be", "be")).into()), both);
    assert_eq!(ids(EncodeInput::words(&[text.as_str()]).with_pair(owned.1)), both);
    assert_eq!(ids(EncodeInput::words(&["to".to_owned(), "be".to_owned()])), alone);
    let rows = [&text, &text];
    assert_eq!(
        tokenizer.encode_batch(rows).unwrap(),
        tokenizer.encode_batch([text.clone(), text.clone()]).unwrap()
    );
    assert_eq!(tokenizer.count_batch(vec![text.clone(); 2]).unwrap(), [alone.len(); 2]);
}

#[test]
fn tokens_are_found_by_bytes_and_words() {
    let text = "\u{E9} bes be";
    let encoding = tokenizer().encode((text, "be to")).unwrap();
    let tokens: Vec<_> = encoding.tokens().collect();
    assert_eq!(tokens, ["[CLS]", "e", "be", "##s", "be", "[SEP]", "be", "to", "[SEP]"]);
    let found = [0, 1, 2, 3, 5, 6, 9].map(|byte| encoding.char_to_token(byte, 0));
    assert_eq!(found, [Some(1), Some(1), None, Some(2), Some(3), None, None]);
    assert_eq!([encoding.char_to_token(3, 1), encoding.char_to_token(0, 2)], [Some(7), None]);
    assert_eq!([encoding.char_to_word(5, 0), encoding.char_to_word(2, 0)], [Some(1), None]);
    assert_eq!([1, 3].map(|word| encoding.word_to_tokens(word, 0)), [Some(2..4), None]);
    assert_eq!(encoding.word_to_tokens(1, 1), Some(7..8));
    assert_eq!([1, 3].map(|word| encoding.word_to_chars(word, 0)), [Some((3, 6)), None]);
    assert_eq!(&text[3..6], "bes");
}

#[test]
fn every_call_gives_the_same_ids() {
    let tokenizer = tokenizer();
    let options = EncodeOptions::new().offsets(true).num_threads(3);
    let batch = tokenizer.encode_batch_with(TEXTS, &options).unwrap();
    let counts = tokenizer.count_batch(TEXTS).unwrap();
    for (row, text) in TEXTS.into_iter().enumerate() {
        let encoding = tokenizer.encode(text).unwrap();
        assert_eq!(encoding.ids(), batch.row(row));
        assert_eq!(encoding.ids(), tokenizer.encode_ids(text).unwrap());
        assert_eq!([encoding.len(), counts[row]], [tokenizer.count(text).unwrap(); 2]);
        assert_eq!(encoding.offsets(), &batch.offsets().unwrap()[batch.range(row)]);
        let word_ids = encoding.word_ids().iter().map(|word| word.map_or(-1, |word| word as i32));
        assert_eq!(word_ids.collect::<Vec<_>>(), batch.word_ids().unwrap()[batch.range(row)]);
    }
}

#[test]
fn offsets_are_bytes_of_the_text() {
    let text = TEXTS[2];
    let encoding = tokenizer().encode(text).unwrap();
    let slices: Vec<&str> = encoding.offsets().iter().map(|&(start, end)| &text[start..end]).collect();
    assert_eq!(slices, ["", "be", "s", "\u{E9}\u{1F917}", "to", ""]);
    assert_eq!(encoding.char_offsets()[3..5], [(4, 6), (7, 9)]);
}

#[test]
fn pairs_and_words_have_their_own_offsets() {
    let tokenizer = tokenizer();
    let (words, second) = (["\u{E9}", "bes"], "中 to");
    let input = EncodeInput::words(&words).with_pair(second);
    let encoding = tokenizer.encode(input.clone()).unwrap();
    assert!(encoding.tokens().eq(["[CLS]", "e", "be", "##s", "[SEP]", "中", "to", "[SEP]"]));
    let offsets = [(0, 0), (0, 2), (0, 2), (2, 3), (0, 0), (0, 3), (4, 6), (0, 0)];
    assert_eq!(encoding.offsets(), offsets);
    assert_eq!(encoding.sequence_ids()[4..6], [None, Some(1)]);
    let options = EncodeOptions::new().offsets(true);
    let batch = tokenizer.encode_batch_with([input, ("to", "be").into()], &options).unwrap();
    assert_eq!(batch.offsets().unwrap()[..8], offsets);
    assert_eq!(batch.sequence_ids().unwrap()[4..6], [-1, 1]);
    assert_eq!(batch.type_ids().unwrap()[..8], [0, 0, 0, 0, 0, 1, 1, 1]);
}

#[test]
fn windows_become_rows() {
    let tokenizer = tokenizer().with_truncation(Truncation::to(4).stride(1)).unwrap();
    let options = EncodeOptions::new().overflow(true).offsets(true);
    let batch = tokenizer.encode_batch_with(["to be\u{E9} to", "be"], &options).unwrap();
    let encoding = tokenizer.encode("to be\u{E9} to").unwrap();
    assert_eq!(batch.overflow_to_sample_mapping(), [0, 0, 1]);
    assert_eq!(batch.row(1), encoding.overflowing()[0].ids());
    assert_eq!(batch.offsets().unwrap()[batch.range(1)], *encoding.overflowing()[0].offsets());
    let padded = tokenizer.with_padding(Padding::with("[PAD]", 0)).unwrap().without_truncation().unwrap();
    let batch = padded.encode_batch(["to", "to to"]).unwrap();
    assert_eq!(batch.row(0), [2, 4, 3, 0]);
    assert_eq!(padded.encode("to").unwrap().attention_mask(), [1, 1, 1]);
    assert_eq!(padded.without_padding().unwrap().encode_batch(["to", "to to"]).unwrap().row(0), [2, 4, 3]);
}

#[test]
fn lengths_are_settings_of_the_tokenizer() {
    let truncation = Truncation::to(4);
    let ids = |truncation: Truncation, input: EncodeInput<'_>| {
        tokenizer().with_truncation(truncation).unwrap().encode(input).unwrap().ids().to_vec()
    };
    assert_eq!(ids(truncation.clone(), "to be be".into()), [2, 4, 5, 3]);
    assert_eq!(ids(truncation.clone().left(), "to be be".into()), [2, 5, 5, 3]);
    let pair = || EncodeInput::from(("to be", "be to"));
    assert_eq!(ids(Truncation::to(6).only_first(), pair()), [2, 4, 3, 5, 4, 3]);
    assert_eq!(ids(Truncation::to(6).only_second(), pair()), [2, 4, 5, 3, 5, 3]);
    let padding = Padding::with("[PAD]", 0).multiple_of(4).type_id(1).left();
    let tokenizer =
        tokenizer().with_truncation(truncation.clone()).unwrap().with_padding(padding.clone()).unwrap();
    assert_eq!((tokenizer.truncation(), tokenizer.padding()), (Some(truncation), Some(padding)));
    assert_eq!(tokenizer.truncation().unwrap().max_length(), 4);
    assert_eq!(
        (tokenizer.padding().unwrap().pad_token(), tokenizer.padding().unwrap().pad_id()),
        ("[PAD]", 0)
    );
    let encoding = tokenizer.encode("to").unwrap();
    assert!(encoding.tokens().eq(["[PAD]", "[CLS]", "to", "[SEP]"]));
    assert_eq!((encoding.type_ids(), encoding.attention_mask()), (&[1, 0, 0, 0][..], &[0, 1, 1, 1][..]));
    let padded = tokenizer.with_padding(Padding::with("[PAD]", 0).length(5)).unwrap();
    assert_eq!(padded.encode("to").unwrap().len(), 5);
}

#[test]
fn wrong_arguments_are_errors() {
    let tokenizer = tokenizer();
    let only = |token: &str| EncodeOptions::new().parse_special_only([token]);
    assert_eq!(tokenizer.encode_ids_with("[SEP] [CLS]", &only("[SEP]")).unwrap()[1..3], [3, 1]);
    let error = tokenizer.encode_with("to", &only("to")).unwrap_err();
    assert_eq!((error.kind(), error.place()), (ErrorKind::Argument, "parse_special_only"));
    let refuse = EncodeOptions::new().parse_special(ParseSpecial::Refuse);
    let error = tokenizer.encode_with("to [SEP]", &refuse).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SpecialToken);
    assert!(error.to_string().starts_with("text: found the special token \"[SEP]\"; ParseSpecial::All"));
    let mixed = [EncodeInput::from(("to", "be")), "to".into()];
    assert_eq!(tokenizer.encode_batch(mixed).unwrap_err().place(), "texts[1]");
    assert_eq!(tokenizer.count_batch([("to", "be")]).unwrap_err().place(), "texts");
    assert!(tokenizer.with_truncation(Truncation::to(1)).is_err());
    assert!(tokenizer.decode_bytes(&[99]).is_err());
}

#[test]
fn a_stream_gives_the_text_of_its_ids() {
    let tokenizer = tokenizer();
    let ids = tokenizer.encode_ids("to bes be").unwrap();
    let mut stream = tokenizer.decode_stream(&[]).unwrap();
    let mut text = String::new();
    for &id in &ids {
        text.extend(stream.step(id).unwrap());
    }
    text.extend(stream.finish().unwrap());
    assert_eq!(text, tokenizer.decode(&ids).unwrap());
    let options = DecodeOptions::new().skip_special_tokens(false);
    assert_eq!(tokenizer.decode_with(&ids, &options).unwrap(), "[CLS] to bes be [SEP]");
    let texts = tokenizer.decode_batch(tokenizer.encode_batch(TEXTS).unwrap().iter()).unwrap();
    assert_eq!(texts[0], "to be");
    let mut stream = tokenizer.decode_stream(&ids[..2]).unwrap();
    assert_eq!(stream.step(ids[2]).unwrap().as_deref(), Some(" be"));
    assert_eq!(stream.step(99).unwrap(), None);
}

#[test]
fn entries_are_looked_up() {
    let tokenizer = tokenizer();
    assert_eq!((tokenizer.token_to_id("be"), tokenizer.id_to_token(5)), (Some(5), Some("be")));
    assert_eq!((tokenizer.token_to_id("or"), tokenizer.id_to_token(99)), (None, None));
    assert_eq!(tokenizer.token_bytes(8).as_deref(), Some("中".as_bytes()));
    assert_eq!(tokenizer.vocab_size(), 9);
    assert_eq!(tokenizer.vocab().filter(|(token, _)| *token == "[SEP]").count(), 2);
    assert!(format!("{tokenizer:?}").contains("bert"));
}

#[test]
fn offsets_in_each_unit_are_the_same_text() {
    let (tokenizer, options) = (tokenizer(), EncodeOptions::new().offsets(true));
    let batch = tokenizer.encode_batch_with(TEXTS, &options).unwrap();
    for unit in [OffsetUnit::Bytes, OffsetUnit::Chars, OffsetUnit::Utf16] {
        let of_batch = batch.offsets_in(unit, TEXTS).unwrap();
        for (row, text) in TEXTS.into_iter().enumerate() {
            let encoding = tokenizer.encode(text).unwrap();
            let offsets = encoding.offsets_in(unit, text);
            let length = |text: &str| match unit {
                OffsetUnit::Bytes => text.len(),
                OffsetUnit::Chars => text.chars().count(),
                _ => text.encode_utf16().count(),
            };
            let of_bytes = |&(start, end): &(usize, usize)| (length(&text[..start]), length(&text[..end]));
            assert_eq!(offsets, encoding.offsets().iter().map(of_bytes).collect::<Vec<_>>());
            assert_eq!(offsets, of_batch[batch.range(row)]);
        }
    }
    assert_eq!(tokenizer.encode_batch(TEXTS).unwrap().offsets_in(OffsetUnit::Utf16, TEXTS), None);
}

#[test]
fn a_token_has_the_string_of_its_place() {
    let padded = tokenizer().with_padding(Padding::with("[PAD]", 0).length(9)).unwrap();
    let encoding = padded.encode("to be").unwrap();
    let found: Vec<_> = (0..encoding.len()).filter_map(|index| encoding.token(index)).collect();
    assert_eq!(found, encoding.tokens().collect::<Vec<_>>());
    assert_eq!((found.len(), found[8], encoding.token(9)), (9, "[PAD]", None));
}
