#include "lockcore/words.hpp"

#include <array>
#include <utility>

namespace hagi {
namespace {

template <class Enum, std::size_t Size>
using Words = std::array<std::pair<Enum, std::string_view>, Size>;

constexpr Words<Status, 5> kStatuses = {{{Status::Holding, "Holding"},
                                         {Status::Queued, "Queued"},
                                         {Status::Expired, "Expired"},
                                         {Status::Requisitioned, "Requisitioned"},
                                         {Status::None, "None"}}};

constexpr Words<Cause, 12> kCauses = {{{Cause::LeaseExpired, "lease expired"},
                                       {Cause::MaximumHold, "maximum hold"},
                                       {Cause::ClaimMissed, "claim missed"},
                                       {Cause::NotPolled, "not polled"},
                                       {Cause::Requisitioned, "requisitioned"},
                                       {Cause::Stopped, "stopped"},
                                       {Cause::ProcessGone, "process gone"},
                                       {Cause::Released, "released"},
                                       {Cause::Left, "left"},
                                       {Cause::StaleEpoch, "stale epoch"},
                                       {Cause::NotTheHolder, "not the holder"},
                                       {Cause::TooLittleLeft, "too little left"}}};

constexpr Words<EventKind, 11> kEventKinds = {{{EventKind::Queued, "queued"},
                                               {EventKind::Granted, "granted"},
                                               {EventKind::HandedOff, "handed off"},
                                               {EventKind::Claimed, "claimed"},
                                               {EventKind::Accepted, "accepted"},
                                               {EventKind::Released, "released"},
                                               {EventKind::Left, "left"},
                                               {EventKind::Dropped, "dropped"},
                                               {EventKind::Ended, "ended"},
                                               {EventKind::Requisitioned, "requisitioned"},
                                               {EventKind::Nudged, "nudged"}}};

constexpr Words<GrantKind, 3> kGrantKinds = {{{GrantKind::TakenFree, "taken free"},
                                              {GrantKind::HandedOff, "handed off"},
                                              {GrantKind::Requisitioned, "requisitioned"}}};

constexpr Words<EndedKind, 2> kEndedKinds = {{{EndedKind::Hold, "hold"}, {EndedKind::Place, "queue"}}};

constexpr Words<WatcherKind, 2> kWatcherKinds = {{{WatcherKind::Heartbeat, "heartbeat"}, {WatcherKind::Run, "run"}}};

constexpr Words<Released, 3> kReleased = {
    {{Released::Nothing, "nothing"}, {Released::Hold, "hold"}, {Released::Place, "queue"}}};

template <class Enum, std::size_t Size>
std::string_view word_in(const Words<Enum, Size>& words, Enum wanted) {
    for (const auto& [value, word] : words)
        if (value == wanted) return word;
    return "?";
}

template <class Enum, std::size_t Size>
std::optional<Enum> value_in(const Words<Enum, Size>& words, std::string_view wanted) {
    for (const auto& [value, word] : words)
        if (word == wanted) return value;
    return std::nullopt;
}

}  // namespace

std::string_view word_for(Status status) { return word_in(kStatuses, status); }
std::string_view word_for(Cause cause) { return word_in(kCauses, cause); }
std::string_view word_for(EventKind kind) { return word_in(kEventKinds, kind); }
std::string_view word_for(GrantKind kind) { return word_in(kGrantKinds, kind); }
std::string_view word_for(EndedKind kind) { return word_in(kEndedKinds, kind); }
std::string_view word_for(Released released) { return word_in(kReleased, released); }
std::string_view word_for(WatcherKind kind) { return word_in(kWatcherKinds, kind); }

std::optional<Cause> cause_from(std::string_view word) { return value_in(kCauses, word); }
std::optional<EventKind> event_kind_from(std::string_view word) { return value_in(kEventKinds, word); }
std::optional<GrantKind> grant_kind_from(std::string_view word) { return value_in(kGrantKinds, word); }
std::optional<EndedKind> ended_kind_from(std::string_view word) { return value_in(kEndedKinds, word); }
std::optional<WatcherKind> watcher_kind_from(std::string_view word) { return value_in(kWatcherKinds, word); }

}  // namespace hagi
