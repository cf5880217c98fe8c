// Are two records the same, number by number? What depends on the clock or the machine and not on
// the experiment is left out.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace softalign {

// Paths ("train/loss", "test@bleu_signature") of datasets and attributes that are in one record
// only or differ in a bit. Empty: the same.
std::vector<std::string> compare_records(const std::filesystem::path& a,
                                         const std::filesystem::path& b);

// SHA-256 over all that compare_records compares.
std::string numeric_digest(const std::filesystem::path& record);

}  // namespace softalign
