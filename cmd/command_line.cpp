#include "cmd/command_line.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Error.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Option.hpp>
#include <algorithm>
#include <iterator>
#include <utility>

#include "cmd/text.h"

namespace tidemark::cmd {
namespace {

constexpr size_t kHelpWidth = 80;
constexpr size_t kIndent = 2;           // before the first column
constexpr size_t kGap = 2;              // between the columns
constexpr size_t kMaxFirstColumn = 29;  // a longer entry has its text on the next line

struct Row {
  std::string first;
  std::string text;
};

std::string FormatRows(const std::vector<Row>& rows) {
  size_t width = 0;
  for (const Row& row : rows) {
    if (row.first.size() <= kMaxFirstColumn) width = std::max(width, row.first.size());
  }
  const size_t text_column = kIndent + width + kGap;
  std::string out;
  for (const Row& row : rows) {
    const std::vector<std::string> lines = WrapText(row.text, kHelpWidth - text_column);
    std::string line = std::string(kIndent, ' ') + row.first;
    size_t next = 0;
    if (row.first.size() <= width && !lines.empty()) {
      line.resize(text_column, ' ');
      line += lines[next++];
    }
    fmt::format_to(std::back_inserter(out), "{}\n", line);
    for (; next < lines.size(); ++next) {
      fmt::format_to(std::back_inserter(out), "{}{}\n", std::string(text_column, ' '), lines[next]);
    }
  }
  return out;
}

tl::unexpected<Error> Unknown(const CommandSpec& spec, std::string_view given) {
  const std::string_view name = given.substr(0, given.find('='));
  std::vector<std::string> known_text;
  for (const FlagSpec& flag : spec.flags) known_text.push_back("--" + flag.name);
  known_text.insert(known_text.end(), {"--version", "--help"});
  const std::vector<std::string_view> known(known_text.begin(), known_text.end());
  const auto meant = ClosestName(name, known);
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: there is no such flag{}, allowed: {}", Shown(name),
                          meant ? fmt::format(" (did you mean {}?)", *meant) : "", Join(known)));
}

/// `<name>`, `[<name>]` when it may be left out.
std::string Shape(const ArgumentSpec& argument) {
  return fmt::format(fmt::runtime(argument.optional ? "[<{}>]" : "<{}>"), argument.name);
}

std::string AllowedArguments(const CommandSpec& spec) {
  if (spec.arguments.empty()) return "flags only";
  std::string allowed = "flags and";
  for (const ArgumentSpec& argument : spec.arguments) allowed += " " + Shape(argument);
  return allowed;
}

/// Takes `--name=` out of `args`: the library would take the next argument for the value.
void TakeEmptyValues(const CommandSpec& spec, std::vector<std::string>& args,
                     std::map<std::string, std::vector<std::string>>& values) {
  for (const FlagSpec& flag : spec.flags) {
    if (flag.value.empty()) continue;
    const auto taken = std::erase(args, "--" + flag.name + "=");
    values[flag.name].resize(taken);
  }
}

}  // namespace

Result<CommandLine> ParseCommandLine(const CommandSpec& spec, std::span<const std::string> args) {
  std::vector<std::string> rest(args.begin(), args.end());
  std::map<std::string, std::vector<std::string>> values;
  TakeEmptyValues(spec, rest, values);
  CommandLine line;
  try {
    CLI::App app;
    app.set_help_flag();
    app.set_config();
    app.allow_extras();
    const CLI::Option* help = app.add_flag("-h,--help");
    const CLI::Option* version = app.add_flag("--version");
    std::vector<std::pair<const FlagSpec*, const CLI::Option*>> options;
    for (const FlagSpec& flag : spec.flags) {
      CLI::Option* option = nullptr;
      if (flag.value.empty()) {
        option = app.add_flag("--" + flag.name);
      } else {
        // Zero or one value, any number of times: what is wrong with that is said below, in our own
        // words.
        option = app.add_option("--" + flag.name)->expected(0, 1);
      }
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      options.emplace_back(&flag, option);
    }
    std::reverse(rest.begin(), rest.end());  // the library takes them from the back
    app.parse(rest);
    line.help = help->count() > 0;
    line.version = version->count() > 0;
    if (line.help || line.version) return line;
    line.arguments = app.remaining();
    for (const auto& [flag, option] : options) {
      std::vector<std::string>& given = values[flag->name];
      if (flag->value.empty() &&
          option->results() != std::vector<std::string>(option->count(), "true")) {
        return WrongFlag(flag->name, "it takes no value, allowed: the flag alone");
      }
      given.insert(given.end(), option->results().begin(), option->results().end());
    }
  } catch (const CLI::ParseError& e) {
    return Fail(ErrorCode::kInvalidArgument, e.what());
  } catch (const std::exception& e) {
    return Fail(ErrorCode::kInternal, e.what());
  }

  // What stands behind `--` is no flag, whatever it looks like.
  const auto end_of_flags = std::find(line.arguments.begin(), line.arguments.end(), "--");
  for (auto argument = line.arguments.begin(); argument != end_of_flags; ++argument) {
    if (argument->size() > 1 && argument->starts_with('-')) return Unknown(spec, *argument);
  }
  if (end_of_flags != line.arguments.end()) line.arguments.erase(end_of_flags);
  for (auto& [name, given] : values) {
    if (given.size() > 1) return WrongFlag(name, "the flag stands more than once, allowed: once");
    if (given.size() == 1) line.flags.emplace(name, std::move(given.front()));
  }
  const size_t wanted = spec.arguments.size();
  if (line.arguments.size() > wanted) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the argument {} is unexpected, allowed: {}",
                            Shown(line.arguments[wanted]), AllowedArguments(spec)));
  }
  if (line.arguments.size() < wanted && !spec.arguments[line.arguments.size()].optional) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the argument <{}> is missing, allowed: {}",
                            spec.arguments[line.arguments.size()].name, AllowedArguments(spec)));
  }
  return line;
}

std::string HelpText(const CommandSpec& spec) {
  std::string out = fmt::format("usage: {} [<flags>]", spec.name);
  for (const ArgumentSpec& argument : spec.arguments) {
    fmt::format_to(std::back_inserter(out), " {}", Shape(argument));
  }
  out.append("\n\n");
  for (const std::string& text : WrapText(spec.description, kHelpWidth))
    out.append(text).append("\n");
  std::vector<Row> rows = {{"-h, --help", "Show context-sensitive help."},
                           {"    --version", "Show application version."}};
  for (const FlagSpec& flag : spec.flags) {
    rows.push_back(
        {fmt::format("    --{}{}{}", flag.name, flag.value.empty() ? "" : "=", flag.value),
         flag.help});
  }
  out.append("\nFlags:\n").append(FormatRows(rows));
  if (!spec.arguments.empty()) {
    rows.clear();
    for (const ArgumentSpec& argument : spec.arguments) {
      rows.push_back({fmt::format("<{}>", argument.name), argument.help});
    }
    out.append("\nArgs:\n").append(FormatRows(rows));
  }
  return out;
}

std::vector<std::string> WrapText(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.empty()) continue;
    if (lines.empty() || lines.back().size() + 1 + word.size() > width) {
      lines.emplace_back(word);
    } else {
      lines.back().append(" ").append(word);
    }
  }
  return lines;
}

tl::unexpected<Error> WrongFlag(std::string_view name, std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("--{}: {}", name, what));
}

}  // namespace tidemark::cmd
