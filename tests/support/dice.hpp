// Chance for tests: seeded, so that a failure can be repeated. HAGI_TEST_SEED chooses the seed, HAGI_TEST_LONG (1)
// makes a random test long; whoever throws dice prints the seed.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace hagi::test {

inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

inline bool is_long_run() { return number_from("HAGI_TEST_LONG", 0) != 0; }

class Dice {
public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}

    std::int64_t roll(std::int64_t sides) { return std::uniform_int_distribution<std::int64_t>(0, sides - 1)(engine_); }
    bool one_in(std::int64_t n) { return roll(n) == 0; }

    template <class T>
    T pick(std::initializer_list<T> values) {
        return *(values.begin() + roll(static_cast<std::int64_t>(values.size())));
    }
    template <class T>
    std::optional<T> maybe(T value) {
        return one_in(3) ? std::optional(std::move(value)) : std::nullopt;
    }
    std::string bytes(std::size_t count) {
        std::string bytes(count, '\0');
        for (char& byte : bytes) byte = static_cast<char>(roll(256));
        return bytes;
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace hagi::test
