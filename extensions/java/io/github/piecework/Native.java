package io.github.piecework;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/** The functions of piecework.h, their objects, and the memory that a call needs. */
final class Native {
  private static final String LIBRARY = "libpiecework.so.0";
  private static final String PROPERTY = "piecework.library";

  /** Why the library cannot be used; null if it can. */
  private static String failure;

  private static final SymbolLookup SYMBOLS = open();

  // Types of C on 64-bit machines, by the names that the declarations below use.
  private static final ValueLayout SIZE = JAVA_LONG, U32 = JAVA_INT, BOOL = ValueLayout.JAVA_BOOLEAN, POINTER = ADDRESS, VOID = null;

  static final MethodHandle
      VERSION = function("piecework_version", POINTER),
      ERROR_KIND = function("piecework_error_kind", U32, POINTER),
      ERROR_MESSAGE = function("piecework_error_message", POINTER, POINTER, POINTER),
      ERROR_PLACE = function("piecework_error_place", POINTER, POINTER, POINTER),
      ERROR_FREE = function("piecework_error_free", VOID, POINTER),
      LOAD_FILE = function("piecework_load_file", POINTER, POINTER, SIZE, POINTER, POINTER),
      LOAD_BYTES = function("piecework_load_bytes", POINTER, POINTER, SIZE, POINTER, POINTER),
      WITH_TRUNCATION = function("piecework_with_truncation", POINTER, POINTER, POINTER, POINTER),
      WITH_PADDING = function("piecework_with_padding", POINTER, POINTER, POINTER, POINTER),
      TOKENIZER_FREE = function("piecework_tokenizer_free", VOID, POINTER),
      WARM_UP = function("piecework_warm_up", VOID, POINTER),
      FINGERPRINT = function("piecework_fingerprint", SIZE, POINTER, POINTER, SIZE, POINTER),
      VOCAB_SIZE = function("piecework_vocab_size", SIZE, POINTER),
      TOKEN_TO_ID = function("piecework_token_to_id", BOOL, POINTER, POINTER, SIZE, POINTER),
      ID_TO_TOKEN = function("piecework_id_to_token", POINTER, POINTER, U32, POINTER),
      ENCODE_IDS = function("piecework_encode_ids", SIZE, POINTER, POINTER, SIZE, POINTER, POINTER, SIZE, POINTER),
      COUNT = function("piecework_count", SIZE, POINTER, POINTER, SIZE, POINTER, POINTER),
      ENCODE = function("piecework_encode", POINTER, POINTER, POINTER, SIZE, POINTER, SIZE, POINTER, POINTER),
      ENCODE_SEGMENTS = function("piecework_encode_segments", POINTER, POINTER, POINTER, SIZE, POINTER, SIZE, POINTER, POINTER),
      ENCODING_LEN = function("piecework_encoding_len", SIZE, POINTER),
      ENCODING_IDS = function("piecework_encoding_ids", POINTER, POINTER),
      ENCODING_TYPE_IDS = function("piecework_encoding_type_ids", POINTER, POINTER),
      ENCODING_ATTENTION_MASK = function("piecework_encoding_attention_mask", POINTER, POINTER),
      ENCODING_SPECIAL_TOKENS_MASK = function("piecework_encoding_special_tokens_mask", POINTER, POINTER),
      ENCODING_OFFSETS = function("piecework_encoding_offsets", POINTER, POINTER),
      ENCODING_WORD_IDS = function("piecework_encoding_word_ids", POINTER, POINTER),
      ENCODING_SEQUENCE_IDS = function("piecework_encoding_sequence_ids", POINTER, POINTER),
      ENCODING_TOKEN = function("piecework_encoding_token", POINTER, POINTER, SIZE, POINTER),
      ENCODING_WINDOW_COUNT = function("piecework_encoding_window_count", SIZE, POINTER),
      ENCODING_WINDOW = function("piecework_encoding_window", POINTER, POINTER, SIZE),
      ENCODING_SEGMENTS = function("piecework_encoding_segments", POINTER, POINTER, POINTER),
      ENCODING_FREE = function("piecework_encoding_free", VOID, POINTER),
      ENCODE_BATCH = function("piecework_encode_batch", POINTER, POINTER, POINTER, POINTER, SIZE, POINTER, POINTER),
      COUNT_BATCH = function("piecework_count_batch", BOOL, POINTER, POINTER, SIZE, POINTER, POINTER, POINTER),
      BATCH_LEN = function("piecework_batch_len", SIZE, POINTER),
      BATCH_IDS = function("piecework_batch_ids", POINTER, POINTER),
      BATCH_ROW_OFFSETS = function("piecework_batch_row_offsets", POINTER, POINTER),
      BATCH_TYPE_IDS = function("piecework_batch_type_ids", POINTER, POINTER),
      BATCH_ATTENTION_MASK = function("piecework_batch_attention_mask", POINTER, POINTER),
      BATCH_OFFSETS = function("piecework_batch_offsets", POINTER, POINTER),
      BATCH_SAMPLES = function("piecework_batch_samples", POINTER, POINTER),
      BATCH_FREE = function("piecework_batch_free", VOID, POINTER),
      DECODE = function("piecework_decode", SIZE, POINTER, POINTER, SIZE, POINTER, POINTER, SIZE, POINTER),
      DECODE_BYTES = function("piecework_decode_bytes", SIZE, POINTER, POINTER, SIZE, POINTER, SIZE, POINTER),
      DECODE_STREAM = function("piecework_decode_stream", POINTER, POINTER, POINTER, SIZE, POINTER, POINTER),
      STREAM_STEP = function("piecework_stream_step", POINTER, POINTER, U32, POINTER, POINTER),
      STREAM_FINISH = function("piecework_stream_finish", POINTER, POINTER, POINTER, POINTER),
      STREAM_FREE = function("piecework_stream_free", VOID, POINTER);

  private Native() {}

  private static SymbolLookup open() {
    String path = System.getProperty(PROPERTY);
    try {
      if (path != null) return SymbolLookup.libraryLookup(Path.of(path), Arena.global());
      return SymbolLookup.libraryLookup(LIBRARY, Arena.global());
    } catch (IllegalArgumentException error) {
      String found = path == null ? "found no " + LIBRARY + " on the loader's path" : "cannot open " + path + ", the property " + PROPERTY;
      failure = "piecework: " + found + "; run `make install-capi && ldconfig`, or start java with -D" + PROPERTY + "=/path/to/" + LIBRARY;
      return name -> Optional.empty();
    }
  }

  private static MethodHandle function(String name, ValueLayout result, MemoryLayout... parameters) {
    MemorySegment address = SYMBOLS.find(name).orElse(null);
    if (address == null) {
      if (failure == null) failure = "piecework: the library lacks " + name + "; install the version of this package";
      return null;
    }
    FunctionDescriptor type = result == null ? FunctionDescriptor.ofVoid(parameters) : FunctionDescriptor.of(result, parameters);
    return Linker.nativeLinker().downcallHandle(address, type);
  }

  /** Throw unless the library can be used; a tokenizer exists only if it can. */
  static void require() {
    if (failure != null) throw new UnsatisfiedLinkError(failure);
  }

  // ---- Calls

  /** A call of the library. Its memory lives until it returns, and the function stores its error at `error`. */
  interface Call<T> {
    T on(MemorySegment object, Arena memory, MemorySegment error) throws Throwable;
  }

  static <T> T call(MemorySegment object, Call<T> call) {
    try (Arena memory = Arena.ofConfined()) {
      return call.on(object, memory, memory.allocate(ADDRESS));
    } catch (RuntimeException | Error error) {
      throw error;
    } catch (Throwable error) {
      throw new AssertionError(error);
    }
  }

  /** Throw the error that a function stored, if any. */
  static void check(Arena memory, MemorySegment error) throws Throwable {
    MemorySegment found = error.get(ADDRESS, 0);
    if (found.address() == 0) return;
    try {
      PieceworkException.Kind[] kinds = PieceworkException.Kind.values();
      int kind = Math.min((int) ERROR_KIND.invokeExact(found), kinds.length);
      MemorySegment len = memory.allocate(SIZE);
      String place = string((MemorySegment) ERROR_PLACE.invokeExact(found, len), len);
      throw new PieceworkException(kinds[kind - 1], place, -1, string((MemorySegment) ERROR_MESSAGE.invokeExact(found, len), len));
    } finally {
      ERROR_FREE.invokeExact(found);
    }
  }

  interface Fill {
    long into(MemorySegment buffer, long capacity) throws Throwable;
  }

  /** Return what a function writes, which returns its length: the function runs again if the buffer was too small. */
  static MemorySegment filled(Arena memory, MemorySegment error, ValueLayout item, long capacity, Fill fill) throws Throwable {
    for (;;) {
      MemorySegment buffer = memory.allocate(item, capacity);
      long len = fill.into(buffer, capacity);
      check(memory, error);
      if (len <= capacity) return buffer.asSlice(0, len * item.byteSize());
      capacity = len;
    }
  }

  /** An object of the library. `close` frees it, otherwise the garbage collector does. */
  static final class Handle implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();

    private final String name;
    private final MemorySegment object;
    private final Cleaner.Cleanable free;
    private final LongAdder entered = new LongAdder(), left = new LongAdder();
    private volatile boolean closed;

    Handle(String name, MemorySegment object, MethodHandle free) {
      this.name = name;
      this.object = object;
      this.free = CLEANER.register(this, () -> free(free, object));
    }

    <T> T use(Call<T> call) {
      entered.increment();
      VarHandle.fullFence();
      try {
        if (closed) throw new IllegalStateException("the " + name + " is closed");
        return call(object, call);
      } finally {
        left.increment();
        Reference.reachabilityFence(this);
      }
    }

    /** Let no call begin, wait for calls that run, and free the object. */
    @Override
    public void close() {
      closed = true;
      VarHandle.fullFence();
      // Both counters only grow, and `left` is read first: if the sums are equal, no call ran between the two reads.
      while (left.sum() != entered.sum()) LockSupport.parkNanos(50_000);
      free.clean();
    }
  }

  static void free(MethodHandle free, MemorySegment object) {
    try {
      free.invokeExact(object);
    } catch (Throwable error) {
      throw new AssertionError(error);
    }
  }

  // ---- What functions return

  static String string(MemorySegment data, MemorySegment len) {
    return new String(bytes(data, len.get(JAVA_LONG, 0)), StandardCharsets.UTF_8);
  }

  static byte[] bytes(MemorySegment column, long count) {
    return column.address() == 0 ? null : column.reinterpret(count).toArray(JAVA_BYTE);
  }

  static int[] ints(MemorySegment column, long count) {
    return column.reinterpret(4 * count).toArray(JAVA_INT);
  }

  static long[] longs(MemorySegment column, long count) {
    return column.address() == 0 ? null : column.reinterpret(8 * count).toArray(JAVA_LONG);
  }

  // ---- What functions read

  /** Return a text as UTF-8. A surrogate without its other half, for which Java would write `?`, is an error or becomes U+FFFD. */
  static byte[] utf8(String text, String place, boolean replace) {
    int at = loneSurrogate(text);
    if (at >= 0 && !replace) {
      String message = place + ": found a lone surrogate, which no encoding has, at index " + at;
      throw new PieceworkException(PieceworkException.Kind.UTF8, place, at, message);
    }
    return (at < 0 ? text : text.replaceAll("\\p{Cs}", "\uFFFD")).getBytes(StandardCharsets.UTF_8);
  }

  private static int loneSurrogate(String text) {
    for (int at = 0; at < text.length(); at++) {
      if (!Character.isSurrogate(text.charAt(at))) continue;
      if (Character.charCount(text.codePointAt(at)) == 1) return at;
      at++;
    }
    return -1;
  }

  static MemorySegment memory(Arena memory, byte[] bytes) {
    return memory.allocateFrom(JAVA_BYTE, bytes);
  }

  /** Return an array of piecework_str; NULL for null. */
  static MemorySegment strings(Arena memory, Collection<String> texts, String place, boolean replace) {
    if (texts == null) return MemorySegment.NULL;
    MemorySegment array = memory.allocate(Math.max(1, 16L * texts.size()), 8);
    byte[][] all = new byte[texts.size()][];
    long len = 0;
    int row = 0;
    for (String text : texts) {
      all[row] = utf8(text, place + "[" + row + "]", replace);
      len += all[row++].length;
    }
    MemorySegment data = memory.allocate(Math.max(1, len));
    long at = 0;
    for (row = 0; row < all.length; row++) {
      MemorySegment.copy(all[row], 0, data, JAVA_BYTE, at, all[row].length);
      array.setAtIndex(JAVA_LONG, 2L * row, data.address() + at);
      array.setAtIndex(JAVA_LONG, 2L * row + 1, all[row].length);
      at += all[row].length;
    }
    return array;
  }

  /** Return the place where the fields of a structure are written, in their order. */
  static ByteBuffer fields(MemorySegment structure) {
    return structure.asByteBuffer().order(ByteOrder.nativeOrder());
  }
}
