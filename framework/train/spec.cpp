#include "framework/train/spec.hpp"

namespace softalign {

void Spec::refuse_other(const Value& root) {
  const Value::Entry* const parts = root.find("parts");
  if (parts && parts->where.line > 0 && !root.find("task"))
    throw SpecError("{}: this is a study, not an experiment: softalign study {}",
                    parts->where.str(),
                    printable(parts->where.file, kWhole));
}

}  // namespace softalign
