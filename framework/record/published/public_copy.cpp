#include "framework/record/published/public_copy.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "framework/base/counted.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

constexpr std::array<std::string_view, 14> kHow{"cpu_model",
                                                "isa",
                                                "cpus",
                                                "version",
                                                "arithmetic",
                                                "compiler",
                                                "flags",
                                                "git_commit",
                                                "git_dirty",
                                                "libs",
                                                "gemm",
                                                "plugins",
                                                "started"};
const std::string kGroup = "provenance";
const std::string kAttempts = kGroup + "/attempts", kEvents = kGroup + "/events";

using Texts = std::vector<std::string>;

bool is_how(const std::string& name) { return std::ranges::find(kHow, name) != kHow.end(); }

Texts texts_in(const Record& record, const std::string& group, const std::string& name) {
  if (!record.has(group + "/" + name)) return {};
  Values values = record.array(group, name).values;
  auto* const texts = std::get_if<Texts>(&values);
  return texts ? std::move(*texts) : Texts();
}

// Tells which texts name the machine.
class Machine {
 public:
  explicit Machine(const Record& record) {
    for (std::string& host : texts_in(record, kAttempts, "host")) hosts_.insert(std::move(host));
    hosts_.insert(record.attribute<std::string>(kGroup, "host").value_or(""));
    hosts_.erase("");
  }

  bool is_in(const std::string& text) const {
    static const std::regex path(R"((^|[^\w.])~?/\w|-[IL]/)");
    static const std::regex word(R"([\w.-]+)");
    const auto is_host = [&](const std::smatch& found) { return hosts_.contains(found.str()); };
    return std::regex_search(text, path) ||
           std::any_of(std::sregex_iterator(text.begin(), text.end(), word), {}, is_host);
  }

 private:
  std::set<std::string> hosts_;
};

// Rows of a table whose texts do not name the machine; returns how many do.
Index copy_events(Hdf5Writer& file, const Record& record, const Machine& machine) {
  const Texts texts = texts_in(record, kEvents, "text"), times = texts_in(record, kEvents, "time");
  if (texts.empty()) return 0;
  const Values all = record.array(kEvents, "attempt").values;
  const auto* const attempts = std::get_if<std::vector<std::int32_t>>(&all);
  if (!attempts || attempts->size() != texts.size() || times.size() != texts.size())
    throw damaged_record(record.file(), kEvents + " is not as a record has it");
  std::vector<std::int32_t> kept_attempts;
  Texts kept_times, kept_texts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (machine.is_in(texts[i])) continue;
    kept_attempts.push_back((*attempts)[i]);
    kept_times.push_back(times[i]);
    kept_texts.push_back(texts[i]);
  }
  const std::vector<Dimension> dims{{"event", std::ssize(kept_texts)}};
  if (!kept_texts.empty()) {
    file.dataset(kEvents + "/attempt", dims, kept_attempts);
    file.dataset(kEvents + "/time", dims, kept_times);
    file.dataset(kEvents + "/text", dims, kept_texts);
  }
  return std::ssize(texts) - std::ssize(kept_texts);
}

}  // namespace

PublicCopy public_copy(const Record& record, const std::string& spec_yaml) {
  const Hdf5Reader from(record.file());
  const Machine machine(record);
  PublicCopy made;
  const auto leave_out = [&](const std::string& what) { made.left_out.push_back(what); };
  Hdf5Writer file;
  file.copy_attributes(from, "");
  for (const std::string& child : from.children(""))
    if (child != kGroup) file.copy(from, child);

  JsonObject how = JsonObject::object();
  const JsonObject attributes = from.attributes(kGroup);
  for (const auto& [name, value] : attributes.items()) {
    if (name == "spec_sha256") continue;
    if (is_how(name) && !(value.is_string() && machine.is_in(value.get<std::string>())))
      how[name] = value;
    else
      leave_out(name);
  }
  how["spec_sha256"] = sha256_hex(spec_yaml);
  file.attributes(kGroup, how);
  file.dataset(kGroup + "/spec_yaml", {}, Texts{spec_yaml});
  for (const std::string& child : from.children(kGroup)) {
    const std::string path = kGroup + "/" + child;
    if (from.is_group(path) || child == "spec_yaml") continue;
    const std::string text = record.text(kGroup, child);
    const bool kept = child == "identity_json" ||
                      ((child == "early_termination" || is_how(child)) && !machine.is_in(text));
    if (!kept && !text.empty()) leave_out(child);
    if (kept || child == "git_diff") file.dataset(path, {}, Texts{kept ? text : ""});
  }
  if (from.exists(kAttempts))
    for (const std::string& column : from.children(kAttempts)) {
      const std::string path = kAttempts + "/" + column;
      if (column == "host" || column == "environment_json")
        file.dataset(path, from.dims(path), Texts(usize(size_of(from.dims(path)))));
      else
        file.copy(from, path);
      if (const Texts texts = texts_in(record, kAttempts, column);
          column == "environment_json" && !std::ranges::all_of(texts, &std::string::empty))
        leave_out("environment");
    }
  if (const Index events = copy_events(file, record, machine); events > 0)
    leave_out(counted(events, "event"));
  made.image = file.image();
  return made;
}

bool is_public_copy(const Record& record) {
  return !record.attribute<std::string>(kGroup, "host") &&
         std::ranges::all_of(texts_in(record, kAttempts, "environment_json"), &std::string::empty);
}

}  // namespace softalign
