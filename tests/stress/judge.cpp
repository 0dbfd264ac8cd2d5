#include "tests/stress/judge.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace hagi::test {
namespace {

constexpr Moment kNever = Moment::max();

// From the first asking to the grant, over all the commands and lives of the owner that it took.
struct Wait {
    std::string owner;
    Moment asked{};
    Moment queued = kNever;
    Moment ended = kNever;
    std::int64_t epoch = 0;  // 0: it did not end with a grant
    bool excused = false;    // the owner was told that it is lost, or is dead
};

// One use of the resource.
struct Use {
    std::string owner;
    std::int64_t epoch = 0;
    Moment from{};
    Moment to = kNever;
    Moment sure_until = kNever;  // its lease, or the moment at which it was taken
    int pid = 0;
    int parent = 0;
    bool is_dying = false;  // killed; what it still writes down shows that it was not dead yet
};

std::string shown(Moment at) { return std::to_string(at.count() / 1'000'000) + " ms"; }

// What happened on one lock.
class Docket {
public:
    explicit Docket(std::string lock) : lock_(std::move(lock)) {}

    void take(const Record& record) {
        switch (record.saw) {
            case Saw::Asked: open_wait(record); break;
            case Saw::Queued:
                if (Wait* const wait = open_wait_of(record.owner)) wait->queued = std::min(wait->queued, record.at);
                break;
            case Saw::Granted: end_wait(record); break;
            case Saw::Entered: enter(record); break;
            case Saw::Left: leave(record); break;
            case Saw::Lost:
            case Saw::Abandoned: excuse(record); break;
            case Saw::Refused: refuse(record); break;
            case Saw::Taken: taken(record); break;
            case Saw::Killed: break;
        }
    }

    // A kill takes a moment to arrive: who was killed may still write down that it entered.
    void die(int pid, Moment at) {
        killed_.insert(pid);
        for (Use& use : uses_) {
            if (use.pid != pid && use.parent != pid) continue;
            use.to = std::min(use.to, at);
            use.is_dying = true;
        }
    }

    std::vector<std::string> verdict(const Terms& terms) {
        check_overlap();
        check_order_of_epochs();
        check_order_of_waits();
        check_everyone_had_a_turn();
        check_idleness(terms);
        check_refusals();
        return std::move(complaints_);
    }

private:
    void complain(const std::string& what) { complaints_.push_back(lock_ + ": " + what); }

    Wait* open_wait_of(const std::string& owner) {
        const auto found = std::find_if(waits_.rbegin(), waits_.rend(), [&](const Wait& wait) {
            return wait.owner == owner && wait.ended == kNever && !wait.excused;
        });
        return found == waits_.rend() ? nullptr : &*found;
    }

    void open_wait(const Record& record) {
        killed_.erase(record.pid);  // another process of that number
        if (!open_wait_of(record.owner)) waits_.push_back({record.owner, record.at});
    }

    // Two owners of one epoch; the same owner may be told of its grant as often as it asks.
    bool is_first_mention(std::int64_t epoch, const std::string& owner) {
        const auto [had, fresh] = owner_of_.try_emplace(epoch, owner);
        if (had->second != owner)
            complain("epoch " + std::to_string(epoch) + " was given to " + had->second + " and to " + owner);
        return fresh;
    }

    void end_wait(const Record& record) {
        signs_.push_back(record.at);
        const bool fresh = is_first_mention(record.epoch, record.owner);
        Wait* const wait = open_wait_of(record.owner);
        if (!wait) return;
        wait->ended = record.at;
        // A grant that it has had already says nothing about its place.
        if (fresh)
            wait->epoch = record.epoch;
        else
            wait->excused = true;
    }

    void excuse(const Record& record) {
        if (Wait* const wait = open_wait_of(record.owner)) wait->excused = true;
    }

    void enter(const Record& record) {
        signs_.push_back(record.at);
        is_first_mention(record.epoch, record.owner);
        Moment until = record.until;
        if (const auto taken = taken_at_.find(record.epoch); taken != taken_at_.end())
            until = std::min(until, taken->second);
        const bool is_dying = killed_.contains(record.pid) || killed_.contains(record.parent);
        uses_.push_back({record.owner, record.epoch, record.at, is_dying ? record.at : until, until, record.pid,
                         record.parent, is_dying});
    }

    Use* last_use_by(int pid) {
        const auto found = std::find_if(uses_.rbegin(), uses_.rend(), [&](const Use& use) { return use.pid == pid; });
        return found == uses_.rend() ? nullptr : &*found;
    }

    void leave(const Record& record) {
        signs_.push_back(record.at);
        if (Use* const use = last_use_by(record.pid); use && !use->is_dying) use->to = std::min(use->to, record.at);
        outlive(record);
    }

    void refuse(const Record& record) {
        refused_.push_back(record);
        outlive(record);
    }

    void outlive(const Record& record) {
        if (Use* const use = last_use_by(record.pid); use && use->is_dying)
            use->to = std::max(use->to, std::min(record.at, use->sure_until));
    }

    void taken(const Record& record) {
        signs_.push_back(record.at);
        is_first_mention(record.epoch, record.owner);
        if (record.other == 0) return;
        taken_at_.emplace(record.other, record.at);
        for (Use& use : uses_) {
            if (use.epoch != record.other) continue;
            use.to = std::min(use.to, record.at);
            use.sure_until = std::min(use.sure_until, record.at);
        }
    }

    // ---- What must hold ----

    void check_overlap() {
        std::erase_if(uses_, [](const Use& use) { return use.to <= use.from; });
        const Use* last = nullptr;
        for (const Use& use : uses_) {
            if (last && use.from < last->to)
                complain(use.owner + " (epoch " + std::to_string(use.epoch) + ") entered at " + shown(use.from) +
                         " while " + last->owner + " (epoch " + std::to_string(last->epoch) + ") was inside");
            if (!last || use.to > last->to) last = &use;
        }
    }

    void check_order_of_epochs() {
        std::int64_t highest = 0;
        for (const Use& use : uses_) {
            if (use.epoch <= 0 || use.epoch < highest)
                complain(use.owner + " entered at " + shown(use.from) + " with epoch " + std::to_string(use.epoch) +
                         " after epoch " + std::to_string(highest));
            highest = std::max(highest, use.epoch);
        }
    }

    // Who was told its place before another began to ask comes before it.
    void check_order_of_waits() {
        std::vector<const Wait*> by_queued, by_asked;
        for (const Wait& wait : waits_) {
            if (wait.excused) continue;
            if (wait.queued != kNever) by_queued.push_back(&wait);
            if (wait.epoch != 0) by_asked.push_back(&wait);
        }
        std::sort(by_queued.begin(), by_queued.end(), [](auto* a, auto* b) { return a->queued < b->queued; });
        std::sort(by_asked.begin(), by_asked.end(), [](auto* a, auto* b) { return a->asked < b->asked; });
        auto earlier = by_queued.begin();
        const Wait* last_in_turn = nullptr;  // of the earlier ones, the one that had its turn last
        const auto turn = [](const Wait& wait) { return wait.epoch == 0 ? INT64_MAX : wait.epoch; };
        for (const Wait* later : by_asked) {
            for (; earlier != by_queued.end() && (*earlier)->queued < later->asked; ++earlier)
                if (!last_in_turn || turn(**earlier) > turn(*last_in_turn)) last_in_turn = *earlier;
            if (last_in_turn && turn(*last_in_turn) > later->epoch)
                complain(later->owner + " (epoch " + std::to_string(later->epoch) + "), which asked at " +
                         shown(later->asked) + ", had its turn before " + last_in_turn->owner + " (epoch " +
                         std::to_string(last_in_turn->epoch) + "), which waited since " + shown(last_in_turn->queued));
        }
    }

    void check_everyone_had_a_turn() {
        for (const Wait& wait : waits_)
            if (wait.ended == kNever && !wait.excused)
                complain(wait.owner + " has waited since " + shown(wait.asked) + " and never had its turn");
    }

    void check_idleness(const Terms& terms) {
        std::sort(signs_.begin(), signs_.end());
        for (const Wait& wait : waits_) {
            if (wait.queued == kNever || wait.ended == kNever || wait.excused) continue;
            Moment last = wait.queued;
            for (auto sign = std::upper_bound(signs_.begin(), signs_.end(), wait.queued);
                 sign != signs_.end() && last < wait.ended; ++sign) {
                if (*sign - last > terms.lease + terms.claim_window)
                    complain("nobody used it from " + shown(last) + " to " + shown(*sign) + ", while " + wait.owner +
                             " waited");
                last = *sign;
            }
        }
    }

    // A resource that compares epochs refuses only who is not the holder any more.
    void check_refusals() {
        for (const Record& refused : refused_) {
            const auto taken = taken_at_.find(refused.epoch);
            const bool was_taken = taken != taken_at_.end() && taken->second <= refused.at;
            if (!was_taken && refused.at < refused.until)
                complain(refused.owner + " was refused at " + shown(refused.at) + " with epoch " +
                         std::to_string(refused.epoch) + ", which was still its");
        }
    }

    std::string lock_;
    std::vector<Wait> waits_;
    std::vector<Use> uses_;
    std::map<std::int64_t, std::string> owner_of_;
    std::map<std::int64_t, Moment> taken_at_;
    std::set<int> killed_;
    std::vector<Record> refused_;
    std::vector<Moment> signs_;  // that somebody holds the lock
    std::vector<std::string> complaints_;
};

}  // namespace

std::vector<std::string> broken_promises(const std::vector<Record>& history, const Terms& terms) {
    std::map<std::string, Docket> dockets;
    for (const Record& record : history) {
        if (record.saw == Saw::Killed) {
            for (auto& [lock, docket] : dockets) docket.die(record.pid, record.at);
        } else {
            dockets.try_emplace(record.lock, record.lock).first->second.take(record);
        }
    }
    std::vector<std::string> complaints;
    for (auto& [lock, docket] : dockets) {
        const auto more = docket.verdict(terms);
        complaints.insert(complaints.end(), more.begin(), more.end());
    }
    return complaints;
}

}  // namespace hagi::test
