#include "tests/simulation/world.hpp"

#include <algorithm>
#include <vector>

namespace hagi::test {
namespace {

using namespace std::chrono_literals;

constexpr Epoch kCurrent{100};
constexpr std::int64_t kFirstEndedEpoch = 10;
constexpr Duration kShown = 600s;

// The run that has the grant in every unpacked state, and another one. A run knows its command's group only when it
// accepts.
const Binding kRun{{7, 70, "boot", 1, "host"}, 0};
const Binding kRunWithGroup{kRun.run, 8};
const Binding kOtherRun{{9, 90, "boot", 1, "host"}, 0};

enum class Remembered : Key { Nothing, Place, Lapse, Requisition, Old };

// A number written digit by digit, and read back in the same order.
class Packing {
public:
    void put(Key digit, Key radix) {
        value_ += digit * weight_;
        weight_ *= radix;
    }
    void put_age(Instant then, Instant now, const Grid& grid) {
        const Duration age = now - then;
        if (age < 0s || age % grid.tick != 0s || age >= grid.tick * static_cast<std::int64_t>(kAges)) off_grid_ = true;
        put(off_grid_ ? 0 : static_cast<Key>(age / grid.tick), kAges);
    }
    [[nodiscard]] std::optional<Key> value() const { return off_grid_ ? std::nullopt : std::optional(value_); }

    static constexpr Key kAges = 32;

private:
    Key value_ = 0;
    Key weight_ = 1;
    bool off_grid_ = false;
};

class Unpacking {
public:
    explicit Unpacking(Key value) : rest_(value) {}
    Key take(Key radix) {
        const Key digit = rest_ % radix;
        rest_ /= radix;
        return digit;
    }
    Instant take_age(const Grid& grid) { return kNow - grid.tick * static_cast<std::int64_t>(take(Packing::kAges)); }

private:
    Key rest_;
};

Remembered remembered(const LockState& state, const Owner& owner, Instant now) {
    for (const Ending& ending : state.endings) {
        if (ending.owner != owner) continue;
        if (now - ending.at >= kShown) return Remembered::Old;
        if (ending.kind == EndedKind::Place) return Remembered::Place;
        return ending.by.empty() ? Remembered::Lapse : Remembered::Requisition;
    }
    return Remembered::Nothing;
}

int index_of(const Owner& owner) { return owner.str().at(0) - 'a'; }

// The holder, the waiters in order, then the others by what is remembered of them.
Names naming(const LockState& state, Instant now) {
    std::vector<int> order;
    if (state.hold) order.push_back(index_of(state.hold->owner));
    for (const Waiter& waiter : state.queue) order.push_back(index_of(waiter.owner));
    const auto busy = static_cast<std::ptrdiff_t>(order.size());
    for (int owner = 0; owner < kOwners; ++owner)
        if (std::find(order.begin(), order.begin() + busy, owner) == order.begin() + busy) order.push_back(owner);
    std::stable_sort(order.begin() + busy, order.end(), [&](int one, int other) {
        return remembered(state, owner_named(one), now) < remembered(state, owner_named(other), now);
    });
    Names names{};
    std::copy_n(order.begin(), kOwners, names.begin());
    return names;
}

void add_ending(LockState& state, int owner, Remembered what) {
    if (what == Remembered::Nothing) return;
    Ending ending{
        owner_named(owner), EndedKind::Hold, {kFirstEndedEpoch + owner}, kNow - 10s, Cause::LeaseExpired, {}, {}};
    if (what == Remembered::Old) ending.at = kNow - kShown;
    if (what == Remembered::Place) {
        ending.kind = EndedKind::Place;
        ending.epoch = {};
        ending.cause = Cause::NotPolled;
    }
    if (what == Remembered::Requisition) {
        ending.cause = Cause::Requisitioned;
        ending.by = Owner("operator");
        ending.reason = Reason("storm");
    }
    state.endings.push_back(ending);
}

Hold take_hold(Unpacking& from, const Grid& grid) {
    Hold hold;
    hold.owner = owner_named(0);
    hold.epoch = kCurrent;
    hold.lease = grid.lease;
    const bool claimed = from.take(2) == 1;
    const bool accepted = from.take(2) == 1;
    hold.granted_at = from.take_age(grid);
    hold.last_feedback = from.take_age(grid);
    hold.hard_cap = hold.granted_at + grid.maximum_hold;
    if (claimed) hold.claimed_at = hold.granted_at;
    if (accepted) hold.accepted_at = hold.granted_at;
    if (!claimed) hold.granted_how = GrantKind::HandedOff;
    if (grid.grants == Grants::Free) return hold;
    const Key bound = from.take(3);
    if (bound > 0) hold.binding = bound == 1 ? kRun : kRunWithGroup;
    return hold;
}

// Of the caller's own; else one that is nobody's.
Epoch old_epoch(const LockState& state, const Owner& owner) {
    for (const Ending& ending : state.endings)
        if (ending.owner == owner && ending.kind == EndedKind::Hold) return ending.epoch;
    return Epoch{1};
}

AcquireRequest acquire(const Grid& grid, WhenHeld when_held) {
    AcquireRequest request;
    request.lease = grid.lease;
    request.maximum_hold = grid.maximum_hold;
    request.when_held = when_held;
    return request;
}

AcquireRequest acquire_and_accept(const Grid& grid) {
    AcquireRequest request = acquire(grid, WhenHeld::Join);
    request.when_granted = WhenGranted::Accept;
    return request;
}

AcquireRequest acquire_on_other_terms() {
    AcquireRequest request;
    request.label = Label("raid");
    request.progress = {Phase("boot"), Note("first")};
    request.lease = 90s;
    request.maximum_hold = 1h;
    return request;
}

RequisitionRequest requisition(std::optional<Epoch> epoch) { return {Reason("storm"), Label("drill"), epoch}; }

const char* const kWords[kRequests + kRequestsOfRuns] = {"acquire",
                                                         "acquire no-queue",
                                                         "acquire look-once",
                                                         "acquire with other terms and texts",
                                                         "status",
                                                         "renew",
                                                         "renew epoch=current",
                                                         "renew epoch=old",
                                                         "renew with another lease, phase and note",
                                                         "accept",
                                                         "accept epoch=current",
                                                         "accept epoch=old",
                                                         "accept min-left=30",
                                                         "release",
                                                         "release epoch=current",
                                                         "release epoch=old",
                                                         "requisition",
                                                         "requisition epoch=current",
                                                         "requisition epoch=old",
                                                         "give-up",
                                                         "give-up keep",
                                                         "withdraw",
                                                         "withdraw keep",
                                                         "withdraw held=current",
                                                         "withdraw held=old",
                                                         "stop",
                                                         "stop epoch=current",
                                                         "stop epoch=old",
                                                         "nudge",
                                                         "acquire and accept",
                                                         "run: acquire and accept",
                                                         "run: acquire no-queue",
                                                         "run: status",
                                                         "run: accept",
                                                         "run: accept epoch=current",
                                                         "another run: acquire",
                                                         "another run: accept",
                                                         "run: renew epoch=current",
                                                         "run: status and accept"};

decltype(Request::action) action_of(int kind, const LockState& state, const Owner& owner, const Grid& grid) {
    const Epoch current = state.last_epoch;
    const Epoch old = old_epoch(state, owner);
    switch (kind) {
        case 0: return acquire(grid, WhenHeld::Join);
        case 1: return acquire(grid, WhenHeld::Refuse);
        case 2: return acquire(grid, WhenHeld::LookOnce);
        case 3: return acquire_on_other_terms();
        case 4: return StatusRequest{};
        case 5: return RenewRequest{};
        case 6: return RenewRequest{current, {}, {}};
        case 7: return RenewRequest{old, {}, {}};
        case 8: return RenewRequest{{}, 60s, {Phase("boot"), Note("first")}};
        case 9: return AcceptRequest{};
        case 10: return AcceptRequest{current, {}};
        case 11: return AcceptRequest{old, {}};
        case 12: return AcceptRequest{{}, 30s};
        case 13: return ReleaseRequest{};
        case 14: return ReleaseRequest{current};
        case 15: return ReleaseRequest{old};
        case 16: return requisition({});
        case 17: return requisition(current);
        case 18: return requisition(old);
        case 19: return GiveUpRequest{Place::Leave};
        case 20: return GiveUpRequest{Place::Keep};
        case 21: return WithdrawRequest{Place::Leave, {}};
        case 22: return WithdrawRequest{Place::Keep, {}};
        case 23: return WithdrawRequest{Place::Leave, current};
        case 24: return WithdrawRequest{Place::Leave, old};
        case 25: return StopRequest{Reason("storm"), {}};
        case 26: return StopRequest{Reason("storm"), current};
        case 27: return StopRequest{Reason("storm"), old};
        case 28: return NudgeRequest{Reason("hurry")};
        case 29:
        case 30: return acquire_and_accept(grid);
        case 31: return acquire(grid, WhenHeld::Refuse);
        case 32: return StatusRequest{};
        case 33: return AcceptRequest{};
        case 34: return AcceptRequest{current, {}};
        case 35: return acquire(grid, WhenHeld::Join);
        case 36: return AcceptRequest{};
        case 37: return RenewRequest{current, {}, {}};
        default: return StatusRequest{WhenGranted::Accept};
    }
}

std::optional<Binding> binding_of(int kind) {
    if (kind < kRequests) return std::nullopt;
    if (kind == 35 || kind == 36) return kOtherRun;
    return kind == 33 || kind == 34 || kind == 38 ? kRunWithGroup : kRun;
}

// Each owner asks each thing, with each evidence.
struct Step {
    int owner;
    int kind;
    int evidence;
};

Step step_of(int action, const Grid& grid) {
    const int step = action - kTicks;
    const int requests = requests_in(grid);
    return {step / requests % kOwners, step % requests, step / requests / kOwners};
}

}  // namespace

Owner owner_named(int index) { return Owner(std::string(1, static_cast<char>('a' + index))); }

LockState unpacked(Key key, const Grid& grid) {
    LockState state;
    Unpacking from(key);
    state.known = from.take(2) == 1;
    if (!state.known) return state;
    state.last_epoch = kCurrent;
    if (from.take(2) == 1) state.hold = take_hold(from, grid);
    const int waiting = static_cast<int>(from.take(kOwners));
    for (int i = 0; i < waiting; ++i) {
        const Instant heard = from.take_age(grid);
        state.queue.push_back({owner_named(i + 1), {}, {}, {}, grid.lease, grid.maximum_hold, kNow - 600s, heard});
    }
    for (int owner = 0; owner < kOwners; ++owner) add_ending(state, owner, static_cast<Remembered>(from.take(5)));
    return state;
}

std::optional<Key> packed(const LockState& state, Instant now, const Grid& grid, Names& names) {
    names = naming(state, now);
    Packing to;
    to.put(state.known ? 1 : 0, 2);
    if (!state.known) return to.value();
    to.put(state.hold ? 1 : 0, 2);
    if (state.hold) {
        to.put(state.hold->claimed_at ? 1 : 0, 2);
        to.put(state.hold->accepted_at ? 1 : 0, 2);
        to.put_age(state.hold->granted_at, now, grid);
        to.put_age(state.hold->last_feedback, now, grid);
        const auto& binding = state.hold->binding;
        if (grid.grants == Grants::Bound) to.put(!binding ? 0 : binding->group == 0 ? 1 : 2, 3);
    }
    to.put(state.queue.size(), kOwners);
    for (const Waiter& waiter : state.queue) to.put_age(waiter.last_heard, now, grid);
    for (const int owner : names) to.put(static_cast<Key>(remembered(state, owner_named(owner), now)), 5);
    return to.value();
}

bool is_double(const LockState& state, int owner) {
    const int busy = static_cast<int>(state.queue.size()) + (state.hold ? 1 : 0);
    return owner > busy &&
           remembered(state, owner_named(owner), kNow) == remembered(state, owner_named(owner - 1), kNow);
}

int namings_of(const LockState& state) {
    int alike = 1;
    int divisor = 1;
    for (int owner = 0; owner < kOwners; ++owner) {
        alike = is_double(state, owner) ? alike + 1 : 1;
        divisor *= alike;
    }
    return 6 / divisor;
}

Duration tick_of(int action, const Grid& grid) {
    return action == 0 ? grid.tick : action == 1 ? Duration{600s} : Duration{24h};
}

int requests_in(const Grid& grid) { return grid.grants == Grants::Free ? kRequests : kRequests + kRequestsOfRuns; }

int actions_in(const Grid& grid) {
    return kTicks + kOwners * requests_in(grid) * (grid.grants == Grants::Free ? 1 : kEvidences);
}

int owner_of(int action, const Grid& grid) { return step_of(action, grid).owner; }

Request request_of(int action, const LockState& state, const Grid& grid) {
    const Step step = step_of(action, grid);
    const Owner owner = owner_named(step.owner);
    return {owner, action_of(step.kind, state, owner, grid), binding_of(step.kind), {}};
}

Evidence evidence_of(int action, const LockState& state, const Grid& grid) {
    if (step_of(action, grid).evidence == 0) return {};
    const bool bound = state.hold && state.hold->binding;
    return {bound ? state.hold->epoch : Epoch{kFirstEndedEpoch}};
}

std::string words_of(int action, const Grid& grid) {
    const Step step = step_of(action, grid);
    return kWords[step.kind] + std::string(step.evidence == 0 ? "" : " (proof: the process is gone)");
}

}  // namespace hagi::test
