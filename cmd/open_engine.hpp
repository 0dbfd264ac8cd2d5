// Which engine a command works on: the only place that names a concrete one.
#pragma once

#include <memory>

#include "cmd/context.hpp"
#include "lockcore/upkeep.hpp"
#include "platform/paths.hpp"

namespace hagi {

// Finds the store (terms.path, then the environment), judges its place and its filesystem, and opens it with the clock
// and the change signal that fit. A missing store is created for StoreUse::Create; for the other uses an engine that
// knows nothing answers in its stead.
using Environment = std::function<std::optional<std::string>(std::string_view)>;
Result<std::unique_ptr<Engine>> open_engine(const EngineTerms& terms, StoreUse use, const Environment& environment);

// The same store, to be looked after. Touches nothing yet.
Result<std::unique_ptr<Upkeep>> open_upkeep(const EngineTerms& terms, const Environment& environment);

// Where that store is. NotFound, PermissionDenied: as check_store_place says.
Result<StorePlace> place_of_store(const EngineTerms& terms, Access access, const Environment& environment);

}  // namespace hagi
