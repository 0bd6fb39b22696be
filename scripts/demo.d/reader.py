#!/usr/bin/env python3
"""Reads Tidemark's advice back from Prometheus' HTTP API and shows it. Part of scripts/demo; standard library only.

  reader.py free-port PREFERRED         prints PREFERRED if it is free on 127.0.0.1, else another port
  reader.py probe URL                   exit code 0 if URL answers 200
  reader.py watch --prometheus URL …    the table, again and again, and with --tidemark URL why two of the requests are
                                        what they are; with --once until the goal is reached
"""

import argparse
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

# Everything is on this machine: no proxy of the environment is to be asked.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))

IDENTITY = ("namespace", "workload_type", "workload", "container", "resource")

# To sort cores and bytes in one list they need a common measure; clouds sell about 4 GiB of memory for each core.
BYTES_PER_CORE = 4 * 2**30


def fetch(url, timeout=5):
    with OPENER.open(url, timeout=timeout) as answer:
        return answer.read()


def free_port(preferred):
    for port in (preferred, 0):
        with socket.socket() as probe:
            # As servers do it: a port whose last connections only linger is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise SystemExit("no free port on 127.0.0.1")


class Prometheus:
    def __init__(self, url):
        self.url = url.rstrip("/")

    def query(self, expression):
        """{identity: value} of an instant query; {} when Prometheus cannot be asked."""
        url = f"{self.url}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
        rows = {}
        for row in json.loads(fetch(url))["data"]["result"]:
            rows[tuple(row["metric"].get(label, "") for label in IDENTITY)] = float(row["value"][1])
        return rows

    def sick_targets(self):
        targets = json.loads(fetch(f"{self.url}/api/v1/targets"))["data"]["activeTargets"]
        return [
            f"scrape of job {target['labels']['job']} is {target['health']}: {target['lastError']}"
            for target in targets
            if target["health"] != "up"
        ]


class Advice:
    """All recommendations at one moment."""

    def __init__(self, prometheus):
        self.recommended = prometheus.query("tidemark_recommended_request")
        self.current = prometheus.query("tidemark_current_request")
        self.reclaimable = prometheus.query("tidemark_reclaimable")
        self.days = prometheus.query("tidemark_recommendation_confidence_days")

    def workloads(self):
        """(namespace, type, name) of what has a recommendation for its CPU and for its memory."""
        return {row for row in self._complete() if row[1] != "process"}

    def experienced(self, days):
        """Those of workloads() whose every request of CPU rests on so many days.

        Of memory a history with a sample every five minutes tells one minute in five, and counts as so much less.
        """
        young = {row[:3] for row in self.recommended if row[4] == "cpu" and self.days.get(row, 0) < days}
        return self.workloads() - young

    def processes(self):
        return {row for row in self._complete() if row[1] == "process"}

    def _complete(self):
        cpu = {row[:3] for row in self.recommended if row[4] == "cpu"}
        memory = {row[:3] for row in self.recommended if row[4] == "memory"}
        return cpu & memory

    def counts(self):
        return f"{len(self.workloads())} workloads and {len(self.processes())} of this machine's processes"


class Reasons:
    """Why two requests are what they are, in Tidemark's own words: that of a container that was killed for memory, and
    that of the one that requests most for nothing; and how many replicas what is autoscaled should have."""

    def __init__(self, url):
        self.url = url.rstrip("/")
        items = []
        token = ""
        while token is not None:
            page = {"limit": 10000, **({"page_token": token} if token else {})}
            data = json.loads(fetch(f"{self.url}/api/v1/recommendations?{urllib.parse.urlencode(page)}"))["data"]
            items += data["recommendations"]
            token = data.get("next")
        killed = [item for item in items if item.get("kills")]
        oversized = [item for item in items if item.get("reclaimable", 0) > 0]
        self.scaled = json.loads(fetch(f"{self.url}/api/v1/scaling"))["data"]["workloads"]
        self.killed = max(killed, key=lambda item: (item["kills"], item["workload"]), default=None)
        self.oversized = max(oversized, key=lambda item: cores_worth(item["reclaimable"], item["resource"]), default=None)

    def lines(self):
        lines = []
        for what, item in (("killed for memory", self.killed), ("requests most for nothing", self.oversized)):
            if item is None:
                continue
            path = "/".join(urllib.parse.quote(item[key], safe="") for key in ("namespace", "workload_type", "workload"))
            lines.append(f"{what}: {item['namespace']}/{item['workload']} {item.get('container', '')}")
            lines.append(f"  {item['reason']}")
            lines.append(f"  curl {self.url}/api/v1/workloads/{path}")
        for item in self.scaled:
            lines.append(f"replicas: {item['namespace']}/{item['workload']}")
            lines.append(f"  {item['sentence']}")
        if self.scaled:
            lines.append(f"  curl {self.url}/api/v1/scaling")
        return lines

    def asked_by_kubectl(self):
        """Path of what an autoscaler asks for: the target of a workload that has one, until then a recommended request."""
        def path(item, metric, **more):
            named = {"workload": item["workload"], "workload_type": item["workload_type"], **more}
            selector = ",".join(f"{label}={value}" for label, value in named.items())
            return (f"/apis/external.metrics.k8s.io/v1beta1/namespaces/{item['namespace']}/{metric}"
                    f"?labelSelector={urllib.parse.quote(selector, safe='')}")
        decided = [item for item in self.scaled if item.get("target_replicas") is not None]
        if decided:
            return path(decided[0], "tidemark_target_replicas")
        if self.oversized and self.oversized.get("container"):
            return path(self.oversized, "tidemark_recommended_request", container=self.oversized["container"],
                        resource=self.oversized["resource"])
        return None


class Kubectl:
    """The line for people, and what comes of it."""

    def __init__(self, kubeconfig, path):
        self.arguments = ["kubectl", f"--kubeconfig={kubeconfig}", "get", "--raw", path]
        self.answer = ""

    def works(self):
        if shutil.which("kubectl") is None:
            self.answer = "there is no kubectl here"
            return False
        # Whatever proxy is set is not for an address of this machine.
        done = subprocess.run(self.arguments, text=True, capture_output=True, timeout=20, check=False,
                              env={**os.environ, "NO_PROXY": "*"})
        self.answer = (done.stdout if done.returncode == 0 else done.stderr).strip()
        return done.returncode == 0

    def lines(self):
        lines = ["as an autoscaler asks:", "  " + shlex.join(self.arguments)]
        return lines + [f"  {self.answer}"] if self.answer else lines


def human(value, resource):
    if value is None:
        return "-"
    if not resource.endswith("memory"):
        return f"{value:.3f}"
    for unit in ("B", "KiB", "MiB"):
        if abs(value) < 1024:
            return f"{value:.0f} {unit}"
        value /= 1024
    return f"{value:.2f} GiB"


def cores_worth(value, resource):
    return value / BYTES_PER_CORE if resource.endswith("memory") else value


def cut(text, width):
    return text if len(text) <= width else text[: width - 1] + "~"


def table(advice, rows):
    """The table as lines; about `rows` of them hold workloads or processes."""
    process_rows = min(5, len(advice.processes()))
    # Two thirds of what the other columns leave for the name, the rest for the container.
    free = max(26, shutil.get_terminal_size((100, 40)).columns - 1 - 53)
    name_width = free * 2 // 3
    container_width = free - name_width - 1
    line = f"{{:{name_width}}} {{:{container_width}}} {{:8}} {{:>11}} {{:>11}} {{:>11}} {{:>5}}".format
    lines = [line("NAMESPACE/WORKLOAD", "CONTAINER", "RESOURCE", "REQUESTED", "RECOMMEND", "RECLAIMABLE", "DAYS")]

    def add(row):
        namespace, _, workload, container, resource = row
        lines.append(
            line(
                cut(f"{namespace}/{workload}", name_width),
                cut(container or "-", container_width),
                resource,
                human(advice.current.get(row), resource),
                human(advice.recommended[row], resource),
                human(advice.reclaimable.get(row), resource),
                f"{advice.days[row]:.1f}" if row in advice.days else "-",
            )
        )

    containers = [row for row in advice.recommended if row[1] != "process"]
    # What has no request to compare with comes last.
    containers.sort(
        key=lambda row: (
            row not in advice.reclaimable,
            -cores_worth(advice.reclaimable.get(row, 0), row[4]),
            row,
        )
    )
    shown = containers[: max(3, rows - process_rows)]
    for row in shown:
        add(row)
    if len(shown) < len(containers):
        lines.append(f"  … and {len(containers) - len(shown)} more")
    memory = [row for row in advice.recommended if row[1] == "process" and row[4] == "memory"]
    for row in sorted(memory, key=lambda row: -advice.recommended[row])[:process_rows]:
        add(row)

    total = {"cpu": 0.0, "memory": 0.0}
    for row, value in advice.reclaimable.items():
        if row[4] in total:
            total[row[4]] += value
    lines.append(
        f"{advice.counts()}; reclaimable in all: {human(total['cpu'], 'cpu')} cores, "
        f"{human(total['memory'], 'memory')} of memory"
    )
    return lines


def show(advice, heading="", reasons=()):
    """One screen: cleared on a terminal; elsewhere there is none to fill."""
    above = len(reasons)
    if heading:
        sys.stdout.write(f"\x1b[H\x1b[2J{heading}\n\n")
        above += heading.count("\n") + 2
    # Heading of the table, "and more", totals, the cursor's line.
    rows = shutil.get_terminal_size((100, 40)).lines - above - 4
    print("\n".join([*table(advice, rows), *reasons]), flush=True)


def reasons_of(args):
    return Reasons(args.tidemark) if args.tidemark else None


def reached(advice, reasons, args):
    return (
        (reasons is None or (reasons.killed is not None and reasons.oversized is not None))
        and len(advice.workloads()) >= args.workloads
        and len(advice.experienced(args.days)) >= args.experienced
        and len(advice.processes()) >= args.processes
    )


def kubectl_of(args, reasons):
    path = reasons.asked_by_kubectl() if reasons and args.kubeconfig else None
    return Kubectl(args.kubeconfig, path) if path else None


def watch_once(prometheus, args):
    deadline = time.monotonic() + args.timeout
    advice = None
    kubectl = None
    reason = "nothing was asked"
    said = None
    while time.monotonic() < deadline:
        try:
            advice = Advice(prometheus)
            reasons = reasons_of(args)
            kubectl = kubectl_of(args, reasons)
            if reached(advice, reasons, args) and (not args.kubeconfig or (kubectl and kubectl.works())):
                show(advice, reasons=[*(reasons.lines() if reasons else ()), *(kubectl.lines() if kubectl else ())])
                return 0
            now = f"{advice.counts()}; {len(advice.experienced(args.days))} with over {args.days:g} days of history"
            if now != said:
                said = now
                print(f"read back so far: {said}", flush=True)
        except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
            reason = f"Prometheus or Tidemark cannot be asked: {error}"
        time.sleep(min(2, max(0, deadline - time.monotonic())))
    if advice is not None:
        show(advice)
        reason = (
            f"recommendations for {len(advice.workloads())} of {args.workloads} workloads, with over {args.days:g} days "
            f"of history for {len(advice.experienced(args.days))} of {args.experienced}, and for "
            f"{len(advice.processes())} of {args.processes} processes, or no reasons for a container that was killed"
        )
        if kubectl and kubectl.answer:
            reason += f"; kubectl was told: {kubectl.answer}"
    print(f"not reached within {args.timeout:.0f} s: {reason}", file=sys.stderr)
    try:
        for line in prometheus.sick_targets():
            print(line, file=sys.stderr)
    except (OSError, ValueError, KeyError):
        pass  # Prometheus itself is what is missing, and that has been said
    return 1


def watch_forever(prometheus, args):
    heading = args.heading if sys.stdout.isatty() else ""
    while True:
        try:
            advice = Advice(prometheus)
            if advice.recommended:
                reasons = reasons_of(args)
                kubectl = kubectl_of(args, reasons)
                show(advice, heading, [*(reasons.lines() if reasons else ()), *(kubectl.lines() if kubectl else ())])
            else:
                print("waiting for the first recommendations ...", flush=True)
        except (OSError, ValueError, KeyError) as error:
            print(f"Prometheus or Tidemark cannot be asked: {error}", file=sys.stderr)
        time.sleep(args.interval)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("free-port").add_argument("preferred", type=int)
    commands.add_parser("probe").add_argument("url")
    watch = commands.add_parser("watch")
    watch.add_argument("--prometheus", required=True)
    watch.add_argument("--tidemark", help="asked why requests are what they are")
    watch.add_argument("--kubeconfig", help="of Tidemark's Kubernetes port: kubectl asks there, too")
    watch.add_argument("--heading", default="", help="stands above the table on a terminal")
    watch.add_argument("--interval", type=float, default=5)
    watch.add_argument("--once", action="store_true")
    watch.add_argument("--timeout", type=float, default=170, help="of --once, in seconds")
    watch.add_argument("--workloads", type=int, default=40, help="goal of --once")
    watch.add_argument("--days", type=float, default=7, help="of history, for those of --experienced")
    watch.add_argument("--experienced", type=int, default=30, help="goal of --once: workloads with such a history")
    watch.add_argument("--processes", type=int, default=3, help="goal of --once")
    args = parser.parse_args()
    if args.command == "free-port":
        print(free_port(args.preferred))
        return 0
    if args.command == "probe":
        try:
            fetch(args.url, timeout=2)
            return 0
        except (OSError, ValueError):
            return 1
    prometheus = Prometheus(args.prometheus)
    return watch_once(prometheus, args) if args.once else watch_forever(prometheus, args)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
