#include "cmd/watch_locks.hpp"

#include <algorithm>
#include <map>

#include "cmd/json.hpp"
#include "cmd/live_view.hpp"
#include "cmd/lock_table.hpp"
#include "cmd/outage.hpp"
#include "cmd/text.hpp"

namespace hagi {
namespace {

// A heartbeat rings no bell, and ages grow by the second.
constexpr Duration kTick = 1s;

// ---- Where a person looks on ----

class LiveWatch {
public:
    LiveWatch(Session& session, const ListTerms& terms, Screen& screen)
        : session_(session),
          query_(terms.query),
          screen_(screen),
          view_(terms.arrangement, query_.idle_too ? Idle::Shown : Idle::Hidden, session.subject.stuck_after) {}

    int run(StopSource& stop) {
        const auto listener = session_.engine->listen({}, {});
        while (!stop.requested()) {
            listener->arm();
            if (const auto fatal = look()) return session_.fail(*fatal);
            screen_.show(view_.frame(screen_.size()));
            Interrupts interrupts = stop.interrupts();
            for (const int fd : screen_.interrupts()) interrupts.push_back(fd);
            listener->sleep(kTick, interrupts);
            if (!take_keys()) break;
        }
        return kSuccess;
    }

private:
    std::optional<Error> look() {
        query_.idle_too = view_.idle() == Idle::Shown;
        auto answer = session_.engine->list(query_);
        if (answer)
            view_.see(*std::move(answer));
        else if (may_pass(answer.error()))
            view_.see_trouble(answer.error().message);
        else
            return answer.error();
        return std::nullopt;
    }

    // False: it is enough.
    bool take_keys() {
        const auto keys = screen_.take_keys();
        if (!keys) return false;
        return std::none_of(keys->begin(), keys->end(),
                            [&](const Key& key) { return view_.press(key) == LiveView::Reaction::Quit; });
    }

    Session& session_;
    ListQuery query_;
    Screen& screen_;
    LiveView view_;
};

// ---- Where a program reads ----

class LineWatch {
public:
    LineWatch(Session& session, const ListTerms& terms) : session_(session), terms_(terms) {}

    int run(StopSource& stop) {
        const auto listener = session_.engine->listen({}, {});
        while (!stop.requested()) {
            listener->arm();
            auto answer = session_.engine->list(terms_.query);
            if (!answer && !may_pass(answer.error())) return session_.fail(answer.error());
            const Duration pause = answer ? tell(*std::move(answer)) : endure(answer.error());
            listener->sleep(pause, stop.interrupts());
        }
        return kSuccess;
    }

private:
    [[nodiscard]] Duration now() const { return session_.context.steady_now(); }

    // How long until the next look.
    Duration tell(ListAnswer answer) {
        say(outage_.recovered(now()));
        const bool first = !before_;
        const std::vector<LockView> changed = changes(answer);
        if (first || !changed.empty()) print(answer, changed, first);
        before_ = std::move(answer);
        const auto next = next_change_in(*before_, session_.subject.stuck_after);
        return std::min(kWaiterPoll, next.value_or(kWaiterPoll));
    }

    Duration endure(const Error& error) {
        say(outage_.failed(error, now()));
        return outage_.pause();
    }

    void say(const std::optional<WatchEvent>& event) {
        if (!event) return;
        // A table of tabs has no place for a sentence.
        if (terms_.format == ListFormat::Tsv)
            session_.context.err.write(event->message + "\n");
        else
            session_.report.event(session_.subject, *event);
    }

    // As they are now: those that are new or differ, and those that are held no more.
    [[nodiscard]] std::vector<LockView> changes(const ListAnswer& answer) const {
        std::map<LockId, const LockView*> gone;
        if (before_)
            for (const LockView& lock : before_->locks) gone[lock.lock_id] = &lock;
        std::vector<LockView> changed;
        for (const LockView& lock : answer.locks) {
            const auto old = gone.extract(lock.lock_id);
            const Duration stuck_after = session_.subject.stuck_after;
            if (old.empty() || differ({old.mapped(), before_->now, stuck_after}, {&lock, answer.now, stuck_after}))
                changed.push_back(lock);
        }
        for (const auto& [lock_id, lock] : gone) changed.push_back(freed(*lock));
        return changed;
    }

    static LockView freed(const LockView& lock) {
        LockView free{lock.lock_id, {}};
        free.state.known = true;
        free.state.last_epoch = lock.state.last_epoch;
        return free;
    }

    void print(const ListAnswer& answer, const std::vector<LockView>& changed, bool first) {
        if (terms_.format == ListFormat::Json) {
            session_.report.text(json::list_event(session_.subject, answer));
            return;
        }
        const bool tsv = terms_.format == ListFormat::Tsv;
        if (tsv && first) session_.report.text(tsv_heading());
        for (const LockView& lock : changed)
            session_.report.text(tsv ? tsv_line(answer, lock, session_.subject.stuck_after)
                                     : text::lock(session_.subject, answer, lock));
    }

    Session& session_;
    const ListTerms& terms_;
    Outage outage_;
    std::optional<ListAnswer> before_;
};

}  // namespace

int watch_locks(Session& session, const ListTerms& terms) {
    // Before the screen is taken, so that no signal ends the program while it is.
    const auto stop = session.context.listen_for_stop();
    const auto screen = terms.format == ListFormat::Table ? session.context.take_screen() : nullptr;
    return screen ? LiveWatch(session, terms, *screen).run(*stop) : LineWatch(session, terms).run(*stop);
}

}  // namespace hagi
