#include "tests/faults/scarce_memory.hpp"

#include <sqlite3.h>
#include <sys/mman.h>

#include <cstdlib>
#include <limits>
#include <new>
#include <stdexcept>

namespace hagi::test {
namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

struct State {
    Asking asking;
    std::size_t nth;
    Lasting lasting;
    std::size_t requests;
    bool refused;
};
State* state = nullptr;  // in memory that is shared with child processes
bool armed = false;      // which this is not: a child that ends leaves its parent in peace

bool refuses(Asking asking) {
    if (!armed || state->asking != asking) return false;
    const std::size_t request = ++state->requests;
    const bool refuse = request == state->nth || (request > state->nth && state->lasting == Lasting::ForEver);
    state->refused = state->refused || refuse;
    return refuse;
}

sqlite3_mem_methods real;

void* scarce_malloc(int size) { return refuses(Asking::Sqlite) ? nullptr : real.xMalloc(size); }
void* scarce_realloc(void* memory, int size) { return refuses(Asking::Sqlite) ? nullptr : real.xRealloc(memory, size); }

}  // namespace

ScarceMemory::ScarceMemory(Asking asking, std::size_t nth, Lasting lasting) {
    *state = {asking, nth == 0 ? kNever : nth, lasting, 0, false};
    armed = true;
}

ScarceMemory::~ScarceMemory() { armed = false; }

std::size_t ScarceMemory::requests() { return state->requests; }
bool ScarceMemory::refused() { return state->refused; }

void ScarceMemory::prepare() {
    void* const shared = ::mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::runtime_error("no memory to share");
    state = new (shared) State{};
    // Without the store of small pieces that each connection keeps, every request is seen.
    const bool placed = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real) == SQLITE_OK &&
                        sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) == SQLITE_OK;
    sqlite3_mem_methods scarce = real;
    scarce.xMalloc = scarce_malloc;
    scarce.xRealloc = scarce_realloc;
    if (!placed || sqlite3_config(SQLITE_CONFIG_MALLOC, &scarce) != SQLITE_OK)
        throw std::runtime_error("SQLite is in use already");
}

}  // namespace hagi::test

void* operator new(std::size_t size) {
    void* const memory = hagi::test::refuses(hagi::test::Asking::Program) ? nullptr : std::malloc(size > 0 ? size : 1);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
