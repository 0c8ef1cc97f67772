//! Routes against definitions that share no code with them.

mod ascii_spans;
mod byte_spans;
mod metaspace;
