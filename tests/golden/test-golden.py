# The golden cases through the elements, from files to files: every case by
# every applicable method, each SIMD level of the CPU, and every kind of input.
#
# Prints the largest error as a fraction of the tolerance; a fraction above 1
# fails.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import collections
import json
import os
import sys
import tempfile

from pipelines import (DOUBLE_FFT_BOUND, FFT_BOUND, GPU, TYPES, colons, np,
                       properties, read_raw, relative_l2, run, shared, skip)

try:
    import nibabel
except ImportError:
    nibabel = None

TYPE_NAMES = {"u8": "uint8", "u16": "uint16", "f32": "float32"}
VIDEO = {"uint8": "gray8", "uint16": "gray16-le"}
METHODS = ["reference", "direct", "separable", "fft", "auto"]
# In double precision, with output of float64.
DOUBLE = "double"
DOUBLE_METHODS = [*([] if GPU else ["reference"]), "direct", "separable", "fft"]
# The tolerance of float32 in double precision, whose numbers have 29 bits more,
# and as much again for the expected samples, which were computed in it.
DOUBLE_SHARE = 2.0 ** -28
AXES = {"xy": [0, 1], "xyz": [0, 1, 2], "xyt": [0, 1, 3],
        "xyzt": [0, 1, 2, 3]}

# One pipeline: its name, its output file and the expected content.
Job = collections.namedtuple("Job", "case way method simd text output")


def simd_levels():
    levels = ["sse2"]
    try:
        with open("/proc/cpuinfo", encoding="ascii") as file:
            flags = file.read().split()
    except OSError:
        return levels
    if "avx2" in flags and "fma" in flags:
        levels.append("avx2")
        if "avx512f" in flags and "avx512vl" in flags:
            levels.append("avx512")
    return levels


class Case:
    """A golden case and its files."""

    def __init__(self, entry, folder):
        self.entry = entry
        self.folder = folder
        self.name = entry["name"]
        self.axes = entry["axes"]
        self.shape = entry["shape"][::-1]
        self.type = TYPE_NAMES[entry["dtype"]]
        self.size = entry["kernel_shape"]
        self.exact = entry["tolerance"]["exact"]
        self.tolerance = entry["tolerance"]["abs"]
        self.nan = entry["tolerance"]["nan_equal"]
        self.input = shared("golden", entry["input"])
        self.kernel = shared("golden", entry["kernel"])
        self.expected = np.fromfile(shared("golden", entry["expected"]),
                                    "<f8").reshape(self.shape)
        self.padded = (entry["row_stride_bytes"] !=
                       self.shape[3] * np.dtype(TYPES[self.type]).itemsize)
        self.methods = list(METHODS)
        # All uint8 cases have exact sums.
        if GPU and self.type == "uint8":
            self.methods.append("tensor")
        self.double_methods = DOUBLE_METHODS

    def input_array(self):
        samples = np.fromfile(self.input, TYPES[self.type])
        stride = self.entry["row_stride_bytes"] // samples.itemsize
        return samples.reshape(-1, stride)[:, :self.shape[3]].reshape(
            self.shape)

    def video(self):
        """Frames as video, with the row stride of the file."""
        nz, ny, nx = self.shape[1:]
        return (f"filesrc location={self.input} ! rawvideoparse "
                f"format={VIDEO[self.type]} width={nx} height={ny * nz} "
                f"framerate=25/1 frame-size={self.entry['frame_bytes']} "
                f"plane-strides=<(int){self.entry['row_stride_bytes']}>")

    def tensors(self):
        return (f"ndfilesrc location={self.input} type={self.type} "
                f"volume-size={colons(self.shape[:0:-1])} framerate=25/1")

    def nifti(self):
        """A file written by nibabel."""
        path = os.path.join(self.folder, self.name + ".nii.gz")
        if not os.path.exists(path):
            image = nibabel.Nifti1Image(self.input_array().T, np.eye(4))
            nibabel.save(image, path)
        return f"ndfilesrc location={path}"

    def filter(self, axes, ending):
        """Coefficients from a file of each format."""
        size = [self.size[a] for a in axes]
        if ending == "raw":
            return (f"filter=\"file,location={self.kernel},"
                    f"size={colons(size)}\"")
        path = os.path.join(self.folder, f"{self.name}-{len(axes)}.{ending}")
        if not os.path.exists(path):
            w = np.fromfile(self.kernel, "<f4").reshape(size[::-1])
            if ending == "npy":
                np.save(path, w)
            else:
                nibabel.save(nibabel.Nifti1Image(w.T, np.eye(4)), path)
        return f"filter=\"file,location={path}\""

    def element(self, name, along, ending, **more):
        entry = self.entry
        values = {"border": entry["mode"], "border_value": entry["cval"],
                  "origin": colons(entry["origin"][a] for a in along),
                  "output_type": "float32"}
        if 3 in along:
            values["time_border"] = entry["mode_t"]
        values.update(more)
        return (f"{name} name=conv {self.filter(along, ending)} "
                + properties(**values))

    def ways(self):
        """Pairs of name, and source and element. The first one runs with all
        methods."""
        ways = []
        axes = AXES[self.axes]
        own = {"xy": "ndconv2d", "xyz": "ndconv3d", "xyt": "ndconv3d",
               "xyzt": "ndconv4dtemporal"}[self.axes]
        as_tensors = {"axes": "xyt"} if self.axes == "xyt" else {}
        if not self.padded:
            ways.append(("tensors", self.tensors() + " ! "
                         + self.element(own, axes, "raw", **as_tensors)))
        if self.axes in ("xy", "xyt") and self.type in VIDEO:
            ways.append(("video", self.video() + " ! "
                         + self.element(own, axes, "raw")))
        if not self.padded:
            ways.append(("npy", self.tensors() + " ! "
                         + self.element(own, axes, "npy", **as_tensors)))
        if self.axes in ("xy", "xyz") and not self.padded:
            # The filter has size 1 in time, so the time border is not read.
            ways.append(("4d", self.tensors() + " ! "
                         + self.element("ndconv4dtemporal", [0, 1, 2, 3],
                                        "raw", time_border="nearest")))
        if self.axes == "xy" and not self.padded:
            ways.append(("xyz", self.tensors() + " ! "
                         + self.element("ndconv3d", [0, 1, 2], "raw")))
        if self.entry["origin"][3] < 0:
            # Causal cases: the property sets the same origin.
            origin = [self.entry["origin"][a] for a in axes[:-1]] + [0]
            ways.append(("causal", self.tensors() + " ! "
                         + self.element(own, axes, "raw", causal="true",
                                        origin=colons(origin), **as_tensors)))
        # NIfTI can only store the frames of a video as slices of volumes.
        if nibabel and self.axes != "xyt":
            ways.append(("nifti", self.nifti() + " ! "
                         + self.element(own, axes, "nii")))
        return ways

    def jobs(self, levels):
        jobs = []
        for i, (way, text) in enumerate(self.ways()):
            for method in self.methods if i == 0 else ["auto", "direct"]:
                scalar = method == "reference" or i > 0
                for simd in levels[-1:] if scalar else levels:
                    kind = ".nii" if way == "nifti" else ".raw"
                    output = os.path.join(
                        self.folder, f"{self.name}-{way}-{method}-{simd}{kind}")
                    jobs.append(Job(self, way, method, simd, f"{text} "
                                    f"method={method} ! ndfilesink "
                                    f"location={output}", output))
        way, text = self.ways()[0]
        text = text.replace("output-type=float32",
                            "output-type=float64 precision=double")
        for method in self.double_methods:
            output = os.path.join(self.folder,
                                  f"{self.name}-double-{method}.raw")
            jobs.append(Job(self, DOUBLE, method, levels[-1], f"{text} "
                            f"method={method} ! ndfilesink location={output}",
                            output))
        return jobs

    def got(self, job):
        if job.output.endswith(".raw"):
            return read_raw(job.output, "float64" if job.way == DOUBLE
                            else "float32", self.shape)
        samples = np.asarray(nibabel.load(job.output).dataobj)
        samples = samples.T.reshape((-1,) + samples.T.shape[-3:])
        return samples if list(samples.shape) == self.shape else None

    def error(self, got, method, is_double=False):
        """Returns the error as a fraction of the tolerance, and the absolute
        error."""
        expected = self.expected
        if self.nan and not (
                np.array_equal(np.isnan(got), np.isnan(expected))
                and np.array_equal(np.isposinf(got), np.isposinf(expected))
                and np.array_equal(np.isneginf(got), np.isneginf(expected))):
            return np.inf, np.inf
        finite = np.isfinite(expected)
        got, expected = got[finite].astype("f8"), expected[finite]
        error = np.abs(got - expected).max()
        if method == "fft":
            bound = DOUBLE_FFT_BOUND if is_double else FFT_BOUND
            return relative_l2(got, expected) / bound, error
        if self.exact:
            return (0 if error == 0 else np.inf), error
        share = DOUBLE_SHARE if is_double else 1
        return error / (self.tolerance * share), error


class Report:
    """Collects errors by case and column, and failures."""

    def __init__(self):
        self.worst = collections.defaultdict(dict)
        self.largest = {}
        self.counts = collections.Counter()
        self.misses = []

    def miss(self, job, text):
        self.misses.append(f"{job.case.name} by {job.way}, {job.method}, "
                           f"{job.simd}: {text}")

    def take(self, job, outcome):
        case = job.case
        if outcome[0] == "error":
            self.take_error(job, outcome[2])
            return
        method, volumes = outcome[1], case.shape[0]
        if job.method not in ("auto", method):
            self.miss(job, f"stats say that {method} was used")
        if outcome[2:] != [str(volumes)] * 2:
            self.miss(job, f"{outcome[2]} volumes in, {outcome[3]} out, not "
                      f"{volumes}")
        got = case.got(job)
        if got is None:
            self.miss(job, "the written file has another size")
            return
        is_double = job.way == DOUBLE
        part, error = case.error(got, method, is_double)
        if not part <= 1:
            self.miss(job, f"error {error:.3g} is {part:.3g} of the bound "
                      f"({method})")
        self.counts[job.method] += 1
        key = f"{method} in double precision" if is_double else method
        self.largest[key] = max(self.largest.get(key, 0), error)
        column = job.method
        if job.method == "direct" and job.way == case.ways()[0][0]:
            column = job.simd
        elif job.way != case.ways()[0][0]:
            column = DOUBLE if is_double else "ways"
        row = self.worst[case.name]
        row[column] = max(row.get(column, 0), part)

    def take_error(self, job, message):
        case = job.case
        if case.axes == "xyzt" and case.entry["mode_t"] == "wrap":
            if "time-border" in message and "wrap" in message:
                self.counts["refused: wrap in time"] += 1
                self.worst[case.name][job.method] = "refused"
                return
        elif job.method == "separable" and "not separable" in message:
            self.counts["refused: not separable"] += 1
            if job.way != DOUBLE:
                self.worst[case.name][job.method] = "-"
            return
        self.miss(job, message)

    def print(self, columns):
        print(f"{'largest error / bound':34}"
              + "".join(f"{c:>10}" for c in columns))
        for name, row in self.worst.items():
            cells = [row.get(c, "") for c in columns]
            print(f"{name:34}" + "".join(
                f"{c:>10}" if isinstance(c, str) else f"{c:10.3g}"
                for c in cells))
        for name, count in sorted(self.counts.items()):
            print(f"{count:5} {name}")
        for method, error in self.largest.items():
            print(f"largest absolute error, {method}: {error:.3g}")


def separable_by_rank(case):
    """Separability by NumPy: each unfolding has one significant singular value."""
    w = np.fromfile(case.kernel, "<f4").reshape(case.size).astype("f8")
    for axis in range(4):
        values = np.linalg.svd(
            np.moveaxis(w, axis, 0).reshape(w.shape[axis], -1),
            compute_uv=False)
        if np.any(values[1:] > 1e-6 * values[0]):
            return False
    return True


def check_separable(report, cases):
    """The elements refuse the method for the filters that NumPy finds not
    separable."""
    for case in cases:
        if case.axes == "xyzt" and case.entry["mode_t"] == "wrap":
            continue
        refused = report.worst[case.name].get("separable") == "-"
        if refused == separable_by_rank(case):
            report.misses.append(f"{case.name}: separable was "
                                 f"{'refused' if refused else 'accepted'}")


def check_levels(report, jobs, levels):
    """FMA rounds once and SSE2 twice. If no output differed, NDCONV_SIMD would
    have no effect."""
    outputs = {(j.case.name, j.simd): j.output for j in jobs
               if j.method == "direct" and j.way == j.case.ways()[0][0]}
    for level in levels[1:]:
        differ = 0
        for (name, simd), path in outputs.items():
            other = outputs[name, "sse2"]
            if simd == level and os.path.exists(path):
                with open(path, "rb") as a, open(other, "rb") as b:
                    differ += a.read() != b.read()
        print(f"{differ} cases differ in bits between sse2 and {level}")
        if differ == 0:
            report.misses.append(f"{level} computes as sse2 does")


def run_jobs(report, jobs):
    for simd in sorted({job.simd for job in jobs}):
        some = [job for job in jobs if job.simd == simd]
        for job, outcome in zip(some, run([j.text for j in some], simd)):
            report.take(job, outcome)


class PeerCase(Case):
    """A test vector of SciPy's test suite along some axes of a stream, turned
    into a convolution."""

    def __init__(self, index, entry, axes, folder):
        flip = entry["op"] == "correlate"
        x = np.array(entry["input"], "f4")
        w = np.array(entry["kernel"], "f4")
        origin = list(entry["origin"])
        if flip:
            w = np.flip(w)
            origin = [-o - (n + 1) % 2 for o, n in zip(origin, w.shape)]
        self.entry = {"mode": entry["mode"], "mode_t": entry["mode"],
                      "cval": entry["cval"], "origin": [0] * 4}
        self.name = f"peer{index}-{entry['test']}-{axes}"
        self.folder = folder
        self.axes = axes
        self.type = "float32"
        self.shape, self.size = [1] * 4, [1] * 4
        numbers = sorted("xyzt".index(a) for a in axes)
        # NumPy's last axis varies fastest.
        for at, number in enumerate(reversed(numbers)):
            self.shape[3 - number] = x.shape[at]
            self.size[number] = w.shape[at]
            self.entry["origin"][number] = origin[at]
        self.input = os.path.join(folder, self.name + ".in.raw")
        self.kernel = os.path.join(folder, self.name + ".kernel.raw")
        x.tofile(self.input)
        w.tofile(self.kernel)
        self.expected = np.array(entry["expected"]).reshape(self.shape)
        self.tolerance = 1e-6 * max(1, np.abs(self.expected).max())
        self.exact = self.nan = self.padded = False
        self.methods = METHODS
        self.double_methods = []  # the expected numbers are rounded

    def ways(self):
        axes = self.axes
        if set(axes) <= set("xy"):
            name, own = "ndconv2d", [0, 1]
        elif set(axes) <= set("xyz"):
            name, own = "ndconv3d", [0, 1, 2]
        else:
            name, own = "ndconv4dtemporal", [0, 1, 2, 3]
        return [("tensors", self.tensors() + " ! "
                 + self.element(name, own, "raw"))]


def peer_cases(folder):
    with open(shared("golden", "peer_cases.json"), encoding="utf-8") as file:
        entries = json.load(file)["cases"]
    cases = []
    for index, entry in enumerate(entries):
        several = len(entry["origin"]) > 1
        for axes in ("xy", "yz", "xt") if several else ("x", "y", "z", "t"):
            if not (entry["mode"] == "wrap" and "t" in axes):
                cases.append(PeerCase(index, entry, axes, folder))
    return len(entries), cases


def few(entries):
    """The first case of each set of axes, type of samples and border."""
    seen, chosen = set(), []
    for entry in entries:
        kinds = {entry["axes"], entry["dtype"], entry["mode"], entry["mode_t"]}
        if not kinds <= seen:
            chosen.append(entry)
            seen |= kinds
    return chosen


def main():
    only_few = "--few" in sys.argv
    if GPU:
        outcome = run(["ndtestsrc num-buffers=1 ! ndconv3d backend=cuda "
                       "filter=box,size=3 ! fakesink"])[0]
        if outcome[0] == "error":
            skip(outcome[2])
    with open(shared("golden", "index.json"), encoding="utf-8") as file:
        entries = json.load(file)["cases"]
    if only_few:
        entries = few(entries)
    levels = simd_levels()[-1:] if GPU else simd_levels()
    report, peers = Report(), Report()
    with tempfile.TemporaryDirectory() as folder:
        cases = [Case(entry, folder) for entry in entries]
        jobs = [job for case in cases for job in case.jobs(levels)]
        run_jobs(report, jobs)
        report.print(["reference"] + levels
                     + ["separable", "fft", "auto", "ways", DOUBLE])
        check_separable(report, cases)
        if not GPU:
            check_levels(report, jobs, levels)

        number, vectors = peer_cases(folder)
        if only_few:
            vectors = vectors[::8]
        peer_jobs = [job for case in vectors for job in case.jobs(levels[-1:])]
        run_jobs(peers, peer_jobs)
        part = max(p for row in peers.worst.values() for p in row.values()
                   if not isinstance(p, str))
        print(f"{number} vectors of SciPy's suite as {len(vectors)} cases, "
              f"{len(peer_jobs)} pipelines: largest error / bound {part:.3g}")
    misses = report.misses + peers.misses
    print(f"{len(cases)} golden cases, {len(jobs)} pipelines, "
          f"{len(misses)} misses")
    for text in misses:
        print("MISS", text)
    return 1 if misses or len(cases) < (8 if only_few else 59) else 0


sys.exit(main())
