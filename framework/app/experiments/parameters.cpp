// softalign parameters SPEC [KEY=VALUE..]: the numbers that a spec's model learns and what it takes to compute,
// before anything is read or drawn.
#include "framework/app/command.hpp"
#include "framework/app/experiments/count_options.hpp"
#include "framework/app/experiments/load.hpp"
#include "framework/app/terminal/json.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/base/counted.hpp"
#include "framework/base/types.hpp"
#include "framework/data/task.hpp"
#include "framework/seq/cost.hpp"
#include "framework/train/check_spec.hpp"
#include "framework/train/match.hpp"

namespace softalign::app {
namespace {

struct ParametersArguments {
  SpecArguments spec;
  CountOptions count;
  bool json = false;
};

Symbols symbols_of(const ParametersArguments& arguments, const Spec& spec) {
  if (!arguments.count.symbols.empty())
    return {arguments.count.symbols.front(), arguments.count.symbols.back()};
  const DataOutline outline = make_plugin<TaskKind>(spec.task)->outline();
  if (outline.source_symbols == 0 && !outline.frames)
    throw SpecError("task {} does not say how many symbols it has; give --symbols SOURCE,TARGET",
                    spec.task.type);
  return {outline.source(), outline.target_symbols};
}

// Nothing where this machine has no room for the model.
std::optional<Cost> cost_of(const ParametersArguments& arguments,
                            const Spec& spec,
                            const Symbols& symbols) {
  const std::vector<Index>& lengths = arguments.count.lengths;
  try {
    return softalign::cost_of(
        spec.model, symbols.source, symbols.target, {lengths.front(), lengths.back()});
  } catch (const MachineError&) {
    return std::nullopt;
  }
}

std::string cost_text(const ParametersArguments& arguments, const Cost& cost) {
  return fmt::format(
      "{} multiplications a target symbol, {} of them in the projection; {} energies, {} bytes of "
      "activations: {} source and {} target positions\n",
      with_commas(cost.per_symbol()),
      with_commas(cost.projection / cost.target_symbols),
      with_commas(cost.energies),
      with_commas(cost.activations),
      arguments.count.lengths.front(),
      arguments.count.lengths.back());
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (int axis = 0; axis < shape.rank(); ++axis)
    text += fmt::format("{}{}", axis == 0 ? "" : " x ", shape[axis]);
  return text;
}

void print_parameters(const ParametersArguments& arguments) {
  arguments.count.check();
  const auto resolved = load(arguments.spec);
  check_spec(resolved);
  const Symbols symbols = symbols_of(arguments, resolved.spec);
  const Model model(resolved.spec.model, symbols.source, symbols.target);
  const Index total = model.parameters().count();
  const std::optional<Cost> cost = cost_of(arguments, resolved.spec, symbols);
  if (arguments.json) {
    Json json{{"source_symbols", symbols.source.symbols},
              {"target_symbols", symbols.target},
              {"count", total},
              {"parameters", Json::object()}};
    for (const Parameter& parameter : model.parameters().all()) {
      Json& shape = json["parameters"][parameter.name] = Json::array();
      for (int axis = 0; axis < parameter.shape.rank(); ++axis)
        shape.push_back(parameter.shape[axis]);
    }
    if (cost)
      json["cost"] = {{"source", arguments.count.lengths.front()},
                      {"target", arguments.count.lengths.back()},
                      {"multiplications", cost->multiplications},
                      {"multiplications_per_target_symbol", cost->per_symbol()},
                      {"projection", cost->projection},
                      {"energies", cost->energies},
                      {"activation_bytes", cost->activations}};
    print_json(json);
    return;
  }
  Table table({{"parameter"}, {"shape", Side::right}, {"numbers", Side::right}});
  for (const Parameter& parameter : model.parameters().all())
    table.row({parameter.name, shape_text(parameter.shape), with_commas(parameter.shape.size())});
  table.row({"all", "", with_commas(total)});
  print_text("{}{} source and {} target symbols{}\n{}",
             table.fitted(),
             with_commas(symbols.source.symbols),
             with_commas(symbols.target),
             arguments.count.symbols.empty() ? ", at most" : "",
             cost ? cost_text(arguments, *cost) : "");
}

}  // namespace

void add_parameters(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<ParametersArguments>();
  CLI::App* command =
      add_command(app,
                  "parameters",
                  "what a spec's model learns: names, shapes, how many numbers; what it multiplies",
                  "Experiments",
                  "softalign parameters configs/reverse.yaml model.decoder.units=128");
  arguments->spec.add_to(*command);
  arguments->count.add_to(*command, "as many as the task may have");
  command->add_flag("--json", arguments->json, "print them as JSON");
  command->callback([arguments] { print_parameters(*arguments); });
}

}  // namespace softalign::app
