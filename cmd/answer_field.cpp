#include "cmd/answer_field.hpp"

#include <algorithm>
#include <array>

namespace hagi {
namespace {

// A test holds them to be those of the JSON Schema.
constexpr std::array<std::string_view, 69> kFields = {
    "lockId",
    "owner",
    "status",
    "epoch",
    "claimed",
    "grantedAt",
    "leaseSec",
    "heartbeatAt",
    "ageSec",
    "acceptedAt",
    "label",
    "phase",
    "note",
    "phaseSince",
    "phaseAgeSec",
    "fresh",
    "stuck",
    "stuckReason",
    "watcher.host",
    "watcher.pid",
    "watcher.since",
    "watcher.alive",
    "position",
    "queueLength",
    "enqueuedAt",
    "holder.owner",
    "holder.epoch",
    "holder.claimed",
    "holder.grantedAt",
    "holder.leaseSec",
    "holder.heartbeatAt",
    "holder.ageSec",
    "holder.acceptedAt",
    "holder.label",
    "holder.phase",
    "holder.note",
    "holder.phaseSince",
    "holder.phaseAgeSec",
    "holder.fresh",
    "holder.stuck",
    "holder.stuckReason",
    "holder.validUntil",
    "holder.hardCapAt",
    "cause",
    "endedAt",
    "requisition.by",
    "requisition.at",
    "requisition.reason",
    "previous.status",
    "previous.epoch",
    "previous.cause",
    "previous.endedAt",
    "previous.requisition.by",
    "previous.requisition.at",
    "previous.requisition.reason",
    "displaced.owner",
    "displaced.epoch",
    "released",
    "windows.validUntil",
    "windows.validForSec",
    "windows.hardCapAt",
    "windows.hardCapInSec",
    "windows.checkIn.from",
    "windows.checkIn.until",
    "windows.turn.earliest",
    "windows.turn.expected",
    "windows.turn.latest",
    "store",
    "storeCreated",
};

}  // namespace

bool is_answer_field(std::string_view name) {
    return !name.empty() && std::find(kFields.begin(), kFields.end(), name) != kFields.end();
}

}  // namespace hagi
