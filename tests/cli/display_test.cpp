// The small things behind a table and a live view: how wide a text is, and what a key is.
#include "cmd/display_width.hpp"
#include "cmd/terminal_screen.hpp"
#include "cmd/timestamp.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

TEST_CASE("a text is as wide as a terminal shows it") {
    CHECK(columns_of("") == 0);
    CHECK(columns_of("abc") == 3);
    CHECK(columns_of("\u00e9") == 1);
    CHECK(columns_of("e\u0301") == 1);  // e and a combining accent
    CHECK(columns_of("\u6f22\u5b57") == 4);
    CHECK(columns_of("\uff76\uff9e") == 2);  // half-width
    CHECK(columns_of("\U0001f680") == 2);
    CHECK(columns_of("\u200b") == 0);
    CHECK(columns_of("\xff\xfe") == 2);  // no UTF-8: a column a byte
}

TEST_CASE("a cut text is never wider than it may be, and loses no half of a character") {
    CHECK(cut_to("abcdef", 6) == "abcdef");
    CHECK(cut_to("abcdef", 5) == "abcd\u2026");
    CHECK(cut_to("abcdef", 1) == "\u2026");
    CHECK(cut_to("abcdef", 0).empty());
    CHECK(cut_to("\u6f22\u5b57\u6f22", 5) == "\u6f22\u5b57\u2026");
    CHECK(cut_to("\u6f22\u5b57\u6f22", 4) == "\u6f22\u2026");  // the second would end in the fourth column
    CHECK(cut_to("ae\u0301bc", 3) == "ae\u0301\u2026");        // the accent stays with its letter
    for (std::size_t columns = 0; columns < 12; ++columns)
        CHECK(columns_of(cut_to("a\u6f22e\u0301\U0001f680\u5b57bc", columns)) <= columns);
}

TEST_CASE("a padded text lines up whatever it is made of") {
    CHECK(padded_to("ab", 4, Align::Left) == "ab  ");
    CHECK(padded_to("ab", 4, Align::Right) == "  ab");
    CHECK(padded_to("\u6f22", 4, Align::Left) == "\u6f22  ");
    CHECK(padded_to("abcdef", 4, Align::Left) == "abcdef");
}

TEST_CASE("a length of time for a column is short, and its units tell its size") {
    CHECK(brief_span(std::chrono::milliseconds{-5}) == "0s");
    CHECK(brief_span(std::chrono::seconds{59}) == "59s");
    CHECK(brief_span(std::chrono::seconds{598}) == "9m58s");
    CHECK(brief_span(std::chrono::seconds{3600}) == "1h00m");
    CHECK(brief_span(std::chrono::seconds{86399}) == "23h59m");
    CHECK(brief_span(std::chrono::hours{27}) == "1d03h");
}

std::string kinds(std::string_view bytes) {
    static constexpr std::string_view kNames = "TNBEUDPQHF";
    std::string kinds;
    for (const Key& key : keys_from(bytes)) {
        kinds += kNames.at(static_cast<std::size_t>(key.kind));
        kinds += key.text;
    }
    return kinds;
}

TEST_CASE("what a terminal sends becomes keys") {
    CHECK(kinds("qs/") == "TqTsT/");
    CHECK(kinds("\r\n\x7f\b\x1b") == "NNBBE");
    CHECK(kinds("\x1b[A\x1b[B\x1bOA\x1bOB") == "UDUD");
    CHECK(kinds("\x1b[5~\x1b[6~\x1b[H\x1b[F\x1b[1~\x1b[4~") == "PQHFHF");
    CHECK(kinds("\x1b[1;5Cq\x1b[200~q") == "TqTq");  // keys that mean nothing here
    CHECK(kinds("\x1b[") == "");
    CHECK(kinds("\x01\x0c") == "");
    CHECK(kinds("\u6f22x") == "T\u6f22Tx");
    CHECK(kinds("\xe6\xbc") == "T\xe6\xbc");  // cut off: nothing is read behind the end
}

}  // namespace
}  // namespace hagi::test
