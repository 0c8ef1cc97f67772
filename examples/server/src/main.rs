//! A tokenizer behind HTTP.
//!
//! `cargo run --release -- tokenizer.json 127.0.0.1:8080`, then
//! `curl -d '{"text": "Hello"}' -H 'content-type: application/json' 127.0.0.1:8080/encode`

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use piecework::{EncodeOptions, Error, ErrorKind, ParseSpecial, Tokenizer};
use serde::{Deserialize, Serialize};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(address)) = (arguments.next(), arguments.next()) else {
        return Err("usage: piecework-server-example TOKENIZER ADDRESS".into());
    };
    let tokenizer = Tokenizer::from_file(file)?;
    // No request waits for tables that are built late.
    tokenizer.warm_up();
    tokenizer.warnings().iter().for_each(|warning| eprintln!("warning: {warning}"));
    let router = Router::new()
        .route("/encode", post(encode))
        .route("/encode-batch", post(encode_batch))
        .route("/decode", post(decode))
        .with_state(tokenizer);
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}

#[derive(Deserialize)]
struct Text {
    text: String,
    /// Whether special tokens in the text become these tokens: only for text that is not of users.
    #[serde(default)]
    parse_special: bool,
}

#[derive(Serialize)]
struct Encoded {
    ids: Vec<u32>,
    /// The bytes of the text that each id covers.
    offsets: Vec<(usize, usize)>,
}

/// A text of fewer bytes is encoded in the task, in at most tens of microseconds. A longer one would delay other tasks.
const SHORT: usize = 10_000;

/// Encode one text; a long one away from the threads that serve.
async fn encode(
    State(tokenizer): State<Tokenizer>,
    Json(body): Json<Text>,
) -> Result<Json<Encoded>, Failed> {
    let is_short = body.text.len() < SHORT;
    let work = move || tokenizer.encode_with(&body.text, &options(body.parse_special));
    let encoding = if is_short { work()? } else { blocking(work).await? };
    Ok(Json(Encoded { ids: encoding.ids().to_vec(), offsets: encoding.offsets().to_vec() }))
}

#[derive(Deserialize)]
struct Texts {
    texts: Vec<String>,
}

/// Encode many texts with the threads of the library, away from the threads that serve.
async fn encode_batch(
    State(tokenizer): State<Tokenizer>,
    Json(body): Json<Texts>,
) -> Result<Json<Vec<Vec<u32>>>, Failed> {
    let work = move || tokenizer.encode_batch_with(&body.texts, &options(false));
    let batch = blocking(work).await?;
    Ok(Json(batch.iter().map(<[u32]>::to_vec).collect()))
}

/// Run long work away from the threads that serve.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Failed> {
    Ok(tokio::task::spawn_blocking(work).await.map_err(|_| Failed::internal())??)
}

#[derive(Deserialize)]
struct Ids {
    ids: Vec<u32>,
}

async fn decode(State(tokenizer): State<Tokenizer>, Json(body): Json<Ids>) -> Result<Json<String>, Failed> {
    Ok(Json(tokenizer.decode(&body.ids)?))
}

fn options(parse_special: bool) -> EncodeOptions {
    EncodeOptions::new().parse_special(if parse_special {
        ParseSpecial::All
    } else {
        ParseSpecial::Nothing
    })
}

/// A response for an error: what the client sent wrong, or what went wrong here.
struct Failed(StatusCode, String);

impl Failed {
    fn internal() -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, "the work stopped".to_owned())
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        let is_of_client = matches!(error.kind(), ErrorKind::Argument | ErrorKind::SpecialToken);
        let status = if is_of_client { StatusCode::BAD_REQUEST } else { StatusCode::INTERNAL_SERVER_ERROR };
        Self(status, error.to_string())
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}
