// Python bindings of trained models: translate, score, evaluate.
#include <mutex>

#include <nlohmann/json.hpp>

#include "framework/inference/evaluate_run.hpp"
#include "framework/inference/trained.hpp"
#include "framework/inference/translator.hpp"
#include "framework/python/convert.hpp"

namespace softalign::python {
namespace {

const std::vector<std::string> kMeasured = {
    "search", "lengths", "row_aligns", "unknown_words", "batch"};

using Frames = py::array_t<float, py::array::c_style | py::array::forcecast>;

// The model of a run, or an ensemble. Concurrent calls wait for each other.
class Trained {
 public:
  Trained(const std::vector<std::string>& records,
          const std::vector<std::string>& changes,
          const std::vector<std::string>& plugins,
          const std::string& state,
          int threads) {
    TrainedOptions options;
    options.changes = trained_overrides(changes, kMeasured);
    options.plugins = plugins;
    options.state = state;
    options.threads = threads;
    options.note = [this](const std::string& note) { notes_.push_back(note); };
    runs_.emplace(open_trained({records.begin(), records.end()}, options));
  }

  std::vector<std::string> ids() const { return runs_->ids(); }
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

  // Returns the hypotheses of each line, best first.
  py::list translate(const std::vector<std::string>& lines, Index most) {
    return to_list(translated("lines", lines, &Translator::translate, most), lines);
  }

  // Like translate, for arrays [T,F].
  py::list translate_frames(const std::vector<Frames>& arrays, Index most) {
    refuse_links(*runs_);
    const Index size = runs_->first().frames.size;
    std::vector<std::vector<float>> sources;
    for (const Frames& array : arrays) {
      if (array.ndim() != 2 || (size > 0 && array.shape(1) != size))
        throw DataError("arrays: array {} has not the shape [frames, {}]", sources.size(), size);
      sources.emplace_back(array.data(), array.data() + array.size());
    }
    return to_list(translated("arrays", sources, &Translator::translate_frames, most), {});
  }

  // Scores the given target of each pair by forced decoding.
  py::list score(const std::vector<std::string>& sources, const std::vector<std::string>& targets) {
    refuse_links(*runs_);
    if (sources.size() != targets.size())
      throw SpecError(
          "{} sources and {} targets: give one for each", sources.size(), targets.size());
    std::vector<Hypothesis> all;
    {
      const py::gil_scoped_release release;
      const std::lock_guard lock(asked_);
      ForcedDecoder decoder(*runs_, "sources");
      for (std::size_t at = 0; at < sources.size(); at += decoder.block()) {
        const auto begin = static_cast<std::ptrdiff_t>(at),
                   end =
                       static_cast<std::ptrdiff_t>(std::min(sources.size(), at + decoder.block()));
        for (Hypothesis& one : decoder.decode({sources.begin() + begin, sources.begin() + end},
                                              {targets.begin() + begin, targets.begin() + end},
                                              static_cast<Index>(at)))
          all.push_back(std::move(one));
      }
      note(decoder.notes());
    }
    py::list list;
    for (std::size_t i = 0; i < all.size(); ++i) list.append(to_dict(all[i], sources[i]));
    return list;
  }

  py::object evaluate(const std::string& split) {
    JsonObject json;
    {
      const py::gil_scoped_release release;
      const std::lock_guard lock(asked_);
      json = remeasured_json(*runs_, evaluate_run(*runs_, split));
    }
    return to_python(json);
  }

 private:
  // Translates the sources in blocks.
  template <class Source>
  std::vector<Translation> translated(const char* input,
                                      const std::vector<Source>& sources,
                                      std::vector<Translation> (Translator::*ask)(
                                          const std::vector<Source>&, Index, const LineDemands&),
                                      Index most) {
    const py::gil_scoped_release release;
    const std::lock_guard lock(asked_);
    std::vector<Translation> all;
    Translator translator(*runs_, {.most = most, .input = input});
    for (std::size_t at = 0; at < sources.size(); at += translator.block()) {
      const std::size_t end = std::min(sources.size(), at + translator.block());
      const std::vector<Source> block(sources.begin() + static_cast<std::ptrdiff_t>(at),
                                      sources.begin() + static_cast<std::ptrdiff_t>(end));
      for (Translation& one : (translator.*ask)(block, static_cast<Index>(at), {}))
        all.push_back(std::move(one));
    }
    note(translator.notes());
    return all;
  }

  // lines: the sources; empty if they are frames.
  py::list to_list(std::vector<Translation> all, const std::vector<std::string>& lines) {
    py::list list;
    for (std::size_t i = 0; i < all.size(); ++i) {
      py::list hypotheses;
      for (Hypothesis& one : all[i].hypotheses)
        hypotheses.append(to_dict(one, lines.empty() ? "" : lines[i]));
      list.append(hypotheses);
    }
    return list;
  }

  void note(const std::string& text) {
    if (!text.empty()) notes_.push_back(text);
  }

  // line: the source, if it is text.
  py::dict to_dict(Hypothesis& one, const std::string& line) {
    py::dict dict = to_python(hypothesis_json(one, *runs_->first().target));
    const auto steps = static_cast<py::ssize_t>(one.steps());
    dict["source"] = symbols_of(line);
    if (!one.alignment.empty()) {
      const py::ssize_t columns = static_cast<py::ssize_t>(one.alignment.size()) / steps;
      dict["weights"] = to_numpy(std::move(one.alignment), {steps, columns});
    }
    return dict;
  }

  // Returns the symbols of a source with </s>; empty if sources are frames.
  std::vector<std::string> symbols_of(const std::string& line) const {
    const Vocabulary* source = runs_->first().source.get();
    if (!source) return {};
    std::vector<std::string> symbols = source->split(line);
    symbols.push_back(source->symbol(kEnd));
    return symbols;
  }

  std::mutex asked_;
  std::vector<std::string> notes_;
  std::optional<TrainedRuns> runs_;
};

}  // namespace

void add_models(py::module_& module) {
  py::class_<Trained>(module, "Trained")
      .def(py::init<const std::vector<std::string>&,
                    const std::vector<std::string>&,
                    const std::vector<std::string>&,
                    const std::string&,
                    int>(),
           py::arg("records"),
           py::arg("changes") = std::vector<std::string>(),
           py::arg("plugins") = std::vector<std::string>(),
           py::arg("state") = "",
           py::arg("threads") = 0)
      .def_property_readonly("ids", &Trained::ids)
      .def("take_notes", &Trained::take_notes)
      .def("translate", &Trained::translate, py::arg("lines"), py::arg("most") = 1)
      .def("translate_frames", &Trained::translate_frames, py::arg("arrays"), py::arg("most") = 1)
      .def("score", &Trained::score, py::arg("sources"), py::arg("targets"))
      .def("evaluate", &Trained::evaluate, py::arg("split") = "test");
}

}  // namespace softalign::python
