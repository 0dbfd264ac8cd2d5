#include "cmd/outage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cmd/timestamp.hpp"

namespace hagi {
namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstPause = 1s;
constexpr Duration kLongestPause = 10s;
constexpr Duration kSilence = 60s;  // half the default beat: shorter outages cost nothing and would only alarm

}  // namespace

bool may_pass(const Error& error) {
    switch (error.kind) {
        case ErrorKind::Unreachable:
        case ErrorKind::Gone:
        case ErrorKind::NotFound:
        case ErrorKind::PermissionDenied: return true;
        case ErrorKind::Usage:
        case ErrorKind::InvalidArgument:
        case ErrorKind::Unusable:
        case ErrorKind::Damaged:
        case ErrorKind::Defect: break;
    }
    return false;
}

std::optional<WatchEvent> Outage::failed(const Error& error, Duration now) {
    pause_ = since_ ? std::min(pause_ * 2, kLongestPause) : kFirstPause;
    if (!since_) since_ = now;
    if (announced_ || (error.kind != ErrorKind::Gone && now - *since_ < kSilence)) return std::nullopt;
    announced_ = true;
    return WatchEvent{
        WatchEventKind::Unreachable,
        fmt::format("The store cannot be reached, trying on; nothing is known to be lost: {}", error.message),
        {},
        {}};
}

std::optional<WatchEvent> Outage::recovered(Duration now) {
    std::optional<WatchEvent> event;
    if (announced_)
        event = WatchEvent{WatchEventKind::Recovered,
                           fmt::format("The store can be reached again, after {}", span(now - *since_)),
                           {},
                           {}};
    *this = {};
    return event;
}

}  // namespace hagi
