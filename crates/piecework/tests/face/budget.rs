//! Growing texts, chunks and messages: the plain answers, and what is refused.

use piecework::{
    ChunkOptions, ChunkUnit, EncodeOptions, Error, ErrorKind, Message, OffsetUnit, Padding, ParseSpecial,
    Role, Tokenizer, Truncation, fit_messages,
};

fn tokenizer() -> Tokenizer {
    let file = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nto\nbe\n##s\ne\n中\n";
    Tokenizer::from_bytes(file.as_bytes()).expect("a vocabulary")
}

fn bare() -> EncodeOptions {
    EncodeOptions::new().add_special_tokens(false)
}

#[test]
fn a_text_has_the_same_ids_in_whatever_parts_it_is_appended() {
    let text = "to bes e\u{301} [SEP] be\u{301} 中to\n\n  [SE P] \u{1F917}, be.";
    let lengths = tokenizer().with_truncation(Truncation::to(3)).unwrap();
    let lengths = lengths.with_padding(Padding::with("[PAD]", 0).length(9)).unwrap();
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    for (first, second) in places.iter().flat_map(|&a| places.iter().map(move |&b| (a.min(b), a.max(b)))) {
        let mut growing = lengths.growing_text(&text[..first]).unwrap();
        let mut stable = growing.ids()[..growing.num_stable()].to_vec();
        for (from, to) in [(first, second), (second, text.len())] {
            growing.append(&text[from..to]).unwrap();
            assert_eq!(growing.ids(), tokenizer().encode_ids_with(&text[..to], &bare()).unwrap());
            assert_eq!(growing.ids()[..stable.len()], stable);
            stable = growing.ids()[..growing.num_stable()].to_vec();
        }
    }
}

#[test]
fn each_append_encodes_its_words_and_the_one_before() {
    let mut growing = tokenizer().growing_text("").unwrap();
    let (mut encoded, words) = (0, 1000);
    for _ in 0..words {
        let stable = growing.num_stable();
        growing.append(" bes").unwrap();
        encoded += growing.ids().len() - stable;
    }
    assert_eq!((growing.ids().len(), encoded), (2 * words, 4 * words - 2));
}

#[test]
fn a_refused_append_changes_nothing() {
    let tokenizer = tokenizer().with_parse_special(ParseSpecial::Refuse);
    assert_eq!(tokenizer.growing_text("[SEP]").unwrap_err().kind(), ErrorKind::SpecialToken);
    let mut growing = tokenizer.growing_text("to [SE").unwrap();
    let before = growing.clone();
    assert_eq!(growing.append("P]").unwrap_err().kind(), ErrorKind::SpecialToken);
    assert_eq!((growing.ids(), growing.num_stable()), (before.ids(), before.num_stable()));
    growing.append(" P]").unwrap();
    assert_eq!(growing.ids(), tokenizer.encode_ids_with("to [SE P]", &bare()).unwrap());
    let only = EncodeOptions::new().parse_special_only(["[CLS]"]);
    let growing = tokenizer.growing_text_with("[CLS][SEP]", &only).unwrap();
    assert_eq!(growing.ids(), [2, 1, 1, 1]);
    let unknown = EncodeOptions::new().parse_special_only(["to"]);
    assert_eq!(tokenizer.growing_text_with("", &unknown).unwrap_err().place(), "parse_special_only");
}

#[test]
fn chunks_are_positions_in_every_unit() {
    let tokenizer = tokenizer().with_truncation(Truncation::to(3)).unwrap();
    let text = "\u{1F917} be. \u{E9}";
    let chunks = tokenizer.chunk_text(text, &ChunkOptions::new(5)).unwrap();
    let last = |unit| chunks[1].range_in(unit);
    assert_eq!((chunks.len(), &text[chunks[1].range()]), (2, "\u{E9}"));
    assert_eq!([OffsetUnit::Bytes, OffsetUnit::Chars, OffsetUnit::Utf16].map(last), [9..11, 6..7, 7..8]);
    let options = ChunkOptions::new(2).overlap(1).at(ChunkUnit::Word).encoded_with(bare());
    let chunks = tokenizer.chunk_text("to be to", &options).unwrap();
    assert_eq!(chunks.iter().map(piecework::TextChunk::range).collect::<Vec<_>>(), [0..6, 3..8]);
    assert!(tokenizer.chunk_text("", &options).unwrap().is_empty());
    let whole = tokenizer.chunk_text(text, &ChunkOptions::new(usize::MAX).overlap(usize::MAX - 1)).unwrap();
    assert_eq!((whole[0].range(), whole[0].num_tokens()), (0..text.len(), 6));
}

#[test]
fn budgets_that_nothing_fits_are_refused() {
    let tokenizer = tokenizer();
    let error =
        |text: &str, options: &ChunkOptions| tokenizer.chunk_text(text, options).unwrap_err().to_string();
    assert_eq!(error("", &ChunkOptions::new(0)), "max_tokens: must be a number of at least 1, not 0");
    let small = "max_tokens: must be at least 3, the tokens of \"t\" alone, not 2";
    assert_eq!(error("to", &ChunkOptions::new(2)), small);
    let wide = "overlap: must be less than max_tokens, which is 3, not 3";
    assert_eq!(error("to", &ChunkOptions::new(3).overlap(3)), wide);
    let refusing = ChunkOptions::new(9).encoded_with(bare().parse_special(ParseSpecial::Refuse));
    assert!(error("to [SEP]", &refusing).contains("special token \"[SEP]\""));
}

#[test]
fn messages_are_counted_as_prompts() {
    let roles = [Role::System, Role::Assistant, Role::User, Role::Assistant, Role::User, Role::Tool];
    let mut messages = roles.map(Message::new);
    let kept = |messages: &[Message], max_tokens| {
        fit_messages(messages, max_tokens, |kept| Ok::<_, Error>(kept.len())).unwrap()
    };
    // The result stays with the last call before it.
    assert_eq!(kept(&messages, 5), [0, 2, 3, 4, 5]);
    messages[5] = messages[5].answers(1);
    assert_eq!(kept(&messages, 6), [0, 1, 2, 3, 4, 5]);
    messages[5] = Message::new(Role::Assistant);
    assert_eq!(kept(&messages, 4), [0, 4, 5]);
    assert_eq!(kept(&messages[..1], 1), [0]);

    let count =
        |_: &[usize]| Err(tokenizer().encode_ids_with("", &bare().parse_special_only(["x"])).unwrap_err());
    assert_eq!(fit_messages(&messages, 9, count).unwrap_err().place(), "parse_special_only");
    let error = |messages: &[Message], max_tokens| {
        fit_messages(messages, max_tokens, |kept| Ok::<_, Error>(kept.len())).unwrap_err().to_string()
    };
    let small =
        "max_tokens: must be at least 3, the tokens of the last turn with the system messages, not 2";
    assert_eq!(error(&messages, 2), small);
    assert_eq!(error(&[], 2), "messages: must be at least one, not no message");
    messages[4] = messages[4].answers(4);
    assert_eq!(
        error(&messages, 9),
        "messages[4]: must be an answer to an earlier one, not an answer to the message 4"
    );
}

#[test]
fn a_long_conversation_is_counted_in_prompts_near_its_result() {
    let roles = [Role::User, Role::Assistant];
    for (turns, budget) in [(100, 2), (1_000, 200), (20_000, 200), (1_000, 1_900)] {
        let messages: Vec<Message> = roles.into_iter().cycle().take(2 * turns).map(Message::new).collect();
        let (mut prompts, mut longest, mut all) = (0, 0, 0);
        let count = |kept: &[usize]| {
            (prompts, longest, all) = (prompts + 1, longest.max(kept.len()), all + kept.len());
            Ok::<_, Error>(kept.len())
        };
        let kept = fit_messages(&messages, budget, count).unwrap().len();
        assert_eq!(kept, budget);
        assert!(longest <= 2 * kept && all <= (4 + 2 * kept.ilog2() as usize) * kept, "{prompts} {all}");
    }
}
