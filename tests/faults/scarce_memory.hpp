// Memory that runs out: the n-th request for some fails, once or from then on. It stands for operator new and for
// SQLite's own allocator, of this whole test program.
#pragma once

#include <cstddef>

namespace hagi::test {

enum class Asking { Program, Sqlite };
enum class Lasting { Once, ForEver };

// While one exists, requests are counted and refused. One at a time.
class ScarceMemory {
public:
    ScarceMemory(Asking asking, std::size_t nth, Lasting lasting);
    ~ScarceMemory();
    ScarceMemory(const ScarceMemory&) = delete;
    ScarceMemory& operator=(const ScarceMemory&) = delete;

    [[nodiscard]] static std::size_t requests();  // so far
    [[nodiscard]] static bool refused();          // one was

    // Once, before SQLite is used for the first time. What child processes count is seen here, too.
    static void prepare();
};

}  // namespace hagi::test
