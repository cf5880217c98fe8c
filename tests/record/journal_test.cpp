#include "framework/record/journal/journal.hpp"

#include <boost/test/unit_test.hpp>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "tests/record/support.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

const JournalHeader kHeader{.run_id = "0123456789abcdef", .attempt = 1, .started = 1.5};

std::vector<Frame> samples() {
  Array array{.group = "test",
              .name = "stats",
              .update = 7,
              .dims = {{"sentence", 2}, {"stat", 2}},
              .values = std::vector<std::int32_t>{1, 2, 3, 4},
              .attributes = "{}"};
  std::vector<Frame> frames{Rewind{-1, ""},
                            Scalars{"train", 1, 0.25, {{"loss", 3.5}, {"lr", 1e-3}}},
                            Scalars{"train", 2, 0.5, {}},
                            alignment_at(5, 1),
                            array,
                            Attributes{"test", R"({"bleu": 1})"},
                            Event{1.0, "señal"},
                            CheckpointMark{10, "upd-00000010-abcd.ckpt", "abcd"},
                            End{2.0, "complete"}};
  array.values = std::vector<std::string>{"a", "", "ñ", "d"};
  frames.insert(frames.begin() + 5, array);
  return frames;
}

// Returns the packed frames, which can be compared.
std::vector<std::string> packed(const std::vector<Frame>& frames) {
  std::vector<std::string> result;
  for (const Frame& frame : frames)
    result.push_back(std::string(1, static_cast<char>(kind_of(frame))) + encode(frame));
  return result;
}
std::vector<std::string> packed(const std::filesystem::path& path) {
  return packed(JournalTail(path).next());
}

bool begins_with(const std::vector<std::string>& all, const std::vector<std::string>& part) {
  return part.size() <= all.size() && std::equal(part.begin(), part.end(), all.begin());
}

struct Written {
  std::string bytes;
  std::vector<std::size_t> ends;  // size of the file after each frame
};
Written write_samples(const Scratch& scratch) {
  Written written;
  JournalWriter writer(FileSystem::real(), scratch / "whole", kHeader);
  written.ends.push_back(std::filesystem::file_size(scratch / "whole"));
  for (const Frame& frame : samples()) {
    writer.append(frame);
    written.ends.push_back(std::filesystem::file_size(scratch / "whole"));
  }
  written.bytes = read_file(scratch / "whole");
  return written;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(journal)

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  const Scratch scratch;
  write_samples(scratch);
  JournalTail tail(scratch / "whole");
  BOOST_TEST((packed(tail.next()) == packed(samples())));
  BOOST_TEST(tail.header()->run_id == kHeader.run_id);
  BOOST_TEST(tail.header()->attempt == 1);
}

BOOST_AUTO_TEST_CASE(every_cut_leaves_the_whole_frames_before_it) {
  const Scratch scratch;
  const Written written = write_samples(scratch);
  const auto all = packed(samples());
  for (std::size_t cut = 0; cut <= written.bytes.size(); ++cut) {
    write_file(scratch / "cut", written.bytes.substr(0, cut));
    const auto whole = std::upper_bound(written.ends.begin(), written.ends.end(), cut);
    const auto expected = std::max<std::ptrdiff_t>(whole - written.ends.begin() - 1, 0);
    const auto found = packed(scratch / "cut");
    BOOST_REQUIRE_MESSAGE(
        begins_with(all, found) && static_cast<std::ptrdiff_t>(found.size()) == expected,
        "cut at " << cut << ": " << found.size() << " frames, expected " << expected);
  }
}

// A power cut: blocks written after the last sync are lost (zeros) or hold something else, such as
// the blocks of an older journal.
BOOST_AUTO_TEST_CASE(lost_and_garbage_blocks_never_invent_a_frame) {
  const Scratch scratch;
  constexpr std::size_t kBlock = 512;
  std::string bytes, other;
  std::size_t synced = 0;
  std::vector<std::string> all;
  std::size_t acknowledged = 0;
  for (const char* name : {"old", "new"}) {  // equal lengths, so frames have equal offsets
    JournalWriter writer(FileSystem::real(), scratch / name, {name, 1, 0});
    all.clear();
    for (Index u = 1; u <= 40; ++u) {
      const double loss = loss_at(u) + (name == std::string("old") ? 1 : 0);
      const Frame frame =
          u % 8 == 0 ? Frame(alignment_at(u, 2)) : Frame(Scalars{"train", u, 0, {{"loss", loss}}});
      writer.append(frame);
      all.push_back(packed({frame})[0]);
      if (u == 15) {
        synced = std::filesystem::file_size(scratch / name);
        acknowledged = all.size();
      }
    }
    (name == std::string("old") ? other : bytes) = read_file(scratch / name);
  }
  const RandomStream random(5, "blocks");
  for (std::uint64_t trial = 0; trial < 3000; ++trial) {
    std::string damaged = bytes;
    for (std::size_t at = synced - synced % kBlock; at < damaged.size(); at += kBlock) {
      const std::size_t from = std::max(at, synced), to = std::min(at + kBlock, damaged.size());
      const auto fate = random.below(4, at / kBlock, trial);
      for (std::size_t i = from; i < to && fate < 3; ++i) {
        if (fate == 0) damaged[i] = 0;
        if (fate == 1) damaged[i] = static_cast<char>(random.below(256, 1000 + i, trial));
        if (fate == 2 && i < other.size()) damaged[i] = other[i];
      }
    }
    if (random.below(2, 999, trial) == 0)
      damaged.resize(synced +
                     random.below(static_cast<std::uint32_t>(bytes.size() - synced), 998, trial));
    write_file(scratch / "damaged", damaged);
    const auto found = packed(scratch / "damaged");
    BOOST_REQUIRE_MESSAGE(begins_with(all, found) && found.size() >= acknowledged,
                          "trial " << trial);
  }
}

BOOST_AUTO_TEST_CASE(a_torn_end_is_cut_before_anything_follows) {
  const Scratch scratch;
  const Written written = write_samples(scratch);
  write_file(scratch / "torn", written.bytes.substr(0, written.ends[3] + 5));
  BOOST_TEST(cut_torn_end(FileSystem::real(), scratch / "torn", "another run") == 0u);
  BOOST_TEST(cut_torn_end(FileSystem::real(), scratch / "torn", kHeader.run_id) == 5u);
  BOOST_TEST(std::filesystem::file_size(scratch / "torn") == written.ends[3]);
  BOOST_TEST(cut_torn_end(FileSystem::real(), scratch / "torn", kHeader.run_id) == 0u);
}

BOOST_AUTO_TEST_CASE(what_does_not_begin_as_a_journal_is_not_cut) {
  const Scratch scratch;
  const Written written = write_samples(scratch);
  for (std::size_t size = 0; size < written.ends[0]; ++size) {
    const std::string torn = written.bytes.substr(0, size);
    for (const std::string& bytes : {torn, std::string(size, 'x'), std::string(size, '\0')}) {
      write_file(scratch / "begun", bytes);
      BOOST_TEST(cut_torn_end(FileSystem::real(), scratch / "begun", kHeader.run_id) == 0u);
      BOOST_TEST(read_file(scratch / "begun") == bytes);
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_cut_through_a_link) {
  const Scratch scratch;
  const Written written = write_samples(scratch);
  const std::string torn = written.bytes.substr(0, written.ends[3] + 5);
  write_file(scratch / "elsewhere", torn);
  std::filesystem::create_symlink(scratch / "elsewhere", scratch / "link");
  BOOST_CHECK_THROW(cut_torn_end(FileSystem::real(), scratch / "link", kHeader.run_id),
                    MachineError);
  BOOST_TEST(read_file(scratch / "elsewhere") == torn);
}

// Frames of 1 MiB and more are read in pieces, and no memory is requested for bytes that a file announces
// but does not hold.
BOOST_AUTO_TEST_CASE(large_frames_and_large_holes_are_read) {
  const Scratch scratch;
  const Array large{.group = "parameters",
                    .name = "W",
                    .update = 1,
                    .dims = {{"n", 700'000}},
                    .values = std::vector<float>(700'000, 0.5f),
                    .attributes = "{}"};
  std::vector<Frame> frames;
  {
    JournalWriter writer(FileSystem::real(), scratch / "large", kHeader);
    for (int i = 0; i < 3; ++i) {
      frames.push_back(Scalars{"train", i, 0, {{"loss", 1.0}}});
      frames.push_back(large);
    }
    for (const Frame& frame : frames) writer.append(frame);
  }
  BOOST_TEST((packed(scratch / "large") == packed(frames)));
  const auto whole = std::filesystem::file_size(scratch / "large");
  std::filesystem::resize_file(scratch / "large", whole + (std::uintmax_t{1} << 40));
  BOOST_TEST((packed(scratch / "large") == packed(frames)));
  BOOST_TEST(cut_torn_end(FileSystem::real(), scratch / "large", kHeader.run_id) ==
             std::uintmax_t{1} << 40);
  BOOST_TEST(std::filesystem::file_size(scratch / "large") == whole);
}

BOOST_AUTO_TEST_CASE(a_tail_gives_each_frame_once_when_it_is_whole) {
  const Scratch scratch;
  const Written written = write_samples(scratch);
  JournalTail tail(scratch / "growing");
  std::vector<Frame> frames;
  for (std::size_t size = 0; size <= written.bytes.size(); size += 7) {
    write_file(scratch / "growing", written.bytes.substr(0, size));
    for (Frame& frame : tail.next()) frames.push_back(std::move(frame));
  }
  write_file(scratch / "growing", written.bytes);
  for (Frame& frame : tail.next()) frames.push_back(std::move(frame));
  BOOST_TEST((packed(frames) == packed(samples())));
}

BOOST_AUTO_TEST_CASE(foreign_and_newer_files_are_refused) {
  const Scratch scratch;
  write_file(scratch / "foreign", std::string(2000, 'x'));
  JournalHeader header = kHeader;
  header.run_id = "\x9e";  // not UTF-8
  const JournalWriter writer(FileSystem::real(), scratch / "bytes", header);
  for (const char* name : {"foreign", "bytes"})
    BOOST_CHECK_THROW(JournalTail(scratch / name).next(), DataError);
  std::string newer = write_samples(scratch).bytes;
  newer[8] = 2;
  write_file(scratch / "newer", newer);
  BOOST_CHECK_THROW(JournalTail(scratch / "newer").next(), NewerFormat);
}

// Whichever call fails, the journal holds exactly the frames whose append returned.
BOOST_AUTO_TEST_CASE(failing_calls_lose_nothing_acknowledged) {
  const auto all = packed(samples());
  for (const Fault fault :
       {Fault::no_space, Fault::io_error, Fault::interrupted, Fault::short_write}) {
    bool reached_end = false;
    for (int nth = 1; !reached_end; ++nth) {
      const Scratch scratch;
      FaultyFiles files(fault, nth);
      std::size_t acknowledged = 0;
      bool failed = false;
      try {
        JournalWriter writer(files, scratch / "j", kHeader);
        for (const Frame& frame : samples()) {
          writer.append(frame);
          ++acknowledged;
          if (acknowledged % 3 == 0) writer.sync();
        }
      } catch (const MachineError&) {
        failed = true;
      }
      reached_end = files.calls() < nth;
      if (fault == Fault::interrupted || fault == Fault::short_write) BOOST_TEST(!failed);
      if (!std::filesystem::exists(scratch / "j")) continue;
      const auto found = packed(scratch / "j");
      BOOST_TEST(begins_with(all, found));
      BOOST_TEST(found.size() >= acknowledged);
      BOOST_TEST(found.size() <= acknowledged + 1);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
