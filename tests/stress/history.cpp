#include "tests/stress/history.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace hagi::test {
namespace {

constexpr std::array kWords = {
    std::pair{Saw::Asked, "asked"},         std::pair{Saw::Queued, "queued"}, std::pair{Saw::Granted, "granted"},
    std::pair{Saw::Entered, "entered"},     std::pair{Saw::Left, "left"},     std::pair{Saw::Lost, "lost"},
    std::pair{Saw::Refused, "refused"},     std::pair{Saw::Taken, "taken"},   std::pair{Saw::Killed, "killed"},
    std::pair{Saw::Abandoned, "abandoned"},
};

Saw saw_from(const std::string& word) {
    for (const auto& [saw, known] : kWords)
        if (word == known) return saw;
    throw std::runtime_error("no such record: " + word);
}

}  // namespace

std::string_view word_for(Saw saw) {
    return std::find_if(kWords.begin(), kWords.end(), [&](const auto& entry) { return entry.first == saw; })->second;
}

Moment moment() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

std::string line_of(const Record& record) {
    std::ostringstream line;
    line << record.at.count() << ' ' << word_for(record.saw) << ' ' << (record.lock.empty() ? "-" : record.lock) << ' '
         << (record.owner.empty() ? "-" : record.owner) << ' ' << record.epoch << ' ' << record.other << ' '
         << record.until.count() << ' ' << record.pid << ' ' << record.parent << '\n';
    return line.str();
}

History::History(std::string path) : fd_(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {
    if (fd_ < 0) throw std::runtime_error("no history " + path);
}

History::~History() { ::close(fd_); }

void History::add(const Record& record) const {
    const std::string line = line_of(record);
    if (::write(fd_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
}

std::vector<Record> read_history(const std::string& path) {
    std::vector<Record> records;
    std::ifstream file(path);
    Moment::rep at = 0, until = 0;
    std::string word;
    for (Record record; file >> at >> word >> record.lock >> record.owner >> record.epoch >> record.other >> until >>
                        record.pid >> record.parent;) {
        record.at = Moment{at};
        record.until = Moment{until};
        record.saw = saw_from(word);
        records.push_back(record);
    }
    if (!file.eof()) throw std::runtime_error("the history is not whole");
    std::stable_sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.at < b.at; });
    return records;
}

}  // namespace hagi::test
