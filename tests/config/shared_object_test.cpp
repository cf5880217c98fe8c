// What a shared object's file is found to be before it is loaded, and which bytes are.
#include "framework/config/shared_object.hpp"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>

#include "framework/base/path.hpp"
#include "framework/config/plugin_loader.hpp"
#include "framework/config/registry.hpp"
#include "tests/message.hpp"
#include "tests/scratch.hpp"

namespace softalign {
namespace {

using test::bytes_of;
using test::contains;

const fs::path kLibraries = fs::path(SOFTALIGN_BINARY_DIR) / "lib";

// The file with another value in a field of its header.
template <class T>
std::string with(std::string bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  return bytes;
}

BOOST_AUTO_TEST_CASE(a_whole_file_has_no_fault) {
  BOOST_TEST(shared_object_fault(bytes_of(kLibraries / "angular.so")) == "");
}

BOOST_AUTO_TEST_CASE(a_file_that_is_cut_anywhere_has_one) {
  const std::string whole = bytes_of(kLibraries / "angular.so");
  for (std::size_t size = 0; size < whole.size(); size += size < 4096 ? 1 : 509)
    BOOST_TEST(shared_object_fault(std::string_view(whole).substr(0, size)) != "", size);
  BOOST_TEST(shared_object_fault(std::string_view(whole).substr(0, whole.size() - 1)) != "");
}

// What the dynamic loader believes without looking: it would divide by zeros, or jump to them.
BOOST_AUTO_TEST_CASE(a_table_of_zeros_is_a_fault) {
  const std::string whole = bytes_of(kLibraries / "angular.so");
  const auto without = [&](std::size_t at, std::size_t size) {
    return shared_object_fault(std::string(whole).replace(at, size, size, '\0'));
  };
  ElfW(Ehdr) header;
  std::memcpy(&header, whole.data(), sizeof header);
  ElfW(Phdr) dynamic{};
  for (std::size_t i = 0; dynamic.p_type != PT_DYNAMIC; ++i)
    std::memcpy(&dynamic, whole.data() + header.e_phoff + i * sizeof dynamic, sizeof dynamic);
  BOOST_TEST(contains(without(dynamic.p_offset, dynamic.p_filesz), "its string table is not"));
  const std::map<ElfW(Sxword), const char*> tables = {{DT_STRTAB, "relocation table"},
                                                      {DT_SYMTAB, "relocation table"},
                                                      {DT_GNU_HASH, "hash table"},
                                                      {DT_RELA, "relocation table"},
                                                      {DT_JMPREL, "relocation table"}};
  std::size_t tried = 0;
  for (std::size_t at = 0; at < dynamic.p_filesz; at += sizeof(ElfW(Dyn))) {
    ElfW(Dyn) entry;
    std::memcpy(&entry, whole.data() + dynamic.p_offset + at, sizeof entry);
    const auto table = tables.find(entry.d_tag);
    if (table == tables.end()) continue;
    ++tried;  // the first segment lies at address 0
    BOOST_TEST(contains(without(entry.d_un.d_ptr, 512), table->second), table->second);
    BOOST_TEST(contains(
        shared_object_fault(with(whole, dynamic.p_offset + at + 8, ~ElfW(Xword){0})), "damaged"));
  }
  BOOST_TEST(tried >= 4U);
}

BOOST_AUTO_TEST_CASE(other_files_are_told_apart) {
  const std::string whole = bytes_of(kLibraries / "angular.so");
  using Header = ElfW(Ehdr);
  using Segment = ElfW(Phdr);
  const auto fault = [](const std::string& bytes) { return shared_object_fault(bytes); };
  BOOST_TEST(contains(fault("#!/bin/sh\n"), "has no ELF header"));
  BOOST_TEST(contains(fault(with(whole, EI_CLASS, '\x01')), "another machine"));
  BOOST_TEST(contains(fault(with(whole, EI_DATA, '\x02')), "another machine"));
  BOOST_TEST(contains(fault(with<ElfW(Half)>(whole, offsetof(Header, e_machine), EM_SPARC)),
                      "another machine"));
  BOOST_TEST(
      contains(fault(with<ElfW(Half)>(whole, offsetof(Header, e_type), ET_REL)), "of type 1"));
  BOOST_TEST(contains(fault(with<ElfW(Half)>(whole, offsetof(Header, e_phentsize), 1)),
                      "entries of an unknown size"));
  BOOST_TEST(contains(fault(with<ElfW(Off)>(whole, offsetof(Header, e_phoff), ~0ULL)),
                      "program header table"));
  BOOST_TEST(contains(fault(with<ElfW(Half)>(whole, offsetof(Header, e_phnum), 0)),
                      "no segments to load"));
  Header header;
  std::memcpy(&header, whole.data(), sizeof header);
  BOOST_TEST(
      contains(fault(with<ElfW(Xword)>(whole, header.e_phoff + offsetof(Segment, p_filesz), ~0ULL)),
               "its segment of"));
}

BOOST_AUTO_TEST_CASE(what_was_read_is_what_is_loaded) {
  const fs::path copy =
      fs::temp_directory_path() / ("softalign-" + std::to_string(getpid()) + ".so");
  fs::copy_file(kLibraries / "angular.so", copy, fs::copy_options::overwrite_existing);
  const PluginFile file = read_plugin(copy.string());
  fs::copy_file(kLibraries / "leaky.so", copy, fs::copy_options::overwrite_existing);
  const LoadedPlugin& plugin = load_plugin(file);
  fs::remove(copy);
  BOOST_TEST(plugin.sha256 == file.sha256);
  BOOST_REQUIRE_EQUAL(plugin.added.size(), 1U);
  BOOST_TEST(plugin.added[0] == "score angular");
  BOOST_TEST((Registry::instance().find_if_present("score", "leaky") == nullptr));
  // A second one: a name that the dynamic loader has seen would give the first again.
  const PluginFile leaky = read_plugin((kLibraries / "leaky.so").string());
  const LoadedPlugin& other = load_plugin(leaky);
  BOOST_REQUIRE_EQUAL(other.added.size(), 1U);
  BOOST_TEST(other.added[0] == "score leaky");
}

}  // namespace
}  // namespace softalign
