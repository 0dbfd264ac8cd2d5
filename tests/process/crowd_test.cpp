// Many processes at once, and processes that are killed in the middle of a write.
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <fstream>
#include <memory>

#include "tests/process/hagi.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

// One turn: waits for it, makes sure to be alone, leaves a line, gives it back.
constexpr const char* kTurn = R"sh(
said=$("$HAGI_TEST_BINARY" agent lock acquire --wait --lock-id a --owner "$1" --json) || {
  echo "exit $? of: $said" >&2
  exit 1
}
epoch=$(printf '%s' "$said" | sed -n 's/^{"event":"holding".*"epoch":\([0-9]*\),.*/\1/p')
mkdir "$HOME/inside" || echo "overlap $1" >>"$HOME/trace"
echo "$epoch $1" >>"$HOME/trace"
rmdir "$HOME/inside"
exec "$HAGI_TEST_BINARY" agent lock release --lock-id a --owner "$1" --epoch "$epoch"
)sh";

TEST_CASE("fifty processes at once have one turn each, and never two at a time") {
    constexpr std::size_t kCrowd = 50;
    const Hagi hagi;
    std::vector<std::unique_ptr<Process>> crowd;
    for (std::size_t i = 0; i < kCrowd; ++i)
        crowd.push_back(hagi.start_other({"sh", "-c", kTurn, "sh", "agent-" + std::to_string(i)}));
    for (const auto& process : crowd) {
        const std::string out = process->rest_of_output();
        INFO(out << process->rest_of_errors());
        CHECK(process->wait() == 0);
        CHECK(out.find("released: hold") != std::string::npos);
    }

    std::ifstream trace(hagi.folder() + "/trace");
    std::size_t turns = 0;
    std::int64_t last_epoch = 0;
    std::string owner;
    for (std::int64_t epoch = 0; trace >> epoch >> owner; ++turns) {
        INFO(owner);
        CHECK(epoch > last_epoch);
        last_epoch = epoch;
    }
    CHECK(turns == kCrowd);
    CHECK(trace.eof());
    CHECK(hagi.integrity() == "ok");
}

TEST_CASE("eight processes that find no store make one") {
    const Hagi hagi;
    std::vector<std::unique_ptr<Process>> crowd;
    for (int i = 0; i < 8; ++i)
        crowd.push_back(hagi.start_other(
            Hagi::line({"acquire", "--lock-id", "lock-" + std::to_string(i), "--owner", "x", "--json"})));
    int created = 0;
    for (const auto& process : crowd) {
        const std::string out = process->rest_of_output();
        INFO(out << process->rest_of_errors());
        REQUIRE(process->wait() == 0);
        if (nlohmann::json::parse(out).contains("storeCreated")) ++created;
    }
    CHECK(created == 1);
    CHECK(hagi.json({"list"})["locks"].size() == 8);
}

TEST_CASE("a process that is killed in the middle of a write leaves a store that goes on") {
    const Hagi hagi;
    std::int64_t last_epoch = 0;
    for (int i = 0; i < 50; ++i) {
        CAPTURE(i);
        const auto taker = hagi.start_other(
            Hagi::line(verb("requisition", "owner-" + std::to_string(i), {"--reason", "the next one's turn"})));
        // Where this lands is left to chance; every moment must do.
        const timespec a_moment{0, i * 100'000};
        ::nanosleep(&a_moment, nullptr);
        taker->send(SIGKILL);
        taker->wait();

        const auto locks = hagi.json({"list"})["locks"];
        if (locks.empty()) {
            CHECK(last_epoch == 0);
            continue;
        }
        const std::int64_t epoch = locks[0]["holder"]["epoch"];
        CHECK(epoch >= last_epoch);
        CHECK(epoch <= last_epoch + 1);
        last_epoch = epoch;
    }
    const auto next = hagi.json(verb("requisition", "the-last", {"--reason", "order"}));
    CHECK(next["epoch"] == last_epoch + 1);
    CHECK(hagi.integrity() == "ok");
}

}  // namespace
}  // namespace hagi::test
