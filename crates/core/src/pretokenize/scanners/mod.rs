//! Scanners for the split patterns of well-known models, equal to their regular expressions on every text.
//!
//! spellings  the texts that a pattern is known by
//! scalar     character by character: the definition, and where the others do not reach
//! classes    text to bit masks, one for each class of characters
//! starts     masks to the bytes where words start, 64 at a time
//! repairs    the rare places where that takes more than a byte's neighbours
//! stretches  long texts, cut where every pattern cuts
//! zoned      DeepSeek-V3's family, by both
//! clip       CLIP's, which leaves spaces out
//! gapped     BLOOM's and DeepSeek Coder's, by both
//!
//! Families: GPT-2; cl100k (Llama 3, Qwen), where a word is a run of letters with any one character before; o200k
//! (tekken, Kimi), where capitals may only begin one; DeepSeek-V3's three patterns that cut one after the other; CLIP,
//! whose words leave spaces out; BLOOM and DeepSeek Coder, whose gaps between words stay together. The first three
//! may come after a cut at every number, as StarCoder's does. Linear, one pass.

mod ambiguous;
mod blocks;
mod bloom;
mod boundary_mask;
mod boundary_rules;
mod classes;
mod clip;
mod deepseek;
mod kind_text;
mod kinds;
mod recognize;
mod repairs;
mod scalar;
mod scan;
mod scanner;
#[cfg(test)]
mod tests;
mod windows;

pub(super) use bloom::DEEPSEEK_CODER;
pub(super) use clip::CLIP;
pub(super) use deepseek::DEEPSEEK;
pub(super) use recognize::NumberSplit;
pub use scan::ScanScratch;
pub(super) use scanner::Scanner;
