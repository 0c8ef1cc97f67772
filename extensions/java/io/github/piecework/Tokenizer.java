package io.github.piecework;

import static io.github.piecework.Native.check;
import static io.github.piecework.Native.fields;
import static io.github.piecework.Native.filled;
import static io.github.piecework.Native.ints;
import static io.github.piecework.Native.utf8;
import static java.lang.foreign.MemorySegment.NULL;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * Text to token ids and back. A tokenizer never changes: any number of threads use one at the same time, virtual threads too.
 *
 * <p>Results are ordinary Java objects; only tokenizers and streams hold memory of the library. Calls after {@link #close} throw {@link
 * IllegalStateException}. Offsets are indices into the String that was encoded.
 */
public final class Tokenizer implements AutoCloseable {
  private final Native.Handle handle;

  private Tokenizer(MemorySegment object) {
    handle = new Native.Handle("tokenizer", object, Native.TOKENIZER_FREE);
  }

  // ---- Options

  /** Which special tokens are parsed where they are written in a text; by default, the tokenizer decides. */
  public enum ParseSpecial { DEFAULT, ALL, NOTHING, REFUSE }

  public enum Strategy { LONGEST_FIRST, ONLY_FIRST, ONLY_SECOND }

  public enum Side { RIGHT, LEFT }

  /**
   * How to encode.
   *
   * @param addSpecialTokens insert [CLS] and the like
   * @param parsedTokens unless null: of the special tokens, parse these only
   * @param replaceLoneSurrogates encode U+FFFD in their place; otherwise they are an error
   * @param offsets compute the offsets of batches
   * @param overflow give each window of a truncated text a row of the batch
   * @param numThreads of batches; 0: as many as CPUs
   */
  public record Options(
      boolean addSpecialTokens, ParseSpecial parseSpecial, Collection<String> parsedTokens, boolean replaceLoneSurrogates, boolean offsets, boolean overflow,
      int numThreads) {
    public static final Options DEFAULT = new Options(true, ParseSpecial.DEFAULT, null, false, false, false, 0);

    public Options addSpecialTokens(boolean add) {
      return new Options(add, parseSpecial, parsedTokens, replaceLoneSurrogates, offsets, overflow, numThreads);
    }

    public Options parseSpecial(ParseSpecial special) {
      return new Options(addSpecialTokens, special, parsedTokens, replaceLoneSurrogates, offsets, overflow, numThreads);
    }

    public Options parsedTokens(Collection<String> tokens) {
      return new Options(addSpecialTokens, parseSpecial, tokens, replaceLoneSurrogates, offsets, overflow, numThreads);
    }

    public Options replaceLoneSurrogates(boolean replace) {
      return new Options(addSpecialTokens, parseSpecial, parsedTokens, replace, offsets, overflow, numThreads);
    }

    public Options offsets(boolean compute) {
      return new Options(addSpecialTokens, parseSpecial, parsedTokens, replaceLoneSurrogates, compute, overflow, numThreads);
    }

    public Options overflow(boolean rows) {
      return new Options(addSpecialTokens, parseSpecial, parsedTokens, replaceLoneSurrogates, offsets, rows, numThreads);
    }

    public Options numThreads(int threads) {
      return new Options(addSpecialTokens, parseSpecial, parsedTokens, replaceLoneSurrogates, offsets, overflow, threads);
    }

    private MemorySegment in(Arena memory) {
      MemorySegment structure = memory.allocate(56, 8);
      ByteBuffer next = fields(structure).putLong(56);
      next.putLong(Native.strings(memory, parsedTokens, "options.parsed_tokens", false).address());
      next.putLong(parsedTokens == null ? 0 : parsedTokens.size());
      next.putInt(addSpecialTokens ? 0 : NO).putInt(parseSpecial.ordinal()).putInt(0).putInt(UTF16);
      next.putInt(offsets ? YES : 0).putInt(overflow ? YES : 0).putInt(numThreads);
      return structure;
    }

    /** As `in`, for calls that return no offsets: defaults need no structure. */
    private MemorySegment forIds(Arena memory) {
      return this == DEFAULT ? NULL : in(memory);
    }
  }

  private static final int YES = 1, NO = 2, UTF16 = 2;

  /** What some formats lack: merges of a vocab.json, patterns and special tokens of tiktoken's ranks, the case of a vocab.txt. Each may be null. */
  public record LoadOptions(String merges, List<String> patterns, Map<String, Integer> specialTokens, Boolean lowercase) {
    public static final LoadOptions DEFAULT = new LoadOptions(null, null, null, null);

    private MemorySegment in(Arena memory) {
      MemorySegment structure = memory.allocate(64, 8);
      ByteBuffer next = fields(structure).putLong(64);
      byte[] content = merges == null ? new byte[0] : utf8(merges, "merges", false);
      next.putLong(merges == null ? 0 : Native.memory(memory, content).address()).putLong(content.length);
      next.putLong(Native.strings(memory, patterns, "patterns", false).address()).putLong(patterns == null ? 0 : patterns.size());
      next.putLong(special(memory).address()).putLong(specialTokens == null ? 0 : specialTokens.size());
      next.putInt(lowercase == null ? 0 : lowercase ? YES : NO);
      return structure;
    }

    private MemorySegment special(Arena memory) {
      if (specialTokens == null) return NULL;
      MemorySegment array = memory.allocate(Math.max(1, 24L * specialTokens.size()), 8);
      MemorySegment tokens = Native.strings(memory, specialTokens.keySet(), "specialTokens", false);
      int at = 0;
      for (int id : specialTokens.values()) {
        MemorySegment.copy(tokens, 16L * at, array, 24L * at, 16);
        array.set(JAVA_INT, 24L * at++ + 16, id);
      }
      return array;
    }
  }

  /** The most tokens of a row, with special tokens; each window repeats `stride` tokens of the one before. */
  public record Truncation(int maxLength, int stride, Strategy strategy, Side side) {
    public Truncation(int maxLength) {
      this(maxLength, 0, Strategy.LONGEST_FIRST, Side.RIGHT);
    }
  }

  /** Pad to `length`, or to the longest row of a batch if it is 0, and up to a multiple of `multipleOf` unless it is 0. */
  public record Padding(String padToken, int padId, int padTypeId, int length, int multipleOf, Side side) {
    public Padding(String padToken, int padId) {
      this(padToken, padId, 0, 0, 0, Side.RIGHT);
    }
  }

  // ---- Results

  /**
   * The tokens of a text: an item of each array for each token.
   *
   * @param starts the index in the text where each token starts; 0 for inserted tokens
   * @param typeIds usually 0 for the text and 1 for the pair
   * @param attentionMask 1 for tokens, 0 for padding
   * @param specialTokensMask 1 for tokens that were inserted, 0 for tokens of the text
   * @param wordIds the index of the word of each token in its text, or -1
   * @param sequenceIds 0 for tokens of the text, 1 for tokens of the pair, or -1
   * @param windows what truncation cut off
   * @param segments the tokens of each segment of a prompt
   */
  public record Encoding(
      int[] ids, String[] tokens, int[] starts, int[] ends, int[] typeIds, byte[] attentionMask, byte[] specialTokensMask, int[] wordIds, int[] sequenceIds,
      List<Encoding> windows, List<Span> segments) {
    public int size() {
      return ids.length;
    }
  }

  /** The half-open interval [start, end). */
  public record Span(int start, int end) {}

  /**
   * Many texts: the columns of all rows, one row after the other, and the index of the text of each row.
   *
   * @param rowOffsets the start of each row in the columns, and the end of the last
   * @param typeIds null if all are 0
   * @param attentionMask null if the tokenizer does not pad
   * @param starts null without the option `offsets`, as `ends`
   */
  public record Batch(int[] ids, long[] rowOffsets, byte[] typeIds, byte[] attentionMask, int[] starts, int[] ends, int[] samples) {
    public int size() {
      return samples.length;
    }

    /** Return the ids of a row. */
    public int[] row(int row) {
      return Arrays.copyOfRange(ids, (int) rowOffsets[row], (int) rowOffsets[row + 1]);
    }
  }

  /** A part of a prompt; unless it may contain special tokens, everything in it is plain text. */
  public record Segment(String text, boolean allowSpecial) {}

  // ---- Load

  /** Return the version of the library. */
  public static String version() {
    Native.require();
    return Native.call(NULL, (none, memory, error) -> ((MemorySegment) Native.VERSION.invokeExact()).reinterpret(Long.MAX_VALUE).getString(0));
  }

  /** Load a tokenizer file: tokenizer.json, vocab.txt, SentencePiece .model, tiktoken ranks, GGUF, ... The content decides the format. */
  public static Tokenizer load(Path file) {
    return load(file, LoadOptions.DEFAULT);
  }

  public static Tokenizer load(Path file, LoadOptions options) {
    return load(Native.LOAD_FILE, utf8(file.toString(), "path", false), options);
  }

  /** Load the content of a tokenizer file. */
  public static Tokenizer load(byte[] content) {
    return load(content, LoadOptions.DEFAULT);
  }

  public static Tokenizer load(byte[] content, LoadOptions options) {
    return load(Native.LOAD_BYTES, content, options);
  }

  private static Tokenizer load(MethodHandle function, byte[] bytes, LoadOptions options) {
    Native.require();
    return Native.call(NULL, (none, memory, error) -> {
      MemorySegment found = (MemorySegment) function.invokeExact(Native.memory(memory, bytes), (long) bytes.length, options.in(memory), error);
      check(memory, error);
      return new Tokenizer(found);
    });
  }

  /** Return another tokenizer, which truncates, or does not for null. It shares the tables; close both. */
  public Tokenizer withTruncation(Truncation truncation) {
    return handle.use((tokenizer, memory, error) -> {
      MemorySegment structure = truncation == null ? NULL : memory.allocate(32, 8);
      if (truncation != null) {
        ByteBuffer next = fields(structure).putLong(32).putLong(truncation.maxLength).putLong(truncation.stride);
        next.putInt(truncation.strategy.ordinal()).putInt(truncation.side.ordinal());
      }
      MemorySegment found = (MemorySegment) Native.WITH_TRUNCATION.invokeExact(tokenizer, structure, error);
      check(memory, error);
      return new Tokenizer(found);
    });
  }

  /** Return another tokenizer, which pads encodings and batches, or does not for null. It shares the tables; close both. */
  public Tokenizer withPadding(Padding padding) {
    return handle.use((tokenizer, memory, error) -> {
      MemorySegment structure = padding == null ? NULL : memory.allocate(56, 8);
      if (padding != null) {
        byte[] token = utf8(padding.padToken, "pad_token", false);
        ByteBuffer next = fields(structure).putLong(56).putLong(Native.memory(memory, token).address()).putLong(token.length);
        next.putLong(padding.length).putLong(padding.multipleOf).putInt(padding.padId).putInt(padding.padTypeId).putInt(padding.side.ordinal());
      }
      MemorySegment found = (MemorySegment) Native.WITH_PADDING.invokeExact(tokenizer, structure, error);
      check(memory, error);
      return new Tokenizer(found);
    });
  }

  /** Free the tokenizer when the calls that use it have returned. */
  @Override
  public void close() {
    handle.close();
  }

  // ---- Look up

  /** Build every table that calls would build late, so that no request waits for one. A server calls it once. */
  public void warmUp() {
    handle.use((tokenizer, memory, error) -> {
      Native.WARM_UP.invokeExact(tokenizer);
      return null;
    });
  }

  /** Return a checksum of everything that affects ids, which equals the fingerprint of the Python package. */
  public String fingerprint() {
    return handle.use((tokenizer, memory, error) ->
        text(filled(memory, error, JAVA_BYTE, 64, (digits, capacity) -> (long) Native.FINGERPRINT.invokeExact(tokenizer, digits, capacity, error))));
  }

  public int vocabSize() {
    return handle.use((tokenizer, memory, error) -> (int) (long) Native.VOCAB_SIZE.invokeExact(tokenizer));
  }

  public OptionalInt tokenToId(String token) {
    return handle.use((tokenizer, memory, error) -> {
      byte[] bytes = utf8(token, "token", false);
      MemorySegment id = memory.allocate(JAVA_INT);
      boolean known = (boolean) Native.TOKEN_TO_ID.invokeExact(tokenizer, Native.memory(memory, bytes), (long) bytes.length, id);
      return known ? OptionalInt.of(id.get(JAVA_INT, 0)) : OptionalInt.empty();
    });
  }

  /** Return the token of an id; null if there is none. */
  public String idToToken(int id) {
    return handle.use((tokenizer, memory, error) -> {
      MemorySegment len = memory.allocate(JAVA_LONG), token = (MemorySegment) Native.ID_TO_TOKEN.invokeExact(tokenizer, id, len);
      return token.address() == 0 ? null : Native.string(token, len);
    });
  }

  // ---- Encode

  public int[] encodeIds(String text) {
    return encodeIds(text, Options.DEFAULT);
  }

  /** Return the ids of a text, truncated and not padded. */
  public int[] encodeIds(String text, Options options) {
    byte[] bytes = utf8(text, "text", options.replaceLoneSurrogates);
    return handle.use((tokenizer, memory, error) -> {
      MemorySegment data = Native.memory(memory, bytes), settings = options.forIds(memory);
      return filled(memory, error, JAVA_INT, bytes.length / 2 + 8, (ids, capacity) ->
          (long) Native.ENCODE_IDS.invokeExact(tokenizer, data, (long) bytes.length, settings, ids, capacity, error)).toArray(JAVA_INT);
    });
  }

  public int count(String text) {
    return count(text, Options.DEFAULT);
  }

  /** Return the number of ids of a text. */
  public int count(String text, Options options) {
    byte[] bytes = utf8(text, "text", options.replaceLoneSurrogates);
    return handle.use((tokenizer, memory, error) -> {
      long count = (long) Native.COUNT.invokeExact(tokenizer, Native.memory(memory, bytes), (long) bytes.length, options.forIds(memory), error);
      check(memory, error);
      return Math.toIntExact(count);
    });
  }

  public Encoding encode(String text) {
    return encode(text, null, Options.DEFAULT);
  }

  public Encoding encode(String text, String pair) {
    return encode(text, pair, Options.DEFAULT);
  }

  /** Encode a text, or a pair of texts unless `pair` is null, with every field. */
  public Encoding encode(String text, String pair, Options options) {
    byte[] first = utf8(text, "text", options.replaceLoneSurrogates);
    byte[] second = pair == null ? new byte[0] : utf8(pair, "pair", options.replaceLoneSurrogates);
    return handle.use((tokenizer, memory, error) -> {
      MemorySegment data = Native.memory(memory, first), other = pair == null ? NULL : Native.memory(memory, second);
      MemorySegment settings = options.in(memory);
      return encoding(memory, error, (MemorySegment) Native.ENCODE.invokeExact(
          tokenizer, data, (long) first.length, other, (long) second.length, settings, error));
    });
  }

  public Encoding encodeSegments(List<Segment> segments) {
    return encodeSegments(segments, null, Options.DEFAULT);
  }

  /**
   * Encode the concatenated segments of a prompt. Nothing is inserted, and offsets are indices into the concatenated text.
   *
   * @param markers added tokens that segments without permission must not contain, besides special tokens; null: all added tokens
   * @param options only replaceLoneSurrogates applies
   */
  public Encoding encodeSegments(List<Segment> segments, Collection<String> markers, Options options) {
    return handle.use((tokenizer, memory, error) -> {
      List<String> texts = segments.stream().map(Segment::text).toList();
      MemorySegment strings = Native.strings(memory, texts, "segments", options.replaceLoneSurrogates);
      MemorySegment array = memory.allocate(Math.max(1, 24L * texts.size()), 8);
      for (int at = 0; at < texts.size(); at++) {
        MemorySegment.copy(strings, 16L * at, array, 24L * at, 16);
        array.set(JAVA_INT, 24L * at + 16, segments.get(at).allowSpecial ? 1 : 0);
      }
      MemorySegment refused = Native.strings(memory, markers, "markers", false);
      long refusedCount = markers == null ? 0 : markers.size();
      return encoding(memory, error, (MemorySegment) Native.ENCODE_SEGMENTS.invokeExact(
          tokenizer, array, (long) texts.size(), refused, refusedCount, options.in(memory), error));
    });
  }

  private static Encoding encoding(Arena memory, MemorySegment error, MemorySegment found) throws Throwable {
    check(memory, error);
    try {
      return copied(memory.allocate(JAVA_LONG), found);
    } finally {
      Native.ENCODING_FREE.invokeExact(found);
    }
  }

  private static Encoding copied(MemorySegment len, MemorySegment from) throws Throwable {
    int count = Math.toIntExact((long) Native.ENCODING_LEN.invokeExact(from));
    String[] tokens = new String[count];
    for (int at = 0; at < count; at++)
      tokens[at] = Native.string((MemorySegment) Native.ENCODING_TOKEN.invokeExact(from, (long) at, len), len);
    long[] offsets = Native.longs((MemorySegment) Native.ENCODING_OFFSETS.invokeExact(from), 2L * count);
    List<Encoding> windows = new ArrayList<>();
    long windowCount = (long) Native.ENCODING_WINDOW_COUNT.invokeExact(from);
    for (long at = 0; at < windowCount; at++)
      windows.add(copied(len, (MemorySegment) Native.ENCODING_WINDOW.invokeExact(from, at)));
    long[] spans = Native.longs((MemorySegment) Native.ENCODING_SEGMENTS.invokeExact(from, len), 2 * len.get(JAVA_LONG, 0));
    List<Span> segments = new ArrayList<>();
    for (int at = 0; spans != null && at < spans.length; at += 2) segments.add(new Span((int) spans[at], (int) spans[at + 1]));
    return new Encoding(
        ints((MemorySegment) Native.ENCODING_IDS.invokeExact(from), count), tokens, every(offsets, 2, 0), every(offsets, 2, 1),
        ints((MemorySegment) Native.ENCODING_TYPE_IDS.invokeExact(from), count),
        Native.bytes((MemorySegment) Native.ENCODING_ATTENTION_MASK.invokeExact(from), count),
        Native.bytes((MemorySegment) Native.ENCODING_SPECIAL_TOKENS_MASK.invokeExact(from), count),
        ints((MemorySegment) Native.ENCODING_WORD_IDS.invokeExact(from), count),
        ints((MemorySegment) Native.ENCODING_SEQUENCE_IDS.invokeExact(from), count), windows, segments);
  }

  /** Return every `step`th item as an int; null for null. */
  private static int[] every(long[] items, int step, int from) {
    if (items == null) return null;
    int[] found = new int[items.length / step];
    for (int at = 0; at < found.length; at++) found[at] = (int) items[step * at + from];
    return found;
  }

  // ---- Batches

  public Batch encodeBatch(List<String> texts) {
    return encodeBatch(texts, null, Options.DEFAULT);
  }

  /** Encode many texts, or pairs unless `pairs` is null, on several threads. */
  public Batch encodeBatch(List<String> texts, List<String> pairs, Options options) {
    if (pairs != null && pairs.size() != texts.size())
      throw new IllegalArgumentException("pairs: found " + pairs.size() + ", expected " + texts.size() + ", one for each text");
    return handle.use((tokenizer, memory, error) -> {
      MemorySegment first = Native.strings(memory, texts, "texts", options.replaceLoneSurrogates);
      MemorySegment second = Native.strings(memory, pairs, "pairs", options.replaceLoneSurrogates);
      MemorySegment found = (MemorySegment) Native.ENCODE_BATCH.invokeExact(tokenizer, first, second, (long) texts.size(), options.in(memory), error);
      check(memory, error);
      try {
        return copied(found);
      } finally {
        Native.BATCH_FREE.invokeExact(found);
      }
    });
  }

  private static Batch copied(MemorySegment from) throws Throwable {
    long rows = (long) Native.BATCH_LEN.invokeExact(from);
    long[] rowOffsets = Native.longs((MemorySegment) Native.BATCH_ROW_OFFSETS.invokeExact(from), rows + 1);
    int count = Math.toIntExact(rowOffsets[(int) rows]);
    long[] offsets = Native.longs((MemorySegment) Native.BATCH_OFFSETS.invokeExact(from), 2L * count);
    return new Batch(
        ints((MemorySegment) Native.BATCH_IDS.invokeExact(from), count), rowOffsets,
        Native.bytes((MemorySegment) Native.BATCH_TYPE_IDS.invokeExact(from), count),
        Native.bytes((MemorySegment) Native.BATCH_ATTENTION_MASK.invokeExact(from), count),
        every(offsets, 2, 0), every(offsets, 2, 1),
        every(Native.longs((MemorySegment) Native.BATCH_SAMPLES.invokeExact(from), rows), 1, 0));
  }

  public int[] countBatch(List<String> texts) {
    return countBatch(texts, Options.DEFAULT);
  }

  /** Return the number of ids of each text. */
  public int[] countBatch(List<String> texts, Options options) {
    return handle.use((tokenizer, memory, error) -> {
      MemorySegment strings = Native.strings(memory, texts, "texts", options.replaceLoneSurrogates);
      MemorySegment counts = memory.allocate(JAVA_LONG, texts.size());
      boolean counted = (boolean) Native.COUNT_BATCH.invokeExact(tokenizer, strings, (long) texts.size(), options.forIds(memory), counts, error);
      check(memory, error);
      return every(counts.toArray(JAVA_LONG), 1, 0);
    });
  }

  // ---- Decode

  /** Return the text of ids, without special tokens. Ids without a token are skipped. */
  public String decode(int... ids) {
    return decode(ids, true);
  }

  public String decode(int[] ids, boolean skipSpecialTokens) {
    return handle.use((tokenizer, memory, error) -> {
      MemorySegment numbers = memory.allocateFrom(JAVA_INT, ids), settings = decoding(memory, skipSpecialTokens);
      return text(filled(memory, error, JAVA_BYTE, 4L * ids.length + 8, (text, capacity) ->
          (long) Native.DECODE.invokeExact(tokenizer, numbers, (long) ids.length, settings, text, capacity, error)));
    });
  }

  /** Return the bytes of ids, special tokens included, which need not be UTF-8. An id without a token is an error. */
  public byte[] decodeBytes(int... ids) {
    return handle.use((tokenizer, memory, error) -> {
      MemorySegment numbers = memory.allocateFrom(JAVA_INT, ids);
      return filled(memory, error, JAVA_BYTE, 4L * ids.length + 8, (bytes, capacity) ->
          (long) Native.DECODE_BYTES.invokeExact(tokenizer, numbers, (long) ids.length, bytes, capacity, error)).toArray(JAVA_BYTE);
    });
  }

  private static MemorySegment decoding(Arena memory, boolean skipSpecialTokens) {
    MemorySegment structure = memory.allocate(16, 8);
    fields(structure).putLong(16).putInt(skipSpecialTokens ? YES : NO);
    return structure;
  }

  private static String text(MemorySegment bytes) {
    return new String(bytes.toArray(JAVA_BYTE), StandardCharsets.UTF_8);
  }

  /** Return a stream that decodes one id at a time, after the ids of a prompt, whose text it does not return. */
  public DecodeStream decodeStream(int... prefill) {
    return decodeStream(prefill, true);
  }

  public DecodeStream decodeStream(int[] prefill, boolean skipSpecialTokens) {
    return handle.use((tokenizer, memory, error) -> {
      MemorySegment numbers = memory.allocateFrom(JAVA_INT, prefill), settings = decoding(memory, skipSpecialTokens);
      MemorySegment found = (MemorySegment) Native.DECODE_STREAM.invokeExact(tokenizer, numbers, (long) prefill.length, settings, error);
      check(memory, error);
      return new DecodeStream(found);
    });
  }

  /** Returns the text that each id adds: whole characters. It does not need its tokenizer to stay open. */
  public static final class DecodeStream implements AutoCloseable {
    private final Native.Handle handle;

    private DecodeStream(MemorySegment object) {
      handle = new Native.Handle("stream", object, Native.STREAM_FREE);
    }

    public synchronized String step(int id) {
      return handle.use((stream, memory, error) -> {
        MemorySegment len = memory.allocate(JAVA_LONG), text = (MemorySegment) Native.STREAM_STEP.invokeExact(stream, id, len, error);
        check(memory, error);
        return Native.string(text, len);
      });
    }

    /** Return the text that is still buffered: U+FFFD for an incomplete character. The stream can be used again. */
    public synchronized String finish() {
      return handle.use((stream, memory, error) -> {
        MemorySegment len = memory.allocate(JAVA_LONG), text = (MemorySegment) Native.STREAM_FINISH.invokeExact(stream, len, error);
        check(memory, error);
        return Native.string(text, len);
      });
    }

    @Override
    public void close() {
      handle.close();
    }
  }
}
