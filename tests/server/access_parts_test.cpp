// The parts that decide who may come in, one by one.

#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "server/authorize.h"
#include "server/bcrypt_hash.h"
#include "server/client_certificate.h"
#include "server/credentials.h"
#include "server/password_verifier.h"
#include "server/rate_limiter.h"
#include "server/tls_context.h"
#include "server/token_file.h"
#include "tests/catch.h"
#include "tests/server/certificates.h"
#include "tests/server/fixture.h"

namespace tidemark::server {
namespace {

using std::chrono::milliseconds;
using Kind = Credentials::Kind;
using Verdict = PasswordVerifier::Verdict;

// From the test vectors of Openwall's crypt_blowfish.
const std::string kVector = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
const std::string kSecret4 = "$2b$04$XrSp2wQKLbHMBnnsJ4O0XeQyoKNgCrUFFK6JCwj5oZIQUCxZT64wu";
const std::string kSlow11 = "$2b$11$orqHgP7qTRIb4fhkbYH4JunrcevIt00PJOTqqosqS3Nd/myHHFpyq";

Credentials Read(std::vector<std::string> values) {
  HttpRequest request;
  for (std::string& value : values) request.headers.push_back({"aUTHorization", std::move(value)});
  return ReadCredentials(request);
}

PasswordClaim Claim(std::string password, const std::string& hash = kSecret4) {
  return {.user = "alice", .password = std::move(password), .hash = hash, .known_user = true};
}

/// The schemes that a 401 names.
std::string HeaderNames(const HttpResponse& response) {
  std::string schemes;
  for (const HttpHeader& header : response.headers) {
    if (header.name != "WWW-Authenticate") continue;
    schemes += (schemes.empty() ? "" : ",") + header.value;
  }
  return schemes;
}

/// Collects verdicts that come on other threads. Made before the verifier, which may still have
/// some to give when it ends.
class Verdicts {
 public:
  PasswordVerifier::Done Taker() {
    return [this](Verdict verdict) {
      const std::lock_guard lock(mutex_);
      all_.push_back(verdict);
    };
  }
  size_t Count() const {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }
  size_t Count(Verdict verdict) const {
    const std::lock_guard lock(mutex_);
    return static_cast<size_t>(std::ranges::count(all_, verdict));
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Verdict> all_;
};

}  // namespace

TEST_CASE("Base64 is read as RFC 4648 writes it", "[server][access]") {
  CHECK(DecodeBase64("") == "");
  CHECK(DecodeBase64("Zg==") == "f");
  CHECK(DecodeBase64("Zm8=") == "fo");
  CHECK(DecodeBase64("Zm9v") == "foo");
  CHECK(DecodeBase64("Zm9vYmFy") == "foobar");
  CHECK(DecodeBase64("+/+/") == "\xfb\xff\xbf");
  CHECK(DecodeBase64("AAA=") == std::string(2, '\0'));
  for (const char* const bad : {"Z", "Zg", "Zg=", "Zg===", "====", "Z===", "Zm9v\n", "Zm 9",
                                "Zh==", "Zm9=", "=Zm9", "Zg==Zg==", "-_-_"}) {
    CAPTURE(bad);
    CHECK_FALSE(DecodeBase64(bad));
  }
}

TEST_CASE("The Authorization header is read in its two schemes", "[server][access]") {
  CHECK(Read({}).kind == Kind::kNone);
  const Credentials basic = Read({"bAsIc  YTpiOmM="});
  CHECK(basic.kind == Kind::kBasic);
  CHECK(basic.user == "a");
  CHECK(basic.password == "b:c");
  CHECK(Read({"Basic Og=="}).kind == Kind::kBasic);
  const Credentials bearer = Read({"bearer a.b~c+/="});
  CHECK(bearer.kind == Kind::kBearer);
  CHECK(bearer.token == "a.b~c+/=");
  for (const char* const other : {"", "Basic", "Bearer", "Bearer ", "Basic YQ==", "Basic *",
                                  "Digest x", "Basic\tYTpiOmM=", "YTpiOmM="}) {
    CAPTURE(other);
    CHECK(Read({other}).kind == Kind::kOther);
  }
  // Two readers could take different ones.
  CHECK(Read({"Basic YTpiOmM=", "Basic YTpiOmM="}).kind == Kind::kOther);
}

TEST_CASE("bcrypt hashes are checked for their form", "[server][access]") {
  CHECK(FindBcryptProblem(kVector) == nullptr);
  CHECK(FindBcryptProblem(kSecret4) == nullptr);
  CHECK(BcryptCost(kSlow11) == 11);
  std::set<std::string> bad = {"", "secret", "$1$abc$def", kVector + "x",
                               kVector.substr(0, kVector.size() - 1)};
  const auto change = [&](size_t at, char c) {
    std::string hash = kVector;
    hash[at] = c;
    bad.insert(hash);
  };
  change(0, 'x');
  change(1, '5');
  change(2, 'x');
  change(3, 'x');
  change(4, 'x');
  change(4, '9');  // cost 95
  change(5, '3');  // cost 3
  change(6, 'x');
  change(30, '*');
  change(59, '\n');
  for (const std::string& hash : bad) {
    CAPTURE(hash);
    CHECK(FindBcryptProblem(hash) != nullptr);
  }
}

TEST_CASE("bcrypt takes the right password and no other", "[server][access]") {
  BcryptChecker checker;
  CHECK(checker.Fits("U*U", kVector));
  CHECK_FALSE(checker.Fits("U*", kVector));
  CHECK_FALSE(checker.Fits("", kVector));
  CHECK(checker.Fits("secret", kSecret4));
  // The C library would stop at the zero byte.
  CHECK_FALSE(checker.Fits(std::string("secret\0", 7), kSecret4));
  CHECK_FALSE(checker.Fits(std::string("secret\0x", 8), kSecret4));
  CHECK_FALSE(checker.Fits(std::string(100'000, 'x'), kSecret4));
  CHECK_FALSE(checker.Fits("secret", "nonsense"));
}

TEST_CASE("An unknown user costs as much work as a known one and fits nothing",
          "[server][access]") {
  BcryptChecker checker;
  for (const unsigned cost : {4U, 11U}) {
    const std::string hash = UnknownUserHash(cost);
    CHECK(FindBcryptProblem(hash) == nullptr);
    CHECK(BcryptCost(hash) == cost);
    CHECK_FALSE(checker.Fits("secret", hash));
  }
  // Refused at once would be a thousand times faster than 2^11 rounds; within a factor of 4 both
  // did the work.
  const auto time = [&](const std::string& hash) {
    auto best = std::chrono::nanoseconds::max();
    for (int i = 0; i < 3; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      checker.Fits("wrong", hash);
      best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - begin);
    }
    return best;
  };
  const auto known = time(kSlow11);
  const auto unknown = time(UnknownUserHash(11));
  CHECK(unknown > known / 4);
  CHECK(unknown < known * 4);
}

TEST_CASE("A file of tokens is read line by line", "[server][access]") {
  const Folder folder;
  const auto tokens =
      ReadTokenFile(folder.Write("tokens", "# mine\n\n  first \r\nsecond#2\n\tthird"));
  REQUIRE(tokens);
  CHECK(tokens->size() == 3);
  for (const char* const good : {"first", "second#2", "third"}) CHECK(HasToken(*tokens, good));
  for (const char* const bad : {"", "firs", "first ", "second", "# mine", "FIRST"}) {
    CAPTURE(bad);
    CHECK_FALSE(HasToken(*tokens, bad));
  }
}

TEST_CASE("A file of tokens that lets nobody in is an error that shows no token",
          "[server][access]") {
  const Folder folder;
  const auto error = [&](const std::string& text) {
    const auto tokens = ReadTokenFile(folder.Write("tokens", text));
    REQUIRE_FALSE(tokens);
    CHECK(tokens.error().message.find("hidden") == std::string::npos);
    CHECK(tokens.error().message.starts_with(folder.Path("tokens")));
    return tokens.error().message;
  };
  CHECK(error("").find("no bearer token") != std::string::npos);
  CHECK(error("# only\n#this\n").find("no bearer token") != std::string::npos);
  CHECK(error("a\nhidden word\n").find("tokens:2: ") != std::string::npos);
  CHECK(error("hidden\x01").find("tokens:1: ") != std::string::npos);
  CHECK(error("hidd\xc3\xa9n").find("tokens:1: ") != std::string::npos);
  std::string many;
  for (size_t i = 0; i <= kMaxTokens; ++i) many += "hidden" + std::to_string(i) + "\n";
  CHECK(error(many).find("more than 10000") != std::string::npos);
  CHECK(error(std::string((1 << 20) + 1, 'x')).find("larger than") != std::string::npos);
  CHECK_FALSE(ReadTokenFile(folder.Path("none")));
  CHECK_FALSE(ReadTokenFile("/"));
  CHECK_FALSE(ReadTokenFile("/dev/null"));
}

TEST_CASE("A rate limit lets a burst through and then one each interval", "[server][access]") {
  RateLimiter limiter({std::chrono::seconds(1), 3});
  RateLimiter::TimePoint now{std::chrono::hours(1)};
  for (int i = 0; i < 3; ++i) CHECK(limiter.Allow(now));
  CHECK_FALSE(limiter.Allow(now));
  now += milliseconds(999);
  CHECK_FALSE(limiter.Allow(now));
  now += milliseconds(1);
  CHECK(limiter.Allow(now));
  CHECK_FALSE(limiter.Allow(now));
  now += std::chrono::hours(1);
  for (int i = 0; i < 3; ++i) CHECK(limiter.Allow(now));
  CHECK_FALSE(limiter.Allow(now));

  RateLimiter none({});
  for (int i = 0; i < 1000; ++i) REQUIRE(none.Allow(now));
}

TEST_CASE("A password is hashed once, whatever the verdict", "[server][access]") {
  HttpCounters counters;
  Verdicts verdicts;
  PasswordVerifier verifier(counters, 2);
  CHECK_FALSE(verifier.Verify(Claim("secret"), verdicts.Taker()));
  CHECK_FALSE(verifier.Verify(Claim("wrong"), verdicts.Taker()));
  REQUIRE(Eventually([&] { return verdicts.Count() == 2; }));
  CHECK(verdicts.Count(Verdict::kGood) == 1);
  CHECK(verdicts.Count(Verdict::kBad) == 1);
  for (int i = 0; i < 100; ++i) {
    CHECK(verifier.Verify(Claim("secret"), verdicts.Taker()) == Verdict::kGood);
    CHECK(verifier.Verify(Claim("wrong"), verdicts.Taker()) == Verdict::kBad);
  }
  CHECK(counters.password_checks == 2);
  // A changed hash, another user or an unknown one make it a new question.
  PasswordClaim other = Claim("secret", kVector);
  CHECK_FALSE(verifier.Verify(other, verdicts.Taker()));
  other = Claim("secret");
  other.known_user = false;
  CHECK_FALSE(verifier.Verify(other, verdicts.Taker()));
  REQUIRE(Eventually([&] { return verdicts.Count() == 4; }));
  CHECK(verdicts.Count(Verdict::kGood) == 1);
}

TEST_CASE("Requests with the same password share one computation", "[server][access]") {
  HttpCounters counters;
  Verdicts verdicts;
  PasswordVerifier verifier(counters, 1);
  size_t waiting = 0;
  for (int i = 0; i < 200; ++i) {
    if (!verifier.Verify(Claim("slow", kSlow11), verdicts.Taker())) ++waiting;
  }
  CHECK(waiting > 1);
  REQUIRE(Eventually([&] { return verdicts.Count() == waiting; }));
  CHECK(verdicts.Count(Verdict::kGood) == waiting);
  CHECK(counters.password_checks == 1);
}

TEST_CASE("A flood of wrong passwords is bounded and harms nobody who is known",
          "[server][access]") {
  HttpCounters counters;
  Verdicts verdicts;
  PasswordVerifier verifier(counters, 1);
  REQUIRE_FALSE(verifier.Verify(Claim("secret"), verdicts.Taker()));
  REQUIRE(Eventually([&] { return verdicts.Count() == 1; }));
  size_t waiting = 0;
  size_t busy = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto verdict =
        verifier.Verify(Claim("wrong" + std::to_string(i), kSlow11), verdicts.Taker());
    if (!verdict) ++waiting;
    if (verdict == Verdict::kBusy) ++busy;
    REQUIRE(verifier.Verify(Claim("secret"), verdicts.Taker()) == Verdict::kGood);
  }
  CHECK(waiting <= 1000 - busy);
  CHECK(waiting >= PasswordVerifier::kMaxWaitingClaims);
  CHECK(busy > 500);
  verifier.Stop();
  CHECK(verdicts.Count() == waiting + 1);
  CHECK(verifier.Verify(Claim("new"), verdicts.Taker()) == Verdict::kBusy);
}

TEST_CASE("Wrong passwords that are remembered throw out no good one", "[server][access]") {
  HttpCounters counters;
  Verdicts verdicts;
  PasswordVerifier verifier(counters, 2);
  REQUIRE_FALSE(verifier.Verify(Claim("secret"), verdicts.Taker()));
  REQUIRE(Eventually([&] { return verdicts.Count() == 1; }));
  for (size_t i = 0; i < PasswordVerifier::kMaxVerdicts + 10; ++i) {
    const size_t before = verdicts.Count();
    REQUIRE_FALSE(verifier.Verify(Claim("wrong" + std::to_string(i)), verdicts.Taker()));
    REQUIRE(Eventually([&] { return verdicts.Count() == before + 1; }));
  }
  CHECK(verifier.Verify(Claim("secret"), verdicts.Taker()) == Verdict::kGood);
  // The oldest wrong ones are forgotten.
  CHECK(verifier.Verify(Claim("wrong1000"), verdicts.Taker()) == Verdict::kBad);
  CHECK_FALSE(verifier.Verify(Claim("wrong0"), verdicts.Taker()));
}

TEST_CASE("All kinds of names in a certificate are found", "[server][access]") {
  const MadeCertificate made(
      {.sans = {"DNS:a.example", "DNS:*.b.example", "IP:10.1.2.3", "IP:2001:db8::1",
                "email:ops@example.org", "URI:spiffe://example.org/prometheus"}});
  CHECK(SubjectAltNames(made.x509()) ==
        std::vector<std::string>{"a.example", "*.b.example", "10.1.2.3", "2001:db8::1",
                                 "ops@example.org", "spiffe://example.org/prometheus"});
  CHECK(SubjectAltNames(MadeCertificate({}).x509()).empty());
}

TEST_CASE("What TLS is made of is judged with the name of what is wrong", "[server][access]") {
  const Folder folder;
  const MadeCertificate one({});
  const MadeCertificate other({});
  const auto make = [](const TlsConfig& config) {
    const auto context = TlsContext::Make(config);
    return context ? std::string("good") : context.error().message;
  };
  TlsConfig good;
  good.certificate.text = one.certificate();
  good.key.text = one.key();
  CHECK(make(good) == "good");

  TlsConfig bad = good;
  bad.certificate = {.path = folder.Path("none.crt"), .text = {}};
  CHECK(make(bad).find("cert_file: " + folder.Path("none.crt")) == 0);
  bad = good;
  bad.key = {.path = folder.Path("none.key"), .text = {}};
  CHECK(make(bad).find("key_file: " + folder.Path("none.key")) == 0);
  bad = good;
  bad.certificate.text = "junk";
  CHECK(make(bad).find("cert: no certificates") == 0);
  bad = good;
  bad.certificate.text = one.certificate().substr(0, 200);
  CHECK(make(bad).find("cert: no certificates") == 0);
  bad = good;
  bad.key.text = other.key();
  CHECK(make(bad).find("does not belong") != std::string::npos);
  bad = good;
  bad.key.text =
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGjMF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAk\n"
      "-----END ENCRYPTED PRIVATE KEY-----\n";
  CHECK(make(bad).find("without a pass phrase") != std::string::npos);
  bad = good;
  bad.client_ca.text = "none";
  bad.client_auth = ClientAuth::kRequireAndVerifyClientCert;
  CHECK(make(bad).find("client_ca: no certificates") == 0);
  bad = good;
  bad.cipher_suites = {"TLS_AES_128_GCM_SHA256"};
  bad.max_version = TlsVersion::kTls12;
  CHECK(make(bad).find("cipher_suites") != std::string::npos);
}

TEST_CASE("Tokens open their route only, passwords open all", "[server][access]") {
  AccessRules rules;
  rules.unknown_user_hash = UnknownUserHash(4);
  HttpRoute write;
  write.wants_bearer_token = true;
  const HttpRoute other;
  HttpRequest none;
  HttpRequest token;
  token.headers.push_back({"Authorization", "Bearer good"});
  HttpRequest basic;
  basic.headers.push_back({"Authorization", "Basic YWxpY2U6c2VjcmV0"});
  using V = Judgement::Verdict;
  const auto judge = [&](const HttpRequest& request, const HttpRoute* route) {
    return Judge(rules, request, route).verdict;
  };

  CHECK(judge(none, &write) == V::kAllowed);
  CHECK(judge(none, nullptr) == V::kAllowed);

  rules.wants_tokens = true;
  rules.tokens = {HashToken("good")};
  CHECK(judge(none, &write) == V::kRefused);
  CHECK(judge(token, &write) == V::kAllowed);
  CHECK(judge(basic, &write) == V::kRefused);
  CHECK(judge(none, &other) == V::kAllowed);
  CHECK(judge(none, nullptr) == V::kAllowed);
  CHECK(HeaderNames(Unauthorized(rules, true)) == "Bearer");

  rules.users.emplace("alice", kSecret4);
  CHECK(judge(none, &write) == V::kRefused);
  CHECK(judge(token, &write) == V::kAllowed);
  CHECK(judge(basic, &write) == V::kAskPassword);
  CHECK(judge(token, &other) == V::kRefused);
  CHECK(judge(none, &other) == V::kRefused);
  CHECK(judge(none, nullptr) == V::kRefused);
  CHECK(judge(basic, nullptr) == V::kAskPassword);
  CHECK(HeaderNames(Unauthorized(rules, true)) == "Bearer,Basic");
  CHECK(HeaderNames(Unauthorized(rules, false)) == "Basic");

  const Judgement known = Judge(rules, basic, &other);
  CHECK(known.claim.known_user);
  CHECK(known.claim.hash == kSecret4);
  HttpRequest stranger;
  stranger.headers.push_back({"Authorization", "Basic Ym9iOnNlY3JldA=="});
  const Judgement unknown = Judge(rules, stranger, &other);
  CHECK(unknown.verdict == V::kAskPassword);
  CHECK_FALSE(unknown.claim.known_user);
  CHECK(unknown.claim.hash == rules.unknown_user_hash);
}

}  // namespace tidemark::server
