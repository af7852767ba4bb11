/* Three loops that see what else has the processor, without a library: a guest that has none runs them, too.
 *
 * Fixed work: the same work again and again, timed. Fixed time: how much of it is done in equal times. Selfish detour: readings of the clock,
 * and the gaps between two of them that are too long (Beckman, Iskra, Yoshii, Coghlan 2006; Sottile and Minnich 2004 for the first two).
 * All times are ticks of the time stamp counter. */
#ifndef NOISE_H
#define NOISE_H

#include <stdint.h>

enum {
    DETOURS = 1 << 14,
    SAMPLES = 500,
    /* Samples that programs print in a line. */
    IN_A_LINE = 20,
    /* Readings that the shortest gap is taken from, and how many times as long a detour is at least. */
    CALIBRATION = 100000,
    THRESHOLD = 9,
    /* Units of work in a sample of fixed work, steps in a unit, and ticks of a sample of fixed time. */
    UNITS = 100,
    STEPS = 256,
    QUANTUM = 1 << 18,
};

struct detour {
    uint64_t start, length;
};

/* What a core has seen. Detours beyond those that have room are counted only. */
struct noise {
    uint64_t shortest, gaps, elapsed, detours;
    struct detour detour[DETOURS];
    uint64_t work[SAMPLES], time[SAMPLES];
};

static inline uint64_t ticks(void)
{
    return __builtin_ia32_rdtsc();
}

/* What has been computed goes here, so that it is computed. */
static volatile uint32_t noise_sink;

static inline void unit_of_work(void)
{
    uint32_t x = noise_sink;
    for (int i = 0; i < STEPS; i++)
        x = x * 1664525u + 1013904223u;
    noise_sink = x;
}

/* Runs all three; the last for so many ticks. */
static void measure_noise(struct noise *seen, uint64_t duration)
{
    seen->shortest = UINT64_MAX;
    seen->gaps = seen->detours = 0;
    for (int sample = 0; sample < SAMPLES; sample++) {
        uint64_t start = ticks();
        for (int i = 0; i < UNITS; i++)
            unit_of_work();
        seen->work[sample] = ticks() - start;
    }
    for (int sample = 0; sample < SAMPLES; sample++) {
        uint64_t end = ticks() + QUANTUM, done = 0;
        while (ticks() < end) {
            unit_of_work();
            done++;
        }
        seen->time[sample] = done;
    }
    uint64_t last = ticks(), now;
    for (int i = 0; i < CALIBRATION; i++) {
        now = ticks();
        if (now - last < seen->shortest)
            seen->shortest = now - last;
        last = now;
    }
    if (seen->shortest == 0)
        seen->shortest = 1;
    uint64_t threshold = THRESHOLD * seen->shortest, start = ticks();
    for (last = start; last - start < duration; last = now) {
        now = ticks();
        seen->gaps++;
        if (now - last > threshold) {
            if (seen->detours < DETOURS)
                seen->detour[seen->detours] = (struct detour){last - start, now - last - seen->shortest};
            seen->detours++;
        }
    }
    seen->elapsed = last - start;
}

#endif
