/* Answer the requests of tests/capi/answers.py, which defines them. Offsets count UTF-16 units. */

import io.github.piecework.PieceworkException;
import io.github.piecework.Tokenizer;
import io.github.piecework.Tokenizer.Encoding;
import io.github.piecework.Tokenizer.LoadOptions;
import io.github.piecework.Tokenizer.Options;
import io.github.piecework.Tokenizer.Padding;
import io.github.piecework.Tokenizer.ParseSpecial;
import io.github.piecework.Tokenizer.Side;
import io.github.piecework.Tokenizer.Strategy;
import io.github.piecework.Tokenizer.Truncation;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.stream.Collectors;

public final class Answers {
  private static String decoded(String field) {
    return new String(Base64.getDecoder().decode(field), StandardCharsets.UTF_8);
  }

  private static String encoded(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static List<String> list(String field) {
    return field.isEmpty() ? List.of() : Arrays.stream(field.split(" ")).map(Answers::decoded).toList();
  }

  private static Tokenizer load(String[] fields) {
    Map<String, Integer> special = new HashMap<>();
    List<String> names = list(fields[3]);
    for (int at = 0; at < names.size(); at += 2) special.put(names.get(at), Integer.parseInt(names.get(at + 1)));
    List<String> patterns = list(fields[2]);
    return Tokenizer.load(Path.of(decoded(fields[1])), patterns.isEmpty() ? LoadOptions.DEFAULT : new LoadOptions(null, patterns, special, null));
  }

  private static Tokenizer changed(Tokenizer tokenizer, String[] fields) {
    String[] cut = fields[5].split(","), pad = fields[6].split(",");
    Truncation truncation = null;
    if (cut.length > 1) {
      Strategy strategy = Strategy.valueOf(cut[2].toUpperCase());
      truncation = new Truncation(Integer.parseInt(cut[0]), Integer.parseInt(cut[1]), strategy, Side.valueOf(cut[3].toUpperCase()));
    }
    try (Tokenizer cutting = tokenizer.withTruncation(truncation)) {
      if (pad.length == 1) return cutting.withPadding(null);
      int id = Integer.parseInt(pad[1]);
      return cutting.withPadding(new Padding(tokenizer.idToToken(id), id, 0, Integer.parseInt(pad[0]), 0, Side.valueOf(pad[2].toUpperCase())));
    }
  }

  private static String answer(Tokenizer loaded, String[] fields) {
    String text = decoded(fields[1]), pair = fields[2].equals("-") ? null : decoded(fields[2]);
    ParseSpecial parse = fields[4].equals("1") ? ParseSpecial.ALL : ParseSpecial.NOTHING;
    Options options = Options.DEFAULT.addSpecialTokens(fields[3].equals("1")).parseSpecial(parse).numThreads(1);
    try (Tokenizer tokenizer = changed(loaded, fields)) {
      Encoding found = tokenizer.encode(text, pair, options);
      int[] row = tokenizer.encodeBatch(List.of(text), pair == null ? null : List.of(pair), options).row(0);
      boolean same = Arrays.equals(found.ids(), row);
      if (pair == null && fields[6].equals("-")) {
        int[] ids = tokenizer.encodeIds(text, options);
        same &= Arrays.equals(found.ids(), ids) && tokenizer.count(text, options) == ids.length;
        same &= tokenizer.countBatch(List.of(text), options)[0] == ids.length;
      }
      String ids = Arrays.stream(found.ids()).mapToObj(Integer::toString).collect(Collectors.joining(" "));
      String tokens = Arrays.stream(found.tokens()).map(Answers::encoded).collect(Collectors.joining(" "));
      StringBuilder offsets = new StringBuilder();
      for (int at = 0; at < found.size(); at++) offsets.append(found.starts()[at]).append(' ').append(found.ends()[at]).append(' ');
      return same ? String.join("\t", ids, tokens, offsets, encoded(tokenizer.decode(found.ids(), false))) : "calls differ";
    } catch (PieceworkException error) {
      return "error";
    }
  }

  public static void main(String[] arguments) {
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    Tokenizer tokenizer = null;
    for (Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8); lines.hasNextLine();) {
      String[] fields = lines.nextLine().split("\t", -1);
      if (fields[0].equals("load")) {
        if (tokenizer != null) tokenizer.close();
        tokenizer = load(fields);
        out.println(tokenizer.fingerprint());
      } else {
        out.println(answer(tokenizer, fields));
      }
    }
    out.flush();
  }
}
