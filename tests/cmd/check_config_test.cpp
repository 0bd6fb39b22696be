// tidetool as a program: what it prints where, and its exit codes.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "cmd/build_info.h"
#include "cmd/config.h"
#include "tests/catch.h"

namespace tidemark::cmd {
namespace {

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

/// A directory of this process that is gone after the test.
class Scratch {
 public:
  Scratch()
      : path_(std::filesystem::temp_directory_path() /
              ("tidemark_tidetool_test_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void Write(const std::string& name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// Runs the tool in the directory, through the shell.
  Outcome Run(const std::string& arguments) const {
    const std::string command =
        "cd '" + path_.string() + "' && '" TIDEMARK_TIDETOOL "' " + arguments + " 2>stderr.txt";
    Outcome outcome;
    std::FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::array<char, 4096> block{};
    size_t size = 0;
    while ((size = std::fread(block.data(), 1, block.size(), pipe)) > 0)
      outcome.out.append(block.data(), size);
    const int status = pclose(pipe);
    REQUIRE(WIFEXITED(status));
    outcome.code = WEXITSTATUS(status);
    outcome.err = Read("stderr.txt");
    return outcome;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("check-config says OK to a good file and leaves with 0", "[cmd][tidetool]") {
  const Scratch scratch;
  scratch.Write("good.yml", "sources: [{metric: a, role: request}]\nlimits: {max_series: 1000}\n");
  const Outcome outcome = scratch.Run("check-config good.yml");
  CHECK(outcome.code == 0);
  CHECK(outcome.out.starts_with("good.yml: OK\n"));
  CHECK(outcome.out.find("1 lines from the file; at most 1000 series\n") != std::string::npos);
  CHECK(outcome.err.empty());
}

TEST_CASE("check-config counts rules and warns of those that will surprise", "[cmd][tidetool]") {
  const Scratch scratch;
  scratch.Write("rules.yml",
                "forecast: {workloads: [{selector: '{}'}]}\n"
                "scaling: {workloads: [{selector: '{}'}, {selector: '{workload=\"a\"}'}]}\n");
  const Outcome outcome = scratch.Run("check-config rules.yml");
  CHECK(outcome.code == 0);
  CHECK(
      outcome.out.starts_with("rules.yml: OK\n  0 profiles; 1 rules of forecasts, 2 of scaling; "));
  CHECK(outcome.out.ends_with(
      "\n  warning: scaling.workloads[1]: it never applies, since scaling.workloads[0] {} comes "
      "before it\n"));
  CHECK(outcome.err.empty());
  const Outcome why = scratch.Run("check-config rules.yml --explain=shop/daemonset/agent");
  CHECK(why.code == 0);
  CHECK(why.out.ends_with(
      "\n  there is no target: a daemonset has no number of replicas that could be set\n"));
}

TEST_CASE("check-config names the error of a bad file on one line and leaves with 2",
          "[cmd][tidetool]") {
  const Scratch scratch;
  scratch.Write("bad.yml", "limits:\n  max_series: 0\n");
  const Outcome outcome = scratch.Run("check-config bad.yml");
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err ==
        "tidetool check-config: error: bad.yml:2: limits.max_series: 0 is out of range, allowed: 1 "
        "<= x <= 1000000000\n");
}

TEST_CASE("check-config --dump prints a configuration that gives the same dump",
          "[cmd][tidetool]") {
  const Scratch scratch;
  scratch.Write("in.yml", "estimation: {cpu: {percentile: 0.95}}\n");
  const Outcome first = scratch.Run("check-config --dump in.yml");
  CHECK(first.code == 0);
  CHECK(first.out.find("    percentile: 0.95\n") != std::string::npos);
  scratch.Write("out.yml", first.out);
  CHECK(scratch.Run("check-config out.yml --dump").out == first.out);
  scratch.Write("empty.yml", "");
  CHECK(scratch.Run("check-config --dump empty.yml").out == DumpConfig(Config{}));
}

TEST_CASE("check-config --explain answers on standard output, and asks on standard error",
          "[cmd][tidetool]") {
  const Scratch scratch;
  scratch.Write("p.yml",
                "profiles: [{name: a, selector: '{namespace=\"shop\", container=\"x\"}'}]\n");
  const Outcome good =
      scratch.Run("check-config p.yml --explain=shop/deployment/web --container=x");
  CHECK(good.code == 0);
  CHECK(good.out.starts_with("shop/deployment/web container x: profile a\n"));
  CHECK(good.err.empty());
  const Outcome other =
      scratch.Run("check-config --explain other/job/b --pod-labels '{label_a=\"b\"}' p.yml");
  CHECK(other.code == 0);
  CHECK(other.out.starts_with("other/job/b: profile default\n"));
  for (const std::string arguments : {"--explain=shop/deployment/web", "--explain=web",
                                      "--explain=a/b/c --dump", "--cluster=c"}) {
    CAPTURE(arguments);
    const Outcome bad = scratch.Run("check-config p.yml " + arguments);
    CHECK(bad.code == 2);
    CHECK(bad.out.empty());
    CHECK(bad.err.starts_with("tidetool check-config: error: --"));
  }
}

TEST_CASE("A file that is not there is an error of the command line", "[cmd][tidetool]") {
  const Scratch scratch;
  const Outcome outcome = scratch.Run("check-config absent.yml");
  CHECK(outcome.code == 2);
  CHECK(outcome.err ==
        "tidetool check-config: error: absent.yml: the file cannot be read: No such file or "
        "directory\n");
}

TEST_CASE("Wrong commands, flags and arguments leave with 2 and one line", "[cmd][tidetool]") {
  const Scratch scratch;
  for (const std::string arguments :
       {"", "chek-config x", "--frobnicate", "-x", "check-config", "check-config a b",
        "check-config --dmp a", "check-config --dump --dump a", "check-config ''"}) {
    CAPTURE(arguments);
    const Outcome outcome = scratch.Run(arguments);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.starts_with("tidetool"));
    CHECK(outcome.err.find(": error: ") != std::string::npos);
    CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
  }
  CHECK(scratch.Run("chek-config x").err.find("(did you mean check-config?)") != std::string::npos);
}

TEST_CASE("Help and version go to standard output with 0", "[cmd][tidetool]") {
  const Scratch scratch;
  for (const std::string arguments : {"--help", "-h", "check-config --help", "check-config -h"}) {
    CAPTURE(arguments);
    const Outcome outcome = scratch.Run(arguments);
    CHECK(outcome.code == 0);
    CHECK(outcome.out.starts_with("usage: tidetool "));
    CHECK(outcome.out.find("\nFlags:\n") != std::string::npos);
    CHECK(outcome.err.empty());
  }
  CHECK(scratch.Run("--help").out.find("\ncheck-config [<flags>] <file>\n    ") !=
        std::string::npos);
  CHECK(scratch.Run("--version").out == VersionText("tidetool"));
  CHECK(scratch.Run("check-config --version").out == VersionText("tidetool"));
}

}  // namespace tidemark::cmd
