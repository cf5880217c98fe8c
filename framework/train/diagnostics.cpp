#include "framework/train/diagnostics.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/base/types.hpp"

namespace softalign {
namespace {

std::map<std::string, std::unique_ptr<Diagnostic>> made(const DiagnosticsOptions& options) {
  std::map<std::string, std::unique_ptr<Diagnostic>> all;
  for (const auto& [name, plugin] : options.chosen)
    if (plugin.options)
      all[name] = make_plugin<DiagnosticKind>(
          {.kind = DiagnosticKind::name, .type = name, .options = plugin.options});
  return all;
}

// Checks that names of arrays and axes are unique, since each names a dataset in the diagnostic's group of the record.
void check_names(const Diagnostic& diagnostic) {
  std::set<std::string> arrays = {"update"}, axes;
  const auto check = [](bool fine, const std::string& name) {
    if (!fine || !is_plugin_name(name))
      throw SpecError(
          "'{}' cannot be the name of an array in a record, or has another meaning there", name);
  };
  for (const FoundArray& array : diagnostic.arrays()) {
    check(arrays.insert(array.name).second, array.name);
    axes.insert(array.axes.begin(), array.axes.end());
  }
  for (const std::string& axis : axes) check(!arrays.contains(axis), axis);
}

}  // namespace

Diagnostics::Diagnostics(
    const Spec& spec, const Model& model, Recorder& recorder, Workers& workers, Observer& observer)
    : seed_(static_cast<std::uint64_t>(spec.seed)),
      model_(model),
      recorder_(recorder),
      workers_(workers),
      observer_(observer) {
  if (spec.diagnostics) diagnostics_ = made(*spec.diagnostics);
}

void Diagnostics::look(Moment moment, const Split& split, Index update) const {
  for (const auto& [name, diagnostic] : diagnostics_) {
    if (!diagnostic->looks(moment, split)) continue;
    observer_.stage("looking: " + name, 0, 0);
    const Findings found =
        diagnostic->look({model_, split, seed_, workers_, [&, &called = name] {
                            if (observer_.stop_requested())
                              throw Interrupted("interrupted during diagnostic {}", called);
                          }});
    const std::string group = fmt::format("{}/{}/{}", kDiagnosticsGroup, name, split.name);
    std::map<std::string, Index> sizes;
    for (const FindingAxis& axis : found.axes) {
      sizes[axis.name] = std::ssize(axis.places);
      recorder_.array(group,
                      axis.name,
                      {{axis.name, std::ssize(axis.places)}},
                      axis.places,
                      {{"long_name", axis.long_name}});
    }
    std::size_t named = 0;
    for (const FoundArray& array : diagnostic->arrays()) {
      const auto values = found.values.find(array.name);
      if (values == found.values.end()) continue;
      ++named;
      std::vector<Dimension> dims;
      for (const std::string& axis : array.axes) {
        if (!sizes.contains(axis))
          throw BugError(
              "diagnostic {} finds {} over {}, but has no such axis", name, array.name, axis);
        dims.push_back({axis, sizes[axis]});
      }
      recorder_.row(update,
                    group,
                    array.name,
                    dims,
                    values->second,
                    {{"long_name", array.long_name}, {"units", array.units}});
    }
    if (named < found.values.size())
      throw BugError("diagnostic {} finds an array that its arrays() does not name", name);
  }
}

std::vector<Look> looks_of(const DiagnosticsOptions& options) {
  std::vector<Look> looks;
  for (auto& [name, plugin] : made(options)) {
    const std::shared_ptr<const Diagnostic> diagnostic = std::move(plugin);
    const auto add = [&](const char* split, std::initializer_list<Moment> moments) {
      Split of;
      of.name = split;
      if (std::ranges::any_of(moments, [&](Moment at) { return diagnostic->looks(at, of); }))
        looks.push_back({name, diagnostic, split});
    };
    add("train", {Moment::end});
    add("dev", {Moment::start, Moment::epoch, Moment::end});
    add("test", {Moment::end});
  }
  return looks;
}

std::map<std::string, std::vector<FoundArray>> arrays_found(const DiagnosticsOptions& options) {
  std::map<std::string, std::vector<FoundArray>> all;
  for (const auto& [name, diagnostic] : made(options)) all[name] = diagnostic->arrays();
  return all;
}

void check_diagnostics(const DiagnosticsOptions& options, const Model& model) {
  for (const auto& [name, diagnostic] : made(options)) try {
      check_names(*diagnostic);
      diagnostic->check(model);
    } catch (const SpecError& error) {
      throw SpecError("diagnostics.{0}: {1}; diagnostics.{0}=null removes it", name, error.what());
    }
}

}  // namespace softalign
