// Compares the numbers and the plugins of two records, except for values that depend on the clock or the machine.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "framework/record/journal/history.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign {

// Returns the paths ("train/loss", "test@bleu_signature") of datasets and attributes that only one
// record has, or that differ in a bit; empty if the records are equal.
std::vector<std::string> compare_records(const std::filesystem::path& a,
                                         const std::filesystem::path& b);

// Returns the differences from `part`, a run that ended earlier, in the numbers of training and dev until then,
// "train/loss at update 17", and in facts known before training.
std::vector<std::string> compare_until_end_of(const Record& record, const Record& part);

// Returns the SHA-256 of all values that compare_records compares.
std::string numeric_digest(const std::filesystem::path& record);

// Returns a JSON array of "file sha256:digest" for every loaded plugin: the attribute `plugins` of
// /provenance.
std::string plugins_json();

// Returns the plugins of a run that are not loaded with the same bytes, worded to follow "made by": "another
// distance.so (sha256 680f20b3.. then, 54251c9a.. now)". The file may have moved.
std::vector<std::string> changed_plugins(const Record& record);
// Returns the changed plugins of a run that has not ended, from its journals.
std::vector<std::string> changed_plugins(const History& history);

}  // namespace softalign
