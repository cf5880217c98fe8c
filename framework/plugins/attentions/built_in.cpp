// The value of model.attention for decoders with an attention of their own, such as `transformer`, which attends to
// the source in each layer. It computes nothing; with any other decoder it throws SpecError.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class BuiltIn final : public Attention {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  BuiltIn(const Parameters&, AttentionSizes, const Options&) {}

  AttentionMemory prepare(const Annotations&) const override { refuse(); }
  Glimpse attend(const AttentionMemory&, const AttentionQuery&) const override { refuse(); }
  Index context_size() const override { refuse(); }
  bool aligns() const override { return false; }
  bool built_in() const override { return true; }

 private:
  [[noreturn]] static void refuse() {
    throw SpecError(
        "model.attention: built_in is for decoders with an attention of their own, which this one "
        "does not have; choose another: softalign list attentions");
  }
};
SOFTALIGN_ATTENTION("built_in",
                    BuiltIn,
                    "the decoder's own, for decoders that have it built in (transformer)");

}  // namespace
}  // namespace softalign
