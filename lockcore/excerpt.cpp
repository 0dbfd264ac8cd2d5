#include "lockcore/excerpt.hpp"

#include <algorithm>
#include <utility>

#include "lockcore/windows.hpp"

namespace hagi {

bool excerpt_suffices(const Hold& hold, Instant least_heard, Instant now) {
    return now < end_of(hold) && now < least_heard + kWaiterTtl;
}

LockState excerpt_of(LockState whole, const Owner& asks) {
    std::vector<Waiter> shown;
    std::size_t run = kExcerptRun;
    for (Waiter& waiter : whole.queue) {
        if (waiter.owner == asks) run = kExcerptRun;
        if (run > 0) {
            --run;
            shown.push_back(std::move(waiter));
            continue;
        }
        Crowd& crowd = shown.back().left_out;
        ++crowd.count;
        crowd.maximum_holds += waiter.maximum_hold;
    }
    whole.queue = std::move(shown);
    return whole;
}

Crowd crowd_before(const std::vector<Waiter>& queue, std::vector<Waiter>::const_iterator place) {
    Crowd crowd;
    for (auto waiter = queue.begin(); waiter != place; ++waiter) {
        crowd.count += 1 + waiter->left_out.count;
        crowd.maximum_holds += waiter->maximum_hold + waiter->left_out.maximum_holds;
    }
    return crowd;
}

}  // namespace hagi
