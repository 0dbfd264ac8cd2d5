// What a command still says when an exception has found no way out. That happens to who runs out of memory: the JSON
// library, say, asks for some in its destructors. To the store it is a kill, which loses nothing.
#pragma once

#include "cmd/report.hpp"

namespace hagi {

// From now on std::terminate() writes one line (or document, to stdout) and exits 60 where memory ran out, else 70.
void prepare_last_words(Form form);

}  // namespace hagi
