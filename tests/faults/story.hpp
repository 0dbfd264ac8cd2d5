// What a store tells of its past and present, and what every such story must obey. It knows nothing of how the store is
// written, only the protocol: epochs rise, and who holds a lock was granted it last.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hagi::test {

struct Story {
    nlohmann::json locks;   // as `list --all` tells them, without what time moves
    nlohmann::json events;  // as `log` tells them, without times

    bool operator==(const Story&) const = default;
};

// From the answers of `list --all --json` and `log --json`.
Story story_of(const nlohmann::json& list, const nlohmann::json& log);

// The first rule that the story breaks; empty: none.
std::string broken_rule(const Story& story);

// Whether `later` only adds to what `earlier` tells of the past.
bool continues(const Story& later, const Story& earlier);

// The greatest epoch that was ever granted of this lock.
std::int64_t greatest_epoch(const Story& story, const std::string& lock_id);

}  // namespace hagi::test
