// softalign parameters SPEC [KEY=VALUE..]: prints the parameters of a spec's model and its cost, without reading data
// or drawing initial values.
// softalign match SPEC [KEY=VALUE..] --to SPEC: finds widths that make a model as large, or as costly, as another.
#include <CLI/CLI.hpp>

#include <vector>

#include "framework/app/command.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/load.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/data/task.hpp"
#include "framework/seq/cost.hpp"
#include "framework/train/load_spec.hpp"
#include "framework/train/match.hpp"

namespace softalign::app {
namespace {

// The options for the numbers of symbols and the sentence lengths that a model is counted for.
struct CountOptions {
  std::vector<Index> symbols;  // of source and target; empty: not given
  std::vector<Index> lengths = {20, 20};
  // symbols_default: the default as described in the help.
  void add_to(CLI::App& command, const char* symbols_default) {
    command
        .add_option(
            "--symbols",
            symbols,
            fmt::format("symbols on the source and the target side (default: {})", symbols_default))
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(integer(between(4, kMostSymbols)));
    command
        .add_option("--lengths",
                    lengths,
                    "source and target positions, including </s>, for which multiplications are "
                    "counted (default: 20)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(integer(between(2, kLongestSentence)));
  }
  // Throws SpecError if an option has more than two numbers.
  void check() const {
    for (const auto& [option, numbers] :
         {std::pair("--symbols", &symbols), {"--lengths", &lengths}})
      if (numbers->size() > 2)
        throw SpecError("{}: {} numbers; give SOURCE,TARGET", option, numbers->size());
  }
};

struct ParametersArguments {
  SpecArguments spec;
  CountOptions count;
  bool json = false;
};

// Returns the numbers of symbols. at_most: they are upper bounds, because files are not read.
Symbols symbols_of(const ParametersArguments& arguments, const Spec& spec, bool& at_most) {
  if (!arguments.count.symbols.empty())
    return {arguments.count.symbols.front(), arguments.count.symbols.back()};
  const DataOutline outline = make_plugin<TaskKind>(spec.task)->outline();
  at_most = !outline.measured();
  if ((outline.source_symbols == 0 && !outline.frames) || outline.target_symbols == 0)
    throw SpecError("the number of symbols of task {} is unknown; give --symbols SOURCE,TARGET",
                    spec.task.type);
  return {outline.source(), outline.target_symbols};
}

// Returns nothing if the model does not fit in this machine's memory.
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
      "per target symbol: {} multiplications, {} of them in the projection; per sentence of {} "
      "source and {} target positions: {} energies, {} bytes of activations\n",
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
  bool at_most = false;
  const Symbols symbols = symbols_of(arguments, resolved.spec, at_most);
  const Model model(resolved.spec.model, symbols.source, symbols.target);
  const Index total = model.parameters().count();
  const std::optional<Cost> cost = cost_of(arguments, resolved.spec, symbols);
  if (arguments.json) {
    Json json{{"source_symbols", symbols.source.symbols},
              {"target_symbols", symbols.target},
              {"at_most", at_most},
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
  table.row({at_most ? "all, at most" : "all", "", with_commas(total)});
  print_text("{}{} source and {} target symbols{}\n{}",
             table.fitted(),
             with_commas(symbols.source.symbols),
             with_commas(symbols.target),
             at_most ? ", at most: files are not read; --symbols sets the numbers" : "",
             cost ? cost_text(arguments, *cost) : "");
}

constexpr const char* kMatchExample =
    R"(softalign match configs/tiny.yaml model.attention=none --to configs/tiny.yaml

Prints YAML lines for the spec or for a variant of a study. If the two already agree
within 1 %, nothing is adjusted; several adjusted options keep their ratio.)";

struct MatchArguments {
  SpecArguments spec, other;
  Index target = 0;
  MatchRequest request;
  CountOptions count;
};

// Returns the request with the symbols and lengths that a spec's model is counted for.
MatchRequest request_for(const Spec& spec, const MatchArguments& arguments) {
  MatchRequest request = arguments.request;
  const std::vector<Index>& given = arguments.count.symbols;
  request.symbols = given.empty() ? symbols_of(spec) : Symbols{given.front(), given.back()};
  request.lengths = arguments.count.lengths;
  return request;
}

void match(const MatchArguments& arguments) {
  arguments.count.check();
  Index target = arguments.target;
  if (target == 0) {
    const auto other = load(arguments.other);
    check_spec(other);
    target = amount_of(other.spec.model, request_for(other.spec, arguments));
  }
  const auto resolved = load(arguments.spec);
  const SpecTree tree =
      load_tree(arguments.spec.file, numbered_overrides(arguments.spec.overrides));
  const Match found = match_widths(tree.root, request_for(resolved.spec, arguments), target);
  for (const auto& [option, width] : found.widths) print_text("{}: {}\n", option, width);
  print_text("# {} {}, {:+.2f} % from {}\n",
             with_commas(found.amount),
             arguments.request.by,
             100 * (static_cast<double>(found.amount) / static_cast<double>(target) - 1),
             with_commas(target));
}

}  // namespace

void add_parameters(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<ParametersArguments>();
  CLI::App* command =
      add_command(app,
                  "parameters",
                  "list the parameters of a spec's model, and count its multiplications",
                  "Experiments",
                  "softalign parameters configs/reverse.yaml model.decoder.units=128");
  arguments->spec.add_to(*command);
  arguments->count.add_to(*command, "the most that the task allows");
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments] { print_parameters(*arguments); });
}

void add_match(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<MatchArguments>();
  CLI::App* command =
      add_command(app,
                  "match",
                  "find widths that give two specs equally large or costly models, within 1 %",
                  "Experiments",
                  kMatchExample);
  arguments->spec.add_to(*command);
  CLI::Option* to = command->add_option("--to", arguments->other.file, "the spec to match");
  to->type_name("SPEC");
  command
      ->add_option(
          "--with", arguments->other.overrides, "change a value of that spec; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->needs(to);
  command->add_option("--target", arguments->target, "the number to match")
      ->excludes(to)
      ->check(integer(between(1, 1e15)));
  command
      ->add_option("--by",
                   arguments->request.by,
                   "what to match: parameters, or multiplications per target symbol")
      ->capture_default_str()
      ->check(CLI::IsMember({"parameters", "multiplications"}));
  command
      ->add_option("--adjust", arguments->request.adjust, "the option to adjust; may be repeated")
      ->type_name("KEY")
      ->capture_default_str()
      ->allow_extra_args(false);
  arguments->count.add_to(*command, "those of the task, whose files are read");
  command->callback([arguments] {
    if (arguments->other.file.empty() && arguments->target == 0)
      throw SpecError("give the target: --to SPEC or --target N");
    arguments->other.plugins = arguments->spec.plugins;
    match(*arguments);
  });
}

}  // namespace softalign::app
