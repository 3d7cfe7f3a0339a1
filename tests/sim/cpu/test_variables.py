"""Names of static variables in recorded traces."""

from racetrap.golden_model.trace.threads.events import Variable
from tests.support.threads.recordings import of_kind, record_text

_PROGRAM = """
#include <pthread.h>
namespace bank { long balance[8]; thread_local int own; int unused; char flags[3]; }
static void *work(void *unused) {
    static int calls;
    calls++;
    bank::own++;
    bank::balance[2] += 1;
    bank::flags[2] = 1;
    return unused;
}
int main() {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
}
"""


def test_only_accessed_variables_with_a_fixed_address_are_named(tmp_path):
    trace = record_text(tmp_path, _PROGRAM, suffix=".cpp")
    own = {
        variable for variable in trace.header.variables.values()
        if variable.name.startswith("bank::") or "calls" in variable.name
    }  # fmt: skip
    assert own == {
        Variable(64, "bank::balance"), Variable(3, "bank::flags"),
        Variable(4, "work(void*)::calls"),
    }  # fmt: skip
    (balance,) = (
        address for address, variable in trace.header.variables.items()
        if variable.name == "bank::balance"
    )  # fmt: skip
    assert balance + 16 in {event.address for event in of_kind(trace, "STORE")}
    assert trace.header.variables_at(balance + 16) == {balance: Variable(64, "bank::balance")}
