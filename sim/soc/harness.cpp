// Surroundings of an example system: memory, console, the monitor's ring, and what memory
// would hold if caches and engines were coherent.
//
//     system IMAGE FOLDER SEED CYCLES MONITOR [ARGUMENT]...
//
// IMAGE has lines of an address and a word, both hexadecimal.  FOLDER receives `console`,
// `operations` (payloads that the monitor takes), `steps` (row numbers and payloads of the
// monitor's steps that found something) and `summary` (a name and a number a line).  After MONITOR
// cycles with nothing in the monitor its clock stops until something comes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "Vsoc_system.h"
#include "constants.h"
#include "verilated.h"
#ifdef WAVES
#include "verilated_fst_c.h"
#endif

namespace {

struct Memory {
    std::vector<uint8_t> local, cached;
    Memory() : local(LOCAL_BYTES), cached(MEMORY_BYTES) {}

    // A byte, or nothing if the address is outside.
    uint8_t *at(uint32_t address) {
        if (address - LOCAL_BASE < LOCAL_BYTES) return &local[address - LOCAL_BASE];
        if (address - MEMORY_BASE < MEMORY_BYTES) return &cached[address - MEMORY_BASE];
        return nullptr;
    }
    uint32_t word(uint32_t address) {
        uint8_t *place = at(address);
        uint32_t value = 0;
        if (place) std::memcpy(&value, place, 4);
        return value;
    }
    void write(uint32_t address, uint32_t value, unsigned strobes) {
        for (unsigned byte = 0; byte < 4; byte++)
            if (uint8_t *place = at(address + byte); place && strobes >> byte & 1)
                *place = uint8_t(value >> 8 * byte);
    }
};

// A field of a wide payload.
template <typename Payload> uint32_t field(const Payload &payload, unsigned at, unsigned width) {
    uint64_t low = payload[at / 32];
    if (at % 32 + width > 32) low |= uint64_t(payload[at / 32 + 1]) << 32;
    return uint32_t(low >> at % 32 & ((1ull << width) - 1));
}
#define FIELD(payload, name) field(payload, name##_AT, name##_BITS)

class System {
public:
    System(const char *image, const std::string &folder, uint64_t seed, uint64_t monitor, int count,
           char **arguments)
        : random_(seed * 0x9e3779b97f4a7c15u | 1), most_monitor_cycles_(monitor), folder_(folder) {
        load(image);
        pass(count, arguments);
        coherent_ = memory_;
        console_ = open("console");
        operations_ = open("operations");
        steps_ = open("steps");
#ifdef WAVES
        context_.traceEverOn(true);
        top_.trace(&waves_, 99);
        waves_.open((folder + "/waves.fst").c_str());
#endif
    }

    int run(uint64_t limit) {
        top_.rst = 1;
        top_.m_axi_report__awready = top_.m_axi_report__wready = 1;
        for (; cycle_ < limit && !has_exited_ && !top_.o_trap; cycle_++) {
            if (cycle_ == 4) top_.rst = 0;
            drive_software();
            top_.i_delay = draw() & delay_mask_;
            tick();
            dump();
        }
        settle();
        summarise();
        return 0;
    }

private:
    FILE *open(const char *name) {
        FILE *file = std::fopen((folder_ + "/" + name).c_str(), "wb");
        if (!file) fail("cannot be written");
        return file;
    }
    [[noreturn]] void fail(const char *text) {
        std::fprintf(stderr, "File %s\n", text);
        std::exit(2);
    }

    void load(const char *image) {
        FILE *file = std::fopen(image, "r");
        if (!file) fail("of the image cannot be read");
        unsigned address, value;
        while (std::fscanf(file, "%x %x", &address, &value) == 2) memory_.write(address, value, 15);
        std::fclose(file);
    }

    // The arguments of `main`: their number, pointers, and texts.
    void pass(int count, char **arguments) {
        uint32_t text = ARGUMENTS + 4 + 4 * (count + 1);
        memory_.write(ARGUMENTS, count, 15);
        for (int number = 0; number < count; number++) {
            memory_.write(ARGUMENTS + 4 + 4 * number, text, 15);
            for (const char *letter = arguments[number];; letter++, text++) {
                memory_.write(text, uint8_t(*letter), 1);
                if (!*letter) break;
            }
            text++;
        }
    }

    uint32_t draw() {
        random_ ^= random_ << 13;
        random_ ^= random_ >> 7;
        random_ ^= random_ << 17;
        return uint32_t(random_ >> 32);
    }

    void tick() {
        top_.clk = top_.i_monitor_clk = 0;
        top_.eval();
        look();
        // Most of the time would be the monitor's, which has nothing to do in most cycles.
        if (top_.rst || top_.o_monitor_busy) monitor_cycles_ = most_monitor_cycles_ + 1;
        else if (monitor_cycles_) monitor_cycles_--;
        top_.i_monitor_clk = monitor_cycles_ > 0;
        top_.clk = 1;
        top_.eval();
        answer();
    }

    // The monitor's software outside: clear it, then enable it.
    void drive_software() {
        static const uint32_t writes[] = {CONTROL_CLEAR, CONTROL_ENABLE};
        top_.software__valid = software_ < 2 && cycle_ >= 8;
        if (!top_.software__valid) return;
        top_.software__address = CONTROL_REGISTER;
        top_.software__wdata = writes[software_];
        top_.software__wstrb = 15;
    }

    // What happens at the coming clock edge.
    void look() {
        software_ += top_.software__ready;
        if (top_.o_console__valid) std::fputc(int(top_.o_console__value & 255), console_);
        if (top_.o_exit__valid) {
            has_exited_ = true;
            status_ = top_.o_exit__value;
        }
        lost_ += top_.o_lost;
        if (top_.o_operation__valid) {
            operation_count_++;
            std::fwrite(&top_.o_operation__payload[0], 4, OPERATION_WORDS, operations_);
        }
        if (top_.trace__valid) {
            const auto &step = top_.trace__payload;
            if (FIELD(step, STEP_DMA_FOUND) || FIELD(step, STEP_CACHE_FOUND)) {
                std::fwrite(&rows_, 8, 1, steps_);
                std::fwrite(&step[0], 4, STEP_WORDS, steps_);
            }
            rows_++;
        }
        if (top_.o_retired__valid) retire();
        access_engine();
        serve(top_.memory__valid, top_.memory__ready, top_.memory__address, top_.memory__wdata,
              top_.memory__wstrb, cpu_);
        serve(top_.engine_memory__valid, top_.engine_memory__ready, top_.engine_memory__address,
              top_.engine_memory__wdata, top_.engine_memory__wstrb, engine_);
        take_report();
    }

    // A beat of a report of the monitor, into its ring.
    void take_report() {
        if (top_.m_axi_report__awvalid) report_at_ = top_.m_axi_report__awaddr;
        is_report_done_ = top_.m_axi_report__wvalid && top_.m_axi_report__wlast;
        if (!top_.m_axi_report__wvalid) return;
        for (Memory *memory : {&memory_, &coherent_})
            for (unsigned half = 0; half < 2; half++)
                memory->write(report_at_ + 4 * half, uint32_t(top_.m_axi_report__wdata >> 32 * half), 15);
        report_at_ += 8;
    }

    struct Answer {
        bool ready = false;
        uint32_t data = 0;
    };

    // An access is answered in the cycle after it came.
    void serve(bool valid, bool ready, uint32_t address, uint32_t data, unsigned strobes,
               Answer &answer) {
        answer.ready = valid && !ready;
        if (!answer.ready) return;
        answer.data = memory_.word(address);
        memory_.write(address, data, strobes);
    }

    void answer() {
        top_.memory__ready = cpu_.ready;
        top_.memory__rdata = cpu_.data;
        top_.engine_memory__ready = engine_.ready;
        top_.engine_memory__rdata = engine_.data;
        if (is_report_done_) top_.m_axi_report__bvalid = 1;
        else if (top_.m_axi_report__bready) top_.m_axi_report__bvalid = 0;
    }

    // A byte that the engine reads or writes, when its access is taken.
    void access_engine() {
        if (!top_.engine_memory__valid || top_.engine_memory__ready) return;
        uint32_t address = top_.engine_memory__address;
        if (top_.engine_memory__wstrb) {
            coherent_.write(address, top_.engine_memory__wdata, top_.engine_memory__wstrb);
            return;
        }
        address += top_.o_engine_byte;
        const uint8_t *found = memory_.at(address), *due = coherent_.at(address);
        if (found && *found != *due) wrong_read(0);
    }

    // Loads and stores of an instruction, against coherent memory.
    void retire() {
        const auto &retired = top_.o_retired__payload;
        instructions_++;
        if (FIELD(retired, RETIRED_TRAP)) return;
        uint32_t insn = FIELD(retired, RETIRED_INSN), pc = FIELD(retired, RETIRED_PC_RDATA);
        uint32_t address = FIELD(retired, RETIRED_MEM_ADDR);
        if (unsigned strobes = FIELD(retired, RETIRED_MEM_WMASK))
            coherent_.write(address, top_.o_retired__wdata, strobes);
        else if ((insn & 0x7f) == 0x03) {
            uint32_t first = FIELD(retired, RETIRED_RS1_RDATA) + uint32_t(int32_t(insn) >> 20);
            unsigned size = 1u << (insn >> 12 & 3);
            for (uint32_t byte = first; byte < first + size; byte++) {
                const uint8_t *due = coherent_.at(byte);
                uint8_t found = uint8_t(top_.o_retired__rdata >> 8 * (byte & 3));
                if (due && found != *due) return wrong_read(pc);
            }
        }
    }

    void wrong_read(uint32_t pc) {
        if (!wrong_reads_++) {
            first_wrong_pc_ = pc;
            first_wrong_operation_ = operation_count_;
        }
    }

    // Lets the queue and the monitor run dry.
    void settle() {
        for (unsigned left = has_exited_ ? SETTLE_CYCLES : 0; left; left--) tick();
    }

    void dump() {
#ifdef WAVES
        waves_.dump(cycle_);
#endif
    }

    void summarise() {
        FILE *file = open("summary");
        std::fprintf(file, "exited %d\nstatus %u\ntrapped %d\ncycles %lu\ninstructions %lu\n"
                     "operations %lu\nrows %lu\nlost %lu\nwrong_reads %lu\nfirst_wrong_pc %u\n"
                     "first_wrong_operation %lu\n",
                     has_exited_, status_, int(top_.o_trap), cycle_, instructions_,
                     operation_count_, rows_, lost_, wrong_reads_, first_wrong_pc_,
                     first_wrong_operation_);
        for (FILE *each : {file, console_, operations_, steps_}) std::fclose(each);
#ifdef WAVES
        waves_.close();
#endif
    }

    VerilatedContext context_;
    Vsoc_system top_{&context_};
#ifdef WAVES
    VerilatedFstC waves_;
#endif
    uint64_t random_, most_monitor_cycles_, monitor_cycles_ = 0, cycle_ = 0, instructions_ = 0, operation_count_ = 0, rows_ = 0, lost_ = 0;
    std::string folder_;
    Memory memory_, coherent_;
    FILE *console_, *operations_, *steps_;
    Answer cpu_, engine_;
    uint32_t delay_mask_ = DELAY_MASK, status_ = 0, first_wrong_pc_ = 0, report_at_ = 0;
    uint64_t wrong_reads_ = 0, first_wrong_operation_ = 0;
    unsigned software_ = 0;
    bool has_exited_ = false, is_report_done_ = false;
};

}  // namespace

int main(int count, char **arguments) {
    if (count < 6) return 2;
    auto number = [arguments](int at) { return std::strtoull(arguments[at], nullptr, 0); };
    auto system = std::make_unique<System>(arguments[1], arguments[2], number(3), number(5),
                                           count - 6, arguments + 6);
    return system->run(number(4));
}
