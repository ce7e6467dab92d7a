// What a scattering does between its Fourier transforms, every sum in one fixed order.
//
// Complex maps come as pairs of numbers: (…, w) complex64 seen as (…, 2w) float32.
#pragma once

#include <cmath>
#include <stdexcept>

#include "signals.hpp"

constexpr Index CELLS = 4;  // along each side of a map

// Set out to row, cut into parts as long as out, added up first to last.
inline void fold(const float *__restrict row, Index width, float *__restrict out, Index kept) {
  for (Index c = 0; c < kept; c++) out[c] = row[c];
  for (Index start = kept; start < width; start += kept)
    for (Index c = 0; c < kept; c++) out[c] += row[start + c];
}

// Multiply every spectrum by every filter and fold the products onto a coarser grid.
//
// spectra (m, H, 2W), filters (f, H, 2W) with each number twice, out (m, f, h, 2w); h divides H and
// w divides W. What falls on one place is summed, rows first: this is the spectrum of every
// (H/h)-th point times (H/h)·(W/w).
inline void filtered(Block<const float> spectra, Block<const float> filters, View<float, 4> out) {
  const Index height = spectra.shape[1], width = spectra.shape[2];
  const Index low = out.shape[2], kept = out.shape[3];
  if (filters.shape[1] != height || filters.shape[2] != width || out.shape[0] != spectra.shape[0] ||
      out.shape[1] != filters.shape[0])
    throw std::invalid_argument("Spectra, filters and out have shapes that do not fit.");
  if (low < 1 || kept < 1 || height < low || width < kept || height % low || width % kept)
    throw std::invalid_argument("The grid of out does not divide that of the spectra.");
  Buffer<float> line(width);
  float *__restrict sums = line.data();
  for (Index m = 0; m < spectra.shape[0]; m++)
    for (Index f = 0; f < filters.shape[0]; f++)
      for (Index r = 0; r < low; r++) {
        did(2 * width * (height / low));
        for (Index above = r; above < height; above += low) {
          const float *__restrict spectrum = &spectra(m, above, 0);
          const float *__restrict response = &filters(f, above, 0);
          if (above == r)
            for (Index c = 0; c < width; c++) sums[c] = spectrum[c] * response[c];
          else
            for (Index c = 0; c < width; c++) sums[c] += spectrum[c] * response[c];
        }
        fold(sums, width, out.data + m * out.stride[0] + f * out.stride[1] + r * out.stride[2],
             kept);
      }
}

// Set out (m, h, w) to the absolute values of the complex maps (m, h, 2w).
inline void moduli(Block<const float> maps, Block<float> out) {
  if (maps.shape[0] != out.shape[0] || maps.shape[1] != out.shape[1] ||
      maps.shape[2] != 2 * out.shape[2])
    throw std::invalid_argument("Maps and out have shapes that do not fit.");
  for (Index m = 0; m < out.shape[0]; m++)
    for (Index r = 0; r < out.shape[1]; r++) {
      did(4 * out.shape[2]);
      const float *__restrict pairs = maps.data + m * maps.stride[0] + r * maps.stride[1];
      float *__restrict absolute = out.data + m * out.stride[0] + r * out.stride[1];
      for (Index c = 0; c < out.shape[2]; c++) {
        const float real = pairs[2 * c], imaginary = pairs[2 * c + 1];
        absolute[c] = std::sqrt(real * real + imaginary * imaginary);
      }
    }
}

// Set out[m] = down · maps[m] · across', for maps (m, h, w), down (4, h) and across (4, w).
//
// out is (m, 16), row by row. The sums of all cells run side by side: one alone waits for its own
// addition.
inline void pooled(Block<const float> maps, Matrix<const float> down, Matrix<const float> across,
                   Matrix<float> out) {
  const Index height = maps.shape[1], width = maps.shape[2];
  if (down.shape[0] != CELLS || across.shape[0] != CELLS || down.shape[1] != height ||
      across.shape[1] != width || out.shape[0] != maps.shape[0] || out.shape[1] != CELLS * CELLS)
    throw std::invalid_argument("Maps, windows and out have shapes that do not fit.");
  Buffer<float> halves(CELLS * width), weights(CELLS * width);
  for (Index c = 0; c < width; c++)
    for (Index k = 0; k < CELLS; k++) weights[c * CELLS + k] = across(k, c);
  for (Index m = 0; m < maps.shape[0]; m++) {
    did(CELLS * height * width);
    for (Index k = 0; k < CELLS; k++) {
      float *__restrict half = halves.data() + k * width;
      for (Index c = 0; c < width; c++) half[c] = 0.0f;
      for (Index r = 0; r < height; r++) {
        const float *__restrict line = maps.data + m * maps.stride[0] + r * maps.stride[1];
        const float weight = down(k, r);
        for (Index c = 0; c < width; c++) half[c] += weight * line[c];
      }
    }
    float cells[CELLS * CELLS] = {};
    for (Index c = 0; c < width; c++)
      for (Index k = 0; k < CELLS; k++)
        for (Index l = 0; l < CELLS; l++)
          cells[k * CELLS + l] += halves[k * width + c] * weights[c * CELLS + l];
    for (Index k = 0; k < CELLS * CELLS; k++) out(m, k) = cells[k];
  }
}

// The factor that scales a block to unit length, if its square length is raised by `least` for
// each of its numbers; 1 for a block of zeros.
inline double unit_factor(double energy, double least, Index size) {
  const double squared = energy + least * static_cast<double>(size);
  return squared > 0.0 ? 1.0 / std::sqrt(squared) : 1.0;
}

inline double energy(const float *values, Index n) {
  double total = 0.0;
  for (Index i = 0; i < n; i++) total += static_cast<double>(values[i]) * values[i];
  return total;
}

inline void scale(float *values, Index n, double least) {
  const double factor = unit_factor(energy(values, n), least, n);
  for (Index i = 0; i < n; i++) values[i] = static_cast<float>(values[i] * factor);
}

// Scale each of the columns of (paths, places) by itself; `factors` has room for the places.
inline void scale_columns(float *__restrict group, Index paths, Index places, double least,
                          double *__restrict factors) {
  for (Index place = 0; place < places; place++) factors[place] = 0.0;
  for (Index p = 0; p < paths; p++)
    for (Index place = 0; place < places; place++) {
      const double value = group[p * places + place];
      factors[place] += value * value;
    }
  for (Index place = 0; place < places; place++)
    factors[place] = unit_factor(factors[place], least, paths);
  for (Index p = 0; p < paths; p++)
    for (Index place = 0; place < places; place++) {
      float &value = group[p * places + place];
      value = static_cast<float>(value * factors[place]);
    }
}

// Scale every block of every row (n, paths, places) to unit length, then the whole row.
//
// borders (groups + 1) cut the paths into groups. A group of several paths is one block at each
// place; a path that is alone is one block over all places. A block's square length is raised by
// `floor` times what a block of its size has on average in this row, so that next to nothing stays
// next to nothing. A row of zeros stays as it is.
inline void even_out(Block<float> rows, Vector<const std::int64_t> borders, double floor) {
  const Index paths = rows.shape[1], places = rows.shape[2], size = paths * places;
  if (rows.shape[0] > 0 && paths > 1 && rows.stride[1] != places)
    throw std::invalid_argument("The paths of a row do not lie side by side.");
  for (Index b = 0; b < borders.size(); b++)
    if (borders[b] < (b ? borders[b - 1] : 0) || borders[b] > paths)
      throw std::invalid_argument("The borders do not ascend from 0 to the number of paths.");
  Buffer<double> factors(places);
  for (Index i = 0; i < rows.shape[0]; i++) {
    did(4 * size);
    float *row = rows.data + i * rows.stride[0];
    const double least = floor * energy(row, size) / static_cast<double>(size);
    for (Index b = 0; b + 1 < borders.size(); b++) {
      float *group = row + borders[b] * places;
      const Index count = borders[b + 1] - borders[b];
      if (count == 1)
        scale(group, places, least);
      else
        scale_columns(group, count, places, least, factors.data());
    }
    scale(row, size, 0.0);
  }
}
