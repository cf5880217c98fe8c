#include "framework/train/spec.hpp"

namespace softalign {

void Spec::refuse_other(const Value& root) {
  const Value::Entry* const parts = root.find("parts");
  if (parts && parts->where.line > 0 && !root.find("task"))
    throw SpecError("{}: this is a study, not an experiment: softalign study {}",
                    parts->where.str(),
                    printable(parts->where.file, kWhole));
  const Value::Entry* const parameters = root.find("parameters");
  if (parameters && parameters->where.line > 0 && root.find("base") && !root.find("task"))
    throw SpecError("{}: this is a sweep, not an experiment: softalign sweep run {}",
                    parameters->where.str(),
                    printable(parameters->where.file, kWhole));
}

}  // namespace softalign
