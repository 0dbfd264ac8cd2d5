// How the rows of `list` look, to people and to scripts. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/lock_rows.hpp"
#include "cmd/screen.hpp"

namespace hagi {

// A heading, then a line for every lock, and below it indented ones for what its holder was asked or is stuck at.
// `columns`: what may be used. The table leaves out and cuts what does not fit; absent: nothing is left out or cut, and
// an empty cell is "-", so that awk finds every column but the last where it belongs.
std::vector<Line> lock_table(const ListAnswer& answer, const Rows& rows, Duration stuck_after,
                             std::optional<std::size_t> columns);

// For scripts: a heading with the names of the fields, then a line for every lock, divided by tabs. Every field of
// every release is there in this order; new ones are added behind. An empty field does not apply.
std::string tsv_heading();
std::string tsv_line(const ListAnswer& answer, const LockView& lock, Duration stuck_after);

}  // namespace hagi
