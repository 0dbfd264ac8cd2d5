#include "tests/stress/guarded_counter.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "platform/unique_fd.hpp"

namespace hagi::test {

GuardedCounter::GuardedCounter(std::string path, Guard guard) : path_(std::move(path)), guard_(guard) {}

// Each use is whole: under a lock, and one write of the same length, so that a kill leaves the old or the new.
template <class Use>
auto GuardedCounter::use(const Use& use) const {
    const UniqueFd file(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file || ::flock(file.get(), LOCK_EX) != 0) throw std::runtime_error("no counter " + path_);
    Count count;
    const ssize_t got = ::pread(file.get(), &count, sizeof count, 0);
    if (got != 0 && got != sizeof count) throw std::runtime_error("a counter that is not whole: " + path_);
    const auto result = use(count);
    if (::pwrite(file.get(), &count, sizeof count, 0) != sizeof count)
        throw std::runtime_error("the counter cannot be written: " + path_);
    return result;
}

std::optional<std::int64_t> GuardedCounter::read(std::int64_t epoch) const {
    return use([&](Count& count) -> std::optional<std::int64_t> {
        if (guard_ == Guard::ComparesEpochs && epoch < count.highest_epoch) return ++count.refused, std::nullopt;
        count.highest_epoch = std::max(count.highest_epoch, epoch);
        return count.value;
    });
}

bool GuardedCounter::write(std::int64_t epoch, std::int64_t value) const {
    return use([&](Count& count) {
        if (guard_ == Guard::ComparesEpochs && epoch < count.highest_epoch) return ++count.refused, false;
        count.highest_epoch = std::max(count.highest_epoch, epoch);
        count.value = value;
        ++count.writes;
        return true;
    });
}

GuardedCounter::Count GuardedCounter::count() const {
    return use([](const Count& count) { return count; });
}

}  // namespace hagi::test
