// Runs the diagnostics of a spec at the moments that they choose, and records their findings.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/eval/diagnostic.hpp"
#include "framework/record/recorder.hpp"
#include "framework/train/observer.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

class Diagnostics {
 public:
  Diagnostics(const Spec& spec,
              const Model& model,
              Recorder& recorder,
              Workers& workers,
              Observer& observer);
  // Runs the diagnostics that look at this split at this moment. Throws Interrupted if the observer requests it.
  void look(Moment moment, const Split& split, Index update) const;

 private:
  std::map<std::string, std::unique_ptr<Diagnostic>> diagnostics_;
  std::uint64_t seed_;
  const Model& model_;
  Recorder& recorder_;
  Workers& workers_;
  Observer& observer_;
};

// A diagnostic and a split that it looks at during a run.
struct Look {
  std::string name;
  std::shared_ptr<const Diagnostic> diagnostic;
  std::string split;
};
std::vector<Look> looks_of(const DiagnosticsOptions& options);

// Returns the arrays that the chosen diagnostics may find, by the diagnostic's name.
std::map<std::string, std::vector<FoundArray>> arrays_found(const DiagnosticsOptions& options);

// Throws SpecError, which names the option, for a diagnostic that cannot measure the model.
void check_diagnostics(const DiagnosticsOptions& options, const Model& model);

}  // namespace softalign
