/** What every function of this package throws; `message` is the place and what is wrong. */
export class PieceworkError extends Error {
  name: "PieceworkError";
  /** The class of the Python package: "ArgumentError", "FormatError", "SpecialTokenError", "InputTypeError", ... */
  kind: string;
  /** The file, field or argument at fault. */
  place: string;
  /** What the module found and expected; may be empty. */
  found: string;
  expected: string;
}

/**
 * Load the WebAssembly module; everything else needs it. Only the first call loads it: call it as often as you like.
 *
 * Without `source`, node reads the file of this package and browsers fetch it from beside their script. `source` is another
 * address, the bytes, or a compiled module, for instance one that was posted to a worker.
 */
export function init(source?: ModuleSource | Promise<ModuleSource>): Promise<void>;
/** What `init` loads. */
export type ModuleSource = string | URL | Request | Response | BufferSource | WebAssembly.Module;
/** Load the module before returning, from bytes or a compiled module; node reads its file if `source` is missing. */
export function initSync(source?: BufferSource | WebAssembly.Module): void;
/** Return the version of piecework. */
export function version(): string;

/** The bytes of a file. */
export type Bytes = Uint8Array | ArrayBuffer | ArrayBufferView;
/** Ids of tokens. `bigint` is for tensors of 64 bits. */
export type Ids = Uint32Array | ArrayLike<number> | ArrayLike<bigint>;

export interface LoadOptions {
  /** The name of the file in errors; "data" by default. */
  source?: string;
  /** The merges.txt that belongs to a vocab.json. */
  merges?: Bytes;
  /** The regular expression, or several applied in turn, that splits text for tiktoken ranks. */
  pattern?: string | string[];
  /** The special tokens of tiktoken ranks with their ids. */
  specialTokens?: Record<string, number>;
}

export interface EncodeOptions {
  /** Whether the post-processor adds special tokens, such as [CLS] and [SEP]; true by default. */
  addSpecialTokens?: boolean;
  /**
   * The special tokens that are parsed where the text contains them: all (true), none (false, for untrusted text), or a
   * list. "refuse" throws for a text that contains one. By default the file decides: "refuse" for tiktoken ranks, true for
   * most others.
   */
  parseSpecial?: boolean | "refuse" | string[];
  /** The most tokens of an encoding, special tokens included. Truncation that is stored in a file is not applied. */
  truncation?: number | Truncation;
}
export interface Truncation {
  maxLength: number;
  /** The tokens that each window of `overflow` repeats of the window before it; 0 by default. */
  stride?: number;
  /** The side that loses tokens; "right" by default. */
  side?: "right" | "left";
  /** The text of a pair that loses tokens; "longest_first" by default. */
  strategy?: "longest_first" | "only_first" | "only_second";
}
export interface BatchOptions extends EncodeOptions {
  /** The second texts of pairs, one for each text. */
  pairs?: string[];
  /** Whether the batch has `offsets`, `wordIds`, `sequenceIds` and `specialTokensMask`; false by default. */
  offsets?: boolean;
  /** Whether each window of a truncated text is a row; false by default, which drops all but the first window. */
  overflow?: boolean;
}
export interface SegmentOptions {
  /** Whether the post-processor adds special tokens; false by default, because segments contain them. */
  addSpecialTokens?: boolean;
  /** The added tokens that need permission besides special tokens; all except whitespace by default. */
  markers?: string[];
  truncation?: number | Truncation;
}
export interface DecodeOptions {
  /** Whether special tokens are left out; true by default. */
  skipSpecialTokens?: boolean;
  /** Whether spaces before punctuation and in contractions are removed; by default the decoder decides. */
  cleanUp?: boolean;
}

/**
 * A tokenizer; it does not change. Memory is freed when it is garbage collected, or at once by `free`.
 *
 * Offsets count UTF-16 units, as indices of strings do. A lone surrogate in a text is encoded as U+FFFD.
 */
export class Tokenizer {
  private constructor();
  /**
   * Load a tokenizer.json, vocab.txt, SentencePiece `.model`, tekken.json, `.piecework`, CLIP or GGUF file, tiktoken ranks
   * with their `pattern`, or a vocab.json with its `merges`. The content decides which of them it is.
   */
  static load(data: Bytes, options?: LoadOptions): Tokenizer;
  /** The number of tokens: entries of the model and added tokens. */
  readonly vocabSize: number;
  /** Return the id of a token, undefined for an unknown one. */
  tokenToId(token: string): number | undefined;
  /** Return the token of an id as it is in the vocabulary, undefined for an unknown one. */
  idToToken(id: number): string | undefined;

  /** Encode a text, or a text and its pair. */
  encode(text: string, options?: EncodeOptions & { pair?: string }): Encoding;
  /** Encode many texts into flat columns. */
  encodeBatch(texts: string[], options?: BatchOptions): Batch;
  /** Return the number of tokens of a text. */
  count(text: string, options?: EncodeOptions): number;
  /** Return the number of tokens of each text. */
  countBatch(texts: string[], options?: EncodeOptions): Uint32Array;
  /**
   * Encode the segments of a prompt, each with the permission to contain special tokens.
   *
   * The result is the encoding of the concatenated texts, except that special tokens match only inside one segment that
   * allows them; elsewhere their text is plain text.
   */
  encodeSegments(segments: [text: string, allowSpecial: boolean][], options?: SegmentOptions): SegmentedEncoding;

  /** Return the text of ids. Unknown ids are skipped. */
  decode(ids: Ids, options?: DecodeOptions): string;
  /** Return the text of each row of ids. */
  decodeBatch(rows: Iterable<Ids>, options?: DecodeOptions): string[];
  /** Return a stream that decodes one id at a time, after the ids of `prefill`, whose text it does not return. */
  decodeStream(options?: DecodeOptions & { prefill?: Ids }): DecodeStream;

  /** Return how each word of a text of at most 500 characters is segmented. */
  explain(text: string): Explanation;
  /**
   * Return the `n` best segmentations of a text of at most 500 characters, or `n` samples; 5 by default.
   *
   * `alpha` is the factor of the scores of a Unigram model, or the dropout of a BPE model, which has samples only; 0.1 by
   * default.
   */
  segmentations(
    text: string,
    options?: { draw?: "best" | "sample"; n?: number; alpha?: number; seed?: number },
  ): Segmentation[];
  /** Return the tokenizer as the text of a tokenizer.json. */
  toStr(): string;
  /** Free the memory; the tokenizer cannot be used afterwards. */
  free(): void;
}

/**
 * The tokens of a text: columns with one item for each token.
 *
 * `ids` are there at once. The first use of another column encodes the text again, so the tokenizer must not be freed yet.
 */
export class Encoding {
  private constructor();
  readonly length: number;
  readonly ids: Uint32Array;
  /** The tokens as they are in the vocabulary. */
  readonly tokens: string[];
  /** Where each token starts and ends: token `i` is `text.slice(offsets[2 * i], offsets[2 * i + 1])`. */
  readonly offsets: Uint32Array;
  /** 0 for the first text and 1 for its pair, as the post-processor says. */
  readonly typeIds: Uint8Array;
  /** The index of the word of each token, -1 for tokens that the post-processor added. */
  readonly wordIds: Int32Array;
  /** 0 for tokens of the text, 1 for its pair, -1 for tokens that the post-processor added. */
  readonly sequenceIds: Int8Array;
  /** 1 for tokens that the post-processor added. */
  readonly specialTokensMask: Uint8Array;
}

/** The encoding of the segments of a prompt. */
export class SegmentedEncoding {
  private constructor();
  readonly encoding: Encoding;
  readonly ids: Uint32Array;
  /** The start and end of each segment in the concatenated text. */
  readonly charSpans: [number, number][];
  /** The first token of each segment and the one after its last. A token with characters of two belongs to both. */
  readonly tokenSpans: [number, number][];
}

/** The tokens of many texts; row `i` is `ids.subarray(rowOffsets[i], rowOffsets[i + 1])`. */
export class Batch implements Iterable<Uint32Array> {
  private constructor();
  /** The number of rows. */
  readonly length: number;
  /** The ids of all rows. */
  readonly ids: Uint32Array;
  /** The start of each row in `ids`, and the end of the last. */
  readonly rowOffsets: Uint32Array;
  readonly typeIds: Uint8Array;
  /** The index of the text of each row. */
  readonly overflowToSampleMapping: Uint32Array;
  /** As in `Encoding`, for all rows; these four need the option `offsets`. */
  readonly offsets: Uint32Array;
  readonly wordIds: Int32Array;
  readonly sequenceIds: Int8Array;
  readonly specialTokensMask: Uint8Array;
  /** Return the ids of a row, without a copy; -1 is the last row. */
  row(index: number): Uint32Array;
  [Symbol.iterator](): Iterator<Uint32Array>;
  toLists(): number[][];
}

/** Decodes the ids of one sequence as they arrive, in complete characters; the texts together equal `decode` of all ids. */
export class DecodeStream {
  private constructor();
  /** Return the text that the next id adds, "" while a character is incomplete. */
  step(id: number | bigint): string;
  /** Return the text of incomplete characters, "" without one, and reset the stream. */
  finish(): string;
  /** Yield the texts that ids add, and at the end the text of incomplete characters. */
  feed(ids: Iterable<number | bigint>): Generator<string>;
  /** Free the memory; the stream cannot be used afterwards. */
  free(): void;
}

/**
 * Train on the lines of a text.
 *
 * `template` is the text of a tokenizer.json: the result has its stages, its special tokens and the settings of its model,
 * and learned entries instead of its own. The first `steps` steps are reported, 0 by default; Unigram's with the lattice of
 * `word`, or of a long word of the text.
 */
export function train(
  text: string,
  options: { learner: Learner; vocabSize: number; template: string; steps?: number; word?: string },
): { tokenizer: Tokenizer; trace: Trace };

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
/** How a vocabulary was learned; names and values are those of `explain_training` in the Python package. */
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
