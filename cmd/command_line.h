#pragma once
// Command lines and their help in the manner of Prometheus' programs: `--dotted.name=value` or
// `--dotted.name value`,
// `-h, --help` and `--version` everywhere. Free functions without state, thread-safe.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"

namespace tidemark::cmd {

struct FlagSpec {
  std::string name;   ///< without the dashes
  std::string value;  ///< what help shows behind `=`: the default or a placeholder; empty: a switch
                      ///< without value
  std::string help;   ///< sentences
};

struct ArgumentSpec {
  std::string name;
  std::string help;
  bool optional = false;  ///< it may be left out; then all that follow are too
};

struct CommandSpec {
  std::string name;         ///< e.g. "tidetool check-config"
  std::string description;  ///< one sentence
  std::vector<FlagSpec> flags;
  std::vector<ArgumentSpec> arguments;
};

struct CommandLine {
  bool help = false;  ///< --help or -h was given; wins over --version, and nothing else was checked
  bool version = false;  ///< --version was given; nothing else was checked
  std::map<std::string, std::string, std::less<>>
      flags;                           ///< those that were given; a switch has the value "true"
  std::vector<std::string> arguments;  ///< at most as many as the spec has
};

/// Reads `args` (without the program's name). Unknown and repeated flags, surplus and missing
/// arguments are kInvalidArgument; values are the caller's to check, a missing one is empty.
Result<CommandLine> ParseCommandLine(const CommandSpec& spec, std::span<const std::string> args);

/// The text of --help, wrapped at 80 columns.
std::string HelpText(const CommandSpec& spec);

/// `text` in lines of at most `width` bytes, broken at spaces; a longer word has a line of its own.
std::vector<std::string> WrapText(std::string_view text, size_t width);

/// The error about the value of a flag: `--name: 7x is not …, allowed: …`.
tl::unexpected<Error> WrongFlag(std::string_view name, std::string_view what);

}  // namespace tidemark::cmd
