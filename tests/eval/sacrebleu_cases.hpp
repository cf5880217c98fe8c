// Sentences whose scores sacreBLEU computed; freeze_sacrebleu.py made the file.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

struct SacrebleuCase {
  std::string name;
  std::vector<std::string> hypotheses, references;
  nlohmann::json expected;  // "bleu", "bleu_stats", "chrf", "chrf_stats"
};

inline std::vector<SacrebleuCase> sacrebleu_cases() {
  std::ifstream file(SOFTALIGN_SOURCE_DIR "/tests/eval/sacrebleu_cases.json");
  const nlohmann::json frozen = nlohmann::json::parse(file);
  std::vector<SacrebleuCase> cases;
  for (const nlohmann::json& c : frozen.at("cases")) {
    cases.push_back({c.at("name"), c.at("hypotheses"), c.at("references"), c});
  }
  if (cases.empty()) throw std::runtime_error("sacrebleu_cases.json holds no case");
  return cases;
}
