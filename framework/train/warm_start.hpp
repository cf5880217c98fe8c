// Puts in place what spec.init says: parameters of another run, word vectors.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/data/dataset.hpp"
#include "framework/seq/model.hpp"
#include "framework/train/train_options.hpp"

namespace softalign {

// The SHA-256 of the names, shapes and values of a record's parameters. `record`: the record, or the
// folder of its run. Throws DataError.
std::string parameters_sha256(const std::filesystem::path& record);

// Overwrites initial values. Throws SpecError or DataError where something does not fit, naming parameters
// with their shapes. Notes for people: what was taken, and how much of the vocabularies.
std::vector<std::string> warm_start(Model& model, const InitOptions& options, const Dataset& data);

}  // namespace softalign
