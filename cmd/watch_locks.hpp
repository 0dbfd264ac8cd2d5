// The loop behind `list --watch`: a live view where a person looks on, otherwise a line for every change.
#pragma once

#include "cmd/lock_rows.hpp"
#include "cmd/session.hpp"

namespace hagi {

enum class ListFormat { Table, Json, Tsv };

struct ListTerms {
    ListQuery query;
    Arrangement arrangement;
    ListFormat format = ListFormat::Table;
};

// Until it is asked to stop, or q is pressed; the exit code.
int watch_locks(Session& session, const ListTerms& terms);

}  // namespace hagi
