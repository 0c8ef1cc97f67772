//! Every exported function. `tests/capi/test_header.py` compares this list with `piecework.h`.

use std::ptr::{null, null_mut};

use piecework::Tokenizer;

use crate::budget::{self, Chunk, Growing, MessageOfC};
use crate::decode::{self, Stream};
use crate::encode::{self, Segment};
use crate::error::{Error, FAILED};
use crate::options::{
    ChunkSettings, DecodeSettings, EncodeSettings, LoadSettings, PaddingSettings, TruncationSettings,
};
use crate::pointers::{In, InOut, Out, Owned, Str, export};
use crate::results::{self, Batch, Encoding, Span};
use crate::tokenizer;

export! {
    piecework_load_file(path: In<u8>, path_len: usize, options: In<LoadSettings>) -> *mut Tokenizer, or null_mut() => tokenizer::load_file;
    piecework_load_bytes(bytes: In<u8>, len: usize, options: In<LoadSettings>) -> *mut Tokenizer, or null_mut() => tokenizer::load_bytes;
    piecework_with_truncation(tokenizer: In<Tokenizer>, truncation: In<TruncationSettings>) -> *mut Tokenizer, or null_mut() => tokenizer::with_truncation;
    piecework_with_padding(tokenizer: In<Tokenizer>, padding: In<PaddingSettings>) -> *mut Tokenizer, or null_mut() => tokenizer::with_padding;
    piecework_fingerprint(tokenizer: In<Tokenizer>, digits: Out<u8>, capacity: usize) -> usize, or FAILED => tokenizer::fingerprint;

    piecework_encode_ids(tokenizer: In<Tokenizer>, text: In<u8>, text_len: usize, options: In<EncodeSettings>, ids: Out<u32>, capacity: usize) -> usize, or FAILED => encode::ids;
    piecework_count(tokenizer: In<Tokenizer>, text: In<u8>, text_len: usize, options: In<EncodeSettings>) -> usize, or FAILED => encode::count;
    piecework_encode(tokenizer: In<Tokenizer>, text: In<u8>, text_len: usize, pair: In<u8>, pair_len: usize, options: In<EncodeSettings>) -> *mut Encoding, or null_mut() => encode::text;
    piecework_encode_segments(tokenizer: In<Tokenizer>, segments: In<Segment>, count: usize, markers: In<Str>, marker_count: usize, options: In<EncodeSettings>) -> *mut Encoding, or null_mut() => encode::segments;
    piecework_encode_batch(tokenizer: In<Tokenizer>, texts: In<Str>, pairs: In<Str>, count: usize, options: In<EncodeSettings>) -> *mut Batch, or null_mut() => encode::batch;
    piecework_count_batch(tokenizer: In<Tokenizer>, texts: In<Str>, count: usize, options: In<EncodeSettings>, counts: Out<usize>) -> bool, or false => encode::count_batch;

    piecework_decode(tokenizer: In<Tokenizer>, ids: In<u32>, count: usize, options: In<DecodeSettings>, text: Out<u8>, capacity: usize) -> usize, or FAILED => decode::text;
    piecework_decode_bytes(tokenizer: In<Tokenizer>, ids: In<u32>, count: usize, bytes: Out<u8>, capacity: usize) -> usize, or FAILED => decode::bytes;
    piecework_decode_stream(tokenizer: In<Tokenizer>, prefill: In<u32>, count: usize, options: In<DecodeSettings>) -> *mut Stream, or null_mut() => decode::stream;
    piecework_stream_step(stream: InOut<Stream>, id: u32, len: Out<usize>) -> *const u8, or null() => decode::step;
    piecework_stream_finish(stream: InOut<Stream>, len: Out<usize>) -> *const u8, or null() => decode::finish;

    piecework_growing_text_new(tokenizer: In<Tokenizer>, options: In<EncodeSettings>) -> *mut Growing, or null_mut() => budget::growing_text;
    piecework_growing_text_append(growing: InOut<Growing>, text: In<u8>, text_len: usize) -> bool, or false => budget::append;
    piecework_chunk_text(tokenizer: In<Tokenizer>, text: In<u8>, text_len: usize, chunking: In<ChunkSettings>, options: In<EncodeSettings>, chunks: Out<Chunk>, capacity: usize) -> usize, or FAILED => budget::chunk_text;
    piecework_fit_messages(messages: In<MessageOfC>, count: usize, max_tokens: usize, kept: Out<usize>, capacity: usize) -> usize, or FAILED => budget::fit;
}

export! {
    piecework_version() -> *const u8, else null() => tokenizer::version;
    piecework_tokenizer_free(tokenizer: Owned<Tokenizer>) -> (), else () => tokenizer::free;
    piecework_warm_up(tokenizer: In<Tokenizer>) -> (), else () => tokenizer::warm_up;
    piecework_vocab_size(tokenizer: In<Tokenizer>) -> usize, else 0 => tokenizer::vocab_size;
    piecework_token_to_id(tokenizer: In<Tokenizer>, token: In<u8>, token_len: usize, id: Out<u32>) -> bool, else false => tokenizer::token_to_id;
    piecework_id_to_token(tokenizer: In<Tokenizer>, id: u32, len: Out<usize>) -> *const u8, else null() => tokenizer::id_to_token;
    piecework_token_bytes(tokenizer: In<Tokenizer>, id: u32, bytes: Out<u8>, capacity: usize) -> usize, else FAILED => tokenizer::token_bytes;

    piecework_encoding_len(encoding: In<Encoding>) -> usize, else 0 => results::len;
    piecework_encoding_ids(encoding: In<Encoding>) -> *const u32, else null() => results::ids;
    piecework_encoding_type_ids(encoding: In<Encoding>) -> *const u32, else null() => results::type_ids;
    piecework_encoding_attention_mask(encoding: In<Encoding>) -> *const u8, else null() => results::attention_mask;
    piecework_encoding_special_tokens_mask(encoding: In<Encoding>) -> *const u8, else null() => results::special_tokens_mask;
    piecework_encoding_offsets(encoding: In<Encoding>) -> *const Span, else null() => results::offsets;
    piecework_encoding_word_ids(encoding: In<Encoding>) -> *const i32, else null() => results::word_ids;
    piecework_encoding_sequence_ids(encoding: In<Encoding>) -> *const i32, else null() => results::sequence_ids;
    piecework_encoding_token(encoding: In<Encoding>, index: usize, len: Out<usize>) -> *const u8, else null() => results::token;
    piecework_encoding_window_count(encoding: In<Encoding>) -> usize, else 0 => results::window_count;
    piecework_encoding_window(encoding: In<Encoding>, index: usize) -> *const Encoding, else null() => results::window;
    piecework_encoding_segments(encoding: In<Encoding>, count: Out<usize>) -> *const Span, else null() => results::segments;
    piecework_encoding_free(encoding: Owned<Encoding>) -> (), else () => results::free;

    piecework_batch_len(batch: In<Batch>) -> usize, else 0 => results::batch_len;
    piecework_batch_ids(batch: In<Batch>) -> *const u32, else null() => results::batch_ids;
    piecework_batch_row_offsets(batch: In<Batch>) -> *const i64, else null() => results::batch_row_offsets;
    piecework_batch_type_ids(batch: In<Batch>) -> *const u8, else null() => results::batch_type_ids;
    piecework_batch_attention_mask(batch: In<Batch>) -> *const u8, else null() => results::batch_attention_mask;
    piecework_batch_offsets(batch: In<Batch>) -> *const Span, else null() => results::batch_offsets;
    piecework_batch_samples(batch: In<Batch>) -> *const usize, else null() => results::batch_samples;
    piecework_batch_free(batch: Owned<Batch>) -> (), else () => results::batch_free;

    piecework_stream_free(stream: Owned<Stream>) -> (), else () => decode::stream_free;

    piecework_growing_text_ids(growing: In<Growing>, count: Out<usize>) -> *const u32, else null() => budget::growing_ids;
    piecework_growing_text_num_stable(growing: In<Growing>) -> usize, else 0 => budget::num_stable;
    piecework_growing_text_free(growing: Owned<Growing>) -> (), else () => budget::growing_free;

    piecework_error_kind(error: In<Error>) -> u32, else 0 => results::error_kind;
    piecework_error_message(error: In<Error>, len: Out<usize>) -> *const u8, else null() => results::error_message;
    piecework_error_place(error: In<Error>, len: Out<usize>) -> *const u8, else null() => results::error_place;
    piecework_error_position(error: In<Error>) -> usize, else FAILED => results::error_position;
    piecework_error_free(error: Owned<Error>) -> (), else () => results::error_free;
}
