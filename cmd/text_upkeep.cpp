// What looking after a store says to people.
#include <fmt/format.h>

#include <algorithm>

#include "cmd/shell_word.hpp"
#include "cmd/text.hpp"
#include "lockcore/names.hpp"

namespace hagi::text {

std::string examination(const Examination& examination) {
    const auto troubles = std::count_if(examination.findings.begin(), examination.findings.end(),
                                        [](const Finding& finding) { return finding.trouble.has_value(); });
    std::string lines = fmt::format("Store {}: {}\n", escaped(examination.store),
                                    troubles == 0   ? "all is well"
                                    : troubles == 1 ? "1 problem"
                                                    : fmt::format("{} problems", troubles));
    const auto fact = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) lines += fmt::format("  {:<12} {}\n", name, value);
    };
    fact("journal", examination.journal_mode);
    fact("clock", examination.clock);
    for (const Finding& finding : examination.findings) {
        lines += fmt::format("  {:<12} {}{}", finding.name, finding.trouble ? "PROBLEM: " : "", finding.message);
        if (!finding.fix.empty()) lines += fmt::format(": {}", finding.fix);
        lines += "\n";
    }
    return lines;
}

std::string conversion(const Subject& subject, Conversion conversion) {
    if (conversion == Conversion::AlreadyShared)
        return fmt::format("Store {} has a rollback journal already: nothing was changed\n",
                           escaped(subject.store.store));
    return fmt::format("Store {} has a rollback journal now, which hosts can share\n", escaped(subject.store.store));
}

std::string rebuilding(const Rebuilding& rebuilding) {
    std::string lines = fmt::format("Rebuilt {} from {}\n", escaped(rebuilding.rebuilt), escaped(rebuilding.store));
    lines += fmt::format("  carried over: {} of its locks, all free now, and {} of the log's events\n",
                         rebuilding.locks, rebuilding.events);
    lines += fmt::format("  every new epoch is above {}\n", rebuilding.floor.value);
    for (const std::string& loss : rebuilding.losses) lines += fmt::format("  lost: {}\n", loss);
    return lines + fmt::format("  to put it in place, once every hagi that uses the store has ended:\n    {}\n",
                               put_in_place(rebuilding));
}

// The log and the journal of the damaged store must go with it: SQLite would apply them to the new one.
std::string put_in_place(const Rebuilding& rebuilding) {
    const std::string store = shell_word(rebuilding.store);
    const std::string damaged = shell_word(rebuilding.store + ".damaged");
    return fmt::format("for e in -wal -shm -journal ''; do test ! -e {0}$e || mv -n {0}$e {1}$e; done; mv -n {2} {0}",
                       store, damaged, shell_word(rebuilding.rebuilt));
}

std::string pruning(const Subject& subject, const Pruning& pruning) {
    const std::string store = escaped(subject.store.store);
    if (pruning.locks == 0)
        return fmt::format("Store {}: no lock has been idle for long enough to be forgotten\n", store);
    return fmt::format("Store {}: forgot {} of its locks; a new one starts above epoch {}\n", store, pruning.locks,
                       pruning.floor.value);
}

}  // namespace hagi::text
