#include "tests/process/hagi.hpp"

#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

// As inherited, but for what hagi would obey.
Words environment_in(const std::string& folder) {
    Words environment;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        if (!text.starts_with("HAGI_") && !text.starts_with("XDG_") && !text.starts_with("HOME="))
            environment.push_back(text);
    }
    environment.push_back("HOME=" + folder);
    environment.push_back("HAGI_LOCK_STORE=" + folder + "/locks.db");
    environment.push_back("HAGI_TEST_BINARY=" HAGI_BINARY);
    return environment;
}

Words joined(Words first, const Words& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

Words below_shell(const std::string& first, const Words& line) {
    return joined({"sh", "-c", first + "; exec \"$@\"", "sh"}, line);
}

Words traveller(int seconds) {
    const std::string by = std::to_string(seconds);
    Words words{"unshare"};
    if (::geteuid() != 0) words.push_back("-Ur");
    return joined(words, {"-f", "-T", "--monotonic", by, "--boottime", by});
}

}  // namespace

Hagi::Hagi() : environment_(environment_in(folder_.path())) {}

Words Hagi::line(const Words& words) { return joined({HAGI_BINARY, "agent", "lock"}, words); }

Process Hagi::start_after(const std::string& first, const Words& words) const {
    return Process(below_shell(first, line(words)), environment_);
}

Finished Hagi::run_after(const std::string& first, const Words& words) const {
    return run_process(below_shell(first, line(words)), environment_);
}

Finished Hagi::run_later(int seconds, const Words& words) const {
    return run_process(joined(traveller(seconds), line(words)), environment_);
}

std::unique_ptr<Process> Hagi::start_mcp(const Words& options) const {
    return std::make_unique<Process>(joined({HAGI_BINARY, "mcp"}, options), environment_, Process::Input::Pipe);
}

void Hagi::done(const Words& words) const {
    const Finished finished = run(words);
    INFO(words.at(0) << ": " << finished.out << finished.err);
    REQUIRE(finished.code == 0);
}

nlohmann::json Hagi::json(const Words& words) const {
    const Finished finished = run(joined(words, {"--json"}));
    INFO(words.at(0) << ": " << finished.out << finished.err);
    REQUIRE(finished.code == 0);
    return nlohmann::json::parse(finished.out);
}

void Hagi::delete_store() const {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(store() + suffix);
}

std::string integrity_of(const std::string& path) {
    sqlite3* database = nullptr;
    sqlite3_stmt* statement = nullptr;
    std::string said = "cannot be asked";
    if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK &&
        sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &statement, nullptr) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        said = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return said;
}

Finished Hagi::run_as_reader(const Words& words) const {
    namespace fs = std::filesystem;
    const fs::path program = fs::path(folder()) / "hagi";
    fs::copy_file(HAGI_BINARY, program, fs::copy_options::skip_existing);
    ::chmod(folder().c_str(), 0755);
    for (const auto& entry : fs::directory_iterator(folder()))
        ::chmod(entry.path().c_str(), entry.path() == program ? 0755 : 0644);
    return run_other(
        joined({"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", program.string(), "agent", "lock"},
               words));
}

void Hagi::change(const std::string& sql) const {
    sqlite3* database = nullptr;
    sqlite3_open_v2(store().c_str(), &database, SQLITE_OPEN_READWRITE, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    const int code = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
    INFO(sql << ": " << sqlite3_errmsg(database));
    sqlite3_close(database);
    REQUIRE(code == SQLITE_OK);
}

bool can_mount() {
    static const bool can = ::geteuid() == 0 && ::unshare(CLONE_NEWNS) == 0 &&
                            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    if (!can) WARN("SKIPPED: needs root, to mount");
    return can;
}

bool can_travel() {
    Words words = traveller(1);
    words.push_back("true");
    const bool can = run_process(words, {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}).code == 0;
    if (!can) WARN("SKIPPED: this machine does not let unshare(1) make a time namespace");
    return can;
}

Words verb(const std::string& name, const std::string& owner, const Words& more) {
    return joined({name, "--lock-id", "a", "--owner", owner}, more);
}

}  // namespace hagi::test
