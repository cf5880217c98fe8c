// Location-aware attention (Chorowski et al. 2015, section 2; equations 5 to 11): an additive score that also reads
// the weights of the previous step, through K filters of width R.
//   f_ij = sum_r F_r a_{i-1},j+r-R/2,   e_ij = v · tanh(W s_{i-1} + V h_j + U f_ij + b)      (8, 9)
//   a_i = softmax(β e_i)                                              (6; sharpening β: 10)
//   a_ij = sigmoid(e_ij) / sum_j sigmoid(e_ij)                        (smoothing: 11)
// Beyond the sentence a is 0. The paper does not define a_0: as in the authors' code (attention-lvcsr), all of its
// weight is on the first position. Their code flips the filters, which only renames their elements, and adds a
// learned number to the energies of smoothing, which the paper does not have: energy_bias. With `window` only the
// positions p - w to p + w - 1 have energies, where p is the median of a_{i-1}: the first position at which the
// cumulative weight reaches 1/2.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class LocationAware final : public Attention {
 public:
  struct Options {
    std::optional<Index> units = {};
    Index filters = 10;
    Index width = 201;
    double sharpening = 1;
    bool smoothing = false;
    bool energy_bias = false;
    std::optional<Index> window = {};
    std::string narrowed = "always";
    template <class V>
    void describe(V& v) {
      v("units", units, "alignment units; null: width of the state", between(1, kLargestLayer));
      v("filters", filters, "K: number of filters of the previous weights", between(1, 1000));
      v("width",
        width,
        "R: width of a filter in positions, an odd number; 201 as in the authors' code for TIMIT",
        between(1, 9999));
      v("sharpening", sharpening, "β: factor on the energies, an inverse temperature", positive());
      v("smoothing", smoothing, "normalised sigmoids instead of the softmax");
      v("energy_bias",
        energy_bias,
        "adds a learned number to the energies of smoothing, as the authors' code does");
      v("window",
        window,
        "w: only w positions on either side of the median of the previous weights are scored; "
        "null: all",
        between(1, kLongestSentence));
      v("narrowed",
        narrowed,
        "when sharpening and window apply: always, or only when not training",
        one_of("always", "test"));
      v.check(
          "width", width % 2 == 1, "must be odd, for the same number of neighbours on either side");
      v.check("sharpening",
              sharpening == 1 || !smoothing,
              "is for the softmax, which smoothing replaces; remove one of the two");
      v.check("energy_bias",
              !energy_bias || smoothing,
              "has no effect on a softmax; it belongs to smoothing");
      v.inactive(
          "narrowed", sharpening == 1 && !window, "there is neither sharpening nor a window");
    }
  };

  LocationAware(const Parameters& p, AttentionSizes sizes, const Options& options)
      : LocationAware(p, sizes, options, options.units.value_or(sizes.query)) {}

  AttentionMemory prepare(const Annotations& annotations) const override {
    return Memory{key_(annotations.states), annotations.averaged(), annotations.lengths};
  }
  State start(const AttentionMemory& memory) const override {
    const Index positions = memory.values.shape()[1];
    View first = memory.values.tape().zeros({memory.values.shape()[0], positions});
    for (Index i = 0; i < first.size(); i += positions) first.data[i] = 1;
    return {memory.values.tape().constant(first)};
  }
  Glimpse attend(const AttentionMemory& memory, const AttentionQuery& query) const override {
    Tape& tape = memory.keys.tape();
    const bool narrowed = options_.narrowed == "always" || tape.noise() == nullptr;
    const Window window =
        options_.window && narrowed ? around_median(memory, query) : Window{{}, memory.lengths};
    Var energies =
        location_energy(memory.keys,
                        query_(query.state),
                        tape.parameter(*v_),
                        {query.past[0], tape.parameter(*filters_), tape.parameter(*features_)},
                        window.ends,
                        window.begins);
    if (narrowed && options_.sharpening != 1)
      energies = static_cast<real>(options_.sharpening) * energies;
    if (bias_ != nullptr) energies = shift_by(energies, tape.parameter(*bias_));
    Var weights = options_.smoothing
                      ? normalize_prefix(sigmoid(energies), window.ends, window.begins)
                      : softmax_prefix(energies, window.ends, window.begins);
    Var averaged = changed_weights(memory.inspection, weights, memory.lengths, query.step);
    return {weighted_sum(averaged, memory.values, memory.lengths), weights, {averaged}};
  }
  Index context_size() const override { return annotation_; }
  bool aligns() const override { return true; }
  bool weights_can_change() const override { return true; }

 private:
  struct Window {
    std::span<const Index> begins, ends;  // begins: empty if all are 0
  };

  LocationAware(const Parameters& p, AttentionSizes sizes, const Options& options, Index units)
      : options_(options),
        annotation_(sizes.annotation),
        query_(p, "query", sizes.query, units, Linear::Bias::no),
        key_(p, "key", sizes.annotation, units, Linear::Bias::yes),
        filters_(p.add("F", {options.filters, options.width}, init::glorot())),
        features_(p.add("U", {options.filters, units}, init::glorot())),
        v_(p.add("v", {units}, init::glorot())),
        bias_(options.energy_bias ? p.add("b", {1}, init::zeros()) : nullptr) {}

  Window around_median(const AttentionMemory& memory, const AttentionQuery& query) const {
    const std::size_t rows = memory.lengths.size();
    const View previous = query.past[0].value();
    Index* begins = memory.keys.tape().arena().array_of<Index>(2 * std::ssize(memory.lengths));
    Index* ends = begins + rows;
    for (std::size_t b = 0; b < rows; ++b) {
      const real* row = previous.data + static_cast<Index>(b) * previous.shape[1];
      Index median = 0;
      for (real sum = row[0]; sum < real{0.5} && median + 1 < memory.lengths[b]; sum += row[median])
        ++median;
      begins[b] = std::max<Index>(0, median - *options_.window);
      ends[b] = std::min(memory.lengths[b], median + *options_.window);
    }
    return {{begins, rows}, {ends, rows}};
  }

  Options options_;
  Index annotation_;
  Linear query_;
  Linear key_;
  Parameter* filters_;   // [K,R]
  Parameter* features_;  // [K,units]
  Parameter* v_;
  Parameter* bias_;  // [1], added to the energies; null: no bias
};
SOFTALIGN_ATTENTION("location_aware",
                    LocationAware,
                    "additive, sees the previous weights through filters (Chorowski et al. 2015)");

}  // namespace
}  // namespace softalign
