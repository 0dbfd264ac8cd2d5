#include "tests/engine/engine_fixture.hpp"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "lockcore/words.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

namespace fs = std::filesystem;

class SilentListener : public Listener {
public:
    void arm() override {}
    void sleep(Duration, const Interrupts&) override {}
};

std::string place_for_folders() {
    if (const char* chosen = std::getenv("TMPDIR")) return chosen;
    return fs::is_directory("/dev/shm") ? "/dev/shm" : "/tmp";
}

std::string option(std::istringstream& words) {
    std::string word;
    words >> word;
    return word.substr(word.find('=') + 1);
}

std::string shown(ErrorKind kind) {
    static const std::map<ErrorKind, std::string> kNames = {
        {ErrorKind::InvalidArgument, "InvalidArgument"},
        {ErrorKind::PermissionDenied, "PermissionDenied"},
        {ErrorKind::NotFound, "NotFound"},
        {ErrorKind::Unusable, "Unusable"},
        {ErrorKind::Damaged, "Damaged"},
        {ErrorKind::Unreachable, "Unreachable"},
        {ErrorKind::Gone, "Gone"},
        {ErrorKind::Defect, "Defect"},
    };
    return kNames.at(kind);
}

std::string shown(RefusalCode code) {
    switch (code) {
        case RefusalCode::Conflict: return "Conflict";
        case RefusalCode::LockLost: return "LockLost";
        case RefusalCode::WorkLeaseLost: return "WorkLeaseLost";
        case RefusalCode::NotFound: return "NotFound";
    }
    return "?";
}

std::string shown(const Answer& answer) {
    if (answer.refusal)
        return "refused " + shown(answer.refusal->code) +
               (answer.refusal->cause ? " " + std::string(word_for(*answer.refusal->cause)) : "");
    std::string text(word_for(answer.status));
    if (answer.status == Status::Holding) text += " #" + std::to_string(answer.hold->epoch.value);
    if (answer.status == Status::Queued)
        text += " " + std::to_string(answer.position) + "/" + std::to_string(answer.queue_length);
    if (answer.ending) text += " " + std::string(word_for(answer.ending->cause));
    if (answer.released) text += ", released " + std::string(word_for(*answer.released));
    return text;
}

}  // namespace

TempFolder::TempFolder() : path_(place_for_folders() + "/hagi-engine-XXXXXX") {
    if (!::mkdtemp(path_.data())) throw std::runtime_error("no folder for the test: " + path_);
}

TempFolder::~TempFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

std::vector<std::string> TempFolder::files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

std::unique_ptr<Listener> RecordingSignal::listen(const LockId&, const Owner&) {
    return std::make_unique<SilentListener>();
}

std::unique_ptr<Engine> StoreFixture::open() {
    auto engine = try_open();
    if (!engine) FAIL(engine.error().message);
    return std::move(*engine);
}

std::unique_ptr<Engine> StoreFixture::open(SqliteOptions::Access access) {
    options.access = access;
    return open();
}

std::string query(const std::string& path, const std::string& sql) {
    sqlite3* handle = nullptr;
    sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr);
    // As the engine does it, so that the look from outside leaves the log where it is.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    std::string rows;
    const auto add_row = [](void* into, int columns, char** values, char**) {
        auto& text = *static_cast<std::string*>(into);
        if (!text.empty()) text += '\n';
        for (int i = 0; i < columns; ++i) text += (i ? "|" : "") + std::string(values[i] ? values[i] : "");
        return 0;
    };
    char* message = nullptr;
    sqlite3_exec(handle, sql.c_str(), add_row, &rows, &message);
    if (message) rows += std::string("error: ") + message;
    sqlite3_free(message);
    sqlite3_close(handle);
    return rows;
}

Request request_from(std::string_view text) {
    std::istringstream words{std::string(text)};
    std::string owner, verb;
    words >> owner >> verb;
    const std::string value = option(words);
    const auto epoch = value.empty() ? std::nullopt : std::optional(Epoch{std::stoll(value)});
    if (verb == "acquire") return {Owner(owner), AcquireRequest{}};
    if (verb == "no-queue") return {Owner(owner), AcquireRequest{{}, {}, {}, {}, WhenHeld::Refuse}};
    if (verb == "status") return {Owner(owner), StatusRequest{}};
    if (verb == "renew") return {Owner(owner), RenewRequest{epoch, {}, {}}};
    if (verb == "accept") return {Owner(owner), AcceptRequest{epoch, {}}};
    if (verb == "release") return {Owner(owner), ReleaseRequest{epoch}};
    if (verb == "requisition") return {Owner(owner), RequisitionRequest{Reason("by order"), {}, epoch}};
    if (verb == "give-up") return {Owner(owner), GiveUpRequest{}};
    if (verb == "stop") return {Owner(owner), StopRequest{Reason("by order"), epoch}};
    if (verb == "nudge") return {Owner(owner), NudgeRequest{Reason("please")}};
    throw std::invalid_argument("no such request: " + std::string(text));
}

Result<Answer> submit(Engine& engine, std::string_view request, std::string_view lock_id) {
    return engine.submit(LockId(std::string(lock_id)), request_from(request));
}

std::string in_words(const Result<Answer>& answer) {
    return answer ? shown(*answer) : "error " + shown(answer.error().kind);
}

std::string ask(Engine& engine, std::string_view request) { return in_words(submit(engine, request)); }

std::string read_file(const std::string& path) {
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    return bytes.str();
}

void write_file(const std::string& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

int in_child(const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

}  // namespace hagi::test
