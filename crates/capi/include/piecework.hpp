// piecework for C++17: objects that free themselves, exceptions in place of errors. Everything else is as in piecework.h.
//
//   auto tokenizer = piecework::Tokenizer::from_file("tokenizer.json");
//   std::vector<std::uint32_t> ids = tokenizer.encode_ids("to be");
//
// The functions are compiled into the program, so it links only what piecework.h declares. `c()` returns the object for other functions.

#ifndef PIECEWORK_HPP
#define PIECEWORK_HPP

#include <piecework.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace piecework {

struct Error : std::runtime_error {
  explicit Error(const piecework_error *error)
      : std::runtime_error(piecework_error_message(error, nullptr)),
        kind(piecework_error_kind(error)),
        position(piecework_error_position(error)) {
    std::size_t len;
    const char *found = piecework_error_place(error, &len);
    place.assign(found, len);
  }
  std::uint32_t kind;    // enum piecework_kind
  std::size_t position;  // of a byte that is not UTF-8, otherwise PIECEWORK_FAILED
  std::string place;
};

// Return a structure of piecework.h with its size and defaults.
template <class Options>
Options options() {
  Options options{};
  options.size = sizeof(Options);
  return options;
}

// An object of the library. Moving it leaves an empty one.
template <class T, void (*Free)(T *)>
class Object {
 public:
  explicit Object(T *object = nullptr) : object_(object) {}
  T *c() const { return object_.get(); }

 private:
  struct Deleter {
    void operator()(T *object) const { Free(object); }
  };
  std::unique_ptr<T, Deleter> object_;
};

// Call a function with a last argument for its error, and throw the error.
template <class Function, class... Arguments>
auto call(Function function, Arguments... arguments) {
  piecework_error *found = nullptr;
  auto result = function(arguments..., &found);
  Object<piecework_error, piecework_error_free> error(found);
  if (found) throw Error(found);
  return result;
}

// The items of a result, which must outlive them.
template <class T>
struct Column {
  const T *first;
  std::size_t count;
  const T *begin() const { return first; }
  const T *end() const { return first + count; }
  std::size_t size() const { return count; }
  const T &operator[](std::size_t index) const { return first[index]; }
};

struct Encoding : Object<piecework_encoding, piecework_encoding_free> {
  using Object::Object;
  std::size_t size() const { return piecework_encoding_len(c()); }
  Column<std::uint32_t> ids() const { return {piecework_encoding_ids(c()), size()}; }
  Column<std::uint32_t> type_ids() const { return {piecework_encoding_type_ids(c()), size()}; }
  Column<std::uint8_t> attention_mask() const { return {piecework_encoding_attention_mask(c()), size()}; }
  Column<piecework_span> offsets() const { return {piecework_encoding_offsets(c()), size()}; }
  std::string_view token(std::size_t index) const {
    std::size_t len;
    const char *token = piecework_encoding_token(c(), index, &len);
    if (!token) throw std::out_of_range("piecework::Encoding::token: no such token");
    return {token, len};
  }
};

struct Batch : Object<piecework_batch, piecework_batch_free> {
  using Object::Object;
  std::size_t size() const { return piecework_batch_len(c()); }
  Column<std::uint32_t> operator[](std::size_t row) const {
    const std::int64_t *start = piecework_batch_row_offsets(c()) + row;
    return {piecework_batch_ids(c()) + start[0], static_cast<std::size_t>(start[1] - start[0])};
  }
};

// Returns the text that each id adds; it is valid until the next call.
struct DecodeStream : Object<piecework_stream, piecework_stream_free> {
  using Object::Object;
  std::string_view step(std::uint32_t id) {
    std::size_t len;
    const char *text = call(piecework_stream_step, c(), id, &len);
    return {text, len};
  }
  std::string_view finish() {
    std::size_t len;
    const char *text = call(piecework_stream_finish, c(), &len);
    return {text, len};
  }
};

// The ids are valid until the next call.
struct GrowingText : Object<piecework_growing_text, piecework_growing_text_free> {
  using Object::Object;
  void append(std::string_view text) { call(piecework_growing_text_append, c(), text.data(), text.size()); }
  Column<std::uint32_t> ids() const {
    std::size_t count;
    const std::uint32_t *ids = piecework_growing_text_ids(c(), &count);
    return {ids, count};
  }
  std::size_t num_stable() const { return piecework_growing_text_num_stable(c()); }
};

class Tokenizer : public Object<piecework_tokenizer, piecework_tokenizer_free> {
  using Encode = const piecework_encode_options *;
  using Decode = const piecework_decode_options *;

 public:
  using Object::Object;
  static Tokenizer from_file(std::string_view path, const piecework_load_options *options = nullptr) {
    return Tokenizer(call(piecework_load_file, path.data(), path.size(), options));
  }
  static Tokenizer from_bytes(std::string_view bytes, const piecework_load_options *options = nullptr) {
    return Tokenizer(call(piecework_load_bytes, bytes.data(), bytes.size(), options));
  }
  Tokenizer with_truncation(const piecework_truncation *truncation) const {
    return Tokenizer(call(piecework_with_truncation, c(), truncation));
  }
  Tokenizer with_padding(const piecework_padding *padding) const {
    return Tokenizer(call(piecework_with_padding, c(), padding));
  }
  std::vector<std::uint32_t> encode_ids(std::string_view text, Encode options = nullptr) const {
    return filled<std::vector<std::uint32_t>>(text.size() / 2 + 8, [&](std::uint32_t *ids, std::size_t capacity) {
      return call(piecework_encode_ids, c(), text.data(), text.size(), options, ids, capacity);
    });
  }
  std::size_t count(std::string_view text, Encode options = nullptr) const {
    return call(piecework_count, c(), text.data(), text.size(), options);
  }
  Encoding encode(std::string_view text, Encode options = nullptr) const {
    return Encoding(call(piecework_encode, c(), text.data(), text.size(), static_cast<const char *>(nullptr), std::size_t{0}, options));
  }
  Encoding encode(std::string_view text, std::string_view pair, Encode options = nullptr) const {
    const char *second = pair.data() ? pair.data() : "";
    return Encoding(call(piecework_encode, c(), text.data(), text.size(), second, pair.size(), options));
  }
  Batch encode_batch(const std::vector<std::string_view> &texts, Encode options = nullptr) const {
    std::vector<piecework_str> strings;
    for (std::string_view text : texts) strings.push_back({text.data(), text.size()});
    const piecework_str *pairs = nullptr;
    return Batch(call(piecework_encode_batch, c(), static_cast<const piecework_str *>(strings.data()), pairs, strings.size(), options));
  }
  std::string decode(const std::vector<std::uint32_t> &ids, Decode options = nullptr) const {
    return filled<std::string>(4 * ids.size(), [&](char *text, std::size_t capacity) {
      return call(piecework_decode, c(), ids.data(), ids.size(), options, text, capacity);
    });
  }
  DecodeStream decode_stream(const std::vector<std::uint32_t> &prefill = {}, Decode options = nullptr) const {
    return DecodeStream(call(piecework_decode_stream, c(), prefill.data(), prefill.size(), options));
  }
  GrowingText growing_text(Encode options = nullptr) const {
    return GrowingText(call(piecework_growing_text_new, c(), options));
  }
  std::vector<piecework_chunk> chunk_text(std::string_view text, const piecework_chunk_options &chunking, Encode options = nullptr) const {
    return filled<std::vector<piecework_chunk>>(64, [&](piecework_chunk *chunks, std::size_t capacity) {
      return call(piecework_chunk_text, c(), text.data(), text.size(), &chunking, options, chunks, capacity);
    });
  }

 private:
  // Call a function with a buffer of a probable size, and again if its result needs more.
  template <class Buffer, class Write>
  static Buffer filled(std::size_t capacity, Write write) {
    Buffer buffer;
    buffer.resize(capacity);
    std::size_t len = write(buffer.data(), capacity);
    buffer.resize(len);
    if (len > capacity) write(buffer.data(), len);
    return buffer;
  }
};

// Return the indices of the messages that fit.
inline std::vector<std::size_t> fit_messages(const std::vector<piecework_message> &messages, std::size_t max_tokens) {
  std::vector<std::size_t> kept(messages.size());
  kept.resize(call(piecework_fit_messages, messages.data(), messages.size(), max_tokens, kept.data(), kept.size()));
  return kept;
}

}  // namespace piecework

#endif
