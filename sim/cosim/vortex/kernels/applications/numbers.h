/* Inputs: numbers without order, the same in each run, as constant expressions. */

#ifndef NUMBERS_H
#define NUMBERS_H

#define NUMBER_MIX(x) (((x) ^ (x) >> 15) * 0x2C1B3C6Du >> 12)
#define NUMBER(n) NUMBER_MIX(((unsigned)(n) + 1) * 0x9E3779B1u)
#define NUMBERS_4(n) NUMBER(n), NUMBER((n) + 1), NUMBER((n) + 2), NUMBER((n) + 3)
#define NUMBERS_16(n) NUMBERS_4(n), NUMBERS_4((n) + 4), NUMBERS_4((n) + 8), NUMBERS_4((n) + 12)
#define NUMBERS_64(n) NUMBERS_16(n), NUMBERS_16((n) + 16), NUMBERS_16((n) + 32), NUMBERS_16((n) + 48)

#endif
