package io.github.piecework;

/** What the library refuses, with the argument, file, line or field that is wrong. */
public final class PieceworkException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The kinds of `enum piecework_kind`, in its order. */
  public enum Kind { ARGUMENT, UTF8, SPECIAL_TOKEN, FILE, FORMAT, VOCABULARY, MEMORY, INTERNAL, OTHER }

  private final Kind kind;
  private final String place;
  private final int position;

  PieceworkException(Kind kind, String place, int position, String message) {
    super(message);
    this.kind = kind;
    this.place = place;
    this.position = position;
  }

  public Kind kind() {
    return kind;
  }

  /** Return the argument, file, line or field that is wrong. */
  public String place() {
    return place;
  }

  /** Return the index of the lone surrogate in its String; -1 for other errors. */
  public int position() {
    return position;
  }
}
