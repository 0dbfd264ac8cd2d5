#include "cmd/timestamp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

namespace hagi {

using namespace std::chrono_literals;

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

namespace {

struct Parts {
    std::int64_t days, hours, minutes, seconds;
};

// Nothing of what is negative.
Parts parts_of(Duration length) {
    const auto all = std::max(std::chrono::floor<std::chrono::seconds>(length).count(), std::int64_t{0});
    return {all / 86400, all / 3600 % 24, all / 60 % 60, all % 60};
}

}  // namespace

std::string span(Duration length) {
    const auto [days, hours, minutes, seconds] = parts_of(length);
    const auto two = [](std::int64_t more, const char* unit, std::int64_t less, const char* smaller) {
        return less == 0 ? fmt::format("{} {}", more, unit) : fmt::format("{} {} {} {}", more, unit, less, smaller);
    };
    if (days > 0) return two(days, "d", hours, "h");
    if (hours > 0) return two(hours, "h", minutes, "min");
    if (minutes > 0) return two(minutes, "min", seconds, "s");
    return fmt::format("{} s", seconds);
}

std::string brief_span(Duration length) {
    const auto [days, hours, minutes, seconds] = parts_of(length);
    if (days > 0) return fmt::format("{}d{:02}h", days, hours);
    if (hours > 0) return fmt::format("{}h{:02}m", hours, minutes);
    if (minutes > 0) return fmt::format("{}m{:02}s", minutes, seconds);
    return fmt::format("{}s", seconds);
}

namespace {

// Reads a text from left to right; once something does not fit, nothing does.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}

    std::int64_t digits(std::size_t least, std::size_t most) {
        const std::size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
        std::int64_t number = 0;
        fits_ = fits_ && least <= count && count <= most;
        if (!fits_) return 0;
        std::from_chars(rest_.data(), rest_.data() + count, number);
        rest_.remove_prefix(count);
        return number;
    }
    char any_of(std::string_view wanted) {
        fits_ = fits_ && !rest_.empty() && wanted.find(rest_.front()) != std::string_view::npos;
        if (!fits_) return '\0';
        const char found = rest_.front();
        rest_.remove_prefix(1);
        return found;
    }
    [[nodiscard]] bool sees(std::string_view wanted) const {
        return fits_ && !rest_.empty() && wanted.find(rest_.front()) != std::string_view::npos;
    }
    [[nodiscard]] bool done() const { return fits_ && rest_.empty(); }

private:
    std::string_view rest_;
    bool fits_ = true;
};

std::optional<Duration> parse_ago(std::string_view text, Duration wall_now) {
    Reader reader(text);
    const std::int64_t count = reader.digits(1, 9);
    const char unit = reader.any_of("smhd");
    if (!reader.done()) return std::nullopt;
    const Duration length = unit == 's' ? 1s : unit == 'm' ? 60s : unit == 'h' ? 3600s : 86400s;
    return wall_now - length * count;
}

// Milliseconds; what is finer is cut off.
Duration read_fraction(Reader& reader) {
    if (!reader.sees(".")) return Duration{};
    reader.any_of(".");
    std::int64_t milliseconds = 0;
    int places = 0;
    do {
        const std::int64_t digit = reader.any_of("0123456789") - '0';
        if (places < 3) milliseconds = milliseconds * 10 + digit;
        ++places;
    } while (reader.sees("0123456789"));
    for (; places < 3; ++places) milliseconds *= 10;
    return Duration{milliseconds};
}

// What to add to come to UTC.
Duration read_zone(Reader& reader) {
    const char sign = reader.any_of("Zz+-");
    if (sign != '+' && sign != '-') return Duration{};
    const std::chrono::hours hours{reader.digits(2, 2)};
    reader.any_of(":");
    const std::chrono::minutes minutes{reader.digits(2, 2)};
    return sign == '+' ? -(hours + minutes) : hours + minutes;
}

}  // namespace

std::optional<Duration> parse_moment(std::string_view text, Duration wall_now) {
    using namespace std::chrono;
    if (const auto ago = parse_ago(text, wall_now)) return ago;
    Reader reader(text);
    const auto part = [&](std::string_view before, std::size_t width) {
        if (!before.empty()) reader.any_of(before);
        return reader.digits(width, width);
    };
    const year years{static_cast<int>(part("", 4))};
    const month months{static_cast<unsigned>(part("-", 2))};
    const day days{static_cast<unsigned>(part("-", 2))};
    const hours hour{part("Tt ", 2)};
    const minutes minute{part(":", 2)};
    const seconds second{part(":", 2)};
    const Duration fraction = read_fraction(reader);
    const Duration zone = read_zone(reader);
    const year_month_day date{years, months, days};
    if (!reader.done() || !date.ok() || hour > 23h || minute > 59min || second > 60s) return std::nullopt;
    return duration_cast<Duration>(sys_days{date}.time_since_epoch()) + hour + minute + second + fraction + zone;
}

}  // namespace hagi
