/* Counts misses of data caches in a node: a plugin of QEMU, by its interface of version API (qemu-plugin.h), of which it declares what it calls.
 *
 * Each core has a cache of the size that a core of the dissertation's machine has for itself (section 6.2.1: 4 MB for two cores, 16 ways, lines of 64 bytes), by
 * physical addresses, in which the line that was used longest ago makes room. A store takes the line away from all other cores, and a load takes from them the
 * right to store it, so what ranks hand to each other is missed. Instructions are not counted, nor is what devices read and write.
 *
 * QEMU must run all cores in one thread (-icount): nothing here is locked. At its end the sum of all cores' misses is written to the file out=FILE. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "caches.h"

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
enum { NO_REGISTERS = 0, LOADS_AND_STORES = 3 };
typedef void on_block(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void on_access(unsigned, qemu_plugin_meminfo_t, uint64_t, void *);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, on_block *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, on_access *, int, int, void *);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t, uint64_t);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *);

int qemu_plugin_version = API;

static uint64_t beyond;
static char out[4096];

static void access_memory(unsigned core, qemu_plugin_meminfo_t info, uint64_t address, void *unused)
{
    (void)unused;
    const struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, address);
    if (where == NULL || qemu_plugin_hwaddr_is_io(where))
        return;
    if (core >= CORES) {
        beyond++;
        return;
    }
    uint64_t first = qemu_plugin_hwaddr_phys_addr(where);
    uint64_t last = first + (1u << qemu_plugin_mem_size_shift(info)) - 1;
    for (uint64_t line = first >> LINE_BITS; line <= last >> LINE_BITS; line++)
        use(core, line, qemu_plugin_mem_is_store(info));
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t at = 0; at < qemu_plugin_tb_n_insns(block); at++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, at), access_memory, NO_REGISTERS, LOADS_AND_STORES, NULL);
}

__attribute__((destructor)) static void tell(void)
{
    FILE *file = out[0] == 0 ? NULL : fopen(out, "w");
    if (file == NULL)
        return;
    fprintf(file, "misses %llu\nbeyond %llu\n", (unsigned long long)misses, (unsigned long long)beyond);
    fclose(file);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info;
    if (argc != 1 || strncmp(argv[0], "out=", 4) != 0 || strlen(argv[0] + 4) >= sizeof out) {
        fprintf(stderr, "misses: give out=FILE\n");
        return 1;
    }
    strcpy(out, argv[0] + 4);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    return 0;
}
