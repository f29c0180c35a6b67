# Band-pass designs compared with NumPy and SciPy: responses to sinusoids and
# moving patterns, frequency responses computed from the coefficients, fits
# solved by other means, and formulas evaluated by other functions. Exit status
# 77: skipped, because a module is missing.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from scipy import integrate, ndimage, special
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

PRINT, TOOL = sys.argv[1:3]
EXAMPLE = {"size": 9, "center-frequency": 1.05, "bandwidth": 2.0}
checks = 0


def numbers(values):
    return ":".join(repr(float(v)) for v in values)


class Bank:
    """Arrays (t, z, y, x), complex if the bank is, and the errors of
    the fit: of the fit and of the truncated ideal filter, with the mean of
    the input, and both without it."""

    def __init__(self, axes, design, **parameters):
        arguments = [f"{name.replace('_', '-')}={value}"
                     for name, value in parameters.items()]
        done = subprocess.run([PRINT, axes, design] + arguments,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, (design, parameters, done.stderr)
        lines = done.stdout.split("\n")
        count, is_complex = (int(n) for n in lines[0].split())
        at = 1
        self.filters, self.errors = [], []
        for _ in range(count):
            head = lines[at].split()
            shape = [int(n) for n in head[3::-1]]
            n = int(np.prod(shape))
            self.filters.append(np.array(lines[at + 1:at + 1 + n],
                                         float).reshape(shape))
            self.errors.append(tuple(float(n) for n in head[4:8]))
            at += n + 1
        if is_complex:
            self.filters = [re + 1j * im for re, im in
                            zip(self.filters[::2], self.filters[1::2])]
            self.errors = self.errors[::2]


def one(axes, design, **parameters):
    return Bank(axes, design, **parameters).filters[0]


def check(name, true, *values):
    global checks
    assert true, (name,) + values
    checks += 1


def close(name, got, expected, tolerance):
    """Within @tolerance of the largest expected value."""
    assert got.shape == expected.shape, (name, got.shape, expected.shape)
    error = np.abs(got - expected).max()
    check(name, error <= tolerance * np.abs(expected).max(), error)


def offsets(shape):
    """x, y, z, t of every coefficient, relative to the centre."""
    grid = np.meshgrid(*[np.arange(n) - (n - 1) / 2 for n in shape],
                       indexing="ij")
    return np.stack(grid[::-1], -1).reshape(-1, 4)


def waves(shape, u):
    """exp(-iux) for the coordinates x of each axis, from x to t, and rows
    (x, y, z, t) of frequencies u."""
    return [np.exp(-1j * np.outer(np.arange(n) - (n - 1) / 2, along))
            for n, along in zip(shape[::-1], np.atleast_2d(u).T)]


def response(f, u):
    """F(u) for rows (x, y, z, t) of frequencies. The wave of all axes is the
    product of those of the axes, whose exponentials are far fewer."""
    first, *others = waves(f.shape, u)
    value = f @ first
    for wave in others:
        value = (value * wave).sum(-2)
    return value


def unit(vector):
    vector = np.array(tuple(vector) + (0,) * (4 - len(vector)), float)
    return vector / np.linalg.norm(vector)


def radial(u, center, bandwidth):
    rho = np.linalg.norm(u, axis=-1)
    return np.exp(-4 / (bandwidth ** 2 * np.log(2))
                  * np.log(np.maximum(rho, 1e-30) / center) ** 2)


def quadrature(u, n, center, bandwidth, power=1):
    along = (u @ n) / np.maximum(np.linalg.norm(u, axis=-1), 1e-30)
    return radial(u, center, bandwidth) * np.where(along > 0, along, 0) ** (
        2 * power)


def frequencies(axes, m, snr=10):
    """A grid over all axes of the filter, and the weights W^2."""
    half = (np.arange(-m, m) + .5) * np.pi / m
    grid = np.meshgrid(*[half if a in axes else [0.0] for a in "xyzt"],
                       indexing="ij")
    u = np.stack(grid, -1).reshape(-1, 4)
    w = np.linalg.norm(u, axis=1) ** -.5 * np.prod(np.cos(u / 2), 1) + 1 / snr
    return u, w * w


def weighted_errors(f, u, w2, ideal, constant=0):
    """The errors that filters/fit.h defines: with ten times the energy in the
    mean, and without the mean."""
    varying = (w2 * np.abs(response(f, u) - ideal) ** 2).sum()
    mean = 10 * w2.sum() * np.abs(f.sum() - constant) ** 2
    return np.sqrt(np.array((varying + mean, varying))
                   / (w2 * np.abs(ideal) ** 2).sum())


def cut_off(shape, u, ideal):
    """The ideal filter over the grid @u, truncated."""
    first, *others = (wave.conj() for wave in waves(shape, u))
    outer = np.ones((1, len(u)))
    for wave in others:
        outer = (wave[:, None] * outer).reshape(-1, len(u))
    return (outer @ (first * ideal).T / len(u)).reshape(shape)


def measure_band(f, n, center, bandwidth):
    """Errors of the centre frequency, by the maximum and by the middle of the
    band, and of the bandwidth; and the gain."""
    rho = np.linspace(.01, np.pi * .98, 1000)
    value = np.abs(response(f, rho[:, None] * n))
    top = value.argmax()
    low = rho[np.where(value[:top] < value[top] / 2)[0][-1]]
    high = rho[top + np.where(value[top:] < value[top] / 2)[0][0]]
    return (abs(rho[top] / center - 1), abs(np.sqrt(low * high) / center - 1),
            abs(np.log2(high / low) / bandwidth - 1), value[top])


def phase_dependence(f, n, frequency):
    """The change of the energy of a sinusoid along @n with its phase, relative
    to its mean, at the centre of the filter."""
    wave = offsets(f.shape) @ n * frequency
    energy = [abs((f.ravel()[::-1] * np.cos(wave + phase)).sum()) ** 2
              for phase in np.linspace(0, 2 * np.pi, 64)]
    return (max(energy) - min(energy)) / np.mean(energy), np.mean(energy)


def check_quadrature(name, f, n, center, bandwidth, beside=None):
    center_error, middle_error, bandwidth_error, gain = measure_band(
        f, n, center, bandwidth)
    check(name + " centre frequency", center_error < .05, center_error)
    check(name + " middle of band", middle_error < .05, middle_error)
    check(name + " bandwidth", bandwidth_error < .05, bandwidth_error)
    check(name + " DC", abs(f.sum()) < 1e-3 * gain, f.sum())
    check(name + " gain", abs(gain - 1) < .02, gain)
    spread, energy = phase_dependence(f, n, center)
    check(name + " energy of all phases", spread < .02, spread)
    check(name + " magnitude", abs(np.sqrt(energy) - .5) < .01, energy)
    for octaves in np.linspace(-bandwidth / 4, bandwidth / 4, 7):
        if beside is None or center * 2 ** octaves > 2.6:
            continue
        spread = phase_dependence(f, n, center * 2 ** octaves)[0]
        check(name + " energy beside the centre", spread < beside, octaves,
              spread)


def check_quadratures():
    golden = 1 + 5 ** .5
    for axes, directions in (
            ("xy", [(1, 0), (0, 1), (1, 1), (-2, 1)]),
            ("xyz", [(1, 0, 0), (2, 0, golden), (1, -1, 1)]),
            ("xyt", [(0, 0, 1), (1, 1, 0)]),
            ("xyzt", [(1, 0, 0, 0), (1, 0, 0, -1), (1, 2, 3, 4)])):
        for direction in directions:
            bank = Bank(axes, "quadrature", **EXAMPLE,
                        direction=numbers(direction))
            n = np.zeros(4)
            n[["xyzt".index(a) for a in axes]] = direction
            n = unit(n)
            name = f"quadrature {axes} {direction}"
            check_quadrature(name, bank.filters[0], n, 1.05, 2.0, .25)
            check_fit(name, bank, axes, lambda u, n=n: quadrature(
                u, n, 1.05, 2.0))


def check_default_sizes():
    """Default sizes for a centre frequency and bandwidth, and given sizes from
    9 on, reach the requested band along the axes and between them. The
    energy changes little with phase over the middle half of the band."""
    for axes, bands, directions in (
            ("xy", ((.25, 2), (.375, 2.5), (.5, 2), (.6, 2), (.7, 2), (1.2, 2),
                    (1.3, 2), (1.35, 2), (.7, 1.5), (1.5, 1.5), (1, 1), (2, 1),
                    (.8, 2.5), (1, 2.5), (1.1, 2.25), (.8, .8), (1.2721, 2.15),
                    (1.2777, 2.05), (1.25, 2.2), (1.13, 2.5)),
             ((1, 0), (0, 1), (1, 1), (2, 1))),
            ("xyz", ((.6, 2), (.7, 2), (1.3, 2), (1.5, 1.5), (1.5, 1),
                     (.8, 2.5)), ((1, 0, 0), (0, 0, 1), (1, 1, 1))),
            ("xyt", ((.9, 2),), ((0, 0, 1), (1, 0, 1))),
            ("xyzt", ((np.pi / 3, 2), (1.5, 1.5), (1.2847, 2.1)),
             ((1, 0, 0, 0), (1, 0, 0, 1)))):
        for center, bandwidth in bands:
            for direction in directions:
                bank = Bank(axes, "quadrature", center_frequency=center,
                            bandwidth=bandwidth, direction=numbers(direction))
                n = np.zeros(4)
                n[["xyzt".index(a) for a in axes]] = direction
                name = f"{axes} {center} {bandwidth} {direction}"
                check_quadrature(name, bank.filters[0], unit(n), center,
                                 bandwidth, .1)
                total, cut, varying, cut_varying = bank.errors[0]
                check(name + " errors", total <= cut
                      and varying <= cut_varying, bank.errors[0])
    # Missing parameters get defaults; along an axis size 9 is needed.
    for parameters, center, direction in (
            ({}, np.pi / 3, (1, 0)), ({"size": 9}, 1.15, (1, 0)),
            ({"size": 11}, np.pi / 3, (1, 0)),
            ({"size": 17}, 2 * np.pi * 1.25 / 12, (1, 0)),
            ({"size": 33}, 2 * np.pi * 1.25 / 24, (1, 0)),
            ({"bandwidth": 1.5}, np.pi / 3, (1, 0)),
            ({"size": 9, "bandwidth": 1.5}, 1.4455, (1, 0)),
            ({"size": 7}, 2 * np.pi / 4.5, (1, 1))):
        f = one("xy", "quadrature", **parameters, direction=numbers(direction))
        check_quadrature(f"quadrature {parameters}", f, unit(direction),
                         center, parameters.get("bandwidth", 2.0))
    check("default size", one("xy", "quadrature").shape == (1, 1, 11, 11))


def check_fit(name, bank, axes, ideal):
    """Compares the reported errors with those on another grid, and the errors
    of the truncated ideal filter with an inverse Fourier transform of that
    grid."""
    f = bank.filters[0]
    stated = bank.errors[0]
    check(name + " error", stated[0] <= stated[1], stated)
    check(name + " error but for the mean", stated[2] <= stated[3], stated)
    m = {2: 36, 3: 16, 4: 9}[len(axes)]
    if len(axes) == 4 and f.size > 5 ** 4:
        return
    u, w2 = frequencies(axes, m)
    value = ideal(u)
    errors = weighted_errors(f, u, w2, value)
    cut = weighted_errors(cut_off(f.shape, u, value), u, w2, value)
    for i in range(2):
        check(name + " stated error", abs(errors[i] / stated[2 * i] - 1) < .1,
              i, errors, stated)
        check(name + " stated truncation error",
              abs(cut[i] / stated[2 * i + 1] - 1) < .15, i, cut, stated)
        check(name + " is better", errors[i] <= cut[i], i, errors, cut)


def check_truncation():
    """Compares the fit with NumPy's truncated ideal filter for many bands and
    sizes. The error with the mean is never larger. The error without the
    mean is not larger from the default size on, and for bandwidths up to 2
    from half the default size on."""
    random = np.random.default_rng(11)
    varied = 0
    for _ in range(60):
        center, bandwidth = random.uniform(.3, 2), random.uniform(1, 3)
        half = random.integers(2, 9)
        default = 2 * np.pi * (1.25 + .2 * max(bandwidth - 2, 0)) / (
            center * (2 ** (bandwidth / 2) - 2 ** (-bandwidth / 2)))
        half = max(half, int(np.ceil(.3 * default)))
        angle = random.choice((0, random.uniform(0, np.pi)))
        n = np.array((np.cos(angle), np.sin(angle), 0, 0))
        bank = Bank("xy", "quadrature", size=2 * half + 1,
                    center_frequency=center, bandwidth=bandwidth,
                    direction=numbers(n[:2]))
        f = bank.filters[0]
        u, w2 = frequencies("xy", 60)
        value = quadrature(u, n, center, bandwidth)
        errors = weighted_errors(f, u, w2, value)
        cut = weighted_errors(cut_off(f.shape, u, value), u, w2, value)
        name = f"truncation {center} {bandwidth} {half} {default}"
        check(name, errors[0] <= 1.01 * cut[0], errors, cut)
        if half >= default * (1 if bandwidth > 2 else .5):
            check(name + " of what varies", errors[1] <= 1.02 * cut[1],
                  errors, cut)
            varied += 1
    check("truncation", varied > 20, varied)


def check_least_squares():
    """Monomials have one condition, no response to a constant. The fit is
    solved with dense matrices."""
    for axes, size, exponents in (("xy", 7, (2, 0)), ("xy", 7, (1, 0)),
                                  ("xy", 5, (0, 0)), ("xyz", 5, (1, 1, 0)),
                                  ("xyz", 5, (1, 1, 1)),
                                  ("xyt", 5, (0, 1, 2))):
        bank = Bank(axes, "monomial", size=size, center_frequency=1.2,
                    exponents=numbers(exponents), localization=.01)
        f = bank.filters[0]
        h = size // 2
        u, w2 = frequencies(axes, 48 if axes == "xy" else 24)
        ideal = radial(u, 1.2, 2.0)
        order = sum(exponents)
        norm = np.linalg.norm(u, axis=1)
        for axis, power in zip(axes, exponents):
            ideal = ideal * (u[:, "xyzt".index(axis)] / norm) ** power
        x = offsets(f.shape)
        phase = u @ x.T
        if order % 2:
            basis, sign = np.sin(phase), -1
        else:
            basis, sign = np.cos(phase), 1
        # Ridge of the spatial weights; odd and even components are separate.
        ridge = .01 * w2.sum() * (x * x).sum(1) / h ** 2
        system = basis.T @ (w2[:, None] * basis) + np.diag(ridge)
        # The other parity is free: keep it at 0.
        system += 1e3 * w2.sum() * (np.eye(len(x)) - (-1) ** order
                                    * np.eye(len(x))[::-1]) / 2
        right = basis.T @ (w2 * ideal)
        expected = np.linalg.solve(system, right)
        ones = np.linalg.solve(system, np.ones(len(x)))
        expected -= ones * expected.sum() / ones.sum()
        close(f"monomial {axes} {exponents}", f.ravel(), sign * expected, 1e-7)
        check_fit("monomial", bank, axes, lambda u: 1j ** (order % 2) * (
            radial(u, 1.2, 2.0) * np.prod(
                [(u[:, "xyzt".index(a)] / np.linalg.norm(u, axis=1)) ** p
                 for a, p in zip(axes, exponents)], 0)))


def check_banks():
    random = np.random.default_rng(7)
    for axes, count in (("xy", 4), ("xyz", 6), ("xyt", 6), ("xyzt", 12)):
        size = 9 if len(axes) < 4 else 7
        bank = Bank(axes, "quadrature-bank", size=size)
        check("directions", len(bank.filters) == count)
        for errors in bank.errors:
            check("bank error", errors[0] <= errors[1])
            check("bank error without the mean", errors[2] <= errors[3])
        # Sums over all directions are isotropic.
        directions = random.normal(size=(40, 4))
        directions[:, [a not in axes for a in "xyzt"]] = 0
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        center = 1.15 if size == 9 else 2 * np.pi / 4.5
        total = sum(np.abs(response(f, sign * center * directions)) ** 2
                    for f in bank.filters for sign in (1, -1))
        check(f"isotropic {axes}", np.ptp(total) < .1 * total.mean(),
              np.ptp(total) / total.mean())
    # A bank has the same filters as the single designs.
    directions = [(2, 0, 1 + 5 ** .5), (-2, 0, 1 + 5 ** .5),
                  (1 + 5 ** .5, 2, 0), (1 + 5 ** .5, -2, 0),
                  (0, 1 + 5 ** .5, 2), (0, 1 + 5 ** .5, -2)]
    bank = Bank("xyz", "quadrature-bank", size=7)
    for f, direction in zip(bank.filters, directions):
        close("bank", f, one("xyz", "quadrature", size=7,
                             direction=numbers(direction)), 1e-10)

    for axes in ("xy", "xyz", "xyzt"):
        d = len(axes)
        bank = Bank(axes, "monomial-bank", size=5, order="0:1:2:3").filters
        n = [special.comb(d + k - 1, k, exact=True) for k in range(4)]
        check("monomials", len(bank) == sum(n), len(bank))
        # The squares of a unit vector's components sum to 1.
        second = bank[n[0] + n[1]:n[0] + n[1] + n[2]]
        squares, at = [], 0
        for i in range(d):
            squares.append(second[at])
            at += d - i
        close("trace", sum(squares), bank[0], 1e-9)
        close("riesz", one(axes, "riesz", size=5), -bank[1], 1e-12)
        close("x", one(axes, "monomial", size=5, order=1), bank[1], 1e-12)
        close("xx", one(axes, "monomial", size=5, order=2, direction="x"),
              second[0], 1e-12)
    # The response to rising samples is positive.
    f = one("xy", "monomial", size=5)
    check("sign", ndimage.convolve(np.arange(25.).reshape(1, 1, 1, 25),
                                   f[:, :, 2:3])[0, 0, 0, 12] > 0)


def patterns(shape, velocity, random):
    """Periodic movies (t, z, y, x) of patterns that move with @velocity: a
    grating along it, a blob, noise of all directions and, if the velocity is
    along x or y, sharp edges across it."""
    u = np.meshgrid(*[2 * np.pi * np.fft.fftfreq(n) for n in shape[1:]],
                    indexing="ij")
    speed = sum(c * v for c, v in zip(u[::-1], velocity))
    rho = np.sqrt(sum(c * c for c in u))
    at = np.meshgrid(*[np.arange(n) for n in shape[1:]], indexing="ij")
    along = sum(c * v for c, v in zip(at[::-1], velocity)) / np.linalg.norm(
        velocity)
    blur = np.exp(-rho ** 2 / 4)
    wave = np.cos(2 * np.pi * np.round(shape[3] * .11) / shape[3] * along)
    blob = np.exp(-sum((c - n / 2) ** 2 for c, n in zip(at, shape[1:])) / 3)
    noise = random.normal(size=shape[1:])
    first = [("grating", wave), ("blob", blob), ("noise", noise)]
    if np.count_nonzero(velocity) == 1:
        first.append(("edge", along % shape[3] < shape[3] / 2))
    for name, image in first:
        spectrum = np.fft.fftn(image) * (1 if name == "edge" else blur)
        yield name, np.stack([np.fft.ifftn(spectrum * np.exp(
            -1j * speed * t)).real for t in range(shape[0])])
    if np.count_nonzero(velocity) == 1:
        place = along - np.linalg.norm(velocity) * np.arange(
            shape[0]).reshape(-1, 1, 1, 1)
        yield "integrated edge", integral(place + .5, shape[3]) - integral(
            place - .5, shape[3])
        yield "sampled edge", np.where(place % shape[3] < shape[3] / 2, 1., -1)


def integral(place, period):
    """The integral from 0 to @place of a square wave that is 1 in the first
    half of each period."""
    return place // period * period / 2 + np.minimum(place % period,
                                                     period / 2)


def check_motion():
    bright = {"center-frequency": 1.15}
    for axes, parameters, velocity in (
            ("xyt", {}, (1, 0)), ("xyt", {}, (.4, 0)), ("xyt", {}, (0, -2)),
            ("xyt", {}, (.5, 0)), ("xyt", {}, (.6, .6)),
            ("xyt", {"size": 9}, (1, 0)), ("xyt", {"size": 9}, (-.7, .7)),
            ("xyt", {"size": 9}, (0, 1.5)), ("xyt", {"size": 9}, (.5, 0)),
            ("xyt", {"size": 9}, (2, 0)), ("xyt", {"size": 9}, (.4, 0)),
            ("xyt", {"size": 15, **bright}, (.3, 0)),
            ("xyt", {"size": 21, **bright}, (.2, 0)),
            ("xyt", {"size": "9:1:9"}, (1, 0)), ("xyt", {"size": 7}, (.5, 0)),
            ("xyt", {"size": 5}, (0, .7)), ("xyt", {"size": 5}, (1.5, 0)),
            ("xyzt", {"size": 7}, (1, 0, 0)), ("xyzt", {"size": 5}, (0, 1, 0)),
            ("xyzt", {"size": 9}, (.6, .6, -.6))):
        given = velocity[:len(axes) - 1]
        bank = Bank(axes, "motion", velocity=numbers(given), **parameters)
        f = bank.filters[0]
        flat = f.shape[2] == 1
        shape = (f.shape[0] + 8, 16 if "z" in axes else 1, 1 if flat else 36,
                 36)
        check("motion error", bank.errors[0][0] <= bank.errors[0][1])
        velocity = velocity + (0,) * (3 - len(velocity))
        back = tuple(-v for v in velocity)
        for (name, there), (_, other) in zip(
                patterns(shape, velocity, np.random.default_rng(3)),
                patterns(shape, back, np.random.default_rng(3))):
            strength = [np.sqrt((np.abs(convolve(movie, f)) ** 2).mean())
                        for movie in (there, other)]
            ratio = strength[0] / strength[1]
            # Sampled edges need more than size 9 if they move slowly.
            if " edge" in name and f.shape[0] < (
                    11 if max(map(abs, velocity)) < .5 else 9):
                continue
            check(f"motion {axes} {parameters} {velocity} {name}", ratio >= 5,
                  ratio)


def convolve(movie, f):
    """The valid part of the movie in time, periodic in space."""
    grid = np.zeros(movie.shape, complex)
    for index in np.ndindex(f.shape[1:]):
        where = tuple((i - k // 2) % n for i, k, n in zip(
            index, f.shape[1:], movie.shape[1:]))
        for t in range(f.shape[0]):
            grid[(t,) + where] += f[(t,) + index]
    out = np.fft.ifftn(np.fft.fftn(grid) * np.fft.fftn(movie))
    return out[f.shape[0] - 1:]


def check_formulas():
    for axes in ("xy", "xyz", "xyzt"):
        n = unit((1, 2, -1, 3)[:len(axes)])
        f = one(axes, "gabor", center_frequency=1.2, bandwidth=1.5, size=7,
                direction=numbers(n[:len(axes)]))
        x = offsets(f.shape)
        s = np.sqrt(2 * np.log(2)) * (2 ** 1.5 + 1) / (2 ** 1.5 - 1) / 1.2
        g = np.exp(-(x * x).sum(1) / (2 * s * s))
        wave = g * np.exp(1.2j * (x @ n))
        expected = (wave - g * wave.real.sum() / g.sum()) / g.sum()
        close("gabor", f.ravel(), expected, 1e-12)
        check("gabor DC", abs(f.sum()) < 1e-12)

        for order in ((1,), (2, 1), (0, 3), (1, 2, 1, 4)):
            order = (order + (0,) * 4)[:len(axes)]
            f = one(axes, "gaussian-derivative", sigma=.9,
                    order=numbers(order))
            shape = [k for k in f.shape if k > 1]
            impulse = np.zeros(shape)
            impulse[tuple(k // 2 for k in shape)] = 1
            expected = impulse
            for axis, power in enumerate(order):
                at = len(axes) - 1 - axis
                line = ndimage.gaussian_filter1d(impulse.sum(tuple(
                    a for a in range(len(shape)) if a != at)), .9, order=power,
                    mode="constant")
                plain = ndimage.gaussian_filter1d(impulse.sum(tuple(
                    a for a in range(len(shape)) if a != at)), .9,
                    mode="constant")
                if power in (2, 4):
                    line = line - line.sum() * plain
                expected = expected.sum(at, keepdims=True) * line.reshape(
                    [-1 if a == at else 1 for a in range(len(shape))])
            close(f"derivative {order}", f.reshape(shape), expected, 1e-12)
            if any(order):
                check("derivative sum", abs(f.sum()) < 1e-12)

        f = one(axes, "dog", sigma=.8)
        shape = [k for k in f.shape if k > 1]
        impulse = np.zeros(shape)
        impulse[tuple(k // 2 for k in shape)] = 1
        reach = shape[0] // 2
        narrow, wide = (ndimage.gaussian_filter(
            impulse, s, mode="constant", truncate=reach / s) for s in
                        (.8, 1.28))
        close("dog", f.reshape(shape), narrow - wide, 1e-12)

        f = one(axes, "sphere", radius=2.5)
        inside = (offsets(f.shape) ** 2).sum(1) <= 6.25
        close("sphere", f.ravel(), inside / inside.sum(), 1e-14)
        radii = np.array((3, 2, 1.5, 2)[:len(axes)])
        f = one(axes, "ellipsoid", radius=numbers(radii))
        x = offsets(f.shape)[:, :len(axes)]
        inside = ((x / radii) ** 2).sum(1) <= 1 + 1e-12
        close("ellipsoid", f.ravel(), inside / inside.sum(), 1e-14)

        f = one(axes, "scharr", direction="y")
        line = {"x": [3, 10, 3], "y": [1, 0, -1], "z": [3, 10, 3],
                "t": [3, 10, 3]}
        expected = np.ones((1,) * 4)
        for axis in axes:
            expected = expected * np.array(line[axis]).reshape(
                [-1 if a == axis else 1 for a in "tzyx"])
        close("scharr", f, expected, 0)

        bank = Bank(axes, "wiener", sigma=1.0, snr=10,
                    size=11 if len(axes) < 4 else 9)
        f = bank.filters[0]
        check("wiener sum", abs(f.sum() - 1) < 1e-9)
        check("wiener error", bank.errors[0][0] <= bank.errors[0][1])
        u = unit((1, 1, 1, 1)[:len(axes)]) * .8
        g = np.exp(-.8 ** 2 / 2)
        want = 1.01 * g / (g * g + .01)
        check("wiener response", abs(response(f, u)[0] / want - 1) < .1,
              response(f, u)[0], want)


def check_psf():
    optics = {"wavelength": .52, "aperture": .9, "index": 1.33}
    k = 2 * np.pi / .52
    for axes in ("xy", "xyz", "xyzt"):
        sampling = (.11, .13, .4, 1)[:len(axes)]
        f = one(axes, "psf", model="airy", sampling=numbers(sampling),
                **optics)
        check("psf sum", abs(f.sum() - 1) < 1e-12)
        check("psf size in time", f.shape[0] == 1)
        x = offsets(f.shape)
        v = k * .9 * np.hypot(x[:, 0] * .11, x[:, 1] * .13)
        plane = x[:, 2] == 0
        pattern = np.where(v == 0, 1, 2 * special.j1(v) / np.where(
            v == 0, 1, v)) ** 2
        got = f.ravel() / f.max()
        close(f"airy {axes}", got[plane], pattern[plane], 1e-6)
        w = k * .81 / 1.33 * .4 * x[:, 2]
        for i in np.random.default_rng(2).choice(len(x), 20):
            re, im = (integrate.quad(lambda p, part=part: 2 * p * special.j0(
                v[i] * p) * part(w[i] * p * p / 2), 0, 1, limit=200)[0]
                      for part in (np.cos, np.sin))
            check("born and wolf", abs(got[i] - re * re - im * im) < 1e-6,
                  got[i], re * re + im * im)
        f = one(axes, "psf", sampling=numbers(sampling), **optics)
        close("gaussian psf", f.ravel() / f.max(),
              np.exp(-v * v / 4 - w * w / 48) if f.size == len(x) else
              gaussian_psf(f, k), 1e-12)
    f = one("xyzt", "psf", sampling=1, size="3:3:3:5", wavelength=2,
            aperture=.3)
    close("exposure", f, np.broadcast_to(f[:1], f.shape), 0)


def gaussian_psf(f, k):
    x = offsets(f.shape)
    v = k * .9 * np.hypot(x[:, 0] * .11, x[:, 1] * .13)
    w = k * .81 / 1.33 * .4 * x[:, 2]
    return np.exp(-v * v / 4 - w * w / 48)


def describe(text, axes="xy"):
    return subprocess.run([TOOL, "describe", text, "--axes=" + axes],
                          check=True, capture_output=True, text=True).stdout


def check_described(folder):
    """The gain of a large filter with a narrow peak, compared with an FFT of
    many points; and the rank, which is not computed for very large filters."""
    path = os.path.join(folder, "large.npy")
    for text, points in (("quadrature,size=97", 1024),
                         ("quadrature,size=61,direction=<1.0,0.7>", 1024),
                         ("wiener,sigma=4.0", 512), ("dog,sigma=4.0", 512),
                         ("gabor,center-frequency=0.4,bandwidth=0.5,"
                          "direction=<1.0,0.4>", 1024),
                         ("box,size=300:3", 512)):
        subprocess.run([TOOL, "save", text, path, "--axes=xy"], check=True,
                       capture_output=True)
        gain = np.abs(np.fft.fft2(np.load(path), (points, points))).max()
        stated = float(describe(text).split("gain")[1].split()[0])
        check("gain", abs(stated / gain - 1) < .005, text, stated, gain)
    # The measured band is printed beside the requested one.
    for text, asked in (
            ("quadrature,size=9,center-frequency=1.05", "asked for 1.05, 2"),
            ("gabor,center-frequency=0.8,bandwidth=1.0", "asked for 0.8, 1"),
            ("monomial,order=0,bandwidth=1.5", "asked for 1.047, 1.5"),
            ("log,sigma=1.5", "octaves\n")):
        done = describe(text)
        subprocess.run([TOOL, "save", text, path, "--axes=xy"], check=True,
                       capture_output=True)
        f = np.load(path)
        f = f.reshape((1, 1) + f.shape)
        u = np.array([float(n) for n in done.split("at (")[1].split(")")[0]
                      .split(",")])
        rho = np.linspace(.01, 3, 3000)
        value = np.abs(response(f, rho[:, None] * u / np.linalg.norm(u)))
        top = value.argmax()
        low = rho[np.where(value[:top] < value[top] / 2)[0][-1]]
        high = rho[top + np.where(value[top:] < value[top] / 2)[0][0]]
        words = done.split("band        ")[1].split()
        check("band", abs(float(words[0]) / low - 1) < .01
              and abs(float(words[2]) / high - 1) < .01, text, done, low, high)
        check("asked", asked in done, text, done)
    check("no band", "band" not in describe("gaussian,sigma=1.0")
          and "does not fall to half" in describe(
              "quadrature,size=3,center-frequency=1.2"))
    check("large rank", "rank        1:1:1:1, separable" in describe(
        "box,size=800"))
    check("no rank", "rank        not computed" in describe(
        "sphere,radius=400"))


def check_saved(folder):
    """A filter saved by ndconv-filter equals the design and can be loaded."""
    for axes, text, parameters in (
            ("xy", "quadrature,size=5", {"size": 5}),
            ("xyt", "quadrature,size=5", {"size": 5}),
            ("xyzt", "quadrature,size=3", {"size": 3})):
        f = one(axes, "quadrature", **parameters)
        for ending, tolerance in (("npy", 0), ("nii", 1e-7), ("nrrd", 1e-7),
                                  ("nii.gz", 1e-7), ("mha", 1e-7)):
            path = os.path.join(folder, "f." + ending)
            subprocess.run([TOOL, "save", text, path, "--axes=" + axes],
                           check=True, capture_output=True)
            close(ending, one(axes, "file", location=path), f, tolerance)
        array = np.load(os.path.join(folder, "f.npy"))
        check("npy axes", array.ndim == len(axes)
              and array.dtype == np.complex128)
        close("npy", array.ravel(), f.ravel(), 0)
    subprocess.run([TOOL, "save", "quadrature-bank,size=5",
                    os.path.join(folder, "bank.npy"), "--axes=xy"], check=True,
                   capture_output=True)
    bank = Bank("xy", "quadrature-bank", size=5)
    for i, f in enumerate(bank.filters):
        array = np.load(os.path.join(folder, f"bank-{i}.npy"))
        close("saved bank", array.ravel(), f.ravel(), 0)
    done = subprocess.run([TOOL, "describe", "quadrature,size=9",
                           "--axes=xyz"], check=True, capture_output=True,
                          text=True).stdout
    error = Bank("xyz", "quadrature", size=9).errors[0]
    for word in ("9:9:9:1", "729 complex", "rank        9:5:5:1", "even", "odd",
                 f"fit error   {error[0]:.4g}", f"{error[1]:.4g}",
                 f"{error[2]:.4g}", f"{error[3]:.4g}"):
        check("describe", word in done, word, done)
    matrix = np.random.default_rng(1).normal(size=(6, 2)) @ \
        np.random.default_rng(2).normal(size=(2, 5))
    np.save(os.path.join(folder, "rank.npy"), matrix)
    done = subprocess.run(
        [TOOL, "describe", f"file,location={folder}/rank.npy", "--axes=xy"],
        check=True, capture_output=True, text=True).stdout
    check("rank", "rank        2:2:1:1" in done and f"{matrix.sum():.6g}" in
          done, done)
    picture = os.path.join(folder, "plot.png")
    subprocess.run([TOOL, "plot", "quadrature-bank,size=5", picture,
                    "--axes=xyz"], check=True, capture_output=True)
    with open(picture, "rb") as file:
        data = file.read()
    check("picture", data[:8] == b"\x89PNG\r\n\x1a\n"
          and int.from_bytes(data[16:20], "big") == 8 + 156 * 7
          and int.from_bytes(data[20:24], "big") == 8 + 152 * 6)
    for arguments, status, word in (
            (["describe", "quadrature,size=8"], 1, "must be odd"),
            (["describe", "quadrature", "--axes=yx"], 1, "--axes"),
            (["save", "gaussian,sigma=1.0", folder + "/f.tif"], 1, ".npy"),
            (["save", "gaussian,sigma=1.0", folder + "/no/f.npy"], 1,
             "cannot be written"),
            (["plot", "gaussian,sigma=1.0", folder + "/no/f.png"], 1,
             "cannot be written"),
            (["describe"], 2, "Usage"), (["draw", "box,size=3"], 2, "Usage")):
        done = subprocess.run([TOOL] + arguments, capture_output=True,
                              text=True, check=False)
        check("refused", done.returncode == status and word in done.stderr,
              arguments, done)


check_quadratures()
check_default_sizes()
check_truncation()
check_least_squares()
check_banks()
check_motion()
check_formulas()
check_psf()
with tempfile.TemporaryDirectory() as temporary:
    check_described(temporary)
    check_saved(temporary)
print(f"{checks} properties agree with NumPy and SciPy")
