#pragma once
// How the tools' pages of HTML look.

#include <string_view>

namespace tidemark::replay_requests {

// Colours that are told apart in both schemes, also by most who do not see red and green
// (Okabe and Ito, Color Universal Design, 2008).
inline constexpr std::string_view kPageStyle = R"css(
:root { color-scheme: light dark; --text: #1b1f24; --back: #ffffff; --line: #d0d7de; --soft: #8b949e;
  --p0: #0072b2; --p1: #d55e00; --p2: #009e73; --p3: #cc79a7; --p4: #b58900; --p5: #56b4e9; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --back: #0d1117; --line: #30363d; --soft: #8b949e;
    --p0: #56b4e9; --p1: #e69f00; --p2: #2fd6a4; --p3: #e6a3c8; --p4: #f0e442; --p5: #7aa2f7; } }
body { font: 14px/1.45 system-ui, sans-serif; color: var(--text); background: var(--back);
  max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
h3 { font-size: 1rem; margin-bottom: .3rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; border-bottom: 1px solid var(--line); text-align: right; }
th { color: var(--soft); font-weight: 600; } .name { text-align: left; }
.charts { display: flex; flex-wrap: wrap; gap: 1rem; } .charts figure { flex: 1 1 26rem; margin: 0; }
figcaption { color: var(--soft); } svg { width: 100%; height: auto; }
svg text { font-size: 11px; fill: var(--soft); } .axis { stroke: var(--soft); fill: none; }
.use { fill: var(--soft); fill-opacity: .45; stroke: none; }
.warm { fill: var(--line); fill-opacity: .35; } .request { fill: none; stroke-width: 1.6; }
.p0 { stroke: var(--p0); } .p1 { stroke: var(--p1); } .p2 { stroke: var(--p2); }
.p3 { stroke: var(--p3); } .p4 { stroke: var(--p4); } .p5 { stroke: var(--p5); }
.key { display: inline-block; width: 1.4em; height: 0; border-top: 3px solid; margin-right: .4em;
  vertical-align: middle; }
.k0 { border-color: var(--p0); } .k1 { border-color: var(--p1); } .k2 { border-color: var(--p2); }
.k3 { border-color: var(--p3); } .k4 { border-color: var(--p4); } .k5 { border-color: var(--p5); }
)css";

}  // namespace tidemark::replay_requests
