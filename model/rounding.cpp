#include "model/rounding.h"

#include <cmath>

namespace tidemark {

double WholeAmountsPerUnit(Resource resource) {
  const bool bytes = resource == Resource::kMemory || resource == Resource::kGpuMemory ||
                     resource == Resource::kEphemeralStorage;
  return bytes ? 1.0 : 1000.0;
}

double WholeAmount(Resource resource, double amount) {
  const double per_unit = WholeAmountsPerUnit(resource);
  return std::trunc(amount * per_unit + 1e-3) / per_unit;
}

double RoundedUp(double amount, double step) {
  if (!(step > 0)) return amount;
  const double steps = std::ceil(amount / step - 5e-10);
  const double per_unit = std::round(1 / step);
  const bool is_fraction = step < 1 && std::abs(per_unit * step - 1) < 1e-12;
  return is_fraction ? steps / per_unit : steps * step;
}

}  // namespace tidemark
