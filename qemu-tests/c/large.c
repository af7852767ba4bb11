/* Memory and files: the first argument says how many MiB to use, the second how many to ask for besides and never touch, the third how many to write to a
 * file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MIB = 1 << 20, PAGE = 4096 };

static int fail(const char *what)
{
    perror(what);
    return 1;
}

int main(int count, char **words)
{
    if (count != 4)
        return 2;
    size_t used = strtoul(words[1], NULL, 10) * MIB, asked = strtoul(words[2], NULL, 10) * MIB, written = strtoul(words[3], NULL, 10) * MIB;
    char *memory = malloc(used), *untouched = asked ? malloc(asked) : memory;
    if (!memory || !untouched)
        return fail("malloc");
    for (size_t at = 0; at < used; at += PAGE)
        memory[at] = (char)(at / PAGE);
    for (size_t at = 0; at < used; at += PAGE)
        if (memory[at] != (char)(at / PAGE))
            return fail("memory");

    char name[32];
    snprintf(name, sizeof name, "/tmp/large-%d", (int)getpid());
    FILE *file = fopen(name, "w+");
    for (size_t at = 0; file && at < written; at += MIB)
        if (fwrite(memory, MIB, 1, file) != 1)
            return fail("fwrite");
    if (!file || fflush(file) || fseek(file, 0, SEEK_END) || (size_t)ftell(file) != written)
        return fail(name);
    printf("%s MiB used, %s MiB written\n", words[1], words[3]);
    return 0;
}
