#include "cmd/nearest.hpp"

#include <algorithm>
#include <utility>

namespace hagi {
namespace {

// A word so long was not mistyped, and the time that comparing takes grows with its square.
constexpr std::size_t kLongestWord = 40;

// Shorter beginnings begin too much.
constexpr std::size_t kShortestBeginning = 3;

bool begins(std::string_view beginning, std::string_view word) {
    return beginning.size() >= kShortestBeginning && word.starts_with(beginning);
}

int distance_or_beginning(std::string_view word, std::string_view candidate) {
    return begins(word, candidate) || begins(candidate, word) ? 1 : edit_distance(word, candidate);
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
    std::vector<int> before_last(b.size() + 1);
    std::vector<int> last(b.size() + 1);
    std::vector<int> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = static_cast<int>(i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const int changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        std::swap(before_last, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
    if (word.size() > kLongestWord) return std::nullopt;
    std::optional<std::string> best;
    int least = std::max(1, static_cast<int>(word.size()) / 3) + 1;
    for (const std::string& candidate : candidates) {
        const int distance = distance_or_beginning(word, candidate);
        if (distance >= least) continue;
        least = distance;
        best = candidate;
    }
    return best;
}

}  // namespace hagi
