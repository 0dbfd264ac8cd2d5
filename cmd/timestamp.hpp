// Wall-clock times and lengths of time as they are shown.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lockcore/types.hpp"

namespace hagi {

enum class Precision { Seconds, Milliseconds };

// RFC 3339 in UTC: "2026-11-30T06:20:11Z". `since_epoch`: since 1970.
std::string timestamp(Duration since_epoch, Precision precision);

// "45 s", "9 min 58 s", "23 h 5 min": two units at most, rounded down.
std::string span(Duration length);

// The same for a column of a table: "45s", "9m58s", "23h05m", "1d03h".
std::string brief_span(Duration length);

// The wall-clock time that `text` names: RFC 3339 ("2026-11-30T06:20:11Z", "2026-11-30T08:20:11.5+02:00"), or so long
// before `wall_now` ("45s", "30m", "2h", "7d"). Absent where it is neither.
std::optional<Duration> parse_moment(std::string_view text, Duration wall_now);

}  // namespace hagi
