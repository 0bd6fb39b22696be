// Traces from files and from answers of a Prometheus.

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "cmd/replay_requests/manifest.h"
#include "cmd/replay_requests/trace_builder.h"
#include "cmd/replay_requests/trace_csv.h"
#include "cmd/replay_requests/trace_files.h"
#include "tests/catch.h"
#include "tests/replay_requests/replay_fixture.h"

namespace tidemark::replay_requests {
namespace {

constexpr std::string_view kHead = "unix_seconds,pod,cpu_cores,memory_bytes\n";

Trace Good(const std::string& rows) {
  const auto trace = ParseTraceCsv(std::string(kHead) + rows, "t.csv");
  INFO((trace ? "" : trace.error().message));
  REQUIRE(trace);
  return *trace;
}

std::string Wrong(const std::string& text) {
  const auto trace = ParseTraceCsv(text, "t.csv");
  REQUIRE_FALSE(trace);
  CHECK(trace.error().code == ErrorCode::kInvalidArgument);
  return trace.error().message;
}
std::string WrongRows(const std::string& rows) { return Wrong(std::string(kHead) + rows); }

/// A folder that is gone after the test.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("tidemark_traces_test_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void Write(const std::string& name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string TwoSteps() { return std::string(kHead) + "300,a,1,2\n600,a,1,2\n"; }

}  // namespace

TEST_CASE("A trace is read onto its grid", "[replay]") {
  const Trace trace = Good("300,a,0.25,1000\r\n300,b,1e-3,2000\n600,a,0.5,\n\n1200,a,0,3000\n");
  CHECK(trace.start_ms == 300'000);
  CHECK(trace.step_ms == 300'000);
  REQUIRE(trace.steps == 4);
  REQUIRE(trace.pods.size() == 2);
  CHECK(trace.pods[0].pod == "a");
  CHECK(trace.pods[0].samples[0][0] == 0.25);
  CHECK(trace.pods[0].samples[0][1] == 0.5);
  CHECK_FALSE(IsThere(trace.pods[0].samples[1][1]));  // an empty cell
  CHECK_FALSE(IsThere(trace.pods[0].samples[0][2]));  // no row
  CHECK(trace.pods[0].samples[1][3] == 3000);
  CHECK(trace.pods[1].samples[0][0] == 0.001);
  CHECK_FALSE(IsThere(trace.pods[1].samples[0][1]));
}

TEST_CASE("What is no trace is refused with file, line and what is allowed", "[replay]") {
  CHECK(Wrong("") ==
        "t.csv:1: \"\" is not the first line of a trace, allowed: "
        "unix_seconds,pod,cpu_cores,memory_bytes");
  CHECK(Wrong("time,pod\n").starts_with("t.csv:1: \"time,pod\" is not the first line"));
  CHECK(WrongRows("300,a,1\n") ==
        "t.csv:2: 3 cells, allowed: 4 (unix_seconds,pod,cpu_cores,memory_bytes)");
  CHECK(WrongRows("300,a,1,2\nx,a,1,2\n") ==
        "t.csv:3: unix_seconds: \"x\" is no time, allowed: whole seconds since 1970");
  CHECK(WrongRows("-1,a,1,2\n").find("is no time") != std::string::npos);
  CHECK(WrongRows("600,a,1,2\n300,a,1,2\n") ==
        "t.csv:3: unix_seconds: 300 comes after 600, allowed: rows sorted by time");
  CHECK(WrongRows("300,,1,2\n") ==
        "t.csv:2: pod: \"\" is no name, allowed: 1 to 253 bytes of UTF-8");
  CHECK(WrongRows("300,a\x01,1,2\n").find("is no name") != std::string::npos);
  CHECK(WrongRows("300,a,1,2\n300,a,1,2\n") ==
        "t.csv:3: pod: a stands at 300 twice, allowed: once at each time");
  CHECK(WrongRows("300,a,-1,2\n") ==
        "t.csv:2: \"-1\" is no usage, allowed: 0 to 1e+06 cores, or nothing where it is not known");
  for (const char* const number : {"nan", "inf", "1e7", "1x", " 1", "0x1"}) {
    CAPTURE(number);
    CHECK(WrongRows(std::string("300,a,") + number + ",2\n").find("is no usage") !=
          std::string::npos);
  }
  CHECK(WrongRows("300,a,1,2e15\n").find("0 to 1e+15 bytes") != std::string::npos);
  CHECK(WrongRows("300,a,1,2\n") == "t.csv:2: samples of 1 times, allowed: at least 2");
  CHECK(WrongRows("300,a,1,2\n600,a,1,2\n1000,a,1,2\n") ==
        "t.csv:4: unix_seconds: 1000 is not a multiple of 300 s after the first time, allowed: "
        "even steps (missing ones may be left out)");
  CHECK(WrongRows("300,a,1,2\n330,a,1,2\n") == "t.csv:3: steps of 30 s, allowed: 60 s to 3600 s");
}

TEST_CASE("Times that are far apart do not make memory grow", "[replay]") {
  const std::string message = WrongRows("0,a,1,2\n60,a,1,2\n99999999960,a,1,2\n");
  CHECK(message == "t.csv:4: 1666666667 steps of 1 pods, allowed: 10000000 in all");
}

TEST_CASE("A manifest gives classes and owners' sizes, by the names of its columns", "[replay]") {
  const auto lines = ParseManifest(
      "source,file,real,class,original_cpu_cores,original_memory_bytes\n"
      "x,a.csv,1,steady,2,4096\ny,b.csv,0,,,\n",
      "m");
  REQUIRE(lines);
  REQUIRE(lines->size() == 2);
  CHECK((*lines)[0].file == "a.csv");
  CHECK((*lines)[0].kind == "steady");
  CHECK((*lines)[0].real);
  CHECK((*lines)[0].original[0] == 2.0);
  CHECK((*lines)[0].original[1] == 4096.0);
  CHECK_FALSE((*lines)[1].real);
  CHECK_FALSE((*lines)[1].original[0].has_value());
  CHECK_FALSE((*lines)[0].pods_per_unit.has_value());
}

TEST_CASE("A manifest says how many pods a demand keeps busy", "[replay]") {
  const auto lines = ParseManifest("file,pods_per_unit\na.csv,0.2\nb.csv,\n", "m");
  REQUIRE(lines);
  CHECK((*lines)[0].pods_per_unit == 0.2);
  CHECK_FALSE((*lines)[1].pods_per_unit.has_value());
  for (const std::string bad : {"0", "-1", "nan", "inf", "1e-300", "x", "0.2x"}) {
    const auto wrong = ParseManifest("file,pods_per_unit\na.csv," + bad + "\n", "m");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message == "m:2: pods_per_unit: \"" + bad +
                                       "\" is no number of pods, allowed: 1e-12 to 1e+12, or "
                                       "nothing");
  }
}

TEST_CASE("What is no manifest is refused", "[replay]") {
  const auto wrong = [](std::string_view text) {
    const auto lines = ParseManifest(text, "m");
    REQUIRE_FALSE(lines);
    return lines.error().message;
  };
  CHECK(wrong("").starts_with("m:1: its first line has no column \"file\""));
  CHECK(wrong("class,real\n").starts_with("m:1: its first line has no column \"file\""));
  CHECK(wrong("file\n../a.csv\n") ==
        "m:2: file: \"../a.csv\" is no name, allowed: that of a file beside the manifest");
  CHECK(wrong("file\n..\n").find("is no name") != std::string::npos);
  CHECK(wrong("file,real\na,2\n") == "m:2: real: \"2\" is neither, allowed: 0, 1");
  CHECK(wrong("file\na\na\n") == "m:3: file: a stands here twice, allowed: once");
  CHECK(wrong("file,class\na\n") == "m:2: 1 cells, allowed: 2, as in the first line");
  CHECK(wrong("file,original_cpu_cores\na,0\n") ==
        "m:2: original_cpu_cores: \"0\" is no amount, allowed: above 0 to 1e+06, or nothing");
}

TEST_CASE("A folder is read by its manifest, or all of it by name", "[replay]") {
  const Folder folder;
  folder.Write("b.csv", TwoSteps());
  folder.Write("a.csv", TwoSteps());
  folder.Write("readme.md", "no trace");
  auto traces = LoadTraces(folder.path());
  REQUIRE(traces);
  REQUIRE(traces->size() == 2);
  CHECK((*traces)[0].name == "a");
  CHECK((*traces)[1].name == "b");
  CHECK((*traces)[1].workload.workload == "b");
  CHECK((*traces)[0].kind.empty());

  folder.Write("manifest.csv", "file,class,real,original_cpu_cores\nb.csv,bursty,0,3\n");
  traces = LoadTraces(folder.path());
  REQUIRE(traces);
  REQUIRE(traces->size() == 1);
  CHECK((*traces)[0].name == "b");
  CHECK((*traces)[0].kind == "bursty");
  CHECK_FALSE((*traces)[0].real);
  CHECK((*traces)[0].original[0] == 3.0);

  const auto one = LoadTraces(folder / "b.csv");
  REQUIRE(one);
  CHECK(one->front().kind == "bursty");  // the manifest beside it
  const auto other = LoadTraces(folder / "a.csv");
  REQUIRE(other);
  CHECK(other->front().kind.empty());
}

TEST_CASE("The byte order mark of a spreadsheet is none of the text", "[replay]") {
  const Folder folder;
  folder.Write("a.csv", "\xef\xbb\xbf" + TwoSteps());
  folder.Write("manifest.csv",
               "\xef\xbb\xbf"
               "file,class\na.csv,bursty\n");
  const auto traces = LoadTraces(folder.path());
  INFO((traces ? "" : traces.error().message));
  REQUIRE(traces);
  CHECK(traces->front().kind == "bursty");
}

TEST_CASE("A pipe is not waited for", "[replay]") {
  const Folder folder;
  REQUIRE(mkfifo((folder / "pipe.csv").c_str(), 0600) == 0);
  const auto traces = LoadTraces(folder / "pipe.csv");
  REQUIRE_FALSE(traces);
  CHECK(traces.error().code == ErrorCode::kIo);
}

TEST_CASE("Files that cannot be read are named", "[replay]") {
  const Folder folder;
  const auto nowhere = LoadTraces(folder / "none.csv");
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().code == ErrorCode::kIo);
  CHECK(nowhere.error().message ==
        (folder / "none.csv") + ": cannot be read, allowed: a CSV file or a folder of them");
  const auto empty = LoadTraces(folder.path());
  REQUIRE_FALSE(empty);
  CHECK(empty.error().message == folder.path() +
                                     ": no traces, allowed: a CSV file, or a folder with "
                                     "manifest.csv or *.csv");
  folder.Write("bad.csv", "x\n");
  const auto bad = LoadTraces(folder.path());
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message.starts_with((folder / "bad.csv") + ":1: "));
  folder.Write("manifest.csv", "file\ngone.csv\n");
  const auto gone = LoadTraces(folder.path());
  REQUIRE_FALSE(gone);
  CHECK(gone.error().message.starts_with((folder / "gone.csv") + ": cannot be read"));
}

TEST_CASE("Series of a query become traces by workload and container", "[replay]") {
  TraceBuilder builder(kStart, kStart + 10 * kMinute, 5 * kMinute);
  const WorkloadId web{
      .cluster = "", .name_space = "shop", .workload_type = "deployment", .workload = "web"};
  REQUIRE(builder.Add(web, "app", "web-1", 0, {{kStart, 0.5}, {kStart + 10 * kMinute, 0.25}}));
  REQUIRE(builder.Add(web, "app", "web-1", 1, {{kStart + 5 * kMinute, 100}}));
  // Another run of the same container; beside the grid; no usage.
  REQUIRE(builder.Add(web, "app", "web-1", 1, {{kStart + 5 * kMinute, 300}}));
  REQUIRE(builder.Add(web, "app", "web-2", 0, {{kStart + 1, 7}, {kStart, -1}, {kStart, kAbsent}}));
  REQUIRE(builder.Add({}, "", "x", 0, {{kStart, 1}}));
  builder.SetOriginal(web, "app", 0, 2);
  builder.SetOriginal(web, "sidecar", 0, 2);  // of which nothing is known
  const std::vector<Trace> traces = builder.Take();
  REQUIRE(traces.size() == 2);
  CHECK(traces[0].name == "query");
  const Trace& trace = traces[1];
  CHECK(trace.name == "shop/web/app");
  CHECK(trace.workload.workload_type == "deployment");
  CHECK(trace.container == "app");
  CHECK(trace.steps == 3);
  CHECK(trace.original[0] == 2.0);
  REQUIRE(trace.pods.size() == 2);
  CHECK(trace.pods[0].samples[0][0] == 0.5);
  CHECK_FALSE(IsThere(trace.pods[0].samples[0][1]));
  CHECK(trace.pods[0].samples[0][2] == 0.25);
  CHECK(trace.pods[0].samples[1][1] == 300);
  for (const double sample : trace.pods[1].samples[0]) CHECK_FALSE(IsThere(sample));
}

TEST_CASE("More history than memory is meant for is refused", "[replay]") {
  TraceBuilder builder(kStart, kStart + 9'999'999 * kMinute, kMinute);
  REQUIRE(builder.Add({}, "", "a", 0, {}));
  REQUIRE(builder.Add({}, "", "a", 1, {}));
  REQUIRE(builder.Add({}, "", "b", 0, {}));
  const auto third = builder.Add({}, "", "c", 0, {});
  REQUIRE_FALSE(third);
  CHECK(third.error().message.starts_with("too much history for one run"));
}

}  // namespace tidemark::replay_requests
