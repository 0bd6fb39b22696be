#pragma once
// What the table and the page say alike.

#include <string>
#include <string_view>
#include <vector>

#include "cmd/replay_policies/run.h"
#include "cmd/replay_policies/summary.h"

namespace tidemark::replay_policies {

/// What was replayed and how, a line each.
std::vector<std::string> HeaderLines(const ReplayRun& run);
/// "web (periodic): 5760 minutes measured, …"; or why it could not be.
std::string TraceLine(const ReplayedTrace& trace);
/// "mean over 5 traces of class periodic".
std::string MeanLine(const Summary& summary);

/// The first is the name's; `is_one`: of one trace, whose cost is a sum.
std::vector<std::string> FigureHeads(bool is_one);
/// A row for each policy, then the perfect forecast's.
std::vector<std::vector<std::string>> FigureRows(const ReplayRun& run, const Summary& summary,
                                                 bool is_one);
/// Objectives against what was reached, a line for each policy that has one.
std::vector<std::string> ObjectiveLines(const ReplayRun& run, const Summary& summary);
/// What the marks in the rows mean.
std::vector<std::string> NoteLines(const ReplayRun& run);

inline constexpr std::string_view kPerfectName = "perfect forecast at 90 %";

}  // namespace tidemark::replay_policies
