// The objects of piecework.hpp: what they return, what they throw, and that they free themselves.

#include <piecework.hpp>

#include <cstdio>
#include <cstdlib>
#include <thread>

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (0)

using Ids = std::vector<std::uint32_t>;

static const char VOCAB[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nto\nbe\n##s\n";

template <class Call>
piecework::Error thrown(Call call) {
  try {
    call();
  } catch (const piecework::Error &error) {
    return error;
  }
  CHECK(!"an exception");
  std::abort();
}

static void results(const piecework::Tokenizer &tokenizer) {
  CHECK((tokenizer.encode_ids("to bes") == Ids{2, 4, 5, 6, 3}));
  CHECK(tokenizer.encode_ids(std::string(2000, '.')).size() == 2002 && tokenizer.count("") == 2);
  auto options = piecework::options<piecework_encode_options>();
  options.add_special_tokens = PIECEWORK_NO;
  CHECK((tokenizer.encode_ids("to", &options) == Ids{4}));

  piecework::Encoding encoding = tokenizer.encode("to bes", "be");
  CHECK((Ids(encoding.ids().begin(), encoding.ids().end()) == Ids{2, 4, 5, 6, 3, 5, 3}));
  CHECK(encoding.token(3) == "##s" && encoding.offsets()[3].start == 5 && encoding.type_ids()[5] == 1);
  CHECK(encoding.attention_mask()[0] == 1 && tokenizer.encode("to", "").size() == 4 && tokenizer.encode("to").size() == 3);
  try {
    encoding.token(7);
    CHECK(!"an exception");
  } catch (const std::out_of_range &) {
  }

  piecework::Batch batch = tokenizer.encode_batch({"to be", "", "to"});
  CHECK(batch.size() == 3 && batch[0].size() == 4 && batch[1].size() == 2 && batch[2][1] == 4);
  CHECK(tokenizer.encode_batch({}).size() == 0);
  CHECK(tokenizer.decode({2, 4, 5, 6, 3}) == "to bes" && tokenizer.decode({}).empty());
  piecework::DecodeStream stream = tokenizer.decode_stream({4});
  CHECK(stream.step(5) == " be" && stream.step(99).empty() && stream.finish().empty());

  piecework::GrowingText growing = tokenizer.growing_text();
  growing.append("to be");
  growing.append("s to");
  CHECK((Ids(growing.ids().begin(), growing.ids().end()) == Ids{4, 5, 6, 4}) && growing.num_stable() == 3);
  auto chunking = piecework::options<piecework_chunk_options>();
  chunking.max_tokens = 4;
  std::vector<piecework_chunk> chunks = tokenizer.chunk_text("to be to be", chunking);
  CHECK(chunks.size() == 2 && chunks[1].start == 6 && chunks[1].num_tokens == 4);
  std::string lines;
  for (int at = 0; at < 200; at++) lines += "be be\n";
  CHECK(tokenizer.chunk_text(lines, chunking).size() == 200 && tokenizer.chunk_text("", chunking).empty());
  std::vector<piecework_message> messages = {{5, 0, PIECEWORK_SYSTEM}, {7, 0, PIECEWORK_USER}, {3, 0, PIECEWORK_USER}};
  CHECK((piecework::fit_messages(messages, 14) == std::vector<std::size_t>{0, 2}));

  auto truncation = piecework::options<piecework_truncation>();
  truncation.max_length = 3;
  piecework::Tokenizer cutting = tokenizer.with_truncation(&truncation);
  CHECK(cutting.count("to be") == 3 && cutting.with_truncation(nullptr).count("to be") == 4);
  CHECK(cutting.with_padding(nullptr).count("to be") == 3);
}

static void errors(const piecework::Tokenizer &tokenizer) {
  auto invalid = thrown([&] { tokenizer.encode_ids("to \xFF"); });
  CHECK(invalid.kind == PIECEWORK_ERROR_UTF8 && invalid.position == 3 && invalid.place == "text");
  CHECK(std::string(invalid.what()).find("byte 3") != std::string::npos);
  CHECK(thrown([] { piecework::Tokenizer::from_bytes("{}"); }).kind == PIECEWORK_ERROR_FORMAT);
  CHECK(thrown([] { piecework::Tokenizer::from_file("missing"); }).kind == PIECEWORK_ERROR_FILE);
  CHECK(thrown([] { piecework::Tokenizer().count("to"); }).place == "tokenizer");
  CHECK(thrown([] { piecework::DecodeStream().step(1); }).place == "stream");
  CHECK(thrown([] { piecework::GrowingText().append("to"); }).place == "growing" && piecework::GrowingText().ids().size() == 0);
  CHECK(thrown([] { piecework::fit_messages({}, 1); }).place == "messages");
}

int main() {
  piecework::Tokenizer loaded = piecework::Tokenizer::from_bytes(VOCAB), tokenizer = std::move(loaded);
  CHECK(!loaded.c() && tokenizer.c());
  results(tokenizer);
  errors(tokenizer);
  std::vector<std::thread> threads;
  for (int at = 0; at < 8; at++) threads.emplace_back([&] { CHECK(tokenizer.count("to be") == 4); });
  for (std::thread &thread : threads) thread.join();
  std::puts("equal");
}
