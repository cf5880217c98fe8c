// Shared by the tests of records: a file system that fails on command, and a small imitation of a trainer.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "framework/base/random.hpp"
#include "framework/config/writer.hpp"
#include "framework/record/recorder.hpp"
#include "tests/message.hpp"
#include "tests/scratch.hpp"

namespace softalign::test {

enum class Fault { none, no_space, io_error, interrupted, short_write };

// The n-th system call (from 1) fails: once for an interruption or a short write, and from then on
// for a full or broken disk.
class FaultyFiles : public FileSystem {
 public:
  FaultyFiles(Fault fault, int nth) : fault_(fault), nth_(nth) {}
  int calls() const { return calls_; }

  int open(const char* path, int flags) override {
    return fails(!(flags & O_CREAT)) ? -1 : FileSystem::open(path, flags);
  }
  ssize_t write(int file, const char* bytes, std::size_t size) override {
    if (!fails(false)) return FileSystem::write(file, bytes, size);
    if (fault_ == Fault::short_write || (fault_ == Fault::no_space && !full_said_)) {
      full_said_ = true;  // a full disk stores the bytes that still fit
      return FileSystem::write(file, bytes, (size + 1) / 2);
    }
    return -1;
  }
  int fdatasync(int file) override { return fails(false) ? -1 : FileSystem::fdatasync(file); }
  int fsync(int file) override { return fails(false) ? -1 : FileSystem::fsync(file); }
  int ftruncate(int file, off_t size) override {
    return fails(true) ? -1 : FileSystem::ftruncate(file, size);
  }
  int rename(const char* from, const char* to) override {
    return fails(true) ? -1 : FileSystem::rename(from, to);
  }
  int link(const char* from, const char* to) override {
    return fails(false) ? -1 : FileSystem::link(from, to);
  }

 private:
  // Returns whether this call fails, and sets errno. On a full disk only calls that need space fail.
  bool fails(bool needs_no_space) {
    ++calls_;
    const bool once = fault_ == Fault::interrupted || fault_ == Fault::short_write;
    if (fault_ == Fault::none || calls_ < nth_ || (once && calls_ > nth_)) return false;
    if (fault_ == Fault::no_space && needs_no_space) return false;
    errno = fault_ == Fault::no_space ? ENOSPC : fault_ == Fault::interrupted ? EINTR : EIO;
    if (fault_ == Fault::short_write) errno = EINTR;  // as after a write interrupted by a signal
    return true;
  }

  Fault fault_;
  int nth_;
  int calls_ = 0;
  bool full_said_ = false;
};

inline const RunIdentity kRun{.name = "study",
                              .run_id = run_id(identity("{\"seed\": 1}\n")),
                              .spec_yaml = "name: study\nseed: 1\n",
                              .identity_json = "{\"seed\": 1}\n"};

// Returns a loss that is the same in every attempt; `update` counts from 1.
inline double loss_at(Index update) {
  return RandomStream(1, "loss").uniform(static_cast<std::uint64_t>(update));
}

inline Alignment alignment_at(Index update, Index sentence) {
  Alignment a;
  a.module = "attention";
  a.update = update;
  a.sentence = sentence;
  for (Index s = 0; s < 3 + sentence; ++s) a.source.push_back("word" + std::to_string(s));
  for (Index t = 0; t < 2 + sentence; ++t) a.target.push_back("señal" + std::to_string(t));
  const std::size_t size = a.source.size() * a.target.size();
  for (std::size_t i = 0; i < size; ++i) {
    a.weights.push_back(RandomStream(2, "weights").uniform(i, static_cast<std::uint64_t>(update)));
    a.gold.push_back(static_cast<std::uint8_t>(i % 3));
  }
  return a;
}

// Imitates training: a loss at every update, a dev score and alignments at every fifth, a checkpoint at
// every tenth.
inline void train(Recorder& record, Index updates, const std::function<void(Index)>& after = {}) {
  const Index first = record.restored() ? record.restored()->update + 1 : 1;
  for (Index u = first; u <= updates; ++u) {
    record.scalars(
        "train", u, {{"loss", loss_at(u)}, {"tokens_per_s", static_cast<double>(1000 + u)}});
    if (u % 5 == 0) {
      record.scalars("dev", u, {{"ppl", 10 * loss_at(u)}});
      for (Index sentence : {0, 3}) record.alignment(alignment_at(u, sentence));
    }
    if (u % 10 == 0)
      record.checkpoint(u, {{"parameters", std::string(100, 'p')}, {"update", std::to_string(u)}});
    if (after) after(u);
  }
  const std::vector<float> weights{1, 2, 3, 4, 5, 6};
  record.parameter("decoder.W", {2, 3}, weights);
  record.array("test", "hypotheses", {{"sentence", 2}}, std::vector<std::string>{"uno dos", ""});
  record.array("test",
               "bleu_stats",
               {{"sentence", 2}, {"stat", 3}},
               std::vector<std::int32_t>{1, 2, 3, 4, 5, 6},
               {{"long_name", "matches and totals"}});
  record.text("vocabulary", "source", "word0\nword1\n");
  record.attributes("dev/ppl", {{"units", "1"}});
  record.attributes("test", {{"bleu", 21.5}, {"bleu_signature", "tok:none"}, {"best", true}});
  record.end(RunState::complete);
}

}  // namespace softalign::test
