// A resource as the protocol wants it: it compares epochs. A number that each turn reads, thinks about and writes back
// greater by one; whoever comes with an epoch below one that was seen here is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hagi::test {

class GuardedCounter {
public:
    enum class Guard { ComparesEpochs, Trusts };

    // The file is made where it is missing; many processes use it at once.
    explicit GuardedCounter(std::string path, Guard guard = Guard::ComparesEpochs);

    // Absent: refused, the epoch is stale.
    [[nodiscard]] std::optional<std::int64_t> read(std::int64_t epoch) const;
    // False: refused.
    [[nodiscard]] bool write(std::int64_t epoch, std::int64_t value) const;

    // What became of it: were all writers alone, the value is how often it was written.
    struct Count {
        std::int64_t highest_epoch = 0;
        std::int64_t value = 0;
        std::int64_t writes = 0;
        std::int64_t refused = 0;
    };
    [[nodiscard]] Count count() const;

private:
    template <class Use>
    auto use(const Use& use) const;

    std::string path_;
    Guard guard_;
};

}  // namespace hagi::test
