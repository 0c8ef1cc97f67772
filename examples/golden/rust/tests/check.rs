//! Run the program on a file that is right and on one that is wrong.

use std::path::PathBuf;
use std::process::{Command, Output};

const TOKENIZER: &str = r#"{
  "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": {"type": "Lowercase"},
  "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null, "decoder": null,
  "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "to": 1, "bé": 2}, "unk_token": "[UNK]"}
}"#;
const HEADER: &str = r#"{"piecework_golden":1,"tokenizer":{"name":"words"},"rows":3,"flags":{"case":"."}}"#;
const ROWS: [&str; 3] = [
    r#"{"row":1,"text":"BÉ to","add_special_tokens":true,"parse_special":true,"ids":[2,1],"char_offsets":[[0,2],[3,5]],"decoded":"bé to"}"#,
    r#"{"row":2,"text":"or","pair":"to","add_special_tokens":false,"parse_special":false,"ids":[0,1],"char_offsets":[[0,2],[0,2]],"decoded":"[UNK] to"}"#,
    r#"{"row":3,"text":"to","add_special_tokens":true,"parse_special":true,"padding":{"length":2,"side":"right","id":0},"ids":[1,0],"char_offsets":[[0,2],[0,0]],"decoded":"to [UNK]"}"#,
];

/// Write the two files of a test, named for it, and run the program.
fn check(test: &str, rows: &[&str]) -> Output {
    let write = |name: &str, text: &str| -> PathBuf {
        let path = std::env::temp_dir().join(format!("golden-{}-{test}-{name}", std::process::id()));
        std::fs::write(&path, text).expect("a file");
        path
    };
    let golden = write("golden.jsonl", &[&[HEADER], rows].concat().join("\n"));
    let tokenizer = write("tokenizer.json", TOKENIZER);
    let output = Command::new(env!("CARGO_BIN_EXE_check-golden")).args([&golden, &tokenizer]).output();
    for path in [golden, tokenizer] {
        std::fs::remove_file(path).expect("the file");
    }
    output.expect("a program")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn equal_rows_exit_with_0_and_skipped_rows_are_counted() {
    let output = check("equal", &ROWS);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("skipped 1 rows"));
    assert!(text(&output).contains("0 of 2 compared rows differ"));
}

#[test]
fn each_field_that_differs_is_named() {
    for (expected, planted) in
        [("[2,1]", "[1,2]"), ("[0,2]", "[0,3]"), ("bé to", "be to"), (r#""ids""#, r#""error":true,"ids""#)]
    {
        let output = check("differs", &[&ROWS[0].replace(expected, planted), ROWS[1]]);
        assert_eq!(output.status.code(), Some(1), "{planted}");
        assert!(text(&output).contains("row 1: \"BÉ to\""), "{}", text(&output));
        assert!(text(&output).contains("1 of 2 compared rows differ"));
    }
}

#[test]
fn a_file_whose_rows_are_all_skipped_does_not_pass() {
    assert_eq!(check("skipped", &ROWS[2..]).status.code(), Some(1));
}
