// A second, plain reading of the protocol, to judge the rules by. It shares no code with them: settling is not a loop
// over what is due next but a chain of holds and a list of silent waiters; every deadline is worked out here anew.
#pragma once

#include <optional>
#include <vector>

#include "lockcore/answer.hpp"
#include "lockcore/event.hpp"
#include "lockcore/request.hpp"
#include "lockcore/state.hpp"

namespace hagi::test {

// When `hold` ends and `waiter` is dropped, unless heard from.
Instant lapses_at(const Hold& hold);
Instant drops_at(const Waiter& waiter);

struct Reading {
    LockState state;
    std::vector<Event> events;
};

// What settling `state` to `now` must lead to.
Reading read_settling(const LockState& state, Instant now);

// What `request` must lead to in the settled `state`, where the processes of the grant `gone`, if any, have ended: of
// the answer everything but the times and the windows.
struct ReadRequest {
    LockState state;
    std::vector<Event> events;
    Answer answer;
};
ReadRequest read_request(const LockState& state, const Request& request, std::optional<Epoch> gone, Instant now);

}  // namespace hagi::test
