#include "framework/config/snapshot.hpp"

#include <utility>

#include "framework/config/registry.hpp"

namespace softalign {
namespace {

class Taker final : public OptionVisitor {
 public:
  Taker(OptionNode& root, SnapshotOf what) : open_{&root}, what_(what) {}

 protected:
  void visit(std::string_view n, bool& v, std::string_view h, const Limits& l) override {
    add(n, h, l).value = v;
  }
  void visit(std::string_view n, Index& v, std::string_view h, const Limits& l) override {
    add(n, h, l).value = v;
  }
  void visit(std::string_view n, double& v, std::string_view h, const Limits& l) override {
    add(n, h, l).value = v;
  }
  void visit(std::string_view n, std::string& v, std::string_view h, const Limits& l) override {
    add(n, h, l).value = v;
  }
  void visit(std::string_view n,
             std::vector<Index>& v,
             std::string_view h,
             const Limits& l) override {
    add(n, h, l).value = v;
  }
  void visit(std::string_view n,
             std::vector<double>& v,
             std::string_view h,
             const Limits& l) override {
    add(n, h, l).value = v;
  }
  void visit(std::string_view n,
             std::vector<std::string>& v,
             std::string_view h,
             const Limits& l) override {
    add(n, h, l).value = v;
  }
  void visit(std::string_view n, InputFile& v, std::string_view h, const Limits& l) override {
    OptionNode& node = add(n, h, l);
    node.value = v;
    node.absent = node.absent || v.path.empty();
  }
  void visit(std::string_view n, InputFiles& v, std::string_view h, const Limits& l) override {
    OptionNode& node = add(n, h, l);
    node.value = v;
    node.absent = node.absent || v.empty();
  }
  void visit(std::string_view n, Choice& v, std::string_view h, const Limits& l) override {
    OptionNode& node = add(n, h, l);
    node.value = v;
    node.absent = v.type.empty();
    if (node.absent || what_ == SnapshotOf::schema) return;
    const std::unique_ptr<AnyOptions> options =
        v.options ? v.options->clone()
                  : Registry::instance().find(v.kind, v.type, v.where).options();
    open_.push_back(&node);
    options->describe(*this);
    open_.pop_back();
  }
  bool enter(std::string_view n, std::string_view h, const Limits& l) override {
    OptionNode& node = add(n, h, l);
    node.block = true;
    open_.push_back(&node);
    return true;
  }
  void leave() override { open_.pop_back(); }
  bool present(std::string_view n, bool now, std::string_view h, const Limits& l) override {
    if (now) return true;
    if (what_ == SnapshotOf::schema) {
      next_is_absent_ = true;
      return true;
    }
    add(n, h, l).absent = true;
    return false;
  }

 private:
  OptionNode& add(std::string_view name, std::string_view help, const Limits& limits) {
    OptionNode& parent = *open_.back();
    OptionNode node;
    node.name = name;
    node.path = parent.path.empty() ? node.name : parent.path + "." + node.name;
    node.help = help;
    node.limits = limits;
    node.absent = std::exchange(next_is_absent_, false);
    return parent.children.emplace_back(std::move(node));
  }

  std::vector<OptionNode*> open_;  // into children that do not grow while a deeper one is open
  SnapshotOf what_;
  bool next_is_absent_ = false;
};

}  // namespace

OptionNode snapshot(const Describe& describe, SnapshotOf what) {
  OptionNode root;
  root.block = true;
  Taker taker(root, what);
  describe(taker);
  return root;
}

}  // namespace softalign
