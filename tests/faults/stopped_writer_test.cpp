// A process that was stopped in the middle of a write: in everybody's way, named to all, and no harm to anything.
#include <csignal>

#include "tests/faults/tracer.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

// The tracer is the child of the program here, so that the process is the program itself.
std::unique_ptr<Process> stopped_at(const Hagi& hagi, const Words& command, const Call& call) {
    Words words = disturbed(Hagi::line(command), call, Fault::Stop, "/dev/stdout");
    words.insert(words.begin() + 1, "-D");
    auto process = hagi.start_other(words);
    process->await_line("stopped by SIGSTOP");
    return process;
}

// The last of them: what comes before the log is written sets up its index, which readers need, too.
Call last_of(const Hagi& hagi, const Words& command, const std::string& name) {
    Call last{name, 0};
    for (const Call& call : calls_of(hagi, Hagi::line(command)))
        if (call.name == name) last = call;
    return last;
}

std::string name_of(const Process& process) { return "process " + std::to_string(process.pid()) + " (hagi)"; }

}  // namespace

TEST_CASE("a writer that is stopped is named, keeps no reader away, and goes on as if nothing had been") {
    if (!can_disturb()) return;
    // A page on its way into the log, and the log on its way to the disk.
    const auto* const name = GENERATE("pwrite64", "fdatasync");
    const Hagi hagi;
    hagi.done(verb("acquire", "x"));
    const Call call = last_of(hagi, verb("acquire", "y"), name);
    CAPTURE(call.name, call.nth);
    const auto before = hagi.json({"log"});
    const auto writer = stopped_at(hagi, verb("release", "x"), call);

    for (const Words& words : {verb("renew", "x"), verb("status", "y"), verb("requisition", "z", {"--reason", "r"}),
                               verb("acquire", "z", {"--wait", "--timeout", "0"})}) {
        Words impatient = words;
        impatient.insert(impatient.end(), {"--busy-timeout", "0"});
        const Finished refused = hagi.run(impatient);
        const std::string said = refused.out + refused.err;
        INFO(said);
        CHECK(refused.code == 60);
        CHECK(said.find(name_of(*writer)) != std::string::npos);
        CHECK(said.find('\n') == said.size() - 1);
    }
    CHECK(hagi.json({"log"}) == before);
    CHECK(hagi.json({"list"})["locks"][0]["holder"]["owner"] == "x");
    const Finished examined = hagi.run({"doctor"});
    INFO(examined.out);
    CHECK(examined.code == 60);
    CHECK(examined.out.find("process " + std::to_string(writer->pid())) != std::string::npos);

    writer->send(SIGCONT);
    CHECK(writer->wait() == 0);
    CHECK(hagi.json({"list"})["locks"][0]["holder"]["owner"] == "y");
    CHECK(hagi.run(verb("status", "y")).code == 0);
    CHECK(hagi.run({"doctor"}).code == 0);
    CHECK(hagi.integrity() == "ok");
}

// Nobody can read a log whose index is being made, and whoever makes it holds it meanwhile.
TEST_CASE("who is stopped while it opens the store is named to readers, too") {
    if (!can_disturb()) return;
    const Hagi hagi;
    hagi.done(verb("acquire", "x"));
    const auto opener = stopped_at(hagi, {"list"}, {"pwrite64", 2});
    for (const Words& words : {Words{"list"}, Words{"log"}, verb("renew", "x")}) {
        Words impatient = words;
        impatient.insert(impatient.end(), {"--busy-timeout", "0"});
        const Finished refused = hagi.run(impatient);
        INFO(refused.err);
        CHECK(refused.code == 60);
        CHECK(refused.err.find(name_of(*opener)) != std::string::npos);
    }
    opener->send(SIGCONT);
    CHECK(opener->wait() == 0);
    CHECK(hagi.run({"list"}).code == 0);
}

TEST_CASE("who waits for a stopped writer is served once it goes on") {
    if (!can_disturb()) return;
    const Hagi hagi;
    hagi.done(verb("acquire", "x"));
    const auto writer = stopped_at(hagi, verb("renew", "x"), {"pwrite64", 5});
    Process patient(Hagi::line(verb("acquire", "y", {"--wait", "--busy-timeout", "3600"})),
                    {"PATH=/usr/bin:/bin", "HAGI_LOCK_STORE=" + hagi.store()});
    writer->send(SIGCONT);
    CHECK(writer->wait() == 0);
    patient.await_line("place 1 of 1");
    hagi.done(verb("release", "x"));
    CHECK(patient.wait() == 0);
}

TEST_CASE("in a shared store a stopped writer is named to readers, too, and goes on") {
    if (!can_disturb()) return;
    const Hagi hagi;
    const Words shared{"env", "HAGI_LOCK_FILESYSTEM=shared"};
    const auto in_shared = [&](const Words& command) {
        Words words = Hagi::line(command);
        words.insert(words.begin(), shared.begin(), shared.end());
        return words;
    };
    REQUIRE(hagi.run_other(in_shared(verb("acquire", "x"))).code == 0);
    Words words = disturbed(in_shared(verb("release", "x")), {"fdatasync", 2}, Fault::Stop, "/dev/stdout");
    words.insert(words.begin() + 1, "-D");
    const auto writer = hagi.start_other(words);
    writer->await_line("stopped by SIGSTOP");
    for (const Words& command : {Words{"list"}, Words{"log"}, verb("renew", "x")}) {
        Words impatient = command;
        impatient.insert(impatient.end(), {"--busy-timeout", "0"});
        const Finished refused = hagi.run_other(in_shared(impatient));
        INFO(refused.err);
        CHECK(refused.code == 60);
        CHECK(refused.err.find("process " + std::to_string(writer->pid())) != std::string::npos);
    }
    writer->send(SIGCONT);
    CHECK(writer->wait() == 0);
    CHECK(hagi.run_other(in_shared({"list"})).code == 0);
    CHECK(hagi.run_other(in_shared(verb("acquire", "y"))).code == 0);
    CHECK(hagi.integrity() == "ok");
}

}  // namespace hagi::test
