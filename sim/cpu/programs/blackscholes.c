/* Prices of options by the formula of Black and Scholes.
 *
 * Sharing: almost none: a thread prices its own options, in arrays side by side; one barrier
 * before the threads add up the portfolio in a tree.
 * Races: none.
 */
#include <math.h>

#include "program.h"

enum { ROUNDS = 4 };

struct option {
    double spot, strike, rate, volatility, years;
};

static struct option *options;
static double *call, *put;
static int64_t value[MAX_THREADS]; /* of a thread's options, in fixed point */
static pthread_barrier_t barrier;

/* Cumulative normal distribution by a polynomial (Abramowitz and Stegun 26.2.17). */
static double normal(double x)
{
    static const double factor[] = {0.319381530, -0.356563782, 1.781477937, -1.821255978,
                                    1.330274429};
    double k = 1 / (1 + 0.2316419 * fabs(x)), power = k, sum = 0;
    for (int i = 0; i < 5; i++) {
        sum += factor[i] * power;
        power *= k;
    }
    double tail = exp(-x * x / 2) / sqrt(2 * M_PI) * sum;
    return x < 0 ? tail : 1 - tail;
}

static void price(int number)
{
    const struct option *option = &options[number];
    double deviation = option->volatility * sqrt(option->years);
    double drift = option->rate + option->volatility * option->volatility / 2;
    double d1 = (log(option->spot / option->strike) + drift * option->years) / deviation;
    double d2 = d1 - deviation, later = option->strike * exp(-option->rate * option->years);
    call[number] = option->spot * normal(d1) - later * normal(d2);
    put[number] = later * normal(-d2) - option->spot * normal(-d1);
}

static void work(int self)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int number = first_of(self, size); number < first_of(self + 1, size); number++)
            price(number);
    for (int number = first_of(self, size); number < first_of(self + 1, size); number++)
        value[self] += (int64_t)((call[number] + put[number]) * 0x1p20);
    for (int step = 1; step < threads; step *= 2) {
        pthread_barrier_wait(&barrier);
        if (self % (2 * step) == 0 && self + step < threads)
            value[self] += value[self + step];
    }
}

/* Call and put differ by what spot and strike differ in: the parity of put and call. */
CHECK_ONLY static void check(void)
{
    int64_t sum = 0;
    for (int i = 0; i < size; i++) {
        const struct option *option = &options[i];
        double parity = option->spot - option->strike * exp(-option->rate * option->years);
        if (!(fabs(call[i] - put[i] - parity) < 1e-6 * option->spot))
            fail("call and put are not in parity");
        if (!(call[i] > -1e-4 * option->spot && call[i] < option->spot))
            fail("a call has an impossible price");
        sum += (int64_t)((call[i] + put[i]) * 0x1p20);
    }
    if (sum != value[0])
        fail("the value of the portfolio is not the sum of its prices");
    print_result((uint64_t)sum);
}

int main(int count, char **arguments)
{
    read_arguments(count, arguments, 1, 1 << 20);
    options = allocate(size, sizeof *options);
    call = allocate(size, sizeof *call);
    put = allocate(size, sizeof *put);
    uint64_t state = seed;
    for (int i = 0; i < size; i++) {
        options[i].spot = 20 + 80 * next_real(&state);
        options[i].strike = 20 + 80 * next_real(&state);
        options[i].rate = 0.01 + 0.05 * next_real(&state);
        options[i].volatility = 0.1 + 0.5 * next_real(&state);
        options[i].years = 0.1 + 2 * next_real(&state);
    }
    pthread_barrier_init(&barrier, NULL, threads);
    run_threads(work);
    check();
    return 0;
}
