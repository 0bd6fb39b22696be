#pragma once
// LabelSelector objects of Kubernetes (apimachinery, meta/v1). For this library's .cpp files only.

#include <boost/json/value.hpp>
#include <map>
#include <string>

namespace tidemark::doctor {

using LabelMap = std::map<std::string, std::string>;

/// Whether a LabelSelector matches. One that is absent, empty or no object matches everything; an
/// operator that is not known matches nothing.
bool Matches(const boost::json::value* selector, const LabelMap& labels);
/// As the query parameter labelSelector has it: "workload=web,tier in (a,b)".
std::string SelectorText(const boost::json::value& selector);
/// The texts of an object.
LabelMap LabelsOf(const boost::json::value& object);

}  // namespace tidemark::doctor
