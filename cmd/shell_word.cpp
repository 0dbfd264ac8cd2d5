#include "cmd/shell_word.hpp"

#include <array>
#include <cstdio>
#include <string_view>

#include "lockcore/names.hpp"

namespace hagi {
namespace {

constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:@+-/";

bool is_plain(char byte) { return kPlain.find(byte) != std::string_view::npos; }

// By a terminal, or by whoever reads line by line.
bool would_be_obeyed(std::string word) {
    std::erase(word, '\\');  // is only doubled
    return escaped(word) != word;
}

std::string in_octal(char byte) {
    std::array<char, 8> digits{};
    std::snprintf(digits.data(), digits.size(), "\\0%03o", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    return digits.data();
}

// What every shell's printf makes of it is the word; nothing of it is in sight.
std::string printed_by_the_shell(const std::string& word) {
    std::string octal;
    for (const char byte : word) octal += is_plain(byte) ? std::string(1, byte) : in_octal(byte);
    return "\"$(printf %b '" + octal + "')\"";
}

}  // namespace

std::string shell_word(const std::string& word) {
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
    if (would_be_obeyed(word)) return printed_by_the_shell(word);
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace hagi
