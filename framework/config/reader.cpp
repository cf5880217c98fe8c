#include "framework/config/reader.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/config/merge.hpp"
#include "framework/config/registry.hpp"
#include "framework/config/spec.hpp"
#include "framework/config/value.hpp"
#include "framework/config/writer.hpp"
#include "framework/config/yaml.hpp"

namespace softalign {
namespace {

class Reader final : public OptionVisitor {
 public:
  Reader(const Value& root, const std::string& what, Required required) : required_(required) {
    frames_.push_back({&root, root.where, "", what});
  }

  ReadResult finish() {
    refuse_unknown(frames_.back());
    for (const Unknown& key : unknown_)
      faults_.add(key.entry->where,
                  fmt::format("unknown key '{}'{} in {}{}",
                              printable(key.entry->key),
                              slip_in(key.entry->key),
                              key.what,
                              suggestion_among(key.entry->key, key.legal, known_)));
    faults_.throw_all();
    return std::move(result_);
  }

 protected:
  void visit(std::string_view name, bool& v, std::string_view help, const Limits& l) override {
    take(name, help, l, [&](const Value& value) { assign(name, v, to_bool(value)); });
  }
  void visit(std::string_view name, Index& v, std::string_view help, const Limits& l) override {
    take(name, help, l, [&](const Value& value) { assign(name, v, to_integer(value, l)); });
  }
  void visit(std::string_view name, double& v, std::string_view help, const Limits& l) override {
    take(name, help, l, [&](const Value& value) { assign(name, v, to_number(value, l)); });
  }
  void visit(std::string_view name,
             std::string& v,
             std::string_view help,
             const Limits& l) override {
    take(name, help, l, [&](const Value& value) { assign(name, v, to_text(value, l)); });
  }
  void visit(std::string_view name,
             std::vector<Index>& v,
             std::string_view help,
             const Limits& l) override {
    take_list(name, v, help, l, [&](const Value& item) { return to_integer(item, l); });
  }
  void visit(std::string_view name,
             std::vector<double>& v,
             std::string_view help,
             const Limits& l) override {
    take_list(name, v, help, l, [&](const Value& item) { return to_number(item, l); });
  }
  void visit(std::string_view name,
             std::vector<std::string>& v,
             std::string_view help,
             const Limits& l) override {
    take_list(name, v, help, l, [&](const Value& item) {
      return l.plugins.empty() ? to_text(item, l) : to_plugin_word(name, item, l.plugins);
    });
  }

  void visit(std::string_view name, InputFile& v, std::string_view help, const Limits& l) override {
    take_or_clear(
        name, help, l, [&] { v.path.clear(); }, [&](const Value& value) { set(v, value, l); });
  }
  void visit(std::string_view name,
             InputFiles& v,
             std::string_view help,
             const Limits& l) override {
    take_or_clear(
        name,
        help,
        l,
        [&] { v.clear(); },
        [&](const Value& value) {
          if (value.is_map() || (value.is_list() && value.items.empty()))
            throw ScalarFault("expected a file or a list of files, as [a, b], got " +
                              (value.is_map() ? value.describe() : "an empty list"));
          InputFiles files;
          const auto add = [&](const Value& item) { set(files.emplace_back(), item, l); };
          if (value.is_list())
            each_item(name, value, add);
          else
            add(value);
          v = std::move(files);
        });
  }

  void visit(std::string_view name, Choice& v, std::string_view help, const Limits& l) override {
    if (v.kind.empty()) throw BugError("option '{}' is a Choice without a kind", path_of(name));
    Limits limits = l;
    limits.required = l.required || v.type.empty();
    const Value::Entry* const entry = declare(name, help, limits);
    const std::string fallback = v.type;
    const Value* block = nullptr;
    if (entry) {
      bool named = false;
      convert(name, *entry, [&](const Value& value) {
        named = name_plugin(v, value, path_of(name), result_.origins, faults_);
      });
      if (!named) return;
      if (entry->value.is_map()) block = &entry->value;
    } else if (v.type.empty()) {
      return;  // reported as missing, or may be missing
    }
    fill_plugin(name, v, block, fallback);
  }

  bool enter(std::string_view name, std::string_view help, const Limits& l) override {
    const Value::Entry* const entry = declare(name, help, l);
    const Value* block = nullptr;
    Position where = frames_.back().where;
    if (entry) {
      bool given = false;
      convert(name, *entry, [&](const Value&) { given = true; });
      if (!given) return false;
      block = &entry->value;
      where = entry->where;
    } else if (l.required) {
      return false;
    }
    push({block, where, path_of(name), path_of(name)});
    return true;
  }

  void leave() override {
    const Frame& frame = frames_.back();
    refuse_unknown(frame);
    if (frame.no_map()) {
      refused_.insert(frame.path);
      faults_.add(frame.map->where,
                  fmt::format("{}: expected a map, got {}; legal: {}",
                              frame.path,
                              frame.map->describe(),
                              fmt::join(frame.legal, ", ")));
    }
    frames_.pop_back();
  }

  void refuse(std::string_view name, const std::string& fault) override {
    // A given value that was refused has not been assigned.
    if (refused_.contains(path_of(name)) || inside_no_map()) return;
    const auto given = result_.origins.find(path_of(name));
    faults_.add(given == result_.origins.end() ? frames_.back().where : given->second,
                path_of(name) + ": " + fault);
  }

  void note_inactive(std::string_view name, const std::string& why) override {
    const std::string path = path_of(name);
    const auto changed = changed_.lower_bound(path);  // the option, or the first in its block
    if (changed == changed_.end() || (*changed != path && !changed->starts_with(path + ".")))
      return;
    result_.notes.push_back(
        fmt::format("{}: {} has no effect: {}", result_.origins.at(*changed).str(), path, why));
  }

  bool present(std::string_view name, bool now, std::string_view help, const Limits& l) override {
    const Value* const map = frames_.back().map;
    const Value::Entry* const entry = map ? map->find(name) : nullptr;
    if (entry ? !entry->value.is_null() : now) return true;  // declared when visited
    declare(name, help, l);
    if (entry) note_origin(name, entry->value.where);
    return false;
  }

 private:
  // An open block: its map (nullptr if not given), its position, its options so far. If another value
  // is given for the map, the block is described all the same, for the legal names.
  struct Frame {
    bool no_map() const { return map && !map->is_map(); }

    const Value* map;
    Position where;
    std::string path;
    std::string what;  // "model", "score 'cosine'"
    std::vector<std::string> legal = {};
    std::string kind = {};  // of a plugin's options
    std::string fallback = {};
  };

  struct Unknown {
    const Value::Entry* entry;
    std::string what;  // of its frame, like `legal`
    std::vector<std::string> legal;
  };

  std::string path_of(std::string_view name) const {
    const std::string& path = frames_.back().path;
    return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
  }

  bool inside_no_map() const { return std::ranges::any_of(frames_, &Frame::no_map); }

  void note_origin(std::string_view name, const Position& where) {
    result_.origins[path_of(name)] = where;
  }

  void push(Frame frame) {
    if (frames_.size() > usize(kDeepestYaml))
      throw BugError("options nest without end at {}: a plugin is its own default", frame.path);
    frames_.push_back(std::move(frame));
  }

  // Registers an option and returns its entry, or nullptr; reports a missing required option.
  const Value::Entry* declare(std::string_view name, std::string_view help, const Limits& limits) {
    Frame& frame = frames_.back();
    if (std::ranges::count(frame.legal, name) > 0)
      throw BugError("{} describes option '{}' twice", frame.what, name);
    const Value::Entry* const entry = frame.map ? frame.map->find(name) : nullptr;
    frame.legal.emplace_back(name);
    known_.push_back(path_of(name));
    if (!entry && limits.required && required_ == Required::must_be_given && !inside_no_map())
      faults_.add(frame.where, fmt::format("missing '{}' in {}: {}", name, frame.what, help));
    return entry;
  }

  template <class Convert>
  void convert(std::string_view name, const Value::Entry& entry, const Convert& into) {
    try {
      if (entry.value.is_null()) throw ScalarFault("has no value; give one or remove the key");
      into(entry.value);
      note_origin(name, entry.value.where);
    } catch (const ScalarFault& fault) {
      refused_.insert(path_of(name));
      faults_.add(entry.value.where, path_of(name) + ": " + fault.what());
    }
  }

  template <class Convert>
  void take(std::string_view name, std::string_view help, const Limits& l, const Convert& into) {
    if (const Value::Entry* const entry = declare(name, help, l)) convert(name, *entry, into);
  }

  // For options that may be null, which clears the value.
  template <class Clear, class Convert>
  void take_or_clear(std::string_view name,
                     std::string_view help,
                     const Limits& l,
                     const Clear& clear,
                     const Convert& into) {
    const Value::Entry* const entry = declare(name, help, l);
    if (entry && entry->value.is_null() && !l.required) {
      clear();
      note_origin(name, entry->value.where);
    } else if (entry) {
      convert(name, *entry, into);
      changed_.insert(path_of(name));  // because the default is empty
    }
  }

  // Calls on_item for each item; reports a fault at the item's position.
  template <class OnItem>
  void each_item(std::string_view name, const Value& list, const OnItem& on_item) {
    for (const Value& item : list.items) {
      try {
        on_item(item);
      } catch (const ScalarFault& fault) {
        refused_.insert(path_of(name));
        faults_.add(
            item.where,
            fmt::format(
                "{}, item {}: {}", path_of(name), &item - list.items.data() + 1, fault.what()));
      }
    }
  }

  template <class T>
  void assign(std::string_view name, T& value, T given) {
    if (value != given) changed_.insert(path_of(name));
    value = std::move(given);
  }

  template <class T, class Convert>
  void take_list(std::string_view name,
                 std::vector<T>& out,
                 std::string_view help,
                 const Limits& l,
                 const Convert& item_of) {
    take(name, help, l, [&](const Value& value) {
      const Value alone = value.as_list();
      const Value& list = std::same_as<T, std::string> && value.is_scalar() ? alone : value;
      if (!list.is_list()) throw ScalarFault("expected a list, as [a, b], got " + value.describe());
      std::vector<T> items;
      each_item(name, list, [&](const Value& item) { items.push_back(item_of(item)); });
      if (!refused_.contains(path_of(name))) assign(name, out, std::move(items));
    });
  }

  std::string to_plugin_word(std::string_view name, const Value& item, const std::string& kind) {
    if (item.is_scalar()) {
      if (plugin_of_word(kind, item.text)) return item.text;
      try {
        return Registry::instance().find(kind, item.text).name;
      } catch (const SpecError& unknown) {
        throw ScalarFault(unknown.what());
      }
    }
    if (!item.is_map() || item.entries.size() != 1)
      throw ScalarFault(
          fmt::format("expected the name of {}, or {{NAME: {{option: value}}}}, got {}",
                      with_article(kind),
                      item.describe()));
    const Value::Entry& named = item.entries.front();
    Choice choice{.kind = kind, .type = named.key};
    choice.where = named.where;
    fill_plugin(name, choice, &named.value, "");
    return choice.options ? plugin_word(choice) : "";
  }

  static void set(InputFile& file, const Value& value, const Limits& limits) {
    file.path = to_path(value, limits);
    file.where = value.where;
  }

  void fill_plugin(std::string_view name,
                   Choice& choice,
                   const Value* block,
                   const std::string& fallback) {
    const PluginEntry* plugin = nullptr;
    try {
      plugin = &Registry::instance().find(choice.kind, choice.type);
    } catch (const SpecError& unknown) {
      const Position& where = choice.where.file.empty() ? frames_.back().where : choice.where;
      faults_.add(where, unknown.what() + hint_for_other_kind(choice, path_of(name)));
      return;
    }
    choice.options = plugin->options();
    push({block,
          block                       ? block->where
          : choice.where.file.empty() ? frames_.back().where
                                      : choice.where,
          path_of(name),
          fmt::format("{} '{}'", choice.kind, choice.type),
          {"type"},
          choice.kind,
          fallback});
    choice.options->describe(*this);
    if (block) {
      const Frame& frame = frames_.back();
      std::string note = changed_type_note(*block, frame.path, choice, fallback, frame.legal);
      if (!note.empty()) result_.notes.push_back(std::move(note));
    }
    choice.places =
        std::make_shared<const Places>(places_below(result_.origins, frames_.back().path + "."));
    leave();
  }

  void refuse_unknown(const Frame& frame) {
    if (!frame.map) return;
    for (const Value::Entry& entry : frame.map->entries) {
      if (std::ranges::count(frame.legal, entry.key) > 0 ||
          was_legal(entry, frame.kind, frame.fallback))
        continue;
      unknown_.push_back({&entry, frame.what, frame.legal});
    }
  }

  Required required_;
  std::vector<Frame> frames_;
  Faults faults_;
  ReadResult result_;
  std::vector<std::string> known_;  // the paths of all options
  std::vector<Unknown> unknown_;
  std::set<std::string> refused_;  // options with an illegal value or item
  std::set<std::string> changed_;  // options with a value that is not the default
};

}  // namespace

ReadResult read_options(const Value& root,
                        const std::function<void(OptionVisitor&)>& describe,
                        const std::string& what,
                        Required required) {
  if (!root.is_map())
    throw SpecError("{}: {} must be a map of options, as seed: 1, not {}",
                    root.where.str(),
                    what,
                    root.describe());
  Reader reader(root, what, required);
  describe(reader);
  return reader.finish();
}

}  // namespace softalign
