// The program `crypto` with the bus monitor in its own hands.
#include <racetrap_monitor.h>

#define main program
#include "../../accelerator/programs/crypto.c"
#undef main

int main(int count, char **arguments)
{
    racetrap_monitor_start();
    int status = program(count, arguments);
    racetrap_monitor_print();
    return status;
}
