// Configuration of a run, and what else the library and Python share.
//
// `Settings::message_bits` counts header and timestamp, `slots` contexts in use, `is_measured` asks
// for what `Measures` has, `answered` are the RDM's reasons that software answers at once.  A `Filter` is one of the parallel filters of a signature; row i of its
// matrix is for bit i of the portion's value.
#ifndef SETTINGS_H
#define SETTINGS_H

#include "twins.h"

#endif
