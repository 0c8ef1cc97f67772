/* Every method of the Java package, right and wrong, alone and from many threads. */

import io.github.piecework.PieceworkException;
import io.github.piecework.PieceworkException.Kind;
import io.github.piecework.Tokenizer;
import io.github.piecework.Tokenizer.Batch;
import io.github.piecework.Tokenizer.DecodeStream;
import io.github.piecework.Tokenizer.Encoding;
import io.github.piecework.Tokenizer.LoadOptions;
import io.github.piecework.Tokenizer.Options;
import io.github.piecework.Tokenizer.Padding;
import io.github.piecework.Tokenizer.ParseSpecial;
import io.github.piecework.Tokenizer.Segment;
import io.github.piecework.Tokenizer.Side;
import io.github.piecework.Tokenizer.Span;
import io.github.piecework.Tokenizer.Strategy;
import io.github.piecework.Tokenizer.Truncation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public final class Calls {
  private static final String VOCAB = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nto\nbe\n##s\nor\nnot\né\n";
  private static final Options BARE = Options.DEFAULT.addSpecialTokens(false);

  private static Tokenizer load(String content) {
    return Tokenizer.load(content.getBytes(StandardCharsets.UTF_8));
  }

  private static void equal(Object found, Object expected) {
    if (!Objects.deepEquals(found, expected)) throw new AssertionError("found " + shown(found) + ", expected " + shown(expected));
  }

  private static String shown(Object value) {
    return java.util.Arrays.deepToString(new Object[] {value});
  }

  private static int[] ints(int... items) {
    return items;
  }

  private static byte[] bytes(int... items) {
    byte[] found = new byte[items.length];
    for (int at = 0; at < items.length; at++) found[at] = (byte) items[at];
    return found;
  }

  private static void refused(Callable<?> call, Kind kind, String place, int position, String part) throws Exception {
    try {
      call.call();
    } catch (PieceworkException error) {
      if (error.kind() != kind || !error.place().equals(place) || error.position() != position || !error.getMessage().contains(part))
        throw new AssertionError("found " + error.kind() + " at " + error.place() + " " + error.position(), error);
      return;
    }
    throw new AssertionError("expected an error with " + part);
  }

  private static void ids(Tokenizer tokenizer) throws Exception {
    equal(tokenizer.encodeIds("to bes"), ints(2, 4, 5, 6, 3));
    equal(tokenizer.encodeIds(""), ints(2, 3));
    equal(tokenizer.encodeIds(".".repeat(2000), BARE).length, 2000); // more than the first buffer holds
    equal(tokenizer.count("to bes"), 5);
    equal(tokenizer.count("to bes", BARE), 3);
    equal(tokenizer.encodeIds("[SEP]", BARE), ints(3));
    equal(tokenizer.encodeIds("[SEP]", BARE.parseSpecial(ParseSpecial.ALL)), ints(3));
    equal(tokenizer.encodeIds("[SEP]", BARE.parseSpecial(ParseSpecial.NOTHING)), ints(1, 1, 1));
    refused(() -> tokenizer.encodeIds("a [SEP]", BARE.parseSpecial(ParseSpecial.REFUSE)), Kind.SPECIAL_TOKEN, "text", -1, "[SEP]");
    equal(tokenizer.encodeIds("[CLS][SEP]", BARE.parsedTokens(List.of("[CLS]"))), ints(2, 1, 1, 1));
    equal(tokenizer.encodeIds("[CLS]", BARE.parsedTokens(List.of())), ints(1, 1, 1));
  }

  private static void everyField(Tokenizer tokenizer) {
    Encoding found = tokenizer.encode("🤗 bes", "not");
    equal(found.ids(), ints(2, 1, 5, 6, 3, 8, 3));
    equal(found.tokens(), new String[] {"[CLS]", "[UNK]", "be", "##s", "[SEP]", "not", "[SEP]"});
    equal(found.starts(), ints(0, 0, 3, 5, 0, 0, 0));
    equal(found.ends(), ints(0, 2, 5, 6, 0, 3, 0));
    equal(found.typeIds(), ints(0, 0, 0, 0, 0, 1, 1));
    equal(found.attentionMask(), bytes(1, 1, 1, 1, 1, 1, 1));
    equal(found.specialTokensMask(), bytes(1, 0, 0, 0, 1, 0, 1));
    equal(found.wordIds(), ints(-1, 0, 1, 1, -1, 0, -1));
    equal(found.sequenceIds(), ints(-1, 0, 0, 0, -1, 1, -1));
    equal(found.size(), 7);
    equal(List.of(found.windows(), found.segments()), List.of(List.of(), List.of()));
    equal(tokenizer.encode("to").ids(), ints(2, 4, 3));
    equal(tokenizer.encode("to", "").ids(), ints(2, 4, 3, 3)); // an empty pair is a pair
  }

  private static void truncationAndPadding(Tokenizer tokenizer) throws Exception {
    Tokenizer both;
    try (Tokenizer cutting = tokenizer.withTruncation(new Truncation(4, 1, Strategy.LONGEST_FIRST, Side.RIGHT))) {
      Encoding found = cutting.encode("to be or");
      equal(found.ids(), ints(2, 4, 5, 3));
      equal(found.windows().get(0).ids(), ints(2, 5, 7, 3));
      equal(found.windows().get(0).starts()[2], 6);
      both = cutting.withPadding(new Padding("[PAD]", 0, 1, 0, 3, Side.LEFT));
    } // the tables are shared, the tokenizer is not
    Batch batch = both.encodeBatch(List.of("to be or", "to"), null, Options.DEFAULT.overflow(true).offsets(true).numThreads(2));
    equal(batch.size(), 3);
    equal(batch.samples(), ints(0, 0, 1));
    equal(batch.row(2), ints(0, 0, 0, 2, 4, 3));
    equal(java.util.Arrays.copyOfRange(batch.attentionMask(), 12, 18), bytes(0, 0, 0, 1, 1, 1));
    equal(java.util.Arrays.copyOfRange(batch.typeIds(), 12, 18), bytes(1, 1, 1, 0, 0, 0));
    equal(List.of(batch.starts()[16], batch.ends()[16]), List.of(0, 2));
    Truncation toThree = new Truncation(3, 0, Strategy.LONGEST_FIRST, Side.LEFT);
    try (Tokenizer fixed = both.withPadding(new Padding("[PAD]", 0, 0, 5, 0, Side.RIGHT)); Tokenizer left = fixed.withTruncation(toThree)) {
      equal(left.encode("to be").ids(), ints(2, 5, 3, 0, 0));
    }
    try (Tokenizer cut = both.withPadding(null); Tokenizer plain = cut.withTruncation(null)) {
      equal(List.of(cut.count("to be or"), plain.count("to be or")), List.of(4, 5));
    }
    both.close();
    refused(() -> tokenizer.withTruncation(new Truncation(-1)), Kind.ARGUMENT, "truncation.max_length", -1, "must be");
    try (Tokenizer second = tokenizer.withTruncation(new Truncation(5, 0, Strategy.ONLY_SECOND, Side.RIGHT))) {
      equal(second.encode("to", "be or").ids(), ints(2, 4, 3, 5, 3));
    }
  }

  private static void batches(Tokenizer tokenizer) throws Exception {
    Batch batch = tokenizer.encodeBatch(List.of("to be", "", "nots"));
    equal(batch.ids(), ints(2, 4, 5, 3, 2, 3, 2, 8, 6, 3));
    equal(batch.rowOffsets(), new long[] {0, 4, 6, 10});
    equal(List.of(batch.typeIds() == null, batch.attentionMask() == null, batch.starts() == null), List.of(true, true, true));
    equal(tokenizer.encodeBatch(List.of("to", "be"), List.of("or", ""), Options.DEFAULT).typeIds(), bytes(0, 0, 0, 1, 1, 0, 0, 0, 1));
    equal(tokenizer.countBatch(List.of("to be", "", "nots")), ints(4, 2, 4));
    equal(tokenizer.encodeBatch(List.of()).size(), 0);
    equal(tokenizer.countBatch(List.of()).length, 0);
    equal(tokenizer.encodeBatch(List.of("to", "🤗 be"), null, BARE.offsets(true)).starts(), ints(0, 0, 3));
    refused(() -> tokenizer.encodeBatch(List.of("to", "be\uDC00")), Kind.UTF8, "texts[1]", 2, "texts[1]");
    equal(tokenizer.countBatch(List.of("to\uD800"), BARE.replaceLoneSurrogates(true)), ints(1));
  }

  private static void segments(Tokenizer tokenizer) throws Exception {
    List<Segment> prompt = List.of(new Segment("[CLS]", true), new Segment("🤗 [SEP]", false), new Segment("[SEP]", true));
    Encoding found = tokenizer.encodeSegments(prompt);
    equal(found.ids(), ints(2, 1, 1, 1, 1, 3));
    equal(found.segments(), List.of(new Span(0, 1), new Span(1, 5), new Span(5, 6)));
    equal(found.starts()[2], 8);
    equal(tokenizer.encodeSegments(List.of(), List.of("[CLS]"), Options.DEFAULT).size(), 0);
    refused(() -> tokenizer.encodeSegments(prompt, null, Options.DEFAULT.overflow(true)), Kind.ARGUMENT, "options", -1, "segments");
    refused(() -> tokenizer.encodeSegments(List.of(new Segment("to", true), new Segment("\uDC00", false))), Kind.UTF8, "segments[1]", 0, "index 0");
  }

  private static void decode(Tokenizer tokenizer) throws Exception {
    equal(tokenizer.decode(2, 4, 5, 6, 3), "to bes");
    equal(tokenizer.decode(ints(2, 4, 3), false), "[CLS] to [SEP]");
    equal(tokenizer.decode(4, 10, Integer.MIN_VALUE, -1), "to");
    equal(tokenizer.decode(), "");
    equal(tokenizer.decode(new int[3000], false), "[PAD] ".repeat(3000).strip()); // more than the first buffer holds
    equal(tokenizer.decodeBytes(4, 5), "tobe".getBytes(StandardCharsets.UTF_8));
    refused(() -> tokenizer.decodeBytes(4, 10), Kind.ARGUMENT, "ids[1]", -1, "10");
  }

  private static void streams() throws Exception {
    StringBuilder ranks = new StringBuilder();
    for (int rank = 0; rank < 256; rank++)
      ranks.append(Base64.getEncoder().encodeToString(bytes(rank))).append(' ').append(rank).append('\n');
    LoadOptions options = new LoadOptions(null, List.of("\\w+|\\W+"), Map.of("<a>", 256, "<b>", 257), null);
    DecodeStream stream;
    try (Tokenizer tokenizer = Tokenizer.load(ranks.toString().getBytes(StandardCharsets.UTF_8), options)) {
      refused(() -> tokenizer.count("é <b>"), Kind.SPECIAL_TOKEN, "text", -1, "<b>");
      equal(tokenizer.encodeIds("<b><a>", Options.DEFAULT.parseSpecial(ParseSpecial.ALL)), ints(257, 256));
      equal(tokenizer.decodeBytes(0xC3), bytes(0xC3));
      stream = tokenizer.decodeStream('a', 'b');
    }
    int[] ids = {0xC3, 0xA9, 9999, 256, '!', 0xC3};
    String[] added = {"", "é", "", "", "!", ""};
    for (int at = 0; at < ids.length; at++) equal(stream.step(ids[at]), added[at]);
    equal(stream.finish(), "\uFFFD");
    stream.close();
    stream.close();
    closed("stream", List.of(() -> stream.step(1), stream::finish));
  }

  private static void lookUp(Tokenizer tokenizer) throws Exception {
    tokenizer.warmUp();
    equal(tokenizer.vocabSize(), 10);
    equal(tokenizer.tokenToId("##s"), OptionalInt.of(6));
    equal(tokenizer.tokenToId("##x"), OptionalInt.empty());
    equal(tokenizer.idToToken(9), "é");
    equal(tokenizer.idToToken(10), null);
    equal(tokenizer.fingerprint().length(), 64);
    equal(Tokenizer.version().startsWith("0."), true);
    try (Tokenizer lower = Tokenizer.load("[UNK]\nTo\n".getBytes(), new LoadOptions(null, null, null, true))) {
      equal(lower.encodeIds("To"), ints(0));
    }
    try (Tokenizer merged = Tokenizer.load(byteVocab().getBytes(StandardCharsets.UTF_8), new LoadOptions("t o\n", null, null, null))) {
      equal(merged.encodeIds("to"), ints(256));
    }
  }

  /** Return a vocab.json with the 256 bytes, as GPT-2 writes them, and "to". */
  private static String byteVocab() {
    StringBuilder json = new StringBuilder("{\"to\": 256");
    int other = 256;
    for (int value = 0; value < 256; value++) {
      boolean hidden = value < '!' || value > '~' && value < 0xA1 || value == 0xAD;
      json.append(String.format(", \"\\u%04x\": %d", hidden ? other++ : value, value));
    }
    return json.append('}').toString();
  }

  private static void files(Path folder) throws Exception {
    Path file = folder.resolve("é.txt");
    Files.writeString(file, VOCAB);
    try (Tokenizer tokenizer = Tokenizer.load(file)) {
      equal(tokenizer.vocabSize(), 10);
    }
    for (Path path : List.of(folder, Path.of("missing"), Path.of("")))
      refused(() -> Tokenizer.load(path), Kind.FILE, path.toString(), -1, path.toString());
    for (String content : List.of("", "[UNK]\nto\nto\n")) equal(kindOf(content), Kind.VOCABULARY);
    for (String content : List.of("{}", "{\"model\": [", "GGUF\3\0\0\0")) equal(kindOf(content), Kind.FORMAT);
    LoadOptions merges = new LoadOptions("t o", null, null, null);
    refused(() -> Tokenizer.load(VOCAB.getBytes(), merges), Kind.ARGUMENT, "merges", -1, "does not use");
  }

  private static Kind kindOf(String content) {
    try {
      load(content);
      return null;
    } catch (PieceworkException error) {
      return error.kind();
    }
  }

  private static void badInput(Tokenizer tokenizer) throws Exception {
    for (String lone : List.of("\uD83D", "\uDE00", "\uDE00\uD83D", "\uD83D\uD83D\uDE00"))
      for (String text : List.of(lone, "é 🤗 " + lone, lone + " to", "to " + lone + " be")) {
        int at = text.startsWith(lone) ? 0 : text.indexOf(lone);
        refused(() -> tokenizer.encodeIds(text), Kind.UTF8, "text", at, "index " + at);
        Encoding found = tokenizer.encode(text, null, Options.DEFAULT.replaceLoneSurrogates(true));
        equal(found.ids(), tokenizer.encodeIds(new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8).replace('?', '\uFFFD')));
      }
    refused(() -> tokenizer.encode("to", "\uD800"), Kind.UTF8, "pair", 0, "index 0");
    equal(tokenizer.count("to \0 \uDBFF\uDFFF", BARE), tokenizer.count("to \uDBFF\uDFFF", BARE));
    equal(tokenizer.count("to\0 ".repeat(1_000_000), BARE), 1_000_000);
    try {
      tokenizer.encodeBatch(List.of("to", "be"), List.of("or"), Options.DEFAULT);
      throw new AssertionError("expected an error");
    } catch (IllegalArgumentException error) {
      equal(error.getMessage(), "pairs: found 1, expected 2, one for each text");
    }
  }

  private static void closed(String name, List<Callable<?>> calls) throws Exception {
    for (Callable<?> call : calls) {
      try {
        call.call();
        throw new AssertionError("expected an error");
      } catch (IllegalStateException error) {
        equal(error.getMessage(), "the " + name + " is closed");
      }
    }
  }

  private static void closedTokenizer() throws Exception {
    Tokenizer tokenizer = load(VOCAB);
    tokenizer.close();
    tokenizer.close();
    closed("tokenizer", List.of(
        () -> tokenizer.count("to"), () -> tokenizer.encodeIds("to"), () -> tokenizer.encode("to"), () -> tokenizer.encodeSegments(List.of()),
        () -> tokenizer.encodeBatch(List.of()), () -> tokenizer.countBatch(List.of()), () -> tokenizer.decode(4), () -> tokenizer.decodeBytes(4),
        () -> tokenizer.decodeStream(), tokenizer::fingerprint, tokenizer::vocabSize, () -> tokenizer.tokenToId("to"), () -> tokenizer.idToToken(4),
        () -> tokenizer.withTruncation(null), () -> tokenizer.withPadding(null), Executors.callable(tokenizer::warmUp)));
  }

  private static void threads(Tokenizer tokenizer, boolean virtual) throws Exception {
    List<String> texts = List.of("to be", "or not to bes", "🤗 be", "", "[SEP]");
    List<int[]> expected = texts.stream().map(tokenizer::encodeIds).toList();
    try (var executor = virtual ? Executors.newVirtualThreadPerTaskExecutor() : Executors.newFixedThreadPool(16)) {
      List<Future<?>> all = new ArrayList<>();
      for (int thread = 0; thread < (virtual ? 500 : 16); thread++) {
        int number = thread;
        all.add(executor.submit(() -> {
          for (int round = 0; round < 20; round++) {
            int at = (round + number) % texts.size();
            equal(tokenizer.encodeIds(texts.get(at)), expected.get(at));
            Thread.yield(); // a virtual thread may go on in another thread of the system
            equal(tokenizer.encodeBatch(texts, null, Options.DEFAULT.numThreads(1)).row(at), expected.get(at));
            refused(() -> tokenizer.count("\uD800"), Kind.UTF8, "text", 0, "");
          }
          return null;
        }));
      }
      for (Future<?> one : all) one.get();
    }
  }

  /** Close while others encode: each call returns the ids or throws, and nothing crashes. */
  private static void closeWhileOthersEncode(boolean virtual) throws Exception {
    for (int round = 0; round < 20; round++) {
      Tokenizer tokenizer = load(VOCAB);
      try (var executor = virtual ? Executors.newVirtualThreadPerTaskExecutor() : Executors.newCachedThreadPool()) {
        List<Future<?>> all = new ArrayList<>();
        for (int thread = 0; thread < 8; thread++)
          all.add(executor.submit(() -> {
            try {
              for (;;) equal(tokenizer.encodeIds("or not to be"), ints(2, 7, 8, 4, 5, 3));
            } catch (IllegalStateException error) {
              return null;
            }
          }));
        Thread.sleep(1);
        tokenizer.close();
        for (Future<?> one : all) one.get();
      }
    }
  }

  /** Return the memory of the process in bytes. */
  private static long resident() throws IOException {
    return 4096 * Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]);
  }

  private static void leaks(Tokenizer tokenizer, int rounds) throws Exception {
    String text = "to be ".repeat(20_000);
    for (int round = 0; round < rounds; round++) {
      equal(tokenizer.encode(text).size(), 40_002);
      equal(tokenizer.encodeBatch(List.of(text, text)).size(), 2);
      Tokenizer other = load(VOCAB); // freed by the garbage collector, as its stream
      other.decodeStream(4).step(5);
      for (int call = 0; call < 1000; call++) {
        refused(() -> other.count("[SEP]", Options.DEFAULT.parseSpecial(ParseSpecial.REFUSE)), Kind.SPECIAL_TOKEN, "text", -1, "");
        try (DecodeStream stream = other.decodeStream(4); Tokenizer made = other.withTruncation(null)) {
          equal(stream.step(5), " be");
          equal(made.vocabSize(), 10);
        }
      }
      System.gc();
    }
  }

  private static void nothingLeaks(Tokenizer tokenizer) throws Exception {
    leaks(tokenizer, 40);
    long before = resident();
    leaks(tokenizer, 60);
    long grown = resident() - before;
    if (grown > 12 << 20) throw new AssertionError("memory grew by " + grown + " bytes");
  }

  public static void main(String[] arguments) throws Exception {
    try (Tokenizer tokenizer = load(VOCAB)) {
      ids(tokenizer);
      everyField(tokenizer);
      truncationAndPadding(tokenizer);
      batches(tokenizer);
      segments(tokenizer);
      decode(tokenizer);
      streams();
      lookUp(tokenizer);
      files(Path.of(arguments[0]));
      badInput(tokenizer);
      closedTokenizer();
      for (boolean virtual : new boolean[] {false, true}) {
        threads(tokenizer, virtual);
        closeWhileOthersEncode(virtual);
      }
      nothingLeaks(tokenizer);
    }
    System.out.println("equal");
  }
}
