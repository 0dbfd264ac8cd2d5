#include "tests/faults/story.hpp"

#include <algorithm>
#include <map>

namespace hagi::test {
namespace {

using Json = nlohmann::json;

constexpr const char* kMovedByTime[] = {"ageSec",     "grantedAt",  "heartbeatAt", "validUntil", "hardCapAt",
                                        "fresh",      "stuck",      "stuckReason", "enqueuedAt", "at",
                                        "phaseSince", "acceptedAt", "phaseAgeSec"};

Json without_time(Json value) {
    if (value.is_object())
        for (const char* const name : kMovedByTime) value.erase(name);
    if (value.is_structured())
        for (Json& part : value) part = without_time(std::move(part));
    return value;
}

bool is_grant(const Json& event) { return event.at("event") == "granted" || event.at("event") == "handed off"; }

struct Grant {
    std::string owner;
    std::int64_t epoch = 0;
};

std::string broken_in_log(const Json& events, std::map<std::string, Grant>& last) {
    std::int64_t seq = 0;
    for (const Json& event : events) {
        if (event.at("seq") != ++seq) return "the log has a gap before " + event.dump();
        if (!is_grant(event)) continue;
        Grant& grant = last[event.at("lockId")];
        if (event.at("epoch") <= grant.epoch) return "an epoch did not rise: " + event.dump();
        grant = {event.at("owner"), event.at("epoch")};
    }
    return "";
}

}  // namespace

Story story_of(const Json& list, const Json& log) {
    return {without_time(list.at("locks")), without_time(log.at("events"))};
}

std::string broken_rule(const Story& story) {
    std::map<std::string, Grant> last;
    if (std::string broken = broken_in_log(story.events, last); !broken.empty()) return broken;
    for (const Json& lock : story.locks) {
        const Json& holder = lock.at("holder");
        if (holder.is_null() && !lock.at("queue").empty()) return "somebody waits for a free lock: " + lock.dump();
        if (holder.is_null()) continue;
        const Grant& grant = last[lock.at("lockId")];
        if (holder.at("owner") != grant.owner || holder.at("epoch") != grant.epoch)
            return "the holder is not whom the lock was granted last: " + lock.dump();
    }
    return "";
}

bool continues(const Story& later, const Story& earlier) {
    return later.events.size() >= earlier.events.size() &&
           std::equal(earlier.events.begin(), earlier.events.end(), later.events.begin());
}

std::int64_t greatest_epoch(const Story& story, const std::string& lock_id) {
    std::int64_t greatest = 0;
    for (const Json& event : story.events)
        if (is_grant(event) && event.at("lockId") == lock_id)
            greatest = std::max(greatest, event.at("epoch").get<std::int64_t>());
    return greatest;
}

}  // namespace hagi::test
