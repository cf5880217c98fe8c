// A normal distribution over target symbols that are numbers, such as the bins of task series. Each symbol is the
// interval of the values nearest to its number x_k, with edges e_k halfway to its neighbours; the first and the last
// interval are unbounded. The probability of a symbol is the mass of its interval,
//   p(k) = (1 - g) (Phi((e_{k+1} - mu) / s) - Phi((e_k - mu) / s)),    p(</s>) = g,
// the discretised likelihood of Salimans et al. 2017 (PixelCNN++, section 2.1) and Ho et al. 2020 (equation 13), here
// of a normal distribution. So the loss is a likelihood: log density = log p - log(e_{k+1} - e_k). <s> and <unk> have the
// probability 1e-8, so that their loss is finite. With r the readout, and in units in which the numbers of all symbols
// have the mean 0 and the standard deviation 1,
//   (mu, t, c) = W r + b,   s = s_0 + log(1 + e^t),   g = sigmoid(c - log K),   K bins:
// - s grows linearly with t: a large update does not multiply it, as it would if log s were linear in r;
// - s_0 is a tenth of the narrowest bin, as in PixelCNN++: at s_0 one bin has all the mass, and a smaller s would only
//   make the loss of a miss infinite;
// - at c = 0, </s> is as probable as a bin, so that untrained models do not end their forecasts at once.
// Search draws from p (`sample`) or takes the most probable bin (`greedy`), which is the mode.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "framework/plugin.hpp"

namespace softalign {
namespace {

constexpr double kFloor = 1e-8;  // of <unk> and <s>, before normalisation

double softplus(double x) { return std::max(x, 0.0) + exact::log(1 + exact::exp(-std::abs(x))); }
double logistic(double x) {
  const double e = exact::exp(-std::abs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

class Gaussian final : public OutputLayer {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  Gaussian(const Parameters& p, const OutputSizes& sizes, const Options&)
      : linear_(p, "gaussian", sizes.readout, kNumbers),
        symbols_(sizes.symbols),
        log_impossible_(exact::log(kFloor)),
        log_total_(exact::log(1 + 2 * kFloor)) {
    if (sizes.tied != nullptr)
      throw SpecError("output.gaussian: has no weights to tie; set tied_embeddings to none");
    if (sizes.values.empty())
      throw SpecError(
          "output.gaussian: the target symbol '{}' is not a number; choose a task whose targets "
          "are numbers, such as series",
          printable(sizes.not_a_number));
    place_edges(sizes.values);
  }

  State prepare(const OutputInput& input) const override { return {linear_(input.readout)}; }
  void loss(std::span<const OutputRows> parts,
            const Objective& objective,
            const GradientOf&,
            Workers& workers,
            Arena&) const override {
    workers.run(std::ssize(parts), [&](Index i) { compare(parts[usize(i)], objective); });
  }
  Var logits(const OutputInput& input) const override {
    const Var numbers = linear_(input.readout);
    Tape& tape = numbers.tape();
    const Index rows = numbers.shape().rows();
    const View all = tape.allocate(numbers.shape().with_last(symbols_));
    for (Index i = 0; i < rows; ++i) {
      const Row row(*this, numbers.value().data + i * kNumbers);
      for (Index v = 0; v < symbols_; ++v)
        all.data[i * symbols_ + v] = static_cast<real>(row.log_p(static_cast<Token>(v)));
    }
    return tape.record(all, {numbers}, [=, this](View dall) {
      const View dnumbers = numbers.gradient();
      for (Index i = 0; i < rows; ++i) {
        Row row(*this, numbers.value().data + i * kNumbers);
        for (Index v = 0; v < symbols_; ++v)
          row.differentiate(static_cast<Token>(v),
                            static_cast<double>(dall.data[i * symbols_ + v]));
        row.add_gradient(dnumbers.data + i * kNumbers);
      }
    });
  }
  Index multiplications() const override { return 0; }

 private:
  static constexpr Index kNumbers = 3;  // mu, t, c of a row

  // The distribution of one row.
  class Row {
   public:
    Row(const Gaussian& layer, const real* numbers)
        : layer_(layer),
          mean_(static_cast<double>(numbers[0])),
          deviation_(layer.least_deviation_ + softplus(static_cast<double>(numbers[1]))),
          slope_(logistic(static_cast<double>(numbers[1]))),
          stop_(static_cast<double>(numbers[2]) - layer.log_bins_),
          log_stop_(-softplus(-stop_)),
          log_go_(-softplus(stop_)) {}

    // log p of a symbol, plus log_total_.
    double log_p(Token v) const {
      if (v == kEnd) return log_stop_;
      if (v < kSpecials) return layer_.log_impossible_;
      return log_go_ + mass_of(layer_.bin_of_[usize(v)]).log;
    }
    // Adds the gradient of factor * log p.
    void differentiate(Token v, double factor) {
      if (v == kEnd) {
        dstop_ += factor * logistic(-stop_);
      } else if (v >= kSpecials) {
        const Index bin = layer_.bin_of_[usize(v)];
        const kernels::IntervalMass mass = mass_of(bin);
        dmean_ += factor * (mass.lower - mass.upper) / deviation_;
        ddeviation_ +=
            factor * (moment(bin, mass.lower) - moment(bin + 1, mass.upper)) / deviation_;
        dstop_ -= factor * logistic(stop_);
      }
    }
    void add_gradient(real* numbers) const {
      numbers[0] += static_cast<real>(dmean_);
      numbers[1] += static_cast<real>(ddeviation_ * slope_);
      numbers[2] += static_cast<real>(dstop_);
    }
    // Returns the best of </s>, the unbounded bins and those outwards from the mean while one may be more probable.
    Token most_probable() const {
      const std::vector<double>& edges = layer_.edges_;
      const Index last = std::ssize(edges) - 2;
      const Index nearest =
          std::upper_bound(edges.begin() + 1, edges.end() - 1, mean_) - edges.begin() - 1;
      Index best = nearest;
      double most = mass_of(nearest).log;
      const auto consider = [&](Index bin) {
        const double mass = mass_of(bin).log;
        if (mass > most) best = bin;
        most = std::max(mass, most);
      };
      // Returns false if even the widest bin has less mass at the density of this edge.
      const auto may_be_more = [&](Index edge) {
        const double z = place_of(edge);
        return layer_.log_widest_ - exact::log(deviation_) - z * z / 2 > most;
      };
      consider(0);
      consider(last);
      for (Index bin = nearest - 1; bin > 0 && may_be_more(bin + 1); --bin) consider(bin);
      for (Index bin = nearest + 1; bin < last && may_be_more(bin); ++bin) consider(bin);
      return log_stop_ >= log_go_ + most ? kEnd : layer_.symbol_of_[usize(best)];
    }

   private:
    double place_of(Index edge) const { return (layer_.edges_[usize(edge)] - mean_) / deviation_; }
    kernels::IntervalMass mass_of(Index bin) const {
      return kernels::interval_mass(place_of(bin), place_of(bin + 1));
    }
    double moment(Index edge, double density) const {
      return density == 0 ? 0 : place_of(edge) * density;  // 0 at an infinite edge
    }

    const Gaussian& layer_;
    double mean_, deviation_, slope_, stop_, log_stop_, log_go_;
    double dmean_ = 0, ddeviation_ = 0, dstop_ = 0;
  };

  // Sorts the bins by their numbers, and computes their edges.
  void place_edges(std::span<const double> values) {
    for (Token v = kSpecials; v < static_cast<Token>(symbols_); ++v) symbol_of_.push_back(v);
    const auto value = [&](Token v) { return values[usize(v)]; };
    std::ranges::sort(symbol_of_, {}, value);
    const auto bins = static_cast<double>(symbol_of_.size());
    double mean = 0, variance = 0;
    for (const Token v : symbol_of_) mean += value(v) / bins;
    for (const Token v : symbol_of_) variance += (value(v) - mean) * (value(v) - mean) / bins;
    const double unit = variance > 0 ? std::sqrt(variance) : 1;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    edges_ = {-kInfinity};
    double narrowest = symbol_of_.size() > 1 ? kInfinity : 1;
    for (std::size_t k = 1; k < symbol_of_.size(); ++k) {
      const double below = value(symbol_of_[k - 1]), above = value(symbol_of_[k]);
      if (below == above)
        throw SpecError("output.gaussian: two target symbols are the number {}", above);
      edges_.push_back((below / 2 + above / 2 - mean) / unit);
      narrowest = std::min(narrowest, (above - below) / unit);
    }
    edges_.push_back(kInfinity);
    double widest = narrowest;
    for (std::size_t k = 2; k + 1 < edges_.size(); ++k)
      widest = std::max(widest, edges_[k] - edges_[k - 1]);
    least_deviation_ = narrowest / 10;
    log_widest_ = exact::log(widest);
    log_bins_ = exact::log(bins);
    bin_of_.resize(usize(symbols_));
    for (std::size_t k = 0; k < symbol_of_.size(); ++k)
      bin_of_[usize(symbol_of_[k])] = static_cast<Index>(k);
  }

  void compare(const OutputRows& part, const Objective& objective) const {
    const View numbers = part.inputs[0].value(), dnumbers = part.inputs[0].gradient();
    const auto factor = static_cast<double>(objective.factor),
               smoothing = static_cast<double>(objective.label_smoothing),
               everywhere = smoothing / static_cast<double>(symbols_);
    for (Index i = 0; i < std::ssize(part.targets); ++i) {
      const Token target = part.targets[usize(i)];
      if (target < 0) continue;
      Row row(*this, numbers.data + i * kNumbers);
      part.nll[i] = static_cast<real>(log_total_ - row.log_p(target));
      part.best[i] = row.most_probable();
      if (smoothing > 0) {
        double sum = 0;
        for (Index v = 0; v < symbols_; ++v) sum += row.log_p(static_cast<Token>(v));
        part.uniform[i] = static_cast<real>(log_total_ - sum / static_cast<double>(symbols_));
      }
      if (!dnumbers) continue;
      row.differentiate(target, -factor * (1 - smoothing));
      for (Index v = 0; smoothing > 0 && v < symbols_; ++v)
        row.differentiate(static_cast<Token>(v), -factor * everywhere);
      row.add_gradient(dnumbers.data + i * kNumbers);
    }
  }

  Linear linear_;
  Index symbols_;
  double log_impossible_, log_total_;     // of kFloor; of the sum of all p, 1 + 2 kFloor
  std::vector<Token> symbol_of_;          // [K], by ascending numbers
  std::vector<Index> bin_of_;             // [V], its inverse; 0 for the specials
  std::vector<double> edges_;             // [K + 1]
  double least_deviation_ = 0;            // s_0
  double log_widest_ = 0, log_bins_ = 0;  // of the widest bounded bin; of K
};
SOFTALIGN_OUTPUT_LAYER(
    "gaussian",
    Gaussian,
    "a normal distribution over symbols that are numbers (Salimans et al. 2017)");

}  // namespace
}  // namespace softalign
