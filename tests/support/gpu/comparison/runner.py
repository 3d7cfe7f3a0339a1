"""Runner of a packed comparison on a machine with a GPU: needs Python's standard library, `nvcc`,
`ptxas` and `compute-sanitizer`.

`python3 runner.py OUT` compiles and runs everything, most valuable first, and writes
`OUT/results.json.gz` after every item, with the raw text of the sanitizer.
"""

import argparse
import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
TEXT_LIMIT = 200_000
BATCH = 24
#: Tools of the sanitizer, each with options that are left out where its help does not name them.
TOOLS = {
    "racecheck": [
        "--tool racecheck",
        "--racecheck-report all",
        "--racecheck-detect-level info",
        "--print-level info",
        "--print-limit 20000",
    ],
    "synccheck": ["--tool synccheck", "--print-level info", "--print-limit 20000"],
    "memcheck": ["--tool memcheck", "--print-limit 50"],
    "initcheck": ["--tool initcheck", "--print-limit 50"],
}
STEPS = (
    "litmus",
    "kernels",
    "sanitizer",
    "plain",
    "kernel-racecheck",
    "kernel-synccheck",
    "cured",
    "programs",
    "litmus-2",
    "cured-plain",
    "programs-plain",
    "memcheck",
    "litmus-3",
    "drivers",
)
#: Runs of each driver.
DRIVER_RUNS = 5


def command(words, seconds, folder=None):
    """Run a command in a process group of its own; its status (None if it took too long), what it
    printed, and its seconds."""
    begin = time.time()
    try:
        process = subprocess.Popen(
            [str(word) for word in words],
            cwd=folder or HERE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return {"status": -1000, "text": str(error), "seconds": 0.0}
    try:
        data, _ = process.communicate(timeout=max(seconds, 0.1))
        status = process.returncode
    except subprocess.TimeoutExpired:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        try:
            data, _ = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            data = b""
        status = None
    text = data.decode("utf-8", "replace")
    if len(text) > TEXT_LIMIT:
        text = f"{text[: TEXT_LIMIT // 2]}\n@cut {len(text)}\n{text[-TEXT_LIMIT // 2 :]}"
    return {"status": status, "text": text, "seconds": round(time.time() - begin, 3)}


class Results:
    """Results, written to a file when they have changed, at most every few seconds."""

    def __init__(self, folder):
        self.data = {
            "machine": {},
            "compiled": {},
            "programs": {},
            "kernels": {},
            "litmus": {},
            "drivers": {},
            "not_run": [],
        }
        self.path = folder / "results.json.gz"
        self.lock = threading.Lock()
        self.written = 0.0

    def add(self, part, name, key, value):
        with self.lock:
            self.data[part].setdefault(name, {})[key] = value
            if time.time() - self.written > 5:
                self._write()

    def write(self):
        with self.lock:
            self._write()

    def _write(self):
        temporary = self.path.with_suffix(".new")
        with gzip.open(temporary, "wt", compresslevel=4) as file:
            json.dump(self.data, file)
        temporary.replace(self.path)
        self.written = time.time()


class Runner:
    """One run of everything within a time."""

    def __init__(self, options):
        self.options = options
        self.end = time.time() + options.seconds
        self.manifest = json.loads((HERE / "manifest.json").read_text())
        self.results = Results(options.out)
        self.gpu = threading.Semaphore(options.gpu_processes)
        nvcc = shutil.which("nvcc")
        for place in (
            "/usr/local/cuda/bin/nvcc",
            *sorted(map(str, Path("/usr/local").glob("cuda-*/bin/nvcc"))),
        ):
            nvcc = nvcc or (place if os.access(place, os.X_OK) else None)
        self.nvcc = nvcc or "nvcc"
        beside = Path(os.path.realpath(self.nvcc)).parent
        self.ptxas = self.tool("ptxas", beside)
        self.sanitizer = self.tool("compute-sanitizer", beside)
        self.tools = {}

    @staticmethod
    def tool(name, beside):
        for place in (
            shutil.which(name),
            beside / name,
            Path("/usr/local/cuda/bin") / name,
            *Path("/usr/local").glob(f"cuda*/bin/{name}"),
            *Path("/usr/local").glob(f"cuda*/{name}/{name}"),
            *Path("/opt/nvidia").glob(f"**/{name}"),
        ):
            if place and os.access(place, os.X_OK):
                return str(place)
        return name

    def left(self):
        return self.end - time.time()

    def late(self, *what):
        if self.left() > 3:
            return False
        with self.results.lock:
            self.results.data["not_run"].append(list(what))
        return True

    def say(self, *words):
        print(f"[{self.options.seconds - self.left():6.1f}]", *words, flush=True)

    def machine(self):
        for name, words in {
            "nvidia-smi": [
                "nvidia-smi",
                "--query-gpu=name,driver_version,compute_cap",
                "--format=csv,noheader",
            ],
            "nvcc": [self.nvcc, "--version"],
            "sanitizer": [self.sanitizer, "--version"],
        }.items():
            self.results.data["machine"][name] = command(words, 20)["text"].strip()
        self.say(self.results.data["machine"])
        help_text = command([self.sanitizer, "--help"], 20)["text"]
        self.results.data["machine"]["sanitizer help"] = help_text
        for tool, options in TOOLS.items():
            # A help that says nothing of the tools is no help.
            known = [each for each in options if each.split()[0] in help_text] or options[:1]
            self.tools[tool] = [self.sanitizer, *" ".join(known).split()]
        self.results.data["machine"]["tools"] = self.tools

    # Compilation.

    def compile(self, name, words):
        if self.late("compile", name):
            return False
        found = command(words, 120)
        found["text"] = found["text"][-3000:]
        self.results.add("compiled", name, "compile", found)
        if found["status"] != 0:
            self.say("does not compile:", name, found["status"], found["text"][-300:])
        return found["status"] == 0

    def compile_ptx(self, sources):
        def one(source):
            target = HERE / (source[: -len(".ptx")] + ".cubin")
            return self.compile(
                source,
                [self.ptxas, f"-arch=sm_{self.options.sm}", "-lineinfo", "-o", target, source],
            )

        return dict(zip(sources, self.pool.map(one, sources), strict=True))

    def compile_program(self, entry):
        target = HERE / entry["source"].replace(".cu", "")
        target = Path(f"{target}_{'_'.join(entry['define'])}") if entry["define"] else target
        words = [
            self.nvcc,
            "-std=c++17",
            "-O3",
            "-lineinfo",
            f"-arch=sm_{self.options.sm}",
            "-diag-suppress=177,550",
            *[f"-D{name}" for name in entry["define"]],
            "-o",
            target,
            entry["source"],
        ]
        return target if self.compile(entry["name"], words) else None

    # Lists of a driver, each entry with its own record, resumed behind an entry that fails.

    def run_list(self, part, key, words, path, names, each_seconds, between=()):
        first, seconds_of_start = 0, 20 if key in TOOLS else 8
        while first < len(names):
            if self.late(part, key, *names[first:]):
                return
            limit = min(seconds_of_start + each_seconds * (len(names) - first), self.left())
            with self.gpu:
                found = self.watched(
                    [*words, path, first, *between], limit, each_seconds + seconds_of_start
                )
            parts = re.split(r"^@begin (\S+)$", found["text"], flags=re.M)
            seen = dict(zip(parts[1::2], parts[2::2], strict=True))
            for name, text in seen.items():
                self.results.add(part, name, key, {"text": text.strip()[:300_000]})
            # What the sanitizer says in the end belongs to all.
            if key in TOOLS:
                self.results.add(part, f"@{path.name}", f"{key} {first}", found)
            if not seen:
                self.results.add(part, f"@{path.name}", f"{key} {first} failed", found)
                self.say("nothing began:", path.name, key, found["status"], found["text"][-500:])
                first += 1 if found["status"] is not None else len(names)
                continue
            last = names.index(list(seen)[-1])
            if found["status"] == 0 or "@done" in found["text"]:
                return
            reason = "took too long" if found["status"] is None else f"ended with {found['status']}"
            self.results.add(part, names[last], f"{key} failed", reason)
            self.say(names[last], key, reason)
            first = last + 1

    def watched(self, words, limit, silence):
        """Run a command that is ended when it begins nothing for some time."""
        begin = time.time()
        process = subprocess.Popen(
            [str(word) for word in words],
            cwd=HERE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        data, last = [], [time.time()]

        def read():
            for line in process.stdout:
                data.append(line)
                if line.startswith(b"@"):
                    last[0] = time.time()

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        status = 0
        while thread.is_alive():
            thread.join(0.2)
            if time.time() - begin > limit or time.time() - last[0] > silence:
                status = None
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
                thread.join(5)
                break
        if status == 0:
            status = process.wait()
        text = b"".join(data).decode("utf-8", "replace")
        if len(text) > 4_000_000:
            text = f"{text[:2_000_000]}\n@cut {len(text)}\n{text[-2_000_000:]}"
        return {"status": status, "text": text, "seconds": round(time.time() - begin, 3)}

    # Parts.

    def litmus(self, seconds, round_number):
        entries = [
            each for each in self.manifest["litmus"] if self.compiled_ptx.get(each["source"])
        ]
        lists = []
        for number in range(self.options.litmus_processes):
            own = entries[number :: self.options.litmus_processes]
            path = HERE / f"litmus_{number}.list"
            path.write_text("".join(f"{each['line']}\n" for each in own))
            lists.append((path, [each["name"] for each in own]))
        threads = [
            threading.Thread(
                target=self.guarded,
                args=(
                    self.run_list,
                    "litmus",
                    f"round {round_number}",
                    [HERE / "litmus_driver"],
                    path,
                    names,
                    seconds,
                    (seconds, 1000 * round_number + number),
                ),
            )
            for number, (path, names) in enumerate(lists)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def kernels(self, key, words, times, seconds):
        entries = [
            each for each in self.manifest["kernels"] if self.compiled_ptx.get(each["source"])
        ]
        batches = [entries[i : i + BATCH] for i in range(0, len(entries), BATCH)]

        def one(numbered):
            number, batch = numbered
            path = HERE / f"kernels_{number}.list"
            path.write_text("".join(each["text"] for each in batch))
            self.guarded(
                self.run_list,
                "kernels",
                key,
                [*words, HERE / "kernel_driver"],
                path,
                [each["name"] for each in batch],
                seconds,
                (times, seconds),
            )

        with ThreadPoolExecutor(self.options.gpu_processes) as pool:
            list(pool.map(one, enumerate(batches)))

    def program(self, entry, key, target, words, times, seconds, limit):
        if target is None or self.late("programs", key, entry["name"]):
            return
        with self.gpu:
            found = command([*words, target, times, seconds], min(limit, self.left()))
        self.results.add("programs", entry["name"], key, found)
        if found["status"] is None:
            self.say(entry["name"], key, "took too long")

    def programs(self, suites, keys):
        def one(entry):
            target = self.targets[entry["name"]].result()
            for key in keys:
                if key == "plain":
                    self.program(entry, key, target, [], 400, 3, 12)
                else:
                    self.program(entry, key, target, self.tools[key], 1, 1, 25)

        with ThreadPoolExecutor(self.options.gpu_processes) as pool:
            list(
                pool.map(
                    lambda entry: self.guarded(one, entry),
                    [each for each in self.manifest["programs"] if each["suite"] in suites],
                )
            )

    def drivers(self):
        """Compile and run the drivers over CCCL's headers, each several times."""

        def one(entry):
            target = HERE / f"driver_{entry['name']}"
            words = [self.nvcc, "-std=c++17", f"-arch=sm_{self.options.sm}"]
            words += [f"-D{each}" for each in entry["define"]]
            if not self.compile(entry["name"], [*words, "-o", target, entry["source"]]):
                return
            for number in range(DRIVER_RUNS):
                if self.late("drivers", entry["name"], number):
                    return
                with self.gpu:
                    found = command([target], 20)
                self.results.add("drivers", entry["name"], f"run {number}", found)

        with ThreadPoolExecutor(self.options.compile_processes) as pool:
            list(pool.map(lambda each: self.guarded(one, each), self.manifest["drivers"]))

    def guarded(self, function, *arguments):
        try:
            function(*arguments)
        except Exception as error:  # one item's failure is not all's
            self.say("failed:", getattr(function, "__name__", ""), repr(error))
            self.results.add("compiled", "@failures", repr(error)[:300], str(arguments)[:300])

    def run(self):
        self.machine()
        self.pool = ThreadPoolExecutor(self.options.compile_processes)
        parts = {each.partition("-")[0] for each in self.options.steps}
        has_kernels = bool(parts & {"litmus", "kernels", "kernel"})
        drivers = [
            self.pool.submit(
                self.compile,
                name,
                [
                    self.nvcc,
                    "-std=c++17",
                    "-O2",
                    f"-arch=sm_{self.options.sm}",
                    "-o",
                    name,
                    f"{name}.cu",
                ],
            )
            for name in ("litmus_driver", "kernel_driver")
            if has_kernels
        ]
        sources = [each["source"] for each in self.manifest["litmus"]]
        sources += sorted({each["source"] for each in self.manifest["kernels"]})
        sources = sources if has_kernels else []
        self.compiled_ptx = self.compile_ptx(sources)
        ready = [driver.result() for driver in drivers]
        self.say(
            "kernels compiled:",
            sum(self.compiled_ptx.values()),
            "of",
            len(sources),
            "drivers:",
            ready,
        )
        suites = {each.removesuffix("-plain") for each in self.options.steps} & {
            "cured",
            "programs",
        }
        if {"sanitizer", "plain", "memcheck"}.intersection(self.options.steps):
            suites |= {"lacking", "right"}
        self.targets = {
            entry["name"]: self.pool.submit(self.compile_program, entry)
            for entry in self.manifest["programs"]
            if entry["suite"] in suites
        }
        if self.options.only_compile:
            found = [future.result() is not None for future in self.targets.values()]
            self.say("programs compiled:", sum(found), "of", len(found))
            self.results.write()
            return
        steps = {
            "litmus": lambda: self.litmus(self.options.litmus_seconds, 1),
            "kernels": lambda: self.kernels("plain", [], 600, 1.0),
            "sanitizer": lambda: self.programs({"lacking", "right"}, ["racecheck", "synccheck"]),
            "plain": lambda: self.programs({"lacking", "right"}, ["plain"]),
            "kernel-racecheck": lambda: self.kernels("racecheck", self.tools["racecheck"], 1, 8),
            "kernel-synccheck": lambda: self.kernels("synccheck", self.tools["synccheck"], 1, 8),
            "cured": lambda: self.programs({"cured"}, ["racecheck", "plain", "synccheck"]),
            "programs": lambda: self.programs({"programs"}, ["plain", "racecheck", "synccheck"]),
            "litmus-2": lambda: self.litmus(self.options.litmus_seconds, 2),
            "cured-plain": lambda: self.programs({"cured"}, ["plain"]),
            "programs-plain": lambda: self.programs({"programs"}, ["plain"]),
            "memcheck": lambda: self.programs({"lacking", "right"}, ["memcheck", "initcheck"]),
            "litmus-3": lambda: self.litmus(self.options.litmus_seconds, 3),
            "drivers": self.drivers,
        }
        assert tuple(steps) == STEPS
        for name, step in steps.items():
            if name in self.options.steps:
                self.say("begin", name)
                self.guarded(step)
                self.results.write()
        self.say("end; not run:", len(self.results.data["not_run"]))
        self.summary()
        for future in self.targets.values():
            future.cancel()
        self.results.write()

    def summary(self):
        data = self.results.data
        for tool in ("racecheck", "synccheck"):
            counts = {}
            for entry in self.manifest["programs"]:
                text = data["programs"].get(entry["name"], {}).get(tool, {}).get("text", "")
                lines = re.findall(r"(?:RACECHECK|ERROR) SUMMARY: (.*)", text)
                clean = bool(lines) and re.match(r"0 ", lines[-1]) is not None
                kind = "nothing" if not lines else "clean" if clean else "found"
                key = f"{entry['suite']} {kind}"
                counts[key] = counts.get(key, 0) + 1
            self.say(tool, counts)
        ran = sum("round 1" in each for each in data["litmus"].values())
        self.say(
            "litmus tests run:",
            ran,
            "kernels run:",
            sum("plain" in each for each in data["kernels"].values()),
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder of the results")
    parser.add_argument("--seconds", type=float, default=400, help="time for everything")
    parser.add_argument(
        "--litmus-seconds", type=float, default=0.5, help="time for each litmus test"
    )
    parser.add_argument("--compile-processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--gpu-processes", type=int, default=8)
    parser.add_argument("--litmus-processes", type=int, default=4)
    parser.add_argument(
        "--steps", type=lambda text: text.split(","), default=STEPS, help="of " + ",".join(STEPS)
    )
    parser.add_argument("--sm", default="90", help="architecture of the GPU")
    parser.add_argument("--only-compile", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    Runner(options).run()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
