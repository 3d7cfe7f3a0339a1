// Errors of the target's small C library, which sets none.
#pragma once
extern int errno;
