// The file of records, and how a recorded process begins and ends early.
#ifndef RAW_FILE_H
#define RAW_FILE_H

#include <stdint.h>

// Has equal runs use equal addresses: begins the process anew if its addresses are random.  Where
// that is forbidden those of the stack and of libraries move.
void racetrap_fix_addresses(char **arguments, char **environment);

// Maps the file in the folder that RACETRAP_RAW names.
void racetrap_open_raw(void);

// The next bytes of the file, zeros; any thread may take them.
void *racetrap_take(uint64_t bytes);

// Ends the process with one sentence for the user.
_Noreturn void racetrap_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
