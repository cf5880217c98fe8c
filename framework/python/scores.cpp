// A score function without a model: for teaching, and to compare a new score with its formula in NumPy.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "framework/base/error.hpp"
#include "framework/base/process.hpp"
#include "framework/config/spec.hpp"
#include "framework/python/convert.hpp"
#include "framework/seq/score.hpp"

namespace softalign::python {
namespace {

using Numbers = py::array_t<real, py::array::c_style | py::array::forcecast>;

struct NamedScore {
  Choice score{.kind = ScoreKind::name, .type = "dot"};
  template <class V>
  void describe(V& v) {
    v("score", score, "a score function and its options");
  }
};

Shape shape_of(const Numbers& numbers, py::ssize_t rank, const char* what) {
  if (numbers.ndim() != rank) throw SpecError("{}: expected {} axes", what, rank);
  return rank == 2 ? Shape{numbers.shape(0), numbers.shape(1)}
                   : Shape{numbers.shape(0), numbers.shape(1), numbers.shape(2)};
}

// Computes e = score(query, annotation), as in C++, but for queries [B,Q] and annotations [B,S,D] at once.
class ScoreFunction {
 public:
  ScoreFunction(const std::string& options, Index query, Index annotation, std::uint64_t seed)
      : query_(query), annotation_(annotation) {
    const auto named = parse_spec<NamedScore>(options, "score");
    score_ =
        make_plugin<ScoreKind>(named.spec.score, Parameters(store_), ScoreSizes{query, annotation});
    store_.allocate(seed);
  }

  py::dict parameters() {
    py::dict all;
    for (const Parameter& one : store_.all()) {
      const View value = one.value();
      std::vector<py::ssize_t> shape;
      for (Index axis = 0; axis < value.shape.rank(); ++axis)
        shape.push_back(value.shape[static_cast<int>(axis)]);
      all[py::str(one.name)] = py::array_t<real>(shape, value.data);  // a copy
    }
    return all;
  }

  void set(const std::string& name, const Numbers& numbers) {
    for (const Parameter& one : store_.all()) {
      if (one.name != name) continue;
      const View value = one.value();
      if (numbers.size() != value.shape.size())
        throw SpecError("{}: it has {} numbers, not {}", name, value.shape.size(), numbers.size());
      std::copy_n(numbers.data(), numbers.size(), value.data);
      return;
    }
    throw SpecError("{}: the score has no such parameter", name);
  }

  py::array energies(const Numbers& queries,
                     const Numbers& annotations,
                     std::optional<std::vector<Index>> lengths,
                     const std::optional<Numbers>& attended) {
    const UsualArithmetic usual;
    const Shape asked = shape_of(queries, 2, "queries"),
                given = shape_of(annotations, 3, "annotations");
    if (asked[0] != given[0] || asked[1] != query_ || given[2] != annotation_)
      throw SpecError("queries are {} and annotations {}: expected [B,{}] and [B,S,{}]",
                      asked.str(),
                      given.str(),
                      query_,
                      annotation_);
    if (!lengths) lengths.emplace(usize(given[0]), given[1]);
    if (std::ssize(*lengths) != given[0] || std::ranges::any_of(*lengths, [&](Index length) {
          return length < 1 || length > given[1];
        }))
      throw SpecError("lengths: expected {} numbers from 1 to {}", given[0], given[1]);
    Tape tape(Tape::Mode::infer);
    const auto put = [&](const Numbers& numbers, const Shape& shape) {
      const View copy = tape.allocate(shape);
      std::copy_n(numbers.data(), numbers.size(), copy.data);
      return tape.constant(copy);
    };
    Memory memory = score_->prepare(put(annotations, given));
    memory.lengths = *lengths;
    Query query{put(queries, asked)};
    if (score_->reads_attended()) {
      const Shape shape{given[0], given[1]};
      if (attended && shape_of(*attended, 2, "attended") != shape)
        throw SpecError("attended: expected {}", shape.str());
      query.attended = attended ? put(*attended, shape) : tape.constant(tape.zeros(shape));
    }
    const View found = score_->score(memory, query).value();
    std::vector<real> kept(found.data, found.data + found.shape.size());
    return to_numpy(std::move(kept), {given[0], given[1]});
  }

 private:
  Index query_, annotation_;
  ParameterStore store_;
  std::unique_ptr<Score> score_;
};

}  // namespace

void add_scores(py::module_& module) {
  py::class_<ScoreFunction>(module, "ScoreFunction")
      .def(py::init<const std::string&, Index, Index, std::uint64_t>(),
           py::arg("options"),
           py::arg("query"),
           py::arg("annotation"),
           py::arg("seed") = 1)
      .def_property_readonly("parameters", &ScoreFunction::parameters)
      .def("set", &ScoreFunction::set, py::arg("name"), py::arg("numbers"))
      .def("energies",
           &ScoreFunction::energies,
           py::arg("queries"),
           py::arg("annotations"),
           py::arg("lengths") = std::nullopt,
           py::arg("attended") = std::nullopt);
}

}  // namespace softalign::python
