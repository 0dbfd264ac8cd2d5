// Why the resource must compare epochs: a lock cannot stop a holder that is paused past its lease in the middle of its
// work. The resource can.
#include "tests/process/hagi.hpp"
#include "tests/stress/guarded_counter.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

using Guard = GuardedCounter::Guard;

std::int64_t epoch_of(const Finished& finished) {
    INFO(finished.out << finished.err);
    REQUIRE(finished.code == 0);
    return nlohmann::json::parse(finished.out).at("epoch");
}

TEST_CASE("a resource that compares epochs refuses a holder that was paused past its lease; one that trusts loses") {
    if (!can_travel()) return;
    const auto guard = GENERATE(Guard::ComparesEpochs, Guard::Trusts);
    const Hagi hagi;
    const GuardedCounter resource(hagi.folder() + "/counter", guard);

    const std::int64_t alice = epoch_of(hagi.run(verb("acquire", "alice", {"--lease-seconds", "30", "--json"})));
    hagi.done(verb("accept", "alice", {"--epoch", std::to_string(alice)}));
    const auto read_by_alice = resource.read(alice);
    REQUIRE(read_by_alice);

    // She is paused here for half a minute, and the lock moves on.
    const std::int64_t bob = epoch_of(hagi.run_later(30, verb("acquire", "bob", {"--json"})));
    CHECK(bob > alice);
    const auto read_by_bob = resource.read(bob);
    REQUIRE(read_by_bob);

    // She wakes in the middle of her work, before he has written, and knows of nothing.
    const bool let_in = resource.write(alice, *read_by_alice + 1);
    REQUIRE(resource.write(bob, *read_by_bob + 1));
    const auto count = resource.count();
    if (guard == Guard::ComparesEpochs) {
        CHECK_FALSE(let_in);
        CHECK(count.value == count.writes);
        CHECK(count.refused == 1);
    } else {
        CHECK(let_in);
        CHECK(count.writes == 2);
        CHECK(count.value == 1);  // one of the two is lost, and nobody was told
    }
}

}  // namespace
}  // namespace hagi::test
