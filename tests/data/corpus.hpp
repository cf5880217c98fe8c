// A small parallel text in a temporary folder, loaded by the task as from a spec.
#pragma once

#include "shared.hpp"

namespace softalign {

// A corpus of six training pairs (one empty, one of seven words), one dev and one test pair.
struct Corpus {
  Scratch scratch;
  std::map<std::string, std::string> values;

  Corpus() {
    set("train",
        "source",
        "the house is red\n\nthe red house\na b c d e f g\nthe dog\na dog is a dog\n");
    set("train",
        "target",
        "la casa es roja\nx\nla casa roja\nh i j\nel perro\nun perro es un perro\n");
    set("dev", "source", "a red dog\n");
    set("dev", "target", "un perro rojo\n");
    set("test", "source", "the red cat is a dog\n");
    set("test", "target", "el gato rojo es un perro\n");
    values["max_length"] = "5";
  }

  void set(const std::string& split, const std::string& side, const std::string& text) {
    values[split + "." + side] = scratch.write(split + "." + side, text);
  }
  std::string path(const std::string& file) const { return scratch / file; }

  Dataset load(const Progress& progress = {}) const {
    return task_with("parallel_text", values)->load(1, progress);
  }
  std::string refusal() const {
    return message_of<DataError>([&] { load(); });
  }
};

}  // namespace softalign
