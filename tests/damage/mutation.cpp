#include "tests/damage/mutation.hpp"

#include <algorithm>

namespace hagi::test {
namespace {

constexpr std::int64_t kSector = 512;
constexpr std::int64_t kPage = 4096;

struct Range {
    std::int64_t at = 0;
    std::int64_t size = 0;
};

// A whole block, or what there is of it.
Range any_block(const std::string& bytes, std::int64_t size, Dice& dice) {
    const auto whole = static_cast<std::int64_t>(bytes.size());
    const std::int64_t at = dice.roll((whole + size - 1) / size) * size;
    return {at, std::min(size, whole - at)};
}

// Often where a file or a page says how it is to be read.
std::int64_t any_place(const std::string& bytes, Dice& dice) {
    const auto whole = static_cast<std::int64_t>(bytes.size());
    std::int64_t at = dice.roll(whole);
    if (dice.one_in(4)) at = dice.roll(100);
    if (dice.one_in(4)) at = dice.roll(whole) / kPage * kPage + dice.roll(24);
    return std::min(at, whole - 1);
}

std::string change_byte(std::string& bytes, Dice& dice) {
    const std::int64_t at = any_place(bytes, dice);
    char& byte = bytes[static_cast<std::size_t>(at)];
    byte = static_cast<char>(dice.one_in(2) ? byte ^ (1 << dice.roll(8)) : dice.roll(256));
    return "a byte at " + std::to_string(at);
}

std::string spoil(std::string& bytes, std::int64_t size, Dice& dice) {
    const Range range = any_block(bytes, size, dice);
    const auto count = static_cast<std::size_t>(range.size);
    const bool zeros = dice.one_in(2);
    bytes.replace(static_cast<std::size_t>(range.at), count, zeros ? std::string(count, '\0') : dice.bytes(count));
    return std::string(zeros ? "zeros" : "garbage") + " at " + std::to_string(range.at) + "+" + std::to_string(size);
}

std::string copy_page(std::string& bytes, Dice& dice) {
    const Range from = any_block(bytes, kPage, dice);
    const Range to = any_block(bytes, kPage, dice);
    const std::string page = bytes.substr(static_cast<std::size_t>(from.at), static_cast<std::size_t>(from.size));
    bytes.replace(static_cast<std::size_t>(to.at), page.size(), page);
    return "the page at " + std::to_string(from.at) + " also at " + std::to_string(to.at);
}

std::string cut(std::string& bytes, Dice& dice) {
    const std::int64_t at = dice.one_in(2) ? any_place(bytes, dice) : any_block(bytes, kPage, dice).at;
    bytes.resize(static_cast<std::size_t>(at));
    return "cut off at " + std::to_string(at);
}

}  // namespace

std::string mutate(std::string& bytes, Dice& dice) {
    switch (dice.roll(10)) {
        case 0: return spoil(bytes, kSector, dice);
        case 1: return spoil(bytes, kPage, dice);
        case 2: return copy_page(bytes, dice);
        case 3: return cut(bytes, dice);
        case 4: bytes += dice.bytes(static_cast<std::size_t>(dice.pick({1L, 512L, 4096L}))); return "garbage behind";
        default: return change_byte(bytes, dice);
    }
}

}  // namespace hagi::test
