use super::message::{put_field, Message, WireValue};
use super::*;
use piecework_core::spec::{ModelSpec, TokenizerSpec};

/// Return a small model: pieces, settings of all kinds and a field nobody knows.
fn file() -> Vec<u8> {
    let mut out = Vec::new();
    for (text, score, kind) in
        [("<unk>", 0.0f32, 2), ("<s>", 0.0, 3), ("\u{2581}a", -1.5, 1), ("b", -2.0, 4)]
    {
        let mut piece = Vec::new();
        put_field(1, &WireValue::Bytes(text.as_bytes().into()), &mut piece);
        put_field(2, &WireValue::Fixed32(score.to_le_bytes()), &mut piece);
        if kind != 1 {
            put_field(3, &WireValue::Varint(kind), &mut piece);
        }
        put_field(1, &WireValue::Bytes(piece.into()), &mut out);
    }
    let mut trainer = Vec::new();
    put_field(2, &WireValue::Bytes(b"prefix".as_slice().into()), &mut trainer);
    put_field(3, &WireValue::Varint(2), &mut trainer);
    put_field(24, &WireValue::Varint(1), &mut trainer);
    put_field(301, &WireValue::Fixed64([7; 8]), &mut trainer);
    put_field(2, &WireValue::Bytes(trainer.into()), &mut out);
    let mut normalizer = Vec::new();
    put_field(1, &WireValue::Bytes(b"identity".as_slice().into()), &mut normalizer);
    put_field(3, &WireValue::Varint(0), &mut normalizer);
    put_field(3, &WireValue::Bytes(normalizer.into()), &mut out);
    put_field(200, &WireValue::Varint(u64::MAX), &mut out);
    out
}

fn edited(edit: impl FnOnce(&mut TokenizerSpec)) -> TokenizerSpec {
    let mut spec = read(&file()).unwrap();
    edit(&mut spec);
    read(&write(&spec).unwrap()).unwrap()
}

#[test]
fn writes_the_file_that_it_read() {
    assert!(is_model(&file()));
    assert_eq!(write(&read(&file()).unwrap()).unwrap(), file());
}

#[test]
fn writes_changes_and_keeps_other_fields() {
    let spec = edited(|spec| {
        let ModelSpec::SentencePiece(model) = &mut spec.model else { return };
        model.pieces.truncate(3);
        model.bos_piece = "<bos>".into();
        model.self_test.push(("a".into(), "\u{2581}a".into()));
    });
    let ModelSpec::SentencePiece(model) = &spec.model else { panic!() };
    assert_eq!((model.pieces.len(), model.bos_piece.as_str(), model.self_test.len()), (3, "<bos>", 1));
    let rest = Message::parse(&model.rest, "").unwrap();
    assert_eq!(rest.number((200, "other"), 0).unwrap(), u64::MAX);
}

#[test]
fn a_file_that_is_cut_off_anywhere_is_an_error_or_a_shorter_model() {
    let file = file();
    for len in 0..file.len() {
        if let Ok(spec) = read(&file[..len]) {
            write(&spec).unwrap();
        }
    }
}

#[test]
fn names_the_field_at_fault() {
    let bad = |field: &[u8]| {
        let mut piece = Vec::new();
        put_field(1, &WireValue::Bytes(field.into()), &mut piece);
        read(&piece).unwrap_err().to_string()
    };
    assert!(bad(&[0x0A, 2, 0xFF, 0xFE]).starts_with("pieces[0].piece: found bytes that are not UTF-8 at 0"));
    assert!(bad(&[0x0A, 9]).starts_with("pieces[0].byte 0: found a field that is cut off"));
    assert!(bad(&[0x10, 1]).starts_with("pieces[0].score: found the integer 1, expected a 32-bit float"));
    assert!(bad(&[0x18, 9]).starts_with("pieces[0].type: found the integer 9, expected 1 to 6"));
}

#[test]
fn lines_are_not_a_model() {
    for text in ["\n[UNK]\na\n", "\n\n\n\n", "[PAD]\n", "", "\n", "\n\x04\n\x01a\n"] {
        assert!(!is_model(text.as_bytes()), "{text:?}");
    }
}
