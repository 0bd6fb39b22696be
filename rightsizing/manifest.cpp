#include "rightsizing/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "model/rightsizing.h"
#include "rightsizing/manifest_pods.h"
#include "rightsizing/source_edit.h"
#include "rightsizing/source_node.h"
#include "rightsizing/yaml_source.h"

namespace tidemark::rightsizing {
namespace {

constexpr int kMaxAttempts = 16;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Result<std::vector<SourceNode>> Read(std::string_view text, ManifestFormat format) {
  if (format == ManifestFormat::kYaml) return ReadYamlSource(text);
  auto document = ReadJsonSource(text);
  if (!document) return tl::unexpected(document.error());
  std::vector<SourceNode> documents;
  documents.push_back(*std::move(document));
  return documents;
}

/// Templates of Helm are no YAML until they are filled in.
std::string WithHint(std::string message, std::string_view text) {
  const size_t brace = text.find("{{");
  if (brace == std::string_view::npos) return message;
  const auto line = 1 + std::ranges::count(text.substr(0, brace), '\n');
  return message + fmt::format(
                       "; line {} has {{{{: a template of Helm has to be rendered first "
                       "(helm template)",
                       line);
}

/// What one pod is to have.
struct PodEdit {
  Wanted annotations;                               // of the pod node
  std::vector<std::pair<size_t, Wanted>> requests;  // by container
};

PodEdit EditOf(const PodPlan& plan) {
  PodEdit edit;
  const auto annotate = [&](std::string_view name, const std::optional<std::string>& value) {
    if (value) edit.annotations.At("metadata").At("annotations").At(name).text = *value;
  };
  annotate(kOriginalAnnotation, plan.original_annotation);
  annotate(kAppliedAnnotation, plan.applied_annotation);
  for (const RequestChange& change : plan.changes) {
    auto found =
        std::ranges::find(edit.requests, change.container, &std::pair<size_t, Wanted>::first);
    if (found == edit.requests.end()) {
      edit.requests.emplace_back(change.container, Wanted());
      found = edit.requests.end() - 1;
    }
    found->second.At("resources").At("requests").At(change.resource).text = change.after;
  }
  return edit;
}

class Rightsizing {
 public:
  Rightsizing(std::string_view text, ManifestFormat format, std::string_view name_space,
              const PodPlanner& plan)
      : format_(format), name_space_(name_space.empty() ? "default" : name_space), plan_(plan) {
    result_.text = text;
    result_.format = format;
    style_.json = format == ManifestFormat::kJson;
    if (text.find("\r\n") != std::string_view::npos) style_.newline = "\r\n";
  }

  Result<RightsizedManifest> Do() {
    auto documents = Read(result_.text, format_);
    if (!documents) {
      return Fail(ErrorCode::kInvalidArgument, WithHint(documents.error().message, result_.text));
    }
    documents_ = *std::move(documents);
    std::vector<Planned> planned;
    for (size_t document = 0; document < documents_.size(); ++document) {
      const std::vector<ManifestPod> pods = FindPods(documents_[document]);
      for (size_t i = 0; i < pods.size(); ++i) Plan(pods[i], document, i, planned);
    }
    CarryAll(planned);
    for (const Planned& pod : planned) {
      if (pod.problem.empty()) {
        Tell(pod);
      } else {
        Keep(pod.line, pod.problem);
      }
    }
    return std::move(result_);
  }

 private:
  /// What is meant with one pod.
  struct Planned {
    size_t document = 0;
    size_t index = 0;  // among the document's pods
    ManifestLine line;
    PodView view;
    PodPlan plan;
    PodEdit edit;
    std::string problem;  // why it is left alone; empty: it is not

    bool HasEdit() const { return edit.annotations.IsMap() || !edit.requests.empty(); }
  };

  void Plan(const ManifestPod& pod, size_t document, size_t index, std::vector<Planned>& planned) {
    Planned& of = planned.emplace_back();
    of.document = document;
    of.index = index;
    of.view = pod.view;
    if (of.view.workload.name_space.empty()) of.view.workload.name_space = name_space_;
    of.line.document = document + 1;
    of.line.kind = pod.kind;
    of.line.name_space = of.view.workload.name_space;
    of.line.name = pod.name;
    of.problem = pod.problem;
    if (of.problem.empty() && of.view.workload.workload.empty()) of.problem = "it has no name";
    if (!of.problem.empty()) return;
    of.plan = plan_(of.view);
    of.problem = of.plan.why_not;
    if (of.problem.empty()) of.edit = EditOf(of.plan);
  }

  /// All at once, since each reading costs; where that does not go, by halves, to find those that
  /// are at fault.
  void CarryAll(std::span<Planned> pods) {
    if (std::ranges::none_of(pods, &Planned::HasEdit)) return;
    const bool may_try = attempts_++ < kMaxAttempts;
    const auto done = may_try ? Carry(pods)
                              : Fail(ErrorCode::kInvalidArgument,
                                     "too many objects beside it could not be edited either");
    if (done) return;
    if (pods.size() > 1 && may_try) {
      CarryAll(pods.first(pods.size() / 2));
      CarryAll(pods.subspan(pods.size() / 2));
      return;
    }
    for (Planned& pod : pods) {
      if (pod.HasEdit()) pod.problem = "it could not be edited: " + done.error().message;
    }
  }

  /// Carries the edits out where the text then reads as it should; all nodes are of a new reading
  /// afterwards. Else nothing is changed.
  Result<void> Carry(std::span<const Planned> pods) {
    SourceEditor editor(result_.text, style_);
    std::vector<SourceNode> expected = documents_;
    std::map<size_t, std::vector<ManifestPod>> of_document;
    std::map<size_t, std::vector<ManifestPod>> of_expected;
    for (const Planned& pod : pods) {
      if (!pod.HasEdit()) continue;
      const auto [found, is_new] = of_document.try_emplace(pod.document);
      if (is_new) {
        found->second = FindPods(documents_[pod.document]);
        of_expected[pod.document] = FindPods(expected[pod.document]);
      }
      const ManifestPod& source = found->second.at(pod.index);
      if (auto done = editor.Set(*source.pod, pod.edit.annotations); !done) return done;
      for (const auto& [container, wanted] : pod.edit.requests) {
        if (auto done = editor.Set(*source.containers.at(container), wanted, "name"); !done) {
          return done;
        }
      }
      Expect(pod, of_expected[pod.document].at(pod.index));
    }
    std::string text = editor.Text();
    auto read = Read(text, format_);
    if (!read) return tl::unexpected(read.error());
    if (!std::ranges::equal(*read, expected, SameMeaning)) {
      return Fail(ErrorCode::kInvalidArgument, "it would not read as it should");
    }
    result_.text = std::move(text);
    documents_ = *std::move(read);
    return {};
  }

  /// The pod's tree, which is of a copy of the documents, with what is planned for it.
  static void Expect(const Planned& pod, const ManifestPod& copy) {
    const auto node = [](const SourceNode* found) { return const_cast<SourceNode*>(found); };
    // Containers are items of a list that does not grow; the pod's own map may, and goes last.
    for (const auto& [container, wanted] : pod.edit.requests) {
      Apply(*node(copy.containers.at(container)), wanted);
    }
    if (pod.edit.annotations.IsMap()) Apply(*node(copy.pod), pod.edit.annotations);
  }

  void Keep(ManifestLine line, std::string what) {
    line.what = std::move(what);
    result_.kept.push_back(std::move(line));
  }

  void Tell(const Planned& pod) {
    for (const RequestChange& change : pod.plan.changes) {
      ManifestLine& line = result_.changes.emplace_back(pod.line);
      line.container = pod.view.containers[change.container].name;
      line.resource = change.resource;
      line.before = change.before;
      line.after = change.after;
      line.rule = ToString(change.rule);
      line.what = change.what;
    }
    for (const RequestKept& kept : pod.plan.kept) {
      ManifestLine& line = result_.kept.emplace_back(pod.line);
      const PodContainer& container = pod.view.containers[kept.container];
      line.container = container.name;
      line.resource = kept.resource;
      const auto written = container.requests.find(kept.resource);
      if (written != container.requests.end()) line.before = line.after = written->second;
      line.rule = ToString(kept.rule);
      line.what = kept.what;
    }
  }

  const ManifestFormat format_;
  const std::string name_space_;
  const PodPlanner& plan_;
  SourceStyle style_;
  std::vector<SourceNode> documents_;
  RightsizedManifest result_;
  int attempts_ = 0;
};

}  // namespace

ManifestFormat FormatOf(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return ManifestFormat::kYaml;
  const bool is_bracket = text[first] == '{' || text[first] == '[';
  return is_bracket && ReadJsonSource(text) ? ManifestFormat::kJson : ManifestFormat::kYaml;
}

Result<RightsizedManifest> RightsizeManifest(std::string_view text, std::string_view name_space,
                                             const PodPlanner& plan) {
  const bool has_mark = text.starts_with(kByteOrderMark);
  if (has_mark) text.remove_prefix(kByteOrderMark.size());
  auto done = Rightsizing(text, FormatOf(text), name_space, plan).Do();
  if (done && has_mark) done->text.insert(0, kByteOrderMark);
  return done;
}

}  // namespace tidemark::rightsizing
