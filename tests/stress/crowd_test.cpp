// What the protocol promises, held against what some hundred real processes see while they are killed and stopped.
#include "tests/stress/crowd.hpp"

#include "tests/support/catch.hpp"

namespace hagi::test {

TEST_CASE("a crowd that is killed, stopped and ordered about sees every promise kept") {
    const Hagi hagi;
    Crowd dead(hagi, {});
    dead.leave_the_dead_behind();

    const Hagi other;
    Crowd crowd(other, measure(std::chrono::seconds{10}, std::chrono::seconds{120}));
    crowd.take_turns();
    const auto complaints = crowd.verdict();
    WARN(crowd.summary());
    for (const std::string& complaint : complaints) FAIL_CHECK(complaint);
    CHECK(other.integrity() == "ok");
    CHECK(other.run({"doctor"}).code == 0);
    for (const auto& lock : other.json({"list", "--all"})["locks"]) CHECK(lock["holder"].is_null());

    dead.await_those_behind_the_dead();
    for (const std::string& complaint : dead.verdict()) FAIL_CHECK(complaint);
}

}  // namespace hagi::test
