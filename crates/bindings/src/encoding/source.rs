//! What an `Encoding` makes its columns from.

use std::sync::Arc;

use piecework_core::encoding::Encoding as Fields;

use super::plain_text::PlainText;
use crate::batch::Row;
use crate::shared_tokenizer::SharedTokenizer;

/// The source of the columns other than the ids.
pub(super) enum Source {
    /// The text; a second pass aligns the ids with it.
    Text(PlainText),
    /// Every field.
    Fields { tokenizer: Arc<SharedTokenizer>, fields: Fields },
    /// A row of a batch.
    Row(Row),
    /// The lists alone, with the number of sequences if it is known.
    Lists { n_sequences: Option<usize> },
}
