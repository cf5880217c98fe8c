// Encoders on top of each other: `first` reads the source, each of the others reads the annotations of the encoder
// below as if they were embeddings, for example self-attention over recurrent states (the cascaded encoder of Chen
// et al. 2018). The annotations, `last` and `start` are those of the highest encoder; the final states are those of
// all, the lowest first. If an encoder has fewer annotations than its source has symbols, positions are mapped
// through all encoders, and the weights of self-attention above it are not shown, because they do not belong to
// symbols. Values that contexts would average (encoder convolutional) are ignored below the highest encoder. Initial
// values and random numbers of an encoder depend on its position in the stack.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Stack final : public Encoder {
 public:
  struct Higher : Choice {  // optional
    Higher() : Choice{.kind = "encoder"} {}
  };
  struct Options {
    Choice first{.kind = "encoder", .type = "gru"};
    Choice second{.kind = "encoder", .type = "self_attention"};
    std::optional<Higher> third, fourth;
    template <class V>
    void describe(V& v) {
      v("first", first, "encoder that reads the source");
      v("second", second, "encoder that reads the annotations of the first");
      v("third", third, "encoder that reads those of the second; null: none");
      v("fourth",
        fourth,
        "encoder that reads those of the third (more: a stack in a stack); null: none");
      v.check("fourth", third || !fourth, "needs a third encoder");
    }
  };

  Stack(const Parameters& p, Index embedding, const Options& options) {
    add(p / "first", options.first, embedding);
    add(p / "second", options.second, embedding);
    if (options.third) add(p / "third", *options.third, embedding);
    if (options.fourth) add(p / "fourth", *options.fourth, embedding);
  }

  Annotations encode(const EncoderInput& source) const override {
    Annotations result;
    State finals;
    Index layers = 0;  // with weights so far
    EncoderInput input = source;
    for (const Member& member : members_) {
      HeadWeights heads;
      input.heads = member.shows_weights && source.heads != nullptr ? &heads : nullptr;
      result = member.encoder->encode(input);
      finals.append(result.finals);
      Index above = layers;
      for (const auto& [layer, step, weights] : heads.parts) {
        source.heads->add(layers + layer, step, weights);
        above = std::max(above, layers + layer + 1);
      }
      layers = above;
      input = {.embedded = result.states, .lengths = result.lengths, .tape = source.tape};
    }
    result.finals = finals;
    return result;
  }
  Index size() const override { return members_.back().encoder->size(); }
  Index start_size() const override { return members_.back().encoder->start_size(); }
  std::vector<Index> final_sizes() const override {
    std::vector<Index> all;
    for (const Member& member : members_) {
      const std::vector<Index> sizes = member.encoder->final_sizes();
      all.insert(all.end(), sizes.begin(), sizes.end());
    }
    return all;
  }
  Reads reads() const override { return members_.front().encoder->reads(); }
  FrameFormat frames() const override { return members_.front().encoder->frames(); }
  bool attends() const override {
    return std::any_of(members_.begin(), members_.end(), [](const Member& member) {
      return member.shows_weights;
    });
  }
  Index positions(Index length) const override {
    for (const Member& member : members_) length = member.encoder->positions(length);
    return length;
  }
  Index position_of(Index index) const override {
    for (const Member& member : members_) index = member.encoder->position_of(index);
    return index;
  }

 private:
  struct Member {
    std::unique_ptr<Encoder> encoder;
    bool shows_weights;  // of self-attention between source symbols
  };

  void add(const Parameters& p, const Choice& choice, Index embedding) {
    const bool lowest = members_.empty();
    const bool whole = lowest || positions(kLongestSentence) == kLongestSentence;
    auto encoder = make_plugin<EncoderKind>(choice, p, lowest ? embedding : size());
    if (!lowest && encoder->reads() != Reads::embeddings)
      rethrow_at(
          choice,
          SpecError("model.encoder: encoder '{}' reads the source itself, so only the first can be "
                    "one",
                    choice.type));
    members_.push_back({std::move(encoder), false});
    members_.back().shows_weights = whole && members_.back().encoder->attends();
  }

  std::vector<Member> members_;
};
SOFTALIGN_ENCODER("stack", Stack, "encoders of any kinds on top of each other");

}  // namespace
}  // namespace softalign
