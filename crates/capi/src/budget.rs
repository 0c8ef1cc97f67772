//! Text within a budget of tokens: text that grows, chunks of a text, messages of a conversation.

use piecework::{GrowingText, Message, OffsetUnit, Role, TextChunk, Tokenizer, fit_messages};

use crate::error::Error;
use crate::options::{self, ChunkSettings, EncodeSettings, Texts};
use crate::pointers::{In, InOut, Out, Owned};

/// `piecework_growing_text`.
pub(crate) struct Growing {
    text: GrowingText,
    texts: Texts,
}

pub(crate) fn growing_text(
    tokenizer: In<Tokenizer>,
    settings: In<EncodeSettings>,
) -> Result<*mut Growing, Error> {
    let (tokenizer, encoding) = (tokenizer.get("tokenizer")?, options::of_growing_text(&settings)?);
    let text = tokenizer.growing_text_with("", &encoding.options)?;
    Ok(Box::into_raw(Box::new(Growing { text, texts: encoding.texts })))
}

pub(crate) fn append(mut growing: InOut<Growing>, text: In<u8>, text_len: usize) -> Result<bool, Error> {
    let growing = growing.get("growing")?;
    let text = growing.texts.read(text.slice(text_len, "text")?, "text")?;
    growing.text.append(&text)?;
    Ok(true)
}

pub(crate) fn growing_ids(growing: In<Growing>, count: Out<usize>) -> *const u32 {
    let ids = growing.get_or_null().map(|growing| growing.text.ids());
    count.set(ids.map_or(0, <[u32]>::len));
    ids.map_or(std::ptr::null(), <[u32]>::as_ptr)
}

pub(crate) fn num_stable(growing: In<Growing>) -> usize {
    growing.get_or_null().map_or(0, |growing| growing.text.num_stable())
}

pub(crate) fn growing_free(growing: Owned<Growing>) {
    growing.free();
}

/// `piecework_chunk`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Chunk {
    start: usize,
    end: usize,
    num_tokens: usize,
}

impl Chunk {
    fn of(chunk: &TextChunk, unit: OffsetUnit) -> Self {
        let range = chunk.range_in(unit);
        Self { start: range.start, end: range.end, num_tokens: chunk.num_tokens() }
    }
}

pub(crate) fn chunk_text(
    tokenizer: In<Tokenizer>,
    text: In<u8>,
    text_len: usize,
    chunking: In<ChunkSettings>,
    settings: In<EncodeSettings>,
    chunks: Out<Chunk>,
    capacity: usize,
) -> Result<usize, Error> {
    let (tokenizer, encoding) = (tokenizer.get("tokenizer")?, options::encoding(&settings)?);
    let chunking = options::chunking(&chunking)?.encoded_with(encoding.options);
    let text = encoding.texts.read(text.slice(text_len, "text")?, "text")?;
    let found = encoding.cancel.run(|| tokenizer.chunk_text(&text, &chunking))?;
    let found: Vec<Chunk> = found.into_iter().map(|chunk| Chunk::of(&chunk, encoding.unit)).collect();
    chunks.fill(capacity, &found, "chunks")
}

/// `piecework_message`.
#[repr(C)]
pub(crate) struct MessageOfC {
    num_tokens: usize,
    call: usize,
    role: u32,
}

pub(crate) fn fit(
    messages: In<MessageOfC>,
    count: usize,
    max_tokens: usize,
    kept: Out<usize>,
    capacity: usize,
) -> Result<usize, Error> {
    let messages = messages.slice(count, "messages")?;
    let read = |(at, message)| message_of(message).map_err(|error: Error| error.of_item(at));
    let read: Vec<Message> = messages.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let total = |kept: &[usize]| {
        let counts = kept.iter().map(|&at| messages[at].num_tokens);
        Ok::<_, Error>(counts.fold(0, usize::saturating_add))
    };
    kept.fill(capacity, &fit_messages(&read, max_tokens, total)?, "kept")
}

fn message_of(message: &MessageOfC) -> Result<Message, Error> {
    let roles = [Role::User, Role::Assistant, Role::Tool, Role::System];
    let Some(&role) = roles.get(message.role as usize) else {
        let found = format!("the role {}, expected an enum piecework_role", message.role);
        return Err(Error::argument("messages", &found));
    };
    let read = Message::new(role);
    Ok(match message.call.checked_sub(1) {
        Some(call) => read.answers(call),
        None => read,
    })
}
