#include "exporter/content_negotiation.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "exporter/gzip.h"

namespace tidemark::exporter {
namespace {

/// Below this the gzip header eats what is won.
constexpr size_t kSmallestToCompress = 256;
/// The page is repetitive: level 1 already gives about a tenth, and costs a third of the default
/// level 6.
constexpr int kGzipLevel = 1;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualNoCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

/// Cuts the text before the first `separator` outside quotes off `rest`; trimmed.
std::string_view TakePart(std::string_view& rest, char separator) {
  bool quoted = false;
  size_t i = 0;
  for (; i < rest.size() && (quoted || rest[i] != separator); ++i) {
    if (rest[i] == '"') quoted = !quoted;
    if (rest[i] == '\\' && quoted) ++i;
  }
  i = std::min(i, rest.size());
  const std::string_view part = Trim(rest.substr(0, i));
  rest.remove_prefix(std::min(i + 1, rest.size()));
  return part;
}

/// A quality in thousandths: 0 to 1 with at most three decimals (RFC 9110, 12.4.2).
std::optional<int> ParseQuality(std::string_view text) {
  if (text.empty() || (text[0] != '0' && text[0] != '1') || text.size() > 5) return std::nullopt;
  int thousandths = text[0] == '1' ? 1000 : 0;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  int weight = 100;
  for (size_t i = 2; i < text.size(); ++i, weight /= 10) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    thousandths += (text[i] - '0') * weight;
  }
  if (thousandths > 1000) return std::nullopt;
  return thousandths;
}

/// One entry of Accept or Accept-Encoding.
struct Preference {
  std::string_view name;
  std::optional<std::string_view> version;
  int quality = 1000;
};

/// Nothing when the entry cannot be read.
std::optional<Preference> ParsePreference(std::string_view entry) {
  Preference preference;
  preference.name = TakePart(entry, ';');
  if (preference.name.empty()) return std::nullopt;
  while (!entry.empty()) {
    std::string_view value = TakePart(entry, ';');
    const std::string_view key = TakePart(value, '=');
    value = Trim(value);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    if (EqualNoCase(key, "q")) {
      const std::optional<int> quality = ParseQuality(value);
      if (!quality) return std::nullopt;
      preference.quality = *quality;
    } else if (EqualNoCase(key, "version")) {
      preference.version = value;
    }
  }
  return preference;
}

/// How well an offer is liked: by the most precise entry that covers it.
struct Liking {
  int quality = 0;
  int precision = 0;  // 0: not covered, 1: */*, 2: type/*, 3: type/subtype, 4: with the version
  size_t position = 0;

  void Consider(int new_precision, int new_quality, size_t new_position) {
    if (new_precision > precision) *this = {new_quality, new_precision, new_position};
  }
};

struct Offer {
  std::string_view type;
  std::string_view range;
  std::string_view version;
};

int Precision(const Preference& preference, const Offer& offer) {
  if (preference.name == "*/*") return 1;
  if (EqualNoCase(preference.name, offer.range)) return 2;
  if (!EqualNoCase(preference.name, offer.type)) return 0;
  if (!preference.version) return 3;
  return *preference.version == offer.version ? 4 : 0;
}

constexpr Offer kTextOffer = {"text/plain", "text/*", "0.0.4"};
constexpr Offer kOpenMetricsOffer = {"application/openmetrics-text", "application/*", "1.0.0"};

bool Prefers(const Liking& a, const Liking& b) {
  if (a.quality != b.quality) return a.quality > b.quality;
  if (a.precision != b.precision) return a.precision > b.precision;
  return a.position < b.position;
}

}  // namespace

ExpositionFormat NegotiateFormat(std::string_view accept) {
  Liking text;
  Liking openmetrics;
  for (size_t position = 0; !accept.empty(); ++position) {
    const std::optional<Preference> preference = ParsePreference(TakePart(accept, ','));
    if (!preference) continue;
    text.Consider(Precision(*preference, kTextOffer), preference->quality, position);
    openmetrics.Consider(Precision(*preference, kOpenMetricsOffer), preference->quality, position);
  }
  const bool named = openmetrics.precision >= 3;
  return named && openmetrics.quality > 0 && Prefers(openmetrics, text)
             ? ExpositionFormat::kOpenMetrics
             : ExpositionFormat::kText;
}

bool AcceptsGzip(std::string_view accept_encoding) {
  std::optional<int> gzip;
  std::optional<int> identity;
  std::optional<int> any;
  while (!accept_encoding.empty()) {
    const std::optional<Preference> preference = ParsePreference(TakePart(accept_encoding, ','));
    if (!preference) continue;
    if (EqualNoCase(preference->name, "gzip") || EqualNoCase(preference->name, "x-gzip")) {
      gzip = std::max(gzip.value_or(0), preference->quality);
    } else if (EqualNoCase(preference->name, "identity")) {
      identity = preference->quality;
    } else if (preference->name == "*") {
      any = preference->quality;
    }
  }
  const int quality = gzip.value_or(any.value_or(0));
  return quality > 0 && quality >= identity.value_or(0);
}

std::string JoinHeaders(const HttpRequest& request, std::string_view name) {
  std::string joined;
  for (const HttpHeader& header : request.headers) {
    if (!EqualNoCase(header.name, name)) continue;
    if (!joined.empty()) joined += ", ";
    joined += header.value;
  }
  return joined;
}

void CompressIfAccepted(const HttpRequest& request, HttpResponse& response) {
  const auto vary =
      std::find_if(response.headers.begin(), response.headers.end(),
                   [](const HttpHeader& header) { return EqualNoCase(header.name, "Vary"); });
  if (vary == response.headers.end()) {
    response.headers.push_back({"Vary", "Accept-Encoding"});
  } else {
    vary->value += ", Accept-Encoding";
  }
  if (response.body.size() < kSmallestToCompress) return;
  if (!AcceptsGzip(JoinHeaders(request, "Accept-Encoding"))) return;
  std::optional<std::string> compressed = Gzip(response.body, kGzipLevel);
  if (!compressed) return;
  response.body = std::move(*compressed);
  response.headers.push_back({"Content-Encoding", "gzip"});
}

}  // namespace tidemark::exporter
