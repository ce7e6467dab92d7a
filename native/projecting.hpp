// The sparse random projection and the hashes of n-grams; `maths/projection.py` has their numbers.
//
// Numbers of 64 bits are unsigned, and products wrap around.
#pragma once

#include <Python.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "signals.hpp"

using Word = std::uint64_t;

constexpr Index ENTRIES = 4;
constexpr Word GOLDEN = 0x9E3779B97F4A7C15;
constexpr Word WORD_START = 0xCBF29CE484222325, GRAM_START = 0x84222325CBF29CE4;
constexpr Word PRIME = 0x100000001B3;

// Rows by their entries that are not 0; the NamedTuple says how.
struct SparseRows {
  static constexpr bool is_record = true;
  Vector<const double> values;
  Vector<const Word> columns;
  Vector<const std::int64_t> starts;
  auto fields() { return std::tie(values, columns, starts); }
};

// Weights of n-grams by their hashes, which ascend; that of others is 1.
struct NgramWeights {
  static constexpr bool is_record = true;
  Vector<const Word> hashes;
  Vector<const double> values;
  auto fields() { return std::tie(hashes, values); }
};

inline Word mixed(Word word) {
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EB;
  return word ^ (word >> 31);
}

// A sum of columns of the matrix of entries, in float64.
class Projected {
 public:
  Projected(Word seed, Index width) : seed_(mixed(seed + GOLDEN)), sums_(width) {
    if (width < ENTRIES) throw std::invalid_argument("A width below 4 does not fit the entries.");
    for (Index part = 0; part <= ENTRIES; part++) borders_[part] = part * width / ENTRIES;
  }

  void clear() { std::fill(sums_.data(), sums_.data() + sums_.size(), 0.0); }

  void add(Word column, double value) {
    Word state = mixed(column ^ seed_);
    for (Index part = 0; part < ENTRIES; part++, state += GOLDEN) {
      const Word drawn = mixed(state);
      const Word share = (drawn >> 32) * static_cast<Word>(borders_[part + 1] - borders_[part]);
      sums_[borders_[part] + static_cast<Index>(share >> 32)] += value * (drawn & 1 ? -0.5 : 0.5);
    }
  }

  void write(Vector<float> out) const {
    for (Index f = 0; f < out.size(); f++) out[f] = static_cast<float>(sums_[f]);
  }

 private:
  Word seed_;
  Index borders_[ENTRIES + 1];
  Buffer<double> sums_;
};

// Set out (n, width) to the products of rows with the matrix of entries.
//
// Each sum, in float64, runs through the columns in ascending order.
inline void project(SparseRows rows, Word seed, Matrix<float> out) {
  check_starts(rows.starts, out.shape[0], std::min(rows.values.size(), rows.columns.size()));
  Projected sums(seed, out.shape[1]);
  for (Index i = 0; i < out.shape[0]; i++) {
    sums.clear();
    did(out.shape[1] + 32 * (rows.starts[i + 1] - rows.starts[i]));
    for (Index k = rows.starts[i]; k < rows.starts[i + 1]; k++)
      sums.add(rows.columns[k], rows.values[k]);
    sums.write(row(out, i));
  }
}

constexpr Index LEAST = 2, MOST = 4;    // the lengths of runs of characters
constexpr double WORDS_SHARE = 0.3;     // of words and pairs in the squared length of a row
constexpr std::size_t FEW_WORDS = 256;  // are sorted as fast by comparisons

// The rows of texts, one after the other.
class TextHasher {
 public:
  TextHasher(Word seed, Index width) : sums_(seed, width) {}

  // The hash of a word, or of two in a row.
  Word hash_words(Vector<const std::uint32_t> ngram) {
    find_words(ngram);
    return hashes_.empty() ? 0 : hashes_.back();
  }

  void hash(Vector<const std::uint32_t> text, const NgramWeights &words, const NgramWeights &runs,
            Vector<float> out) {
    sums_.clear();
    find_words(text);
    add_counts(words, std::sqrt(WORDS_SHARE));
    find_runs(text);
    add_counts(runs, std::sqrt(1.0 - WORDS_SHARE));
    sums_.write(out);
  }

 private:
  // Whether the pattern "\w" of Python matches. This looks into a table; it needs no interpreter.
  static bool is_in_word(Py_UCS4 point) { return Py_UNICODE_ISALNUM(point) || point == '_'; }

  // Set hashes_ to those of each word, and of each two in a row.
  void find_words(Vector<const std::uint32_t> text) {
    hashes_.clear();
    Word before = 0;
    for (Index i = 0; i < text.size(); i++) {
      if (!is_in_word(text[i])) continue;
      Word word = WORD_START;
      for (; i < text.size() && is_in_word(text[i]); i++) word = (word ^ text[i]) * PRIME;
      const bool is_first = hashes_.empty();
      hashes_.push_back(word);
      if (!is_first) hashes_.push_back(((before * GOLDEN) ^ word) * PRIME);
      before = word;
    }
  }

  // Set hashes_ to those of each run of characters within what white space parts, with a space at
  // its ends.
  void find_runs(Vector<const std::uint32_t> text) {
    hashes_.clear();
    for (Index i = 0; i < text.size(); i++) {
      if (Py_UNICODE_ISSPACE(text[i])) continue;
      token_.assign(1, ' ');
      for (; i < text.size() && !Py_UNICODE_ISSPACE(text[i]); i++) token_.push_back(text[i]);
      token_.push_back(' ');
      const Index length = token_.size();
      for (Index start = 0; start < length; start++) {
        Word run = GRAM_START;
        for (Index end = start; end < std::min(start + MOST, length); end++) {
          run = (run ^ token_[end]) * PRIME;
          if (end - start + 1 >= LEAST) hashes_.push_back(run);
        }
      }
    }
  }

  // Add the projection of the hashes, counted, times a scale.
  //
  // The row has 1 + log(count), times its weight, of each hash, in ascending order, scaled to unit
  // length; the logarithm in float32 first, because its last bit depends on the machine.
  void add_counts(const NgramWeights &weights, double scale) {
    sort_hashes();
    counted_.clear();
    double square = 0.0;
    const Word *common = weights.hashes.data, *const last = common + weights.hashes.size();
    for (std::size_t start = 0, end = 0; start < hashes_.size(); start = end) {
      while (end < hashes_.size() && hashes_[end] == hashes_[start]) end++;
      const auto count = static_cast<double>(end - start);
      double value = count > 1.0 ? static_cast<float>(1.0 + std::log(count)) : 1.0;
      common = std::lower_bound(common, last, hashes_[start]);
      if (common != last && *common == hashes_[start])
        value *= weights.values[common - weights.hashes.data];
      square += value * value;
      counted_.emplace_back(hashes_[start], value);
    }
    const double length = std::sqrt(square);
    for (const auto &[hash, value] : counted_) sums_.add(hash, scale * (value / length));
  }

  // Sort by one byte after the other, the lowest first.
  void sort_hashes() {
    if (hashes_.size() < FEW_WORDS) return std::sort(hashes_.begin(), hashes_.end());
    other_.resize(hashes_.size());
    for (int shift = 0; shift < 64; shift += 8) {
      std::size_t places[257] = {};
      for (Word hash : hashes_) places[(hash >> shift & 0xFF) + 1]++;
      for (int byte = 0; byte < 256; byte++) places[byte + 1] += places[byte];
      for (Word hash : hashes_) other_[places[hash >> shift & 0xFF]++] = hash;
      hashes_.swap(other_);
    }
  }

  Projected sums_;
  std::vector<Word> hashes_, other_;
  std::vector<std::uint32_t> token_;
  std::vector<std::pair<Word, double>> counted_;
};

// Set out (n, width) to the rows of texts; text i is the characters from starts[i] to starts[i +
// 1].
inline void hash_texts(Vector<const std::uint32_t> characters, Vector<const std::int64_t> starts,
                       Word seed, NgramWeights words, NgramWeights runs, Matrix<float> out) {
  check_starts(starts, out.shape[0], characters.size());
  require(words.hashes.size() == words.values.size() && runs.hashes.size() == runs.values.size());
  TextHasher hasher(seed, out.shape[1]);
  for (Index i = 0; i < out.shape[0]; i++) {
    did(out.shape[1] + 128 * (starts[i + 1] - starts[i]));
    hasher.hash(part(characters, starts[i], starts[i + 1]), words, runs, row(out, i));
  }
}

// Set out (n,) to the hashes of n-grams: of words and pairs of words, or of runs of characters.
inline void hash_ngrams(Vector<const std::uint32_t> characters, Vector<const std::int64_t> starts,
                        bool are_words, Vector<Word> out) {
  check_starts(starts, out.size(), characters.size());
  TextHasher hasher(0, ENTRIES);
  for (Index i = 0; i < out.size(); i++) {
    did(32 * (starts[i + 1] - starts[i]));
    const auto ngram = part(characters, starts[i], starts[i + 1]);
    out[i] = are_words ? hasher.hash_words(ngram) : GRAM_START;
    for (Index k = 0; !are_words && k < ngram.size(); k++) out[i] = (out[i] ^ ngram[k]) * PRIME;
  }
}
