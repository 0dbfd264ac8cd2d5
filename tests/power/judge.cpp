#include "tests/power/judge.hpp"

#include <set>

#include "tests/engine/engine_fixture.hpp"

namespace hagi::test {
namespace {

// The disk keeps what the shared index of the log happened to hold.
void leave_stale_index(const std::string& path, Dice& dice) { write_file(path + "-shm", dice.bytes(32768)); }

// A store that nobody has written to yet: there is only the row about itself.
bool is_new(const std::string& rows) { return rows.starts_with("store|") && rows.find('\n') == std::string::npos; }

// The store holds what it held after one of the moments that the cut allows.
Complaint judge_rows(const History& history, const std::string& rows, std::size_t answered) {
    std::size_t first = answered;
    while (first > 0 && !history.moments[first].must_last) --first;
    const std::size_t last = std::min(answered + 1, history.moments.size() - 1);  // it may have landed unanswered
    for (std::size_t i = first; i <= last; ++i)
        if (history.moments[i].rows == rows) return std::nullopt;
    if (first == 0 && history.moments[0].rows.empty() && is_new(rows)) return std::nullopt;
    for (std::size_t i = 0; i < first; ++i)
        if (history.moments[i].rows == rows) return "lost: " + history.moments[i + 1].request;
    return "holds what it never held:\n" + rows + "\nand not:\n" + history.moments[answered].rows;
}

Complaint judge_epochs(Engine& engine, const std::map<std::string, Epoch>& told) {
    for (const auto& [lock_id, epoch] : told) {
        const auto taken = submit(engine, "judge requisition", lock_id);
        if (!taken) return "cannot be used: " + taken.error().message;
        if (taken->hold->epoch <= epoch)
            return "lost: epoch " + std::to_string(epoch.value) + " of " + lock_id + " was told, and now epoch " +
                   std::to_string(taken->hold->epoch.value) + " is granted";
    }
    return std::nullopt;
}

std::string described(const Operation& operation) {
    static const char* const kNames[] = {"create", "link",     "unlink", "sync the folder",
                                         "write",  "truncate", "sync",   "answer"};
    return std::string(kNames[static_cast<int>(operation.kind)]) + " " + operation.name + " at " +
           std::to_string(operation.at) + "+" + std::to_string(operation.bytes.size());
}

}  // namespace

Complaint judge(const History& history, const Image& image, std::size_t answered) {
    if (!image.contains("locks.db")) {
        if (history.moments[answered].rows.empty()) return std::nullopt;
        return "the store is lost";
    }
    StoreFixture store;
    store.clock.reading = history.moments[answered].clock;
    for (const auto& [name, bytes] : image) write_file(store.folder.path() + "/" + name, bytes);
    Dice dice(image.size());
    leave_stale_index(store.options.path, dice);

    store.options.access = SqliteOptions::Access::Existing;
    const auto engine = store.try_open();
    if (!engine) return "cannot be opened: " + engine.error().message;
    if (const auto locks = (*engine)->list({"", true}); !locks) return "cannot be listed: " + locks.error().message;
    if (const std::string said = query(store.options.path, "PRAGMA integrity_check"); said != "ok") return said;
    if (auto wrong = judge_rows(history, rows_of(store.options.path), answered)) return wrong;
    return judge_epochs(**engine, history.moments[answered].epochs);
}

Verdict judge_every_cut(const History& history, Dice& dice) {
    Verdict verdict;
    Disk disk(history.before);
    std::size_t answered = 0;
    std::set<std::pair<std::size_t, std::size_t>> judged;  // moments and images, by their hash
    for (std::size_t done = 0; done <= history.operations.size(); ++done) {
        for (const Cut cut : kCuts) {
            const Image image = disk.after(cut, dice);
            std::string whole;
            for (const auto& [name, bytes] : image) whole += name + '\0' + std::to_string(bytes.size()) + '\0' + bytes;
            if (!judged.emplace(answered, std::hash<std::string>{}(whole)).second) continue;
            ++verdict.images;
            if (auto wrong = judge(history, image, answered))
                verdict.complaints.push_back("after " + std::to_string(done) + " operations, the last one " +
                                             (done ? described(history.operations[done - 1]) : "none") + ", and \"" +
                                             history.moments[answered].request + "\", of what was not synced kept " +
                                             name_of(cut) + ": " + *wrong);
        }
        if (done == history.operations.size()) break;
        disk.apply(history.operations[done]);
        if (history.operations[done].kind == Operation::Kind::Answer) ++answered;
    }
    return verdict;
}

}  // namespace hagi::test
