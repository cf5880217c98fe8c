// "Did you mean": the nearest legal name for a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace softalign {

// Whether someone who wrote `given` may have meant `legal`.
bool alike(std::string_view given, std::string_view legal);

// What is called `name` elsewhere, as it is called here: lr is learning_rate. Other names are returned as
// they are.
std::string_view name_here(std::string_view name);

// "; did you mean 'gain'? legal: gain, units", without the question when nothing is near. Starts
// with "; " or is empty.
std::string suggestion(std::string_view given, const std::vector<std::string>& legal);

// The same where nothing here is near, and an option of another block of `known` is called so: "; did you mean
// train.optimizer.learning_rate? legal: ...".
std::string suggestion_among(std::string_view given,
                             const std::vector<std::string>& legal,
                             const std::vector<std::string>& known);

}  // namespace softalign
