#include "framework/config/shared_object.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdint>
#include <cstring>

// The header of the shared object that this code is in; the linker knows it by this name.
extern "C" [[gnu::visibility("hidden")]] const ElfW(Ehdr) __ehdr_start;

namespace softalign {
namespace {

// Something that the file should hold.
struct Part {
  const char* name;
  std::uint64_t offset, size;  // bytes
};

// The `index`-th entry of a table, whose bytes are there.
template <class T>
T entry(std::string_view bytes, std::uint64_t table, std::uint64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + table + index * sizeof value, sizeof value);
  return value;
}

// Empty when the part is there.
std::string missing(std::string_view bytes, const Part& part) {
  if (part.offset <= bytes.size() && part.size <= bytes.size() - part.offset) return "";
  return fmt::format(
      "is cut short or damaged: it has {} bytes, and its {} of {} bytes begins at byte {}; copy or "
      "build it again",
      bytes.size(),
      part.name,
      part.size,
      part.offset);
}

std::string of_another_machine(const ElfW(Ehdr) & theirs, const ElfW(Ehdr) & ours) {
  const auto words = [](const ElfW(Ehdr) & header) {
    return fmt::format("class {}, byte order {}, machine {}",
                       header.e_ident[EI_CLASS],
                       header.e_ident[EI_DATA],
                       header.e_machine);
  };
  if (words(theirs) == words(ours)) return "";
  return fmt::format("is for another machine (ELF {}; this program has {}); build it here",
                     words(theirs),
                     words(ours));
}

std::string table_fault(std::string_view bytes, const ElfW(Ehdr) & header) {
  if (header.e_phentsize != sizeof(ElfW(Phdr)) ||
      (header.e_shoff != 0 && header.e_shentsize != sizeof(ElfW(Shdr))))
    return "is damaged: the tables of its ELF header have entries of an unknown size; build it "
           "again";
  for (const Part& table :
       {Part{"program header table", header.e_phoff, header.e_phnum * sizeof(ElfW(Phdr))},
        Part{"section header table", header.e_shoff, header.e_shnum * sizeof(ElfW(Shdr))}})
    if (std::string fault = missing(bytes, table); !fault.empty()) return fault;
  return "";
}

std::string segment_fault(std::string_view bytes, const ElfW(Ehdr) & header) {
  bool loads = false, dynamic = false;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = entry<ElfW(Phdr)>(bytes, header.e_phoff, i);
    if (std::string fault = missing(bytes, {"segment", segment.p_offset, segment.p_filesz});
        !fault.empty())
      return fault;
    loads |= segment.p_type == PT_LOAD;
    dynamic |= segment.p_type == PT_DYNAMIC;
  }
  return loads && dynamic ? "" : "is no shared object: it has no segments to load";
}

}  // namespace

std::string shared_object_fault(std::string_view bytes) {
  if (!bytes.starts_with(ELFMAG))
    return "is no shared object (it has no ELF header); build it with softalign_add_plugin";
  if (std::string fault = missing(bytes, {"ELF header", 0, sizeof(ElfW(Ehdr))}); !fault.empty())
    return fault;
  const auto header = entry<ElfW(Ehdr)>(bytes, 0, 0);
  if (std::string fault = of_another_machine(header, __ehdr_start); !fault.empty()) return fault;
  if (header.e_type != ET_DYN)
    return fmt::format("is no shared object but an ELF file of type {}; link it with -shared",
                       header.e_type);
  if (std::string fault = table_fault(bytes, header); !fault.empty()) return fault;
  return segment_fault(bytes, header);
}

}  // namespace softalign
