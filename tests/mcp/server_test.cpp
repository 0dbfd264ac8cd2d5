// `hagi mcp` as a process: its stream, its client's end, others on the same store.
#include <csignal>
#include <set>

#include "tests/process/hagi.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

using Json = nlohmann::ordered_json;

class Client {
public:
    explicit Client(const Hagi& hagi, const Words& options = {}) : process_(hagi.start_mcp(options)) {
        const Json hello = ask("initialize", {{"protocolVersion", "2025-11-25"}});
        REQUIRE(hello["result"]["protocolVersion"] == "2025-11-25");
        notify("notifications/initialized", Json::object());
    }

    Process& process() { return *process_; }
    void write(const std::string& line) { process_->write(line + "\n"); }

    // The next message, which must be one whatever else is wrong.
    Json read() {
        const auto line = process_->read_line();
        REQUIRE(line);
        INFO(*line);
        Json message = Json::parse(*line);
        CHECK(message["jsonrpc"] == "2.0");
        return message;
    }

    int send(const std::string& method, const Json& params) {
        write(Json{{"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", method}, {"params", params}}.dump());
        return last_id_;
    }
    void notify(const std::string& method, const Json& params) {
        write(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump());
    }

    // The answer to request `id`; what comes before it is kept as news.
    Json answer_to(int id) {
        for (;;) {
            Json message = read();
            if (message.contains("id") && message["id"] == id) return message;
            news.push_back(std::move(message));
        }
    }
    Json ask(const std::string& method, const Json& params) { return answer_to(send(method, params)); }

    int start_call(const std::string& tool, const Json& arguments, const Json& meta = Json::object()) {
        return send("tools/call", {{"name", tool}, {"arguments", arguments}, {"_meta", meta}});
    }
    Json call(const std::string& tool, const Json& arguments) {
        return answer_to(start_call(tool, arguments))["result"];
    }
    Json done(const std::string& tool, const Json& arguments) {
        const Json result = call(tool, arguments);
        INFO(result.dump());
        REQUIRE(result["isError"] == false);
        return result["structuredContent"];
    }

    // The news of `event`, whenever it comes.
    Json await_news(const std::string& event) {
        for (;;) {
            for (const Json& message : news)
                if (message["method"] == "notifications/message" && message["params"]["data"]["event"] == event)
                    return message["params"];
            news.push_back(read());
        }
    }

    // Its end: nothing more on its stream, and a clean exit.
    void leave() {
        process_->close_input();
        CHECK(process_->rest_of_output().empty());
        CHECK(process_->wait() == 0);
    }

    std::vector<Json> news;

private:
    std::unique_ptr<Process> process_;
    int last_id_ = 0;
};

Json of(const std::string& lock, const std::string& owner) { return {{"lock_id", lock}, {"owner", owner}}; }
Json waiting_for(const std::string& lock, const std::string& owner) {
    Json arguments = of(lock, owner);
    arguments["wait_sec"] = 50;
    return arguments;
}
Json host(const std::string& host_id, const std::string& owner) { return {{"host_id", host_id}, {"owner", owner}}; }

TEST_CASE("whatever is written to it, the server answers with the right error and lives") {
    const Hagi hagi;
    Client client(hagi);
    const auto code = [&](const std::string& line) {
        client.write(line);
        return client.read()["error"]["code"];
    };
    CHECK(code("garbage") == -32700);
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":1,") == -32700);
    CHECK(code("\xff\xfe") == -32700);
    CHECK(code(std::string("\0\0", 2)) == -32700);
    CHECK(code(R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}])") == -32600);
    CHECK(code("[]") == -32600);
    CHECK(code("true") == -32600);
    CHECK(code(std::string(3'000'000, 'x')) == -32600);
    CHECK(code(std::string(30'000, '[')) == -32600);
    CHECK(code(R"({"jsonrpc":"2.0","id":7,"method":"no/such"})") == -32601);
    CHECK(code(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"no_such"}})") == -32602);
    CHECK(code(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":["lock_list"]}})") == -32602);
    CHECK(code(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]})") == -32602);
    const Json wrong_type = client.call("claim_host", {{"host_id", 7}, {"owner", "a"}});
    CHECK(wrong_type["isError"] == true);
    CHECK(wrong_type["content"][0]["text"] == "host_id is not a string: give a text");
    CHECK(client.ask("ping", Json::object())["result"] == Json::object());
    client.leave();
    CHECK(client.process().rest_of_errors().empty());
}

TEST_CASE("the last line needs no newline, and the end of input is the end") {
    const Hagi hagi;
    const auto server = hagi.start_mcp();
    server->write(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
    server->close_input();
    CHECK(server->rest_of_output() == "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    CHECK(server->wait() == 0);
}

TEST_CASE("a signal ends it cleanly, also while calls wait, and what they made is given back") {
    const int signal = GENERATE(SIGTERM, SIGINT, SIGHUP, 0);
    CAPTURE(signal);
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Client client(hagi);
    const Json patient = waiting_for("a", "bob");
    client.start_call("lock_acquire", patient, {{"progressToken", 1}});
    CHECK(client.read()["params"]["message"].get<std::string>().rfind("Queued a place 1 of 1", 0) == 0);

    if (signal != 0) {
        client.process().send(signal);
        CHECK(client.process().wait() == 0);
    } else {
        client.leave();
    }
    CHECK(hagi.json({"list"})["locks"][0]["queue"].empty());
}

TEST_CASE("what one client claims, another server and a shell see, and the other way round") {
    const Hagi hagi;
    Client one(hagi);
    Client other(hagi);
    one.done("claim_host", host("h", "a"));
    CHECK(other.call("claim_host", host("h", "b"))["isError"] == true);
    CHECK(hagi.json({"list"})["locks"][0]["lockId"] == "host/h");
    CHECK(hagi.run({"acquire", "--no-queue", "--lock-id", "host/h", "--owner", "shell"}).code == 29);

    hagi.done({"release", "--lock-id", "host/h", "--owner", "a"});
    CHECK(other.done("claim_host", host("h", "b"))["owner"] == "b");
    const Json lost = one.call("heartbeat_host", host("h", "a"));
    CHECK(lost["isError"] == true);

    const Json status = one.done("lock_status", of("host/h", "b"));
    auto shell = Json::parse(hagi.run({"status", "--lock-id", "host/h", "--owner", "b", "--json"}).out);
    for (const char* moving : {"ageSec", "windows"}) shell[moving] = status[moving];
    CHECK(status == shell);
    one.leave();
    other.leave();
}

TEST_CASE("a call waits for its turn while the server answers others, and tells how far it is") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Client client(hagi);
    const Json patient = waiting_for("a", "bob");
    const int waiting = client.start_call("lock_acquire", patient, {{"progressToken", "turn"}});
    const Json progress = client.read();
    CHECK(progress["method"] == "notifications/progress");
    CHECK(progress["params"]["progressToken"] == "turn");
    CHECK(progress["params"]["total"] == 50);

    CHECK(client.ask("ping", Json::object())["result"] == Json::object());
    CHECK(client.done("lock_status", of("a", "bob"))["status"] == "Queued");
    hagi.done(verb("release", "alice"));
    const Json granted = client.answer_to(waiting)["result"]["structuredContent"];
    CHECK(granted["status"] == "Holding");
    CHECK(granted["epoch"] == 2);
    client.leave();
    CHECK(hagi.json({"list"})["locks"][0]["holder"]["owner"] == "bob");
}

TEST_CASE("a waiting call that is cancelled leaves the queue and is not answered") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Client client(hagi);
    const Json patient = waiting_for("a", "bob");
    const int waiting = client.start_call("lock_acquire", patient, {{"progressToken", 1}});
    client.read();
    client.notify("notifications/cancelled", {{"requestId", waiting}});

    Process next = hagi.start(verb("acquire", "carol", {"--wait"}));
    next.await_line("place 1 of 1");  // bob's place is gone, or about to go
    hagi.done(verb("release", "alice"));
    next.await_line("Holding");
    CHECK(client.done("lock_status", of("a", "bob"))["status"] == "None");
    CHECK(client.news.empty());
    client.leave();
}

TEST_CASE("many calls wait at once, each for its own turn") {
    constexpr int kLocks = 16;
    const Hagi hagi;
    Client client(hagi);
    std::vector<int> calls;
    for (int i = 0; i < kLocks; ++i) {
        const std::string lock = "lock-" + std::to_string(i);
        hagi.done({"acquire", "--lock-id", lock, "--owner", "alice"});
        const Json patient = waiting_for(lock, "bob");
        calls.push_back(client.start_call("lock_acquire", patient));
    }
    const Json one_more = waiting_for("lock-0", "carol");
    CHECK(client.call("lock_acquire", one_more)["isError"] == true);
    for (int i = kLocks - 1; i >= 0; --i) {
        client.done("lock_release", of("lock-" + std::to_string(i), "alice"));
        const Json answer = client.answer_to(calls[static_cast<std::size_t>(i)]);
        CHECK(answer["result"]["structuredContent"]["status"] == "Holding");
    }
    client.leave();
    CHECK(hagi.integrity() == "ok");
}

TEST_CASE("a server that is killed in the middle of calls leaves a store that goes on") {
    const Hagi hagi;
    std::int64_t last_epoch = 0;
    for (int round = 0; round < 10; ++round) {
        CAPTURE(round);
        Client client(hagi);
        for (int i = 0; i < 20; ++i) {
            Json order = of("a", "owner-" + std::to_string(round) + "-" + std::to_string(i));
            order["reason"] = "the next one's turn";
            client.start_call("lock_requisition", order);
        }
        for (int i = 0; i <= round; ++i) client.read();
        client.process().send(SIGKILL);
        client.process().wait();
        const std::int64_t epoch = hagi.json({"list"})["locks"][0]["holder"]["epoch"];
        CHECK(epoch > last_epoch + round);
        CHECK(epoch <= last_epoch + 20);
        last_epoch = epoch;
    }
    Client next(hagi);
    Json order = of("a", "the-last");
    order["reason"] = "order";
    CHECK(next.done("lock_requisition", order)["epoch"] == last_epoch + 1);
    CHECK(hagi.integrity() == "ok");
}

TEST_CASE("of servers and shells at once every grant has an epoch of its own") {
    constexpr int kServers = 4;
    constexpr int kOrders = 20;
    const Hagi hagi;
    std::vector<std::unique_ptr<Client>> servers;
    for (int i = 0; i < kServers; ++i) servers.push_back(std::make_unique<Client>(hagi));
    std::vector<std::pair<Client*, int>> calls;
    std::vector<std::unique_ptr<Process>> shells;
    for (int i = 0; i < kOrders; ++i) {
        const std::string turn = std::to_string(i);
        for (int server = 0; server < kServers; ++server) {
            Json order = of("a", "server-" + std::to_string(server) + "-" + turn);
            order["reason"] = "order";
            Client& client = *servers[static_cast<std::size_t>(server)];
            calls.emplace_back(&client, client.start_call("lock_requisition", order));
        }
        shells.push_back(
            hagi.start_other(Hagi::line(verb("requisition", "shell-" + turn, {"--reason", "order", "--json"}))));
    }
    std::set<std::int64_t> epochs;
    for (const auto& [client, call] : calls)
        epochs.insert(client->answer_to(call)["result"]["structuredContent"]["epoch"].get<std::int64_t>());
    for (const auto& shell : shells) epochs.insert(Json::parse(shell->rest_of_output())["epoch"].get<std::int64_t>());
    CHECK(epochs.size() == (kServers + 1) * kOrders);
    CHECK(*epochs.rbegin() == (kServers + 1) * kOrders);
    for (const auto& client : servers) client->leave();
    CHECK(hagi.integrity() == "ok");
}

TEST_CASE("the place of a waiting call whose server was killed lapses") {
    if (!can_travel()) return;
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Client client(hagi);
    const Json patient = waiting_for("a", "bob");
    client.start_call("lock_acquire", patient, {{"progressToken", 1}});
    client.read();
    client.process().send(SIGKILL);
    CHECK(client.process().wait() == 128 + SIGKILL);
    CHECK(hagi.json({"list"})["locks"][0]["queue"].size() == 1);
    CHECK(hagi.run_later(61, verb("renew", "alice")).code == 0);
    CHECK(hagi.json({"list"})["locks"][0]["queue"].empty());
}

TEST_CASE("a client that does not read keeps the server from nothing but writing") {
    const Hagi hagi;
    Client client(hagi);
    // Some 15 KB each: more than the stream takes.
    for (int i = 0; i < 50; ++i) client.send("tools/list", Json::object());
    client.process().send(SIGTERM);
    CHECK(client.process().wait() == 0);
}

// ---- Kept alive ----

const Words kKeeping{"--heartbeat"};

TEST_CASE("what a client claims is kept alive by its server, and its loss is news") {
    const Hagi hagi;
    Client client(hagi, kKeeping);
    client.done("claim_host", host("h", "a"));
    // The first beat shows itself by the watcher that it leaves.
    while (!client.done("lock_status", of("host/h", "a")).contains("watcher")) {
    }
    CHECK(client.done("lock_status", of("host/h", "a"))["watcher"]["pid"] == client.process().pid());

    hagi.done({"requisition", "--lock-id", "host/h", "--owner", "ann", "--reason", "hotfix"});
    const Json lost = client.await_news("lost");
    CHECK(lost["level"] == "error");
    CHECK(lost["data"]["lockId"] == "host/h");
    CHECK(lost["data"]["message"].get<std::string>().find("hotfix") != std::string::npos);
    client.process().close_input();
    CHECK(client.process().rest_of_errors().find("Lost host/h epoch 1 owner a") != std::string::npos);
    CHECK(client.process().wait() == 0);
}

TEST_CASE("a place is kept, too, and the turn is claimed and told") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Client client(hagi, kKeeping);
    CHECK(client.done("lock_acquire", of("a", "bob"))["status"] == "Queued");
    hagi.done(verb("release", "alice"));
    const Json turn = client.await_news("holding");
    CHECK(turn["level"] == "notice");
    CHECK(turn["data"]["epoch"] == 2);
    while (!client.done("lock_status", of("a", "bob")).contains("watcher")) {
    }
    client.leave();
    CHECK(hagi.json({"list"})["locks"][0]["holder"]["owner"] == "bob");  // left to its lease
}

TEST_CASE("what a client gives back is not kept, and is no news") {
    const Hagi hagi;
    Client client(hagi, kKeeping);
    for (int i = 0; i < 5; ++i) {
        client.done("claim_host", host("h", "a"));
        client.done("release_host", host("h", "a"));
    }
    client.done("lock_acquire", of("a", "x"));
    client.done("lock_acquire", of("a", "y"));
    client.done("lock_release", of("a", "y"));
    client.done("lock_release", of("a", "x"));
    client.leave();
    CHECK(client.news.empty());
    CHECK(client.process().rest_of_errors().empty());
    CHECK(hagi.json({"list"})["locks"].empty());
}

TEST_CASE("a server whose parent has died stops keeping, though its input stays open") {
    const Hagi hagi;
    // The server's input is the test's pipe, which lives on.
    const Words words{"sh", "-c", R"sh(exec 3<&0; "$HAGI_TEST_BINARY" mcp --heartbeat <&3 & echo "server $!"; wait)sh"};
    const auto shell = hagi.start_other(words, Process::Input::Pipe);
    shell->await_line("server ");
    shell->write(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                 "\n");
    shell->await_line("\"result\":{}");
    shell->send(SIGKILL);
    CHECK(shell->rest_of_output().empty());  // which ends only with the server
}

TEST_CASE("a server that keeps nothing outlives its parent") {
    const Hagi hagi;
    const Words words{"sh", "-c", R"sh(exec 3<&0; "$HAGI_TEST_BINARY" mcp <&3 & echo "server $!")sh"};
    const auto shell = hagi.start_other(words, Process::Input::Pipe);
    shell->await_line("server ");
    CHECK(shell->wait() == 0);
    shell->write(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                 "\n");
    shell->await_line("\"result\":{}");
    shell->close_input();
    CHECK(shell->rest_of_output().empty());
}

}  // namespace
}  // namespace hagi::test
