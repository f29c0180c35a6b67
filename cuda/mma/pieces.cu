/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/mma/pieces.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace nd
{

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

/* The rounded @values of coefficients in @unit, with their error. */
Pieces
measured (const NdFilter *f, double unit, int bytes, std::vector<double> values)
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
                    fabs (lost) / fmax (fabs (sum), sqrt (norm2)))
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

} // namespace

Pieces
make_pieces (const NdFilter *f)
{
  for (int bytes = 1;; bytes++) {
    Pieces made = make_integers (f, bytes);

    if (made.error == 0 || bytes == 3)
      return made;
  }
}

} // namespace nd
