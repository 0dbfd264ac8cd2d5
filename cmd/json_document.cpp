#include "cmd/json_document.hpp"

namespace hagi::json {

std::string line(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n"; }

void put_store(Json& json, const Subject& subject) {
    if (!subject.store.store.empty()) json["store"] = subject.store.store;
    if (subject.store.created) json["storeCreated"] = true;
}

}  // namespace hagi::json
