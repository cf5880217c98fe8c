// Journals with valid checksums, intact or damaged: the reader returns the existing frames, and only those.
//
// An input is where the file is cut, which byte of it is changed and by what (u16, u16, u8), and what
// journal_file.hpp says.
#include "framework/record/journal/journal.hpp"

#include <algorithm>

#include "framework/base/types.hpp"
#include "framework/record/journal/history.hpp"
#include "tests/fuzz/journal_file.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in(data, size);
  const auto cut = in.number<std::uint16_t>(), place = in.number<std::uint16_t>();
  const auto by = in.number<std::uint8_t>();
  const JournalFile written = journal_file(in);
  std::string bytes = written.bytes.substr(0, cut == 0 ? std::string::npos : cut);
  std::size_t good = bytes.size();  // bytes before the damage
  if (by != 0 && !bytes.empty()) {
    good = place % bytes.size();
    bytes[good] = static_cast<char>(bytes[good] ^ by);
  }
  const auto whole =
      std::upper_bound(written.ends.begin(), written.ends.end(), good) - written.ends.begin();

  const RunFolder run{folder()};
  const std::filesystem::path path = file(run.journal(1).filename().string(), bytes);
  std::size_t found = 0;
  const bool readable = accepts([&] {
    JournalTail tail(path);
    const std::vector<Frame> frames = tail.next();
    found = frames.size();
    if (!tail.header()) {
      require(frames.empty() && tail.valid_size() == 0, "frames behind a damaged header");
      require(whole == 0 || !written.good_header, "a good header is not read");
      return;
    }
    require(whole > 0, "a damaged header is believed");
    require(std::ssize(frames) == whole - 1,
            "frames before the damage are missing, or frames behind it are believed");
    require(tail.valid_size() == written.ends[usize(whole) - 1],
            "the valid size is not where a frame ends");
    for (std::size_t i = 0; i < frames.size(); ++i)
      require(kind_of(frames[i]) == written.frames[i].first &&
                  encode(frames[i]) == written.frames[i].second,
              "a frame that was not written");
    require(tail.next().empty(), "frames are given twice");
  });
  if (!readable) return 0;
  accepts([&] { read_history(run); });
  accepts([&] { cut_torn_end(FileSystem::real(), path, "0123456789abcdef"); });
  require(JournalTail(path).next().size() == found, "cutting the torn end loses frames");
  return 0;
}
