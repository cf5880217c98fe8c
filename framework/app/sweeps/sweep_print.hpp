// A list of runs for people, and as JSON.
#pragma once

#include "framework/app/terminal/json.hpp"
#include "framework/runs/claims.hpp"
#include "framework/runs/list_status.hpp"

namespace softalign::app {

void print_notes(const RunList& list);  // on standard error

// How it was understood: its size and rules, its parameters.
std::string plan_text(const RunList& list);

// How its rows stand, on standard output; `all`: each of them.
ListStatus print_sweep(const RunList& list, bool all);

// What is wrong with a row.
std::string row_fault(const RunList& list, const ListedRun& row, const RowStatus& status);

// The list and its rows; status: with how they stand, and what became of its claims.
Json list_json(const RunList& list,
               const ListStatus* status = nullptr,
               const std::vector<JudgedClaim>& claims = {});
// {"k", "run_id", "folder", "part", "variant", "seed", "set"}.
Json row_json(const RunList& list, const ListedRun& row);

}  // namespace softalign::app
