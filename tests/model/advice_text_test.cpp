#include "model/advice_text.h"

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "model/amount_text.h"
#include "model/rounding.h"
#include "tests/catch.h"

namespace tidemark {
namespace {

constexpr double kMiB = 1024.0 * 1024;

/// The default preset where a percentile stands in for the hours, and a least pod of VPA's kind.
Profile Default() {
  Profile profile = PresetProfile(Preset::kTidemark);
  profile.rule(Resource::kCpu).pod_minimum = 0.01;
  return profile;
}

ResourceAdvice Cpu() {
  ResourceAdvice advice;
  advice.model_request = 0.217;
  advice.recommended_request = 0.25;
  advice.confidence_days = 8;
  advice.samples = 11520;
  return advice;
}

ResourceAdvice Memory(double model, double recommended) {
  ResourceAdvice advice = Cpu();
  advice.resource = Resource::kMemory;
  advice.model_request = model;
  advice.recommended_request = recommended;
  return advice;
}

ResourceAdvice With(ResourceAdvice advice, std::initializer_list<AdviceMark> marks) {
  for (const AdviceMark mark : marks) advice.Mark(mark);
  return advice;
}

}  // namespace

TEST_CASE("amounts are written as a manifest has them", "[model][amount]") {
  const auto cores = [](double amount) { return AmountText(Resource::kCpu, amount); };
  CHECK(cores(0) == "0");
  CHECK(cores(0.0001) == "<1m");
  CHECK(cores(0.001) == "1m");
  CHECK(cores(0.2174) == "217m");
  CHECK(cores(0.9994) == "999m");
  CHECK(cores(0.9996) == "1");
  CHECK(cores(1.5) == "1.5");
  CHECK(cores(2.345) == "2.35");
  CHECK(cores(12.34) == "12.3");
  CHECK(cores(99.96) == "100");
  CHECK(cores(1234.5) == "1234");
  CHECK(cores(-0.5) == "-500m");
  const auto bytes = [](double amount) { return AmountText(Resource::kMemory, amount); };
  CHECK(bytes(0) == "0");
  CHECK(bytes(1000) == "1000");
  CHECK(bytes(1023.9) == "1Ki");
  CHECK(bytes(250 * kMiB) == "250Mi");
  CHECK(bytes(512 * kMiB) == "512Mi");
  CHECK(bytes(1023.7 * kMiB) == "1Gi");
  CHECK(bytes(1.2 * 1024 * kMiB) == "1.2Gi");
  CHECK(bytes(1.25 * 1024 * kMiB) == "1.25Gi");
  CHECK(bytes(20 * 1024 * 1024 * kMiB) == "20Ti");
  CHECK(bytes(1e300).ends_with("Ei"));
  CHECK(AmountText(Resource::kGpuMemory, 16 * 1024 * kMiB) == "16Gi");
  CHECK(AmountText(Resource::kGpuUtilization, 0.855) == "85.5 %");
  CHECK(AmountText(Resource::kCpu, std::numeric_limits<double>::infinity()) == "unknown");
  CHECK(AmountText(Resource::kCpu, std::nan("")) == "unknown");
}

TEST_CASE("rounding up gives the number that people read", "[model][amount]") {
  CHECK(RoundedUp(0.2162, 0.001) == 0.217);
  CHECK(RoundedUp(0.217, 0.001) == 0.217);
  CHECK(RoundedUp(0.1 + 0.2, 0.1) == 0.3);
  CHECK(RoundedUp(0.21, 0.05) == 0.25);
  CHECK(RoundedUp(1.01, 0.5) == 1.5);
  CHECK(RoundedUp(0.7, 0.3) == Approx(0.9));
  CHECK(RoundedUp(1000000.2, 1) == 1000001);
  CHECK(RoundedUp(5, 4096) == 4096);
  CHECK(RoundedUp(0, 0.001) == 0);
  CHECK(RoundedUp(1.23456, 0) == 1.23456);
  CHECK(WholeAmount(Resource::kCpu, 0.2669) == 0.266);
  CHECK(WholeAmount(Resource::kCpu, 0.35 * 0.8) == 0.28);
  CHECK(WholeAmount(Resource::kGpuUtilization, 0.2669) == 0.266);
  CHECK(WholeAmount(Resource::kMemory, 1000.7) == 1000);
}

TEST_CASE("the sentence follows the number from percentile to margin", "[model][advice_text]") {
  CHECK(AdviceText(Default(), Cpu()) ==
        "cpu 250m: the 90th percentile of 8.0 days of samples is 217m, plus 15 % margin");
}

TEST_CASE("expansion, percentile and level are those of the profile", "[model][advice_text]") {
  Profile profile = PresetProfile(Preset::kOversell);
  profile.level = Level::kNamespace;
  profile.rule(Resource::kCpu).expansion_factor = 1.2;
  CHECK(AdviceText(profile, Cpu()) ==
        "cpu 250m: the 95th percentile of 8.0 days of samples of all containers of the namespace "
        "is 217m, times 1.2 for expansion");
  profile.level = Level::kWorkload;
  profile.rule(Resource::kCpu).expansion_factor = 1;
  profile.rule(Resource::kCpu).percentile = 1;
  CHECK(AdviceText(profile, Cpu()) ==
        "cpu 250m: the highest value of 8.0 days of samples of all containers of the workload is "
        "217m");
}

TEST_CASE("a request by its mark says so", "[model][advice_text]") {
  ResourceAdvice cpu = Cpu();
  cpu.Mark(AdviceMark::kHighWater);
  CHECK(AdviceText(Default(), cpu) ==
        "cpu 250m: the high-water mark of risk 0.001 over 7 days is 217m, plus 15 % margin");
}

TEST_CASE("percentiles have their endings", "[model][advice_text]") {
  Profile profile = Default();
  for (const auto& [ratio, text] :
       std::vector<std::pair<double, std::string>>{{0.01, "the 1st "},
                                                   {0.02, "the 2nd "},
                                                   {0.03, "the 3rd "},
                                                   {0.11, "the 11th "},
                                                   {0.12, "the 12th "},
                                                   {0.13, "the 13th "},
                                                   {0.5, "the 50th "},
                                                   {0.91, "the 91st "},
                                                   {0.99, "the 99th "},
                                                   {0.999, "the 99.9th "}}) {
    profile.rule(Resource::kCpu).percentile = ratio;
    CHECK(AdviceText(profile, Cpu()).find(text) != std::string::npos);
  }
}

TEST_CASE("short pasts are told in hours and minutes", "[model][advice_text]") {
  ResourceAdvice advice = Cpu();
  const auto span = [&](double days) {
    advice.confidence_days = days;
    return AdviceText(Default(), advice);
  };
  CHECK(span(5.5 / 24).find("percentile of 5.5 hours of samples") != std::string::npos);
  CHECK(span(45.0 / 1440).find("percentile of 45 minutes of samples") != std::string::npos);
  CHECK(span(1.0 / 1440).find("percentile of 1 minute of samples") != std::string::npos);
}

TEST_CASE("minimum, floor, rounding and ceiling are named where they did something",
          "[model][advice_text]") {
  Profile profile = PresetProfile(Preset::kVpa);
  CHECK(AdviceText(profile, With(Memory(20 * kMiB, 250 * kMiB), {AdviceMark::kPodMinimum})) ==
        "memory 250Mi: the 90th percentile of 8.0 days of samples is 20Mi, plus 15 % margin, "
        "raised to the container's share of the pod minimum of 250Mi");
  ResourceRule& cpu = profile.rule(Resource::kCpu);
  cpu.floor = 0.23;
  cpu.rounding = 0.05;
  cpu.ceiling = 2;
  CHECK(AdviceText(profile, With(Cpu(), {AdviceMark::kFloor, AdviceMark::kRounded})) ==
        "cpu 250m: the 90th percentile of 8.0 days of samples is 217m, plus 15 % margin, raised to "
        "the floor of 230m, rounded up to a multiple of 50m");
  ResourceAdvice capped = With(Cpu(), {AdviceMark::kCeiling});
  capped.model_request = 3;
  capped.recommended_request = 2;
  CHECK(AdviceText(profile, capped) ==
        "cpu 2: the 90th percentile of 8.0 days of samples is 3, plus 15 % margin, lowered to the "
        "ceiling of 2");
  cpu.rounding = 0.001;
  CHECK(AdviceText(profile, With(Cpu(), {AdviceMark::kRounded})).find("rounded") ==
        std::string::npos);
}

TEST_CASE("kills are counted and say what they ask for", "[model][advice_text]") {
  ResourceAdvice advice = With(Memory(1.2 * 1024 * kMiB, 1.38 * 1024 * kMiB), {AdviceMark::kKills});
  advice.kills = 2;
  CHECK(AdviceText(Default(), advice) ==
        "memory 1.38Gi: killed for memory 2 times, asks for at least 1.2Gi, plus 15 % margin");
  advice.Mark(AdviceMark::kOnlyKills);
  advice.Mark(AdviceMark::kNoUpperBound);
  advice.kills = 1;
  CHECK(AdviceText(Default(), advice) ==
        "memory 1.38Gi: no usage is known; killed for memory once, asks for at least 1.2Gi, plus "
        "15 % margin; too little is known for an upper bound");
  ResourceAdvice covered = Memory(2048 * kMiB, 2355 * kMiB);
  covered.kills = 3;
  CHECK(AdviceText(Default(), covered) ==
        "memory 2.3Gi: the 90th percentile of 8.0 days of samples is 2Gi, plus 15 % margin; killed "
        "for memory 3 times, asks for no more");
}

TEST_CASE("a pod's sum says how it was split", "[model][advice_text]") {
  Profile profile = Default();
  profile.level = Level::kPod;
  CHECK(AdviceText(profile, With(Cpu(), {AdviceMark::kSharedByRequest})) ==
        "cpu 250m: its share, by the containers' requests, of the 90th percentile of 8.0 days of "
        "samples of whole pods is 217m, plus 15 % margin");
  CHECK(AdviceText(profile, With(Cpu(), {AdviceMark::kSharedEqually})) ==
        "cpu 250m: its equal share, as not all requests are known, of the 90th percentile of 8.0 "
        "days of samples of whole pods is 217m, plus 15 % margin");
}

TEST_CASE("a static pool names its ratio and the original", "[model][advice_text]") {
  Profile profile = PresetProfile(Preset::kOversell);
  profile.mode = PoolMode::kStatic;
  profile.rule(Resource::kCpu).static_ratio = 0.8;
  ResourceAdvice advice;
  advice.original_request = 0.5;
  advice.recommended_request = 0.4;
  advice.Mark(AdviceMark::kStatic);
  CHECK(AdviceText(profile, advice) == "cpu 400m: 80 % of the original request of 500m");
  ResourceAdvice unknown;
  unknown.Mark(AdviceMark::kNoOriginal);
  CHECK(AdviceText(profile, unknown) ==
        "cpu: nothing is recommended, the original request, of which this pool takes 80 %, is not "
        "known");
}

TEST_CASE("a static request says nothing of the history", "[model][advice_text]") {
  Profile profile = PresetProfile(Preset::kOversell);
  profile.mode = PoolMode::kStaticAndDynamic;
  profile.rule(Resource::kMemory).static_ratio = 0.5;
  profile.rule(Resource::kMemory).floor = 400 * kMiB;
  ResourceAdvice advice =
      With(Memory(100 * kMiB, 400 * kMiB), {AdviceMark::kStatic, AdviceMark::kFloor,
                                            AdviceMark::kNoUpperBound, AdviceMark::kEarlierRule});
  advice.kills = 1;
  advice.original_request = 512 * kMiB;
  CHECK(AdviceText(profile, advice) ==
        "memory 400Mi: 50 % of the original request of 512Mi, raised to the floor of 400Mi");
}

TEST_CASE("peaks that kills left are not called samples", "[model][advice_text]") {
  ResourceAdvice advice = Memory(1024 * kMiB, 1178 * kMiB);
  advice.samples = 0;
  advice.confidence_days = 0;
  CHECK(AdviceText(Default(), advice) ==
        "memory 1.15Gi: the 90th percentile of the peaks that kills left is 1Gi, plus 15 % margin");
  // To the letter of VPA: the minimum where nothing is known.
  advice.model_request = 0;
  advice.recommended_request = 250 * kMiB;
  advice.Mark(AdviceMark::kPodMinimum);
  CHECK(AdviceText(PresetProfile(Preset::kVpa), advice) ==
        "memory 250Mi: no usage is known, raised to the container's share of the pod minimum of "
        "250Mi");
}

TEST_CASE("a pod's sum that is too young is the containers' own samples", "[model][advice_text]") {
  Profile profile = Default();
  profile.level = Level::kPod;
  CHECK(AdviceText(profile, With(Cpu(), {AdviceMark::kEarlierRule}))
            .starts_with("cpu 250m: the 90th percentile of 8.0 days of samples is 217m"));
}

TEST_CASE("an earlier rule still standing is said", "[model][advice_text]") {
  CHECK(AdviceText(Default(), With(Cpu(), {AdviceMark::kEarlierRule})) ==
        "cpu 250m: the 90th percentile of 8.0 days of samples is 217m, plus 15 % margin; the rule "
        "changed: answers by the rule before until the new one has 24 hours of samples");
}

TEST_CASE("where there is no advice the reason says why", "[model][advice_text]") {
  ResourceAdvice nothing;
  CHECK(AdviceText(Default(), nothing) == "cpu: nothing is recommended yet, no samples have come");
  nothing.samples = 3;
  nothing.confidence_days = 3.0 / 1440;
  CHECK(AdviceText(Default(), nothing) ==
        "cpu: nothing is recommended yet, 3 minutes of samples are too few");
  Profile profile = Default();
  profile.mode = PoolMode::kOff;
  CHECK(AdviceText(profile, nothing) == "cpu: nothing is recommended, the pool is off");
  profile.rule(Resource::kCpu).enabled = false;
  CHECK(AdviceText(profile, nothing) ==
        "cpu: nothing is recommended, the profile leaves this resource out");
  ResourceAdvice minimum;
  minimum.recommended_request = 0.01;
  minimum.Mark(AdviceMark::kPodMinimum);
  CHECK(AdviceText(Default(), minimum) ==
        "cpu 10m: no usage is known, raised to the container's share of the pod minimum of 10m");
}

TEST_CASE("whatever the advice, there is one deterministic line of text", "[model][advice_text]") {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same advice every time
  std::uniform_real_distribution<double> size(-18, 18);
  for (int round = 0; round < 5000; ++round) {
    Profile profile = PresetProfile(static_cast<Preset>(random() % 3));
    profile.level = static_cast<Level>(random() % 4);
    profile.mode = static_cast<PoolMode>(random() % 4);
    ResourceAdvice advice;
    advice.resource = kBuiltInResources[random() % kBuiltInResourceCount];
    advice.marks = static_cast<uint32_t>(random());
    advice.kills = static_cast<uint32_t>(random() % 3);
    advice.samples = random() % 3;
    advice.confidence_days = random() % 2 == 0 ? 0 : std::exp(size(random));
    if (random() % 2 == 0) advice.model_request = std::exp(size(random));
    if (random() % 2 == 0) advice.recommended_request = std::exp(size(random));
    const std::string text = AdviceText(profile, advice);
    REQUIRE(text == AdviceText(profile, advice));
    REQUIRE(text.starts_with(ResourceName(advice.resource)));
    REQUIRE(text.find_first_of("\n\r\t") == std::string::npos);
    REQUIRE(text.find("inf") == std::string::npos);
    REQUIRE(text.find("nan") == std::string::npos);
    REQUIRE(text.size() < 900);
  }
}

TEST_CASE("every mark has a name of its own", "[model][advice_text]") {
  std::set<std::string_view> names;
  uint32_t bits = 0;
  for (const AdviceMark mark : kAllAdviceMarks) {
    CHECK(ToString(mark) != "unknown");
    CHECK(names.insert(ToString(mark)).second);
    bits |= static_cast<uint32_t>(mark);
  }
  CHECK(bits == (1U << kAllAdviceMarks.size()) - 1);
}

}  // namespace tidemark
