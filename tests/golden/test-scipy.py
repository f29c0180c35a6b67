# The elements against SciPy, from files to files: real 4D and 3D recordings,
# and random filters, shapes, borders, origins and types.
#
# The environment variable ND_SEED repeats a random run.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import collections
import os
import random
import sys
import tempfile

from pipelines import (FFT_BOUND, SHARED, TYPES, colons, float32_bound, np,
                       properties, read_raw, relative_l2, run, shared)

try:
    from scipy import ndimage
    import nibabel
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

BORDERS = ["constant", "nearest", "reflect", "mirror", "wrap"]
RANDOM_CASES = 30
LIMITS = {"uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535)}
RANDOM_TYPES = [*LIMITS, "float32"]     # of cases in single precision

# The names of the borders in `numpy.pad`.
PADS = {"nearest": "edge", "reflect": "symmetric", "mirror": "reflect",
        "wrap": "wrap"}

misses = []
worst = collections.defaultdict(float)
heart_l2 = collections.defaultdict(float)
counts = collections.Counter()


def convolve(x, w, border, time_border, value=0.0, origin=(0, 0, 0, 0)):
    """Convolves in double precision. Time may have a border of its own, which
    SciPy does not support. Arrays and @origin are (t, z, y, x)."""
    x = x.astype("f8")
    if border == time_border:
        return ndimage.convolve(x, w, mode=border, cval=value, origin=origin)
    room = [(w.shape[0],) * 2] + [(0, 0)] * 3
    if time_border == "constant":
        x = np.pad(x, room, constant_values=value)
    else:
        x = np.pad(x, room, mode=PADS[time_border])
    return ndimage.convolve(x, w, mode=border, cval=value,
                            origin=origin)[w.shape[0]:-w.shape[0]]


def check(name, got, expected, magnitude, taps, method, scale=1.0):
    """float32 samples: within the error of float32 sums, if the sum of the
    absolute values is at most @magnitude; fft has its own bound."""
    if got is None or got.shape != expected.shape:
        misses.append(f"{name}: the file has another size")
        return
    error = np.abs(got - expected).max()
    if method == "fft":
        part = relative_l2(got, expected) / FFT_BOUND
    else:
        part = error / max(scale * float32_bound(taps, magnitude), 1e-30)
    counts[method] += 1
    worst[method] = max(worst[method], part)
    if not part <= 1:
        misses.append(f"{name} ({method}): error {error:.3g} is {part:.3g} of "
                      "the bound")


def check_integers(name, got, response, kind, slack, method):
    """numpy.rint() rounds half to even too. If the response is within @slack of
    a half, either neighbour is right."""
    if got is None or got.shape != response.shape:
        misses.append(f"{name}: the file has another size")
        return
    low, high = LIMITS[kind]
    least = np.clip(np.rint(response - slack), low, high)
    most = np.clip(np.rint(response + slack), low, high)
    off = np.count_nonzero((got < least) | (got > most))
    counts[f"{method} to {kind}"] += 1
    if off:
        at = np.argmax((got < least) | (got > most))
        misses.append(f"{name} ({method}): {off} of {got.size} samples, such "
                      f"as {got.flat[at]} for {response.flat[at]:.9g}")


def check_header(name, image, like):
    """Geometry and rate pass through the elements unchanged."""
    counts["headers"] += 1
    head, old = image.header, like.header
    # The elements use seconds; a file need not.
    space, time = old.get_xyzt_units()
    units = (space, "sec" if time == "unknown" else time)
    for text, got, expected in (
            ("affine", image.affine, like.affine),
            ("zooms", head.get_zooms(), old.get_zooms()),
            ("units", head.get_xyzt_units(), units),
            ("shape", image.shape, like.shape),
            ("sform code", head["sform_code"], old["sform_code"]),
            ("qform code", head["qform_code"], old["qform_code"])):
        if not np.array_equal(got, expected):
            misses.append(f"{name}: {text} {got}, not {expected}")


class Batch:
    """Pipelines that run together, and the checks of their files."""

    def __init__(self):
        self.items = []

    def add(self, name, text, look):
        self.items.append((name, text, look))

    def run(self):
        outcomes = run([text for _, text, _ in self.items])
        for (name, _, look), outcome in zip(self.items, outcomes):
            if outcome[0] == "error":
                misses.append(f"{name}: {outcome[2]}")
            else:
                if outcome[2] != outcome[3]:
                    misses.append(f"{name}: {outcome[2]} volumes in, "
                                  f"{outcome[3]} out")
                look(outcome[1])


def volumes(image):
    """The samples of a NIfTI file as (t, z, y, x)."""
    samples = np.asarray(image.dataobj).T
    return samples.reshape((-1,) + samples.shape[-3:])


def check_heart(folder, rng, batch):
    """The beating heart, 62x53x67x7 float32, with 5^4 random coefficients that
    do not sum to 0."""
    path = shared("data", "greedy_img4d.nii.gz")
    image = nibabel.load(path)
    x = volumes(image)
    kernel = os.path.join(folder, "kernel.npy")
    w = rng.uniform(-0.5, 1, (5, 5, 5, 5))
    np.save(kernel, w)
    reach = ndimage.convolve(np.abs(x).astype("f8"), np.abs(w),
                             mode="nearest").max()

    def case(border, time_border, causal, value, methods):
        expected = convolve(x, w, border, time_border, value,
                            (-2 if causal else 0, 0, 0, 0))
        magnitude = max(reach, np.abs(w).sum() * abs(value))
        for method in methods:
            name = (f"heart {border}/{time_border} {method}"
                    + (" causal" if causal else ""))
            # gzip takes longer than filtering, so only one file is compressed.
            ending = ".nii.gz" if method == "auto" else ".nii"
            output = os.path.join(folder, name.translate(
                str.maketrans(" /", "__")) + ending)

            def look(used, name=name, output=output):
                done = nibabel.load(output)
                check_header(name, done, image)
                got = volumes(done)
                check(name, got, expected, magnitude, w.size, used)
                # A bound for every method; little cancels in this case.
                l2 = relative_l2(got, expected)
                heart_l2[used] = max(heart_l2[used], l2)
                if not l2 <= FFT_BOUND:
                    misses.append(f"{name}: relative L2 error {l2:.3g}")
                os.remove(output)

            batch.add(name, f"ndfilesrc location={path} ! ndconv4dtemporal "
                      f"name=conv filter=\"file,location={kernel}\" "
                      + properties(border=border, time_border=time_border,
                                   border_value=value, causal=causal,
                                   method=method)
                      + f" ! ndfilesink location={output}", look)

    three = ["direct", "fft", "auto"]
    case("nearest", "nearest", False, 0, three + ["reference"])
    case("reflect", "reflect", False, 0, three)
    case("mirror", "mirror", False, 0, three)
    case("constant", "constant", False, 17.25, three)
    case("reflect", "constant", False, -3.5, ["direct", "fft"])
    case("wrap", "mirror", False, 0, ["direct", "fft"])
    case("nearest", "nearest", True, 0, three)
    case("mirror", "constant", True, 0, ["direct", "fft"])


def check_rounding(folder, rng, batch):
    """30 int16 volumes of the spinal cord, with integer output. Integer
    coefficients and a gain of 1/8 give many halves, exactly in float32."""
    path = shared("data", "sct_fmri.nii.gz")
    image = nibabel.load(path)
    x = volumes(image)
    w = rng.integers(-6, 7, (3, 5, 3)).astype("f4")
    kernel = os.path.join(folder, "whole.raw")
    w.tofile(kernel)
    response = np.stack([ndimage.convolve(v.astype("f8"), w.astype("f8"),
                                          mode="mirror") for v in x])
    halves = np.count_nonzero(response % 8 == 4)
    print(f"{halves} of {response.size} responses are at a half")
    if halves == 0:
        misses.append("no response lies at a half")
    for method in ("direct", "auto", "reference"):
        for kind, gain, offset in (("int16", 0.125, 0), ("int16", 8, -2.5),
                                   ("uint8", 0.125, 128), ("uint16", 1, 0.5)):
            name = f"cord {method} {kind} gain {gain} offset {offset}"
            ending = ".raw" if kind == "uint8" else ".nii"
            output = os.path.join(folder, name.replace(" ", "_") + ending)
            expected = response * gain + offset

            def look(used, name=name, kind=kind, output=output,
                     expected=expected):
                if output.endswith(".raw"):
                    got = read_raw(output, kind, expected.shape)
                else:
                    done = nibabel.load(output)
                    check_header(name, done, image)
                    got = volumes(done)
                    if done.get_data_dtype() != np.dtype(TYPES[kind]):
                        misses.append(f"{name}: {done.get_data_dtype()} was "
                                      "written")
                check_integers(name, got, expected, kind, 0, used)
                os.remove(output)

            batch.add(name, f"ndfilesrc location={path} ! ndconv3d name=conv "
                      f"filter=\"file,location={kernel},size=3:5:3\" "
                      + properties(border="mirror", method=method, gain=gain,
                                   offset=offset, output_type=kind)
                      + f" ! ndfilesink location={output}", look)


class RandomCase:
    """A random stream and a random filter from one seed."""

    def __init__(self, seed, element, folder):
        self.seed = seed
        self.element = element
        self.folder = folder
        self.draw = random.Random(seed)
        self.rng = np.random.default_rng(seed)
        draw = self.draw
        # The axes of the filter, out of (x, y, z, t).
        self.along = {"ndconv2d": [0, 1],
                      "ndconv3d": draw.choice([[0, 1, 2], [0, 1, 3]]),
                      "ndconv4dtemporal": [0, 1, 2, 3]}[element]
        self.size = [1] * 4
        for axis in self.along:
            self.size[axis] = draw.choice([1, 2, 3, 4, 5, 6, 7])
        self.origin = [draw.randint(-(k // 2), (k - 1) // 2)
                       for k in self.size]
        self.causal = 3 in self.along and draw.random() < 0.3
        if self.causal:
            self.origin[3] = -(self.size[3] // 2)
        self.components = draw.choice([1, 1, 1, 2, 3])
        self.shape = [draw.randint(1, 24), draw.randint(1, 18),
                      draw.choice([1, draw.randint(1, 9)]), draw.randint(1, 8)]
        self.responses = draw.choice([1, 1, 1, 2, 3])
        self.border = draw.choice(BORDERS)
        self.time_border = draw.choice(BORDERS[:-1])
        self.value = draw.choice([0.0, 3.0, -7.5])
        self.type = draw.choice(RANDOM_TYPES)
        self.output_type = draw.choice(["same", "float32"] + RANDOM_TYPES)
        self.gain = draw.choice([1.0, 0.25, -3.0])
        self.offset = draw.choice([0.0, 11.5])
        self.separable = draw.random() < 0.3
        self.method = draw.choice(["direct", "fft", "auto", "separable"]
                                  if self.separable
                                  else ["direct", "fft", "auto"])
        self.make_files()

    def describe(self):
        return (f"{self.element} seed {self.seed}: {colons(self.shape)} "
                f"{self.type} x{self.components}, filter "
                f"{colons(self.size)} along {self.along} x{self.responses}, "
                f"origin {colons(self.origin)}, {self.border}/"
                f"{self.time_border} {self.value}, to {self.output_type}, "
                f"gain {self.gain}, {self.method}")

    def path(self, name):
        return os.path.join(self.folder, f"{self.element}-{self.seed}-{name}")

    def make_files(self):
        shape = self.shape[::-1] + [self.components]
        if self.type == "float32":
            self.x = self.rng.normal(0, 10, shape).astype("f4")
        else:
            self.x = self.rng.integers(*LIMITS[self.type], shape,
                                       endpoint=True).astype(TYPES[self.type])
        self.x.tofile(self.path("in.raw"))
        self.filters = []
        for k in range(self.responses):
            w = self.rng.uniform(-1, 1, self.size[::-1])
            if self.separable:
                w = np.ones([1] * 4)
                for axis, n in enumerate(self.size):
                    line = [1] * 4
                    line[3 - axis] = n
                    w = w * self.rng.uniform(0.2, 1, line)
            w = w.astype("f4")
            w.tofile(self.path(f"{k}.raw"))
            self.filters.append(w.astype("f8"))

    def text(self):
        size = colons(self.size[a] for a in self.along)
        bank = "; ".join(f"file,location={self.path(f'{k}.raw')},size={size}"
                         for k in range(self.responses))
        values = {"border": self.border, "border_value": self.value,
                  "origin": colons(self.origin[a] for a in self.along),
                  "gain": self.gain, "offset": self.offset,
                  "output_type": self.output_type, "method": self.method}
        if 3 in self.along:
            values["time_border"] = self.time_border
            values["causal"] = self.causal
        if self.element == "ndconv3d":
            values["axes"] = "xyt" if 3 in self.along else "xyz"
        return (f"ndfilesrc location={self.path('in.raw')} type={self.type} "
                f"volume-size={colons(self.shape[:3])} "
                f"components={self.components} ! {self.element} name=conv "
                f"filter=\"{bank}\" {properties(**values)} ! ndfilesink "
                f"location={self.path('out.raw')}")

    def expected(self, w):
        """(t, z, y, x, c) in double precision. The filter has size 1 along its
        other axes, so their border is not read."""
        time_border = self.time_border if 3 in self.along else self.border
        return np.stack([convolve(self.x[..., c], w, self.border, time_border,
                                  self.value, self.origin[::-1])
                         for c in range(self.components)], -1)

    def look(self, used):
        kind = self.type if self.output_type == "same" else self.output_type
        nx, ny, nz, nt = self.shape
        got = read_raw(self.path("out.raw"), kind,
                       [nt, self.responses, nz, ny, nx, self.components])
        if self.method not in ("auto", used):
            misses.append(f"{self.describe()}: {used} was used")
        for k, w in enumerate(self.filters):
            name = f"{self.describe()}, response {k}"
            sums = self.expected(w)
            expected = sums * self.gain + self.offset
            largest = max(np.abs(self.x.astype("f8")).max(), abs(self.value))
            magnitude = np.abs(w).sum() * largest
            mine = None if got is None else got[:, k]
            # The gain and the offset add one rounding each.
            bound = float32_bound(w.size, magnitude)
            if used == "fft":
                # Rounding errors are evenly distributed: none is eight times
                # their root mean square.
                bound = 8 * FFT_BOUND * np.sqrt(np.mean(sums ** 2))
            bound = (abs(self.gain) * bound
                     + 2.0 ** -23 * np.abs(expected).max())
            if kind != "float32":
                check_integers(name, mine, expected, kind, bound, used)
            elif used == "fft" and mine is not None:
                check(name, (mine.astype("f8") - self.offset) / self.gain,
                      sums, magnitude, w.size, used)
            else:
                check(name, mine, expected, 1, w.size, used,
                      bound / float32_bound(w.size, 1))


def main():
    seed = int(os.environ.get("ND_SEED") or random.randrange(10 ** 9))
    print("seed", seed, "(ND_SEED repeats it)")
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        batch = Batch()
        if os.path.isdir(os.path.join(SHARED, "data")):
            check_heart(folder, rng, batch)
            check_rounding(folder, rng, batch)
        else:
            print("not tested: the recordings, because ND_SHARED names no folder "
                  "with them")
        for element in ("ndconv2d", "ndconv3d", "ndconv4dtemporal"):
            for i in range(RANDOM_CASES):
                case = RandomCase(seed + i, element, folder)
                batch.add(case.describe(), case.text(), case.look)
        batch.run()
    for method, part in worst.items():
        print(f"{method}: largest error / bound {part:.3g}")
    for method, l2 in heart_l2.items():
        print(f"{method}: largest relative L2 error on the heart {l2:.3g}")
    for name, count in sorted(counts.items()):
        print(f"{count:5} {name}")
    print(f"{len(batch.items)} pipelines, {len(misses)} misses")
    for text in misses:
        print("MISS", text)
    return 1 if misses else 0


sys.exit(main())
