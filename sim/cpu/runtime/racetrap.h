// Marks for programs whose runs are recorded; without the recorder they compile to nothing.
//
//     racetrap_collect_off();
//     hint = shared->bound;       // a race that is known to do no harm
//     racetrap_collect_on();
//
// Accesses of the calling thread between the two are not checked for races.  Pairs may nest.
#ifndef RACETRAP_H
#define RACETRAP_H

#ifdef RACETRAP_RECORDING
#ifdef __cplusplus
extern "C" {
#endif
void racetrap_mark_off(void);
void racetrap_mark_on(void);
#ifdef __cplusplus
}
#endif
#define racetrap_collect_off() racetrap_mark_off()
#define racetrap_collect_on() racetrap_mark_on()
#else
#define racetrap_collect_off() ((void)0)
#define racetrap_collect_on() ((void)0)
#endif

#endif
