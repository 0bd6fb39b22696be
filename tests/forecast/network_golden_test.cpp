// Forward, backward and Adam against libtorch (double precision): lstm_small.json, lstm_h100.json
// and lstm_training.json of the folder of reference data.
#include <boost/json/value.hpp>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "forecast/lstm.h"
#include "forecast/network_adam.h"
#include "forecast/network_random.h"
#include "tests/catch.h"
#include "tests/estimators/json_file.h"

namespace tidemark::forecast {
namespace {

using Json = boost::json::value;

constexpr const char* kTensors[] = {"lstm.weight_ih_l0",
                                    "lstm.weight_hh_l0",
                                    "lstm.bias_ih_l0",
                                    "lstm.bias_hh_l0",
                                    "lstm.weight_ih_l0_reverse",
                                    "lstm.weight_hh_l0_reverse",
                                    "lstm.bias_ih_l0_reverse",
                                    "lstm.bias_hh_l0_reverse",
                                    "fc.weight",
                                    "fc.bias"};

Json Read(const std::string& name) {
  const char* const folder = std::getenv("TIDEMARK_GOLDEN");
  const std::string root =
      folder != nullptr && *folder != '\0' ? folder : TIDEMARK_TEST_DATA "/golden";
  return estimators::ReadJsonFile(root + "/forecast/" + name);
}

double Number(const Json& value) { return value.to_number<double>(); }
int32_t Whole(const Json& value) { return value.to_number<int32_t>(); }

template <class T = double>
std::vector<T> Numbers(const Json& array) {
  std::vector<T> numbers;
  for (const Json& value : array.as_array()) numbers.push_back(static_cast<T>(Number(value)));
  return numbers;
}

NetworkShape ShapeOf(const Json& entry) {
  const bool last = entry.at("readout").as_string() == "last_step";
  return {.hidden = Whole(entry.at("hidden")),
          .outputs = 1,
          .both_directions = true,
          .readout = last ? Readout::kLastStep : Readout::kFinalStates};
}

/// The recipe of the reference data.
std::vector<double> MakeWeights(const Json& entry, const NetworkShape& shape, double range) {
  std::vector<double> weights(shape.WeightCount());
  SplitMix random(entry.at("seed").to_number<uint64_t>());
  for (const TensorPlace& place : Tensors(shape)) {
    for (int32_t r = 0; r < place.rows; ++r) {
      for (int32_t c = 0; c < place.columns; ++c) {
        weights[place.at + r * place.row_stride + c * place.column_stride] =
            (2 * random.Unit() - 1) * range;
      }
    }
  }
  return weights;
}

/// One tensor of a run of weights or gradients, row-major.
template <class T>
std::vector<double> Tensor(std::span<const T> run, const TensorPlace& place) {
  std::vector<double> values;
  for (int32_t r = 0; r < place.rows; ++r) {
    for (int32_t c = 0; c < place.columns; ++c) {
      values.push_back(double{run[place.at + r * place.row_stride + c * place.column_stride]});
    }
  }
  return values;
}

/// Counts what was compared, and how far apart it was at most. Single precision: relative to the
/// largest of the tensor, for what nearly cancels has no digits of its own left.
class Comparison {
 public:
  explicit Comparison(double tolerance) : tolerance_(tolerance) {}

  void Check(const std::string& what, const std::vector<double>& actual,
             const std::vector<double>& expected) {
    REQUIRE(actual.size() == expected.size());
    double largest = 0;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < actual.size(); ++i) {
      const double apart = std::abs(actual[i] - expected[i]) / std::max(largest, 1e-30);
      worst_ = std::max(worst_, apart);
      ++compared_;
      if (apart <= tolerance_) continue;
      INFO(what << "[" << i << "]: " << actual[i] << ", reference " << expected[i]);
      CHECK(apart <= tolerance_);
      return;
    }
  }
  void Check(const std::string& what, double actual, double expected) {
    Check(what, std::vector{actual}, std::vector{expected});
  }
  /// `summary`: sum, absolute sum, norm and some values.
  void CheckSummary(const std::string& what, const std::vector<double>& actual,
                    const Json& summary) {
    REQUIRE(actual.size() == summary.at("n").to_number<size_t>());
    double sum = 0;
    double absolute = 0;
    double squares = 0;
    for (const double value : actual) {
      sum += value;
      absolute += std::abs(value);
      squares += value * value;
    }
    // A sum cancels: it is as exact as what was added up.
    CHECK(std::abs(sum - Number(summary.at("sum"))) <= tolerance_ * Number(summary.at("abs_sum")));
    Check(what + " abs_sum", absolute, Number(summary.at("abs_sum")));
    Check(what + " l2", std::sqrt(squares), Number(summary.at("l2")));
    std::vector<double> some;
    for (const Json& index : summary.at("index").as_array()) {
      some.push_back(actual.at(index.to_number<size_t>()));
    }
    Check(what, some, Numbers(summary.at("value")));
  }
  void Finish(const std::string& name) const {
    std::cout << name << ": " << compared_ << " numbers, at most " << worst_ << " apart\n";
    CHECK(compared_ > 0);
  }

 private:
  double tolerance_;
  double worst_ = 0;
  size_t compared_ = 0;
};

template <class T>
void CheckCase(const Json& entry, Comparison& compare) {
  const NetworkShape shape = ShapeOf(entry);
  const int32_t length = Whole(entry.at("length"));
  const int32_t batch = Whole(entry.at("batch"));
  const std::vector<double> exact = MakeWeights(entry, shape, Number(entry.at("weight_range")));
  const std::vector<T> weights(exact.begin(), exact.end());
  const std::vector<T> input = Numbers<T>(entry.at("input").at("data"));
  const std::vector<T> target = Numbers<T>(entry.at("target").at("data"));

  LstmPass<T> pass(shape, length, batch);
  const std::span<const T> said = pass.Forward(weights, input);
  compare.Check("prediction", std::vector<double>(said.begin(), said.end()),
                Numbers(entry.at("prediction").at("data")));
  compare.Check("loss", pass.Loss(target), Number(entry.at("loss")));

  // The sequence of outputs: [sample][step][forward state, reverse state].
  if (shape.readout == Readout::kFinalStates) {
    std::vector<double> sequence;
    for (int32_t row = 0; row < batch; ++row) {
      for (int32_t step = 0; step < length; ++step) {
        for (const T value : pass.Output(0, step, row)) sequence.push_back(double{value});
        for (const T value : pass.Output(1, length - 1 - step, row)) {
          sequence.push_back(double{value});
        }
      }
    }
    if (const Json* const all = entry.as_object().if_contains("output_sequence")) {
      compare.Check("sequence", sequence, Numbers(all->at("data")));
    } else {
      compare.CheckSummary("sequence", sequence, entry.at("output_sequence_summary"));
    }
  }

  std::vector<T> gradient(weights.size());
  pass.Backward(weights, target, gradient);
  const std::vector<TensorPlace> places = Tensors(shape);
  REQUIRE(places.size() == std::size(kTensors));
  for (size_t i = 0; i < places.size(); ++i) {
    const auto values = Tensor(std::span<const T>(gradient), places[i]);
    const auto made = Tensor(std::span<const double>(exact), places[i]);
    if (const Json* const grads = entry.as_object().if_contains("grads")) {
      compare.Check(kTensors[i], values, Numbers(grads->at(kTensors[i]).at("data")));
      REQUIRE(made == Numbers(entry.at("weights").at(kTensors[i]).at("data")));
    } else {
      compare.CheckSummary(kTensors[i], values, entry.at("grads_summary").at(kTensors[i]));
      Comparison(1e-12).CheckSummary(kTensors[i], made, entry.at("weights_check").at(kTensors[i]));
    }
  }

  // Of the input: through the gates of both directions.
  std::vector<double> input_gradient(input.size());
  const TensorPlace of_input[] = {places[0], places[4]};
  for (int32_t direction = 0; direction < 2; ++direction) {
    const bool short_run = direction == 1 && shape.readout == Readout::kLastStep;
    for (int32_t step = 0; step < (short_run ? 1 : length); ++step) {
      for (int32_t row = 0; row < batch; ++row) {
        const auto gates = pass.GateGradient(direction, step, row);
        const int32_t at = direction == 0 ? step : length - 1 - step;
        for (size_t g = 0; g < gates.size(); ++g) {
          input_gradient[static_cast<size_t>(row * length + at)] +=
              double{gates[g]} * double{weights[of_input[direction].at + g]};
        }
      }
    }
  }
  compare.Check("input", input_gradient, Numbers(entry.at("grad_input").at("data")));
}

void CheckFile(const std::string& name) {
  Comparison exact(1e-9);
  Comparison single(1e-5);
  const Json file = Read(name);
  for (const Json& entry : file.as_array()) {
    CheckCase<double>(entry, exact);
    CheckCase<float>(entry, single);
  }
  exact.Finish(name + ", double");
  single.Finish(name + ", single");
}

/// All steps of one case; `first` of the first 20 losses, `all` of all of them, relative.
template <class T>
void Train(const Json& entry, double first, double all) {
  const NetworkShape shape = ShapeOf(entry);
  const auto range = entry.as_object().contains("weight_range") ? Number(entry.at("weight_range"))
                                                                : 1 / std::sqrt(shape.hidden);
  const std::vector<double> exact = MakeWeights(entry, shape, range);
  std::vector<T> weights(exact.begin(), exact.end());
  std::vector<T> gradient(weights.size());
  const std::vector<T> input = Numbers<T>(entry.at("input").at("data"));
  const std::vector<T> target = Numbers<T>(entry.at("target").at("data"));
  LstmPass<T> pass(shape, Whole(entry.at("length")), Whole(entry.at("batch")));
  Adam<T> adam(weights.size(), {.rate = Number(entry.at("lr")),
                                .beta1 = Number(entry.at("betas").at(0)),
                                .beta2 = Number(entry.at("betas").at(1)),
                                .epsilon = Number(entry.at("eps")),
                                .clip_norm = Number(entry.at("clip_norm"))});
  const std::vector<double> losses = Numbers(entry.at("loss_before_step"));
  REQUIRE(losses.size() == entry.at("steps").to_number<size_t>());
  double worst = 0;
  for (size_t step = 0; step < losses.size(); ++step) {
    pass.Forward(weights, input);
    const double apart = std::abs(pass.Loss(target) - losses[step]) / losses[step];
    worst = std::max(worst, apart);
    INFO("step " << step);
    REQUIRE(apart <= (step < 20 ? first : all));
    pass.Backward(weights, target, gradient);
    REQUIRE(adam.Step(weights, gradient));
  }
  std::cout << "lstm_training.json, H = " << shape.hidden << ", " << sizeof(T)
            << " bytes: " << losses.size() << " losses, at most " << worst << " apart\n";
  const auto said = pass.Forward(weights, input);
  const std::vector<double> after = Numbers(entry.at("prediction_after").at("data"));
  for (size_t i = 0; i < after.size(); ++i) {
    CHECK(std::abs(double{said[i]} - after[i]) <= all * 10);
  }
}

}  // namespace

TEST_CASE("small networks say and learn what libtorch does") { CheckFile("lstm_small.json"); }

TEST_CASE("networks of 100 units say and learn what libtorch does") { CheckFile("lstm_h100.json"); }

TEST_CASE("Adam comes down the way that libtorch's does") {
  const Json file = Read("lstm_training.json");
  for (const Json& entry : file.as_array()) {
    Train<double>(entry, 1e-6, 1e-3);
    // Rounding grows from step to step.
    Train<float>(entry, 1e-4, 5e-2);
  }
}

}  // namespace tidemark::forecast
