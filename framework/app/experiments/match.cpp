// softalign match SPEC [KEY=VALUE..] --to SPEC: widths with which a model is as large, or as costly, as another.
#include "framework/train/match.hpp"

#include "framework/app/command.hpp"
#include "framework/app/experiments/count_options.hpp"
#include "framework/app/experiments/load.hpp"
#include "framework/app/terminal/number_option.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/counted.hpp"
#include "framework/train/check_spec.hpp"

namespace softalign::app {
namespace {

constexpr const char* kMatchExample =
    R"(softalign match configs/tiny.yaml model.attention=none --to configs/tiny.yaml

The lines are YAML, for the spec or for a variant of a study. Nothing is changed
where the two are within 1 % of each other already; several options keep the
ratio that they are written in.)";

struct MatchArguments {
  SpecArguments spec, other;
  Index target = 0;
  MatchRequest request;
  CountOptions count;
};

// How the numbers of a spec's model are counted.
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

void add_match(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<MatchArguments>();
  CLI::App* command = add_command(app,
                                  "match",
                                  "find widths that make a spec's model as large, or as costly, as "
                                  "another, within 1 %",
                                  "Experiments",
                                  kMatchExample);
  arguments->spec.add_to(*command);
  CLI::Option* to = command->add_option("--to", arguments->other.file, "the spec that is matched");
  to->type_name("SPEC");
  command->add_option("--with", arguments->other.overrides, "a change to it; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->needs(to);
  command->add_option("--target", arguments->target, "what is matched, as a number")
      ->excludes(to)
      ->check(integer(between(1, 1e15)));
  command
      ->add_option("--by", arguments->request.by, "parameters or multiplications, a target symbol")
      ->capture_default_str()
      ->check(CLI::IsMember({"parameters", "multiplications"}));
  command
      ->add_option("--adjust", arguments->request.adjust, "an option that is set; may be repeated")
      ->type_name("KEY")
      ->capture_default_str()
      ->allow_extra_args(false);
  arguments->count.add_to(*command, "those of the task; files are read");
  command->callback([arguments] {
    if (arguments->other.file.empty() && arguments->target == 0)
      throw SpecError("name what is matched: --to SPEC or --target N");
    arguments->other.plugins = arguments->spec.plugins;
    match(*arguments);
  });
}

}  // namespace softalign::app
