// Sets a plugin's options by dotted name without the YAML reader, so that the data layer is tested
// by itself.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "framework/data/task.hpp"

namespace softalign {

class OptionSetter final : public OptionVisitor {
 public:
  explicit OptionSetter(std::map<std::string, std::string> values) : values_(std::move(values)) {}

 protected:
  void visit(std::string_view name, bool& value, std::string_view, const Limits&) override {
    if (const std::string* text = find(name)) value = *text == "true";
  }
  void visit(std::string_view name, Index& value, std::string_view, const Limits&) override {
    if (const std::string* text = find(name)) value = std::stoll(*text);
  }
  void visit(std::string_view name, double& value, std::string_view, const Limits&) override {
    if (const std::string* text = find(name)) value = std::stod(*text);
  }
  void visit(std::string_view name, std::string& value, std::string_view, const Limits&) override {
    if (const std::string* text = find(name)) value = *text;
  }
  void visit(std::string_view name, InputFile& value, std::string_view, const Limits&) override {
    if (const std::string* text = find(name)) value.path = *text;
  }
  void visit(std::string_view name, InputFiles& value, std::string_view, const Limits&) override {
    if (const std::string* text = find(name)) value = {{*text}};
  }
  void visit(std::string_view, std::vector<Index>&, std::string_view, const Limits&) override {}
  void visit(std::string_view, std::vector<double>&, std::string_view, const Limits&) override {}
  void visit(std::string_view,
             std::vector<std::string>&,
             std::string_view,
             const Limits&) override {}
  void visit(std::string_view, Choice&, std::string_view, const Limits&) override {}
  bool enter(std::string_view name, std::string_view, const Limits&) override {
    path_.push_back(std::string(name) + ".");
    return true;
  }
  void leave() override { path_.pop_back(); }
  bool present(std::string_view name, bool now, std::string_view, const Limits&) override {
    return now || find(name) != nullptr;
  }

 private:
  const std::string* find(std::string_view name) const {
    std::string full;
    for (const std::string& part : path_) full += part;
    const auto found = values_.find(full + std::string(name));
    return found == values_.end() ? nullptr : &found->second;
  }

  std::map<std::string, std::string> values_;
  std::vector<std::string> path_;
};

// A task with these of its options.
inline std::unique_ptr<Task> task_with(const std::string& type,
                                       std::map<std::string, std::string> values) {
  Choice choice{"task", type, nullptr, {}};
  choice.options = Registry::instance().find("task", type).options();
  OptionSetter setter(std::move(values));
  choice.options->describe(setter);
  return make_plugin<TaskKind>(choice);
}

}  // namespace softalign
