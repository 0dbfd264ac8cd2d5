#include "tests/bench/peers.hpp"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "platform/unique_fd.hpp"

namespace hagi::test {
namespace {

using namespace std::chrono_literals;

std::optional<std::string> find_if_installed(const std::string& name, const std::string& package) {
    try {
        return find_program(name);
    } catch (const std::exception&) {
        fmt::print("left out: {} is not installed (`./dev bench --peers` installs {})\n", name, package);
        return std::nullopt;
    }
}

// A port that was free a moment ago.
std::string free_port() {
    const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const general = reinterpret_cast<sockaddr*>(&address);  // NOLINT(*-reinterpret-cast): as bind(2) wants it
    if (::bind(socket.get(), general, size) != 0 || ::getsockname(socket.get(), general, &size) != 0)
        cannot_measure("no free port");
    return std::to_string(ntohs(address.sin_port));
}

// A server that is ended as it wants to be, and is gone before its folder is.
class Server {
public:
    Server(const Arguments& arguments, int stop_signal) : child_(silenced(arguments)), stop_signal_(stop_signal) {}
    ~Server() {
        ::kill(child_.pid(), stop_signal_);
        try {
            child_.wait();
        } catch (const std::exception&) {  // then it is gone already
        }
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Until `probe` succeeds.
    void await(const Arguments& probe) const {
        const auto end = std::chrono::steady_clock::now() + 30s;
        while (Child(silenced(probe)).wait() != 0) {
            if (std::chrono::steady_clock::now() > end) cannot_measure(probe.front() + " finds no server");
            std::this_thread::sleep_for(100ms);
        }
    }

private:
    Child child_;
    int stop_signal_;
};

Candidate served(const char* name, std::shared_ptr<Server> server, std::vector<Arguments> each) {
    return {name, [server = std::move(server), round = commands(std::move(each))] { return round(); }};
}

std::optional<Candidate> etcd(const Programs& programs, const std::string& folder) {
    const auto server = find_if_installed("etcd", "etcd-server");
    const auto client = find_if_installed("etcdctl", "etcd-client");
    if (!server || !client) return std::nullopt;
    const std::string url = "http://127.0.0.1:" + free_port();
    const std::string peer_url = "http://127.0.0.1:" + free_port();
    auto running = std::make_shared<Server>(
        Arguments{*server, "--data-dir", folder + "/etcd", "--log-level", "error", "--listen-client-urls", url,
                  "--advertise-client-urls", url, "--listen-peer-urls", peer_url, "--initial-advertise-peer-urls",
                  peer_url, "--initial-cluster", "default=" + peer_url},
        SIGTERM);
    running->await({*client, "--endpoints", url, "endpoint", "health"});
    return served(peer_names::kEtcd, running, {{*client, "--endpoints", url, "lock", "bench", programs.idle}});
}

// As durable as a grant of hagi's: every change is synced before it is answered.
std::optional<Candidate> redis(const std::string& folder) {
    const auto server = find_if_installed("redis-server", "redis-server");
    const auto client = find_if_installed("redis-cli", "redis-tools");
    if (!server || !client) return std::nullopt;
    const std::string port = free_port();
    auto running = std::make_shared<Server>(Arguments{*server, "--port", port, "--bind", "127.0.0.1", "--dir", folder,
                                                      "--save", "", "--appendonly", "yes", "--appendfsync", "always"},
                                            SIGTERM);
    running->await({*client, "-p", port, "PING"});
    return served(
        peer_names::kRedis, running,
        {{*client, "-p", port, "SET", "bench", "alice", "NX", "PX", "600000"}, {*client, "-p", port, "DEL", "bench"}});
}

// The newest that Debian has; the server and initdb are not in PATH there.
std::optional<std::string> postgres_programs() {
    std::error_code none;
    std::vector<std::string> found;
    for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", none))
        if (std::filesystem::exists(version.path() / "bin/initdb")) found.push_back((version.path() / "bin").string());
    if (!found.empty()) return *std::max_element(found.begin(), found.end());
    fmt::print("left out: no PostgreSQL in /usr/lib/postgresql (`./dev bench --peers` installs postgresql)\n");
    return std::nullopt;
}

// The server refuses to run as root: then as the user whom Debian's package makes. Its folder is that user's.
Arguments as_postgres(const std::string& folder, Arguments command) {
    const passwd* const user = ::geteuid() == 0 ? ::getpwnam("postgres") : nullptr;
    if (user == nullptr) return command;
    if (::chown(folder.c_str(), user->pw_uid, user->pw_gid) != 0) cannot_measure("cannot give away " + folder);
    Arguments words = {find_program("setpriv"), "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"};
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

std::optional<Candidate> postgres() {
    const auto programs = postgres_programs();
    const auto client = find_if_installed("psql", "postgresql");
    if (!programs || !client) return std::nullopt;
    // Where its user can come in, whoever owns the folder of the benchmark.
    std::string place = "/tmp/hagi-bench-pg-XXXXXX";
    if (!::mkdtemp(place.data())) cannot_measure("cannot create a folder in /tmp");
    const std::shared_ptr<const std::string> home(new std::string(place), [](const std::string* path) {
        std::error_code ignored;
        std::filesystem::remove_all(*path, ignored);
        delete path;
    });
    const std::string data = place + "/data";
    run(as_postgres(place, {*programs + "/initdb", "-A", "trust", "-U", "bench", "-D", data}));
    const std::string port = free_port();
    const Arguments words = {*programs + "/postgres", "-D", data, "-k", place, "-p", port, "-c", "listen_addresses="};
    // SIGINT: it lets nobody finish, and exits cleanly. The folder goes after the server.
    auto running = std::shared_ptr<Server>(new Server(as_postgres(place, words), SIGINT),
                                           [home](Server* server) { delete server; });
    const Arguments session = {*client, "-q", "-h", place, "-p", port, "-U", "bench", "-d", "postgres"};
    const auto with = [&](std::initializer_list<std::string> more) {
        Arguments all = session;
        all.insert(all.end(), more);
        return all;
    };
    running->await(with({"-c", "SELECT 1"}));
    // One session: the lock would end with it.
    return served(peer_names::kPostgres, running,
                  {with({"-c", "SELECT pg_advisory_lock(1)", "-c", "SELECT pg_advisory_unlock(1)"})});
}

std::optional<Candidate> sem(const Programs& programs, const std::string& folder) {
    const auto client = find_if_installed("sem", "parallel");
    if (!client) return std::nullopt;
    ::setenv("PARALLEL_HOME", make_folder(folder, "sem").c_str(), 1);
    return Candidate{peer_names::kSem, commands({{*client, "--will-cite", "--fg", "--id", "bench", programs.idle}})};
}

}  // namespace

std::vector<Candidate> make_peers(const Programs& programs, const std::string& folder) {
    std::vector<Candidate> peers;
    for (auto& peer : {etcd(programs, folder), redis(folder), postgres(), sem(programs, folder)})
        if (peer) peers.push_back(peer.value());
    return peers;
}

}  // namespace hagi::test
