// Plays golden/*.txt: commands with every byte that they print and their exit codes. A line is
//
//     $ hagi ...             a command; what follows up to `exit N` is expected of it: stdout as it is, stderr after
//                            `! `, and `+15s ` before what is printed so long after the start of the command
//     @ ...                  what happens beside it; see Player::obey
//     # ...                  a comment
//
// HAGI_UPDATE_GOLDEN=1 rewrites the files with what is printed now: read the difference before you commit it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "tests/cli/world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/terminal_text.hpp"

namespace hagi::test {
namespace {

using Words = std::vector<std::string>;

// ---- Reading ----

// As a shell would: '...' and "..." quote; $'...' also knows \n, \t, \e and \xHH.
class Splitter {
public:
    explicit Splitter(const std::string& line) : line_(line) {}

    Words words() {
        for (; at_ < line_.size(); ++at_) take(line_[at_]);
        end_word();
        return std::move(words_);
    }

private:
    void take(char c) {
        if (c == ' ') return end_word();
        in_word_ = true;
        const bool with_escapes = c == '$' && at_ + 1 < line_.size() && line_[at_ + 1] == '\'';
        if (with_escapes) ++at_;
        if (with_escapes || c == '\'' || c == '"') return take_quoted(line_[at_], with_escapes);
        word_ += c;
    }

    void take_quoted(char quote, bool with_escapes) {
        for (++at_; line_.at(at_) != quote; ++at_) word_ += with_escapes && line_[at_] == '\\' ? escape() : line_[at_];
    }

    char escape() {
        switch (line_.at(++at_)) {
            case 'n': return '\n';
            case 't': return '\t';
            case 'e': return '\x1b';
            case 'x': at_ += 2; return static_cast<char>(std::stoi(line_.substr(at_ - 1, 2), nullptr, 16));
            default: return line_[at_];
        }
    }

    void end_word() {
        if (in_word_) words_.push_back(std::exchange(word_, {}));
        in_word_ = false;
    }

    const std::string& line_;
    std::size_t at_ = 0;
    std::string word_;
    bool in_word_ = false;
    Words words_;
};

Duration seconds(const std::string& text) { return Duration{static_cast<Duration::rep>(std::stod(text) * 1000)}; }

Error error_of(const std::string& kind, const std::string& message) {
    static const std::map<std::string, ErrorKind> kKinds = {
        {"Unreachable", ErrorKind::Unreachable}, {"Gone", ErrorKind::Gone},
        {"Damaged", ErrorKind::Damaged},         {"Unusable", ErrorKind::Unusable},
        {"NotFound", ErrorKind::NotFound},       {"PermissionDenied", ErrorKind::PermissionDenied},
        {"Defect", ErrorKind::Defect},
    };
    return {kKinds.at(kind), message};
}

// `acquire LOCK OWNER [LABEL [PHASE [NOTE]]]` or `requisition LOCK OWNER REASON`.
void plant(World& world, const Words& words) {
    const auto text = [&](std::size_t i) { return i < words.size() ? words[i] : std::string(); };
    const LockId lock_id(words.at(1));
    const Owner owner(words.at(2));
    if (words.at(0) == "requisition")
        return world.plant(lock_id, {owner, RequisitionRequest{Reason(text(3)), Label(), {}}});
    AcquireRequest request;
    request.label = Label(text(3));
    request.progress = {Phase(text(4)), Note(text(5))};
    world.plant(lock_id, {owner, request});
}

// ---- Judging ----

// In a table of tabs they divide; everywhere else a terminal obeys them.
enum class Tabs { Obeyed, Divide };
bool is_obeyed_in(std::string line, Tabs tabs) {
    if (tabs == Tabs::Divide) line.erase(std::remove(line.begin(), line.end(), '\t'), line.end());
    return is_obeyed(line);
}

// ---- Playing ----

class Player {
public:
    // What the file would be if it were written now.
    std::string play(std::istream& script) {
        std::vector<std::string> lines;
        for (std::string line; std::getline(script, line);) lines.push_back(line);
        std::string played;
        for (auto line = lines.cbegin(); line != lines.cend(); ++line) {
            played += *line + "\n";
            if (line->starts_with("@ ")) obey(Splitter(line->substr(2)).words());
            if (line->starts_with("$ ")) {
                played += command(*line);
                line = last_expected(line, lines.cend());
            }
        }
        return played;
    }

private:
    using Line = std::vector<std::string>::const_iterator;

    // A command that was just written into the file expects nothing yet.
    static Line last_expected(Line command, Line end) {
        for (Line line = command + 1; line != end && !line->starts_with("$ ") && !line->starts_with("@ "); ++line)
            if (line->starts_with("exit ")) return line;
        return command;
    }

    static Words without_program(const Words& words) {
        if (words.at(0) != "hagi") throw std::runtime_error("not a command of hagi: " + words[0]);
        return {words.begin() + 1, words.end()};
    }

    void obey(const Words& words) {
        const std::string& what = words.at(0);
        const Words rest(words.begin() + 1, words.end());
        if (what == "fresh") {  // nothing was ever locked
            world_ = std::make_unique<World>();
        } else if (what == "advance") {  // SECONDS
            world_->advance(seconds(rest.at(0)));
        } else if (what == "set") {  // NAME VALUE
            world_->environment()[rest.at(0)] = rest.at(1);
        } else if (what == "unset") {  // NAME
            world_->environment().erase(rest.at(0));
        } else if (what == "columns") {  // N, or none: how wide the terminal is that shows stdout
            world_->set_columns(rest.at(0) == "none" ? std::nullopt : std::optional(std::stoul(rest.at(0))));
        } else if (what == "plant") {  // behind the command line's back
            plant(*world_, rest);
        } else {
            plan(what, rest);
        }
    }

    static ScreenSize size_of(const Words& words, std::size_t first) {
        return {std::stoul(words.at(first)), std::stoul(words.at(first + 1))};
    }

    // What happens to the next command.
    void plan(const std::string& what, const Words& rest) {
        if (what == "at") {  // SECONDS [silently] hagi ...: silently wakes nobody
            const bool silently = rest.at(1) == "silently";
            const Words words = without_program({rest.begin() + (silently ? 2 : 1), rest.end()});
            world_->plan(seconds(rest.at(0)), silently ? World::Sleeper::SleepsOn : World::Sleeper::Wakes,
                         [this, words] { world_->run_beside(words); });
        } else if (what == "wall") {  // SECONDS BY: the wall clock is stepped by so many seconds
            const Duration by = seconds(rest.at(1));
            world_->plan(seconds(rest.at(0)), World::Sleeper::SleepsOn, [this, by] { world_->step_wall(by); });
        } else if (what == "stop") {  // SECONDS
            world_->plan_stop(seconds(rest.at(0)));
        } else if (what == "fail") {  // FROM UNTIL KIND MESSAGE
            world_->plan_failure(seconds(rest.at(0)), seconds(rest.at(1)), error_of(rest.at(2), rest.at(3)));
        } else if (what == "unseen") {  // FROM UNTIL: done, but not answered
            world_->plan_failure(seconds(rest.at(0)), seconds(rest.at(1)),
                                 error_of("Unreachable", "the disk failed: look at it"), World::Landed::Unseen);
        } else if (what == "fail-open") {  // KIND MESSAGE
            world_->plan_failed_opening(error_of(rest.at(0), rest.at(1)));
        } else if (what == "created") {
            world_->plan_created_store();
        } else if (what == "replaced") {
            world_->plan_replaced_store();
        } else if (what == "screen") {  // COLUMNS ROWS: a terminal to draw on
            world_->plan_screen(size_of(rest, 0));
        } else if (what == "resize") {  // SECONDS COLUMNS ROWS
            world_->plan_resize(seconds(rest.at(0)), size_of(rest, 1));
        } else if (what == "type") {  // SECONDS BYTES
            world_->plan_keys(seconds(rest.at(0)), rest.at(1));
        } else if (what == "hang-up") {  // SECONDS
            world_->plan_hang_up(seconds(rest.at(0)));
        } else if (what == "closed") {
            world_->plan_closed_output();
        } else {
            throw std::runtime_error("no such line: @ " + what);
        }
    }

    std::string command(const std::string& line) {
        INFO(line);
        const Words words = without_program(Splitter(line.substr(2)).words());
        const Ran ran = world_->run(words);
        const bool json = std::find(words.begin(), words.end(), "--json") != words.end() ||
                          std::find(words.begin(), words.end(), "json") != words.end();
        const Tabs tabs = std::find(words.begin(), words.end(), "tsv") != words.end() ? Tabs::Divide : Tabs::Obeyed;
        return shown(ran.out, "", json, tabs) + shown(ran.err, "! ", false, Tabs::Obeyed) +
               fmt::format("exit {}\n", ran.exit_code);
    }

    static std::string shown(const std::vector<Written>& written, const std::string& mark, bool json, Tabs tabs) {
        std::string text;
        for (const Written& piece : written) {
            CHECK(piece.text.ends_with('\n'));
            std::istringstream lines(piece.text);
            const auto after = std::chrono::duration<double>(piece.after).count();
            const std::string time = piece.after == Duration::zero() ? "" : fmt::format("+{}s ", after);
            for (std::string line; std::getline(lines, line);) {
                INFO(line);
                CHECK(!is_obeyed_in(line, tabs));
                if (json) CHECK(is_json(line));
                text += mark + time + line + "\n";
            }
        }
        return text;
    }

    std::unique_ptr<World> world_ = std::make_unique<World>();
};

std::string contents(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// Line by line, so that a failure names the first that differs and not the whole file.
void compare(const std::string& expected, const std::string& played) {
    std::istringstream expected_lines(expected);
    std::istringstream played_lines(played);
    std::string command;
    for (int number = 1;; ++number) {
        std::string wanted;
        std::string got;
        const bool more_wanted = static_cast<bool>(std::getline(expected_lines, wanted));
        const bool more_got = static_cast<bool>(std::getline(played_lines, got));
        if (!more_wanted && !more_got) return;
        if (got.starts_with("$ ")) command = got;
        INFO("line " << number << ", of " << command);
        REQUIRE(got == wanted);
        REQUIRE(more_got == more_wanted);
    }
}

TEST_CASE("every command prints what its golden file says") {
    const bool update = std::getenv("HAGI_UPDATE_GOLDEN") != nullptr;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(HAGI_GOLDEN_FOLDER)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    REQUIRE(!files.empty());
    for (const auto& file : files) {
        DYNAMIC_SECTION(file.stem().string()) {
            const std::string expected = contents(file);
            std::istringstream script(expected);
            const std::string played = Player().play(script);
            if (update)
                std::ofstream(file) << played;
            else
                compare(expected, played);
        }
    }
}

}  // namespace
}  // namespace hagi::test
