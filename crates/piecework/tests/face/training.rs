//! Learned tokenizers: their vocabulary, their stages, errors.

use piecework::{ErrorKind, Tokenizer, WordPieceTrainer};

const TEXTS: [&str; 4] =
    ["low lower lowest slow", "new newer newest few", "wide wider widest", "Low \u{E9}"];

fn train(trainer: &WordPieceTrainer) -> Tokenizer {
    Tokenizer::train_from_iterator(TEXTS.repeat(5), trainer).expect("a tokenizer")
}

#[test]
fn a_learned_tokenizer_is_that_of_its_file() {
    let trainer = WordPieceTrainer::new(40).special_token("[DOC]");
    let tokenizer = train(&trainer);
    assert_eq!(tokenizer.vocab_size(), 40);
    assert_eq!(
        ["[PAD]", "[MASK]", "[DOC]"].map(|token| tokenizer.token_to_id(token)),
        [Some(0), Some(4), Some(5)]
    );
    let encoding = tokenizer.encode("[DOC] Lowest \u{E9}").unwrap();
    assert!(encoding.tokens().eq(["[CLS]", "[DOC]", "lowest", "e", "[SEP]"]), "{encoding:?}");
    let loaded = Tokenizer::from_bytes(tokenizer.to_json(false)).unwrap();
    assert_eq!(loaded.encode("[DOC] Lowest \u{E9}").unwrap(), encoding);
    assert_eq!(train(&trainer.num_threads(1)).to_json(false), tokenizer.to_json(false));
}

#[test]
fn settings_change_the_vocabulary() {
    let has = |trainer: &WordPieceTrainer, token| train(trainer).token_to_id(token).is_some();
    assert!(!has(&WordPieceTrainer::new(60), "L") && has(&WordPieceTrainer::new(60).lowercase(false), "L"));
    assert!(
        has(&WordPieceTrainer::new(60), "d") && !has(&WordPieceTrainer::new(60).limit_alphabet(4), "d")
    );
    let often = train(&WordPieceTrainer::new(200).min_frequency(6));
    assert!(often.vocab_size() < train(&WordPieceTrainer::new(200)).vocab_size());
}

#[test]
fn texts_and_sizes_that_do_not_suffice_are_errors() {
    let empty = Tokenizer::train_from_iterator([" "], &WordPieceTrainer::new(40)).unwrap_err();
    assert_eq!((empty.kind(), empty.place()), (ErrorKind::Training, "counts"));
    let small = Tokenizer::train_from_iterator(TEXTS, &WordPieceTrainer::new(9)).unwrap_err();
    assert_eq!((small.kind(), small.place()), (ErrorKind::Training, "vocab_size"));
}
