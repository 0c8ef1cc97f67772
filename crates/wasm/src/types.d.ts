/** What functions of this module throw: `message` is the place and what is wrong. */
export interface PieceworkError extends Error {
  /** The class of the Python package: "FormatError", "ArgumentError", ... */
  name: string;
  /** The file, field or argument at fault. */
  place: string;
  found: string;
  /** May be empty. */
  expected: string;
}

/** What `Tokenizer.describe` returns. */
export interface Description {
  /** The kind of model: "WordPiece", "BPE", "SentencePiece unigram", ... */
  model: string;
  vocabSize: number;
  /** How words are explained: the search of WordPiece, the merges of BPE, or the lattice of Unigram. */
  view: "search" | "merges" | "lattice" | null;
  /** Whether `segmentations` takes the model. */
  samples: boolean;
  /** The special tokens that the post-processor adds to a text. */
  added: string[];
}
/** What `Tokenizer.segmentations` returns; scores are null for BPE. */
export interface Segmentation {
  tokens: string[];
  score: number | null;
  logProbability: number | null;
}

/** What `Tokenizer.explain` returns; names and values are those of `explain` in the Python package. */
export interface Explanation {
  words: ExplainedWord[];
}
/** A word with its span in characters of the text, and how the model segments it; null for other models. */
export interface ExplainedWord {
  word: string;
  span: [number, number];
  symbols: string[];
  /** Null for a word of more than 500 symbols. */
  merges: { rank: number; at: number; left: string; right: string; token: string }[] | null;
  search: {
    positions: { start: number; tried: string[]; match: string | null }[];
    tokens: string[];
    greedy: string[] | null;
    shortest: string[] | null;
    unknown_because: string | null;
  } | null;
  lattice: WordLattice | null;
  note: string | null;
}
export interface WordLattice {
  edges: { piece: string; start: number; end: number; score: number; is_known: boolean; is_best: boolean }[];
  best: string[];
  segmentations: [string[], number][];
}

export type Learner =
  | "wordpiece-pruning"
  | "wordpiece-pmi"
  | "wordpiece-likelihood"
  | "wordpiece-frequency"
  | "wordpiece-top-down"
  | "bpe"
  | "unigram";
/** What `Training.trace` has; names and values are those of `explain_training` in the Python package. */
export interface Trace {
  words: [string, number][];
  special_tokens: string[];
  alphabet: string[];
  /** Merges: the symbols of each word at the start. */
  splits: [string[], number][];
  /** The initial pieces of Unigram with their scores, or the entries that pruning can remove with their counts. */
  seeds: [string, number][];
  /** The number of all steps, of which `steps` has the first. */
  step_count: number;
  steps: TrainingStep[];
  /** Unigram: the lattice of the word with the final pieces. */
  lattice: TrainingLattice | null;
  /** The vocabulary in the order of its ids; after a merge, its first `vocab_size` entries. */
  vocab: string[];
  /** The scores of the vocabulary of Unigram. */
  scores: number[];
  /** Why there are fewer entries than asked for. */
  stopped_early: string | null;
  /** What the normalizer changes. */
  normalized: { words: number; changed: number; examples: [string, string][] };
}
/** A step; `kind` is the name of its class in the Python package, whose fields it has. */
export interface TrainingStep {
  kind: "TrainingMerge" | "TrainingRemoval" | "TrainingThreshold" | "TrainingEstimate" | "TrainingPruning";
  number: number;
  [field: string]: unknown;
}
export interface TrainingLattice {
  word: string;
  lattice: WordLattice;
  probabilities: number[];
}
