// Monotonic attention (Raffel et al. 2017). A pointer moves right from where it stood and stops at
// position j with probability p_ij = sigmoid(e_ij + r). In training the weights are the probabilities of
// where it ends, equation 9, with Gaussian noise on the energies that drives p towards 0 and 1 (section
// 2.4); at test it stops at the first j with p_ij > 1/2 (algorithm 1). Where it never stops the weights
// are 0, then and ever after.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Monotonic final : public ScoredAttention {
 public:
  struct Options : ScoredAttention::Options {
    Choice score = score_choice("normed_additive");
    double offset = -1;
    double noise = 1;
    std::string test = "hard";
    template <class V>
    void describe(V& v) {
      ScoredAttention::Options::describe(v);
      v("offset", offset, "initial value of the learned r; lower: the pointer initially moves far");
      v("noise", noise, "standard deviation of the noise on energies in training", at_least(0));
      v("test", test, "how it attends when not training", one_of("hard", "soft"));
    }
  };

  Monotonic(const Parameters& p, AttentionSizes sizes, const Options& options)
      : ScoredAttention(p, sizes, options),
        offset_(p.add("r", {1}, init::constant(options.offset))),
        noise_(options.noise),
        hard_(options.test == "hard"),
        stream_(0, "noise/" + p.name_of("energies")) {}

  bool weights_sum_to_one() const override { return false; }

 private:
  State own_start(
      const AttentionMemory& memory) const override {  // the pointer starts at the first position
    Tape& tape = memory.values.tape();
    const Index positions = memory.values.shape()[1];
    View at = tape.zeros({memory.values.shape()[0], positions});
    for (Index i = 0; i < at.size(); i += positions) at.data[i] = 1;
    return {tape.constant(at)};
  }

  Alignment align(const AttentionMemory& memory,
                  Var energies,
                  const AttentionQuery& query) const override {
    Tape& tape = energies.tape();
    energies = shift_by(energies, tape.parameter(*offset_));
    if (tape.noise() != nullptr && noise_ > 0)
      energies = energies + tape.constant(draw(tape, energies.shape(), query.step));
    const bool hard = hard_ && tape.noise() == nullptr;
    Var stop = hard ? tape.constant(stops(tape, energies)) : sigmoid(energies);
    Var weights = monotonic_prefix(stop, query.past[0], memory.lengths);
    return {weights, {weights}};
  }

  View draw(Tape& tape, const Shape& shape, Index step) const {
    const RandomStream numbers = tape.noise()->stream(stream_);
    View noise = tape.allocate(shape);
    for (Index i = 0; i < noise.size(); ++i)
      noise.data[i] =
          static_cast<real>(noise_ * numbers.normal(static_cast<std::uint64_t>(i % shape.last()),
                                                    tape.noise()->round(i / shape.last(), step)));
    return noise;
  }
  static View stops(Tape& tape, Var energies) {
    View stop = tape.allocate(energies.shape());
    std::transform(energies.value().begin(), energies.value().end(), stop.begin(), [](real e) {
      return e > 0 ? real{1} : real{0};
    });
    return stop;
  }

  Parameter* offset_;
  double noise_;
  bool hard_;
  RandomStream stream_;
};
SOFTALIGN_ATTENTION(
    "monotonic",
    Monotonic,
    "a pointer that only moves right: expected in training, hard at test (Raffel et al. "
    "2017)");

}  // namespace
}  // namespace softalign
