#include "framework/data/sentencepiece.hpp"
#include "framework/base/error.hpp"

#ifndef SOFTALIGN_SENTENCEPIECE_VERSION  // CMake did not find the library

namespace softalign {

std::shared_ptr<const Vocabulary> train_sentencepiece(const std::vector<std::string>&,
                                                      Index,
                                                      const std::string&,
                                                      const Progress&) {
  throw DataError("{}", kNoSentencepiece);
}

std::shared_ptr<const Vocabulary> load_sentencepiece(std::string_view) {
  throw DataError("{}", kNoSentencepiece);
}

std::shared_ptr<const Vocabulary> sentencepiece_of(const std::string&) {
  throw DataError("{}", kNoSentencepiece);
}

std::string sentencepiece_version() { return ""; }

}  // namespace softalign

#else

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "framework/base/hash.hpp"
#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "framework/data/text.hpp"

namespace softalign {
namespace {

// Removes a protobuf varint from the front of a message and returns it; nullopt if it is incomplete.
std::optional<std::uint64_t> take_varint(std::string_view& message) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !message.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(message.front());
    message.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 127) << shift;
    if (byte < 128) return value;
  }
  return std::nullopt;
}

// Calls visit(number, bytes) for each length-delimited field of a protobuf message. Returns false if the bytes are
// not a message or have field types that do not occur in sentencepiece models.
template <class Visit>
bool each_field(std::string_view message, const Visit& visit) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();  // as the library reads
  while (!message.empty()) {
    const auto key = take_varint(message);
    if (!key || *key > kMost) return false;
    const std::uint64_t type = *key & 7;
    std::uint64_t size = type == 1 ? 8 : 4;
    if (type == 0) {
      if (!take_varint(message)) return false;
      continue;
    }
    if (type == 2) {
      const auto length = take_varint(message);
      if (!length) return false;
      size = *length;
    } else if (type != 1 && type != 5) {
      return false;
    }
    if (size > message.size()) return false;
    if (type == 2) visit(*key >> 3, message.substr(0, size));
    message.remove_prefix(size);
  }
  return true;
}

// Returns whether a model is malformed or has a table that normalises text. The library follows the table's offsets
// without checking them; the models that it trains for softalign have no table.
bool has_character_map(std::string_view model) {
  constexpr std::uint64_t kNormalizer = 3, kDenormalizer = 5, kCharacterMap = 2;
  bool found = false;
  const auto look = [&](std::uint64_t number, std::string_view bytes) {
    found |= number == kCharacterMap && !bytes.empty();
  };
  const bool sound = each_field(model, [&](std::uint64_t number, std::string_view bytes) {
    if (number == kNormalizer || number == kDenormalizer) found |= !each_field(bytes, look);
  });
  return found || !sound;
}

// Returns why training failed, from a status "Internal: ./src/x.cc(580) [condition] Reason. Remedy.",
// with a remedy by our options if there is one.
std::string reason_of(const std::string& status) {
  const auto says = [&](const char* what) { return status.find(what) != std::string::npos; };
  if (says("smaller than required_chars"))
    return "each distinct character needs a piece of its own; raise vocabulary.size";
  if (says("Vocabulary size too high"))
    return "the text does not have enough different pieces; lower vocabulary.size";
  const std::size_t reason = status.rfind("] ");
  return printable(reason == std::string::npos ? status : status.substr(reason + 2), 200);
}

// Returns the result of `work`; meanwhile, `progress` receives the elapsed seconds.
template <class Work>
auto with_clock(const Work& work, const std::string& what, const Progress& progress) {
  if (!progress) return work();
  auto result = std::async(std::launch::async, work);
  for (Index seconds = 0; result.wait_for(std::chrono::seconds(1)) == std::future_status::timeout;)
    progress(fmt::format("{}, {} s", what, ++seconds), 0, 0);
  return result.get();
}

// The library's character for unknown symbols, U+2585. The library skips lines that contain it.
constexpr std::string_view kUnknownMark = "\xE2\x96\x85";

class Lines final : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(const std::vector<std::string>& lines) : lines_(lines) { read(); }
  bool done() const override { return next_ >= lines_.size(); }
  void Next() override {
    ++next_;
    read();
  }
  const std::string& value() const override { return line_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void read() {
    if (done()) return;
    line_ = single_spaced(lines_[next_]);
    for (std::size_t at = 0; (at = line_.find(kUnknownMark, at)) != std::string::npos;)
      line_.erase(at, kUnknownMark.size());
  }

  const std::vector<std::string>& lines_;
  std::size_t next_ = 0;
  std::string line_;
};

class SentencePieceVocabulary final : public Vocabulary {
 public:
  explicit SentencePieceVocabulary(const std::string& model) {
    const std::string fault = load(model);
    if (model.empty() || !fault.empty() || pieces_.unk_id() != kUnknown ||
        pieces_.bos_id() != kBegin || pieces_.eos_id() != kEnd)
      throw DataError("sentencepiece vocabulary: not a model written by softalign: {}", fault);
  }

  std::string type() const override { return "sentencepiece"; }
  Index size() const override { return pieces_.GetPieceSize(); }
  const std::string& symbol(Token id) const override {
    if (id < 0 || id >= size()) throw BugError("sentencepiece: no symbol {} of {}", id, size());
    return pieces_.IdToPiece(id);
  }

  Token id(std::string_view symbol) const override {
    const Token id = pieces_.PieceToId(std::string(symbol));
    return id < kSpecials ? kUnknown : id;
  }

  std::vector<std::string> split(std::string_view line) const override {
    std::vector<std::string> symbols;
    const auto status = pieces_.Encode(single_spaced(line), &symbols);
    if (!status.ok()) throw MachineError("sentencepiece: {}", status.ToString());
    return symbols;
  }

  // Algorithm 1 of Provilkov et al. 2020, for each word: at each step, skips each possible merge with
  // probability `dropout` and applies the best of the rest, until all are skipped. Draws start with the
  // best merge and end at the first one that is not skipped.
  std::vector<Token> encode_with_dropout(std::string_view line,
                                         double dropout,
                                         const RandomStream& stream) const override {
    std::vector<Token> ids;
    std::uint64_t draws = 0;
    const auto is_kept = [&](const Merge&) {
      return static_cast<double>(stream.uniform(draws++)) >= dropout;
    };
    for (const std::string_view word : split_words(line)) {
      const std::string marked = std::string(kSpaceMark) + std::string(word);
      for (const std::string_view part : merged(marked, is_kept)) {
        const Token found = id(part);
        if (found != kUnknown || ids.empty() || ids.back() != kUnknown) ids.push_back(found);
      }
    }
    return ids;
  }

  std::string join(const std::vector<Token>& ids) const override {
    std::string marked;
    for (const Token id : ids)
      if (id != kBegin && id != kEnd) marked += symbol(id);
    return unmark_spaces(marked);
  }

  bool has_pieces() const override { return true; }
  bool marks_spaces() const override { return true; }

  std::string serialize() const override {
    return vocabulary_header(type()) + to_base64(pieces_.serialized_model_proto()) + '\n';
  }

 protected:
  // A lone space mark precedes a word that the model cannot segment further.
  std::vector<Index> words_of(const std::vector<std::string>& symbols) const override {
    return words_of_marked(symbols, LoneMark::after);
  }

 private:
  // A merge of the two parts of a word on either side of a cut.
  struct Merge {
    float score;  // the earlier the merge was learnt, the higher
    std::size_t cut;
    bool operator<(const Merge& other) const {
      return score != other.score ? score > other.score : cut < other.cut;
    }
  };

  // Returns the pieces of a word: repeatedly applies the best merge that is not skipped, starting with characters.
  template <class IsKept>
  std::vector<std::string_view> merged(std::string_view word, const IsKept& is_kept) const {
    std::map<std::size_t, std::optional<float> > cuts;  // cut -> score of a merge at the cut
    std::set<Merge> merges;
    for (const std::string_view character : code_points(word))
      cuts[usize(character.data() - word.data())];
    cuts[word.size()];
    const auto find_merge = [&](auto cut) {
      if (cut->second) merges.erase({*cut->second, cut->first});
      cut->second.reset();
      if (cut == cuts.begin() || std::next(cut) == cuts.end()) return;
      const std::size_t begin = std::prev(cut)->first, end = std::next(cut)->first;
      const Token whole = id(word.substr(begin, end - begin));
      if (whole == kUnknown) return;
      cut->second = pieces_.GetScore(whole);
      merges.insert({*cut->second, cut->first});
    };
    for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) find_merge(cut);
    for (;;) {
      const auto best = std::ranges::find_if(merges, is_kept);
      if (best == merges.end()) break;
      const auto next = cuts.erase(cuts.find(best->cut));
      merges.erase(best);
      find_merge(std::prev(next));
      find_merge(next);
    }
    std::vector<std::string_view> parts;
    for (auto cut = std::next(cuts.begin()); cut != cuts.end(); ++cut) {
      const std::size_t begin = std::prev(cut)->first;
      parts.push_back(word.substr(begin, cut->first - begin));
    }
    return parts;
  }

  // Loads a model. Returns the library's error message, or "" if it succeeds.
  std::string load(const std::string& model) try {
    const auto status = pieces_.LoadFromSerializedProto(model);
    return status.ok() ? "" : status.ToString();
  } catch (const std::exception& error) {
    return error.what();
  }

  sentencepiece::SentencePieceProcessor pieces_;
};

}  // namespace

std::shared_ptr<const Vocabulary> train_sentencepiece(const std::vector<std::string>& lines,
                                                      Index size,
                                                      const std::string& model,
                                                      const Progress& progress) {
  Lines sentences(lines);
  std::string proto;
  const auto train = [&] {
    return sentencepiece::SentencePieceTrainer::Train({{"model_type", model},
                                                       {"vocab_size", std::to_string(size)},
                                                       {"hard_vocab_limit", "false"},
                                                       {"normalization_rule_name", "identity"},
                                                       {"character_coverage", "1.0"},
                                                       {"max_sentence_length", "1048576"},
                                                       {"unk_id", std::to_string(kUnknown)},
                                                       {"bos_id", std::to_string(kBegin)},
                                                       {"eos_id", std::to_string(kEnd)},
                                                       {"pad_id", "-1"},
                                                       {"num_threads", "1"},
                                                       {"minloglevel", "2"}},
                                                      &sentences,
                                                      &proto);
  };
  const auto status =
      with_clock(train, fmt::format("training sentencepiece on {} lines", lines.size()), progress);
  if (!status.ok())
    throw DataError("sentencepiece cannot make a {} vocabulary of {} pieces from {} lines: {}",
                    model,
                    size,
                    lines.size(),
                    reason_of(status.ToString()));
  return std::make_shared<SentencePieceVocabulary>(proto);
}

std::shared_ptr<const Vocabulary> load_sentencepiece(std::string_view base64) {
  const std::string model = from_base64(base64);
  if (has_character_map(model))
    throw DataError(
        "sentencepiece vocabulary: not a model written by softalign: it contains a normalisation "
        "table (precompiled_charsmap)");
  return std::make_shared<SentencePieceVocabulary>(model);
}

std::shared_ptr<const Vocabulary> sentencepiece_of(const std::string& model) {
  if (has_character_map(model))
    throw DataError(
        "neither text nor a sentencepiece model without normalisation; train the model with "
        "--normalization_rule_name=identity");
  auto vocabulary = std::make_shared<SentencePieceVocabulary>(model);
  std::string cut;
  for (const std::string& piece : vocabulary->split("a b")) cut += piece;
  if (cut != fmt::format("{0}a{0}b", kSpaceMark))
    throw DataError("its sentencepiece model segments 'a b' as '{}'; words must begin with '{}'",
                    cut,
                    kSpaceMark);
  return vocabulary;
}

std::string sentencepiece_version() { return SOFTALIGN_SENTENCEPIECE_VERSION; }

}  // namespace softalign

#endif
