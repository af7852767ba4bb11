/* A driver for UEFI that changes what the firmware says, to what some firmware says, and stays.
 *
 * With FAR_PAGE the map of memory has one more page, a reserved one, at that address. With RED, GREEN and BLUE the pixels of all modes of all screens have these bits
 * for their colours. With BREAKPOINT the boot core breaks where it runs the instruction at that address. Numbers are those of UEFI 2.10: sections 4.4, 7.2 and 12.9. */
#include <stddef.h>
#include <stdint.h>

typedef uint64_t status;
#define SUCCESS 0
#define BUFFER_TOO_SMALL (1ull << 63 | 5)

/* Boot services by their places in the table. */
enum { BOOT_SERVICES = 0x60, GET_MEMORY_MAP = 0x38, HANDLE_PROTOCOL = 0x98, LOCATE_HANDLE_BUFFER = 0x138 };

static void **field(void *table, size_t place)
{
    return (void **)((char *)table + place);
}

#ifdef FAR_PAGE
struct piece {
    uint32_t kind, unused;
    uint64_t physical, virtual, pages, attributes;
};
enum { RESERVED = 0 };

typedef status get_memory_map(uint64_t *, struct piece *, uint64_t *, uint64_t *, uint32_t *);

static get_memory_map *firmwares_map;

static status map_with_one_more(uint64_t *bytes, struct piece *map, uint64_t *key, uint64_t *piece_bytes, uint32_t *version)
{
    uint64_t room = *bytes;
    status ended = firmwares_map(bytes, map, key, piece_bytes, version);
    if (ended != SUCCESS && ended != BUFFER_TOO_SMALL)
        return ended;
    if (ended == SUCCESS && *bytes + *piece_bytes > room)
        ended = BUFFER_TOO_SMALL;
    if (ended == SUCCESS)
        *(struct piece *)((char *)map + *bytes) = (struct piece){RESERVED, 0, FAR_PAGE, 0, 1, 0};
    *bytes += *piece_bytes;
    return ended;
}

static void change(void *services)
{
    firmwares_map = *field(services, GET_MEMORY_MAP);
    *field(services, GET_MEMORY_MAP) = map_with_one_more;
}
#elif defined BREAKPOINT
/* Address 0, for every task (Intel SDM volume 3, section 18.2). */
static void change(void *services)
{
    (void)services;
    uint64_t control = 1 << 1;
    __asm__ volatile("mov %0, %%dr0\n\tmov %1, %%dr7" : : "r"((uint64_t)BREAKPOINT), "r"(control));
}
#else
struct mode {
    uint32_t version, width, height, format, red, green, blue, unused, stride;
};
enum { BIT_MASK = 2 };

struct screen {
    status (*query)(struct screen *, uint32_t, uint64_t *, struct mode **);
    status (*set)(struct screen *, uint32_t);
    void *transfer;
    struct {
        uint32_t modes, present;
        struct mode *mode;
    } *state;
};

enum { SCREENS_MAX = 8, BY_PROTOCOL = 2 };
static const uint8_t GRAPHICS_OUTPUT[] = {0xde, 0xa9, 0x42, 0x90, 0xdc, 0x23, 0x38, 0x4a, 0x96, 0xfb, 0x7a, 0xde, 0xd0, 0x80, 0x51, 0x6a};

/* The screens, as the firmware's drivers have them. */
static struct {
    struct screen *screen, drivers;
} known[SCREENS_MAX];

static struct screen *drivers(struct screen *screen)
{
    for (int i = 0; i < SCREENS_MAX; i++)
        if (known[i].screen == screen)
            return &known[i].drivers;
    return NULL;
}

static void spoil(struct mode *mode)
{
    mode->format = BIT_MASK;
    mode->red = RED;
    mode->green = GREEN;
    mode->blue = BLUE;
}

static status query(struct screen *screen, uint32_t number, uint64_t *bytes, struct mode **mode)
{
    status ended = drivers(screen)->query(screen, number, bytes, mode);
    if (ended == SUCCESS)
        spoil(*mode);
    return ended;
}

static status set(struct screen *screen, uint32_t number)
{
    status ended = drivers(screen)->set(screen, number);
    if (ended == SUCCESS)
        spoil(screen->state->mode);
    return ended;
}

static void change(void *services)
{
    status (*locate)(uint32_t, const void *, void *, uint64_t *, void ***) = *field(services, LOCATE_HANDLE_BUFFER);
    status (*open)(void *, const void *, struct screen **) = *field(services, HANDLE_PROTOCOL);
    uint64_t handles = 0;
    void **handle = NULL;
    if (locate(BY_PROTOCOL, GRAPHICS_OUTPUT, NULL, &handles, &handle) != SUCCESS)
        return;
    for (uint64_t i = 0; i < handles && i < SCREENS_MAX; i++) {
        struct screen *screen;
        if (open(handle[i], GRAPHICS_OUTPUT, &screen) != SUCCESS)
            continue;
        known[i].screen = screen;
        known[i].drivers = *screen;
        screen->query = query;
        screen->set = set;
        spoil(screen->state->mode);
    }
}
#endif

status start(void *image, void *system)
{
    (void)image;
    change(*field(system, BOOT_SERVICES));
    return SUCCESS;
}
