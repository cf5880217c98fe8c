# cmake -DROOT=.. -DOUTPUT=.. -P plugin_notes.cmake: the comment that each plugin's file begins with, as a table in C++, for
# `softalign describe`.
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/framework/plugins/*.cpp)
list(SORT files)
set(rows "")
foreach(file IN LISTS files)
  file(READ ${ROOT}/${file} text)
  string(REGEX MATCH "^(//[^\n]*\n)+" note "${text}")
  string(REGEX REPLACE "(^|\n)// ?" "\\1" note "${note}")
  string(APPEND rows "    {\"${file}\", R\"note(${note})note\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made from the plugins' own comments.
#include \"framework/app/plugins/plugins.hpp\"

namespace softalign::app {
namespace {

struct Note {
  std::string_view source, text;
};
constexpr Note kNotes[] = {
${rows}};

}  // namespace

std::string_view plugin_note(std::string_view source) {
  for (const Note& note : kNotes)
    if (note.source == source) return note.text;
  return {};
}

}  // namespace softalign::app
")
