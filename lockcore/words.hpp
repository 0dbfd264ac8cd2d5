// The words of the protocol's enumerations: in the store, in JSON and in texts they are the same.
#pragma once

#include <optional>
#include <string_view>

#include "lockcore/answer.hpp"
#include "lockcore/event.hpp"

namespace hagi {

std::string_view word_for(Status status);      // "Holding"
std::string_view word_for(Cause cause);        // "lease expired"
std::string_view word_for(EventKind kind);     // "handed off"
std::string_view word_for(GrantKind kind);     // "taken free"
std::string_view word_for(EndedKind kind);     // "hold"
std::string_view word_for(Released released);  // "nothing"
std::string_view word_for(WatcherKind kind);   // "heartbeat"

// Absent where `word` is none of them.
std::optional<Cause> cause_from(std::string_view word);
std::optional<EventKind> event_kind_from(std::string_view word);
std::optional<GrantKind> grant_kind_from(std::string_view word);
std::optional<EndedKind> ended_kind_from(std::string_view word);
std::optional<WatcherKind> watcher_kind_from(std::string_view word);

}  // namespace hagi
