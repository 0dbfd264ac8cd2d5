// Which engine a command works on: the only place that names a concrete one.
#pragma once

#include <memory>

#include "cmd/context.hpp"

namespace hagi {

// Finds the store (terms.path, then the environment), judges its place and its filesystem, and opens it with the clock
// and the change signal that fit. A missing store is created for StoreUse::Create; for the other uses an engine that
// knows nothing answers in its stead.
Result<std::unique_ptr<Engine>> open_engine(
    const EngineTerms& terms, StoreUse use,
    const std::function<std::optional<std::string>(std::string_view)>& environment);

}  // namespace hagi
