// Every combination of encoder, score, attention and decoder, with tiny sizes, either trains a step and predicts, or is
// refused with a reason when the model is built, before any data is read.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <set>

#include "framework/base/types.hpp"
#include "framework/seq/model.hpp"

using namespace softalign;

namespace {

Choice small(const std::string& kind, const std::string& name, const Choice* score = nullptr);

// Sets the options of a plugin to small sizes, and the score of an attention to *score.
class Small final : public OptionVisitor {
 public:
  explicit Small(const Choice* score) : score_(score) {}
  bool takes_score() const { return takes_score_; }

 protected:
  void visit(std::string_view, bool&, std::string_view, const Limits&) override {}
  void visit(std::string_view name, Index& value, std::string_view, const Limits&) override {
    static const std::map<std::string_view, Index> kSmall = {
        {"units", 8}, {"feed_forward", 12}, {"heads", 2}, {"height", 1}};
    if (const auto found = kSmall.find(name); found != kSmall.end()) value = found->second;
  }
  void visit(std::string_view, double&, std::string_view, const Limits&) override {}
  void visit(std::string_view, std::string&, std::string_view, const Limits&) override {}
  void visit(std::string_view, std::vector<Index>&, std::string_view, const Limits&) override {}
  void visit(std::string_view, std::vector<double>&, std::string_view, const Limits&) override {}
  void visit(std::string_view,
             std::vector<std::string>&,
             std::string_view,
             const Limits&) override {}
  void visit(std::string_view, InputFile&, std::string_view, const Limits&) override {}
  void visit(std::string_view, InputFiles&, std::string_view, const Limits&) override {}
  void visit(std::string_view, Choice& value, std::string_view, const Limits&) override {
    if (value.kind == "encoder") value = small(value.kind, value.type);  // a layer of a stack
    if (value.kind != "score") return;
    takes_score_ = true;
    if (score_ != nullptr) value = *score_;
  }
  bool enter(std::string_view, std::string_view, const Limits&) override { return true; }
  void leave() override {}
  bool present(std::string_view, bool now, std::string_view, const Limits&) override { return now; }

 private:
  const Choice* score_;
  bool takes_score_ = false;
};

Choice small(const std::string& kind, const std::string& name, const Choice* score) {
  Choice choice{.kind = kind, .type = name};
  choice.options = Registry::instance().find(kind, name).options();
  Small visitor(score);
  choice.options->describe(visitor);
  return choice;
}

bool takes_score(const std::string& attention) {
  Small visitor(nullptr);
  Registry::instance().find("attention", attention).options()->describe(visitor);
  return visitor.takes_score();
}

std::vector<std::string> names(const char* kind) {
  std::vector<std::string> list;
  for (const PluginEntry* entry : Registry::instance().entries(kind))
    if (!entry->name.ends_with("_for_test")) list.push_back(entry->name);
  return list;
}

// Two sentences of 3 and 2 symbols, followed by </s>, and their links.
Batch two_sentences() {
  Batch batch;
  batch.rows = 2;
  batch.source_steps = 4;
  batch.target_steps = 3;
  batch.source = {3, 4, 5, 2, 5, 3, 2, 2};
  batch.target_in = {1, 3, 4, 1, 4, 2};
  batch.target_out = {3, 4, 2, 4, 2, 2};
  batch.source_lengths = {4, 3};
  batch.target_lengths = {3, 2};
  batch.example = {0, 1};
  batch.links = {{{0, 0, true}, {2, 1, true}}, {{1, 0, true}}};
  return batch;
}

// The same batch with sources of frames of `size` numbers, without </s>.
Batch two_sources_of_frames(Index size) {
  Batch batch = two_sentences();
  batch.source.clear();
  for (Index i = 0; i < 6 * size; ++i) batch.frames.push_back(static_cast<float>(i % 2));
  batch.source_steps = 3;
  batch.source_lengths = {3, 2};
  return batch;
}

// Trains a step and predicts. Returns the fault, or an empty string.
std::string fault_of(Model& model, Batch batch) {
  model.place_links(batch);
  std::vector<real> gradients(usize(model.parameters().flat_size()));
  Tape tape(Tape::Mode::train, gradients.data());
  const Model::Forward forward = model.forward(tape, batch, real(0.2));
  for (const real nll : forward.losses.nll)
    if (!std::isfinite(nll)) return "a loss that is not finite";
  tape.backward(forward.losses.loss);
  double norm = 0;
  for (const real g : gradients) norm += static_cast<double>(g) * static_cast<double>(g);
  if (!std::isfinite(norm) || norm == 0) return "no gradient, or one that is not finite";
  tape.reset();
  Tape infer(Tape::Mode::infer);
  Model::Source source = model.read(infer, batch.source_side());
  std::vector<Token> previous = {kBegin, kBegin};
  for (int step = 0; step < 2; ++step) {
    const Model::Prediction next = model.predict(infer, source, previous);
    for (const real logit : next.logits.value())
      if (!std::isfinite(logit)) return "a logit that is not finite";
    if (static_cast<bool>(next.weights) != model.aligns())
      return "weights, or none, unlike aligns()";
    source.state = next.next;
  }
  return "";
}

bool model_reads_frames(const ModelOptions& options) {
  ParameterStore unused;
  const auto encoder =
      make_plugin<EncoderKind>(options.encoder, Parameters(unused), options.embedding);
  return encoder->reads() == Encoder::Reads::frames;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(family)

BOOST_AUTO_TEST_CASE(every_combination_works_or_is_refused_with_the_reason) {
  std::set<std::string> worked;
  Index count = 0;
  for (const std::string& attention : names("attention"))
    for (const std::string& score :
         takes_score(attention) ? names("score") : std::vector<std::string>{""})
      for (const std::string& encoder : names("encoder"))
        for (const std::string& decoder : names("decoder")) {
          BOOST_TEST_CONTEXT(encoder << " " << attention << " " << score << " " << decoder) {
            ModelOptions options;
            options.embedding = 8;
            const Choice of_score = score.empty() ? Choice{} : small("score", score);
            options.encoder = small("encoder", encoder);
            options.attention = small("attention", attention, &of_score);
            options.decoder = small("decoder", decoder);
            try {
              const FrameFormat frames{model_reads_frames(options) ? 1 : 3};
              Model of_frames(options, frames, 6, 1);
              BOOST_TEST(fault_of(of_frames, two_sources_of_frames(frames.size)) == "");
              if (!model_reads_frames(options)) {
                Model model(options, 6, 6, 1);
                BOOST_TEST(fault_of(model, two_sentences()) == "");
              }
              for (const std::string& part : {encoder, attention, score, decoder})
                worked.insert(part);
              ++count;
            } catch (const SpecError& refusal) {
              BOOST_TEST(std::string(refusal.what()).size() > 20u);
            }
          }
        }
  for (const char* kind : {"encoder", "score", "attention", "decoder"})
    for (const std::string& name : names(kind))
      BOOST_TEST(worked.contains(name), name << " works with nothing");
  BOOST_TEST_MESSAGE(count << " combinations");
}

BOOST_AUTO_TEST_SUITE_END()
