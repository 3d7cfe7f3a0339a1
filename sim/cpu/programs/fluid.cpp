/* Particles of a fluid in a grid of cells, in C++: density and forces of all close pairs.
 *
 * Sharing: a thread owns rows of cells and also changes cells across its border, under the locks
 * of the cells (std::mutex); a barrier made of std::mutex and std::condition_variable.
 * Races: none.
 */
#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "program.h"

namespace {

constexpr int STEPS = 3, IN_CELL = 3;
constexpr double REACH = 1.0; /* width of a cell */

struct Particle {
    double x, y;
    std::int64_t density, force_x, force_y; /* fixed point: sums do not depend on the order */
};

struct Cell {
    std::mutex lock;
    Particle particles[IN_CELL];
};

class Barrier {
public:
    void wait()
    {
        std::unique_lock<std::mutex> guard(lock);
        int own = crossing;
        if (++arrived == threads) {
            arrived = 0;
            crossing++;
            all_there.notify_all();
        }
        all_there.wait(guard, [&] { return crossing != own; });
    }

private:
    std::mutex lock;
    std::condition_variable all_there;
    int arrived = 0, crossing = 0;
};

ALSO_IN_CHECK std::int64_t fixed(double value)
{
    return static_cast<std::int64_t>(value * 0x1p32);
}

/* (reach - distance squared) to the third power, as in smoothed particle hydrodynamics. */
ALSO_IN_CHECK double closeness(const Particle &one, const Particle &other)
{
    double dx = one.x - other.x, dy = one.y - other.y;
    double left = REACH - dx * dx - dy * dy;
    return left > 0 ? left * left * left : 0;
}

void add_density(Particle &one, Particle &other)
{
    std::int64_t density = fixed(closeness(one, other));
    one.density += density;
    other.density += density;
}

void add_force(Particle &one, Particle &other)
{
    double push = closeness(one, other) / (static_cast<double>(one.density + other.density) + 1);
    std::int64_t x = fixed(push * 0x1p20 * (one.x - other.x));
    std::int64_t y = fixed(push * 0x1p20 * (one.y - other.y));
    one.force_x += x;
    other.force_x -= x;
    one.force_y += y;
    other.force_y -= y;
}

using Change = void (*)(Particle &, Particle &);

/* A square of cells; every pair of cells is treated by the owner of the first. */
class Fluid {
public:
    explicit Fluid(int width) : width(width), cells(static_cast<std::size_t>(width * width))
    {
        std::uint64_t state = seed;
        for (int at = 0; at < width * width; at++)
            for (int i = 0; i < IN_CELL; i++) {
                double x = at % width + next_real(&state), y = at / width + next_real(&state);
                cells[static_cast<std::size_t>(at)].particles[i] = {x, y, 0, 0, 0};
            }
    }

    void step(int first, int end, Barrier &barrier, bool is_last)
    {
        for_cells(first, end, [](Particle &particle) { particle.density = 0; });
        for_cells(first, end, [](Particle &particle) { particle.force_x = particle.force_y = 0; });
        barrier.wait();
        for_pairs(first, end, add_density);
        barrier.wait();
        for_pairs(first, end, add_force);
        barrier.wait();
        if (!is_last)
            for_cells(first, end, [](Particle &particle) {
                particle.x += static_cast<double>(particle.force_x) * 0x1p-60;
                particle.y += static_cast<double>(particle.force_y) * 0x1p-60;
            });
    }

    /* Each density against that of all pairs of neighbours; forces are mutual: no sum is left. */
    CHECK_ONLY void check() const
    {
        const Cell *all = cells.data();
        std::int64_t force_x = 0, force_y = 0;
        for (int cell = 0; cell < width * width; cell++)
            for (const Particle &particle : all[cell].particles) {
                force_x += particle.force_x;
                force_y += particle.force_y;
                if (particle.density != checked_density(all, particle, cell))
                    fail("a density is not that of all neighbours");
            }
        if (force_x != 0 || force_y != 0)
            fail("momentum is lost");
    }

    CHECK_ONLY std::uint64_t checksum() const
    {
        std::uint64_t sum = 0;
        const Cell *all = cells.data();
        for (int cell = 0; cell < width * width; cell++)
            for (const Particle &particle : all[cell].particles)
                sum = mixed(sum, static_cast<std::uint64_t>(fixed(particle.x + 2 * particle.y)));
        return sum;
    }

private:
    CHECK_ONLY std::int64_t checked_density(const Cell *all, const Particle &particle, int cell) const
    {
        std::int64_t sum = 0;
        for (int row = cell / width - 1; row <= cell / width + 1; row++)
            for (int column = cell % width - 1; column <= cell % width + 1; column++)
                if (row >= 0 && row < width && column >= 0 && column < width)
                    for (const Particle &other : all[row * width + column].particles)
                        if (&other != &particle)
                            sum += fixed(closeness(particle, other));
        return sum;
    }

    template <typename Action> void for_cells(int first, int end, Action action)
    {
        for (int at = first * width; at < end * width; at++)
            for (Particle &particle : cells[static_cast<std::size_t>(at)].particles)
                action(particle);
    }

    void treat(Cell &one, Cell &other, Change change)
    {
        std::scoped_lock guard(one.lock, other.lock);
        for (Particle &first : one.particles)
            for (Particle &second : other.particles)
                change(first, second);
    }

    void treat(Cell &cell, Change change)
    {
        std::lock_guard<std::mutex> guard(cell.lock);
        for (int i = 0; i < IN_CELL; i++)
            for (int j = i + 1; j < IN_CELL; j++)
                change(cell.particles[i], cell.particles[j]);
    }

    void for_pairs(int first, int end, Change change)
    {
        constexpr std::array<std::array<int, 2>, 4> later{{{0, 1}, {1, -1}, {1, 0}, {1, 1}}};
        for (int row = first; row < end; row++)
            for (int column = 0; column < width; column++) {
                Cell &cell = at(row, column);
                treat(cell, change);
                for (auto [down, right] : later)
                    if (row + down < width && column + right >= 0 && column + right < width)
                        treat(cell, at(row + down, column + right), change);
            }
    }

    Cell &at(int row, int column)
    {
        return cells[static_cast<std::size_t>(row * width + column)];
    }

    int width;
    std::vector<Cell> cells;
};

} // namespace

int main(int count, char **arguments)
{
    read_arguments(count, arguments, 2, 1024);
    Fluid fluid(size);
    Barrier barrier;
    auto work = [&](int self) {
        for (int step = 0; step < STEPS; step++)
            fluid.step(first_of(self, size), first_of(self + 1, size), barrier, step == STEPS - 1);
    };
    std::vector<std::thread> others;
    for (int self = 1; self < threads; self++)
        others.emplace_back(work, self);
    work(0);
    for (std::thread &other : others)
        other.join();
    fluid.check();
    print_result(fluid.checksum());
    return 0;
}
