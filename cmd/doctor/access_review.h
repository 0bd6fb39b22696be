#pragma once
// May somebody do something? (authorization.k8s.io/v1 SubjectAccessReview.) For this library's .cpp
// files only.

#include <string>
#include <vector>

#include "cmd/doctor/asker.h"

namespace tidemark::doctor {

struct AccessQuestion {
  std::string user;
  std::vector<std::string> groups;
  std::string verb;
  std::string group;
  std::string resource;
  std::string name_space{};  ///< empty: all
  std::string name{};        ///< empty: any
};

struct AccessReply {
  unsigned status = 0;
  std::string trouble{};  ///< empty: it was answered
  bool allowed = false;
};
AccessReply Review(Asker& kubernetes, const AccessQuestion& question);

/// The user and groups of a service account, as kube-apiserver names them.
AccessQuestion AsServiceAccount(const std::string& name_space, const std::string& name);

}  // namespace tidemark::doctor
