// The same in libtorch (Debian's libtorch-dev), one thread: a program of its own, so that nothing
// of it gets near ours. Prints lines as bench/forecast/part.h says.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace {

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  torch::set_num_threads(1);
  torch::manual_seed(1);
  torch::nn::LSTM lstm(torch::nn::LSTMOptions(1, 100).bidirectional(true).batch_first(true));
  torch::nn::Linear linear(200, 1);
  auto parameters = lstm->parameters();
  for (auto& parameter : linear->parameters()) parameters.push_back(parameter);
  torch::optim::Adam adam(parameters, torch::optim::AdamOptions(1e-3));
  const auto windows = torch::rand({32, 60, 1});
  const auto targets = torch::rand({32, 1});
  const auto forward = [&](const torch::Tensor& input) {
    const auto states = std::get<0>(std::get<1>(lstm->forward(input)));  // direction, row, unit
    return linear->forward(torch::cat({states[0], states[1]}, 1));
  };
  double best = 1e9;
  const int calls = quick ? 1 : 4;
  for (int turn = 0; turn < (quick ? 1 : 8); ++turn) {
    const double begin = CpuSeconds();
    for (int i = 0; i < calls; ++i) {
      adam.zero_grad();
      auto loss = torch::mse_loss(forward(windows), targets);
      loss.backward();
      torch::nn::utils::clip_grad_norm_(parameters, 1.0);
      adam.step();
    }
    best = std::min(best, (CpuSeconds() - begin) / calls);
  }
  std::printf("libtorch iterations_per_second %.6g\n", 1 / best);
  torch::NoGradGuard no_gradient;
  const auto window = torch::rand({1, 60, 1});
  double single = 1e9;
  double sum = 0;
  for (int turn = 0; turn < (quick ? 2 : 40); ++turn) {
    const double begin = CpuSeconds();
    for (int i = 0; i < 5; ++i) sum += forward(window).item<double>();
    single = std::min(single, (CpuSeconds() - begin) / 5);
  }
  std::printf("libtorch forecast_seconds %.6g\n", single);
  return sum == sum ? 0 : 1;
}
