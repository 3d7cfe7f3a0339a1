// The bus monitor of the live system, programmed and read by the firmware that it watches.
#pragma once

// Forgets all operations so far, and has further reports written into a ring of the firmware's own,
// which holds the first 64 records.  The monitor stays enabled: what runs it counts on that.
void racetrap_monitor_start(void);

// Prints the reports since the last call, a line for each rule of a record, makes room for more,
// and prints how many records found none.  Returns the number of reports.
unsigned racetrap_monitor_print(void);
