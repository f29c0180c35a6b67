/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/mma/pieces.cuh"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nd
{

constexpr int HALF_BITS = 13; /* fp16 coefficients are less than 2^HALF_BITS */
/* The weight of the error of the sum of fp16 coefficients. If all samples have
 * one value, they all have the same error as fp16, up to 4.9e-4. The error of
 * the sum may then be 8e-6 only. The errors of single coefficients act like
 * noise and may be 4e-4. */
constexpr double HALF_SUMS = 50;
constexpr int HALF_UNITS = 1024; /* units that are tried to reach that */

static double
largest_coefficient (const NdFilter *f)
{
  double largest = 0;

  for (size_t i = 0; i < nd_filter_count (f); i++)
    largest = fmax (largest, fabs (f->coefficients[i]));
  return largest;
}

int
filter_exponent (const NdFilter *f)
{
  const double largest = largest_coefficient (f);
  int exponent;

  frexp (largest, &exponent);
  return largest > 0 ? exponent : 0;
}

namespace
{

/* The rounded @values of coefficients in @unit, with their error. The error of
 * the sum counts @sums times. */
Pieces
measured (const NdFilter *f, double unit, int bytes, std::vector<double> values,
    double sums = 1)
{
  double lost = 0, error2 = 0, norm2 = 0, sum = 0;

  for (size_t i = 0; i < values.size (); i++) {
    const double w = f->coefficients[i] / unit;

    lost += w - values[i];
    sum += w;
    error2 += (values[i] - w) * (values[i] - w);
    norm2 += w * w;
  }
  return Pieces{ unit, bytes,
    norm2 > 0 ? fmax (sqrt (error2 / norm2),
                    sums * fabs (lost) / fmax (fabs (sum), sqrt (norm2)))
              : 0,
    std::move (values) };
}

/* Rounds coefficients to the nearest integers. To keep the sum, as many of them
 * as necessary are rounded in the other direction: first those that are closest
 * to the integer there, and equal ones in a scattered order. Zeros stay
 * zero. */
std::vector<double>
round_integers (const NdFilter *f, double unit)
{
  std::vector<double> values (nd_filter_count (f)), rest (values.size ());
  std::vector<uint32_t> order;
  double lost = 0;

  for (uint32_t i = 0; i < values.size (); i++) {
    const double w = f->coefficients[i] / unit;

    values[i] = rint (w);
    rest[i] = w - values[i];
    lost += rest[i];
    if (w != 0)
      order.push_back (i);
  }
  const double step = lost < 0 ? -1 : 1;
  const size_t moved = std::min<size_t> (rint (fabs (lost)), order.size ());

  std::nth_element (order.begin (), order.begin () + moved, order.end (),
      [&] (uint32_t i, uint32_t j) {
        const double more = step * (rest[i] - rest[j]);

        return more != 0 ? more > 0 : i * 2654435761u < j * 2654435761u;
      });
  for (size_t k = 0; k < moved; k++)
    values[order[k]] += step;
  return values;
}

Pieces
make_integers (const NdFilter *f, int bytes)
{
  const int largest = bytes == 1 ? 127 : bytes == 2 ? 32639 : 8355711;

  for (int exponent = filter_exponent (f) - 8 * bytes;; exponent++) {
    const double unit = ldexp (1, exponent);
    std::vector<double> values = round_integers (f, unit);
    bool fits = true;

    for (double value : values)
      fits &= fabs (value) <= largest;
    if (fits)
      return measured (f, unit, bytes, std::move (values));
  }
}

/* Rounds to fp16. With @carry, each coefficient is rounded together with the
 * rounding errors before it. */
std::vector<double>
round_halves (const NdFilter *f, double unit, bool carry)
{
  std::vector<double> values;
  double lost = 0;

  for (size_t i = 0; i < nd_filter_count (f); i++) {
    const double w = f->coefficients[i] / unit;

    values.push_back (w == 0 ? 0 : round_half (carry ? w + lost : w));
    lost += w - values[i];
  }
  return values;
}

/* One fp16 for each coefficient. Tries a power of two as unit, then fractions
 * of the largest coefficient, which make equal coefficients exact, until the
 * error is small enough. */
Pieces
make_halves (const NdFilter *f)
{
  const double largest = largest_coefficient (f);
  std::vector<double> units = { ldexp (1, filter_exponent (f) - HALF_BITS) };
  Pieces best = { 1, 0, INFINITY, {} };

  for (int k = 0; k < HALF_UNITS && largest > 0; k++)
    units.push_back (ldexp (largest, 1 - HALF_BITS)
        * (1 - 0.5 * k / HALF_UNITS));
  for (size_t k = 0; k < units.size (); k++) {
    for (bool carry : { true, false }) {
      Pieces made = measured (f, units[k], 0, round_halves (f, units[k], carry),
          HALF_SUMS);

      if (made.error < best.error)
        best = std::move (made);
    }
    if (k > 0 && best.error <= most_error (ND_ACCURACY_FAST))
      break;
  }
  return best;
}

/* A high and a low fp16 for each coefficient; put_coefficient() separates
 * them. */
Pieces
make_pairs (const NdFilter *f)
{
  const double unit = ldexp (1, filter_exponent (f) - HALF_BITS);
  Pieces made = { unit, 0, 0, {} };

  for (size_t i = 0; i < nd_filter_count (f); i++)
    made.values.push_back (f->coefficients[i] / unit);
  return made;
}

} // namespace

double
most_error (NdAccuracy accuracy)
{
  return accuracy == ND_ACCURACY_FAST ? 4e-4 : 1.8e-6;
}

Pieces
make_pieces (const NdFilter *f, TensorForm form, NdAccuracy accuracy)
{
  const bool fast = accuracy == ND_ACCURACY_FAST;

  if (form == TENSOR_HALVES)
    return fast ? make_halves (f) : make_pairs (f);
  for (int bytes = 1;; bytes++) {
    const Pieces made = make_integers (f, bytes);

    if (made.error == 0 || bytes == 3
        || (fast && made.error <= most_error (accuracy)))
      return made;
  }
}

} // namespace nd
