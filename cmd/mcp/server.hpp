// `hagi mcp` at work: reads messages, carries out what the conversation asks for, writes messages, until its client is
// gone or a signal asks for the end.
#pragma once

#include "cmd/context.hpp"

namespace hagi::mcp {

enum class Keep { Nothing, Claims };

struct ServeTerms {
    EngineTerms engine;
    Keep keep = Keep::Nothing;  // whether what the client claimed is kept alive for as long as the client lives
    int input = 0;              // descriptors of the stream of messages
    int output = 1;
};

// Returns the exit code.
int serve(Context& context, const ServeTerms& terms);

}  // namespace hagi::mcp
