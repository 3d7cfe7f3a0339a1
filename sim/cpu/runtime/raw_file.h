// The file of records, and how a recorded process begins and ends early.
#ifndef RAW_FILE_H
#define RAW_FILE_H

#include <stdint.h>

// Gives equal runs equal addresses: restarts the process if its addresses are randomised.  Where
// that is forbidden, addresses of the stack and of libraries differ between runs.
void racetrap_fix_addresses(char **arguments, char **environment);

// Maps the file in the folder that RACETRAP_RAW names.
void racetrap_open_raw(void);

// Takes it out of the calling process's memory.
void racetrap_close_raw(void);

// Hand the file over to a child: before the fork, then in the parent and in the child.  What the
// parent's threads write afterwards is not in the file.
void racetrap_leave_raw(void);
void racetrap_hand_over_raw(void);
void racetrap_take_over_raw(void);

// Notes the exit status of a process that has taken the file over; nothing in others.
void racetrap_note_status(int status);

// What is not recorded, though the program does it.
enum loss {
    OUTLIVING_THREADS,  // threads that went on when the grace at the end was over
    EVENTS_AFTER_END,   // events of threads whose last destructor has run
    UNKNOWN_FRAMES,     // calls deeper than the tree of a thread's calls has room
    FORMATS,            // formats whose arguments are not known
    LARGE_FREES,        // freed blocks of which only the first bytes are recorded as written
    CHILDREN,           // processes made by fork that are not followed
    LOSSES,
};

// Adds to what is not recorded.
void racetrap_lose(enum loss loss, uint64_t count);

// Adds to the number of events that the recorder waits for.
void racetrap_count(uint64_t events);

// The next bytes of the file, zeros; any thread may take them.
void *racetrap_take(uint64_t bytes);

// Ends the process with one sentence for the user.
_Noreturn void racetrap_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
