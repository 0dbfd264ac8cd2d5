#include "lockcore/clock.hpp"

#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

using namespace std::chrono_literals;

const ClockAnchor kAnchor = {Instant{500'000}, {"boot-1", 1000s, 1'700'000'000s}};

Instant time_at(const char* timeline, Duration steady, Duration wall) {
    return store_time(kAnchor, {timeline, steady, wall});
}

TEST_CASE("on one boot the steady clock counts, whatever the wall clock does") {
    CHECK((time_at("boot-1", 1007s, 1'700'000'007s) == Instant{507'000}));
    CHECK((time_at("boot-1", 1007s, 1'600'000'000s) == Instant{507'000}));
    CHECK((time_at("boot-1", 1007s, 1'800'000'000s) == Instant{507'000}));
    CHECK((time_at("boot-1", 1000001ms, 0s) == Instant{500'001}));
}

TEST_CASE("after a reboot the wall clock counts, never less than zero") {
    CHECK((time_at("boot-2", 3s, 1'700'000'060s) == Instant{560'000}));
    CHECK((time_at("boot-2", 999999s, 1'699'999'999s) == Instant{500'000}));
}

TEST_CASE("two unknown timelines are not the same") {
    const ClockAnchor anchor = {Instant{500'000}, {"", 1000s, 1'700'000'000s}};
    CHECK((store_time(anchor, {"", 9000s, 1'700'000'005s}) == Instant{505'000}));
}

TEST_CASE("the store's time never goes backwards, even if its clock does") {
    CHECK((time_at("boot-1", 10s, 1'700'000'900s) == Instant{500'000}));
}

}  // namespace
}  // namespace hagi::test
