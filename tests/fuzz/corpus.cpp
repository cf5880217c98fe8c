// Corpora, plain or gzip, with links, as read by a task.
//
// An input is u8, the compression of the sources, then the parts source, target, links (fuzz.hpp).
#include <zlib.h>

#include "framework/data/text_file.hpp"
#include "tests/fuzz/examples.hpp"

using namespace softalign;
using namespace softalign::fuzz;

namespace {

std::string gzipped(const std::string& text) {
  z_stream stream{};
  require(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK,
          "deflateInit2");
  std::string packed(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflate");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

Lines lines_of(const std::filesystem::path& path) {
  Lines read;
  std::string line;
  read.whole = accepts([&] {
    TextFile text(path.string());
    while (text.next(line)) read.lines.push_back(line);
  });
  return read;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool no_cache = setenv("SOFTALIGN_CACHE", "", 1) == 0;
  static const ResolvedSpec<Spec> spec = [] {
    require(no_cache, "setenv");
    for (const char* name : {"source", "target", "links"}) file(name, "a\n");
    const std::string files = "{source: source, target: target, alignment: links}";
    return parse_spec<Spec>("task: {type: parallel_text, train: " + files + ", dev: " + files +
                                ", test: " + files + "}\n",
                            (folder() / "spec.yaml").string());
  }();
  Input in(data, size);
  const std::size_t packing = in.below(4);
  const std::string source = in.part(), target = in.part(), links = in.rest();
  const std::filesystem::path path = file("source", source);
  if (packing == 1) {
    const Lines plain = lines_of(path);
    file("source", gzipped(source));
    if (!source.starts_with("\x1f\x8b")) require(lines_of(path) == plain, "gzip changes the lines");
  } else if (packing == 2) {
    const std::string packed = gzipped(source);
    file("source", packed.substr(0, packed.size() - 1 - source.size() % 16 % packed.size()));
  }
  file("target", target);
  file("links", links);
  accepts([&] { examples_of(spec.spec, [](const Dataset&, const Example&) {}); });
  return 0;
}
