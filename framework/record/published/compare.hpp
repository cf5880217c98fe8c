// Compares two records number by number, and the plugins that they were made with, except for values that
// depend on the clock or the machine.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "framework/record/journal/history.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign {

// Paths ("train/loss", "test@bleu_signature") of datasets and attributes that are in one record
// only or differ in a bit. Empty: the same.
std::vector<std::string> compare_records(const std::filesystem::path& a,
                                         const std::filesystem::path& b);

// The differences from `part`, a run that ended earlier: of the numbers of training and dev until then,
// "train/loss at update 17", and of facts known before training.
std::vector<std::string> compare_until_end_of(const Record& record, const Record& part);

// SHA-256 over all that compare_records compares.
std::string numeric_digest(const std::filesystem::path& record);

// A JSON array of "file sha256:digest" for every plugin that is loaded: the attribute `plugins` of
// /provenance.
std::string plugins_json();

// The plugins of a run that are not loaded with the same bytes, to follow "made by": "another
// distance.so (sha256 680f20b3.. then, 54251c9a.. now)". The file may have moved.
std::vector<std::string> changed_plugins(const Record& record);
// The changed plugins of a run that is not over, from its journals.
std::vector<std::string> changed_plugins(const History& history);

}  // namespace softalign
