#include "cmd/timestamp.hpp"

#include <fmt/format.h>

#include <chrono>

namespace hagi {

std::string timestamp(Duration since_epoch, Precision precision) {
    using namespace std::chrono;
    const sys_time<milliseconds> at{since_epoch};
    const auto day = floor<days>(at);
    const year_month_day date{day};
    const hh_mm_ss time{at - day};
    std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                                   static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                                   time.hours().count(), time.minutes().count(), time.seconds().count());
    if (precision == Precision::Milliseconds) text += fmt::format(".{:03}", time.subseconds().count());
    return text + "Z";
}

std::string span(Duration length) {
    using namespace std::chrono;
    const auto seconds = std::max(floor<std::chrono::seconds>(length).count(), std::int64_t{0});
    const auto days = seconds / 86400;
    const auto hours = seconds / 3600 % 24;
    const auto minutes = seconds / 60 % 60;
    const auto two = [](std::int64_t more, const char* unit, std::int64_t less, const char* smaller) {
        return less == 0 ? fmt::format("{} {}", more, unit) : fmt::format("{} {} {} {}", more, unit, less, smaller);
    };
    if (days > 0) return two(days, "d", hours, "h");
    if (hours > 0) return two(hours, "h", minutes, "min");
    if (minutes > 0) return two(minutes, "min", seconds % 60, "s");
    return fmt::format("{} s", seconds);
}

}  // namespace hagi
