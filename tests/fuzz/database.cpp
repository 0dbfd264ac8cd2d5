// A store whose bytes were changed: every four bytes of the input are a place (three bytes) and what is written there;
// an input that begins as a database does is one. Whatever the file is, it is refused or answered for, without a crash,
// and no defect is reported where the file is to blame.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "lockcore/sqlite/connection.hpp"
#include "lockcore/sqlite/engine.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_witness.hpp"

namespace hagi::test {
namespace {

class SilentSignal : public ChangeSignal {
public:
    class SilentListener : public Listener {
    public:
        void arm() override {}
        void sleep(Duration, const Interrupts&) override {}
    };
    std::unique_ptr<Listener> listen(const LockId&, const Owner&) override {
        return std::make_unique<SilentListener>();
    }
    void ring(const LockId&, const Owner&) noexcept override {}
};

struct Bench {
    FakeClock clock;
    SilentSignal signal;
    FakeWitness witness;
    SqliteOptions options;

    Bench() {
        options.path = "/dev/shm/hagi-fuzz-" + std::to_string(::getpid()) + ".db";
        options.busy_timeout = 0ms;
    }
    ~Bench() { clear(); }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    void clear() const {
        for (const char* const suffix : {"", "-wal", "-shm", "-journal", "-gate"})
            std::filesystem::remove(options.path + suffix);
    }
    Result<std::unique_ptr<Engine>> open(SqliteOptions::Access access) {
        options.access = access;
        return open_sqlite_engine(options, clock, signal, witness);
    }
};

// A store in which there is some of everything.
std::string sound_image() {
    Bench bench;
    {
        auto engine = bench.open(SqliteOptions::Access::Create);
        require(engine.ok(), "no store to begin with");
        AcquireRequest request;
        request.label = Label("label");
        request.progress = {Phase("phase"), Note("note")};
        for (const char* const lock : {"a", "b"})
            for (const char* const owner : {"holder", "first", "second"})
                require((*engine)->submit(LockId(lock), {Owner(owner), request}).ok(), "no such request");
        const Request asked{Owner("first"), NudgeRequest{Reason("reason")}};
        require((*engine)->submit(LockId("a"), asked).ok(), "no nudge");
        require((*engine)->submit(LockId("b"), {Owner("second"), RequisitionRequest{Reason("r"), {}, {}}}).ok(),
                "no order");
    }
    auto connection = sqlite::Connection::open(bench.options.path, sqlite::OpenMode::ReadWrite);
    require(connection.ok(), "no connection");
    Result<std::string> image = (*connection)->serialized();
    require(image.ok(), "no image");
    return *std::move(image);
}

std::string mutated(const std::string& input) {
    static const std::string kSound = sound_image();
    if (input.starts_with("SQLite format 3")) return input;
    std::string image = kSound;
    for (std::size_t i = 0; i + 4 <= input.size(); i += 4) {
        const auto byte = [&](std::size_t nth) { return static_cast<unsigned char>(input[i + nth]); };
        const std::size_t place = (std::size_t{byte(0)} << 16U) | (std::size_t{byte(1)} << 8U) | byte(2);
        image[place % image.size()] = input[i + 3];
    }
    return image;
}

template <class Told>
void check(const Result<Told>& told) {
    if (told) return;
    require(told.error().kind != ErrorKind::Defect, "a defect: " + told.error().message);
    require(told.error().message.find('\n') == std::string::npos, "an error of two lines");
}

}  // namespace
}  // namespace hagi::test

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hagi;
    using namespace hagi::test;
    static Bench bench;
    const std::string image = mutated({reinterpret_cast<const char*>(data), size});
    bench.clear();
    std::ofstream(bench.options.path, std::ios::binary) << image;

    for (const auto access : {SqliteOptions::Access::ReadOnly, SqliteOptions::Access::Existing}) {
        auto engine = bench.open(access);
        check(engine);
        if (!engine) continue;
        check((*engine)->list({"", true}));
        check((*engine)->read_log({}));
        if (access == SqliteOptions::Access::ReadOnly) continue;
        for (const char* const lock : {"a", "b", "c"}) {
            check((*engine)->submit(LockId(lock), {Owner("holder"), StatusRequest{}}));
            const auto answer = (*engine)->submit(LockId(lock), {Owner("newcomer"), AcquireRequest{}});
            check(answer);
            if (answer && answer->status == Status::Holding) require(answer->hold->epoch > Epoch{0}, "no epoch");
            check((*engine)->submit(LockId(lock), {Owner("holder"), ReleaseRequest{}}));
        }
    }
    return 0;
}
