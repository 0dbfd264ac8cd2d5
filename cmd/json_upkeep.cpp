// What looking after a store says to scripts.
#include "cmd/json.hpp"
#include "cmd/json_document.hpp"
#include "cmd/text.hpp"

namespace hagi::json {

std::string examination(const Examination& examination) {
    Json json = {{"store", examination.store}};
    const auto put = [&json](const char* key, const std::string& value) {
        if (!value.empty()) json[key] = value;
    };
    put("filesystem", examination.filesystem);
    put("journalMode", examination.journal_mode);
    put("clock", examination.clock);
    if (examination.schema) json["schema"] = *examination.schema;
    put("sqlite", examination.sqlite);
    json["checks"] = Json::array();
    for (const Finding& finding : examination.findings) {
        Json check = {{"name", finding.name}, {"ok", !finding.trouble}, {"message", finding.message}};
        if (!finding.fix.empty()) check["fix"] = finding.fix;
        json["checks"].push_back(std::move(check));
    }
    json["ok"] = !worst_trouble(examination);
    return line(json);
}

std::string conversion(const Subject& subject, Conversion conversion) {
    Json json = {{"converted", conversion == Conversion::Converted}};
    put_store(json, subject);
    return line(json);
}

std::string rebuilding(const Rebuilding& rebuilding) {
    const Json json = {{"store", rebuilding.store},
                       {"rebuilt", rebuilding.rebuilt},
                       {"locks", rebuilding.locks},
                       {"events", rebuilding.events},
                       {"epochFloor", rebuilding.floor.value},
                       {"losses", rebuilding.losses},
                       {"command", text::put_in_place(rebuilding)}};
    return line(json);
}

std::string pruning(const Subject& subject, const Pruning& pruning) {
    Json json = {{"pruned", pruning.locks}, {"epochFloor", pruning.floor.value}};
    put_store(json, subject);
    return line(json);
}

}  // namespace hagi::json
