//! Start the server, post texts, compare ids.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use piecework::Tokenizer;
use serde_json::{json, Value};

const VOCAB: &[u8] = b"[UNK]\n[CLS]\n[SEP]\nto\nbe\n##s\n";

/// A server that ends with the test.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start() -> Self {
        let file = std::env::temp_dir().join(format!("server-{}-vocab.txt", std::process::id()));
        std::fs::write(&file, VOCAB).expect("a file");
        let mut process = Command::new(env!("CARGO_BIN_EXE_piecework-server-example"))
            .arg(&file)
            .arg("127.0.0.1:0")
            .stdout(Stdio::piped())
            .spawn()
            .expect("a server");
        let mut line = String::new();
        let output = process.stdout.take().expect("output");
        BufReader::new(output).read_line(&mut line).expect("an address");
        std::fs::remove_file(&file).expect("the file");
        let address = line.trim().trim_start_matches("http://").to_owned();
        Self { process, address }
    }

    /// Post JSON; return the status and the body.
    fn post(&self, path: &str, body: &Value) -> (u16, String) {
        let body = body.to_string();
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("a request");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        let (head, body) = response.split_once("\r\n\r\n").expect("a body");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, body.to_owned())
    }

    fn json(&self, path: &str, body: &Value) -> Value {
        let (status, body) = self.post(path, body);
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).expect("JSON")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn the_server_gives_the_ids_of_the_library() {
    let server = Server::start();
    let tokenizer = Tokenizer::from_bytes(VOCAB).expect("a tokenizer");

    let text = "To bes \u{E9}";
    let encoding = tokenizer.encode(text).expect("an encoding");
    let found = server.json("/encode", &json!({"text": text}));
    assert_eq!(found, json!({"ids": encoding.ids(), "offsets": encoding.offsets()}));

    let long = "to bes ".repeat(10_000);
    let found = server.json("/encode", &json!({"text": long}));
    assert_eq!(found["ids"], json!(tokenizer.encode(&long).expect("an encoding").ids()));

    let found = server.json("/encode-batch", &json!({"texts": ["to", "bes to"]}));
    assert_eq!(found, json!([[1, 3, 2], [1, 4, 5, 3, 2]]));
    assert_eq!(server.json("/decode", &json!({"ids": [1, 4, 5, 3, 2]})), json!("bes to"));

    let special =
        |parse| server.json("/encode", &json!({"text": "[SEP]", "parse_special": parse}))["ids"].clone();
    assert_eq!(special(true), json!([1, 2, 2]));
    assert_eq!(special(false), json!([1, 0, 0, 0, 2]), "text of users");

    assert_eq!(server.post("/encode", &json!({"texts": 1})).0, 422);
}
