// Wall-clock times and lengths of time as they are shown.
#pragma once

#include <string>

#include "lockcore/types.hpp"

namespace hagi {

enum class Precision { Seconds, Milliseconds };

// RFC 3339 in UTC: "2026-11-30T06:20:11Z". `since_epoch`: since 1970.
std::string timestamp(Duration since_epoch, Precision precision);

// "45 s", "9 min 58 s", "23 h 5 min": two units at most, rounded down.
std::string span(Duration length);

}  // namespace hagi
