//! The C interface of piecework: `include/piecework.h` describes every function, `abi.rs` lists them.
//!
//! The functions take the types of `pointers.rs`, which holds all unsafe code of the crate. The other files are safe Rust over the crate
//! `piecework`.

#![deny(unsafe_code)]
#![allow(
    clippy::needless_pass_by_value,
    reason = "C passes pointers by value, and each is used in one call"
)]

mod abi;
mod budget;
mod decode;
mod encode;
mod error;
mod options;
mod pointers;
mod results;
mod tokenizer;
