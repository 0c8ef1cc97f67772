//! What a tokenizer shows beside encoding and decoding.
//!
//! ```text
//! contents       its tokens with their ids, how rows are filled, and warnings of probable mistakes
//! texts          normalized text and words; columns of an encoding that need its texts
//! segmentations  several segmentations, n-best and drawn
//! tiktoken       ids of byte sequences, for tiktoken's interface
//! ```

mod contents;
mod segmentations;
mod texts;
mod tiktoken;

pub use contents::{Filling, Origin};
pub use segmentations::{ScoredSegmentation, Selection, SpannedPiece};
pub use texts::{offsets_in, SpannedWord};
