#include "tests/faults/judge.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"

namespace hagi::test {

using Json = nlohmann::json;

constexpr int kTransport = 60;

Words command_in(Form form, Words command) {
    if (form == Form::Document) command.insert(command.begin() + 1, "--json");
    return command;
}

namespace {

// A watcher says everything on stdout, and run on stderr, as they say all else.
bool is_watcher(const Words& command) {
    return command.at(0) == "run" || std::find(command.begin(), command.end(), "--wait") != command.end();
}

bool is_one_line(const std::string& text) {
    return text.find('\n') == text.size() - 1 && text.find(": ") != std::string::npos;
}

// The doctor reports what it could not do among its findings.
bool is_report(const std::string& text) {
    const Json report = Json::parse(text, nullptr, false);
    return report.contains("checks") ? report.at("ok") == false : text.find(" problem") != std::string::npos;
}

void judge_failure(const Stage& stage, const Finished& finished, Form form) {
    CHECK(finished.code == kTransport);
    if (is_report(finished.out)) return;
    const bool watcher = is_watcher(stage.scenario().command);
    const std::string said = finished.out + finished.err;
    CHECK(is_one_line(said));
    if (form == Form::Document) {
        const Json error = Json::parse(said, nullptr, false);
        REQUIRE(error.contains("error"));
        CHECK(error.at("error").at("exitCode") == finished.code);
        if (!watcher) CHECK(finished.err == "");
    } else if (!watcher) {
        CHECK(finished.err.starts_with("hagi: "));
    }
}

}  // namespace

Answered judge_end(const Stage& stage, const Finished& finished, Form form) {
    // run exits as its command did, and says apart what it could not do about the lock.
    const bool runs = stage.scenario().command.at(0) == "run";
    if (finished.code == stage.scenario().code) return runs && !finished.err.empty() ? Answered::No : Answered::Yes;
    judge_failure(stage, finished, form);
    return Answered::No;
}

namespace {

void judge_story(const Stage& stage, const Story& found, Answered answered) {
    CAPTURE(found.locks, found.events);
    CHECK(broken_rule(found) == "");
    CHECK(continues(found, stage.before()));
    CHECK(continues(stage.after(), found));
    if (answered == Answered::Yes)
        CHECK(found == stage.after());
    else if (stage.scenario().steps == 1)
        CHECK((found == stage.before() || found == stage.after()));
}

void judge_repetition(const Stage& stage) {
    const Scenario& scenario = stage.scenario();
    const Finished again = stage.run(scenario.command);
    INFO(again.out << again.err);
    CHECK(again.code == scenario.code);
    if (scenario.again == Scenario::Again::SameEnd) CHECK(stage.story() == stage.after());
}

}  // namespace

void judge_store(const Stage& stage, Answered answered) {
    CHECK(stage.integrity_of_copy() == "ok");
    const Story found = stage.story();
    judge_story(stage, found, answered);
    if (stage.scenario().again != Scenario::Again::NotAsked) judge_repetition(stage);
    // Whoever holds it, an order takes it, and a run that was killed is no obstacle.
    const Finished taken =
        stage.run({"requisition", "--lock-id", "a", "--owner", "probe", "--reason", "the user's order", "--json"});
    INFO(taken.out << taken.err);
    REQUIRE(taken.code == 0);
    CHECK(Json::parse(taken.out).at("epoch").get<std::int64_t>() > greatest_epoch(found, "a"));
}

}  // namespace hagi::test
