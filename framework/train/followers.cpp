#include "framework/train/followers.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "framework/base/error.hpp"

namespace softalign {
namespace {

enum class Call : char { update, evaluation, state, new_state, parameters, end };

void call(Ranks& ranks, Call what, std::string_view details = {}) {
  if (ranks.count() > 1) broadcast(ranks, std::string(1, static_cast<char>(what)).append(details));
}

template <class T>
std::string_view bytes_of(const T& details) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(&details), sizeof details};
}

template <class T>
T details_of(const std::string& order) {
  T details;
  std::memcpy(&details, order.data() + 1, sizeof details);
  return details;
}

std::span<real> values_of(Model& model) {
  return {model.parameters().values(), usize(model.parameters().flat_size())};
}

}  // namespace

Leader::~Leader() {
  try {
    call(ranks_, Call::end);
  } catch (const std::exception&) {  // the followers are gone
  }
}

void Leader::calls_for(const UpdateOrder& update) { call(ranks_, Call::update, bytes_of(update)); }

void Leader::calls_for(EvaluatedSentences sentences, Model& model) {
  call(ranks_, Call::evaluation, bytes_of(sentences));
  broadcast(ranks_, values_of(model));
}

void Leader::calls_for_state(std::size_t buffer) { call(ranks_, Call::state, bytes_of(buffer)); }

void Leader::sets_state(std::size_t buffer) { call(ranks_, Call::new_state, bytes_of(buffer)); }

void Leader::sets_parameters(Model& model) {
  call(ranks_, Call::parameters);
  broadcast(ranks_, values_of(model));
}

void follow(const Spec& spec, const Dataset& data, Model& model, Workers& workers, Ranks& ranks) {
  Updates updates(spec, data, model, workers, ranks);
  std::map<EvaluatedSentences, Evaluation> evaluations;
  Observer silent;
  for (;;) {
    const std::string order = broadcast(ranks, std::string());
    switch (static_cast<Call>(order.front())) {
      case Call::update: {
        const auto update = details_of<UpdateOrder>(order);
        updates.plan(update.epoch);
        updates.make(update);
        break;
      }
      case Call::evaluation: {
        const auto sentences = details_of<EvaluatedSentences>(order);
        const std::span<real> values = values_of(model);
        const std::vector<real> trained(values.begin(), values.end());
        broadcast(ranks, values);
        evaluations.try_emplace(sentences, sentences, spec, data, ranks)
            .first->second.run(model, workers, silent);
        std::ranges::copy(trained, values.begin());
        break;
      }
      case Call::state:
        updates.step().state(details_of<std::size_t>(order));
        break;
      case Call::new_state:
        updates.step().set_state(details_of<std::size_t>(order), {});
        break;
      case Call::parameters:
        broadcast(ranks, values_of(model));
        break;
      case Call::end:
        return;
    }
  }
}

bool leader_has_ended(Ranks& ranks) {
  return static_cast<Call>(broadcast(ranks, std::string()).front()) == Call::end;
}

void agree(Ranks& ranks, const std::function<std::string()>& work) {
  if (ranks.count() == 1) {
    work();
    return;
  }
  std::string result, fault;
  std::exception_ptr failure;
  try {
    result = work();
  } catch (const std::exception& error) {
    failure = std::current_exception();
    fault = error.what();
  }
  const std::vector<std::string> results = gather_to_all(ranks, result),
                                 faults = gather_to_all(ranks, fault);
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    const bool differs = results[rank] != results.front();
    if (faults[rank].empty() && !differs) continue;
    if (!ranks.first()) throw Dismissed();
    if (failure) std::rethrow_exception(failure);
    throw SpecError("rank {}: {}",
                    rank,
                    faults[rank].empty()
                        ? fmt::format("{}, but {} on rank 0", results[rank], results.front())
                        : faults[rank]);
  }
}

}  // namespace softalign
