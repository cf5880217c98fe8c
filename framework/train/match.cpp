#include "framework/train/match.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "framework/base/counted.hpp"
#include "framework/base/path.hpp"
#include "framework/base/suggest.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/task.hpp"
#include "framework/seq/cost.hpp"

namespace softalign {
namespace {

constexpr double kTolerance = 0.01;

// model.match of a tree that has one.
template <class AnyValue>
AnyValue* match_in(AnyValue& root) {
  auto* const model = root.find("model");
  auto* const match = model ? model->value.find("match") : nullptr;
  return match && match->value.is_map() ? &match->value : nullptr;
}

Spec read(const Value& root) {
  Spec spec;
  read_options(root, spec, "the spec");
  return spec;
}

// A task that makes its sentences knows its symbols; of files they are what the data has.
std::vector<Index> symbols_of(const Spec& spec) {
  const auto task = make_plugin<TaskKind>(spec.task);
  const DataOutline outline = task->outline();
  if (outline.measured()) return {outline.source_symbols, outline.target_symbols};
  // The variants of a study share their data, which are read once.
  static std::map<std::string, std::vector<Index>> known;
  std::string key = fmt::format("{}", spec.seed);
  for (const OptionLeaf& leaf : option_leaves(spec))
    if (leaf.path.starts_with("task")) key += fmt::format("\n{}: {}", leaf.path, leaf.value);
  std::vector<Index>& symbols = known[key];
  if (symbols.empty()) {
    const Dataset data =
        task->load(static_cast<std::uint64_t>(spec.seed), [](std::string_view, Index, Index) {});
    symbols = {data.source_format().symbols, data.target->size()};
  }
  return symbols;
}

Index amount_of(const ModelOptions& model,
                const MatchOptions& match,
                const std::vector<Index>& symbols) {
  if (match.by == "parameters")
    return Model(model, symbols.at(0), symbols.at(1)).parameters().count();
  return cost_of(model, symbols.at(0), symbols.at(1), {match.lengths[0], match.lengths[1]})
      .per_symbol();
}

Index target_of(const Spec& to, const MatchOptions& match) {
  try {
    return amount_of(to.model, match, match.symbols ? *match.symbols : symbols_of(to));
  } catch (const SpecError& error) {
    throw SpecError("{}: {}", printable(match.to), error);
  }
}

void set(Value& map, const std::string& key, const std::string& flow) {
  std::vector<std::string> notes;
  apply(map, parse_override(key + "=" + flow, map.where), notes);
}

void set_found(Value& match, const MatchOptions& found) {
  set(match, "symbols", leaf_text(*found.symbols));
  set(match, "target", leaf_text(*found.target));
}

double difference(Index amount, Index target) {
  return static_cast<double>(amount - target) / static_cast<double>(target);
}

bool fits(Index amount, Index target) { return std::abs(difference(amount, target)) <= kTolerance; }

std::string amount_text(Index amount, const MatchOptions& match) {
  return fmt::format("{} {}, {:+.2f} %",
                     with_commas(amount),
                     match.by == "parameters" ? match.by : match.by + " a target symbol",
                     100 * difference(amount, *match.target));
}

std::string target_text(const MatchOptions& match) {
  return with_commas(*match.target) + (match.to.empty() ? "" : " of " + printable(match.to));
}

// What the widths of a tree are tried on. They grow in the ratio that they were written in, one after the other
// where they can, so that several are as fine to adjust as one.
class Widths {
 public:
  struct Tried {
    Index step;
    Index amount;
  };

  Widths(const Value& root, const Spec& spec) : root_(root), match_(*spec.model.match) {
    const Value::Entry* const adjust = match_in(root)->find("adjust");
    const std::vector<OptionLeaf> leaves = option_leaves(spec);
    for (std::size_t i = 0; i < match_.adjust.size(); ++i)
      adjusted_.push_back(
          option(leaves,
                 match_.adjust[i],
                 adjust ? adjust->value.as_list().items.at(i).where : match_in(root)->where));
    widest_ = std::ranges::max(adjusted_, {}, &Adjusted::written).written;
  }

  // The step at which all are as they were written.
  Index written() const { return steps() * widest_; }

  std::vector<Override> changes(Index step) const {
    const std::vector<Index> widths = at(step);
    std::vector<Override> all;
    for (std::size_t i = 0; i < widths.size(); ++i)
      all.push_back(
          parse_override(fmt::format("{}={}", adjusted_[i].path, widths[i]), adjusted_[i].where));
    return all;
  }

  // None where there is no such model.
  std::optional<Index> amount_at(Index step) {
    Value root = root_;
    std::vector<std::string> notes;
    try {
      for (const Override& change : changes(step)) apply(root, change, notes);
      return amount_of(read(root).model, match_, *match_.symbols);
    } catch (const SpecError& error) {  // no multiple of the heads; too large
      fault_ = in_one_line(error);
    } catch (const MachineError& error) {
      fault_ = error.what();
    }
    return std::nullopt;
  }

  // The nearest amounts from below and from above that legal widths have; they grow with the step.
  std::vector<Tried> nearest() {
    const Index least = steps(), most = least * kLargestLayer;
    std::optional<Tried> below, above = at_least(least);
    if (!above)
      throw SpecError("{}: model.match: no value of {} makes a model: {}",
                      adjusted_.front().where.str(),
                      adjusted_.front().path,
                      fault_);
    Index wide = least;  // surely not below what is sought
    while (above && above->amount < *match_.target && wide < most) {
      below = above;
      wide = std::min(2 * below->step, most);
      above = at_least(wide);
    }
    while (below && wide - below->step > 1) {
      const Index middle = below->step + (wide - below->step) / 2;
      const std::optional<Tried> tried = at_least(middle);
      if (tried && tried->amount < *match_.target) {
        below = tried;
      } else {
        wide = middle;
        above = tried;
      }
    }
    std::vector<Tried> both;
    for (const std::optional<Tried>& one : {below, above})
      if (one) both.push_back(*one);
    return both;
  }

  std::string refused(const std::vector<Tried>& nearest) const {
    std::vector<std::string> texts;
    for (const Tried& one : nearest) {
      std::vector<std::string> widths;
      for (const Override& change : changes(one.step))
        widths.push_back(change.path + "=" + change.value.text);
      texts.push_back(
          fmt::format("{} gives {}", fmt::join(widths, " with "), amount_text(one.amount, match_)));
    }
    return fmt::format("nothing comes within 1 % of {}: {}; adjust another option, or more",
                       target_text(match_),
                       fmt::join(texts, ", and "));
  }

 private:
  struct Adjusted {
    std::string path;
    Position where;
    Index written;
  };

  static Adjusted option(const std::vector<OptionLeaf>& leaves,
                         const std::string& path,
                         const Position& where) {
    std::vector<std::string> paths;
    for (const OptionLeaf& leaf : leaves) {
      const bool size = leaf.value.find_first_not_of("0123456789") == std::string::npos &&
                        leaf.value != "0" && leaf.path.starts_with("model.") &&
                        !leaf.path.starts_with("model.match.");
      if (size && leaf.path == path) return {path, where, std::stoll(leaf.value)};
      if (size) paths.push_back(leaf.path);
    }
    throw SpecError("{}: model.match.adjust: '{}' is no size of this model{}",
                    where.str(),
                    printable(path),
                    suggestion(path, paths));
  }

  // So many make the widest option wider by one.
  Index steps() const { return adjusted_.size() == 1 ? 1 : 16 * std::ssize(adjusted_); }

  // The first of equal ones is the first to grow.
  std::vector<Index> at(Index step) const {
    const Index count = std::ssize(adjusted_);
    Index waits = count - 1;
    std::vector<Index> widths;
    for (const Adjusted& one : adjusted_) {
      const Index early = waits-- * (steps() / count) * widest_;
      widths.push_back(std::max<Index>(1, (step * one.written + early) / (steps() * widest_)));
    }
    return widths;
  }

  // Of the first legal widths from a step on.
  std::optional<Tried> at_least(Index step) {
    constexpr Index kMostHeads = 256;
    std::vector<Index> before;
    for (Index one = step; one < step + kMostHeads * steps(); ++one)
      if (std::vector<Index> widths = at(one); std::exchange(before, widths) != widths)
        if (const auto amount = amount_at(one)) return Tried{one, *amount};
    return std::nullopt;
  }

  const Value& root_;
  const MatchOptions& match_;
  std::vector<Adjusted> adjusted_;
  Index widest_ = 0;   // as written
  std::string fault_;  // the last one
};

// asking: files whose specs wait for this one's widths.
void match_widths(SpecTree& tree, std::vector<fs::path> asking);

Spec spec_to_match(const std::string& to, const Position& where, std::vector<fs::path> asking) {
  const fs::path folder = where.line > 0 ? fs::path(where.file).parent_path() : fs::path();
  const fs::path file = normal_path(folder / to);
  const auto name = [](const fs::path& path) { return printable(path.string(), kWhole); };
  std::error_code ignored;
  const fs::path same = fs::weakly_canonical(file, ignored);
  const bool circle = std::ranges::count(asking, same) > 0;
  asking.push_back(same);
  if (circle) {
    std::vector<std::string> names;
    for (const fs::path& one : asking) names.push_back(name(one.filename()));
    throw SpecError(
        "{}: model.match.to: specs match each other in a circle: {}; remove one of them",
        where.str(),
        fmt::join(names, " -> "));
  }
  SpecTree other = load_tree(file, {}, where);
  Spec::refuse_other(other.root);
  match_widths(other, std::move(asking));
  return read(other.root);
}

void match_widths(SpecTree& tree, std::vector<fs::path> asking) {
  Value* block = match_in(tree.root);
  if (!block) return;
  const Position where = block->where;
  Spec spec = read(tree.root);
  MatchOptions& match = *spec.model.match;
  if (!match.target)
    match.target = target_of(
        spec_to_match(match.to, block->find("to")->value.where, std::move(asking)), match);
  if (!match.symbols) match.symbols = symbols_of(spec);
  set_found(*block, match);
  Widths widths(tree.root, spec);
  if (const auto written = widths.amount_at(widths.written());
      !written || !fits(*written, *match.target)) {
    const std::vector<Widths::Tried> nearest = widths.nearest();
    const auto best = std::ranges::min_element(nearest, {}, [&](const Widths::Tried& one) {
      return std::abs(one.amount - *match.target);
    });
    if (!fits(best->amount, *match.target))
      throw SpecError("{}: model.match: {}", where.str(), widths.refused(nearest));
    std::vector<std::string> notes;
    for (const Override& change : widths.changes(best->step)) apply(tree.root, change, notes);
    spec = read(tree.root);
  }
  tree.notes.push_back(fmt::format("{}: model.match: {}", where.str(), match_text(spec)));
}

}  // namespace

void match_widths(SpecTree& tree) { match_widths(tree, {}); }

SpecTree load_to_match(const fs::path& file, const std::vector<Override>& changes) {
  SpecTree tree = load_tree(file, changes);
  Value* const match = match_in(tree.root);
  const auto changed = [&](const std::string& start) {
    return std::ranges::any_of(
        changes, [&](const Override& change) { return change.path.starts_with(start); });
  };
  const bool asked = std::ranges::any_of(std::array{"to", "by", "lengths"}, [&](const char* key) {
    return changed(std::string("model.match.") + key);
  });
  if (!match || !(asked || changed("task"))) return tree;
  const Value::Entry* const to = match->find("to");
  const bool findable = to && !to->value.text.empty();  // else the target is its author's
  std::erase_if(match->entries, [&](const Value::Entry& entry) {
    return (entry.key == "symbols" || (entry.key == "target" && findable)) &&
           !changed("model.match." + entry.key);
  });
  return tree;
}

const Value* unknown_target(const Value& root) {
  const Value* const match = match_in(root);
  if (match == nullptr) return nullptr;
  const Value::Entry* const target = match->find("target");
  const Value::Entry* const to = match->find("to");
  return to && (!target || target->value.is_null()) ? &to->value : nullptr;
}

void set_target(Value& root, const Spec& to) {
  Value& match = *match_in(root);
  MatchOptions options;
  read_options(match, options, "model.match");
  set(match, "target", fmt::format("{}", target_of(to, options)));
}

void keep_target(Value& root, const Spec& resolved) {
  if (Value* const match = match_in(root)) set_found(*match, *resolved.model.match);
}

std::string match_text(const Spec& spec) {
  if (!spec.model.match) return "";
  const MatchOptions& match = *spec.model.match;
  std::vector<std::string> widths;
  for (const OptionLeaf& leaf : option_leaves(spec))
    if (std::ranges::count(match.adjust, leaf.path) > 0)
      widths.push_back(fmt::format("{}={}", leaf.path, leaf.value));
  return fmt::format("{}: {} from the {}",
                     fmt::join(widths, " "),
                     amount_text(amount_of(spec.model, match, *match.symbols), match),
                     target_text(match));
}

}  // namespace softalign
