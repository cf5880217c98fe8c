#include "framework/config/shared_object.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

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

// What the dynamic section points at, by address, is looked at where the segments have it in the file.
class DynamicSection {
 public:
  DynamicSection(std::string_view bytes, const ElfW(Ehdr) & header)
      : bytes_(bytes), header_(header) {
    for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
      const auto segment = entry<ElfW(Phdr)>(bytes, header.e_phoff, i);
      if (segment.p_type != PT_DYNAMIC) continue;
      for (std::uint64_t n = 0; n < segment.p_filesz / sizeof(ElfW(Dyn)); ++n) {
        const auto found = entry<ElfW(Dyn)>(bytes, segment.p_offset, n);
        if (found.d_tag == DT_NULL) break;
        values_.emplace(found.d_tag, found.d_un.d_val);
      }
    }
  }

  // The first table that is not there, or says what no linker writes; null: none.
  const char* fault() const {
    const auto strings = table(DT_STRTAB, value(DT_STRSZ));
    if (!strings || value(DT_STRSZ) == 0) return "string table";
    if (!table(DT_SYMTAB, sizeof(ElfW(Sym))) || value(DT_SYMENT) != sizeof(ElfW(Sym)))
      return "symbol table";
    if (!hash_fits()) return "hash table";
    if (!relocations_fit(DT_RELA, DT_RELASZ) || !relocations_fit(DT_JMPREL, DT_PLTRELSZ))
      return "relocation table";
    for (const auto& [list, size] :
         {std::pair{DT_INIT_ARRAY, DT_INIT_ARRAYSZ}, {DT_FINI_ARRAY, DT_FINI_ARRAYSZ}})
      if (has(list) && !table(list, value(size))) return "list of initialisers";
    return nullptr;
  }

 private:
  bool has(ElfW(Sxword) tag) const { return values_.contains(tag); }
  std::uint64_t value(ElfW(Sxword) tag) const { return has(tag) ? values_.at(tag) : 0; }

  // Where `size` bytes at an address lie in the file.
  std::optional<std::uint64_t> place(std::uint64_t address, std::uint64_t size) const {
    for (std::uint64_t i = 0; i < header_.e_phnum; ++i) {
      const auto s = entry<ElfW(Phdr)>(bytes_, header_.e_phoff, i);
      if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr <= s.p_filesz &&
          size <= s.p_filesz - (address - s.p_vaddr))
        return s.p_offset + (address - s.p_vaddr);
    }
    return std::nullopt;
  }
  std::optional<std::uint64_t> table(ElfW(Sxword) tag, std::uint64_t size) const {
    return has(tag) ? place(value(tag), size) : std::nullopt;
  }

  bool hash_fits() const {
    constexpr std::uint64_t kHead =
        4;  // words: buckets, first symbol, words of the filter, its shift
    if (!has(DT_GNU_HASH)) return table(DT_HASH, 2 * sizeof(std::uint32_t)).has_value();
    const auto at = table(DT_GNU_HASH, kHead * sizeof(std::uint32_t));
    if (!at) return false;
    const auto word = [&](std::uint64_t i) { return entry<std::uint32_t>(bytes_, *at, i); };
    const std::uint64_t buckets = word(0), filter = word(2);
    return buckets > 0 && std::has_single_bit(filter) &&
           table(DT_GNU_HASH,
                 (kHead + buckets) * sizeof(std::uint32_t) + filter * sizeof(ElfW(Addr)));
  }

  // A symbol that a relocation names.
  bool is_symbol(std::uint64_t index) const {
    const auto at = place(value(DT_SYMTAB), (index + 1) * sizeof(ElfW(Sym)));
    if (!at) return false;
    const auto symbol = entry<ElfW(Sym)>(bytes_, *at, index);
    if (symbol.st_name >= value(DT_STRSZ)) return false;
    return index == 0 || ELF64_ST_TYPE(symbol.st_info) == STT_SECTION ||
           bytes_[*place(value(DT_STRTAB), value(DT_STRSZ)) + symbol.st_name] != '\0';
  }

  bool relocations_fit(ElfW(Sxword) tag, ElfW(Sxword) size) const {
    if (!has(tag)) return !has(size);
    const auto at = table(tag, value(size));
    for (std::uint64_t i = 0; at && i < value(size) / sizeof(ElfW(Rela)); ++i) {
      const auto relocation = entry<ElfW(Rela)>(bytes_, *at, i);
      if (ELF64_R_TYPE(relocation.r_info) == 0 || !is_symbol(ELF64_R_SYM(relocation.r_info)))
        return false;
    }
    return at.has_value();
  }

  std::string_view bytes_;
  const ElfW(Ehdr) & header_;
  std::map<ElfW(Sxword), std::uint64_t> values_;  // by tag
};

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
  if (std::string fault = segment_fault(bytes, header); !fault.empty()) return fault;
  if (const char* const table = DynamicSection(bytes, header).fault())
    return fmt::format("is damaged: its {} is not as a linker writes it; build it again", table);
  return "";
}

}  // namespace softalign
