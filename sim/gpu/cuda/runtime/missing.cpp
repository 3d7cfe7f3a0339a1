#include "missing.h"

#include <cstdio>
#include <cstring>
#include <set>
#include <string>

#include "missing_functions.h"

cudaError_t racetrap::missing(const char *name, uint32_t site) {
  Guard held = guard();
  static auto *said = new std::set<std::string>;
  if (said->insert(name).second) {
    std::fprintf(stderr, "racetrap: %s is not supported\n", name);
    tell(NotSupportedRequest{site}, name, std::strlen(name));
  }
  return note(cudaErrorNotSupported);
}

cudaError_t racetrap::missing(const char *name, const void *from) {
  return missing(name, site_of(from));
}

int racetrap::missing_function(const char *name, const void *from) { return missing(name, from); }
