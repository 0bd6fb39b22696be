// Included once by each kernels_<set>.cpp, inside its namespaces, the unnamed one innermost: the
// bodies for the vectors that the file is built for. Not a header of its own; GCC's vector types,
// which clang knows too, turn into the instructions of the file's set. kWidth: floats of a vector,
// given by the including file.

using Vector [[gnu::vector_size(kWidth * sizeof(float))]] = float;
using IntVector [[gnu::vector_size(kWidth * sizeof(int32_t))]] = int32_t;

inline Vector Load(const float* from) {
  Vector value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline void Store(float* to, Vector value) { std::memcpy(to, &value, sizeof value); }

/// The first `count` numbers; the others are 0. Reads no further.
inline Vector LoadSome(const float* from, size_t count) {
#if defined(__AVX512F__)
  return (Vector)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1), from);
#else
  Vector value = {};
  for (size_t i = 0; i < count; ++i) value[i] = from[i];
  return value;
#endif
}

inline void StoreSome(float* to, Vector value, size_t count) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1U << count) - 1), (__m512)value);
#else
  for (size_t i = 0; i < count; ++i) to[i] = value[i];
#endif
}

inline Vector Sqrt(Vector value) {
#if defined(__AVX512F__)
  return (Vector)_mm512_sqrt_ps((__m512)value);
#elif defined(__AVX__)
  return (Vector)_mm256_sqrt_ps((__m256)value);
#else
  for (size_t i = 0; i < kWidth; ++i) value[i] = __builtin_sqrtf(value[i]);
  return value;
#endif
}

/// 1 / value, of a finite value of 1 or more.
inline Vector Inverse(Vector value) {
#if defined(__AVX512F__)
  // A division takes as long as ten other operations: 14 bits by table, twice as many by Newton.
  const Vector near = (Vector)_mm512_rcp14_ps((__m512)value);
  return near * (2.0F - value * near);
#else
  return 1.0F / value;
#endif
}

/// NaN stays NaN.
inline Vector Clamp(Vector value, float low, float high) {
  const Vector lows = Vector{} + low;
  const Vector highs = Vector{} + high;
#if defined(__AVX512F__)
  return (Vector)_mm512_min_ps((__m512)highs, _mm512_max_ps((__m512)lows, (__m512)value));
#elif defined(__AVX__)
  return (Vector)_mm256_min_ps((__m256)highs, _mm256_max_ps((__m256)lows, (__m256)value));
#else
  value = lows > value ? lows : value;
  return highs < value ? highs : value;
#endif
}

/// exp(x) - 1 = scale * rest + (scale - 1), where scale is a power of two and rest = exp(r) - 1
/// with |r| <= ln(2) / 2. Of |x| <= 80.
struct Exponential {
  Vector scale;
  Vector rest;
};

inline Exponential SplitExp(Vector x) {
  // Added to a number it leaves the nearest whole one in the lowest bits.
  constexpr float kRound = 12582912.0F;     // 1.5 * 2^23
  constexpr float kLog2E = 1.44269504F;     // log2(e)
  constexpr float kLn2High = 0.693359375F;  // ln(2) in two parts, the first of few bits
  constexpr float kLn2Low = -2.12194440e-4F;
  const Vector rounded = x * kLog2E + kRound;
  const Vector whole = rounded - kRound;
  const Vector r = (x - whole * kLn2High) - whole * kLn2Low;
  IntVector bits;
  std::memcpy(&bits, &rounded, sizeof bits);
  bits = (bits << 23) + 0x3F800000;
  Exponential result;
  std::memcpy(&result.scale, &bits, sizeof bits);
  Vector sum = r * (1.0F / 5040) + 1.0F / 720;
  sum = sum * r + 1.0F / 120;
  sum = sum * r + 1.0F / 24;
  sum = sum * r + 1.0F / 6;
  sum = sum * r + 0.5F;
  result.rest = (sum * r) * r + r;
  return result;
}

/// Of two at once: one division instead of two.
inline void Sigmoid(Vector& a, Vector& b) {
  // Beyond +-40 it is 0 or 1 to single precision, and the product of two stays finite.
  const Exponential ea = SplitExp(Clamp(-a, -40, 40));
  const Exponential eb = SplitExp(Clamp(-b, -40, 40));
  const Vector below_a = (ea.scale * ea.rest + ea.scale) + 1.0F;
  const Vector below_b = (eb.scale * eb.rest + eb.scale) + 1.0F;
  const Vector inverse = Inverse(below_a * below_b);
  a = below_b * inverse;
  b = below_a * inverse;
}

/// tanh(x) = e / (e + 2) with e = exp(2x) - 1.
inline Vector Tanh(Vector x) {
  const Exponential split = SplitExp(Clamp(x + x, -40, 40));
  const Vector e = split.scale * split.rest + (split.scale - 1.0F);
  return e * Inverse(e + 2.0F);
}

/// A sigmoid and a tanh, with one division.
inline void SigmoidAndTanh(Vector& a, Vector& b) {
  const Exponential ea = SplitExp(Clamp(-a, -40, 40));
  const Exponential eb = SplitExp(Clamp(b + b, -40, 40));
  const Vector below_a = (ea.scale * ea.rest + ea.scale) + 1.0F;
  const Vector above_b = eb.scale * eb.rest + (eb.scale - 1.0F);
  const Vector below_b = above_b + 2.0F;
  const Vector inverse = Inverse(below_a * below_b);
  a = below_b * inverse;
  b = above_b * (below_a * inverse);
}

struct Cell {
  Vector i, f, g, o, state, tanh_state, output;
};

inline void CellForward(Cell& cell) {
  Sigmoid(cell.i, cell.f);
  SigmoidAndTanh(cell.o, cell.g);
  cell.state = cell.f * cell.state + cell.i * cell.g;
  cell.tanh_state = Tanh(cell.state);
  cell.output = cell.o * cell.tanh_state;
}

void CellForwardRows(size_t rows, size_t hidden, float* gates, const float* state_before,
                     float* state, float* tanh_state, float* output, size_t output_stride) {
  for (size_t row = 0; row < rows; ++row) {
    float* const i = gates + row * 4 * hidden;
    float* const f = i + hidden;
    float* const g = f + hidden;
    float* const o = g + hidden;
    const size_t at = row * hidden;
    float* const out = output + row * output_stride;
    size_t unit = 0;
    for (; unit + kWidth <= hidden; unit += kWidth) {
      Cell cell{Load(i + unit),
                Load(f + unit),
                Load(g + unit),
                Load(o + unit),
                Load(state_before + at + unit),
                {},
                {}};
      CellForward(cell);
      Store(i + unit, cell.i);
      Store(f + unit, cell.f);
      Store(g + unit, cell.g);
      Store(o + unit, cell.o);
      Store(state + at + unit, cell.state);
      Store(tanh_state + at + unit, cell.tanh_state);
      Store(out + unit, cell.output);
    }
    if (const size_t rest = hidden - unit; rest > 0) {
      Cell cell{LoadSome(i + unit, rest),
                LoadSome(f + unit, rest),
                LoadSome(g + unit, rest),
                LoadSome(o + unit, rest),
                LoadSome(state_before + at + unit, rest),
                {},
                {}};
      CellForward(cell);
      StoreSome(i + unit, cell.i, rest);
      StoreSome(f + unit, cell.f, rest);
      StoreSome(g + unit, cell.g, rest);
      StoreSome(o + unit, cell.o, rest);
      StoreSome(state + at + unit, cell.state, rest);
      StoreSome(tanh_state + at + unit, cell.tanh_state, rest);
      StoreSome(out + unit, cell.output, rest);
    }
  }
}

struct CellGradient {
  Vector i, f, g, o, state_before, tanh_state, output_gradient, state_gradient;
};

inline void CellBackward(CellGradient& c) {
  const Vector o_gradient = c.output_gradient * c.tanh_state;
  const Vector state_gradient =
      c.state_gradient + c.output_gradient * c.o * (1.0F - c.tanh_state * c.tanh_state);
  const Vector i_gradient = state_gradient * c.g;
  const Vector f_gradient = state_gradient * c.state_before;
  const Vector g_gradient = state_gradient * c.i;
  c.state_gradient = state_gradient * c.f;
  c.i = i_gradient * c.i * (1.0F - c.i);
  c.f = f_gradient * c.f * (1.0F - c.f);
  c.g = g_gradient * (1.0F - c.g * c.g);
  c.o = o_gradient * c.o * (1.0F - c.o);
}

void CellBackwardRows(size_t rows, size_t hidden, float* gates, const float* state_before,
                      const float* tanh_state, const float* output_gradient,
                      float* state_gradient) {
  for (size_t row = 0; row < rows; ++row) {
    float* const i = gates + row * 4 * hidden;
    float* const f = i + hidden;
    float* const g = f + hidden;
    float* const o = g + hidden;
    const size_t at = row * hidden;
    size_t unit = 0;
    for (; unit + kWidth <= hidden; unit += kWidth) {
      CellGradient c{Load(i + unit),
                     Load(f + unit),
                     Load(g + unit),
                     Load(o + unit),
                     Load(state_before + at + unit),
                     Load(tanh_state + at + unit),
                     Load(output_gradient + at + unit),
                     Load(state_gradient + at + unit)};
      CellBackward(c);
      Store(i + unit, c.i);
      Store(f + unit, c.f);
      Store(g + unit, c.g);
      Store(o + unit, c.o);
      Store(state_gradient + at + unit, c.state_gradient);
    }
    if (const size_t rest = hidden - unit; rest > 0) {
      CellGradient c{LoadSome(i + unit, rest),
                     LoadSome(f + unit, rest),
                     LoadSome(g + unit, rest),
                     LoadSome(o + unit, rest),
                     LoadSome(state_before + at + unit, rest),
                     LoadSome(tanh_state + at + unit, rest),
                     LoadSome(output_gradient + at + unit, rest),
                     LoadSome(state_gradient + at + unit, rest)};
      CellBackward(c);
      StoreSome(i + unit, c.i, rest);
      StoreSome(f + unit, c.f, rest);
      StoreSome(g + unit, c.g, rest);
      StoreSome(o + unit, c.o, rest);
      StoreSome(state_gradient + at + unit, c.state_gradient, rest);
    }
  }
}

/// kVectors vectors of columns at once.
template <size_t kVectors>
inline void VectorTimesColumns(size_t rows, size_t columns, const float* x, const float* w,
                               float* y) {
  Vector sums[kVectors] = {};
  for (size_t row = 0; row < rows; ++row) {
    const float* const from = w + row * columns;
#pragma GCC unroll 32
    for (size_t v = 0; v < kVectors; ++v) sums[v] += x[row] * Load(from + v * kWidth);
  }
  for (size_t v = 0; v < kVectors; ++v) Store(y + v * kWidth, sums[v]);
}

void VectorTimesMatrix(size_t rows, size_t columns, const float* x, const float* w, float* y) {
  // As many sums as registers hold: 400 columns, of 100 units, are then read in one go (AVX-512)
  // or in a few of equal size, and memory in its order.
  constexpr size_t kMost = kWidth == 16 ? 25 : 10;
  size_t column = 0;
  for (; column + kMost * kWidth <= columns; column += kMost * kWidth) {
    VectorTimesColumns<kMost>(rows, columns, x, w + column, y + column);
  }
  for (; column + 4 * kWidth <= columns; column += 4 * kWidth) {
    VectorTimesColumns<4>(rows, columns, x, w + column, y + column);
  }
  for (; column + kWidth <= columns; column += kWidth) {
    VectorTimesColumns<1>(rows, columns, x, w + column, y + column);
  }
  if (const size_t rest = columns - column; rest > 0) {
    Vector sum = {};
    for (size_t row = 0; row < rows; ++row) {
      sum += x[row] * LoadSome(w + row * columns + column, rest);
    }
    StoreSome(y + column, sum, rest);
  }
}

double SumOfSquares(size_t count, const float* values) {
  double total = 0;
  constexpr size_t kBlock = 1024;  // of each the sum is in single precision, of all in double
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t end = begin + kBlock < count ? begin + kBlock : count;
    Vector sum = {};
    size_t at = begin;
    for (; at + kWidth <= end; at += kWidth) {
      const Vector value = Load(values + at);
      sum += value * value;
    }
    const Vector value = LoadSome(values + at, end - at);
    sum += value * value;
    for (size_t i = 0; i < kWidth; ++i) total += static_cast<double>(sum[i]);
  }
  return total;
}

struct AdamStep {
  float scale, beta1, beta2, rate, epsilon;
};

inline Vector AdamOne(const AdamStep& step, Vector gradient, Vector& m, Vector& v) {
  gradient *= step.scale;
  m = m * step.beta1 + gradient * (1 - step.beta1);
  v = v * step.beta2 + gradient * gradient * (1 - step.beta2);
  return m * step.rate / (Sqrt(v) + step.epsilon);
}

void Adam(size_t count, float* weights, const float* gradient, float scale, float* m, float* v,
          float beta1, float beta2, float rate, float epsilon) {
  const AdamStep step{scale, beta1, beta2, rate, epsilon};
  size_t at = 0;
  for (; at + kWidth <= count; at += kWidth) {
    Vector mean = Load(m + at);
    Vector square = Load(v + at);
    Store(weights + at, Load(weights + at) - AdamOne(step, Load(gradient + at), mean, square));
    Store(m + at, mean);
    Store(v + at, square);
  }
  if (const size_t rest = count - at; rest > 0) {
    Vector mean = LoadSome(m + at, rest);
    Vector square = LoadSome(v + at, rest);
    const Vector moved = AdamOne(step, LoadSome(gradient + at, rest), mean, square);
    StoreSome(weights + at, LoadSome(weights + at, rest) - moved, rest);
    StoreSome(m + at, mean, rest);
    StoreSome(v + at, square, rest);
  }
}

Kernels Table(const char* name) {
  return {.name = name,
          .cell_forward = CellForwardRows,
          .cell_backward = CellBackwardRows,
          .vector_times_matrix = VectorTimesMatrix,
          .sum_of_squares = SumOfSquares,
          .adam = Adam};
}
