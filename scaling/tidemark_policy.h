#pragma once
// Replicas by what a shortage costs and how likely it is.
//
// Of all numbers of replicas N that is taken which costs the least:
//
//   N + price × E[shortness(D, u N base)]
//
// D is the highest demand of the minutes for which this decision is the first to count
// (scaling/lead_demand.h), u the objective's utilisation, base what one pod counts for, and
// shortness 0 where u N base is enough, rising to 1 where D is a ninth above it
// (scaling/demand_odds.h). It is the newsvendor's choice (Arrow, Harris, Marschak 1951): pods are
// added as long as the next one saves more than it costs. So where demand is known well a little
// more buys nearly all safety there is, and is bought; bursts that nothing tells of beforehand are
// covered as far as they are worth it.
//
// The price of a minute of full shortness, in pod-minutes, is
//
//   price = kPricePerTypical × typical demand / base / α × correction,
//
// α being the objective's share of time and the typical demand a running mean of about six hours:
// a workload ten times as large, or an objective ten times as strict, has a price ten times as
// high. The correction is what experience says of it: the share of minutes, over about two days, in
// which demand passed what had been chosen for it, over α; from 1 to 8.
//
// Demand that came at this time on earlier days (scaling/recurring_peaks.h) is one more thing that
// may come, with the chance that the workload's own record gives it.
//
// Never less than what the demand of now needs at u. Few changes: an increase that saves less than
// kLeastGain of the present replicas is none; a decrease by no more than the tolerance, or by one
// pod that saves less than half a pod, waits until nothing more was needed for an hour, and
// then has to save as much.
//
// Without a forecast of which errors are known – no forecast at all, or the first hours of a
// workload – it keeps the demand of now free once more: 2 D / base.
//
// What is remembered takes 0.5 kB at usual start-ups, 1.2 kB at half an hour; a decision is O(60 ×
// 20).

#include <memory>

#include "scaling/policy.h"

namespace tidemark::scaling {

/// Of settings it reads the objective and the tolerance. Answers: the forecast load ratio is the
/// demand that the choice is enough for at u, before the bounds; the target utilisation is the
/// demand of now by what is chosen. Mode: predictive where more is chosen than the demand of now
/// needs.
std::unique_ptr<ReplicaPolicy> MakeTidemarkPolicy(const PolicySettings& settings);

}  // namespace tidemark::scaling
